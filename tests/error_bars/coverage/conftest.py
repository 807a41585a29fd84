"""Answers over thousands of groups, next to the exact ones, so that one statement tests thousands of intervals."""

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-9
"""Rate at which a test of coverage may fail although every interval holds as often as it says."""


@pytest.fixture
def assert_covers():
    """At least the stated share of intervals holds the exact value; and the test would notice half a width."""

    def check(answer, column, exact, confidence, *, tight=False):
        lower = np.array([row[column].lower for row in answer.intervals])
        upper = np.array([row[column].upper for row in answer.intervals])
        exact = np.asarray(exact, dtype=float)
        slack = 1e-9 * np.maximum(1.0, np.abs(exact))
        hits = int(np.sum((lower - slack <= exact) & (exact <= upper + slack)))
        assert stats.binom.cdf(hits, len(exact), confidence) > FALSE_ALARM
        assert np.all(lower <= upper)
        if tight:
            middle, half = (lower + upper) / 2, (upper - lower) / 4
            few = int(np.sum(np.abs(exact - middle) <= half))
            assert stats.binom.cdf(few, len(exact), confidence) < FALSE_ALARM

    return check


@pytest.fixture
def crowd(build):
    """Groups of people with values spread over [0, 10]; the exact answer for each group by plain SQL."""

    def connect(groups, size, *, rows=1, min_frequency=1, declared=True):
        unit = "u BIGINT PRIMARY KEY" if rows == 1 else "u BIGINT"
        limits = "unit_unique: true" if rows == 1 else f"max_rows: {rows}, max_groups: 1"
        values = f"{{values: [{', '.join(map(str, range(groups)))}]}}" if declared else "{}"
        spread = "(j * 7919 % 1000) / 100, CASE WHEN j % 3 > 0 THEN (j * 104729 % 997) / 997 END, j % 2"
        people = f"j // {rows}, j // {rows * max(size, 1)}"
        bounds = "x: {lower: 0, upper: 10}, y: {lower: 0, upper: 1}, b: {lower: 0, upper: 1}"
        return build(
            [
                f"CREATE TABLE t ({unit}, g INTEGER NOT NULL, x DOUBLE NOT NULL, y DOUBLE, b INTEGER NOT NULL)",
                f"INSERT INTO t SELECT {people}, {spread} FROM range({groups * size * rows}) r(j)",
            ],
            f"t: {{unit: u, {limits}, columns: {{{bounds}, g: {values}}}}}",
            min_frequency=min_frequency,
            handed_in=True,
        )

    return connect


@pytest.fixture
def exact():
    """The answer of plain SQL for each shown row of an answer, by its key; zero or NULL for empty groups."""

    def column(db, answer, expression, empty=0.0):
        actual = dict(db.owner.execute(f"SELECT g, {expression} FROM t GROUP BY g").fetchall())
        return [actual.get(key, empty) for key in answer["g"]]

    return column
