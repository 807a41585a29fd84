"""The two ways to weighted sums, by looking owners up and by window functions, give the same integers.

The neighbours of the other tests here then hold for both.
"""

import random

import pytest

from hedgerow.dialects import DUCKDB

MEASURES = ["COUNT(*)", "COUNT(DISTINCT u), COUNT(*)", "AVG(x)", "VAR_POP(x), SUM(x) FILTER (WHERE b)"]
LIMITS = [(1, 1, 1), (2, 1, 2), (3, 2, 2), (4, 4, 1), (9, 2, None)]


class Windowed(type(DUCKDB)):
    """DuckDB, asked as PostgreSQL and Spark are."""

    gathers = True
    windows = True


@pytest.fixture
def crowd(row):
    """Owners within all limits, and far beyond each of them, in keys that may be missing."""
    drawn = random.Random()
    return [
        row(
            owner,
            drawn.choice(["a", "b", "c", "d", None]),
            "p",
            drawn.choice([None, -2.0, 3.0, 10.0]),
            b=owner % 3 == 0,
        )
        for owner in range(40)
        for _ in range(drawn.choice([1, 2, 5, 30]))
    ]


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("minimum", [1, 3])
@pytest.mark.parametrize("keys", ["", "g"])
@pytest.mark.parametrize("measures", MEASURES)
def test_both_ways_give_the_same_integers(laboratory, limits, crowd, monkeypatch, measures, keys, minimum, mechanism):
    text = f"SELECT g, {measures} FROM t GROUP BY g" if keys else f"SELECT {measures} FROM t"
    for rows, per_group, groups in LIMITS:
        allowed = limits(rows=rows, per_group=per_group, groups=groups)
        plan = laboratory.plan(text, allowed, mechanism=mechanism, min_frequency=minimum)
        looked_up = laboratory.measure(crowd, plan), laboratory.first_pass(crowd, plan)
        with monkeypatch.context() as patched:
            patched.setattr(laboratory, "dialect", Windowed())
            windowed = laboratory.measure(crowd, plan), laboratory.first_pass(crowd, plan)
        assert windowed == looked_up
        assert any(any(vector) for vector in looked_up[0].vectors.values())
