"""Binding of conditionals, conversions and functions of numbers."""

import math
from collections.abc import Sequence

from sqlglot import exp

from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce, literals, time_functions
from hedgerow.plan.handlers import Binder, Handlers, constant_whole, strict, unsupported, whole
from hedgerow.plan.syntax import dialect_of, span_of

NULL = Literal(None, Type.NULL)


def same_type(name: str, nodes: Sequence[exp.Expr], binder: Binder) -> Expr:
    """A call whose arguments are all of one type."""
    exprs = [binder.bind(n) for n in nodes]
    return coerce.call(name, coerce.unify(exprs, span_of(nodes[0])), span_of(nodes[0]))


def choose(pairs: Sequence[tuple[Expr, Expr]], otherwise: Expr, node: exp.Expr) -> Expr:
    """CASE with bound conditions and values."""
    values = coerce.unify([*(value for _, value in pairs), otherwise], span_of(node))
    flat = [part for (condition, _), value in zip(pairs, values, strict=False) for part in (condition, value)]
    return coerce.call("case", [*flat, values[-1]], span_of(node))


def _between(node: exp.Between, binder: Binder) -> Expr:
    low, high = node.args["low"], node.args["high"]
    inside = _inside(node, low, high, binder)
    return coerce.call("or", [inside, _inside(node, high, low, binder)]) if node.args.get("symmetric") else inside


def _inside(node: exp.Between, low: exp.Expr, high: exp.Expr, binder: Binder) -> Expr:
    at_least = binder.compare("greater_or_equal", [node.this, low], node)
    return coerce.call("and", [at_least, binder.compare("less_or_equal", [node.this, high], node)])


def _in(node: exp.In, binder: Binder) -> Expr:
    listed = node.expressions or _unnested(node.args.get("unnest"))
    if not listed:
        raise unsupported(node, hint="Write a list of constants in brackets: x IN (1, 2, 3).")
    arguments = coerce.comparable([binder.bind(n) for n in [node.this, *listed]], span_of(node))
    return coerce.call("in", coerce.unify(arguments, span_of(node)), span_of(node))


def _unnested(node: exp.Expr | None) -> list[exp.Expr]:
    """The values of BigQuery's `IN UNNEST([1, 2, 3])`."""
    arrays = node.expressions if isinstance(node, exp.Unnest) else []
    return list(arrays[0].expressions) if len(arrays) == 1 and isinstance(arrays[0], exp.Array) else []


def _is(node: exp.Is, binder: Binder) -> Expr:
    if isinstance(node.expression, exp.Null):
        condition = coerce.call("is_null", [binder.bind(node.this)])
    elif isinstance(node.expression, exp.Boolean):
        condition = coerce.call("is_not_distinct", [binder.boolean(node.this, "IS"), binder.bind(node.expression)])
    else:
        raise unsupported(node)
    return coerce.call("not", [condition]) if node.args.get("negate") else condition


def _case(node: exp.Case, binder: Binder) -> Expr:
    branches = node.args["ifs"]
    if node.this is None:
        conditions = [binder.boolean(b.this, "CASE WHEN") for b in branches]
    else:
        conditions = [binder.compare("equal", [node.this, b.this], node) for b in branches]
    values = [binder.bind(b.args["true"]) for b in branches]
    otherwise = binder.bind(node.args.get("default") or exp.Null())
    return choose(list(zip(conditions, values, strict=True)), otherwise, node)


def _if(node: exp.If, binder: Binder) -> Expr:
    otherwise = binder.bind(node.args.get("false") or exp.Null())
    return choose([(binder.boolean(node.this, "IF"), binder.bind(node.args["true"]))], otherwise, node)


def _nvl2(node: exp.Nvl2, binder: Binder) -> Expr:
    not_null = coerce.call("not", [coerce.call("is_null", [binder.bind(node.this)])])
    return choose([(not_null, binder.bind(node.args["true"]))], binder.bind(node.args.get("false") or exp.Null()), node)


