"""Reading text as DuckDB reads it. What PostgreSQL would refuse is told apart by patterns before anything is read.

Dates and times are ISO, with some freedom. Time zones are read over: a timestamp has none.
"""

from collections.abc import Callable, Mapping

from hedgerow.dialects.postgres.doubles import INFINITE, NAN, ZERO, real
from hedgerow.dialects.postgres.numbers import IN_RANGE
from hedgerow.expressions.types import Type

LEAP = "({0} % 4 = 0 AND ({0} % 100 <> 0 OR {0} % 400 = 0))"
LEAST_YEAR, LAST_YEAR, LAST_MOMENT_YEAR = -4712, 5_874_896, 294_247
"""Years that PostgreSQL can hold, counted with a year 0."""

LAST_MOMENT = "TIMESTAMP '294247-01-10 04:00:54.775806'"
"""The last one that DuckDB can hold."""

SPACE = "[ \\t\\n\\u000B\\f\\r]"
DAY = f"^{SPACE}*(-?)([0-9]{{1,9}})([-/\\\\ ])([0-9]{{1,2}})\\3([0-9]{{1,2}})( \\([Bb][Cc]\\))?"
CLOCK = "([0-9]{1,9}):(?:([0-9]{1,2})(?::(?:([0-9]{1,2})(?:\\.([0-9]*))?)?)?)?"
OFFSET = "[+-][0-9]{2}(?::[0-9]{2}(?::[0-9]{2})?|[0-9]{2})?"
ZONE = f"(?:Z{SPACE}*|{OFFSET}{SPACE}*| [A-Za-z0-9_/+:-]*{SPACE}*)?"
BEHIND = f"(?:[ T]{SPACE}*|{SPACE}+){CLOCK}{ZONE}"
"""A time behind a date."""

ALONE = f"^{SPACE}*([0-9]{{1,9}}):(?:([0-9]{{1,2}})(?::(?:([0-9]{{1,2}})(?:\\.([0-9]*))?.*)?)?)?$"
"""A time by itself; whatever follows its seconds is read over."""


def valid_day(year: str, month: str, day: str) -> str:
    """Condition that there is such a day; the year is counted with a year 0."""
    february = f"CASE WHEN {LEAP.format(year)} THEN 29 ELSE 28 END"
    days = (
        f"CASE {month} WHEN 2 THEN {february} WHEN 4 THEN 30 WHEN 6 THEN 30 WHEN 9 THEN 30 WHEN 11 THEN 30 ELSE 31 END"
    )
    return f"{year} BETWEEN {LEAST_YEAR} AND {LAST_YEAR} AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {days}"


def made_day(year: str, month: str, day: str) -> str:
    """The day, which is valid; before Christ years are counted from -1."""
    return f"make_date(CASE WHEN {year} > 0 THEN {year} ELSE {year} - 1 END, {month}, {day})"


def _parsed(pattern: str, text: str) -> str:
    """The pieces of a date as numbers: `y`, `m`, `d`; and the rest of the match as an array `r`."""
    year = "CAST(g[2] AS INTEGER)"
    before = f"CASE WHEN g[1] = '' THEN 1 - {year} END"
    signed = f"CASE WHEN g[6] IS NOT NULL THEN {before} WHEN g[1] = '-' THEN -{year} ELSE {year} END"
    found = f"SELECT regexp_match({text}, '{pattern}') AS g OFFSET 0"
    numbers = f"{signed} AS y, CAST(g[4] AS INTEGER) AS m, CAST(g[5] AS INTEGER) AS d, g AS r"
    return f"SELECT {numbers} FROM ({found}) AS g OFFSET 0"


def _special(text: str, kind: str) -> str:
    """Words instead of a date."""
    words = {"infinity": "infinity", "inf": "infinity", "-infinity": "-infinity", "-inf": "-infinity", "epoch": "epoch"}
    shown = f"lower(btrim({text}, E' \\t\\n\\u000B\\f\\r'))"
    listed = " ".join(f"WHEN '{word}' THEN {kind} '{value}'" for word, value in words.items())
    return f"CASE {shown} {listed} END"


def _clock(first: int) -> str:
    """The time of day in microseconds, from the pieces of a match; NULL where there is none."""
    hour, minute, second = (f"CAST('0' || COALESCE(p.r[{first + i}], '') AS BIGINT)" for i in range(3))
    micros = f"CAST(rpad(left(COALESCE(p.r[{first + 3}], ''), 6), 6, '0') AS BIGINT)"
    total = f"(({hour} * 60 + {minute}) * 60 + {second}) * 1000000 + {micros}"
    there = f"p.r[{first}] IS NOT NULL AND {minute} < 60 AND {second} < 60"
    return f"CASE WHEN {there} AND {total} <= 86400000000 THEN {total} END"


