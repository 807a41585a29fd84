"""Dates made, written, read, named and put into buckets.

Formats are constants from a list of their own (`hedgerow.plan.formats`); here they are text like any other.
"""

from hedgerow.expressions.functions.registry import INTEGERS, NUMBERS, TEXTS, TIMES, Function, register, takes
from hedgerow.expressions.functions.temporal import UNITS
from hedgerow.expressions.ranges import EVERYTHING, Range
from hedgerow.expressions.types import Type

MOMENT = "TRY_CAST({0} AS TIMESTAMP)"
SMALL = "TRY_CAST({{{0}}} AS INTEGER)"

register(Function("last_day", takes(TIMES, gives=Type.DATE), f"TRY(last_day({MOMENT}))"))
register(Function("month_name", takes(TIMES, gives=Type.TEXT), f"TRY(monthname({MOMENT}))"))
register(Function("day_name", takes(TIMES, gives=Type.TEXT), f"TRY(dayname({MOMENT}))"))
register(Function("format_time", takes(TIMES, TEXTS, gives=Type.TEXT), f"TRY(strftime({MOMENT}, {{1}}))", arity=(2, 2)))
register(
    Function(
        # DuckDB reads words for special points in time under every format, as the first day of 1900.
        "read_time",
        takes(TEXTS, TEXTS, gives=Type.TIMESTAMP),
        "TRY(try_strptime(CASE WHEN lower(trim({0})) NOT IN ('infinity', '-infinity', 'epoch') THEN {0} END, {1}))",
        arity=(2, 2),
    )
)
register(
    Function(
        "make_date",
        takes(INTEGERS, INTEGERS, INTEGERS, gives=Type.DATE),
        f"TRY(make_date({', '.join(SMALL.format(n) for n in range(3))}))",
        arity=(3, 3),
    )
)
register(
    Function(
        "make_timestamp",
        takes(*[INTEGERS] * 5, NUMBERS, gives=Type.TIMESTAMP),
        f"TRY(make_timestamp({', '.join(SMALL.format(n) for n in range(5))}, TRY_CAST({{5}} AS DOUBLE)))",
        arity=(6, 6),
    )
)
register(Function("epoch", takes(TIMES, gives=Type.FLOAT), f"TRY(epoch({MOMENT}))", range=lambda _: EVERYTHING))
register(
    Function(
        "from_epoch",
        takes(NUMBERS, gives=Type.TIMESTAMP),
        "TRY(make_timestamp(TRY_CAST(CAST({0} AS DOUBLE) * 1000000 AS BIGINT)))",
    )
)
register(
    Function(
        "seconds",
        takes(TIMES, gives=Type.FLOAT),
        f"TRY(CAST(date_part('microsecond', {MOMENT}) AS DOUBLE) / 1000000)",
        range=lambda _: Range(0.0, 60.0),
    )
)
register(
    Function(
        # Weeks begin on Sunday; the days before the first Sunday are in week 0.
        "week_from_sunday",
        takes(TIMES, gives=Type.INTEGER),
        f"CASE WHEN isfinite({MOMENT}) THEN TRY_CAST(strftime({MOMENT}, '%U') AS BIGINT) END",
        range=lambda _: Range(0.0, 53.0),
    )
)
register(
    Function(
        # The years in AGE(end, start): full ones, by the calendar.
        "age_in_years",
        takes(TIMES, TIMES, gives=Type.INTEGER),
        f"TRY(CAST(date_part('year', age({MOMENT}, TRY_CAST({{1}} AS TIMESTAMP))) AS BIGINT))",
        arity=(2, 2),
    )
)

for _unit in UNITS:
    register(
        Function(
            f"elapsed_{_unit}",
            takes(TIMES, TIMES, gives=Type.INTEGER),
            f"TRY(date_sub('{_unit}', {MOMENT}, TRY_CAST({{1}} AS TIMESTAMP)))",
            arity=(2, 2),
        )
    )
    register(
        Function(
            # The width and the origin are constants.
            f"bucket_{_unit}",
            takes(TIMES, INTEGERS, TIMES, gives=Type.TIMESTAMP),
            f"TRY(time_bucket(to_{_unit}s(CAST({{1}} AS INTEGER)), {MOMENT}, {{2}}))",
            arity=(3, 3),
        )
    )
