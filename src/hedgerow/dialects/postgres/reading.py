"""Parsing text as DuckDB does. Patterns reject what PostgreSQL cannot parse before it tries.

Dates and times are ISO 8601, loosely. A time zone is accepted and ignored: timestamps have none. Formats of `strptime`
are constants; each becomes a pattern whose groups are then checked. Fields that a format lacks are those of
1900-01-01 00:00:00.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.base import Dialect, Writer
from hedgerow.dialects.postgres.doubles import INFINITE, NAN, ZERO, real
from hedgerow.dialects.postgres.logic import collated
from hedgerow.dialects.postgres.numbers import IN_RANGE, no_windows
from hedgerow.expressions.nodes import Call, Literal
from hedgerow.expressions.types import Type

LEAP = "({0} % 4 = 0 AND ({0} % 100 <> 0 OR {0} % 400 = 0))"
FIRST_YEAR, LAST_YEAR, LAST_TIMESTAMP_YEAR = -4712, 5_874_896, 294_247
"""Years that PostgreSQL can hold, in astronomical numbering (1 BC is year 0)."""

LAST_TIMESTAMP = "TIMESTAMP '294247-01-10 04:00:54.775806'"
"""The last timestamp that DuckDB can hold."""

SPACE = "[ \\t\\n\\u000B\\f\\r]"
DAY = f"^{SPACE}*(-?)([0-9]{{1,9}})([-/\\\\ ])([0-9]{{1,2}})\\3([0-9]{{1,2}})( \\([Bb][Cc]\\))?"
CLOCK = "([0-9]{1,9}):(?:([0-9]{1,2})(?::(?:([0-9]{1,2})(?:\\.([0-9]*))?)?)?)?"
OFFSET = "[+-][0-9]{2}(?::[0-9]{2}(?::[0-9]{2})?|[0-9]{2})?"
ZONE = f"(?:Z{SPACE}*|{OFFSET}{SPACE}*| [A-Za-z0-9_/+:-]*{SPACE}*)?"
AFTER_DATE = f"(?:[ T]{SPACE}*|{SPACE}+){CLOCK}{ZONE}"
"""A time after a date."""

ALONE = f"^{SPACE}*([0-9]{{1,9}}):(?:([0-9]{{1,2}})(?::(?:([0-9]{{1,2}})(?:\\.([0-9]*))?.*)?)?)?$"
"""A time by itself; anything after its seconds is ignored."""


def valid_day(year: str, month: str, day: str) -> str:
    """Condition that a day exists; the year is in astronomical numbering."""
    february = f"CASE WHEN {LEAP.format(year)} THEN 29 ELSE 28 END"
    days = (
        f"CASE {month} WHEN 2 THEN {february} WHEN 4 THEN 30 WHEN 6 THEN 30 WHEN 9 THEN 30 WHEN 11 THEN 30 ELSE 31 END"
    )
    return f"{year} BETWEEN {FIRST_YEAR} AND {LAST_YEAR} AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {days}"


def as_date(year: str, month: str, day: str) -> str:
    """A valid day as a date; `make_date` numbers 1 BC as -1."""
    return f"make_date(CASE WHEN {year} > 0 THEN {year} ELSE {year} - 1 END, {month}, {day})"


def _parsed(pattern: str, text: str) -> str:
    """Query for a date's year, month and day as numbers `y`, `m`, `d`, and all groups of the match as an array `r`."""
    year = "CAST(g[2] AS INTEGER)"
    before = f"CASE WHEN g[1] = '' THEN 1 - {year} END"
    signed = f"CASE WHEN g[6] IS NOT NULL THEN {before} WHEN g[1] = '-' THEN -{year} ELSE {year} END"
    match = f"SELECT regexp_match({text}, '{pattern}') AS g OFFSET 0"
    numbers = f"{signed} AS y, CAST(g[4] AS INTEGER) AS m, CAST(g[5] AS INTEGER) AS d, g AS r"
    return f"SELECT {numbers} FROM ({match}) AS g OFFSET 0"


