"""Exact aggregates that SQLite lacks, as in DuckDB.

Doubles are added in ascending order, so that a result depends only on the values. Every aggregate also works over a
window, where rows are removed again. Like functions, none fails on a row.
"""

import hashlib
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar

from hedgerow.backends.sqlite.functions.values import Body, Stored, fitting, number, real, text, total

Rank = tuple[bool, Stored]


def rank(value: Stored) -> Rank:
    """Return the sort key of a value among others of its type: NaN, which is a text, sorts after numbers."""
    return value.__class__ is str, value


def _present(values: tuple[Stored, ...]) -> list[Stored]:
    read = (text(value) if value.__class__ is bytes else value for value in values)
    return [value for value in read if value is not None]


def least(*values: Stored) -> Stored:
    """Return the smallest value that is not NULL."""
    return min(_present(values), key=rank, default=None)


def greatest(*values: Stored) -> Stored:
    """Return the largest value that is not NULL."""
    return max(_present(values), key=rank, default=None)


def hashed(value: Stored) -> Stored:
    """Return the MD5 hash in hexadecimal digits."""
    given = value.encode() if isinstance(value, str) else value
    return hashlib.md5(given, usedforsecurity=False).hexdigest() if isinstance(given, bytes) else None


def steps(value: Stored) -> Stored:
    """Return a number in steps of 2^-20, rounded down, as text; the empty text if there are too many or it is NaN."""
    given = number(value)
    scaled = math.nan if given is None else given * 1_048_576
    return str(math.floor(scaled)) if abs(scaled) < 4e18 else ""


def wide(value: int) -> int | str:
    """Return an integer of any size, as digits beyond 64 bits."""
    return str(value) if fitting(value) is None else value


def halves(high: Stored, low: Stored) -> Stored:
    """Return a sum whose parts above and below 2^32 were summed separately."""
    return wide((high << 32) + low) if isinstance(high, int) and isinstance(low, int) else None


def plus(one: Stored, other: Stored) -> Stored:
    """Return a sum in which NULL counts as zero; NULL if both are."""
    return None if one is None and other is None else wide(int(one or 0) + int(other or 0))


def weighed(whole: Stored, one: Stored, lost: Stored) -> Stored:
    """Return `whole` times `one` minus `lost`."""
    return wide(int(whole) * int(one) - int(lost))  # type: ignore[arg-type]


def root(squared: Stored, size: Stored) -> Stored:
    """Return the integer part of the root of a quotient, in doubles as on every engine, and never too large."""
    dividend, divisor = int(squared), int(size)  # type: ignore[arg-type]
    result = math.floor(math.sqrt(float(dividend) / float(divisor)))
    return result - 1 if result * result * divisor > dividend else result


def double(digits: Stored) -> Stored:
    """Read a double from hexadecimal digits: SQLite may round decimal digits to a neighbour."""
    return float.fromhex(digits) if isinstance(digits, str) else None


FUNCTIONS: Mapping[str, Body] = {
    "least": total(least),
    "greatest": total(greatest),
    "md5": total(hashed),
    "steps": total(steps),
    "halves": total(halves),
    "plus": total(plus),
    "weighed": total(weighed),
    "root": total(root),
    "double": total(double),
}


WHOLE = re.compile("-?[0-9]{1,80}")


class Added:
    """A sum of products of integers of any size, NULL over no rows. Integers beyond 64 bits are digits."""

    def __init__(self) -> None:
        self._sum = self._count = 0

    def step(self, *factors: Stored) -> None:
        """Add a row."""
        self._move(factors, 1)

    def inverse(self, *factors: Stored) -> None:
        """Remove a row that leaves the window."""
        self._move(factors, -1)

    def _move(self, factors: tuple[Stored, ...], sign: int) -> None:
        if all(isinstance(factor, int) or (isinstance(factor, str) and WHOLE.fullmatch(factor)) for factor in factors):
            self._sum += sign * math.prod(int(factor) for factor in factors if factor is not None)
            self._count += sign

    def value(self) -> Stored:
        """Return the aggregate of the rows."""
        return wide(self._sum) if self._count else None

    finalize = value


class AddedWhole(Added):
    """A sum of integers, NULL beyond 64 bits."""

    def value(self) -> Stored:
        """Return the aggregate of the rows."""
        return fitting(self._sum) if self._count else None

    finalize = value


class GatheredValues:
    """An exact aggregate of all values together, in order."""

    read: ClassVar[Callable[..., Any]]
    order: ClassVar[Callable[[Any], Any]]
    result: ClassVar[Callable[[Sequence[Any]], Stored]]

    def __init__(self) -> None:
        self._rows: list[Any] = []
        self._in_order = True

    def step(self, *values: Stored) -> None:
        """Add a row."""
        row = type(self).read(*values)
        if row is not None:
            self._rows.append(row)
            self._in_order = False

    def inverse(self, *values: Stored) -> None:
        """Remove a row that leaves the window."""
        row = type(self).read(*values)
        if row is not None:
            self._rows.remove(row)

    def value(self) -> Stored:
        """Return the aggregate of the rows; NULL over no rows."""
        if not self._in_order:
            self._rows.sort(key=type(self).order)
            self._in_order = True
        return total(type(self).result)(self._rows) if self._rows else None

    finalize = value


