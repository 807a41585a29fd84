"""Building blocks of Spark SQL.

Privacy: each is total, with and without ANSI mode, and depends on no setting of the session: neither its time zone nor
its rules for backslashes nor its variables.
"""

import math
import re
from collections.abc import Callable, Sequence

from hedgerow.expressions.nodes import Call

Typed = Callable[[Call, Sequence[str]], str]
"""Writes a call, given the texts of its arguments."""

PLAIN = re.compile(r"[\w .,:;%+\-/()|~=<>!?@#&*\[\]]*")
"""Texts that mean the same under all settings. Backslashes and `${…}` depend on settings."""

EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
MICROSECOND = "INTERVAL '0.000001' SECOND"
INFINITY = "CAST('Infinity' AS DOUBLE)"
NAN = "CAST('NaN' AS DOUBLE)"
LAST_DAY_NUMBER = 106_751_990
"""The last day that microseconds in 64 bits can reach; the first is its negative."""


def quoted(value: str) -> str:
    """A text, in hexadecimal if it contains a character that the parser could interpret."""
    if PLAIN.fullmatch(value):
        return f"'{value}'"
    return f"CAST(X'{value.encode().hex().upper()}' AS STRING)"


def double(text: str) -> str:
    """A value as a double."""
    return f"CAST({text} AS DOUBLE)"


def wide_double(text: str) -> str:
    """A decimal of scale 0 as a double: its upper and its lower 64 bits are converted, then added."""
    whole_64 = "18446744073709551616"
    upper = f"CASE WHEN {text} >= 0 THEN {text} DIV {whole_64}BD ELSE ({text} + 1) DIV {whole_64}BD - 1L END"
    lower = f"({text} - CAST({upper} AS DECIMAL(38, 0)) * {whole_64}BD)"
    negative = f"WHEN {text} BETWEEN -{whole_64}BD AND -1 THEN -{double(f'(-{text} - 1)')} - 1D"
    return f"CASE {negative} ELSE {double(lower)} + {double(upper)} * {whole_64}D END"


def bigint(text: str) -> str:
    """A value as a 64-bit integer."""
    return f"CAST({text} AS BIGINT)"


def real(value: float) -> str:
    """A double as a constant, with the suffix that makes it one under every setting."""
    if not math.isfinite(value):
        return NAN if math.isnan(value) else INFINITY if value > 0 else f"(-{INFINITY})"
    return f"{value!r}D" if value >= 0 and not repr(value).startswith("-") else f"({value!r}D)"


def integer(value: int) -> str:
    """An integer as a constant: of 32 bits, of 64 bits, or a decimal."""
    suffix = "" if abs(value) < 1 << 31 else "L" if -(1 << 63) <= value < 1 << 63 else "BD"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def midnight(date: str) -> str:
    """Midnight of a date; NULL outside the range of timestamps."""
    reached = f"unix_date({date}) BETWEEN -{LAST_DAY_NUMBER} AND {LAST_DAY_NUMBER}"
    return f"CAST(CASE WHEN {reached} THEN {date} END AS TIMESTAMP_NTZ)"


def from_micros(micros: str) -> str:
    """The timestamp of microseconds since 1970."""
    return f"try_add({EPOCH}, try_multiply({MICROSECOND}, {micros}))"


def floored(text: str) -> str:
    """The floor of a double, as a double. Spark's own returns a 64-bit integer and overflows."""
    return f"(rint({text}) - CAST(rint({text}) > {text} AS INT))"


def raised(text: str) -> str:
    """The ceiling of a double, as a double."""
    return f"(rint({text}) + CAST(rint({text}) < {text} AS INT))"


def cut(text: str) -> str:
    """A double without its fraction. The remainder of an infinite one is NaN."""
    return f"({text} - nanvl({text} % 1D, 0D))"


def rounded(text: str) -> str:
    """A number rounded to a bigint one, halves away from zero."""
    return f"round({text})"
