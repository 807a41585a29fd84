"""Run the example notebooks of the documentation, and store what they show: `python -m scripts.run_notebooks`."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

from hedgerow.demo import HospitalFiles, build

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def run_notebook(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Return a notebook with what it shows when it is run in `folder`, without anything about this machine."""
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    book.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in book.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            if "text" in output:
                output.text = output.text.replace(f"{folder}/", "")
    return book


def main(names: list[str]) -> None:
    """Run the named notebooks, or all of them, beside a hospital as `hedgerow demo` leaves it."""
    paths = [FOLDER / f"{name}.ipynb" for name in names] or sorted(FOLDER.glob("*.ipynb"))
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        build(HospitalFiles.of(folder / "demo"))
        for path in paths:
            print(path.name)
            nbformat.write(run_notebook(path, folder), path)


if __name__ == "__main__":
    main(sys.argv[1:])
