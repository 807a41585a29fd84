"""Expressions as SQL text, and their values on a grid.

`Grid` defines k = floor((x - offset) F + 1/2), clamped to [low, high], where F = 2^-exponent and C = offset F is whole.
Engines compute it in doubles (`Dialect.on_grid`), each operation rounded to nearest. Where x is an integer or a
decimal that the engine stores as an integer, integer arithmetic is faster, and gives the same k:

**Integers** (F >= 1). For x between xl and xh, which are within 2^53, all doubles are exact, and k = F x - C. Beyond
them k is low or high in doubles, too, because rounding is monotone. The form here clamps x before it multiplies, so it
is used only if F xl - C = low and F xh - C = high; then nothing can overflow.

**Decimals** n / 10^s (F = 2^e, e >= s). F x is never half a whole number away from one: 2 n 2^e = (2m + 1) 10^s would
need more than s factors of two on the right. So k is F x rounded to nearest, minus C, whichever way halves are rounded,
and F x is at least 2^s / (2 10^s) = 1 / (2 5^s) from the next half. The errors of the doubles add up to at most
2^-53 (F |x| + 2 |F x - C| + 2); if that is less than half that distance, both give the same k, also at the ends.
"""

import math
from fractions import Fraction
from functools import singledispatch

from hedgerow.compiled import digits_of
from hedgerow.dialects import Dialect, operand_texts
from hedgerow.errors import InternalError
from hedgerow.expressions.facts import may_be_nan
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type, decimal_size
from hedgerow.privacy.precision import Grid
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


EXACT = 2**53
"""Whole numbers up to this are doubles."""

INTEGER_REACH = 2**31 - 1
WORD_DIGITS = 18
"""Number of digits up to which a decimal is stored as an integer of 64 bits."""


def exact_grid_integer(value: Expr, grid: Grid, text: str, dialect: Dialect) -> str | None:
    """Return the value `text` as an integer on its grid; None if that takes doubles. NULL remains NULL."""
    if not isinstance(value, Column) or not value.native or grid.exponent > 0:
        return None
    if value.type is Type.INTEGER and dialect.exact_integers:
        return _whole(grid, text, dialect)
    size = decimal_size(value.native)
    if value.type is Type.DECIMAL and size is not None and dialect.exact_decimals:
        return _decimal(grid, text, *size)
    return None


def _whole(grid: Grid, text: str, dialect: Dialect) -> str | None:
    factor = 2**-grid.exponent
    centre = int(Fraction(grid.offset) * factor)
    (first, rest), (last, other) = divmod(grid.low + centre, factor), divmod(grid.high + centre, factor)
    reach = max(abs(first), abs(last)) * factor + abs(centre)
    if rest or other or reach >= EXACT or not -EXACT < grid.offset < EXACT:
        return None
    kind = dialect.integer if reach <= INTEGER_REACH else dialect.whole
    clamped = f"CASE WHEN {text} < {_constant(first)} THEN {_constant(first)} "
    clamped += f"WHEN {text} > {_constant(last)} THEN {_constant(last)} ELSE {text} END"
    steps = f"CAST({clamped} AS {kind}){f' * {factor}' if factor > 1 else ''}"
    return f"({steps} - {_constant(centre)})" if centre else f"({steps})"


def _constant(number: int) -> str:
    return str(number) if number >= 0 else f"({number})"


def _decimal(grid: Grid, text: str, digits: int, scale: int) -> str | None:
    """Return the form for DuckDB, which rounds a decimal to the nearest integer.

    A branch of CASE is evaluated for the rows that reach it, so the product is within 18 digits. A factor of 64 bits
    makes it a decimal of 128 bits, which DuckDB rounds ten times more slowly, so it becomes one of 64 bits first.
    """
    factor, unit = 2**-grid.exponent, 10**scale
    centre = Fraction(grid.offset) * factor
    half = Fraction(1, 2)
    first = math.ceil((grid.low + centre - half) / factor * unit)
    last = math.floor((grid.high + centre + half) / factor * unit)
    size = Fraction(max(abs(first), abs(last)) + 1, unit) * factor
    error = (size + 2 * (size + abs(centre)) + 2) / EXACT
    fits = max(abs(first), abs(last)) < 10**digits and (size + 1) * unit < 10**WORD_DIGITS and digits <= WORD_DIGITS
    if not fits or -grid.exponent < scale or 2 * error >= Fraction(1, 2 * 5**scale):
        return None
    ends = [f"CAST('{_written(number, scale)}' AS DECIMAL({digits}, {scale}))" for number in (first, last)]
    product = f"{text} * {factor}"
    if factor > INTEGER_REACH:
        product = f"CAST({product} AS DECIMAL({WORD_DIGITS}, {scale}))"
    steps = f"CAST({product} AS BIGINT) - {_constant(int(centre))}"
    beyond = f"WHEN {text} < {ends[0]} THEN {_constant(grid.low)} WHEN {text} > {ends[1]} THEN {_constant(grid.high)}"
    return f"CASE {beyond} ELSE {steps} END"


def _written(number: int, scale: int) -> str:
    """Return number / 10^scale as text."""
    sign, digits = "-" if number < 0 else "", str(abs(number)).rjust(scale + 1, "0")
    return f"{sign}{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}" if scale else f"{sign}{digits}"
