"""What is installed is what was written: the wheel builds, and holds every module of the source."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own arguments
    (wheel,) = folder.glob("hedgerow-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist())


def test_the_wheel_holds_every_module_and_the_mark_of_types(names):
    source = ROOT / "src"
    modules = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
    assert modules | {"hedgerow/py.typed"} <= names


def test_the_wheel_holds_the_licence_and_nothing_of_the_tests(names):
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith("tests/")]
