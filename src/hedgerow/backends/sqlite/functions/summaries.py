"""Exact summaries of rows that SQLite lacks, as DuckDB computes them.

Doubles are added in order of size, so that a result depends on nothing but the values. Each summary works over a
window, too; then rows leave again. As with functions, none fails on a row.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar

from hedgerow.backends.sqlite.functions.choices import rank, wide
from hedgerow.backends.sqlite.functions.total import total
from hedgerow.backends.sqlite.functions.values import Stored, fitting, number, real, text

WHOLE = re.compile("-?[0-9]{1,80}")


class Added:
    """A sum of products of whole numbers of any size, NULL over no rows. Numbers of more than 64 bits are digits."""

    def __init__(self) -> None:
        self._sum = self._count = 0

    def step(self, *factors: Stored) -> None:
        """A row arrives."""
        self._move(factors, 1)

    def inverse(self, *factors: Stored) -> None:
        """A row leaves the window."""
        self._move(factors, -1)

    def _move(self, factors: tuple[Stored, ...], sign: int) -> None:
        if all(isinstance(factor, int) or (isinstance(factor, str) and WHOLE.fullmatch(factor)) for factor in factors):
            self._sum += sign * math.prod(int(factor) for factor in factors if factor is not None)
            self._count += sign

    def value(self) -> Stored:
        """Return the summary of the rows."""
        return wide(self._sum) if self._count else None

    finalize = value


class AddedWhole(Added):
    """Likewise, NULL where the sum has more than 64 bits."""

    def value(self) -> Stored:
        """Return the summary of the rows."""
        return fitting(self._sum) if self._count else None

    finalize = value


class GatheredValues:
    """A summary of all values at once, in order."""

    read: ClassVar[Callable[..., Any]]
    order: ClassVar[Callable[[Any], Any]]
    result: ClassVar[Callable[[Sequence[Any]], Stored]]

    def __init__(self) -> None:
        self._rows: list[Any] = []
        self._in_order = True

    def step(self, *values: Stored) -> None:
        """A row arrives."""
        found = type(self).read(*values)
        if found is not None:
            self._rows.append(found)
            self._in_order = False

    def inverse(self, *values: Stored) -> None:
        """A row leaves the window."""
        found = type(self).read(*values)
        if found is not None:
            self._rows.remove(found)

    def value(self) -> Stored:
        """Return the summary of the rows; NULL over no rows."""
        if not self._in_order:
            self._rows.sort(key=type(self).order)
            self._in_order = True
        return total(type(self).result)(self._rows) if self._rows else None

    finalize = value


def _gathered(
    read: Callable[..., Any], order: Callable[[Any], Any], result: Callable[[Sequence[Any]], Stored]
) -> type[GatheredValues]:
    parts = {"read": read, "order": order, "result": result}
    return type("Summary", (GatheredValues,), {name: staticmethod(part) for name, part in parts.items()})


def _number(value: Stored) -> float | None:
    """A double; there is one NaN only, so that it is found again when it leaves."""
    found = number(value)
    return math.nan if found is not None and math.isnan(found) else found


def _after_numbers(value: float) -> tuple[bool, float]:
    return math.isnan(value), value


def _of_numbers(compute: Callable[[Sequence[float]], float | None]) -> type[GatheredValues]:
    def result(rows: Sequence[float]) -> Stored:
        found = compute(rows)
        return None if found is None else real(found)

    return _gathered(_number, _after_numbers, result)


def added(rows: Sequence[float]) -> float:
    """The sum, one after the other."""
    return reduce(operator.add, rows, 0.0)


def spread(rows: Sequence[float], free: int) -> float | None:
    """The mean squared distance from the mean, in one pass; `free` is one for a sample."""
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


def between(rows: Sequence[float], share: float) -> float:
    """The value below which a share of the rows lies; between two of them, in proportion, rounded as DuckDB does."""
    place = (len(rows) - 1) * share
    low, high = rows[math.floor(place)], rows[math.ceil(place)]
    part = place - math.floor(place)
    if not part:
        return low
    if not (math.isfinite(low) and math.isfinite(high)):
        return low * (1.0 - part) + high * part
    return float(Fraction(low) * Fraction(1.0 - part) + Fraction(high * part))


def _shared(value: Stored, share: Stored) -> tuple[float, float] | None:
    """A double, beside a constant."""
    found, part = _number(value), number(share)
    return None if found is None or part is None else (found, part)


def _quantile(rows: Sequence[tuple[float, float]]) -> Stored:
    return real(between([value for value, _ in rows], rows[0][1]))


def _pair(first: Stored, second: Stored) -> tuple[Stored, Stored] | None:
    read = [text(value) if isinstance(value, bytes) else value for value in (first, second)]
    return None if None in read else (read[0], read[1])


def _pair_rank(pair: tuple[Stored, Stored]) -> tuple[object, object]:
    return rank(pair[1]), rank(pair[0])


def _greatest(pairs: Sequence[tuple[Stored, Stored]]) -> Stored:
    """The least first value among those with the greatest second one."""
    return next(first for first, second in pairs if second == pairs[-1][1])


def _joined(pairs: Sequence[tuple[str, str]]) -> Stored:
    return pairs[0][1].join(word for word, _ in pairs)


SUMMARIES: Mapping[str, tuple[int, type[Added | GatheredValues]]] = {
    "wide_total": (1, Added),
    "product_total": (2, Added),
    "sum_whole": (1, AddedWhole),
    "sum": (1, _of_numbers(added)),
    "avg": (1, _of_numbers(lambda rows: added(rows) / len(rows))),
    "median": (1, _of_numbers(lambda rows: between(rows, 0.5))),
    "quantile": (2, _gathered(_shared, lambda pair: _after_numbers(pair[0]), _quantile)),
    "var_pop": (1, _of_numbers(lambda rows: spread(rows, 0))),
    "var_samp": (1, _of_numbers(lambda rows: spread(rows, 1))),
    "stddev_pop": (1, _of_numbers(lambda rows: _root(spread(rows, 0)))),
    "stddev_samp": (1, _of_numbers(lambda rows: _root(spread(rows, 1)))),
    "arg_min": (2, _gathered(_pair, _pair_rank, lambda pairs: pairs[0][0])),
    "arg_max": (2, _gathered(_pair, _pair_rank, _greatest)),
    "string_agg": (2, _gathered(_pair, lambda pair: pair[0], _joined)),
}
"""Each with the number of its arguments."""
