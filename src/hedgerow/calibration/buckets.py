"""Histograms of people: cells of values, and the plans that count people in them.

A cell is a whole number by which rows can be grouped: the octave of a value, or one of the equal parts of a range. Each
is an expression of our own functions, all of them total, so that no row can make one fail.

Privacy: the plans are like any other, and are priced, charged, bounded and released like any other. Rows of a release
belong to its owner, and what is made of the rows of one owner, one row each, belongs to that owner, too. The cells are
public: which ones there are follows from the type of a value, from its declared range, and from looks that were
released before. So each of them is released with noise, empty or not, and no key has to be selected.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.coerce import call
from hedgerow.plan.nodes import AggregateCall, Grouped, LogicalPlan, Named, Release, Released, Select, canonical, inside
from hedgerow.plan.ownership import one_row_each, owner_column
from hedgerow.privacy.bounding import LARGEST

SMALLEST_POWER, LARGEST_POWER = -80, 98
"""Octaves, as powers of two: bounds have a size of 1e-30 to 1e30."""

LARGEST_WHOLE = 63
"""The octave of the largest whole number, and the one above, which rounding reaches."""

PARTS = 4
"""Number of parts of an octave in which amounts are counted."""

CELLS = 32
"""Number of equal cells that a range is cut into."""


@dataclass(frozen=True, slots=True)
class CellRange:
    """From `lower` to `upper`: a range that is cut into equal cells."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """Width of one cell. Ends are sums of few powers of two, so that cells begin where they should."""
        return (self.upper - self.lower) / CELLS


def number(value: float) -> Literal:
    """Return a constant; whole numbers stay whole."""
    return Literal(value, Type.INTEGER if isinstance(value, int) else Type.FLOAT)


def octave(value: Expr) -> Expr:
    """Return the octave that contains `value`: 1 for the smallest one above zero, 0 for zeros, negative below.

    Octave n of numbers above zero is from 2^p to 2^(p + 1), with p = `power_of(n)`.
    """
    power = call("floor", [call("log2", [call("abs", [value])])])
    above_zero = call("subtract_whole", [_whole(power, SMALLEST_POWER, LARGEST_POWER), number(SMALLEST_POWER - 1)])
    size = call("coalesce", [above_zero, number(0)])
    negative = call("less", [call("cast_float", [value]), number(0.0)])
    return call("case", [negative, call("negate_whole", [size]), size])


def power_of(octave_: int) -> int:
    """Return the power of two at which an octave of numbers above zero begins.

    Example:
        >>> power_of(1), power_of(84)
        (-80, 3)
    """
    return octave_ + SMALLEST_POWER - 1


def octaves_of(value: Expr) -> tuple[int, ...]:
    """Return, in order, all octaves that values of this type and declared range can lie in.

    Example:
        >>> octaves = octaves_of(Column("n", Type.INTEGER))
        >>> len(octaves), power_of(octaves[-1])
        (129, 63)
    """
    known, whole = range_of(value), value.type is Type.INTEGER
    smallest = 0 if whole else SMALLEST_POWER
    sides = []
    for sign, end in ((-1, -known.lower), (1, known.upper)):
        largest = LARGEST_WHOLE if whole else LARGEST_POWER
        if 0 < end < math.inf:
            largest = min(largest, math.frexp(end)[1] - 1)
        powers = range(smallest, largest + 1) if end > 0 else ()
        sides.append([sign * (power - SMALLEST_POWER + 1) for power in powers])
    return (*reversed(sides[0]), 0, *sides[1])


def amount_cell(value: Expr) -> Expr:
    """Return the quarter of an octave that contains `value`, a count of at least one."""
    quarters = call("multiply", [call("log2", [value]), number(float(PARTS))])
    return _whole(call("floor", [quarters]), 0, AMOUNT_CELLS[-1])


AMOUNT_CELLS = tuple(range(PARTS * (LARGEST.bit_length() - 1) + 1))
"""All quarters of octaves in which amounts are counted; the last one also takes amounts above any allowed limit."""


def whole_below(quarter: int) -> int:
    """Return the largest count in a quarter of an octave.

    Example:
        >>> [whole_below(quarter) for quarter in (0, 4, 8, 11)]
        [1, 2, 4, 7]
    """
    return max(1, math.ceil(math.pow(2.0, (quarter + 1) / PARTS) - 1e-9) - 1)


def cell(value: Expr, span: CellRange) -> Expr:
    """Return the cell of `span` that contains `value`; values outside the span count for the nearest cell."""
    above = call("subtract", [call("cast_float", [value]), number(span.lower)])
    return _whole(call("floor", [call("divide", [above, number(span.width)])]), 0, CELLS - 1)


def _whole(value: Expr, low: int, high: int) -> Expr:
    return call("cast_integer", [call("clip", [value, number(float(low)), number(float(high))])])


OWNER, AMOUNT, OTHER = "o", "a0", "a1"


@dataclass(frozen=True, slots=True)
class Histogram:
    """A plan that counts people in public cells, each person in one of them, and the list of all cells."""

    plan: LogicalPlan
    cells: tuple[int, ...]


def largest_octave(release: Release, value: Expr, present: Sequence[Expr]) -> Histogram:
    """Return the histogram of people by the octave of their largest absolute value.

    Privacy: of a person's octaves only the largest in size is kept (of 7 and -7 that of 7), before anything is counted.
    One person more or less changes one cell by one: sensitivity 1, in l1 and in l2.
    """
    cells = octaves_of(value)
    if release.limits.one_row:
        return _histogram(replace(release, where=(*release.where, *present)), octave(value), cells)
    people, highest, lowest = _extremes(release, octave(value), present)
    above = call("greater_or_equal", [highest, call("negate_whole", [lowest])])
    return _histogram(people, call("case", [above, highest, lowest]), cells)


def end_cells(release: Release, value: Expr, present: Sequence[Expr], span: CellRange) -> tuple[Histogram, ...]:
    """Return the histograms of people by their lowest and by their highest cell; one where each has one row.

    Privacy: a person is in one cell of each. One person more or less changes one cell of each by one: sensitivity 1
    for each of them, and they are charged one by one.
    """
    cells = tuple(range(CELLS))
    if release.limits.one_row:
        return (_histogram(replace(release, where=(*release.where, *present)), cell(value, span), cells),)
    people, highest, lowest = _extremes(release, cell(value, span), present)
    return _histogram(people, lowest, cells), _histogram(people, highest, cells)


def amounts(people: Release, amount: Column) -> Histogram:
    """Return the histogram of people by an amount, one per person, in quarters of octaves.

    Privacy: `people` has one row for each person, who is in one cell: sensitivity 1.
    """
    return _histogram(people, amount_cell(amount), AMOUNT_CELLS)


def _histogram(people: Release, bucket: Expr, cells: tuple[int, ...]) -> Histogram:
    counted = AggregateCall(AMOUNT, "COUNT", (), None, distinct=False, type=Type.INTEGER)
    return Histogram(shown(replace(people, keys=(Named("k0", bucket),), calls=(counted,), domain=None)), cells)


def _extremes(release: Release, bucket: Expr, present: Sequence[Expr]) -> tuple[Release, Column, Column]:
    """Return one row for each person, with the highest and the lowest bucket of that person's rows."""
    calls = tuple(
        AggregateCall(name, function, (bucket,), None, distinct=False, type=Type.INTEGER)
        for name, function in ((AMOUNT, "MAX"), (OTHER, "MIN"))
    )
    people, (highest, lowest) = _people(replace(release, where=(*release.where, *present)), calls)
    return people, highest, lowest


