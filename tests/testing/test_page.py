"""The page names everything that the package offers, with the arguments it takes, and its table is computed."""

import inspect
import re
from pathlib import Path

import pytest

from hedgerow import testing
from hedgerow.testing import tolerance

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "testing.md").read_text(encoding="utf-8")
NAMES = [(name, testing) for name in testing.__all__ if name != "tolerance"]
NAMES += [(name, tolerance) for name in tolerance.__all__]
TABLE = re.findall(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("name", "place"), NAMES)
def test_every_name_is_on_the_page_with_its_arguments(name, place):
    (row,) = re.findall(rf"^\| `{name}(\(.*?\))?` \|", PAGE, re.MULTILINE)
    actual = getattr(place, name)
    if callable(actual) and row:
        signature = inspect.signature(actual)
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
        plain = signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)
        assert row.replace("1e-9", "1e-09") == str(plain)


def test_the_table_of_tolerances_is_right():
    assert len(TABLE) == 4
    for k, gaussian, laplace, mean, variance in TABLE:
        assert f"{tolerance.gaussian(1.0, int(k)):.6f}" == gaussian
        assert f"{tolerance.laplace(1.0, 1.0, int(k)):.6f}" == laplace
        assert f"{tolerance.independent(int(k), 2):.6f}" == mean
        assert f"{tolerance.independent(int(k), 3):.6f}" == variance
