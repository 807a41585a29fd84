"""Integer arithmetic puts values on the same grid points as arithmetic in doubles."""

import random
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest

from hedgerow.compile.scalars import exact_grid_integer
from hedgerow.dialects import DUCKDB
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type
from hedgerow.privacy.precision import Grid, centred, plain

WHOLE = {"TINYINT": 2**7, "SMALLINT": 2**15, "INTEGER": 2**31, "BIGINT": 2**63, "UINTEGER": 2**32}


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as connection:
        yield connection


def in_doubles(grid: Grid) -> str:
    text = DUCKDB.on_grid('CAST(t."x" AS DOUBLE)', grid.offset, 2.0**-grid.exponent, grid.low, grid.high, nan=False)
    return f"CAST({text} AS BIGINT)"


def differing(engine, native, grid, exact, values):
    """Rows on which both forms differ."""
    listed = ", ".join("(NULL)" if value is None else f"({value})" for value in values)
    rows = f"(SELECT CAST(v AS {native}) AS x FROM (VALUES {listed}) AS r(v)) AS t"
    return engine.sql(f"SELECT t.x FROM {rows} WHERE ({exact}) IS DISTINCT FROM ({in_doubles(grid)})").fetchall()


def grids(lower, upper, bits, *, whole):
    values = Range(float(lower), float(upper))
    yield centred(values, whole=whole, bits=bits)
    yield plain(values, whole=whole, bits=bits)


def near_ends(grid: Grid, unit: Fraction) -> list[Fraction]:
    """Multiples of `unit` around both ends of a grid."""
    step = Fraction(2) ** grid.exponent
    ends = [Fraction(grid.offset) + end * step for end in (grid.low, grid.high)]
    return [(end // unit + shift) * unit for end in ends for shift in range(-3, 4)]


def test_integers_have_the_same_grid_points(engine):
    written = 0
    for _ in range(60):
        native, size = random.choice(list(WHOLE.items()))
        least = 0 if native == "UINTEGER" else -size
        lower = random.randint(-(2 ** random.randint(1, 33)), 2 ** random.randint(1, 33))
        upper = lower + random.randint(1, 2 ** random.randint(1, 33))
        for grid in grids(lower, upper, random.choice([20, 30, 40]), whole=True):
            exact = exact_grid_integer(Column("x", Type.INTEGER, native=native), grid, 't."x"', DUCKDB)
            if exact is None:
                continue
            written += 1
            values = [least, size - 1, None, *(int(value) for value in near_ends(grid, Fraction(1)))]
            values += [random.randint(lower - 9, upper + 9) for _ in range(60)]
            values = [value for value in values if value is None or least <= value < size]
            assert differing(engine, native, grid, exact, values) == []
    assert written > 20


def test_decimals_have_the_same_grid_points(engine):
    written = 0
    for _ in range(60):
        scale = random.randint(0, 4)
        digits = random.randint(scale + 3, 18)
        unit, most = Fraction(1, 10**scale), 10**digits - 1
        reach = 10 ** random.randint(scale + 1, min(digits, scale + 7))
        lower, upper = sorted(random.sample(range(-reach, reach), 2))
        for grid in grids(lower * unit, upper * unit, random.choice([20, 30, 40]), whole=False):
            native = f"DECIMAL({digits},{scale})"
            exact = exact_grid_integer(Column("x", Type.DECIMAL, native=native), grid, 't."x"', DUCKDB)
            if exact is None:
                continue
            written += 1
            numbers = [-most, most, *(int(value / unit) for value in near_ends(grid, unit))]
            numbers += [random.randint(lower - 9, upper + 9) for _ in range(100)]
            values = [Decimal(number).scaleb(-scale) for number in numbers if abs(number) <= most]
            assert differing(engine, native, grid, exact, [*values, None]) == []
    assert written > 20


def test_values_beyond_all_digits_neither_fail_nor_count_more(engine):
    grid = centred(Range(0.0, 1000.0), whole=False, bits=40)
    column = Column("x", Type.DECIMAL, native="DECIMAL(18,2)")
    exact = exact_grid_integer(column, grid, 't."x"', DUCKDB)
    engine.execute(
        "CREATE OR REPLACE TABLE t AS SELECT CASE i % 3 WHEN 0 THEN 9999999999999999.99 "
        "WHEN 1 THEN -9999999999999999.99 ELSE i % 1000 END::DECIMAL(18,2) AS x, i % 7 AS g FROM range(30000) r(i)"
    )
    for rest in ("", " WHERE x > 5", " GROUP BY g", " WHERE x > 2000 GROUP BY g ORDER BY 1"):
        pair = [engine.sql(f"SELECT SUM({text}) FROM t{rest}").fetchall() for text in (exact, in_doubles(grid))]
        assert sorted(pair[0]) == sorted(pair[1])


def test_expressions_coarse_grids_and_engines_without_integers_take_doubles():
    whole = centred(Range(0.0, 100.0), whole=True, bits=40)
    coarse = plain(Range(0.0, 2.0**62), whole=True, bits=30)
    column = Column("x", Type.INTEGER, native="BIGINT")
    from hedgerow.dialects.sqlite import SQLITE  # noqa: PLC0415

    assert exact_grid_integer(column, whole, "x", DUCKDB) is not None
    assert exact_grid_integer(column, coarse, "x", DUCKDB) is None
    assert exact_grid_integer(column, whole, "x", SQLITE) is None
    assert exact_grid_integer(Column("x", Type.INTEGER), whole, "x", DUCKDB) is None
    assert exact_grid_integer(Column("x", Type.FLOAT, native="DOUBLE"), whole, "x", DUCKDB) is None
