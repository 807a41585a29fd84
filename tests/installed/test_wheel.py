"""The installed package is the source: the wheel holds every module of the source, and nothing else."""

import re
import sys
import zipfile
from email import message_from_bytes

import pytest

from .environments import run
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


def test_wheel_and_source_pass_the_checks_of_a_package_index(wheel, tmp_path):
    run([sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)])
    (source,) = tmp_path.glob("hedgerow-*.tar.gz")
    run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(source)])
    run([sys.executable, "-m", "check_wheel_contents", str(wheel)])


def test_a_picture_in_the_readme_is_there_and_has_words_where_an_index_does_not_find_it():
    for words, path in re.findall(r"!\[([^\]]*)\]\((?!https://)([^)]*)\)", (ROOT / "README.md").read_text("utf-8")):
        assert (ROOT / path).is_file()
        assert len(words.split()) > 5


def test_the_metadata_name_every_python_that_is_tested(wheel):
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith("METADATA"))
        metadata = message_from_bytes(opened.read(name))
    assert metadata["Requires-Python"] == ">=3.11"
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)} <= set(
        metadata.get_all("Classifier")
    )
    assert metadata["Description-Content-Type"] == "text/markdown"
