"""What is installed is what was written: the wheel holds every module of the source, and nothing else."""

import zipfile

import pytest

from .pages import ROOT


@pytest.fixture(scope="module")
def names(wheel):
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist())


def test_the_wheel_holds_every_module_and_the_mark_of_types(names):
    source = ROOT / "src"
    modules = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
    assert modules | {"hedgerow/py.typed"} <= names


def test_the_wheel_holds_the_licence_and_nothing_of_the_tests(names):
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith("tests/")]
