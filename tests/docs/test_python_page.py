"""Every public name is documented, with every option and attribute that users are told of."""

import inspect
import pydoc
import re
from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow.error_bars.intervals.interval import IntervalKind, Reason
from hedgerow.execution.request import Options

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", hr.__all__)
def test_every_public_name_is_documented(name):
    assert re.search(rf"^(## |\| )`{name}`", PAGE, re.MULTILINE)


def test_nothing_else_is_documented_as_a_name():
    assert set(re.findall(r"^## `(\w+)`", PAGE, re.MULTILINE)) <= set(hr.__all__)


@pytest.mark.parametrize("option", list(Options.__annotations__))
def test_every_option_of_a_query_is_documented(option):
    assert re.search(rf"^\| .*`{option}`.* \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("argument", list(inspect.signature(hr.connect).parameters))
def test_every_argument_of_connect_is_documented(argument):
    assert f"| `{argument}` |" in PAGE


@pytest.mark.parametrize("kind", [hr.Database, hr.Answer, hr.Quote])
def test_every_public_attribute_is_documented(kind):
    for name, _ in inspect.getmembers(kind):
        if not name.startswith("_") and name not in {"query", "fits", "notes", "public"}:
            assert re.search(rf"\.{name}\b", PAGE), name


@pytest.mark.parametrize("word", [*Reason, *IntervalKind])
def test_every_kind_of_interval_and_every_reason_is_documented(word):
    section = PAGE.split("## `Interval`")[1].split("\n## ")[0]
    assert re.search(rf"`\"?{word}\"?`", section)


@pytest.mark.parametrize("name", hr.__all__)
def test_every_public_name_is_in_the_reference_made_from_docstrings(name):
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    assert f"::: hedgerow.{name}\n" in page
    assert inspect.getdoc(getattr(hr, name))


@pytest.mark.parametrize("function", [hr.connect, hr.aconnect, hr.Database.sql, hr.Database.quote, hr.Database.submit])
def test_the_help_of_a_function_names_its_types_in_one_word(function):
    signature = pydoc.plain(pydoc.render_doc(function)).splitlines()[2]
    assert len(signature) < 250
    assert "Mapping" not in signature
    assert "PathLike" not in signature
