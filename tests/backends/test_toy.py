"""A backend of one file answers questions; the page that shows how to add an engine shows this very file."""

import re
from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.types import Type

from .toy import Rows, Toy

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "how-to" / "add-an-engine.md"
CATALOG = """\
dataset: toys
budget: {epsilon: 100000, delta: 0.01, pure_epsilon: 50000}
defaults: {epsilon: 1000, delta: 1e-8, min_frequency: 2}
tables:
  visits:
    unit: person
    max_rows: 4
    max_rows_per_group: 2
    max_groups: 2
    columns:
      minutes: {lower: 0, upper: 60}
"""
KINDS = {"person": Type.INTEGER, "city": Type.TEXT, "minutes": Type.FLOAT}
NEAR, OFF = 50, 2.5
"""By how much a sum and a count may be off: tens of standard deviations at so large an epsilon."""

CITIES = ("Rome", "Oslo", None)


def visits():
    """Forty people with two visits each, in different cities; one person alone in a fourth."""
    rows = [(person, CITIES[(person + turn) % 3], 10.0 + turn) for person in range(40) for turn in range(2)]
    return Rows(KINDS, [*rows, (99, "Nowhere", 5.0)])


@pytest.fixture
def db(tmp_path):
    catalog = tmp_path / "toys.yaml"
    catalog.write_text(CATALOG)
    with hr.connect(Toy({"visits": visits()}), catalog=catalog) as built:
        yield built


def test_a_toy_backend_answers_a_question(db):
    answer = db.sql("SELECT COUNT(*) AS n, SUM(minutes) AS s FROM visits WHERE minutes > 7")
    assert abs(answer["n"][0] - 80) < OFF
    assert abs(answer["s"][0] - 840) < NEAR


def test_a_toy_backend_selects_keys_and_measures_them(db):
    answer = db.sql("SELECT city, COUNT(*) AS n FROM visits GROUP BY city")
    actual, wanted = dict(iter(answer)), {"Rome": 27, "Oslo": 27, None: 26}
    assert actual.keys() == wanted.keys()
    assert all(abs(actual[city] - wanted[city]) < OFF for city in wanted)


def test_what_its_dialect_lacks_is_refused_before_anything_is_paid(db):
    spent = db.budget.spent
    with pytest.raises(UnsupportedSQLError, match="toy engine") as refused:
        db.sql("SELECT COUNT(*) FROM visits WHERE LOWER(city) = 'rome'")
    assert refused.value.code == "engine-lacks"
    assert db.budget.spent == spent


def test_the_page_shows_the_file_as_it_is():
    [shown] = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[:1]
    assert shown == (HERE / "toy.py").read_text(encoding="utf-8")
