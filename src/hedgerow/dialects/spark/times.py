"""Functions of dates and timestamps.

Everything is done on dates and on microseconds since 1970: what Spark does with a timestamp by itself (DATE_TRUNC,
DATE_FORMAT, TIMESTAMPDIFF) goes through the time zone of the session.
"""

from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.spark.spelling import cut, double, moment_of_date, moment_of_micros, whole
from hedgerow.expressions.nodes import Call
from hedgerow.expressions.types import Type

Typed = Callable[[Call, Sequence[str]], str]

SMALL = "CAST(CASE WHEN {0} BETWEEN -2147483648 AND 2147483647 THEN {0} END AS INT)"
MONTHS = {"year": 12, "quarter": 3, "month": 1}
MICROS = {
    "week": 604_800_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
}
DAY = MICROS["day"]


def timed(template: str) -> Typed:
    """A template over points in time: `{m0}` is the first as a timestamp, `{d0}` as a date, `{u0}` in microseconds."""

    def written(call: Call, texts: Sequence[str]) -> str:
        return template.format(*texts, **_forms(call, texts))

    return written


def _forms(call: Call, texts: Sequence[str]) -> dict[str, str]:
    forms = dict[str, str]()
    for at, (expr, text) in enumerate(zip(call.arguments, texts, strict=True)):
        if expr.type.is_temporal:
            is_date = expr.type is Type.DATE
            moment = moment_of_date(text) if is_date else text
            day = text if is_date else f"CAST({text} AS DATE)"
            forms |= {f"m{at}": moment, f"d{at}": day, f"u{at}": f"unix_micros({moment})"}
    return forms


def small(text: str) -> str:
    """A whole number of 32 bits; NULL beyond."""
    return SMALL.format(text)


def _day(at: int) -> str:
    return f"CAST({{m{at}}} AS DATE)"


def _month_number(day: str) -> str:
    """Months since the beginning of 1970."""
    return f"(year({day}) * 12 + month({day}) - 23641)"


def _first_of(months: str) -> str:
    """The beginning of a month by its number."""
    return moment_of_date(f"add_months(DATE '1970-01-01', CAST({months} AS INT))")


def _floor(value: str, width: int | str) -> str:
    """The largest multiple of `width` that is not above."""
    return f"try_subtract({value}, pmod({value}, {width}L))"


PARTS = {
    "year": "year({d0})",
    "quarter": "quarter({d0})",
    "month": "month({d0})",
    "week": "weekofyear({d0})",
    "day": "day({d0})",
    "dayofweek": "(dayofweek({d0}) - 1)",
    "isodow": "(weekday({d0}) + 1)",
    "dayofyear": "dayofyear({d0})",
    "hour": "hour({m0})",
    "minute": "minute({m0})",
    "second": "second({m0})",
    "millisecond": "(pmod({u0}, 60000000L) DIV 1000L)",
    "microsecond": "pmod({u0}, 60000000L)",
    "isoyear": "extract(YEAROFWEEK FROM {d0})",
    "decade": "(year({d0}) DIV 10)",
    "century": "CASE WHEN year({d0}) > 0 THEN (year({d0}) - 1) DIV 100 + 1 ELSE year({d0}) DIV 100 - 1 END",
}


def _truncated(unit: str) -> str:
    if unit in {"hour", "minute", "second"}:
        return moment_of_micros(_floor("{u0}", MICROS[unit]))
    day = "{d0}" if unit == "day" else f"trunc({{d0}}, '{unit.upper()}')"
    return f"CASE WHEN {{m0}} IS NOT NULL THEN {moment_of_date(day)} END"


def _difference(unit: str) -> str:
    """The borders between units that are passed."""
    if unit in MONTHS:
        wide = MONTHS[unit]
        numbers = [f"floor({_month_number(f'{{d{at}}}')} / {wide}D)" for at in (0, 1)]
        return f"CASE WHEN {{m0}} IS NOT NULL AND {{m1}} IS NOT NULL THEN {numbers[1]} - {numbers[0]} END"
    if unit == "week":
        return f"((unix_date({_day(1)}) - unix_date({_day(0)})) DIV 7)"
    return f"({_floor('{u1}', MICROS[unit])} DIV {MICROS[unit]}L - {_floor('{u0}', MICROS[unit])} DIV {MICROS[unit]}L)"


def _into_month(day: str, micros: str) -> str:
    """How far into its month a point in time is, in microseconds."""
    return f"(day({day}) * {DAY}L + pmod({micros}, {DAY}L))"


def _full_months(*, at_ends: bool) -> str:
    """Full months from the earlier of two points in time to the later.

    With `at_ends`, the last day of the later month is as far as a month goes.
    """
    first, last = "LEAST({m0}, {m1})", "GREATEST({m0}, {m1})"
    begin, end = f"CAST({first} AS DATE)", f"CAST({last} AS DATE)"
    start = _into_month(begin, f"unix_micros({first})")
    if at_ends:
        short = f"(day({end}) * {DAY}L + pmod(unix_micros({first}), {DAY}L))"
        start = f"CASE WHEN {end} = last_day({end}) AND day({begin}) > day({end}) THEN {short} ELSE {start} END"
    missing = f"CAST({_into_month(end, f'unix_micros({last})')} < {start} AS INT)"
    return f"({_month_number(end)} - {_month_number(begin)} - {missing})"


