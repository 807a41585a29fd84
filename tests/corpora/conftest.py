"""Agreement of a private answer with plain SQL: the same keys, and numbers that lie in the answer's own intervals."""

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal

import pytest

import hedgerow as hr

NEARLY_EXACT: dict[str, object] = {"epsilon": 1000.0, "confidence": 1 - 1e-12, "reuse": False}
"""So much budget that the noise is small, and intervals that miss one number in 10^12: a query of a thousand numbers
raises a false alarm once in 10^9 runs."""

APPROXIMATE = 4.0
"""Intervals read off a few thousand simulations know nothing of 1e-12; they are widened by so many widths."""

UNBOUNDED = 0.05
"""If an answer has no interval, the number must still be this close, as a share of the plain one (or of 1)."""

ROUNDING = 1e-9


class Comparison:
    """An answer beside the rows that plain DuckDB gives."""

    def __init__(self, answer: hr.Answer, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
        self.answer = answer
        self._names = list(names)
        noisy = {name for row in answer.intervals for name in row}
        self.noisy = [i for i, name in enumerate(answer.columns) if name in noisy]
        self.keys = [i for i in range(len(answer.columns)) if i not in self.noisy]
        self.rows = [tuple(tame(value) for value in row) for row in answer]
        self.plain = [tuple(tame(value) for value in row) for row in rows]

    def check(self, *, some_hidden: bool = False) -> None:
        """The same columns, the same keys (or some of them, where small groups are hidden), and the same numbers."""
        self._check_names()
        plain = self._by_key(self.plain)
        actual = self._by_key(self.rows)
        assert set(actual) <= set(plain), f"Keys that are not there: {set(actual) - set(plain)}"
        assert some_hidden or set(plain) == set(actual), f"Keys that are missing: {set(plain) - set(actual)}"
        for position, row in enumerate(self.rows):
            self._check_numbers(position, row, plain[self._key(row)])

    def sharpness(self) -> float:
        """The narrowest interval, as a share of its number (or of 1, if that is more): what the check can tell."""
        widths = [
            (interval.upper - interval.lower) / max(abs(value), 1) if is_bounded(interval) else 2 * UNBOUNDED
            for row, intervals in zip(self.rows, self.answer.intervals, strict=True)
            for name, interval in intervals.items()
            if isinstance(value := row[self.answer.columns.index(name)], int | float)
        ]
        return min(widths, default=math.inf)

    def _check_names(self) -> None:
        assert len(self.answer.columns) == len(self._names)
        for ours, theirs in zip(self.answer.columns, self._names, strict=True):
            assert not theirs.isidentifier() or ours.casefold() == theirs.casefold()

    def _key(self, row: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(row[i] for i in self.keys)

    def _by_key(self, rows: list[tuple[object, ...]]) -> dict[tuple[object, ...], tuple[object, ...]]:
        actual = {self._key(row): row for row in rows}
        assert len(actual) == len(rows), "Two rows have the same keys, so they cannot be told apart."
        return actual

    def _check_numbers(self, position: int, row: tuple[object, ...], plain: tuple[object, ...]) -> None:
        for i in self.noisy:
            name = self.answer.columns[i]
            interval = self.answer.intervals[position].get(name)
            assert agrees(row[i], plain[i], interval), f"{name}: {row[i]} in {interval}, plainly {plain[i]}"


def is_bounded(interval: hr.Interval) -> bool:
    """True if both ends are known."""
    return math.isfinite(interval.lower) and math.isfinite(interval.upper)


def agrees(value: object, plain: object, interval: hr.Interval | None) -> bool:
    """True if the plain number lies in the interval, as far as the interval claims to say."""
    if interval is None or not isinstance(value, int | float) or not isinstance(plain, int | float):
        return value == plain
    if not is_bounded(interval):
        return abs(value - plain) <= UNBOUNDED * max(abs(plain), 1)
    slack = ROUNDING * max(1.0, abs(plain))
    if interval.kind == "approximate":
        slack += APPROXIMATE * (interval.upper - interval.lower)
    return interval.lower - slack <= plain <= interval.upper + slack


def tame(value: object) -> object:
    """Values that are equal although two programs make them of different types."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date()
    return value


@pytest.fixture(scope="session")
def beside() -> type[Comparison]:
    return Comparison


@pytest.fixture(scope="session")
def nearly_exact() -> dict[str, object]:
    return NEARLY_EXACT
