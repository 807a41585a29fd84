"""Histograms of people: buckets of values, the plans that count people in them, and the buckets that enough share.

A bucket is a whole number that rows can be grouped by: the order of magnitude of a value, or a cell of a grid. Each is
an expression of our own functions, all of them total, so that no row can make one fail.

Privacy: the plans are like any other, and are priced, charged, bounded and released like any other. Rows of a release
belong to its owner, and what is made of the rows of one owner, one row each, belongs to that owner, too.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hedgerow.expressions.nodes import Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.coerce import call
from hedgerow.plan.nodes import AggregateCall, Grouped, LogicalPlan, Named, Release, Released, Select, canonical, inside
from hedgerow.plan.ownership import one_row_each, owner_column
from hedgerow.release import Estimator

LEAST, MOST = -80, 98
"""Orders of magnitude, as powers of two: bounds have a size of 1e-30 to 1e30."""

ZERO = LEAST - 1
"""The bucket of zeros, and of all that is smaller than 2^LEAST."""

PARTS = 4
"""Fine orders of magnitude: so many to each power of two."""

CELLS = 16
"""How many cells a range is cut into."""


@dataclass(frozen=True, slots=True)
class CellRange:
    """From `lower` to `upper`: a range that is cut into cells, or what is left of it."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """Width of one cell. Ends are sums of few powers of two, so that cells begin where they should."""
        return (self.upper - self.lower) / CELLS

    def of_cells(self, kept: Iterable[int], *, extra: tuple[int, int] = (0, 0)) -> "CellRange":
        """Return the range from the first of these cells to the last, with `extra` cells on each side, not across 0.

        Example:
            >>> CellRange(-8.0, 8.0).of_cells([9, 12], extra=(1, 1))
            CellRange(lower=0.0, upper=6.0)
            >>> CellRange(-8.0, 8.0).of_cells([8, 12], extra=(1, 0))
            CellRange(lower=0.0, upper=5.0)
        """
        cells = sorted(kept)
        lower, upper = (self.lower + cell * self.width for cell in (cells[0], cells[-1] + 1))
        below, above = lower - extra[0] * self.width, upper + extra[1] * self.width
        return CellRange(max(below, 0.0) if lower >= 0 else below, min(above, 0.0) if upper <= 0 else above)


def number(value: float) -> Literal:
    """Return a constant; whole numbers stay whole."""
    return Literal(value, Type.INTEGER if isinstance(value, int) else Type.FLOAT)


def magnitude(value: Expr) -> Expr:
    """Return the power of two at or below the size of `value`; `ZERO` where there is none.

    Example:
        >>> from hedgerow.expressions.nodes import Column
        >>> magnitude(Column("x", Type.FLOAT)).type
        <Type.INTEGER: 'integer'>
    """
    power = call("floor", [call("log2", [call("abs", [value])])])
    return call("coalesce", [_whole(power, LEAST, MOST), number(ZERO)])


def fine_magnitude(value: Expr) -> Expr:
    """Return the quarter of a power of two at or below `value`, which is a count from one on."""
    quarters = call("multiply", [call("log2", [value]), number(float(PARTS))])
    return _whole(call("floor", [quarters]), 0, PARTS * MOST)


def cell(value: Expr, span: CellRange) -> Expr:
    """Return the cell of `span` that `value` lies in; the first and the last one take what lies outside."""
    above = call("subtract", [call("cast_float", [value]), number(span.lower)])
    return _whole(call("floor", [call("divide", [above, number(span.width)])]), 0, CELLS - 1)


def span_of(powers: Iterable[int]) -> CellRange | None:
    """Return a range around zero that holds these orders of magnitude; None where there are none, not even zeros.

    Example:
        >>> span_of([3, 5])
        CellRange(lower=-64.0, upper=64.0)
    """
    present = list(powers)
    if not present:
        return None
    top = max(present)
    size = 1.0 if top == ZERO else math.ldexp(1.0, top + 1)
    return CellRange(-size, size)


def whole_below(quarter: int) -> int:
    """Return the largest count in a fine order of magnitude.

    Example:
        >>> [whole_below(quarter) for quarter in (0, 4, 8, 11)]
        [1, 2, 4, 7]
    """
    return max(1, math.ceil(math.pow(2.0, (quarter + 1) / PARTS) - 1e-9) - 1)


def _whole(value: Expr, low: int, high: int) -> Expr:
    return call("cast_integer", [call("clip", [value, number(float(low)), number(float(high))])])


OWNER, AMOUNT = "o", "a0"


def histogram(release: Release, bucket: Expr, present: Sequence[Expr], groups: int) -> LogicalPlan:
    """Return the plan that counts the people with a row in each bucket: each in at most `groups` of them, once in each.

    `present` are conditions that rows must satisfy to count.
    """
    most = min(limit for limit in (groups, release.limits.max_rows, release.limits.max_groups) if limit is not None)
    limits = replace(release.limits, max_rows=most, max_rows_per_group=None, max_groups=most)
    counted = AggregateCall(AMOUNT, "COUNT", (), None, distinct=True, type=Type.INTEGER)
    counting = replace(
        release,
        where=(*release.where, *present),
        limits=limits,
        keys=(Named("k0", bucket),),
        calls=(counted,),
        domain=None,
    )
    return shown(counting)


def aggregate_plan(release: Release, calls: Sequence[AggregateCall]) -> LogicalPlan:
    """Return the plan of other aggregates over all rows of a release, without groups."""
    named = tuple(replace(call_, name=f"a{i}") for i, call_ in enumerate(calls))
    return shown(replace(release, keys=(), calls=named, domain=None))


def rows_each(release: Release) -> tuple[Release, Column]:
    """Return one row for each person, and in it how many rows of the release are that person's."""
    return _people(replace(release, keys=()))


