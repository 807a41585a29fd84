"""Which syntax nodes mean which of our functions: the allow-list of the text's side.

Each entry names the syntax class, our function and the arguments that are read. A node that carries
any further argument is refused, because we would not know what it means.
"""

from sqlglot import exp

from hedgerow.errors import Span

PLAIN: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Not: ("not", ("this",)),
    exp.Sqrt: ("sqrt", ("this",)),
    exp.Ln: ("ln", ("this",)),
    exp.Exp: ("exp", ("this",)),
    exp.Sin: ("sin", ("this",)),
    exp.Cos: ("cos", ("this",)),
    exp.Atan: ("atan", ("this",)),
    exp.Radians: ("radians", ("this",)),
    exp.Degrees: ("degrees", ("this",)),
    exp.Floor: ("floor", ("this",)),
    exp.Ceil: ("ceil", ("this",)),
    exp.Trunc: ("trunc", ("this",)),
    exp.Sign: ("sign", ("this",)),
    exp.Round: ("round", ("this", "decimals")),
    exp.Pow: ("power", ("this", "expression")),
    exp.Lower: ("lower", ("this",)),
    exp.Upper: ("upper", ("this",)),
    exp.Reverse: ("reverse", ("this",)),
    exp.Length: ("length", ("this",)),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Left: ("left", ("this", "expression")),
    exp.Right: ("right", ("this", "expression")),
    exp.StrPosition: ("position", ("this", "substr")),
    exp.StartsWith: ("starts_with", ("this", "expression")),
    exp.Replace: ("replace", ("this", "expression", "replacement")),
    exp.Like: ("like", ("this", "expression")),
    exp.ILike: ("ilike", ("this", "expression")),
    exp.Year: ("extract_year", ("this",)),
    exp.Quarter: ("extract_quarter", ("this",)),
    exp.Month: ("extract_month", ("this",)),
    exp.Week: ("extract_week", ("this",)),
    exp.Day: ("extract_day", ("this",)),
    exp.DayOfMonth: ("extract_day", ("this",)),
    exp.DayOfWeek: ("extract_dayofweek", ("this",)),
    exp.DayOfWeekIso: ("extract_isodow", ("this",)),
    exp.DayOfYear: ("extract_dayofyear", ("this",)),
    exp.Hour: ("extract_hour", ("this",)),
    exp.Minute: ("extract_minute", ("this",)),
    exp.Second: ("extract_second", ("this",)),
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

NAMED: dict[str, str] = {"LOG10": "log10", "ISNULL": "is_null"}

IGNORED = frozenset(
    {"typed", "safe", "ignore_nulls", "coalesce", "big_int", "date_part_boundary", "_type", "return_type"}
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


def span_of(node: exp.Expr) -> Span | None:
    """Where the node stands in the text, as far as the parser remembers it."""
    places = [n.meta for n in node.walk() if "start" in n.meta]
    if not places:
        return None
    first = min(places, key=lambda m: m["start"])
    return Span(first["start"], max(m["end"] for m in places) + 1, first["line"])


def text_of(node: exp.Expr, limit: int = 60) -> str:
    """The node as short text, for messages and for columns without a name."""
    text = node.sql()
    return text if len(text) <= limit else text[: limit - 1] + "…"
