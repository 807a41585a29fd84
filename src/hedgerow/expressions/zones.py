"""Time zones: the offset from UTC at each point in time, from the IANA database that Python reads.

Engines have time zone databases of their own, in other versions, and some round old offsets. So the offsets are written
into the SQL, and a point in time has the same date and time of day on every engine.

Offsets follow the database from 1830 to the end of 2099; the last one stays in force after that.
"""

import zoneinfo
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

DEFAULT = "UTC"
FIRST, LAST = datetime(1, 1, 4), datetime(9999, 12, 28, 23, 59, 59, 999999)  # noqa: DTZ001 - at UTC
"""Timestamps to which offsets are applied: the result stays between the years 1 and 9999."""

BEGIN, END = datetime(1830, 1, 1), datetime(2100, 1, 1)  # noqa: DTZ001 - likewise
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - likewise
SECOND = timedelta(seconds=1)
STEP = timedelta(days=3)
"""Shorter than the time between any two changes of an offset in history."""


OFFSET = r"^(.*[0-9]:[0-9]{2}(?:\.[0-9]*)?)(?:Z|([+-])([0-9]{2})(?::?([0-9]{2}))?)$"
"""ISO 8601: date and time, then Z or a sign, hours and optionally minutes."""


@dataclass(frozen=True, slots=True)
class Shift:
    """Offsets from the date and time in one zone to those in another.

    Attributes:
        changes: The dates and times in the first zone from which another offset holds, in order.
        offsets: The offsets, in seconds; one more than there are changes.
    """

    changes: tuple[datetime, ...]
    offsets: tuple[int, ...]

    @property
    def is_nothing(self) -> bool:
        """True if the offset is always zero."""
        return self.offsets == (0,)

    def offset_at(self, timestamp: datetime) -> int:
        """Offset at a date and time, in seconds."""
        return self.offsets[bisect_right(self.changes, timestamp)]

    def of(self, timestamp: datetime) -> datetime:
        """Convert a date and time of the first zone to the other one."""
        return timestamp + self.offset_at(timestamp) * SECOND if FIRST <= timestamp <= LAST else timestamp

    def tree(self, is_before: Callable[[datetime], str], unit: int = 1) -> str:
        """Return the offset as nested CASE: nine comparisons find one of five hundred offsets.

        Args:
            is_before: Returns the condition that the value lies before a date and time.
            unit: Number of units per second.
        """

        def between(low: int, high: int) -> str:
            if low == high:
                return str(self.offsets[low] * unit)
            middle = (low + high) // 2
            condition = is_before(self.changes[middle])
            return f"CASE WHEN {condition} THEN {between(low, middle)} ELSE {between(middle + 1, high)} END"

        return between(0, len(self.changes))


@lru_cache(1024)
def shift(source: str, target: str) -> Shift | None:
    """Return the shift from one zone to another; None if one of them does not exist.

    Where clocks are put back, a date and time exists twice, and the first one is meant. Where they are put forward, it
    does not exist, and is read with the offset from before.
    """
    left, right = _from_utc(source), _from_utc(target)
    if left is None or right is None:
        return None
    if source == DEFAULT:
        return right
    if source == target:
        return Shift((), (0,))
    starts = [
        change + max(before, after) * SECOND
        for change, before, after in zip(left.changes, left.offsets, left.offsets[1:], strict=False)
    ]
    changes, offsets = list[datetime](), list[int]()
    for start, end, offset in zip([None, *starts], [*starts, None], left.offsets, strict=True):
        inside = [change + offset * SECOND for change in right.changes]
        later = [at for at in inside if (start is None or at > start) and (end is None or at < end)]
        first = start or later[0] - STEP if start or later else BEGIN
        changes += [*([start] if start else []), *later]
        offsets += [right.offset_at(at - offset * SECOND) - offset for at in (first, *later)]
    return Shift(tuple(changes), tuple(offsets))


@lru_cache(256)
def _from_utc(name: str) -> Shift | None:
    if name == DEFAULT:
        return Shift((), (0,))
    try:
        info = zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None

    def offset(timestamp: datetime) -> timedelta:
        return info.fromutc(timestamp.replace(tzinfo=info)).replace(tzinfo=None) - timestamp

    changes, offsets, here = [], [offset(BEGIN)], BEGIN
    while here < END:
        following = min(here + STEP, END)
        if (current := offset(following)) != offsets[-1]:
            changes.append(_change(here, following, offset))
            offsets.append(current)
        here = following
    return Shift(tuple(changes), tuple(length // SECOND for length in offsets))


def _change(before: datetime, after: datetime, offset: Callable[[datetime], timedelta]) -> datetime:
    """Return the first second after `before` that has another offset."""
    start = offset(before)
    while after - before > SECOND:
        middle = before + (after - before) // 2 // SECOND * SECOND
        before, after = (middle, after) if offset(middle) == start else (before, middle)
    return after


def exists(name: str) -> bool:
    """Return True if there is a zone of that name."""
    return _from_utc(name) is not None


def names() -> frozenset[str]:
    """Return all names of zones."""
    return frozenset(zoneinfo.available_timezones()) | {DEFAULT}


def micros(timestamp: datetime) -> int:
    """Microseconds since 1970."""
    return (timestamp - EPOCH) // timedelta(microseconds=1)


def expand_read_instant(expr: Call) -> Expr:
    """Write `read_instant` in terms of other functions: a point in time at UTC from ISO 8601.

    Text without an offset is a date and time in the zone that the call names.
    """
    written, zone = expr.arguments
    timestamp, sign, hours, minutes = (
        Call("regexp_extract", (written, _text(OFFSET), _whole(group)), Type.TEXT) for group in range(1, 5)
    )
    seconds = Call("add_whole", (_times(hours, 3600), _times(minutes, 60)), Type.INTEGER)
    behind = Call("equal", (sign, _text("-")), Type.BOOLEAN)
    added = Call("case", (behind, seconds, Call("negate_whole", (seconds,), Type.INTEGER)), Type.INTEGER)
    at_utc = Call("shift_second", (_as_timestamp(timestamp), added), Type.TIMESTAMP)
    here = Call("in_zone", (_as_timestamp(written), zone, _text(DEFAULT)), Type.TIMESTAMP)
    return Call("case", (Call("equal", (timestamp, _text("")), Type.BOOLEAN), here, at_utc), Type.TIMESTAMP)


def _as_timestamp(value: Expr) -> Call:
    return Call("imposed_timestamp", (value,), Type.TIMESTAMP)


def _times(value: Expr, factor: int) -> Call:
    number = Call("coalesce", (Call("cast_integer", (value,), Type.INTEGER), _whole(0)), Type.INTEGER)
    return Call("multiply_whole", (number, _whole(factor)), Type.INTEGER)


def _text(value: str) -> Literal:
    return Literal(value, Type.TEXT)


def _whole(value: int) -> Literal:
    return Literal(value, Type.INTEGER)