BACKWARDS = "CASE WHEN {m0} <= {m1} THEN 1L WHEN {m0} > {m1} THEN -1L END"


def _elapsed(unit: str) -> str:
    """The full units from the first to the second."""
    if unit in MONTHS:
        return f"({BACKWARDS} * ({_full_months(at_ends=True)} DIV {MONTHS[unit]}))"
    return f"(try_subtract({{u1}}, {{u0}}) DIV {MICROS[unit]}L)"


def _shifted(unit: str) -> str:
    step = f"INTERVAL '{MONTHS[unit]}' MONTH" if unit in MONTHS else f"INTERVAL '{MICROS[unit] // 1_000_000}' SECOND"
    return f"try_add({{m0}}, try_multiply({step}, {small('{1}')}))"


def _bucket(unit: str) -> str:
    """The beginning of the bucket; buckets are counted from the third argument on."""
    if unit in MONTHS:
        wide = f"({whole('{1}')} * {MONTHS[unit]}L)"
        from_origin = f"({_month_number('{d0}')} - {_month_number('{d2}')})"
        number = f"{_month_number('{d0}')} - pmod({from_origin}, {wide})"
        return f"CASE WHEN {{m0}} IS NOT NULL THEN {_first_of(number)} END"
    wide = f"({whole('{1}')} * {MICROS[unit]}L)"
    return moment_of_micros(f"try_subtract({{u0}}, pmod(try_subtract({{u0}}, {{u2}}), {wide}))")


def _named(names: Sequence[str], number: str) -> str:
    return f"elt({number}, {', '.join(repr(name) for name in names)})"


MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
DAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTH_NAME, DAY_NAME = _named(MONTH_NAMES, "month({d0})"), _named(DAY_NAMES, "dayofweek({d0})")
YEAR = "CAST(CASE WHEN {0} BETWEEN -290000 AND 290000 THEN {0} END AS INT)"
"""Beyond, even `try_make_timestamp_ntz` fails."""


def _make_timestamp() -> str:
    """Midnight of the day, and what has passed since: at most a whole day."""
    hour, minute, second = whole("{3}"), whole("{4}"), double("{5}")
    fraction = f"rint(({second} - {cut(second)}) * 1000000D)"
    valid = f"{hour} BETWEEN 0L AND 24L AND {minute} BETWEEN 0L AND 59L AND rint({second}) <= 60D AND {fraction} >= 0D"
    held = f"CASE WHEN {valid} AND {cut(second)} >= 0D THEN {cut(second)} * 1000000D + {fraction} END"
    passed = f"(({hour} * 60L + {minute}) * 60000000L + CAST({held} AS BIGINT))"
    midnight = f"unix_micros(try_make_timestamp_ntz({YEAR}, {small('{1}')}, {small('{2}')}, 0, 0, 0))"
    within = f"CASE WHEN {valid} THEN {passed} END"
    return moment_of_micros(f"try_add({midnight}, CASE WHEN {within} <= {DAY}L THEN {within} END)")


TIMES: Mapping[str, Typed] = {
    **{f"extract_{part}": timed(whole(text)) for part, text in PARTS.items()},
    **{f"trunc_{unit}": timed(_truncated(unit)) for unit in (*MONTHS, *MICROS)},
    **{f"difference_{unit}": timed(whole(_difference(unit))) for unit in (*MONTHS, *MICROS)},
    **{f"elapsed_{unit}": timed(whole(_elapsed(unit))) for unit in (*MONTHS, *MICROS)},
    **{f"shift_{unit}": timed(_shifted(unit)) for unit in (*MONTHS, *MICROS)},
    **{f"bucket_{unit}": timed(_bucket(unit)) for unit in (*MONTHS, *MICROS)},
    "days_between": timed("(CAST(unix_date({0}) AS BIGINT) - unix_date({1}))"),
    "microseconds_between": timed("try_subtract({u0}, {u1})"),
    "last_day": timed("CASE WHEN {m0} IS NOT NULL THEN last_day({d0}) END"),
    "month_name": timed(MONTH_NAME),
    "day_name": timed(DAY_NAME),
    "epoch": timed(f"({double('{u0}')} / 1000000D)"),
    "seconds": timed(f"({double('pmod({u0}, 60000000L)')} / 1000000D)"),
    "week_from_sunday": timed("CAST((dayofyear({d0}) + 7 - dayofweek({d0})) DIV 7 AS BIGINT)"),
    "age_in_years": timed(f"(-{BACKWARDS} * ({_full_months(at_ends=False)} DIV 12))"),
    "make_date": timed(f"CAST(try_make_timestamp_ntz({YEAR}, {small('{1}')}, {small('{2}')}, 0, 0, 0) AS DATE)"),
    "make_timestamp": timed(_make_timestamp()),
    "from_epoch": timed(moment_of_micros(f"try_cast(rint({double('{0}')} * 1000000D) AS BIGINT)")),
}