def groups_each(release: Release) -> tuple[Release, Column]:
    """Return one row for each person, and in it how many groups of the release have a row of that person."""
    alias = _free(release)
    named = (*release.keys, Named(OWNER, release.owner))
    pairs = Grouped(release.source, release.where, named, (), alias)
    return _people(replace(release, source=pairs, where=(), owner=owner_column(alias, release.owner), keys=()))


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
    """Return the condition that a value is not NULL."""
    return call("not", [call("is_null", [value])])


def _people(release: Release) -> tuple[Release, Column]:
    alias = _free(release)
    counted = AggregateCall(AMOUNT, "COUNT", (), None, distinct=False, type=Type.INTEGER)
    people = Grouped(release.source, release.where, (Named(OWNER, release.owner),), (counted,), alias)
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
    return one_row, Column(AMOUNT, Type.INTEGER, nullable=False, table=alias)


def _aliases(release: Release) -> list[str]:
    return [node.alias for node in inside(release) if hasattr(node, "alias")]


def _prefix(release: Release) -> str:
    """Return the prefix of the aliases of a bound release: no column has such a name."""
    return _aliases(release)[0].rstrip("0123456789")


def _free(release: Release) -> str:
    """Return an alias that no relation of a release has."""
    numbers = [int(alias.removeprefix(_prefix(release))) for alias in _aliases(release)]
    return f"{_prefix(release)}{max(numbers) + 1}"


WIDE = CELLS // 4
"""Fewer shared cells than this are worth cutting again, if there are people enough for it."""

TAIL = 6
"""Assumed length of a tail that is not shown, in orders of magnitude."""

STEEP = 2.0
"""An end of the shared cells is taken for the end of the values if it holds so many times the threshold."""


@dataclass(frozen=True)
class HeavyBuckets:
    """Noisy numbers of people, by bucket (that of NULL aside), and the threshold that each of them has reached."""

    counts: Mapping[int, float]
    threshold: float

    @classmethod
    def of(cls, estimators: Sequence[Estimator]) -> "HeavyBuckets":
        """Read a released histogram; a count that came out negative is none."""
        (estimator,) = estimators
        selection = estimator.plan.selection
        noisy = estimator.noisy
        columns = zip(noisy.keys.column("k0").to_pylist(), estimator.values(0), noisy.shown, strict=True)
        counts = {int(key): max(float(value), 0.0) for key, value, shown in columns if shown and key is not None}
        return cls(counts, 0.0 if selection is None else float(selection.threshold))

    def cells(self) -> list[int]:
        """Return the buckets in their order."""
        return sorted(self.counts)

    @property
    def is_narrow(self) -> bool:
        """Return True if few cells hold everything, with people enough for cutting them again to show most of them."""
        cells = self.cells()
        few = bool(cells) and cells[-1] - cells[0] + 1 < WIDE
        return few and sum(self.counts.values()) >= STEEP * self.threshold * CELLS

    def tail(self) -> dict[int, float]:
        """Guess the orders of magnitude above the last one, none of which has people enough to be shown.

        Where the last ones have fewer and fewer people, it goes on like that; where the last one has the most and is
        well filled, nothing comes behind it.
        """
        last = max(self.counts)
        top, before = self.counts[last], self.counts.get(last - 1, 0.0)
        if before <= top and top >= STEEP * self.threshold:
            return {}
        fall = min(top / before, 0.3) if before > top else 0.25
        first = min(self.threshold, top * fall)
        return {last + 1 + step: first * fall**step for step in range(TAIL)}

    def extra(self) -> tuple[int, int]:
        """Return how many cells to add below and above: one where the end is so thin that values may go on beyond it.

        A cell next to the shared ones has too few people to be shown. Behind a well filled cell that is where values
        end; behind one that was itself hardly shown it says little.
        """
        cells = self.cells()
        thin = [self.counts[cells[end]] < STEEP * self.threshold for end in (0, -1)]
        return int(thin[0]), int(thin[1])