def _special(text: str, kind: str) -> str:
    """Constants that are words: infinity, epoch."""
    words = {"infinity": "infinity", "inf": "infinity", "-infinity": "-infinity", "-inf": "-infinity", "epoch": "epoch"}
    shown = f"lower(btrim({text}, E' \\t\\n\\u000B\\f\\r'))"
    listed = " ".join(f"WHEN '{word}' THEN {kind} '{value}'" for word, value in words.items())
    return f"CASE {shown} {listed} END"


def _clock(first: int) -> str:
    """Time of day in microseconds, from four groups of a match; NULL if they are no valid time."""
    hour, minute, second = (f"CAST('0' || COALESCE(p.r[{first + i}], '') AS BIGINT)" for i in range(3))
    micros = f"CAST(rpad(left(COALESCE(p.r[{first + 3}], ''), 6), 6, '0') AS BIGINT)"
    total = f"(({hour} * 60 + {minute}) * 60 + {second}) * 1000000 + {micros}"
    valid = f"p.r[{first}] IS NOT NULL AND {minute} < 60 AND {second} < 60"
    return f"CASE WHEN {valid} AND {total} <= 86400000000 THEN {total} END"


def read_timestamp(text: str) -> str:
    """Read a timestamp: a date, or a date and a time."""
    pattern = f"{DAY}(?:{AFTER_DATE})?$"
    day = f"CAST({as_date('p.y', 'p.m', 'p.d')} AS TIMESTAMP)"
    valid = f"{valid_day('p.y', 'p.m', 'p.d')} AND p.y <= {LAST_TIMESTAMP_YEAR}"
    later = f"{day} + CAST(({_clock(7)}) AS FLOAT8) * INTERVAL '1 microsecond'"
    value = f"CASE WHEN {valid} THEN CASE WHEN p.r[7] IS NULL THEN {day} ELSE {later} END END"
    held = f"SELECT CASE WHEN s.v <= {LAST_TIMESTAMP} THEN s.v END FROM (SELECT {value} AS v OFFSET 0) AS s"
    return (
        f"(SELECT COALESCE({_special('t.t', 'TIMESTAMP')}, (SELECT ({held}) FROM ({_parsed(pattern, 't.t')}) AS p)) "
        f"FROM (SELECT {text} AS t OFFSET 0) AS t)"
    )


def read_date(text: str) -> str:
    """Read a date; a time that follows must be valid."""
    pattern = f"{DAY}(?:{SPACE}*|{AFTER_DATE})$"
    clock = f"(p.r[7] IS NULL OR ({_clock(7)}) IS NOT NULL AND p.y <= {LAST_TIMESTAMP_YEAR})"
    day = as_date("p.y", "p.m", "p.d")
    value = f"CASE WHEN {valid_day('p.y', 'p.m', 'p.d')} THEN CASE WHEN {clock} THEN {day} END END"
    return (
        f"(SELECT COALESCE({_special('t.t', 'DATE')}, (SELECT {value} FROM ({_parsed(pattern, 't.t')}) AS p)) "
        f"FROM (SELECT {text} AS t OFFSET 0) AS t)"
    )


def read_time(text: str) -> str:
    """Read a time of day, alone or after a date."""
    alone = f"SELECT regexp_match({text}, '{ALONE}') AS r OFFSET 0"
    micros = f"(SELECT {_clock(1)} FROM ({alone}) AS p)"
    return (
        f"(SELECT COALESCE(CASE WHEN s.c = 86400000000 THEN TIME '24:00:00' "
        f"ELSE TIME '00:00:00' + CAST(s.c AS FLOAT8) * INTERVAL '1 microsecond' END, "
        f"CASE WHEN s.c IS NULL THEN CAST({read_timestamp(text)} AS TIME) END) "
        f"FROM (SELECT {micros} AS c OFFSET 0) AS s)"
    )


