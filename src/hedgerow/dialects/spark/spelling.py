"""The bricks of Spark SQL that every other table is built from.

Privacy: each of them is total by itself, in ANSI mode and without it, and reads no setting of the session: not its time
zone, not its rules for backslashes, not its variables.
"""

import math
import re

PLAIN = re.compile(r"[\w .,:;%+\-/()|~=<>!?@#&*\[\]]*")
"""Texts that every parser setting reads alike. Backslashes are escapes or not, and `${…}` is replaced, by settings."""

EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
MICROSECOND = "INTERVAL '0.000001' SECOND"
INFINITY = "CAST('Infinity' AS DOUBLE)"
NAN = "CAST('NaN' AS DOUBLE)"
LAST_DAY_NUMBER = 106_751_990
"""The last whole day that a count of microseconds in 64 bits reaches; the first is as far on the other side."""


def quoted(value: str) -> str:
    """A text, in hexadecimal where any of its signs could mean something to the parser."""
    if PLAIN.fullmatch(value):
        return f"'{value}'"
    return f"CAST(X'{value.encode().hex().upper()}' AS STRING)"


def double(text: str) -> str:
    """As a double."""
    return f"CAST({text} AS DOUBLE)"


def wide_double(text: str) -> str:
    """A decimal of up to 38 digits and none after the point: its upper and its lower 64 bits, each as a double."""
    whole_64 = "18446744073709551616"
    upper = f"CASE WHEN {text} >= 0 THEN {text} DIV {whole_64}BD ELSE ({text} + 1) DIV {whole_64}BD - 1L END"
    lower = f"({text} - CAST({upper} AS DECIMAL(38, 0)) * {whole_64}BD)"
    negative = f"WHEN {text} BETWEEN -{whole_64}BD AND -1 THEN -{double(f'(-{text} - 1)')} - 1D"
    return f"CASE {negative} ELSE {double(lower)} + {double(upper)} * {whole_64}D END"


def whole(text: str) -> str:
    """As a 64-bit integer."""
    return f"CAST({text} AS BIGINT)"


def real(value: float) -> str:
    """A double. The suffix makes it one under every setting."""
    if not math.isfinite(value):
        return NAN if math.isnan(value) else INFINITY if value > 0 else f"(-{INFINITY})"
    return f"{value!r}D" if value >= 0 and not repr(value).startswith("-") else f"({value!r}D)"


def integer(value: int) -> str:
    """A whole number: of 32 bits, of 64, or a decimal."""
    suffix = "" if abs(value) < 1 << 31 else "L" if -(1 << 63) <= value < 1 << 63 else "BD"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def moment_of_date(date: str) -> str:
    """Midnight of a date; NULL where 64 bits do not reach."""
    reached = f"unix_date({date}) BETWEEN -{LAST_DAY_NUMBER} AND {LAST_DAY_NUMBER}"
    return f"CAST(CASE WHEN {reached} THEN {date} END AS TIMESTAMP_NTZ)"


def moment_of_micros(micros: str) -> str:
    """The point in time so many microseconds after the beginning of 1970."""
    return f"try_add({EPOCH}, try_multiply({MICROSECOND}, {micros}))"


def floored(text: str) -> str:
    """The floor of a double, as a double. Spark's own is a 64-bit integer, and overflows."""
    return f"(rint({text}) - CAST(rint({text}) > {text} AS INT))"


def raised(text: str) -> str:
    """The least whole number that is not below, as a double."""
    return f"(rint({text}) + CAST(rint({text}) < {text} AS INT))"


def cut(text: str) -> str:
    """A double without its fraction; what is left over by an infinite one is no number."""
    return f"({text} - nanvl({text} % 1D, 0D))"


def rounded(text: str) -> str:
    """The nearest whole number, as a double; halves away from zero."""
    return f"round({text})"
