"""Reading text as DuckDB reads it. What PostgreSQL would refuse is told apart by patterns before anything is read."""

from collections.abc import Callable, Mapping

from hedgerow.dialects.postgres.doubles import INFINITE, NAN, ZERO, real
from hedgerow.dialects.postgres.numbers import IN_RANGE
from hedgerow.dialects.postgres.reading_times import read_date, read_moment, read_time
from hedgerow.expressions.types import Type

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
