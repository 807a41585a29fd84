"""ClickHouse's integers have the same grid points by integer arithmetic as by doubles."""

import random
from fractions import Fraction

import pytest

from hedgerow.compile.scalars import exact_grid_integer
from hedgerow.dialects.clickhouse import CLICKHOUSE
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type
from hedgerow.privacy.precision import Grid, centred, plain

session = pytest.importorskip("chdb.session", reason="NOT TESTED: chdb is not installed")

TYPES = {
    **{f"Int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}": (0, 2**bits - 1) for bits in (8, 16, 32)},
}


@pytest.fixture(scope="module")
def built():
    with session.Session() as opened:
        yield opened


def in_doubles(column: Column, grid: Grid) -> str:
    text = CLICKHOUSE.as_double("x", column)
    placed = CLICKHOUSE.on_grid(text, grid.offset, 2.0**-grid.exponent, grid.low, grid.high, nan=False)
    return CLICKHOUSE.as_whole(placed, "Int64")


def near_ends(grid: Grid) -> list[int]:
    step = Fraction(2) ** grid.exponent
    ends = [Fraction(grid.offset) + end * step for end in (grid.low, grid.high)]
    return [int(end) + shift for end in ends for shift in range(-3, 4)]


def differing(built, native: str, pairs: list[tuple[str, str]], values: set[int]) -> str:
    """Rows on which both forms of any pair differ."""
    listed = ", ".join(f"'{value}'" for value in values)
    rows = f"SELECT CAST(arrayJoin([{listed}, NULL]) AS Nullable({native})) AS x"
    beyond = " OR ".join(f"({exact}) IS DISTINCT FROM ({double})" for exact, double in pairs)
    return str(built.query(f"SELECT x FROM ({rows}) WHERE {beyond} SETTINGS cast_keep_nullable = 1"))


def test_integers_have_the_same_grid_points(built):
    for native, (least, most) in TYPES.items():
        column, pairs, values = Column("x", Type.INTEGER, native=native), [], {least, most}
        for make in (centred, plain, centred):
            lower = random.randint(-(2 ** random.randint(1, 33)), 2 ** random.randint(1, 33))
            upper = lower + random.randint(1, 2 ** random.randint(1, 33))
            grid = make(Range(float(lower), float(upper)), whole=True, bits=40)
            exact = exact_grid_integer(column, grid, "x", CLICKHOUSE)
            assert exact is not None
            pairs.append((exact, in_doubles(column, grid)))
            values |= {*near_ends(grid), *(random.randint(lower - 9, upper + 9) for _ in range(20))}
        assert differing(built, native, pairs, {value for value in values if least <= value <= most}) == ""
