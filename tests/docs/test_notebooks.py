"""The example notebooks run to their end in a real kernel; what is stored with them is what they show."""

import runpy
from pathlib import Path

import nbformat
import pytest

from hedgerow.demo import HospitalFiles, build

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "notebooks"
run_notebook = runpy.run_path(str(ROOT / "scripts" / "run_notebooks.py"))["run_notebook"]
BOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(book):
    return [cell for cell in book.cells if cell.cell_type == "code"]


def kinds(outputs):
    """The outputs of a cell, without its digits: types of outputs, their forms, and the name of an error."""
    return [
        (output.output_type, output.get("name"), output.get("ename"), sorted(output.get("data", {})))
        for output in outputs
    ]


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    build(HospitalFiles.of(folder / "demo"), people=20_000)
    return folder


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored_with_it(path, hospital):
    for before, after in zip(code_cells(read(path)), code_cells(run_notebook(path, hospital)), strict=True):
        assert kinds(after.outputs) == kinds(before.outputs), before.source
        results = [output for output in after.outputs if output.output_type in {"display_data", "execute_result"}]
        assert len(results) <= 1, "each value is shown once"


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_stored_notebook_needs_no_network_and_tells_nothing_of_the_machine(path):
    text = path.read_text(encoding="utf-8")
    for word in ("<script", "cdn.", "/tmp/", "/home/", "/root/", "site-packages"):  # noqa: S108 - not a path to use
        assert word not in text


def test_a_refusal_in_a_notebook_is_a_short_box():
    errors = [
        output for path in BOOKS for cell in code_cells(read(path)) for output in cell.outputs if "ename" in output
    ]
    assert errors
    for error in errors:
        assert "╭─" in error.traceback[0]
        assert len("\n".join(error.traceback).splitlines()) < 15
