"""`make test` prints which lines the tests ran: the total, and the modules of which they ran least."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from hypothesis import settings

import hedgerow

ROOT = Path(__file__).parents[2]
HOME = Path(hedgerow.__file__).resolve().parent


@pytest.fixture
def plugin(monkeypatch):
    """The plugin, as the process that prints has it."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return runpy.run_path(str(ROOT / "scripts" / "line_coverage.py"))


def test_what_several_processes_ran_is_put_together(plugin):
    plugin["add"]({str(HOME / "limits.py"): [[1, 2], [3, 4]], str(HOME / "schema.py"): [[1], [2, 3, 4]]})
    plugin["add"]({str(HOME / "limits.py"): [[2, 3], [1, 4]]})
    total, *named = plugin["report"](plugin["lines_of_modules"])
    assert total == " 50.0%  of 8 lines (without those of programs that tests start); least of:"
    assert named == [" 25.0%  schema.py", " 75.0%  limits.py"]


def test_ten_modules_are_named_and_empty_ones_are_not(plugin):
    plugin["add"]({str(HOME / f"module{number}.py"): [[1], [2]] for number in range(30)})
    plugin["add"]({str(HOME / "py.py"): [[], []]})
    total, *named = plugin["report"](plugin["lines_of_modules"])
    assert "60 lines" in total
    assert len(named) == 10


def test_the_package_that_tests_import_is_measured_wherever_it_is(plugin, tmp_path, monkeypatch):
    elsewhere = tmp_path / "hedgerow"
    elsewhere.mkdir()
    (elsewhere / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "hedgerow")
    monkeypatch.syspath_prepend(tmp_path)
    assert plugin["SOURCE"] == HOME
    assert plugin["_source"]() == elsewhere


def test_make_test_prints_it_with_the_slowest_twenty_tests():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^test:.*\n\t.*\n\t(.+)$", makefile, re.MULTILINE)
    assert "-p scripts.line_coverage" in recipe
    assert "--durations=20" in recipe


def test_no_property_has_a_deadline_which_measuring_could_exceed():
    assert settings().deadline is None
