"""Where a value lies, as a whole number that rows can be grouped by: its order of magnitude, or a cell of a grid.

Each is an expression of our own functions, all of them total, so that no row can make one fail.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.coerce import call

LEAST, MOST = -80, 98
"""Orders of magnitude, as powers of two: bounds have a size of 1e-30 to 1e30."""

ZERO = LEAST - 1
"""The bucket of zeros, and of all that is smaller than 2^LEAST."""

PARTS = 4
"""Fine orders of magnitude: so many to each power of two."""

CELLS = 16
"""How many cells a range is cut into."""


@dataclass(frozen=True, slots=True)
class Span:
    """From `lower` to `upper`: a range that is cut into cells, or what is left of it."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """How wide one cell is. Ends are sums of few powers of two, so that cells begin where they should."""
        return (self.upper - self.lower) / CELLS

    def of_cells(self, kept: Iterable[int], *, extra: tuple[int, int] = (0, 0)) -> "Span":
        """From the first of these cells to the last, and so many more below and above, but never across zero.

        Example:
            >>> Span(-8.0, 8.0).of_cells([9, 12], extra=(1, 1))
            Span(lower=0.0, upper=6.0)
            >>> Span(-8.0, 8.0).of_cells([8, 12], extra=(1, 0))
            Span(lower=0.0, upper=5.0)
        """
        cells = sorted(kept)
        lower, upper = (self.lower + cell * self.width for cell in (cells[0], cells[-1] + 1))
        below, above = lower - extra[0] * self.width, upper + extra[1] * self.width
        return Span(max(below, 0.0) if lower >= 0 else below, min(above, 0.0) if upper <= 0 else above)


def number(value: float) -> Literal:
    """A constant; whole numbers stay whole."""
    return Literal(value, Type.INTEGER if isinstance(value, int) else Type.FLOAT)


def magnitude(value: Expr) -> Expr:
    """The power of two at or below the size of `value`; `ZERO` where there is none.

    Example:
        >>> from hedgerow.expressions.nodes import Column
        >>> magnitude(Column("x", Type.FLOAT)).type
        <Type.INTEGER: 'integer'>
    """
    power = call("floor", [call("log2", [call("abs", [value])])])
    return call("coalesce", [_whole(power, LEAST, MOST), number(ZERO)])


def fine_magnitude(value: Expr) -> Expr:
    """The quarter of a power of two at or below `value`, which is a count from one on."""
    quarters = call("multiply", [call("log2", [value]), number(float(PARTS))])
    return _whole(call("floor", [quarters]), 0, PARTS * MOST)


def cell(value: Expr, span: Span) -> Expr:
    """The cell of `span` that `value` lies in; the first and the last one take what lies outside."""
    above = call("subtract", [call("cast_float", [value]), number(span.lower)])
    return _whole(call("floor", [call("divide", [above, number(span.width)])]), 0, CELLS - 1)


def span_of(powers: Iterable[int]) -> Span | None:
    """A range around zero that holds these orders of magnitude; None where there are none, not even zeros.

    Example:
        >>> span_of([3, 5])
        Span(lower=-64.0, upper=64.0)
    """
    found = list(powers)
    if not found:
        return None
    top = max(found)
    size = 1.0 if top == ZERO else math.ldexp(1.0, top + 1)
    return Span(-size, size)


def whole_below(quarter: int) -> int:
    """The largest count in a fine order of magnitude.

    Example:
        >>> [whole_below(quarter) for quarter in (0, 4, 8, 11)]
        [1, 2, 4, 7]
    """
    return max(1, math.ceil(math.pow(2.0, (quarter + 1) / PARTS) - 1e-9) - 1)


def _whole(value: Expr, low: int, high: int) -> Expr:
    return call("cast_integer", [call("clip", [value, number(float(low)), number(float(high))])])
