"""Which syntax nodes mean which of our functions: the allow-list of the text's side.

Each entry names the syntax class, our function and the arguments that are read. A node that carries
any further argument is refused, because we would not know what it means.
"""

from sqlglot import exp

from hedgerow.errors import Span

PLAIN: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Not: ("not", ("this",)),
    exp.Sqrt: ("sqrt", ("this",)),
    exp.Cbrt: ("cbrt", ("this",)),
    exp.Ln: ("ln", ("this",)),
    exp.Exp: ("exp", ("this",)),
    exp.Sin: ("sin", ("this",)),
    exp.Cos: ("cos", ("this",)),
    exp.Tan: ("tan", ("this",)),
    exp.Asin: ("asin", ("this",)),
    exp.Acos: ("acos", ("this",)),
    exp.Atan: ("atan", ("this",)),
    exp.Atan2: ("atan2", ("this", "expression")),
    exp.Radians: ("radians", ("this",)),
    exp.Degrees: ("degrees", ("this",)),
    exp.Floor: ("floor", ("this",)),
    exp.Ceil: ("ceil", ("this",)),
    exp.Sign: ("sign", ("this",)),
    exp.Round: ("round", ("this", "decimals")),
    exp.Pow: ("power", ("this", "expression")),
    exp.IsNan: ("is_nan", ("this",)),
    exp.IsInf: ("is_infinite", ("this",)),
    exp.SafeDivide: ("divide", ("this", "expression")),
    exp.BitwiseAnd: ("bit_and", ("this", "expression")),
    exp.BitwiseOr: ("bit_or", ("this", "expression")),
    exp.BitwiseXor: ("bit_xor", ("this", "expression")),
    exp.Lower: ("lower", ("this",)),
    exp.Upper: ("upper", ("this",)),
    exp.Reverse: ("reverse", ("this",)),
    exp.Length: ("length", ("this",)),
    exp.StartsWith: ("starts_with", ("this", "expression")),
    exp.EndsWith: ("ends_with", ("this", "expression")),
    exp.Contains: ("contains", ("this", "expression")),
    exp.Translate: ("translate", ("this", "from_", "to")),
    exp.Ascii: ("code_point", ("this",)),
}

WHOLE_OR_FLOAT: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Add: ("add", ("this", "expression")),
    exp.Sub: ("subtract", ("this", "expression")),
    exp.Mul: ("multiply", ("this", "expression")),
    exp.Mod: ("remainder", ("this", "expression")),
    exp.Neg: ("negate", ("this",)),
    exp.Abs: ("abs", ("this",)),
}

COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "equal",
    exp.NEQ: "unequal",
    exp.LT: "less",
    exp.LTE: "less_or_equal",
    exp.GT: "greater",
    exp.GTE: "greater_or_equal",
    exp.NullSafeEQ: "is_not_distinct",
    exp.NullSafeNEQ: "is_distinct",
}

NAMED: dict[str, str] = {
    "ISNULL": "is_null",
    "ISFINITE": "is_finite",
    "PREFIX": "starts_with",
    "SUFFIX": "ends_with",
    "BTRIM": "trim",
}

IGNORED = frozenset(
    {"typed", "safe", "big_int", "_type", "return_type", "binary", "requires_string"}
    | {"casts_non_integer_decimals", "fractions_supported", "input_type_preserved"}
)
"""Marks the parser leaves on nodes; they ask for nothing."""


def arguments_of(node: exp.Expr, names: tuple[str, ...], *, ordered: bool = True) -> list[exp.Expr] | None:
    """The arguments in order, up to the first that is missing; None where the node carries others.

    Not `ordered`: any of them may be missing.
    """
    extra = [k for k, v in node.args.items() if k not in names and k not in IGNORED and v not in (None, [], False)]
    if extra:
        return None
    found = [node.args.get(name) for name in names]
    present = [argument for argument in found if argument is not None]
    return present if not ordered or found[: len(present)] == present else None


def dialect_of(node: exp.Expr) -> str:
    """The dialect that the node was written in; what we made ourselves is DuckDB's."""
    return str(node.meta.get("dialect", "duckdb"))


def span_of(node: exp.Expr) -> Span | None:
    """Where the node stands in the text, as far as the parser remembers it."""
    places = [n.meta for n in node.walk() if "start" in n.meta]
    if not places:
        return None
    first = min(places, key=lambda m: m["start"])
    return Span(first["start"], max(m["end"] for m in places) + 1, first["line"])


def text_of(node: exp.Expr, limit: int = 60) -> str:
    """The node as short text, for messages and for columns without a name."""
    try:
        text = node.sql()
    except (ValueError, TypeError, LookupError, AttributeError, AssertionError):  # the writer's own mistakes
        text = type(node).__name__.upper()
    return text if len(text) <= limit else text[: limit - 1] + "…"
