"""Facts about an expression that hold for every row: its range, and whether it may be NULL or NaN."""

from datetime import date, timedelta
from decimal import Decimal

from hedgerow.expressions.functions import lookup
from hedgerow.expressions.nodes import Call, Column, Expr, Literal, Nested, Window
from hedgerow.expressions.ranges import EVERYTHING, NOTHING, Range
from hedgerow.expressions.types import Type


def range_of(expr: Expr) -> Range:
    """The range that follows from declared bounds and from the functions applied to them."""
    if isinstance(expr, Column):
        return expr.range
    if isinstance(expr, Literal):
        value = expr.value
        if isinstance(value, bool | int | float | Decimal):
            return Range(float(value), float(value))
        return EVERYTHING if isinstance(value, str | date | timedelta) else NOTHING
    if isinstance(expr, Window | Nested):
        return expr.range
    return lookup(expr.function).range([range_of(argument) for argument in expr.arguments])


def may_be_null(expr: Expr) -> bool:
    """Return True if a row can lack a value: the column may be NULL or NaN, or a function undefined.

    Only guarantees of the database count, so that two measures share a count only if they certainly have the same
    support.
    """
    if isinstance(expr, Column):
        return expr.nullable or expr.type is Type.FLOAT
    if isinstance(expr, Literal):
        return expr.value is None
    if isinstance(expr, Window | Nested):
        return True
    return lookup(expr.function).partial or any(may_be_null(argument) for argument in expr.arguments)


def may_be_nan(expr: Expr) -> bool:
    """Return True if the value, read as a double, can be NaN: any arithmetic in doubles can produce one."""
    if isinstance(expr, Column):
        return expr.type is Type.FLOAT
    return not isinstance(expr, Literal) and expr.type is Type.FLOAT


def declared_values(expr: Expr) -> tuple[str | int | float | bool, ...] | None:
    """Return the domain of a bare column (read through its declared type), if the owner declared one."""
    inner = expr.arguments[0] if isinstance(expr, Call) and expr.function.startswith("imposed_") else expr
    return inner.values if isinstance(inner, Column) else None
