"""Every public name of accuracy and tuner is on the page about Python, with every parameter."""

import inspect
import re
from pathlib import Path

import pytest

from hedgerow import accuracy, tuner

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
NAMES = [(module, name) for module in (accuracy, tuner) for name in module.__all__]


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[name for _, name in NAMES])
def test_every_public_name_is_on_the_page_as_it_is_called(module, name):
    row = re.search(rf"^\| `{name}\((.*?)\)` \|", PAGE, re.MULTILINE)
    assert row
    listed = [part.split("=")[0].strip() for part in re.sub(r"\([^)]*\)", "", row[1]).split(",")]
    expected = inspect.signature(getattr(module, name)).parameters
    assert [part for part in listed if part != "*"] == list(expected)
