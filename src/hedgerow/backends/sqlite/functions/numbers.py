"""Arithmetic and functions of numbers, as in DuckDB.

Doubles follow IEEE 754; undefined results are NaN. Integers become NULL outside 64 bits.
"""

import math
import operator
from collections.abc import Callable, Mapping

from hedgerow.backends.sqlite.functions.values import (
    Body,
    Stored,
    number,
    of_number,
    of_numbers,
    of_whole,
    of_whole_chain,
    real,
    total,
    whole,
)

FARTHEST = 300
"""Maximum number of decimal places before or after the point."""


@of_numbers
def divide(left: float, right: float) -> float | None:
    """Return the quotient; NULL for a division by zero."""
    return left / right if right else None


@of_numbers
def remainder(left: float, right: float) -> float | None:
    """Return the remainder, with the sign of `left`; NULL for a division by zero."""
    if not right:
        return None
    return math.nan if math.isinf(left) else math.fmod(left, right)


@of_whole
def divide_whole(left: int, right: int) -> int | None:
    """Return the quotient of integers, rounded towards zero."""
    if not right:
        return None
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


@of_whole
def remainder_whole(left: int, right: int) -> int | None:
    """Return the remainder of integers; NULL if the quotient exceeds 64 bits."""
    if not right or (right == -1 and left == -(2**63)):
        return None
    size = abs(left) % abs(right)
    return -size if left < 0 else size


def _library(function: Callable[[float], float], *, pole: float = math.nan) -> Body:
    """Wrap a function of the C library: NaN where it is undefined, `pole` on overflow."""

    def compute(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return pole

    return of_number(compute)


def _within(domain: Callable[[float], bool], function: Callable[[float], float]) -> Body:
    """Wrap a function that is NULL outside its domain; NaN is greater than every number."""
    return of_number(lambda value: function(value) if domain(value) else None)


def _positive(value: float) -> bool:
    return not value <= 0


def _not_negative(value: float) -> bool:
    return not value < 0


def _unit(value: float) -> bool:
    return -1 <= value <= 1


@of_numbers
def power(base: float, exponent: float) -> float:
    """Return the power, as in the C library."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and math.fmod(exponent, 2) else math.inf
    except ValueError:
        return _pole(base, exponent) if base == 0 else math.nan


def _pole(base: float, exponent: float) -> float:
    """Return zero to a negative power."""
    odd = abs(math.fmod(exponent, 2)) == 1
    return math.copysign(math.inf, base) if odd else math.inf


def halves_away(value: float) -> float:
    """Round to a whole number, halves away from zero."""
    if not math.isfinite(value):
        return value
    size = abs(value)
    below = math.floor(size)
    return math.copysign(float(below + (size - below >= 0.5)), value)


def _to_places(value: float, places: int, cut: Callable[[float], float]) -> float:
    """Round a number to decimal places."""
    factor = math.pow(10.0, abs(places))
    result = cut(value * factor) / factor if places >= 0 else cut(value / factor) * factor
    return result if math.isfinite(result) else value


def _places(value: Stored) -> int | None:
    places = whole(value)
    return None if places is None else min(max(places, -FARTHEST), FARTHEST)


@total
def rounded(value: Stored, places: Stored = 0) -> Stored:
    """Round to decimal places."""
    given, at = number(value), _places(places)
    return None if given is None or at is None else real(_to_places(given, at, halves_away))


@total
def cut_off(value: Stored, places: Stored) -> Stored:
    """Truncate to decimal places."""
    given, at = number(value), _places(places)
    return None if given is None or at is None else real(_to_places(given, at, _towards_zero))


@total
def fixed(value: Stored, digits: Stored, places: Stored) -> Stored:
    """Return DECIMAL(digits, places) as a double."""
    given = number(value)
    if given is None or not isinstance(digits, int) or not isinstance(places, int):
        return None
    result = _to_places(given, places, halves_away)
    return result if abs(result) < math.pow(10.0, digits - places) else None


def _towards_zero(value: float) -> float:
    return math.copysign(float(math.trunc(value)), value) if math.isfinite(value) else value


def _floor(value: float) -> float:
    return math.copysign(float(math.floor(value)), value) if math.isfinite(value) else value


def _ceil(value: float) -> float:
    return math.copysign(float(math.ceil(value)), value) if math.isfinite(value) else value


@total
def sign(value: Stored) -> Stored:
    """Return the sign: -1, 0 or 1."""
    given = number(value)
    return None if given is None else -1 if given < 0 else 0 if given == 0 else 1


@total
def width_bucket(value: Stored, low: Stored, high: Stored, count: Stored) -> Stored:
    """Return the bin of a value, from 1; 0 below the first bin, and one more than the last above it."""
    given, start, end = number(value), number(low), number(high)
    if given is None or start is None or end is None or not isinstance(count, int) or math.isnan(given):
        return None
    if given < start:
        return 0
    if given >= end:
        return count + 1
    return min(math.floor((given - start) / (end - start) * count), count - 1) + 1


def _tested(test: Callable[[float], bool]) -> Body:
    return total(lambda value: None if (given := number(value)) is None else int(test(given)))


FUNCTIONS: Mapping[str, Body] = {
    "add": of_numbers(operator.add),
    "subtract": of_numbers(operator.sub),
    "multiply": of_numbers(operator.mul),
    "divide": divide,
    "remainder": remainder,
    "negate": of_number(operator.neg),
    "add_whole": of_whole_chain(operator.add),
    "subtract_whole": of_whole_chain(operator.sub),
    "multiply_whole": of_whole_chain(operator.mul),
    "divide_whole": divide_whole,
    "remainder_whole": remainder_whole,
    "negate_whole": of_whole(operator.neg),
    "abs_whole": of_whole(abs),
    "bit_and": of_whole(operator.and_),
    "bit_or": of_whole(operator.or_),
    "bit_xor": of_whole(operator.xor),
    "sqrt": _within(_not_negative, math.sqrt),
    "ln": _within(_positive, math.log),
    "log10": _within(_positive, math.log10),
    "log2": _within(_positive, math.log2),
    "exp": _library(math.exp, pole=math.inf),
    "sin": _library(math.sin),
    "cos": _library(math.cos),
    "tan": _library(math.tan),
    "asin": _within(_unit, math.asin),
    "acos": _within(_unit, math.acos),
    "atan": _library(math.atan),
    "cbrt": _library(math.cbrt),
    "radians": _library(math.radians),
    "degrees": _library(math.degrees, pole=math.inf),
    "atan2": of_numbers(math.atan2),
    "power": power,
    "floor": of_number(_floor),
    "ceil": of_number(_ceil),
    "trunc": of_number(_towards_zero),
    "abs": of_number(abs),
    "sign": sign,
    "round": rounded,
    "trunc_places": cut_off,
    "fixed": fixed,
    "width_bucket": width_bucket,
    "is_infinite": _tested(math.isinf),
    "is_finite": _tested(math.isfinite),
}
"""Functions by their names on the allow-list."""
