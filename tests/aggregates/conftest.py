"""A table of people and one of their rows, with numbers for every aggregate; and the exact answers of plain SQL."""

import math

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-9
"""False-alarm rate of a test of chance."""

GROUPS = 3
COLUMNS = "g INTEGER, x DOUBLE, y DOUBLE, k INTEGER NOT NULL, m INTEGER NOT NULL, c VARCHAR, b BOOLEAN"
SPREAD = "(j * 7919 % 1000) / 100, (j * 7919 % 1000) / 200 + (j % 7) / 3.0, j * 31 % 50, j * 31 % 50 // 2 + j % 5"
BOUNDS = """
    x: {lower: 0, upper: 10}
    y: {lower: 0, upper: 8}
    k: {lower: 0, upper: 49}
    m: {lower: 0, upper: 28}
    c: {values: [red, green, blue]}
"""


def table(name, unit, limits, keys):
    """The catalog's lines for a table."""
    values = f"\n    g: {{values: [{', '.join(map(str, keys))}]}}" if keys else ""
    return f"{name}:\n  unit: u\n  {limits}\n  columns:{values}{BOUNDS}".replace("unit: u", f"unit: {unit}")


@pytest.fixture(scope="module")
def world(build_once):
    """`one` has a row per person, `many` four; both have 6 000 rows in three groups, and a declared empty one."""
    statements = []
    for name, unit, rows in (("one", "u BIGINT PRIMARY KEY", 1), ("many", "u BIGINT", 4)):
        colours = "['red', 'green', 'blue'][1 + (j % 7) // 3]"
        values = f"j // {rows}, j // {rows} % {GROUPS}, {SPREAD}, {colours}, j % 3 = 0"
        statements += [
            f"CREATE TABLE {name} ({unit}, {COLUMNS})",
            f"INSERT INTO {name} SELECT {values} FROM range(6000) r(j)",
        ]
    keys = range(GROUPS + 1)
    tables = table("one", "u", "unit_unique: true", keys)
    tables += table("many", "u", "max_rows: 4\n  max_groups: 1", keys)
    return build_once(statements, tables, handed_in=True, budget="{epsilon: 1e6, delta: 0.01, pure_epsilon: 5e5}")


@pytest.fixture
def plain():
    """The answer of plain SQL: one number, or one for each group."""

    def answer(db, expression, name, where=""):
        (actual,) = db.owner.execute(f"SELECT {expression} FROM {name} {where}").fetchone()
        return actual

    return answer


@pytest.fixture
def by_group():
    """The answers of plain SQL for each shown group."""

    def answers(db, answer, expression, name, empty=math.nan):
        actual = dict(db.owner.execute(f"SELECT g, {expression} FROM {name} GROUP BY g").fetchall())
        return [actual.get(key, empty) for key in answer["g"]]

    return answers


@pytest.fixture
def crowd(build):
    """Many equal groups of people, so that one statement tests a thousand intervals."""

    def connect(groups, size, *, rows=1, constant=False):
        unit, limits = ("u BIGINT PRIMARY KEY", "unit_unique: true") if rows == 1 else ("u BIGINT", f"max_rows: {rows}")
        limits = limits if rows == 1 else f"{limits}\n  max_groups: 1"
        spread = "5.0, 5.0, 7, 7" if constant else SPREAD
        values = f"j // {rows}, j // {rows * size}, {spread}, 'red', true"
        return build(
            [
                f"CREATE TABLE t ({unit}, {COLUMNS})",
                f"INSERT INTO t SELECT {values} FROM range({groups * size * rows}) r(j)",
            ],
            table("t", "u", limits, range(groups)),
            handed_in=True,
        )

    return connect


def _ends(answer, column):
    bars = [row[column] for row in answer.intervals]
    return np.array([bar.lower for bar in bars]), np.array([bar.upper for bar in bars])


@pytest.fixture
def ends():
    """Both ends of all intervals of a column."""
    return _ends


@pytest.fixture
def assert_covers():
    """At least the stated share of intervals holds the exact value."""

    def check(answer, column, exact, confidence):
        lower, upper = _ends(answer, column)
        exact = np.asarray(exact, dtype=float)
        near = 1e-9 * np.maximum(1.0, np.abs(exact))
        hits = int(np.sum((lower - near <= exact) & (exact <= upper + near)))
        assert stats.binom.cdf(hits, len(exact), confidence) > FALSE_ALARM, f"{hits} of {len(exact)}"
        assert np.all(lower <= upper)

    return check