def _as_moment(day: str, micros: str) -> str:
    return f"{day} + CAST({micros} AS FLOAT8) * INTERVAL '1 microsecond'"


def read_moment(text: str) -> str:
    """A moment: a date, or a date and a time."""
    pattern = f"{DAY}(?:{BEHIND})?$"
    day = f"CAST({made_day('p.y', 'p.m', 'p.d')} AS TIMESTAMP)"
    valid = f"{valid_day('p.y', 'p.m', 'p.d')} AND p.y <= {LAST_MOMENT_YEAR}"
    made = (
        f"CASE WHEN {valid} THEN CASE WHEN p.r[7] IS NULL THEN {day} ELSE {_as_moment(day, f'({_clock(7)})')} END END"
    )
    held = f"SELECT CASE WHEN s.v <= {LAST_MOMENT} THEN s.v END FROM (SELECT {made} AS v OFFSET 0) AS s"
    return (
        f"(SELECT COALESCE({_special('t.t', 'TIMESTAMP')}, (SELECT ({held}) FROM ({_parsed(pattern, 't.t')}) AS p)) "
        f"FROM (SELECT {text} AS t OFFSET 0) AS t)"
    )


def read_date(text: str) -> str:
    """A date; where a time follows, it must be one."""
    pattern = f"{DAY}(?:{SPACE}*|{BEHIND})$"
    clock = f"(p.r[7] IS NULL OR ({_clock(7)}) IS NOT NULL AND p.y <= {LAST_MOMENT_YEAR})"
    day_made = made_day("p.y", "p.m", "p.d")
    made = f"CASE WHEN {valid_day('p.y', 'p.m', 'p.d')} THEN CASE WHEN {clock} THEN {day_made} END END"
    return (
        f"(SELECT COALESCE({_special('t.t', 'DATE')}, (SELECT {made} FROM ({_parsed(pattern, 't.t')}) AS p)) "
        f"FROM (SELECT {text} AS t OFFSET 0) AS t)"
    )


def read_time(text: str) -> str:
    """A time of day, alone or behind a date."""
    alone = f"SELECT regexp_match({text}, '{ALONE}') AS r OFFSET 0"
    micros = f"(SELECT {_clock(1)} FROM ({alone}) AS p)"
    return (
        f"(SELECT COALESCE(CASE WHEN s.c = 86400000000 THEN TIME '24:00:00' "
        f"ELSE TIME '00:00:00' + CAST(s.c AS FLOAT8) * INTERVAL '1 microsecond' END, "
        f"CASE WHEN s.c IS NULL THEN CAST({read_moment(text)} AS TIME) END) FROM (SELECT {micros} AS c OFFSET 0) AS s)"
    )


SPACES = "E' \\t\\n\\u000B\\f\\r'"
LONGEST = 1_000
"""Numbers with more characters are not read."""

DIGITS = "[0-9]+(?:_[0-9]+)*"
MANTISSA = f"(?:{DIGITS}(?:\\.(?:{DIGITS})?)?|\\.{DIGITS})"
DOUBLE = f"^\\+?-?{MANTISSA}(?:e[+-]?{DIGITS})?$"
WHOLE = f"^[+-]?{MANTISSA}(?:e[+-]?{DIGITS}\\.?)?$"
TOO_LARGE = 2**1024 - 2**970
"""From here on the nearest double is infinite."""

TOO_SMALL = "2.4703282292062327209e-324"
"""Below this the nearest double is zero."""

LARGE, SMALL = 309, -323
"""Digits before the point, or zeros behind it, of numbers that may be infinite or zero as doubles."""


def _pieces(text: str) -> str:
    """A number in pieces: mantissa `m`, its digits before and behind the point `i` and `f`, and the exponent `e`."""
    bare = f"SELECT rtrim(replace({text}, '_', ''), '.') AS u OFFSET 0"
    split = f"SELECT split_part(u, 'e', 1) AS m, split_part(u, 'e', 2) AS x FROM ({bare}) AS u"
    whole, rest, tens = "ltrim(split_part(m, '.', 1), '+-0')", "split_part(m, '.', 2)", "ltrim(x, '+-0')"
    exponent = f"CASE WHEN length({tens}) > 6 THEN 999999 ELSE CAST('0' || {tens} AS INTEGER) END"
    return (
        f"SELECT m, {whole} AS i, {rest} AS f, CASE WHEN x LIKE '-%' THEN -1 ELSE 1 END * {exponent} AS e "
        f"FROM ({split} OFFSET 0) AS x"
    )


PLACE = "n.e + CASE WHEN n.i <> '' THEN length(n.i) ELSE length(ltrim(n.f, '0')) - length(n.f) END"