def _gathered(
    read: Callable[..., Any], order: Callable[[Any], Any], result: Callable[[Sequence[Any]], Stored]
) -> type[GatheredValues]:
    parts = {"read": read, "order": order, "result": result}
    return type("GatheredAggregate", (GatheredValues,), {name: staticmethod(part) for name, part in parts.items()})


def _number(value: Stored) -> float | None:
    """Read a double; all NaN become the same object, so that it can be removed again."""
    double = number(value)
    return math.nan if double is not None and math.isnan(double) else double


def _after_numbers(value: float) -> tuple[bool, float]:
    return math.isnan(value), value


def _of_numbers(compute: Callable[[Sequence[float]], float | None]) -> type[GatheredValues]:
    def result(rows: Sequence[float]) -> Stored:
        value = compute(rows)
        return None if value is None else real(value)

    return _gathered(_number, _after_numbers, result)


def added(rows: Sequence[float]) -> float:
    """Return the sum, added one by one."""
    return reduce(operator.add, rows, 0.0)


def variance(rows: Sequence[float], free: int) -> float | None:
    """Return the variance, by Welford's algorithm; `free` is 1 for a sample."""
    mean = squares = 0.0
    for count, value in enumerate(rows, start=1):
        moved = mean + (value - mean) / count
        squares += (value - moved) * (value - mean)
        mean = moved
    if len(rows) == 1:
        return None if free else 0.0
    return squares / (len(rows) - free)


def _root(value: float | None) -> float | None:
    return None if value is None else math.sqrt(value) if value >= 0 else math.nan


def quantile(rows: Sequence[float], share: float) -> float:
    """Return a quantile, interpolated quantile two rows and rounded as in DuckDB."""
    position = (len(rows) - 1) * share
    low, high = rows[math.floor(position)], rows[math.ceil(position)]
    part = position - math.floor(position)
    if not part:
        return low
    if not (math.isfinite(low) and math.isfinite(high)):
        return low * (1.0 - part) + high * part
    return float(Fraction(low) * Fraction(1.0 - part) + Fraction(high * part))


def _shared(value: Stored, share: Stored) -> tuple[float, float] | None:
    """Read a double and a constant share."""
    double, part = _number(value), number(share)
    return None if double is None or part is None else (double, part)


def _quantile(rows: Sequence[tuple[float, float]]) -> Stored:
    return real(quantile([value for value, _ in rows], rows[0][1]))


def _pair(first: Stored, second: Stored) -> tuple[Stored, Stored] | None:
    read = [text(value) if isinstance(value, bytes) else value for value in (first, second)]
    return None if None in read else (read[0], read[1])


def _pair_rank(pair: tuple[Stored, Stored]) -> tuple[object, object]:
    return rank(pair[1]), rank(pair[0])


def _arg_max(pairs: Sequence[tuple[Stored, Stored]]) -> Stored:
    """Return the smallest first value among those with the largest second one."""
    return next(first for first, second in pairs if second == pairs[-1][1])


def _joined(pairs: Sequence[tuple[str, str]]) -> Stored:
    return pairs[0][1].join(word for word, _ in pairs)


EXACT_AGGREGATES: Mapping[str, tuple[int, type[Added | GatheredValues]]] = {
    "wide_total": (1, Added),
    "product_total": (2, Added),
    "sum_whole": (1, AddedWhole),
    "sum": (1, _of_numbers(added)),
    "avg": (1, _of_numbers(lambda rows: added(rows) / len(rows))),
    "median": (1, _of_numbers(lambda rows: quantile(rows, 0.5))),
    "quantile": (2, _gathered(_shared, lambda pair: _after_numbers(pair[0]), _quantile)),
    "var_pop": (1, _of_numbers(lambda rows: variance(rows, 0))),
    "var_samp": (1, _of_numbers(lambda rows: variance(rows, 1))),
    "stddev_pop": (1, _of_numbers(lambda rows: _root(variance(rows, 0)))),
    "stddev_samp": (1, _of_numbers(lambda rows: _root(variance(rows, 1)))),
    "arg_min": (2, _gathered(_pair, _pair_rank, lambda pairs: pairs[0][0])),
    "arg_max": (2, _gathered(_pair, _pair_rank, _arg_max)),
    "string_agg": (2, _gathered(_pair, lambda pair: pair[0], _joined)),
}
"""Exact aggregates with the number of their arguments."""
