"""A value on its grid by integer arithmetic, with the integers that the arithmetic in doubles gives.

`Grid` defines k = floor((x - offset) F + 1/2), clamped to [low, high], where F = 2^-exponent and C = offset F is whole.
Engines compute it in doubles (`Dialect.on_grid`), each operation rounded to nearest. Where x is an integer or a
decimal that the engine stores as an integer, integers are faster, and here is why they give the same k.

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

from hedgerow.dialects import Dialect
from hedgerow.expressions.nodes import Column, Expr
from hedgerow.expressions.types import Type, decimal_size
from hedgerow.privacy.grid import Grid

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

    A branch of CASE is evaluated for the rows that reach it, so the product is within 18 digits.
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
    steps = f"CAST({text} * {factor} AS BIGINT) - {_constant(int(centre))}"
    beyond = f"WHEN {text} < {ends[0]} THEN {_constant(grid.low)} WHEN {text} > {ends[1]} THEN {_constant(grid.high)}"
    return f"CASE {beyond} ELSE {steps} END"


def _written(number: int, scale: int) -> str:
    """Return number / 10^scale as text."""
    sign, digits = "-" if number < 0 else "", str(abs(number)).rjust(scale + 1, "0")
    return f"{sign}{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}" if scale else f"{sign}{digits}"
