"""Parts of a time of day. Of 24:00 and what some engines have beyond it, every part is NULL.

Every dialect computes them from microseconds since midnight (`Dialect.clock`).
"""

from hedgerow.expressions.functions.registry import Function, register, takes
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type

HOUR, MINUTE, SECOND = 3_600_000_000, 60_000_000, 1_000_000
DAY = 24 * HOUR
CLOCK = {
    "clock_hour": (DAY, HOUR),
    "clock_minute": (HOUR, MINUTE),
    "clock_second": (MINUTE, SECOND),
    "clock_millisecond": (MINUTE, 1_000),
    "clock_microsecond": (MINUTE, 1),
}
"""For each part, since when it is counted and in what, in microseconds."""

SECONDS = "clock_seconds"
"""Seconds with their fraction."""

TIME_OF_DAY = frozenset({Type.TIME})
SINCE = "epoch_us({0})"

for _name, (_within, _unit) in CLOCK.items():
    register(
        Function(
            _name,
            takes(TIME_OF_DAY, gives=Type.INTEGER),
            f"CASE WHEN {SINCE} < {DAY} THEN {SINCE} % {_within} // {_unit} END",
            range=lambda _, most=_within // _unit - 1: Range(0.0, float(most)),  # type: ignore[misc]
        )
    )
register(
    Function(
        SECONDS,
        takes(TIME_OF_DAY, gives=Type.FLOAT),
        f"CASE WHEN {SINCE} < {DAY} THEN CAST({SINCE} % {MINUTE} AS DOUBLE) / {SECOND} END",
        range=lambda _: Range(0.0, 60.0),
    )
)
