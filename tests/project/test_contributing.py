"""CONTRIBUTING says where a change goes, and the file is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
(SECTION,) = re.findall(r"^## Where does it go\?\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
ROWS = re.findall(r"^\| (?!you want|---)(.+?) \| (.+?) \|$", SECTION, re.MULTILINE)


def test_at_least_twenty_changes_have_a_place():
    assert len({change for change, _ in ROWS}) == len(ROWS) >= 20


def test_each_change_goes_to_one_file_that_exists():
    for change, place in ROWS:
        (path,) = re.findall(r"`([^`]+)`", place)
        assert (ROOT / path).is_file(), f"{change}: there is no {path}"


def test_every_python_file_that_the_page_names_by_its_whole_path_exists():
    named = set(re.findall(r"`((?:src/hedgerow|tests|scripts|docs|benchmarks)/[\w/.-]+)`", PAGE))
    assert len(named) > 20
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_package_has_a_folder_of_tests():
    packages = {path.parent.name for path in (ROOT / "src" / "hedgerow").glob("*/__init__.py")}
    assert len(packages) > 20
    assert {name for name in packages if not any((ROOT / "tests" / name).rglob("test_*.py"))} == set()
