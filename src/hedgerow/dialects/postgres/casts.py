"""Casts. Text is parsed as DuckDB parses it; text that cannot be parsed becomes NULL."""

from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.base import Dialect, Writer
from hedgerow.dialects.postgres.doubles import LARGEST, NAN, power, real
from hedgerow.dialects.postgres.naming import shared
from hedgerow.dialects.postgres.numbers import IN_RANGE, bigint, no_windows
from hedgerow.dialects.postgres.reading import READERS
from hedgerow.expressions.nodes import Call, Column
from hedgerow.expressions.types import Type

Cast = Callable[[Dialect, Call, str], str]
NAMES: Mapping[Type, str] = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.DECIMAL: "NUMERIC",
    Type.FLOAT: "FLOAT8",
    Type.TEXT: "TEXT",
    Type.DATE: "DATE",
    Type.TIME: "TIME",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.NULL: "TEXT",
}
UNBOUNDED = "NUMERIC"
"""Type of decimals without a fixed precision. Their values can exceed the range of doubles."""

LAST_DAY = "DATE '294247-01-10'"
"""Last day whose midnight DuckDB can hold."""


def _same(_dialect: Dialect, _call: Call, text: str) -> str:
    return text


def _simple(name: str) -> Cast:
    return lambda _dialect, _call, text: f"CAST({text} AS {name})"


def _float_to_whole(dialect: Dialect, call: Call, text: str) -> str:
    """Round halves to even."""
    value = dialect.as_double(text, call.arguments[0])
    inside = f"{{0}} >= {real(-(2.0**63))} AND {{0}} < {power(63)}"
    return shared(f"CASE WHEN {inside} THEN CAST({{0}} AS BIGINT) END", call.arguments, (value,))


def _decimal_to_whole(_dialect: Dialect, call: Call, text: str) -> str:
    """Round halves away from zero."""
    return shared(f"CASE WHEN round({{0}}) {IN_RANGE} THEN CAST({{0}} AS BIGINT) END", call.arguments, (text,))


def _whole_to_whole(_dialect: Dialect, call: Call, text: str) -> str:
    return bigint(call.arguments[0], text)


def _to_float(dialect: Dialect, call: Call, text: str) -> str:
    value = call.arguments[0]
    if isinstance(value, Column) and value.native.upper() == UNBOUNDED:
        return _unbounded(text)
    return dialect.as_double(text, value)


def _unbounded(text: str) -> str:
    """Convert a column of unbounded precision: overflow becomes infinity, underflow becomes zero."""
    beyond, nothing = f"CAST({real(LARGEST)} AS NUMERIC)", "CAST(1e-320 AS NUMERIC)"
    return (
        f"CASE WHEN abs({text}) BETWEEN {nothing} AND {beyond} OR {text} = 'NaN' THEN CAST({text} AS FLOAT8) "
        f"WHEN {text} > {beyond} THEN {real(float('inf'))} WHEN {text} < -{beyond} THEN {real(float('-inf'))} "
        f"WHEN {text} IS NOT NULL THEN {real(0.0)} END"
    )


def _number_to_boolean(_dialect: Dialect, _call: Call, text: str) -> str:
    return f"({text} <> 0)"


def _float_to_text(dialect: Dialect, call: Call, text: str) -> str:
    """Shortest digits that round-trip, in DuckDB's format: with a point, or an exponent from 16 digits on."""
    value = dialect.as_double(text, call.arguments[0])
    no_windows(dialect, call)
    plain = "CAST(v.a0 AS TEXT)"
    long = "abs(v.a0) >= 1e15 AND abs(v.a0) < 1e16"
    written = f"CASE WHEN {long} THEN CAST(CAST({plain} AS NUMERIC) AS TEXT) ELSE {plain} END"
    infinite = "CASE WHEN v.a0 > 0 THEN 'inf' ELSE '-inf' END"
    special = f"WHEN v.a0 = {NAN} THEN 'nan' WHEN abs(v.a0) > {real(LARGEST)} THEN {infinite}"
    shown = "CASE WHEN strpos(s.t, '.') = 0 AND strpos(s.t, 'e') = 0 THEN s.t || '.0' ELSE s.t END"
    return (
        f"(SELECT CASE {special} ELSE (SELECT {shown} FROM (SELECT {written} AS t OFFSET 0) AS s) END "
        f"FROM (SELECT {value} AS a0 OFFSET 0) AS v)"
    )