def aggregate_plan(release: Release, calls: Sequence[AggregateCall]) -> LogicalPlan:
    """Return the plan of other aggregates over all rows of a release, without groups."""
    named = tuple(replace(call_, name=f"a{i}") for i, call_ in enumerate(calls))
    return shown(replace(release, keys=(), calls=named, domain=None))


def rows_each(release: Release) -> tuple[Release, Column]:
    """Return one row for each person, with the number of that person's rows in the release."""
    return _counted(replace(release, keys=()))


def groups_each(release: Release) -> tuple[Release, Column]:
    """Return one row for each person, with the number of groups of the release that contain that person."""
    alias = _free(release)
    named = (*release.keys, Named(OWNER, release.owner))
    pairs = Grouped(release.source, release.where, named, (), alias)
    return _counted(replace(release, source=pairs, where=(), owner=owner_column(alias, release.owner), keys=()))


def shown(release: Release) -> LogicalPlan:
    """Return the plan that shows a release as it is."""
    prefix = _prefix(release)
    released = canonical(release, prefix)
    alias = _free(released)
    keys = [Column(key.name, key.expr.type, table=alias) for key in release.keys]
    columns = [*keys, *(Column(aggregate.name, aggregate.type, table=alias) for aggregate in released.calls)]
    named = tuple(Named(f"c{i}", column) for i, column in enumerate(columns))
    root = Select(Released(released, alias), (), named)
    return LogicalPlan(root, (released,), tuple(column.name for column in columns))


def is_present(value: Expr) -> Expr:
    """Return the condition that a value is neither NULL nor NaN."""
    return call("is_there", [value])


def _people(release: Release, calls: tuple[AggregateCall, ...]) -> tuple[Release, tuple[Column, ...]]:
    alias = _free(release)
    people = Grouped(release.source, release.where, (Named(OWNER, release.owner),), calls, alias)
    limits = one_row_each(release.limits, release.owner)
    one_row = replace(
        release,
        source=people,
        where=(),
        owner=owner_column(alias, release.owner),
        limits=limits,
        keys=(),
        calls=(),
        domain=None,
    )
    return one_row, tuple(Column(call_.name, Type.INTEGER, nullable=False, table=alias) for call_ in calls)


def _counted(release: Release) -> tuple[Release, Column]:
    counted = AggregateCall(AMOUNT, "COUNT", (), None, distinct=False, type=Type.INTEGER)
    people, (amount,) = _people(release, (counted,))
    return people, amount


def _aliases(release: Release) -> list[str]:
    return [node.alias for node in inside(release) if hasattr(node, "alias")]


def _prefix(release: Release) -> str:
    """Return the prefix of the aliases of a bound release: no column has such a name."""
    return _aliases(release)[0].rstrip("0123456789")


def _free(release: Release) -> str:
    """Return an alias that no relation of a release has."""
    numbers = [int(alias.removeprefix(_prefix(release))) for alias in _aliases(release)]
    return f"{_prefix(release)}{max(numbers) + 1}"
