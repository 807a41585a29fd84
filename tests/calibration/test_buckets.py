"""Cells of values: the database computes what they mean, for every value there is, and nothing fails."""

import math

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.calibration.buckets import (
    AMOUNT_CELLS,
    CELLS,
    LARGEST_POWER,
    SMALLEST_POWER,
    CellRange,
    amount_cell,
    cell,
    octave,
    octaves_of,
    power_of,
    whole_below,
)
from hedgerow.compile.scalars import scalar
from hedgerow.dialects import DUCKDB
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type

X = Column("x", Type.FLOAT, table="t")
N = Column("x", Type.INTEGER, table="t")
ANY = st.floats(allow_nan=True, allow_infinity=True)
FINITE = st.floats(-1e25, 1e25)


@pytest.fixture(scope="module")
def compute():
    connection = duckdb.connect()

    def value_of(expr, value, kind="DOUBLE"):
        text = f"SELECT {scalar(expr, DUCKDB)} FROM (SELECT CAST(? AS {kind}) AS x) AS t"
        return connection.execute(text, [value]).fetchone()[0]

    yield value_of
    connection.close()


@given(ANY)
@example(0.0)
@example(-0.0)
@example(5e-324)
@example(math.inf)
@example(-math.inf)
@example(math.nan)
def test_every_value_lies_in_an_octave_that_is_listed(compute, value):
    bucket = compute(octave(X), value)
    assert bucket in octaves_of(X)
    if not math.isnan(value) and abs(value) >= 2.0**SMALLEST_POWER:
        assert bucket * value > 0
    elif value == 0 or math.isnan(value):
        assert bucket == 0


@given(st.integers(-(2**63), 2**63 - 1))
@example(0)
@example(1)
@example(-(2**63))
@example(2**63 - 1)
def test_every_whole_number_lies_in_an_octave_that_is_listed(compute, value):
    bucket = compute(octave(N), value, "BIGINT")
    assert bucket in octaves_of(N)
    assert math.copysign(1, bucket) == math.copysign(1, value)
    if value:
        assert 2.0 ** power_of(abs(bucket)) <= abs(float(value)) <= 2.0 ** (power_of(abs(bucket)) + 1)


@given(FINITE.filter(lambda x: abs(x) > 2.0**SMALLEST_POWER))
@example(8.0)
@example(-8.0)
@example(math.nextafter(8.0, 0))
def test_an_octave_holds_its_values(compute, value):
    power = power_of(abs(compute(octave(X), value)))
    assert math.ldexp(1.0, power) <= abs(value) * (1 + 1e-15)
    assert abs(value) <= math.ldexp(1.0, power + 1)


def test_what_is_declared_leaves_out_octaves():
    assert min(octaves_of(Column("x", Type.FLOAT, range=Range(0.0, math.inf)))) == 0
    assert max(octaves_of(Column("x", Type.FLOAT, range=Range(-math.inf, 0.0)))) == 0
    assert power_of(octaves_of(Column("x", Type.INTEGER, range=Range(-math.inf, 100.0)))[-1]) == 6
    assert len(octaves_of(X)) == 2 * (LARGEST_POWER - SMALLEST_POWER + 1) + 1


@given(FINITE, st.floats(-1e20, 1e20), st.floats(1e-6, 1e6))
def test_a_cell_holds_its_values_and_the_ends_take_the_rest(compute, value, lower, relative):
    width = relative * max(abs(lower), 1.0)
    span = CellRange(lower, lower + width)
    index = compute(cell(X, span), value)
    assert 0 <= index < CELLS
    slack = 1e-12 * (abs(lower) + width + abs(value))
    if index > 0:
        assert value >= lower + index * span.width - slack
    if index < CELLS - 1:
        assert value <= lower + (index + 1) * span.width + slack


def test_cells_of_dyadic_ranges_begin_where_they_should(compute):
    span = CellRange(1792.0, 2048.0)
    values = (1791, 1792, 1799.99, 1800, 2047, 2048, 9999)
    assert [compute(cell(X, span), value) for value in values] == [0, 0, 0, 1, 31, 31, 31]
    assert compute(cell(X, span), math.nan) is None


@given(st.integers(1, 10**9))
def test_a_limit_holds_every_count_of_its_cell(compute, count):
    bucket = compute(amount_cell(N), count, "BIGINT")
    assert bucket in AMOUNT_CELLS
    assert count <= whole_below(bucket) <= max(1.2 * count, count + 1)


def test_amounts_beyond_any_limit_are_in_the_last_cell(compute):
    assert compute(amount_cell(N), 2**62, "BIGINT") == AMOUNT_CELLS[-1]
