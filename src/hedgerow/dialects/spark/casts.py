"""CAST. Text that cannot be parsed becomes NULL.

Text is parsed as in DuckDB, except for hexadecimal and binary numbers, words for dates (`epoch`, `infinity`), years of
one digit or more than four, and the hour 24.
"""

from collections.abc import Callable, Mapping

from hedgerow.dialects.base import Dialect
from hedgerow.dialects.spark.spelling import Typed, bigint, double, midnight, quoted, real, rounded
from hedgerow.expressions.nodes import Column, Expr
from hedgerow.expressions.types import Type, decimal_size

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
TIMESTAMP = f"\\A{SPACE}*+{DAY}(?:(?:T| ++){CLOCK}{ZONE}{SPACE}*+)?\\z"
TRUE, FALSE = ("true", "t", "1", "yes", "y"), ("false", "f", "0", "no", "n")
NAMES = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "STRING",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP_NTZ",
}


def casts(dialect: Dialect) -> Mapping[str, Typed]:
    """Return the casts to every type except TIME, which Spark does not store."""

    def to(target: Type) -> Typed:
        return lambda call, texts: _cast(call.arguments[0], texts[0], target, dialect)

    return {f"{prefix}_{kind.value}": to(kind) for kind in NAMES for prefix in ("cast", "imposed")}


def _cast(expr: Expr, text: str, target: Type, dialect: Dialect) -> str:
    if expr.type is target and target is not Type.INTEGER:
        return text
    writer = WRITERS.get((expr.type, target))
    if writer is not None:
        return writer(text)
    if (expr.type, target) == (Type.DECIMAL, Type.TEXT):
        return _decimal_text(expr, text)
    if (expr.type, target) == (Type.FLOAT, Type.TEXT):
        raise dialect.lacks("a cast of a DOUBLE to text")
    return f"CAST(NULL AS {NAMES[target]})"


def _cleaned(text: str) -> str:
    return CLEANED.format(spaces=SPACES, text=text)


def _decimal_text(expr: Expr, text: str) -> str:
    """A decimal with all its digits. Beyond a scale of six, Spark writes small numbers with an exponent."""
    _, scale = (decimal_size(expr.native) if isinstance(expr, Column) else None) or (0, 0)
    if scale <= 6:
        return f"CAST({text} AS STRING)"
    absolute, sign = f"abs({text})", f"CASE WHEN {text} < 0 THEN '-' ELSE '' END"
    after = f"lpad(CAST(CAST(({absolute} % 1) * 1{'0' * scale}BD AS DECIMAL({scale}, 0)) AS STRING), {scale}, '0')"
    return f"concat({sign}, CAST(floor({absolute}) AS STRING), '.', {after})"


def _rounded_integer(text: str) -> str:
    """Round a double to an integer, halves to even."""
    inside = f"rint({text}) >= {real(-(2.0**63))} AND rint({text}) < {real(2.0**63)}"
    return f"CAST(CASE WHEN {inside} THEN rint({text}) END AS BIGINT)"


def _read_integer(text: str) -> str:
    """Read an integer, rounded halves away from zero."""
    exact = f"try_cast(CASE WHEN {text} RLIKE {IS_NUMBER} THEN {_cleaned(text)} END AS DECIMAL(38, 18))"
    return f"try_cast({rounded(exact)} AS BIGINT)"


def _read_boolean(text: str) -> str:
    yes, no = (", ".join(map(quoted, words)) for words in (TRUE, FALSE))
    return f"CASE WHEN lower({text}) IN ({yes}) THEN TRUE WHEN lower({text}) IN ({no}) THEN FALSE END"


def _read_timestamp(text: str) -> str:
    read = f"regexp_replace({text}, {quoted(TIMESTAMP)}, {quoted('00$1-$3-$4 $5')})"
    return f"try_cast(CASE WHEN {text} RLIKE {quoted(TIMESTAMP)} THEN {read} END AS TIMESTAMP_NTZ)"


def _read_date(text: str) -> str:
    """Read a date, or that of a timestamp."""
    read = f"regexp_replace({text}, {quoted(DATE)}, {quoted('00$1-$3-$4')})"
    alone = f"try_cast(CASE WHEN {text} RLIKE {quoted(DATE)} THEN {read} END AS DATE)"
    return f"COALESCE({alone}, CAST({_read_timestamp(text)} AS DATE))"


def _years(text: str, day: str, rest: str) -> str:
    """ISO 8601, without a plus sign beyond the year 9999."""
    return f"CASE WHEN year({day}) BETWEEN 1 AND 9999 THEN CAST({text} AS STRING) ELSE {rest} END"


def date_text(text: str) -> str:
    """A date as text."""
    return _years(text, text, f"replace(CAST({text} AS STRING), '+', '')")


def _timestamp_text(text: str) -> str:
    return _years(text, f"CAST({text} AS DATE)", f"replace(CAST({text} AS STRING), '+', '')")


def _is_not_zero(text: str) -> str:
    return f"({text} <> 0)"


WRITERS: Mapping[tuple[Type, Type], Callable[[str], str]] = {
    **dict.fromkeys(((kind, Type.BOOLEAN) for kind in (Type.INTEGER, Type.FLOAT, Type.DECIMAL)), _is_not_zero),
    (Type.TEXT, Type.BOOLEAN): _read_boolean,
    **dict.fromkeys(((kind, Type.INTEGER) for kind in (Type.INTEGER, Type.BOOLEAN)), bigint),
    (Type.FLOAT, Type.INTEGER): _rounded_integer,
    (Type.DECIMAL, Type.INTEGER): lambda text: f"try_cast({rounded(text)} AS BIGINT)",
    (Type.TEXT, Type.INTEGER): _read_integer,
    **dict.fromkeys(((kind, Type.FLOAT) for kind in (Type.INTEGER, Type.DECIMAL, Type.BOOLEAN)), double),
    (Type.TEXT, Type.FLOAT): lambda text: (
        f"try_cast(CASE WHEN {text} RLIKE {IS_DOUBLE} THEN {_cleaned(text)} END AS DOUBLE)"
    ),
    **dict.fromkeys(
        ((kind, Type.TEXT) for kind in (Type.INTEGER, Type.BOOLEAN)), lambda text: f"CAST({text} AS STRING)"
    ),
    (Type.DATE, Type.TEXT): date_text,
    (Type.TIMESTAMP, Type.TEXT): _timestamp_text,
    (Type.TIMESTAMP, Type.DATE): lambda text: f"CAST({text} AS DATE)",
    (Type.TEXT, Type.DATE): _read_date,
    (Type.DATE, Type.TIMESTAMP): midnight,
    (Type.TEXT, Type.TIMESTAMP): _read_timestamp,
}
