"""Expressions over the columns of one relation: a column, a literal, or a call of an allowed function.

Operators, CASE, CAST and IN are calls like any other, so that there is one allow-list
(`hedgerow.expressions.functions`) and nothing beside it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from hedgerow.expressions.ranges import EVERYTHING, Range
from hedgerow.expressions.types import Type

Constant = bool | int | float | Decimal | str | date | datetime | timedelta | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the relation that the expression is evaluated on.

    `range` is what the owner declared; `values` the declared key domain; `native` the database's own
    name of the type; `collated` is False where its text is surely compared byte by byte.
    """

    name: str
    type: Type
    nullable: bool = True
    range: Range = EVERYTHING
    values: tuple[str | int | float | bool, ...] | None = None
    native: str = ""
    collated: bool = True


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant from the query text, re-rendered by us."""

    value: Constant
    type: Type


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the allow-list, by its name there."""

    function: str
    arguments: tuple["Expr", ...]
    type: Type


Expr = Column | Literal | Call


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything inside it."""
    yield expr
    if isinstance(expr, Call):
        for argument in expr.arguments:
            yield from walk(argument)


def columns_of(expr: Expr) -> frozenset[str]:
    """The names of the columns that the expression reads."""
    return frozenset(node.name for node in walk(expr) if isinstance(node, Column))


def replace(expr: Expr, swap: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with each node for which `swap` gives another exchanged for it, outermost first."""
    swapped = swap(expr)
    if swapped is not None:
        return swapped
    if isinstance(expr, Call):
        return Call(expr.function, tuple(replace(a, swap) for a in expr.arguments), expr.type)
    return expr