def _boolean_to_float(_dialect: Dialect, _call: Call, text: str) -> str:
    return f"CAST(CAST({text} AS INTEGER) AS FLOAT8)"


def _boolean_to_whole(_dialect: Dialect, _call: Call, text: str) -> str:
    return f"CAST(CAST({text} AS INTEGER) AS BIGINT)"


def midnight(text: str) -> str:
    """Midnight of a date; NULL outside the range of timestamps. `text` is repeated, so it must be short."""
    return f"CASE WHEN {text} <= {LAST_DAY} OR {text} = 'infinity' THEN CAST({text} AS TIMESTAMP) END"


def _date_to_timestamp(_dialect: Dialect, call: Call, text: str) -> str:
    return shared(midnight("{0}"), call.arguments, (text,))


def _calendar_to_text(name: str) -> Cast:
    """Convert to ISO 8601, with `(BC)` after the date as DuckDB writes it."""

    def write(_dialect: Dialect, call: Call, text: str) -> str:
        before = f"{{0}} < {name} '0001-01-01' AND isfinite({{0}})"
        turned = "regexp_replace(CAST({0} AS TEXT), '^(\\S+)( \\S+)? BC$', '\\1 (BC)\\2')"
        return shared(f"CASE WHEN {before} THEN {turned} ELSE CAST({{0}} AS TEXT) END", call.arguments, (text,))

    return write


def _text_to(kind: Type) -> Cast:
    def write(dialect: Dialect, call: Call, text: str) -> str:
        no_windows(dialect, call)
        return READERS[kind](f'({text}) COLLATE "C"')

    return write


def _other_to(kind: Type) -> Cast:
    """Convert a type unknown to us by way of its text, which PostgreSQL has for every type."""

    def write(_dialect: Dialect, _call: Call, text: str) -> str:
        return READERS[kind](f'CAST({text} AS TEXT) COLLATE "C"')

    return write


def _null(kind: Type) -> Cast:
    return lambda _dialect, _call, _text: f"CAST(NULL AS {NAMES[kind]})"


CASTS: Mapping[tuple[Type, Type], Cast] = {
    **{(kind, kind): _same for kind in (Type.BOOLEAN, Type.DATE, Type.TIME, Type.TIMESTAMP)},
    (Type.TEXT, Type.TEXT): _simple("TEXT"),
    (Type.FLOAT, Type.INTEGER): _float_to_whole,
    (Type.DECIMAL, Type.INTEGER): _decimal_to_whole,
    (Type.INTEGER, Type.INTEGER): _whole_to_whole,
    (Type.BOOLEAN, Type.INTEGER): _boolean_to_whole,
    **{(kind, Type.FLOAT): _to_float for kind in (Type.FLOAT, Type.DECIMAL, Type.INTEGER)},
    (Type.BOOLEAN, Type.FLOAT): _boolean_to_float,
    **{(kind, Type.BOOLEAN): _number_to_boolean for kind in (Type.FLOAT, Type.DECIMAL, Type.INTEGER)},
    (Type.FLOAT, Type.TEXT): _float_to_text,
    (Type.DATE, Type.TEXT): _calendar_to_text("DATE"),
    (Type.TIMESTAMP, Type.TEXT): _calendar_to_text("TIMESTAMP"),
    **{(kind, Type.TEXT): _simple("TEXT") for kind in (Type.INTEGER, Type.DECIMAL, Type.BOOLEAN, Type.TIME)},
    (Type.TIMESTAMP, Type.DATE): _simple("DATE"),
    (Type.TIMESTAMP, Type.TIME): _simple("TIME"),
    (Type.DATE, Type.TIMESTAMP): _date_to_timestamp,
    **{(Type.TEXT, kind): _text_to(kind) for kind in READERS},
    **{(Type.OTHER, kind): _other_to(kind) for kind in READERS},
    (Type.OTHER, Type.TEXT): _simple("TEXT"),
}


def _cast(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    source, target = expr.arguments[0].type, expr.type
    return CASTS.get((source, target), _null(target))(dialect, expr, texts[0])


TARGETS = (Type.BOOLEAN, Type.INTEGER, Type.FLOAT, Type.TEXT, Type.DATE, Type.TIME, Type.TIMESTAMP)
CONVERSIONS: Mapping[str, Writer] = {
    f"{prefix}_{kind.value}": _cast for prefix in ("cast", "imposed") for kind in TARGETS
}
