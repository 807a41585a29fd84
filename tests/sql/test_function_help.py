"""Functions that editors propose: all that the SQL page names, and each by a call that is accepted."""

import re

import pytest

from hedgerow.errors import HedgerowError
from hedgerow.sql.function_help import AGGREGATES, SCALARS

NO_PROPOSALS = {"HISTOGRAM_BIN", "VALUE_BIN", "STRING_AGG", "DECIMAL"}
"""Bins by number, which HISTOGRAM and MODE write; an aggregate of released rows; a type."""

TABLE = """CREATE TABLE t (u BIGINT, x DOUBLE, y DOUBLE, i BIGINT, j BIGINT, s VARCHAR, t VARCHAR, d DATE, e DATE,
    m TIMESTAMP, b BOOLEAN, k VARCHAR)"""
DECLARED = """
t:
  unit: u
  unit_unique: true
  columns:
    x: {lower: 0, upper: 100}
    y: {lower: 1, upper: 10}
    k: {values: [a, b]}
"""


@pytest.fixture(scope="module")
def database(build_once):
    return build_once(TABLE, DECLARED)


@pytest.mark.parametrize("known", [AGGREGATES, SCALARS], ids=["aggregates", "scalars"])
def test_functions_are_called_as_proposed(database, known):
    refused = {}
    for function in known:
        call = f"EXTRACT(year FROM {function.call})" if function.name == "AGE" else function.call
        sql = f"SELECT {call} AS v FROM t" if known is AGGREGATES else f"SELECT COUNT(*) FROM t WHERE {call} IS NULL"
        try:
            database.describe(sql)
        except HedgerowError as error:
            refused[function.call] = error.message
    assert refused == {}


def test_every_function_of_the_page_is_proposed_once(request):
    page = (request.config.rootpath / "docs" / "reference" / "sql.md").read_text(encoding="utf-8")
    tables = page.partition("## Aggregates\n")[2].partition("## After the noise")[0]
    tables += page.partition("## Functions and operators\n")[2].partition("### Other dialects")[0]
    examples = " ".join(re.findall(r"^\| (`.*?) \| ", tables, re.MULTILINE))
    proposed = [known.name for known in (*AGGREGATES, *SCALARS)]
    assert set(re.findall(r"\b([A-Z_0-9]+)\(", examples)) - NO_PROPOSALS - {*proposed} == set()
    assert len(proposed) == len({*proposed})