SPACES = "E' \\t\\n\\u000B\\f\\r'"
LONGEST = 1_000
"""Longer numbers become NULL."""

DIGITS = "[0-9]+(?:_[0-9]+)*"
MANTISSA = f"(?:{DIGITS}(?:\\.(?:{DIGITS})?)?|\\.{DIGITS})"
DOUBLE = f"^\\+?-?{MANTISSA}(?:e[+-]?{DIGITS})?$"
WHOLE = f"^[+-]?{MANTISSA}(?:e[+-]?{DIGITS}\\.?)?$"
TOO_LARGE = 2**1024 - 2**970
"""From here on, the nearest double is infinity."""

TOO_SMALL = "2.4703282292062327209e-324"
"""Below this, the nearest double is zero."""

LARGE, SMALL = 309, -323
"""Decimal magnitudes (see `MAGNITUDE`) at which a number may become infinity, or zero."""


def _pieces(text: str) -> str:
    """Query for a number's mantissa `m`, its digits before and after the point `i` and `f`, and its exponent `e`."""
    bare = f"SELECT rtrim(replace({text}, '_', ''), '.') AS u OFFSET 0"
    split = f"SELECT split_part(u, 'e', 1) AS m, split_part(u, 'e', 2) AS x FROM ({bare}) AS u"
    whole, rest, tens = "ltrim(split_part(m, '.', 1), '+-0')", "split_part(m, '.', 2)", "ltrim(x, '+-0')"
    exponent = f"CASE WHEN length({tens}) > 6 THEN 999999 ELSE CAST('0' || {tens} AS INTEGER) END"
    return (
        f"SELECT m, {whole} AS i, {rest} AS f, CASE WHEN x LIKE '-%' THEN -1 ELSE 1 END * {exponent} AS e "
        f"FROM ({split} OFFSET 0) AS x"
    )


MAGNITUDE = "n.e + CASE WHEN n.i <> '' THEN length(n.i) ELSE length(ltrim(n.f, '0')) - length(n.f) END"


def _trimmed(text: str) -> str:
    return f"lower(btrim({text}, {SPACES}))"


def read_double(text: str) -> str:
    """Read a double; overflow becomes infinity, underflow becomes zero."""
    signed = f"CASE WHEN strpos(n.m, '-') > 0 THEN {real(float('-inf'))} ELSE {INFINITE} END"
    exact = "CAST(ltrim(n.m, '+-') || 'e' || n.e AS NUMERIC)"
    read = "CAST(ltrim(n.m, '+') || 'e' || n.e AS FLOAT8)"
    number = (
        f"SELECT CASE WHEN ltrim(n.i || n.f, '0') = '' THEN {ZERO} WHEN n.p > {LARGE} THEN {signed} "
        f"WHEN n.p < {SMALL} THEN {ZERO} "
        f"WHEN n.p = {LARGE} THEN CASE WHEN {exact} >= {TOO_LARGE} THEN {signed} ELSE {read} END "
        f"WHEN n.p = {SMALL} THEN CASE WHEN {exact} < {TOO_SMALL} THEN {ZERO} ELSE {read} END ELSE {read} END "
        f"FROM (SELECT *, {MAGNITUDE} AS p FROM ({_pieces('t.t')} OFFSET 0) AS n OFFSET 0) AS n"
    )
    return (
        f"(SELECT CASE WHEN length(t.t) > {LONGEST} THEN NULL WHEN t.t ~ '{DOUBLE}' THEN ({number}) "
        f"WHEN t.t IN ('inf', 'infinity', '+inf', '+infinity') THEN {INFINITE} "
        f"WHEN t.t IN ('-inf', '-infinity') THEN {real(float('-inf'))} "
        f"WHEN t.t IN ('nan', '+nan', '-nan') THEN {NAN} END FROM (SELECT {_trimmed(text)} AS t OFFSET 0) AS t)"
    )