def _decode(node: exp.DecodeCase, binder: Binder) -> Expr | None:
    value, *rest = node.expressions
    if len(rest) < 2:
        return None
    sought, given = rest[0 : len(rest) // 2 * 2 : 2], rest[1::2]
    otherwise = binder.bind(rest[-1]) if len(rest) % 2 else NULL
    conditions = [binder.compare("is_not_distinct", [value, s], node) for s in sought]
    return choose(list(zip(conditions, map(binder.bind, given), strict=True)), otherwise, node)


def _extreme(name: str, node: exp.Least | exp.Greatest, binder: Binder) -> Expr:
    """Bind GREATEST and LEAST: some dialects skip NULL, in others NULL makes the result NULL; the parser says which."""
    arguments = coerce.unify([binder.bind(n) for n in [node.this, *node.expressions]], span_of(node))
    value = coerce.call(name, arguments, span_of(node))
    return value if node.args.get("ignore_nulls", True) else strict(arguments, value)


def zero_if_null(value: Expr) -> Expr:
    """ZEROIFNULL(x)."""
    return coerce.call("coalesce", coerce.unify([value, whole(0)]))


def null_if_zero(value: Expr) -> Expr:
    """NULLIFZERO(x)."""
    return coerce.call("nullif", coerce.unify([value, whole(0)]))


_CHOICES: Handlers = {
    exp.Between: (("this", "low", "high", "symmetric"), _between),
    exp.In: (("this", "expressions", "unnest"), _in),
    exp.Is: (("this", "expression", "negate"), _is),
    exp.Case: (("this", "ifs", "default"), _case),
    exp.If: (("this", "true", "false"), _if),
    exp.Nvl2: (("this", "true", "false"), _nvl2),
    exp.DecodeCase: (("expressions",), _decode),
    exp.Least: (("this", "expressions", "ignore_nulls"), lambda n, b: _extreme("least", n, b)),
    exp.Greatest: (("this", "expressions", "ignore_nulls"), lambda n, b: _extreme("greatest", n, b)),
    exp.Coalesce: (("this", "expressions"), lambda n, b: same_type("coalesce", [n.this, *n.expressions], b)),
    exp.Nullif: (("this", "expression"), lambda n, b: same_type("nullif", [n.this, n.expression], b)),
    exp.EqualNull: (
        ("this", "expression"),
        lambda n, b: b.compare("is_not_distinct", [n.this, n.expression], n),
    ),
}


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
"""Dialects in which DECIMAL without digits has fixed digits; in the others it has as many as it needs."""


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
        return literals.timestamp(value.value, Type.DATE if kind == "DATE" else Type.TIMESTAMP)
    if isinstance(value, Literal) and isinstance(value.value, str) and kind == "TIME":
        return literals.clock(value.value)
    if CASTS[kind] == "cast_integer":
        return to_whole(value, dialect_of(node))
    if CASTS[kind] == "cast_text":
        text, sizes = coerce.call("cast_text", [value], span_of(node)), [size.name for size in node.to.expressions]
        # VARCHAR(n) truncates in PostgreSQL; other dialects ignore the length.
        truncates = dialect_of(node) == "postgres" and len(sizes) == 1 and sizes[0].isdigit() and len(sizes[0]) <= 8
        return coerce.call("left", [text, whole(int(sizes[0]))]) if truncates else text
    return coerce.call(CASTS[kind], [value], span_of(node))


def _instant(value: Expr, node: exp.Cast, binder: Binder) -> Expr:
    """Return a point in time: text with its own offset, and a date and time in the time zone of the catalog."""
    if isinstance(value, Literal) and isinstance(value.value, str):
        return literals.timestamp(value.value, Type.TIMESTAMP, binder.zone)
    if value.type is Type.TEXT:
        return time_functions.read_instant(value, binder.zone)
    return value if time_functions.is_instant(value) else coerce.call("cast_timestamp", [value], span_of(node))


def to_whole(value: Expr, dialect: str) -> Expr:
    """The value as a whole number: truncated in Spark and SQLite, rounded elsewhere (half to even, or away from 0)."""
    if value.type in {Type.FLOAT, Type.DECIMAL} and dialect in {"spark", "sqlite"}:
        value = coerce.call("trunc", [value])
    elif value.type is Type.FLOAT and dialect in {"bigquery", "snowflake"}:
        value = coerce.call("round", [value])
    return coerce.call("cast_integer", [value])


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


_CONVERSIONS: Handlers = {
    exp.Cast: (("this", "to"), _cast),
    exp.TryCast: (("this", "to"), _cast),
    exp.ToDouble: (("this",), lambda n, b: _to_kind("cast_float", n, b)),
    exp.ToBoolean: (("this",), lambda n, b: _to_kind("cast_boolean", n, b)),
    exp.String: (("this",), lambda n, b: _to_kind("cast_text", n, b)),
}


MOST_BINS = 1_000_000


def _divide(node: exp.Div, binder: Binder) -> Expr:
    """Bind `/`, which divides whole numbers without a remainder in some dialects; the parser says in which."""
    arguments = [coerce.to_number(binder.bind(n)) for n in (node.this, node.expression)]
    both_whole = node.args.get("typed") and all(a.type is Type.INTEGER for a in arguments)
    return coerce.call("divide_whole" if both_whole else "divide", arguments, span_of(node))


def _divide_whole(node: exp.IntDiv, binder: Binder) -> Expr:
    return coerce.call("divide_whole", [binder.bind(node.this), binder.bind(node.expression)], span_of(node))


def _trunc(node: exp.Trunc, binder: Binder) -> Expr:
    value, places = binder.bind(node.this), node.args.get("decimals")
    if places is None:
        return coerce.call("trunc", [value], span_of(node))
    return coerce.call("trunc_places", [value, binder.bind(places)], span_of(node))


def _log(node: exp.Log, binder: Binder) -> Expr:
    if node.expression is None:
        return coerce.call("log10", [binder.bind(node.this)], span_of(node))
    base, value = binder.bind(node.this), binder.bind(node.expression)
    if isinstance(base, Literal) and base.value in {2, 10}:
        return coerce.call(f"log{base.value}", [value], span_of(node))
    return coerce.call("divide", [coerce.call("ln", [value]), coerce.call("ln", [base])], span_of(node))


def _width_bucket(node: exp.WidthBucket, binder: Binder) -> Expr:
    ends = [binder.bind(node.args[name]) for name in ("min_value", "max_value")]
    values = [float(e.value) for e in ends if isinstance(e, Literal) and e.type.is_numeric and e.value is not None]  # type: ignore[arg-type]
    bins = constant_whole(binder.bind(node.args["num_buckets"]), node, "The number of bins", 1, MOST_BINS)
    if len(values) != 2 or not values[0] < values[1] or not math.isfinite(values[1] - values[0]):
        raise unsupported(node, hint="Give the bins two constants in order: WIDTH_BUCKET(x, 0, 100, 10).")
    bounds = [coerce.to_float(end) for end in ends]
    return coerce.call("width_bucket", [binder.bind(node.this), *bounds, whole(bins)], span_of(node))


_NUMBERS: Handlers = {
    exp.Div: (("this", "expression"), _divide),
    exp.IntDiv: (("this", "expression"), _divide_whole),
    exp.Trunc: (("this", "decimals"), _trunc),
    exp.Log: (("this", "expression"), _log),
    exp.WidthBucket: (("this", "min_value", "max_value", "num_buckets"), _width_bucket),
    exp.Pi: ((), lambda *_: Literal(math.pi, Type.FLOAT)),
}

HANDLERS: Handlers = {**_CHOICES, **_NUMBERS, **_CONVERSIONS}
