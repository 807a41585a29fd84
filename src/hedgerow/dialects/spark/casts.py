"""CAST: what cannot be read is NULL.

Text is read as DuckDB reads it, but for numbers in hexadecimal or binary, words for dates (`epoch`, `infinity`), years
of one digit or of more than four, and the hour 24.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.base import Dialect
from hedgerow.dialects.spark.spelling import double, moment_of_date, quoted, real, rounded, whole
from hedgerow.expressions.nodes import Call, Column, Expr
from hedgerow.expressions.types import Type

SPACE = "[\\x09-\\x0D ]"
DIGITS = "[0-9]++(?:_[0-9]++)*+"
NUMBER = f"(?:{DIGITS}(?:\\.(?:{DIGITS})?+)?+|\\.{DIGITS})(?:[eE][+-]?+[0-9]{{1,4}})?+"
WORD = "(?i:nan|inf|infinity)"
IS_NUMBER = quoted(f"\\A{SPACE}*+[+-]?+{NUMBER}{SPACE}*+\\z")
IS_DOUBLE = quoted(f"\\A{SPACE}*+[+-]?+(?:{NUMBER}|{WORD}){SPACE}*+\\z")
CLEANED = "replace(trim(BOTH {spaces} FROM {text}), '_', '')"
SPACES = quoted(" \t\n\v\f\r")
DAY = "([0-9]{2,4})([-/ \\\\])([0-9]{1,2})\\2([0-9]{1,2})"
CLOCK = "([0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:\\.[0-9]{0,6})?+)?+)[0-9]*+"
ZONE = "(?:Z| ?+[+-][0-9]{2}(?::?+[0-9]{2})?+| UTC)?+"
DATE = f"\\A{SPACE}*+{DAY}{SPACE}*+\\z"
MOMENT = f"\\A{SPACE}*+{DAY}(?:(?:T| ++){CLOCK}{ZONE}{SPACE}*+)?\\z"
TRUE, FALSE = ("true", "t", "1", "yes", "y"), ("false", "f", "0", "no", "n")
NAMES = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "STRING",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP_NTZ",
}


def casts(dialect: Dialect) -> Mapping[str, Callable[[Call, Sequence[str]], str]]:
    """One for each type but TIME, which Spark does not store."""

    def to(target: Type) -> Callable[[Call, Sequence[str]], str]:
        return lambda call, texts: _cast(call.arguments[0], texts[0], target, dialect)

    return {f"{who}_{kind.value}": to(kind) for kind in NAMES for who in ("cast", "imposed")}


def _cast(expr: Expr, text: str, target: Type, dialect: Dialect) -> str:
    if expr.type is target and target is not Type.INTEGER:
        return text
    writer = WRITERS.get((expr.type, target))
    if writer is not None:
        return writer(text)
    if (expr.type, target) == (Type.DECIMAL, Type.TEXT):
        return _decimal_text(expr, text)
    if (expr.type, target) == (Type.FLOAT, Type.TEXT):
        raise dialect.lacks("a number with a floating point as text")
    return f"CAST(NULL AS {NAMES[target]})"


def _cleaned(text: str) -> str:
    return CLEANED.format(spaces=SPACES, text=text)


def _decimal_text(expr: Expr, text: str) -> str:
    """All digits after the point. Beyond six of them, Spark writes small numbers with an exponent."""
    found = re.search(r",\s*(\d+)\s*\)", expr.native) if isinstance(expr, Column) else None
    scale = int(found.group(1)) if found else 0
    if scale <= 6:
        return f"CAST({text} AS STRING)"
    size, sign = f"abs({text})", f"CASE WHEN {text} < 0 THEN '-' ELSE '' END"
    after = f"lpad(CAST(CAST(({size} % 1) * 1{'0' * scale}BD AS DECIMAL({scale}, 0)) AS STRING), {scale}, '0')"
    return f"concat({sign}, CAST(floor({size}) AS STRING), '.', {after})"


def _rounded_whole(text: str) -> str:
    """Halves to the even neighbour."""
    inside = f"rint({text}) >= {real(-(2.0**63))} AND rint({text}) < {real(2.0**63)}"
    return f"CAST(CASE WHEN {inside} THEN rint({text}) END AS BIGINT)"


def _read_whole(text: str) -> str:
    """Halves away from zero."""
    exact = f"try_cast(CASE WHEN {text} RLIKE {IS_NUMBER} THEN {_cleaned(text)} END AS DECIMAL(38, 18))"
    return f"try_cast({rounded(exact)} AS BIGINT)"


def _read_boolean(text: str) -> str:
    yes, no = (", ".join(map(quoted, words)) for words in (TRUE, FALSE))
    return f"CASE WHEN lower({text}) IN ({yes}) THEN TRUE WHEN lower({text}) IN ({no}) THEN FALSE END"


def _read_moment(text: str) -> str:
    read = f"regexp_replace({text}, {quoted(MOMENT)}, {quoted('00$1-$3-$4 $5')})"
    return f"try_cast(CASE WHEN {text} RLIKE {quoted(MOMENT)} THEN {read} END AS TIMESTAMP_NTZ)"


def _read_date(text: str) -> str:
    """A date, or a timestamp without its time."""
    read = f"regexp_replace({text}, {quoted(DATE)}, {quoted('00$1-$3-$4')})"
    alone = f"try_cast(CASE WHEN {text} RLIKE {quoted(DATE)} THEN {read} END AS DATE)"
    return f"COALESCE({alone}, CAST({_read_moment(text)} AS DATE))"


def _years(text: str, day: str, rest: str) -> str:
    """Dates as ISO writes them, and beyond the year 9999 without a sign."""
    return f"CASE WHEN year({day}) BETWEEN 1 AND 9999 THEN CAST({text} AS STRING) ELSE {rest} END"


def date_text(text: str) -> str:
    """A date as text."""
    return _years(text, text, f"replace(CAST({text} AS STRING), '+', '')")


def _moment_text(text: str) -> str:
    return _years(text, f"CAST({text} AS DATE)", f"replace(CAST({text} AS STRING), '+', '')")


def _is_not_zero(text: str) -> str:
    return f"({text} <> 0)"


WRITERS: Mapping[tuple[Type, Type], Callable[[str], str]] = {
    **dict.fromkeys(((kind, Type.BOOLEAN) for kind in (Type.INTEGER, Type.FLOAT, Type.DECIMAL)), _is_not_zero),
    (Type.TEXT, Type.BOOLEAN): _read_boolean,
    **dict.fromkeys(((kind, Type.INTEGER) for kind in (Type.INTEGER, Type.BOOLEAN)), whole),
    (Type.FLOAT, Type.INTEGER): _rounded_whole,
    (Type.DECIMAL, Type.INTEGER): lambda text: f"try_cast({rounded(text)} AS BIGINT)",
    (Type.TEXT, Type.INTEGER): _read_whole,
    **dict.fromkeys(((kind, Type.FLOAT) for kind in (Type.INTEGER, Type.DECIMAL, Type.BOOLEAN)), double),
    (Type.TEXT, Type.FLOAT): lambda text: (
        f"try_cast(CASE WHEN {text} RLIKE {IS_DOUBLE} THEN {_cleaned(text)} END AS DOUBLE)"
    ),
    **dict.fromkeys(
        ((kind, Type.TEXT) for kind in (Type.INTEGER, Type.BOOLEAN)), lambda text: f"CAST({text} AS STRING)"
    ),
    (Type.DATE, Type.TEXT): date_text,
    (Type.TIMESTAMP, Type.TEXT): _moment_text,
    (Type.TIMESTAMP, Type.DATE): lambda text: f"CAST({text} AS DATE)",
    (Type.TEXT, Type.DATE): _read_date,
    (Type.DATE, Type.TIMESTAMP): moment_of_date,
    (Type.TEXT, Type.TIMESTAMP): _read_moment,
}
