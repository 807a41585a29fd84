"""Functions of dates and timestamps, and their formats.

Everything is computed on dates and microseconds since 1970: Spark's own functions of timestamps (DATE_TRUNC,
DATE_FORMAT, TIMESTAMPDIFF) depend on the time zone of the session. Formats are constants
(`hedgerow.plan.calendar_functions`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from hedgerow.dialects.base import Dialect
from hedgerow.dialects.spark.spelling import Typed, bigint, cut, double, from_micros, midnight, quoted
from hedgerow.expressions.nodes import Call, Literal
from hedgerow.expressions.types import Type

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
    """A template over timestamps: `{m0}` is the first as a timestamp, `{d0}` as a date, `{u0}` in microseconds."""

    def written(call: Call, texts: Sequence[str]) -> str:
        return template.format(*texts, **_forms(call, texts))

    return written


def _forms(call: Call, texts: Sequence[str]) -> dict[str, str]:
    forms = dict[str, str]()
    for at, (expr, text) in enumerate(zip(call.arguments, texts, strict=True)):
        if expr.type.is_temporal:
            is_date = expr.type is Type.DATE
            timestamp = midnight(text) if is_date else text
            day = text if is_date else f"CAST({text} AS DATE)"
            forms |= {f"m{at}": timestamp, f"d{at}": day, f"u{at}": f"unix_micros({timestamp})"}
    return forms


def small(text: str) -> str:
    """A 32-bit integer; NULL where it does not fit."""
    return SMALL.format(text)


def _day(at: int) -> str:
    return f"CAST({{m{at}}} AS DATE)"


def _month_number(day: str) -> str:
    """Months since January 1970."""
    return f"(year({day}) * 12 + month({day}) - 23641)"


def _first_of(months: str) -> str:
    """The start of a month, by its number."""
    return midnight(f"add_months(DATE '1970-01-01', CAST({months} AS INT))")


def _floor(value: str, width: int | str) -> str:
    """A number rounded down to a multiple of `width`."""
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
        return from_micros(_floor("{u0}", MICROS[unit]))
    day = "{d0}" if unit == "day" else f"trunc({{d0}}, '{unit.upper()}')"
    return f"CASE WHEN {{m0}} IS NOT NULL THEN {midnight(day)} END"


def _difference(unit: str) -> str:
    """Number of unit boundaries between two timestamps."""
    if unit in MONTHS:
        wide = MONTHS[unit]
        numbers = [f"floor({_month_number(f'{{d{at}}}')} / {wide}D)" for at in (0, 1)]
        return f"CASE WHEN {{m0}} IS NOT NULL AND {{m1}} IS NOT NULL THEN {numbers[1]} - {numbers[0]} END"
    if unit == "week":
        return f"((unix_date({_day(1)}) - unix_date({_day(0)})) DIV 7)"
    return f"({_floor('{u1}', MICROS[unit])} DIV {MICROS[unit]}L - {_floor('{u0}', MICROS[unit])} DIV {MICROS[unit]}L)"


def _into_month(day: str, micros: str) -> str:
    """Microseconds since the start of the month, plus one day."""
    return f"(day({day}) * {DAY}L + pmod({micros}, {DAY}L))"


def _full_months(*, at_ends: bool) -> str:
    """Full months from the earlier of two timestamps to the later.

    With `at_ends`, the last day of a shorter month completes the month.
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
    """Number of full units from the first timestamp to the second."""
    if unit in MONTHS:
        return f"({BACKWARDS} * ({_full_months(at_ends=True)} DIV {MONTHS[unit]}))"
    return f"(try_subtract({{u1}}, {{u0}}) DIV {MICROS[unit]}L)"


def _shifted(unit: str) -> str:
    step = f"INTERVAL '{MONTHS[unit]}' MONTH" if unit in MONTHS else f"INTERVAL '{MICROS[unit] // 1_000_000}' SECOND"
    return f"try_add({{m0}}, try_multiply({step}, {small('{1}')}))"


def _bucket(unit: str) -> str:
    """The start of the bucket; the third argument is the origin of all buckets."""
    if unit in MONTHS:
        wide = f"({bigint('{1}')} * {MONTHS[unit]}L)"
        from_origin = f"({_month_number('{d0}')} - {_month_number('{d2}')})"
        number = f"{_month_number('{d0}')} - pmod({from_origin}, {wide})"
        return f"CASE WHEN {{m0}} IS NOT NULL THEN {_first_of(number)} END"
    wide = f"({bigint('{1}')} * {MICROS[unit]}L)"
    return from_micros(f"try_subtract({{u0}}, pmod(try_subtract({{u0}}, {{u2}}), {wide}))")