def read_whole(text: str) -> str:
    """Read an integer: decimal (rounded, halves away from zero), binary or hexadecimal."""
    exact = "CAST(ltrim(n.m, '+') || 'e' || n.e AS NUMERIC)"
    fits = f"abs(n.e) <= {2**15 - 1} AND length(n.i) <= 19 AND CAST('0' || n.i AS NUMERIC) <= 9223372036854775808"
    number = (
        f"SELECT CASE WHEN NOT ({fits}) THEN NULL WHEN ltrim(n.i || n.f, '0') = '' THEN 0 WHEN n.p > 19 THEN NULL "
        f"WHEN n.p < 0 THEN 0 WHEN round({exact}) {IN_RANGE} THEN CAST({exact} AS BIGINT) END "
        f"FROM (SELECT *, {MAGNITUDE} AS p FROM ({_pieces('t.t')} OFFSET 0) AS n OFFSET 0) AS n"
    )
    bits = "CAST(CAST({0} AS BIT(64)) AS BIGINT)"
    bare = "ltrim(replace(substr(t.r, 3), '_', ''), '0')"
    hexadecimal, binary = bits.format(f"'x' || lpad({bare}, 16, '0')"), bits.format(f"lpad({bare}, 64, '0')")
    return (
        f"(SELECT CASE WHEN length(t.t) > {LONGEST} THEN NULL WHEN t.t ~ '{WHOLE}' THEN ({number}) "
        f"WHEN t.r ~ '{_radix_pattern('x', '0-9a-f')}' "
        f"THEN CASE WHEN {bare} ~ '^[0-7]?[0-9a-f]{{0,15}}$' THEN {hexadecimal} END "
        f"WHEN t.r ~ '{_radix_pattern('b', '01')}' THEN CASE WHEN length({bare}) < 64 THEN {binary} END END "
        f"FROM (SELECT {_trimmed(text)} AS t, lower(ltrim({text}, {SPACES})) AS r OFFSET 0) AS t)"
    )


def _radix_pattern(letter: str, digits: str) -> str:
    return f"^0{letter}[{digits}]+(?:_[{digits}]+)*$"


def read_boolean(text: str) -> str:
    """Read TRUE or FALSE."""
    return (
        f"(SELECT CASE WHEN t.t IN ('true', 't', 'yes', 'y', '1') THEN TRUE "
        f"WHEN t.t IN ('false', 'f', 'no', 'n', '0') THEN FALSE END FROM (SELECT lower({text}) AS t OFFSET 0) AS t)"
    )


READERS: Mapping[Type, Callable[[str], str]] = {
    Type.BOOLEAN: read_boolean,
    Type.INTEGER: read_whole,
    Type.FLOAT: read_double,
    Type.DATE: read_date,
    Type.TIME: read_time,
    Type.TIMESTAMP: read_timestamp,
}


PIECE = re.compile(r"%(-?.)|(\s+)|([^%\s]+)")
WIDTHS = {"Y": 4, "j": 3, **dict.fromkeys("ydHImMS", 2)}
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)


def _words_pattern(words: Sequence[str]) -> str:
    """Pattern of one of some words, in either case."""
    listed = ("".join(f"[{c}{c.upper()}]" for c in word) for word in words)
    return f"({'|'.join(listed)})"


def _group(directive: str) -> str:
    if directive in WIDTHS:
        # Pattern of a number: as many digits as there are, at most `width`.
        width = WIDTHS[directive]
        return f"([0-9]{{{width}}}|[0-9]{{1,{width - 1}}}(?![0-9]))"
    return {
        "b": _words_pattern([m[:3] for m in MONTHS]),
        "B": _words_pattern(MONTHS),
        "p": _words_pattern(("am", "pm")),
    }[directive]


