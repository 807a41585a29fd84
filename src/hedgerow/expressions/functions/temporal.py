"""Functions of dates and times. Units come from a fixed list, and every step is wrapped, for dates can be infinite.

Inside TRY only the outermost operation may fail: an optimiser may compute what stands inside it elsewhere, once.
"""

from hedgerow.expressions.functions.registry import TIMES, Function, register, takes
from hedgerow.expressions.ranges import EVERYTHING, Range
from hedgerow.expressions.types import Type

PARTS = {
    "year": EVERYTHING,
    "quarter": Range(1, 4),
    "month": Range(1, 12),
    "week": Range(1, 53),
    "day": Range(1, 31),
    "dayofweek": Range(0, 6),
    "isodow": Range(1, 7),
    "dayofyear": Range(1, 366),
    "hour": Range(0, 23),
    "minute": Range(0, 59),
    "second": Range(0, 59),
    "millisecond": Range(0, 59_999),
    "microsecond": Range(0, 59_999_999),
    "isoyear": EVERYTHING,
    "decade": EVERYTHING,
    "century": EVERYTHING,
}
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
INT = 2**31 - 1
FARTHEST = {"year": INT // 12, "quarter": INT // 3, "week": INT // 7}
"""How many of a unit an interval can hold: it counts months and days in 32 bits."""

for _part, _range in PARTS.items():
    register(
        Function(
            f"extract_{_part}",
            takes(TIMES, gives=Type.INTEGER),
            f"TRY(CAST(date_part('{_part}', {{0}}) AS BIGINT))",
            range=lambda _, r=_range: r,  # type: ignore[misc]
        )
    )

for _unit in UNITS:
    register(
        Function(
            f"trunc_{_unit}",
            takes(TIMES, gives=Type.TIMESTAMP),
            f"TRY(date_trunc('{_unit}', TRY_CAST({{0}} AS TIMESTAMP)))",
        )
    )
    register(
        Function(
            f"difference_{_unit}",
            takes(TIMES, TIMES, gives=Type.INTEGER),
            f"TRY(date_diff('{_unit}', TRY_CAST({{0}} AS TIMESTAMP), TRY_CAST({{1}} AS TIMESTAMP)))",
            arity=(2, 2),
        )
    )
    register(
        Function(
            f"shift_{_unit}",
            takes(TIMES, frozenset({Type.INTEGER}), gives=Type.TIMESTAMP),
            f"TRY(TRY_CAST({{0}} AS TIMESTAMP) + to_{_unit}s("
            f"CASE WHEN {{1}} BETWEEN -{FARTHEST.get(_unit, INT)} AND {FARTHEST.get(_unit, INT)} "
            "THEN TRY_CAST({1} AS INTEGER) END))",
            arity=(2, 2),
        )
    )

register(
    Function(
        "days_between",
        takes(frozenset({Type.DATE}), frozenset({Type.DATE}), gives=Type.INTEGER),
        "TRY(date_diff('day', {1}, {0}))",
        arity=(2, 2),
    )
)
register(
    Function(
        "microseconds_between",
        takes(TIMES, TIMES, gives=Type.INTEGER),
        "TRY(date_diff('microsecond', TRY_CAST({1} AS TIMESTAMP), TRY_CAST({0} AS TIMESTAMP)))",
        arity=(2, 2),
    )
)