def _named(names: Sequence[str], number: str) -> str:
    return f"elt({number}, {', '.join(repr(name) for name in names)})"


MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
DAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTH_NAME, DAY_NAME = _named(MONTH_NAMES, "month({d0})"), _named(DAY_NAMES, "dayofweek({d0})")
YEAR = "CAST(CASE WHEN {0} BETWEEN -290000 AND 290000 THEN {0} END AS INT)"
"""Years within which `try_make_timestamp_ntz` does not raise an error."""


def _make_timestamp() -> str:
    """MAKE_TIMESTAMP: midnight of the day plus the time since, at most 24 hours."""
    hour, minute, second = bigint("{3}"), bigint("{4}"), double("{5}")
    fraction = f"rint(({second} - {cut(second)}) * 1000000D)"
    valid = f"{hour} BETWEEN 0L AND 24L AND {minute} BETWEEN 0L AND 59L AND rint({second}) <= 60D AND {fraction} >= 0D"
    held = f"CASE WHEN {valid} AND {cut(second)} >= 0D THEN {cut(second)} * 1000000D + {fraction} END"
    passed = f"(({hour} * 60L + {minute}) * 60000000L + CAST({held} AS BIGINT))"
    start_of_day = f"unix_micros(try_make_timestamp_ntz({YEAR}, {small('{1}')}, {small('{2}')}, 0, 0, 0))"
    within = f"CASE WHEN {valid} THEN {passed} END"
    return from_micros(f"try_add({start_of_day}, CASE WHEN {within} <= {DAY}L THEN {within} END)")


TIMES: Mapping[str, Typed] = {
    **{f"extract_{part}": timed(bigint(text)) for part, text in PARTS.items()},
    **{f"trunc_{unit}": timed(_truncated(unit)) for unit in (*MONTHS, *MICROS)},
    **{f"difference_{unit}": timed(bigint(_difference(unit))) for unit in (*MONTHS, *MICROS)},
    **{f"elapsed_{unit}": timed(bigint(_elapsed(unit))) for unit in (*MONTHS, *MICROS)},
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
    "from_epoch": timed(from_micros(f"try_cast(rint({double('{0}')} * 1000000D) AS BIGINT)")),
}


PIECE = re.compile(r"%(-?.)|([^%]+)")
YEAR_4 = "CASE WHEN year({d0}) BETWEEN 0 AND 999 THEN lpad(year({d0}), 4, '0') ELSE CAST(year({d0}) AS STRING) END"
HOUR_12 = "(pmod(hour({m0}) + 11, 12) + 1)"
DIRECTIVES = {
    "d": ("day({d0})", 2),
    "H": ("hour({m0})", 2),
    "I": (HOUR_12, 2),
    "j": ("dayofyear({d0})", 3),
    "m": ("month({d0})", 2),
    "M": ("minute({m0})", 2),
    "S": ("second({m0})", 2),
    "y": ("(abs(year({d0})) % 100)", 2),
    "V": ("weekofyear({d0})", 2),
    "U": ("((dayofyear({d0}) + 7 - dayofweek({d0})) DIV 7)", 2),
    "W": ("((dayofyear({d0}) + 6 - weekday({d0})) DIV 7)", 2),
    "w": ("(dayofweek({d0}) - 1)", 1),
    "u": ("(weekday({d0}) + 1)", 1),
}
"""SQL of a directive, and its number of digits."""

NAMES_AND_YEARS = {
    "a": f"left({DAY_NAME}, 3)",
    "A": DAY_NAME,
    "b": f"left({MONTH_NAME}, 3)",
    "B": MONTH_NAME,
    "p": "CASE WHEN hour({m0}) < 12 THEN 'AM' ELSE 'PM' END",
    "Y": YEAR_4,
    "G": YEAR_4.replace("year({d0})", "extract(YEAROFWEEK FROM {d0})"),
    "%": "'%'",
}