def _pattern(written: str) -> tuple[str, dict[str, str]] | None:
    """Return the pattern and the group of each directive; None where a directive is repeated."""
    parts, groups = list[str](), dict[str, str]()
    for directive, space, literal in PIECE.findall(written):
        name = directive.removeprefix("-")
        if space:
            parts.append(f"{SPACE}+")
        elif literal or name == "%":
            parts.append(
                "".join(f"\\u{ord(c):04X}" if ord(c) < 0x10000 else f"\\U{ord(c):08X}" for c in literal or "%")
            )
        elif name in groups:
            return None
        else:
            groups[name] = f"p.g[{len(groups) + 1}]"
            parts.append(_group(name))
    return f"^{SPACE}*{''.join(parts)}{SPACE}*$", groups


def _number(groups: Mapping[str, str], name: str, otherwise: int) -> str:
    return f"CAST({groups[name]} AS INTEGER)" if name in groups else str(otherwise)


def _year(groups: Mapping[str, str]) -> str:
    if "y" not in groups:
        return _number(groups, "Y", 1900)
    short = _number(groups, "y", 0)
    return f"CASE WHEN {short} < 69 THEN 2000 ELSE 1900 END + {short}"


def _month(groups: Mapping[str, str]) -> str:
    for name, length in (("b", 3), ("B", 9)):
        if name in groups:
            words = ", ".join(f"'{month[:length]}'" for month in MONTHS)
            return f"array_position(ARRAY[{words}], lower({groups[name]}))"
    return _number(groups, "m", 1)


def _hour(groups: Mapping[str, str]) -> tuple[str, str]:
    """Return the hour and the condition that it is valid."""
    given = _number(groups, "I" if "I" in groups else "H", 0)
    allowed = f"{given} BETWEEN {1 if 'I' in groups else 0} AND {12 if 'I' in groups or 'p' in groups else 23}"
    if "p" not in groups:
        return given, allowed
    return f"({given} % 12 + CASE WHEN lower({groups['p']}) = 'pm' THEN 12 ELSE 0 END)", allowed


def _is_unambiguous(written: str, groups: Mapping[str, str]) -> bool:
    """Return True if no field is given twice and the format does not start with a space."""
    once = ({"Y", "y"}, {"m", "b", "B"}, {"H", "I"}, {"j", "m"}, {"j", "b"}, {"j", "B"}, {"j", "d"})
    return bool(written) and not written[0].isspace() and all(len(names & set(groups)) < 2 for names in once)


def _read_format(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    no_windows(dialect, expr)
    written = expr.arguments[1]
    value = written.value if isinstance(written, Literal) else None
    parsed = _pattern(value) if isinstance(value, str) else None
    if not isinstance(value, str) or parsed is None or not _is_unambiguous(value, parsed[1]):
        raise dialect.lacks("reading a timestamp in this format")
    pattern, groups = parsed
    (hour, allowed), minute, second = _hour(groups), _number(groups, "M", 0), _number(groups, "S", 0)
    named = {"y": _year(groups), "m": _month(groups), "d": _number(groups, "d", 1), "j": _number(groups, "j", 1)}
    numbers = ", ".join(
        f"{text} AS {name}" for name, text in {**named, "h": hour, "n": minute, "s": second, "ok": allowed}.items()
    )
    valid = f"{valid_day('q.y', 'q.m', 'q.d')} AND q.j BETWEEN 1 AND 366 AND q.ok AND q.n < 60 AND q.s < 60"
    day = f"CAST({as_date('q.y', 'q.m', 'q.d')} AS TIMESTAMP)"
    timestamp = f"{day} + make_interval(days => q.j - 1, hours => q.h, mins => q.n, secs => q.s)"
    match = f"SELECT regexp_match({collated(texts[0])}, {dialect.string(pattern)}) AS g OFFSET 0"
    return f"(SELECT CASE WHEN {valid} THEN {timestamp} END FROM (SELECT {numbers} FROM ({match}) AS p OFFSET 0) AS q)"


FORMATS: Mapping[str, Writer] = {"read_time": _read_format}
