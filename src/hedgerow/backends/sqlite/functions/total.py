"""How functions are made total: they give a value or NULL, whatever they are given.

Privacy: SQLite gives up the whole statement when a function fails, and an error that depends on a row is an answer that
nobody paid for. Everything registered goes through one of these.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

from hedgerow.backends.sqlite.functions.values import (
    INFINITE,
    MOST,
    NAN,
    REMEMBERED,
    SHORT,
    Body,
    Stored,
    instant,
    moment,
    number,
)

More = ParamSpec("More")
Made = TypeVar("Made")


def remembered(function: Callable[Concatenate[str, More], Made]) -> Callable[Concatenate[str, More], Made]:
    """The function, with what it made of short texts kept in mind."""
    kept = lru_cache(REMEMBERED)(function)

    @wraps(function)
    def read(value: str, /, *others: More.args, **named: More.kwargs) -> Made:
        if len(value) > SHORT:
            return function(value, *others, **named)
        return kept(value, *others, **named)  # type: ignore[arg-type]  # it can be hashed

    return read


def total(function: Body) -> Body:
    """The function, NULL wherever it would fail."""

    @wraps(function)
    def read(*values: Stored) -> Stored:
        try:
            return function(*values)
        except Exception:  # noqa: BLE001 - see above
            return None

    return read


def of_number(function: Callable[[float], float | None]) -> Body:
    """A function of one double."""

    @wraps(function)
    def read(value: Stored) -> Stored:
        try:
            found = function(value if value.__class__ is float else number(value))  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001 - see above
            return None
        return found if found == found else NAN  # noqa: PLR0124 - NaN

    return read


def of_numbers(function: Callable[[float, float], float | None]) -> Body:
    """A function of two doubles; of more, from left to right."""

    @wraps(function)
    def read(left: Stored, right: Stored, *more: Stored) -> Stored:
        try:
            if left.__class__ is right.__class__ is float:
                found = function(left, right)
            else:
                found = function(number(left), number(right))  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001 - see above
            return None
        made = found if found == found else NAN  # noqa: PLR0124 - NaN
        return read(made, *more) if more else made

    return read


def of_whole(function: Callable[..., int | None]) -> Body:
    """A function of integers, NULL where the result has more than 64 bits."""

    @wraps(function)
    def read(*values: Stored) -> Stored:
        try:
            for value in values:
                if value.__class__ is not int:
                    return None
            found = function(*values)
            return found if found is not None and -MOST - 1 <= found <= MOST else None
        except Exception:  # noqa: BLE001 - see above
            return None

    return read


def of_whole_chain(function: Callable[[int, int], int]) -> Body:
    """A function of two integers; of more, from left to right, NULL from where one has more than 64 bits."""
    two = of_whole(function)

    @wraps(function)
    def read(left: Stored, right: Stored, *more: Stored) -> Stored:
        for value in (right, *more):
            left = two(left, value)
        return left

    return read


def of_texts(function: Callable[..., Stored]) -> Body:
    """A function of texts, perhaps with integers among them, NULL where one of them is."""

    @wraps(function)
    def read(*values: Stored) -> Stored:
        if None in values:
            return None
        try:
            return function(*[value.decode() if value.__class__ is bytes else value for value in values])
        except Exception:  # noqa: BLE001 - see above
            return None

    return read


def of_instant(function: Callable[[int], Stored]) -> Body:
    """A function of a finite point in time, however far away; NULL of infinity."""

    @wraps(function)
    def read(value: Stored) -> Stored:
        try:
            found = value if value.__class__ is int else instant(value)
            return None if found is None or found in INFINITE else function(found)
        except Exception:  # noqa: BLE001 - see above
            return None

    return read


def of_moment(function: Callable[..., Stored]) -> Body:
    """A function of a finite timestamp and whatever follows; NULL of infinity."""

    @wraps(function)
    def read(value: Stored, *others: Stored) -> Stored:
        try:
            found = value if value.__class__ is int else moment(value)
            return None if found is None or found in INFINITE else function(found, *others)
        except Exception:  # noqa: BLE001 - see above
            return None

    return read


def of_moments(function: Callable[[int, int], Stored]) -> Body:
    """A function of two finite points in time; NULL of infinity."""

    @wraps(function)
    def read(left: Stored, right: Stored) -> Stored:
        try:
            first, second = moment(left), moment(right)
            if first is None or second is None or first in INFINITE or second in INFINITE:
                return None
            return function(first, second)
        except Exception:  # noqa: BLE001 - see above
            return None

    return read