def _pieces(call: Call, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Split a constant format into directives and the text between them."""
    written = call.arguments[1]
    if not isinstance(written, Literal) or not isinstance(written.value, str):
        raise dialect.lacks("a format that is not a constant")
    yield from PIECE.findall(written.value)


def format_time(dialect: Dialect) -> Typed:
    """STRFTIME with a constant format."""

    def written(call: Call, texts: Sequence[str]) -> str:
        parts = [_shown(directive, between, dialect) for directive, between in _pieces(call, dialect)]
        template = f"CASE WHEN {{m0}} IS NOT NULL THEN concat({', '.join(parts) or quoted('')}) END"
        return timed(template)(call, texts)

    return written


def _shown(directive: str, between: str, dialect: Dialect) -> str:
    if not directive:
        return quoted(between).replace("{", "{{").replace("}", "}}")
    if directive in NAMES_AND_YEARS:
        return NAMES_AND_YEARS[directive]
    if directive[-1] not in DIRECTIVES:
        raise dialect.lacks(f"the directive %{directive}")
    number, digits = DIRECTIVES[directive[-1]]
    return f"CAST({number} AS STRING)" if directive[0] == "-" else f"lpad(CAST({number} AS STRING), {digits}, '0')"


SPACE = "[\\x09-\\x0D ]"
SHORT_NAMES = tuple(name[:3].lower() for name in MONTH_NAMES)
LONG_NAMES = tuple(name.lower() for name in MONTH_NAMES)
READ = {
    **dict.fromkeys("dmHIMSy", "([0-9]{1,2}+)"),
    "Y": "([0-9]{1,4}+)",
    "j": "([0-9]{1,3}+)",
    "b": f"((?i:{'|'.join(SHORT_NAMES)}))",
    "B": f"((?i:{'|'.join(LONG_NAMES)}))",
    "p": "((?i:am|pm))",
}
"""Patterns of directives. Digits are matched possessively."""

FIELDS = {"d": "day", "m": "month", "b": "month", "B": "month", "j": "date", "H": "hour", "I": "hour"}
TOGETHER = ({"day", "date"}, {"month", "date"})


def read_time(dialect: Dialect) -> Typed:
    """STRPTIME with a constant format; text that does not match becomes NULL."""

    def written(call: Call, texts: Sequence[str]) -> str:
        pattern, order = _reading(list(_pieces(call, dialect)), dialect)
        shown = quoted(pattern)
        parts = {name: f"regexp_extract({texts[0]}, {shown}, {at + 1})" for at, name in enumerate(order)}
        return _timestamp(parts)

    return written


def _reading(pieces: Sequence[tuple[str, str]], dialect: Dialect) -> tuple[str, list[str]]:
    """Return the pattern and the directive of each of its groups."""
    pattern, order = "", list[str]()
    for directive, between in pieces:
        if directive == "%" or not directive:
            pattern += "".join(_literal(character) for character in between or "%")
        else:
            order.append(directive[-1])
            pattern += READ[directive[-1]]
    fields = [FIELDS.get(name, name) for name in order]
    odd = ("p" in order) != ("I" in order) and "p" in order
    if len({*fields}) < len(fields) or odd or any(pair <= {*fields} for pair in TOGETHER):
        raise dialect.lacks("a format that gives a field twice")
    return f"\\A{SPACE}*{pattern}{SPACE}*\\z", order


def _literal(character: str) -> str:
    return f"{SPACE}+" if character.isspace() else f"\\x{{{ord(character):X}}}"


def _timestamp(parts: Mapping[str, str]) -> str:
    """The timestamp; missing fields are those of 1900-01-01 00:00:00."""

    def number(name: str, missing: int) -> str:
        return f"try_cast({parts[name]} AS INT)" if name in parts else str(missing)

    if "y" in parts:
        short = number("y", 0)
        year = f"({short} + CASE WHEN {short} < 69 THEN 2000 ELSE 1900 END)"
    else:
        year = number("Y", 1900)
    second = f"CASE WHEN {number('S', 0)} < 60 THEN {number('S', 0)} END"
    clock = f"{_hour(parts, number)}, {number('M', 0)}, {second}"
    if "j" in parts:
        day = number("j", 1)
        passed = f"try_multiply(INTERVAL '1' DAY, CASE WHEN {day} BETWEEN 1 AND 366 THEN {day} - 1 END)"
        return f"try_add(try_make_timestamp_ntz({year}, 1, 1, {clock}), {passed})"
    return f"try_make_timestamp_ntz({year}, {_month(parts, number)}, {number('d', 1)}, {clock})"


Number = Callable[[str, int], str]


def _month(parts: Mapping[str, str], number: Number) -> str:
    for name, known in (("b", SHORT_NAMES), ("B", LONG_NAMES)):
        if name in parts:
            return f"CAST(array_position(array({', '.join(map(quoted, known))}), lower({parts[name]})) AS INT)"
    return number("m", 1)


def _hour(parts: Mapping[str, str], number: Number) -> str:
    if "I" not in parts:
        return number("H", 0)
    hour = f"CASE WHEN {number('I', 0)} BETWEEN 1 AND 12 THEN {number('I', 0)} END"
    return f"({hour} % 12 + CASE WHEN lower({parts['p']}) = 'pm' THEN 12 ELSE 0 END)" if "p" in parts else hour
