"""Binding CAST. What cannot be read is NULL; how numbers become whole differs between dialects."""

from sqlglot import exp

from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce, literals, zones
from hedgerow.plan.handlers import Binder, Handlers, unsupported, whole
from hedgerow.plan.syntax import dialect_of, span_of

CASTS = {
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT"), "cast_integer"),
    **dict.fromkeys(("DOUBLE", "FLOAT"), "cast_float"),
    **dict.fromkeys(("VARCHAR", "TEXT", "CHAR", "NVARCHAR"), "cast_text"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "DATETIME"), "cast_timestamp"),
    "DATE": "cast_date",
    "TIME": "cast_time",
    "BOOLEAN": "cast_boolean",
}
DECIMALS = {"duckdb": (18, 3), "spark": (10, 0), "snowflake": (38, 0)}
"""DECIMAL without digits; in the other dialects it has as many as it needs."""


def _cast(node: exp.Cast, binder: Binder) -> Expr:
    kind = node.to.this.name if isinstance(node.to.this, exp.DType) else ""
    if kind in {"TIMESTAMPTZ", "TIMESTAMPLTZ"}:
        return _instant(binder.bind(node.this), node, binder)
    if kind in {"DECIMAL", "BIGDECIMAL"}:
        return _decimal(node, binder.bind(node.this))
    if kind not in CASTS:
        raise unsupported(node, hint="Cast to BIGINT, DOUBLE, DECIMAL, VARCHAR, DATE, TIMESTAMP or BOOLEAN.")
    value = binder.bind(node.this)
    if isinstance(value, Literal) and isinstance(value.value, str) and CASTS[kind] in {"cast_date", "cast_timestamp"}:
        return literals.moment(value.value, Type.DATE if kind == "DATE" else Type.TIMESTAMP)
    if isinstance(value, Literal) and isinstance(value.value, str) and kind == "TIME":
        return literals.clock(value.value)
    if CASTS[kind] == "cast_integer":
        return to_whole(value, dialect_of(node))
    if CASTS[kind] == "cast_text":
        return _shortened(coerce.call("cast_text", [value], span_of(node)), node)
    return coerce.call(CASTS[kind], [value], span_of(node))


def _instant(value: Expr, node: exp.Cast, binder: Binder) -> Expr:
    """A point in time: text as it says itself, and a date and time as one in the time zone of the catalog."""
    if isinstance(value, Literal) and isinstance(value.value, str):
        return literals.moment(value.value, Type.TIMESTAMP, binder.zone)
    if value.type is Type.TEXT:
        return zones.read_instant(value, binder.zone)
    return value if zones.is_instant(value) else coerce.call("cast_timestamp", [value], span_of(node))


def to_whole(value: Expr, dialect: str) -> Expr:
    """The value as a whole number: cut in Spark and SQLite, rounded elsewhere (halves to even, or away from zero)."""
    if value.type in {Type.FLOAT, Type.DECIMAL} and dialect in {"spark", "sqlite"}:
        value = coerce.call("trunc", [value])
    elif value.type is Type.FLOAT and dialect in {"bigquery", "snowflake"}:
        value = coerce.call("round", [value])
    return coerce.call("cast_integer", [value])


def _shortened(value: Expr, node: exp.Cast) -> Expr:
    """VARCHAR(n) cuts in PostgreSQL; elsewhere the length is not looked at."""
    sizes = [s.name for s in node.to.expressions]
    if dialect_of(node) != "postgres" or len(sizes) != 1 or not sizes[0].isdigit() or len(sizes[0]) > 8:
        return value
    return coerce.call("left", [value, whole(int(sizes[0]))])


def _decimal(node: exp.Cast, value: Expr) -> Expr:
    given = [s.name for s in node.to.expressions]
    if not all(s.isdigit() and len(s) <= 2 for s in given):
        raise unsupported(node)
    digits = tuple(int(s) for s in given) or DECIMALS.get(dialect_of(node), ())
    number = coerce.to_float(value)
    if not digits:
        return number
    precision, scale = digits[0], digits[1] if len(digits) > 1 else 0
    if not 0 <= scale <= precision <= 38 or precision == 0:
        raise unsupported(node, hint="DECIMAL(p, s) has p of at most 38 digits, s of them after the point.")
    return coerce.call("fixed", [number, whole(precision), whole(scale)], span_of(node))


def _to_kind(name: str, node: exp.Expr, binder: Binder) -> Expr:
    return coerce.call(name, [binder.bind(node.this)], span_of(node))


HANDLERS: Handlers = {
    exp.Cast: (("this", "to"), _cast),
    exp.TryCast: (("this", "to"), _cast),
    exp.ToDouble: (("this",), lambda n, b: _to_kind("cast_float", n, b)),
    exp.ToBoolean: (("this",), lambda n, b: _to_kind("cast_boolean", n, b)),
    exp.String: (("this",), lambda n, b: _to_kind("cast_text", n, b)),
}
