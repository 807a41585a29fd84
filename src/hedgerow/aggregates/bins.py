"""HISTOGRAM_BIN(x, number, edge, edge, …) and VALUE_BIN(x, number, value, value, …): one count of several.

`HISTOGRAM(x, [edges])` stands for all bins, one column each; `MODE(x)` for the value whose bin is fullest. A row
falls into one bin at most, so all bins of a histogram are released together at the price of one count.
"""

from abc import abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import final

from hedgerow.aggregates.base import Kind, NeededSums, aggregate
from hedgerow.aggregates.count import CountedRows
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

MOST_BINS = 1000
MOST_VALUES = 64


class _Bin(CountedRows):
    """The number of rows in one bin."""

    max_arguments = MOST_BINS + 3

    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """A count of the rows of one bin, next to those of the others."""
        if distinct or len(arguments) < 3:
            raise UnsupportedSQLError(f"{self.name} takes a value, a number and bins.", code="type-mismatch")
        conditions = self.conditions(arguments[0], arguments[2:])
        number = arguments[1].value if isinstance(arguments[1], Literal) else None
        if not isinstance(number, int) or not 0 <= number < len(conditions) <= MOST_BINS:
            raise UnsupportedSQLError(f"{self.name} has no such bin.", code="type-mismatch")
        return NeededSums(Kind.BIN, None, where, bins=conditions, bin=number)

    @abstractmethod
    def conditions(self, value: Expr, constants: Sequence[Expr]) -> tuple[Expr, ...]:
        """Condition of each bin. No two hold at once."""


@final
@aggregate("HISTOGRAM_BIN", "HISTOGRAM_BIN({x}, 1, 0, 5, 10)", "COUNT(*) FILTER (WHERE {x} BETWEEN 5 AND 10)")
class HistogramBin(_Bin):
    """A bin holds the values from its lower edge on and below its upper edge; the last one holds that, too.

    Privacy: all edges are doubles, so every comparison of a value is made the same way, and no value is in two bins.
    """

    def conditions(self, value: Expr, constants: Sequence[Expr]) -> tuple[Expr, ...]:
        """Between two edges."""
        edges = [edge.value for edge in constants if isinstance(edge, Literal)]
        numbers = [float(edge) for edge in edges if isinstance(edge, int | float | Decimal)]
        rising = all(low < high for low, high in pairwise(numbers))
        if not value.type.is_numeric or len(numbers) != len(constants) or len(numbers) < 2 or not rising:
            raise UnsupportedSQLError(
                "HISTOGRAM takes a number and a list of rising constants.",
                code="type-mismatch",
                hint="Write HISTOGRAM(x, [0, 10, 20, 30]).",
            )
        last = len(numbers) - 2
        edges_alike = [Literal(number, Type.FLOAT) for number in numbers]
        return tuple(
            _between(value, low, high, closed=i == last) for i, (low, high) in enumerate(pairwise(edges_alike))
        )


@final
@aggregate("VALUE_BIN", "VALUE_BIN({k}, 1, 2, 3, 4)", "COUNT(*) FILTER (WHERE {k} = 3)")
class ValueBin(_Bin):
    """A bin holds one value.

    Privacy: two constants may be equal in the eyes of the engine (a collation); a row is in the first bin that it
    fits, and in no other.
    """

    def conditions(self, value: Expr, constants: Sequence[Expr]) -> tuple[Expr, ...]:
        """Equal to it, and to none before it."""
        if len(constants) > MOST_VALUES or not all(_comparable(value, constant) for constant in constants):
            raise UnsupportedSQLError(
                f"{self.name} takes at most {MOST_VALUES} constants of the type of its value.",
                code="type-mismatch",
                hint=f"Write {self.name}(x, 0, 'a', 'b') for the rows where x is 'a'.",
            )
        branches: list[Expr] = []
        for number, constant in enumerate(constants):
            branches += [Call("equal", (value, constant), Type.BOOLEAN), Literal(number, Type.INTEGER)]
        first = Call("case", (*branches, Literal(-1, Type.INTEGER)), Type.INTEGER)
        numbers = (Literal(number, Type.INTEGER) for number in range(len(constants)))
        return tuple(Call("equal", (first, number), Type.BOOLEAN) for number in numbers)


def _comparable(value: Expr, constant: Expr) -> bool:
    """Return True if no row can make the comparison fail."""
    alike = value.type is constant.type or (value.type.is_numeric and constant.type.is_numeric)
    return isinstance(constant, Literal) and constant.value is not None and alike


def _between(value: Expr, low: Expr, high: Expr, *, closed: bool) -> Expr:
    above = Call("greater_or_equal", (value, low), Type.BOOLEAN)
    below = Call("less_or_equal" if closed else "less", (value, high), Type.BOOLEAN)
    return Call("and", (above, below), Type.BOOLEAN)