def _trimmed(text: str) -> str:
    return f"lower(btrim({text}, {SPACES}))"


def read_double(text: str) -> str:
    """A double; what is too large is infinite, what is too small is zero."""
    signed = f"CASE WHEN strpos(n.m, '-') > 0 THEN {real(float('-inf'))} ELSE {INFINITE} END"
    exact = "CAST(ltrim(n.m, '+-') || 'e' || n.e AS NUMERIC)"
    read = "CAST(ltrim(n.m, '+') || 'e' || n.e AS FLOAT8)"
    number = (
        f"SELECT CASE WHEN ltrim(n.i || n.f, '0') = '' THEN {ZERO} WHEN n.p > {LARGE} THEN {signed} "
        f"WHEN n.p < {SMALL} THEN {ZERO} "
        f"WHEN n.p = {LARGE} THEN CASE WHEN {exact} >= {TOO_LARGE} THEN {signed} ELSE {read} END "
        f"WHEN n.p = {SMALL} THEN CASE WHEN {exact} < {TOO_SMALL} THEN {ZERO} ELSE {read} END ELSE {read} END "
        f"FROM (SELECT *, {PLACE} AS p FROM ({_pieces('t.t')} OFFSET 0) AS n OFFSET 0) AS n"
    )
    return (
        f"(SELECT CASE WHEN length(t.t) > {LONGEST} THEN NULL WHEN t.t ~ '{DOUBLE}' THEN ({number}) "
        f"WHEN t.t IN ('inf', 'infinity', '+inf', '+infinity') THEN {INFINITE} "
        f"WHEN t.t IN ('-inf', '-infinity') THEN {real(float('-inf'))} "
        f"WHEN t.t IN ('nan', '+nan', '-nan') THEN {NAN} END FROM (SELECT {_trimmed(text)} AS t OFFSET 0) AS t)"
    )


def read_whole(text: str) -> str:
    """A whole number: digits, rounded halves away from zero, or bits, or hexadecimal digits."""
    exact = "CAST(ltrim(n.m, '+') || 'e' || n.e AS NUMERIC)"
    fits = f"abs(n.e) <= {2**15 - 1} AND length(n.i) <= 19 AND CAST('0' || n.i AS NUMERIC) <= 9223372036854775808"
    number = (
        f"SELECT CASE WHEN NOT ({fits}) THEN NULL WHEN ltrim(n.i || n.f, '0') = '' THEN 0 WHEN n.p > 19 THEN NULL "
        f"WHEN n.p < 0 THEN 0 WHEN round({exact}) {IN_RANGE} THEN CAST({exact} AS BIGINT) END "
        f"FROM (SELECT *, {PLACE} AS p FROM ({_pieces('t.t')} OFFSET 0) AS n OFFSET 0) AS n"
    )
    bits = "CAST(CAST({0} AS BIT(64)) AS BIGINT)"
    bare = "ltrim(replace(substr(t.r, 3), '_', ''), '0')"
    hexadecimal, binary = bits.format(f"'x' || lpad({bare}, 16, '0')"), bits.format(f"lpad({bare}, 64, '0')")
    return (
        f"(SELECT CASE WHEN length(t.t) > {LONGEST} THEN NULL WHEN t.t ~ '{WHOLE}' THEN ({number}) "
        f"WHEN t.r ~ '{_digits('x', '0-9a-f')}' "
        f"THEN CASE WHEN {bare} ~ '^[0-7]?[0-9a-f]{{0,15}}$' THEN {hexadecimal} END "
        f"WHEN t.r ~ '{_digits('b', '01')}' THEN CASE WHEN length({bare}) < 64 THEN {binary} END END "
        f"FROM (SELECT {_trimmed(text)} AS t, lower(ltrim({text}, {SPACES})) AS r OFFSET 0) AS t)"
    )


def _digits(letter: str, some: str) -> str:
    return f"^0{letter}[{some}]+(?:_[{some}]+)*$"


def read_flag(text: str) -> str:
    """TRUE or FALSE."""
    return (
        f"(SELECT CASE WHEN t.t IN ('true', 't', 'yes', 'y', '1') THEN TRUE "
        f"WHEN t.t IN ('false', 'f', 'no', 'n', '0') THEN FALSE END FROM (SELECT lower({text}) AS t OFFSET 0) AS t)"
    )


READERS: Mapping[Type, Callable[[str], str]] = {
    Type.BOOLEAN: read_flag,
    Type.INTEGER: read_whole,
    Type.FLOAT: read_double,
    Type.DATE: read_date,
    Type.TIME: read_time,
    Type.TIMESTAMP: read_moment,
}
