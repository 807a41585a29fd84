"""Buckets of values: the database computes what they mean, for every value there is, and nothing fails."""

import math

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.calibration.buckets import (
    CELLS,
    LEAST,
    MOST,
    ZERO,
    CellRange,
    cell,
    fine_magnitude,
    magnitude,
    span_of,
    whole_below,
)
from hedgerow.compile.scalars import scalar
from hedgerow.dialects import DUCKDB
from hedgerow.expressions.nodes import Column
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
def test_every_value_has_an_order_of_magnitude(compute, value):
    found = compute(magnitude(X), value)
    if math.isnan(value) or value == 0:
        assert found == ZERO
    else:
        assert LEAST <= found <= MOST


@given(FINITE.filter(lambda x: abs(x) > 2.0**LEAST))
@example(8.0)
@example(-8.0)
@example(math.nextafter(8.0, 0))
def test_the_range_of_an_order_of_magnitude_holds_its_values(compute, value):
    span = span_of([compute(magnitude(X), value)])
    assert span.lower <= value <= span.upper
    assert span.upper <= 4 * abs(value)


@given(FINITE, st.integers(LEAST, MOST), st.integers(0, 5), st.integers(6, 15))
def test_every_value_in_a_kept_cell_lies_in_the_range_that_is_kept(compute, value, power, first, last):
    span = span_of([power])
    inside = min(max(value, span.lower), span.upper)
    found = compute(cell(X, span), inside)
    assert 0 <= found < CELLS
    if first <= found <= last:
        kept = span.of_cells([first, last])
        assert kept.lower <= inside <= kept.upper
    for extra in ((0, 0), (1, 0), (0, 1), (1, 1)):
        kept = span.of_cells([first, last], extra=extra)
        plain = span.of_cells([first, last])
        assert kept.lower <= plain.lower < plain.upper <= kept.upper


def test_cells_of_dyadic_ranges_begin_where_they_should(compute):
    span = CellRange(1792.0, 2048.0)
    assert [compute(cell(X, span), value) for value in (1791, 1792, 1807.99, 1808, 2047, 2048, 9999)] == [
        0,
        0,
        0,
        1,
        15,
        15,
        15,
    ]
    assert compute(cell(X, span), math.nan) is None


@given(st.integers(1, 10**9))
def test_a_limit_holds_every_count_of_its_bucket(compute, count):
    bucket = compute(fine_magnitude(N), count, "BIGINT")
    assert count <= whole_below(bucket) <= max(1.2 * count, count + 1)


def test_no_order_of_magnitude_is_no_range_and_zeros_are_one():
    assert span_of([]) is None
    assert span_of([ZERO]) == CellRange(-1.0, 1.0)
