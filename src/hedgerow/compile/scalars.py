"""Expressions as SQL text."""

from functools import singledispatch

from hedgerow.compile.exact_grid import INTEGER_REACH, exact_grid_integer
from hedgerow.compiled import digits_of
from hedgerow.dialects import Dialect, operand_texts
from hedgerow.errors import InternalError
from hedgerow.expressions.facts import may_be_nan
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.privacy.grid import Grid
from hedgerow.privacy.ranks import Bucketing
from hedgerow.privacy.sums import ExactSum, SumKind


def scalar(expr: Expr, dialect: Dialect) -> str:
    """Return the expression as text: names are quoted, constants rewritten, functions taken from the allow-list."""
    return render(expr, dialect)


@singledispatch
def render(expr: object, dialect: Dialect) -> str:  # noqa: ARG001 - a dispatch by the first argument
    """One kind of expression as text; `compile.queries` adds nested queries and windows."""
    raise InternalError(f"An expression of kind {type(expr).__name__} cannot be written.")


@render.register
def _(expr: Column, dialect: Dialect) -> str:
    name = dialect.identifier(expr.name)
    return f"{expr.table}.{name}" if expr.table else name


@render.register
def _(expr: Literal, dialect: Dialect) -> str:
    return dialect.constant(expr.value)


@render.register
def _(expr: Call, dialect: Dialect) -> str:
    return dialect.call(expr, _operand_texts(expr, dialect))


def condition(expr: Expr, dialect: Dialect) -> str:
    """Return an expression where SQL requires a condition."""
    return render_condition(expr, dialect)


@singledispatch
def render_condition(expr: Expr, dialect: Dialect) -> str:
    """One kind of expression as a condition; `compile.queries` adds nested queries."""
    return dialect.condition(scalar(expr, dialect))


@render_condition.register
def _(expr: Call, dialect: Dialect) -> str:
    return dialect.test(expr, _operand_texts(expr, dialect))


def _operand_texts(expr: Call, dialect: Dialect) -> list[str]:
    return operand_texts(expr, dialect, lambda part: scalar(part, dialect), lambda part: condition(part, dialect))


def key(expr: Expr, dialect: Dialect) -> str:
    """Return a group key in canonical form: values that print alike are one group, whatever the column's collation.

    Values that cannot be printed (the year 10000, infinity) are NULL. Decimals of unknown scale are doubles.

    Privacy: otherwise the printed key would be the spelling of some row (docs/explanation/privacy.md).
    """
    if expr.type is Type.DECIMAL and digits_of(expr) is None:
        return dialect.one_zero(dialect.as_double(scalar(expr, dialect), expr))
    return dialect.printable(plain(expr, dialect), expr)


def plain(expr: Expr, dialect: Dialect) -> str:
    """Return a value to group, partition or order by that is not printed: text bytewise, and -0.0 as 0.0."""
    text = scalar(expr, dialect)
    if expr.type is Type.TEXT:
        return dialect.bytewise(text, expr)
    return dialect.one_zero(text) if expr.type is Type.FLOAT else text


def present(total: ExactSum, dialect: Dialect) -> str | None:
    """Return the condition under which a row counts in `total`; None where every row counts."""
    conditions = [] if total.filter is None else [condition(total.filter, dialect)]
    if total.value is not None and total.kind is SumKind.ROWS:
        text = scalar(total.value, dialect)
        conditions.append(f"({text} IS NOT NULL)")
        if may_be_nan(total.value):
            conditions.append(f"(NOT {dialect.is_nan(text)})")
    return " AND ".join(conditions) or None


def grid_integer(value: Expr, grid: Grid, dialect: Dialect) -> str:
    """Return the value as an integer on its grid, NULL where it is NULL or NaN; the cast cannot fail."""
    exact = exact_grid_integer(value, grid, scalar(value, dialect), dialect)
    if exact is not None:
        return exact
    text = dialect.as_double(scalar(value, dialect), value)
    factor = 2.0**-grid.exponent
    placed = dialect.on_grid(text, grid.offset, factor, grid.low, grid.high, nan=may_be_nan(value))
    return dialect.as_whole(placed, dialect.integer if grid.reach <= INTEGER_REACH else dialect.whole)


def term(total: ExactSum, dialect: Dialect) -> str:
    """Return the amount that one row adds to a sum of values, or of products of values."""
    if total.value is None or total.grid is None:
        raise InternalError("A sum of values has no value.")
    text = grid_integer(total.value, total.grid, dialect)
    if total.other is None or total.other_grid is None:
        return text
    other = grid_integer(total.other, total.other_grid, dialect)
    return f"(CAST({text} AS {dialect.whole}) * CAST({other} AS {dialect.whole}))"


def bucket_number(bucketing: Bucketing, dialect: Dialect) -> str:
    """Return the bucket of a row; NULL where it does not count.

    Buckets are computed in wide integers: the range of the grid can be twice as large as its largest absolute value.
    """
    grid, buckets = bucketing.grid, bucketing.buckets
    integer = f"CAST({grid_integer(bucketing.value, grid, dialect)} AS {dialect.whole})"
    number = dialect.floor_divide(f"({integer} - ({buckets.low}))", str(buckets.width))
    if bucketing.filter is None:
        return number
    return f"CASE WHEN {condition(bucketing.filter, dialect)} THEN {number} END"


def row_sum(total: ExactSum, dialect: Dialect) -> str:
    """Return the aggregate that adds `total` up over rows."""
    not_null = present(total, dialect)
    return (
        dialect.counted(not_null)
        if total.grid is None
        else f"COALESCE({dialect.total_if(term(total, dialect), not_null)}, 0)"
    )
