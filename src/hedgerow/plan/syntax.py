"""Syntax and its meaning: tables of plain functions, positions in the text, and hints for refused syntax."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from sqlglot import exp

from hedgerow.errors import Remedy, Span
from hedgerow.sql.remedies import replaced

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
"""Marks that the parser leaves on nodes; they have no effect."""


def arguments_of(node: exp.Expr, names: tuple[str, ...], *, ordered: bool = True) -> list[exp.Expr] | None:
    """Return the arguments in order, up to the first that is missing; None where the node has other arguments.

    Without `ordered`, any of them may be missing.
    """
    extra = [k for k, v in node.args.items() if k not in names and k not in IGNORED and v not in (None, [], False)]
    if extra:
        return None
    arguments = [node.args.get(name) for name in names]
    present = [argument for argument in arguments if argument is not None]
    return present if not ordered or arguments[: len(present)] == present else None


def dialect_of(node: exp.Expr) -> str:
    """Return the dialect that the node was written in; nodes of our own are DuckDB's."""
    return str(node.meta.get("dialect", "duckdb"))


def span_of(node: exp.Expr) -> Span | None:
    """Return the position of the node in the text, as far as the parser records it."""
    positions = [n.meta for n in node.walk() if "start" in n.meta]
    if not positions:
        return None
    first = min(positions, key=lambda m: m["start"])
    return Span(first["start"], max(m["end"] for m in positions) + 1, first["line"])


def text_of(node: exp.Expr, limit: int = 60) -> str:
    """The node as short text, for messages and for columns without a name."""
    try:
        text = node.sql()
    except (ValueError, TypeError, LookupError, AttributeError, AssertionError):  # the writer's own mistakes
        text = type(node).__name__.upper()
    return text if len(text) <= limit else text[: limit - 1] + "…"


MOST_LISTED = 20
CURLY = "‘’“”„‚´"
CONSTANT_DATE = "Write the date itself: DATE '2026-01-31'."
TEXT = "Write text in single quotes: {}. Double quotes are for names."
NAMES = 'Write names as they are, or in double quotes: "{}".'

OTHER_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("MEAN", "AVERAGE"), "AVG(x)"),
    **dict.fromkeys(("STD", "STDEVP"), "STDDEV(x)"),
    **dict.fromkeys(("VAR", "VARP"), "VARIANCE(x)"),
    **dict.fromkeys(("PERCENTILE", "PERCENTILE_APPROX", "APPROX_QUANTILES", "APPROX_PERCENTILE"), "QUANTILE(x, 0.9)"),
    **dict.fromkeys(("APPROX_COUNT_DISTINCT", "APPROX_DISTINCT", "NUNIQUE", "UNIQ"), "COUNT(DISTINCT x)"),
    **dict.fromkeys(("SUMIF", "SUM_IF"), "SUM(x) FILTER (WHERE condition)"),
    **dict.fromkeys(("AVGIF", "AVERAGEIF"), "AVG(x) FILTER (WHERE condition)"),
    **dict.fromkeys(("DATE_FORMAT", "FORMAT_DATE", "FORMAT", "FORMAT_TIMESTAMP", "DATENAME"), "STRFTIME(d, '%Y-%m')"),
    **dict.fromkeys(("TO_DATE", "PARSE_DATE", "STR_TO_DATE", "TO_TIMESTAMP"), "STRPTIME(s, '%Y-%m-%d')"),
    **dict.fromkeys(
        ("TIMESTAMPDIFF", "TIMESTAMP_DIFF", "DATEDIFF", "DATE_DIFF", "DAYS_BETWEEN", "JULIANDAY"),
        "DATE_DIFF('day', start, finish)",
    ),
    **dict.fromkeys(("TIMESTAMPADD", "DATEADD", "DATE_ADD", "ADDDATE"), "d + INTERVAL 1 MONTH"),
    **dict.fromkeys(("TRUNC", "DATE_TRUNC", "TIMESTAMP_TRUNC"), "DATE_TRUNC('month', d)"),
    **dict.fromkeys(("EXTRACT", "DATE_PART"), "EXTRACT(year FROM d)"),
    **dict.fromkeys(("ISNULL", "NVL2", "IFNA"), "COALESCE(x, 0)"),
    **dict.fromkeys(("CONVERT", "TO_NUMBER", "TO_VARCHAR", "STR"), "CAST(x AS VARCHAR)"),
    **dict.fromkeys(("IFELSE", "WHERE", "SWITCH"), "CASE WHEN condition THEN x ELSE y END"),
    **dict.fromkeys(("SPLIT", "STR_SPLIT", "STRING_SPLIT"), "SPLIT_PART(s, ',', 1)"),
    "EOMONTH": "LAST_DAY(d)",
    "INT": "CAST(x AS BIGINT)",
    "TOTAL": "SUM(x)",
    "UNIX_TIMESTAMP": "EPOCH(d)",
    "TOP": "LIMIT 10 at the end of the query",
    "ROWNUM": "LIMIT 10 at the end of the query",
}
"""Functions of other dialects and languages, with their replacements."""

COMMON = (
    *("COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "QUANTILE", "STDDEV", "VARIANCE", "CORR", "MODE", "HISTOGRAM"),
    *("ROUND", "FLOOR", "CEIL", "ABS", "SQRT", "LN", "EXP", "POWER", "GREATEST", "LEAST", "COALESCE", "NULLIF", "CAST"),
    *(
        "LOWER",
        "UPPER",
        "LENGTH",
        "SUBSTR",
        "SUBSTRING",
        "REPLACE",
        "TRIM",
        "CONCAT",
        "CONTAINS",
        "STARTS_WITH",
        "SPLIT_PART",
    ),
    *("DATE_TRUNC", "DATE_DIFF", "STRFTIME", "STRPTIME", "EXTRACT", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR"),
)

AGGREGATES = (
    *("COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "QUANTILE", "MODE", "HISTOGRAM", "STDDEV", "VARIANCE"),
    *("COVAR_POP", "CORR", "REGR_SLOPE", "RATIO", "RELATIVE_RISK", "ODDS_RATIO", "RISK_DIFFERENCE"),
)
"""Aggregates over people, by their best-known names."""

UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"})
VOLATILE_COLUMNS = frozenset({"SYSDATE", "SYSTIMESTAMP", "TODAY", "GETDATE"})


def function_name(node: exp.Expr) -> str | None:
    """The name of the function that `node` calls; None where it is other syntax."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper()
    if isinstance(node, exp.Func) and not isinstance(node, exp.Binary | exp.Cast | exp.Case | exp.Array):
        return str(node.meta.get("name") or node.sql_name()).upper()
    return None


def is_available(name: str) -> bool:
    """Return True if the function is available, so that only its arguments can be wrong."""
    return name in COMMON or name in AGGREGATES or name in {"DATEDIFF", "DATEPART"}


def function_hint(node: exp.Expr) -> str | None:
    """Return a hint for a function that is not available; None where there is none."""
    name = function_name(node)
    if name is None:
        return _syntax_hint(node)
    written = OTHER_NAMES.get(name) or OTHER_NAMES.get(name.replace("_", ""))
    if written is not None:
        return f"Write {written}."
    close = get_close_matches(name, COMMON, n=1, cutoff=0.78)
    return f"Did you mean {close[0]}?" if close and close[0] != name else None


def function_remedy(node: exp.Expr) -> Remedy | None:
    """Return the remedy of a function that is available by another name with the same arguments; None for any other."""
    name = function_name(node)
    if name is None or "start" not in node.meta:
        return None
    written = OTHER_NAMES.get(name) or OTHER_NAMES.get(name.replace("_", ""))
    close = get_close_matches(name, COMMON, n=1, cutoff=0.78)
    meant = written.removesuffix("(x)") if written else close[0] if close else name
    if meant == name or not meant.replace("_", "").isalpha():
        return None
    return replaced(Span(node.meta["start"], node.meta["end"] + 1, node.meta["line"]), meant)


def _syntax_hint(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Array) and len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Column):
        return NAMES.format(node.expressions[0].name)
    if isinstance(node, exp.Array) and isinstance(node.parent, exp.AggFunc):
        return "Write one call for each value of the list: QUANTILE(x, 0.25), QUANTILE(x, 0.75)."
    if isinstance(node, exp.ArrayOverlaps):
        return "Write AND between conditions."
    if isinstance(node, exp.In):
        return "Write a list of constants in brackets: x IN (1, 2, 3)."
    if isinstance(node, exp.Is):
        return "Write IS NULL or IS NOT NULL; compare with = or <>."
    if isinstance(node, exp.Any | exp.All):
        return "Compare with one value, or use IN (SELECT …)."
    return None


def column_hint(node: exp.Column, columns: Iterable[str]) -> str:
    """Return a hint for a column that does not exist, given the existing `columns`."""
    known = list(dict.fromkeys(columns))
    if any(sign in node.name for sign in CURLY):
        return "Write text in straight single quotes: 'north'."
    alias = _alias_hint(node)
    if alias is not None:
        return alias
    if node.name.upper() in VOLATILE_COLUMNS:
        return CONSTANT_DATE
    if node.name.upper() in UNITS and isinstance(node.parent, exp.Func) and function_hint(node.parent):
        return str(function_hint(node.parent))
    named = name_hint(node.name, known, "The columns are")
    quoted = bool(node.this.args.get("quoted"))
    is_close = probably_meant(node.name, known) is not None
    if not quoted and (is_close or not _is_compared(node)):
        return named
    text = TEXT.format("'" + node.name.replace("'", "''") + "'")
    return text if quoted and not is_close and _is_compared(node) else f"{named} {text}"


def name_hint(name: str, names: Iterable[str], begin: str) -> str:
    """Return the closest name, or all names, shortened where there are many."""
    known = list(names)
    closest = probably_meant(name, known)
    if closest is not None:
        return f"Did you mean {closest!r}?"
    unique = list({known_name.lower(): known_name for known_name in known}.values())
    listed = ", ".join(unique[:MOST_LISTED])
    return f"{begin} {listed}{', …' if len(unique) > MOST_LISTED else ''}." if unique else "Nothing has a name here."


def probably_meant(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that was probably meant; None if none is close."""
    known = {known_name.lower(): known_name for known_name in names}
    close = get_close_matches(name.lower(), known, n=1)
    return known[close[0]] if close else None


def table_hint(name: str, tables: Iterable[str]) -> str:
    """Return a hint for a table that does not exist, given the existing `tables`."""
    return name_hint(name, tables, "The tables are")


def _alias_hint(node: exp.Column) -> str | None:
    """Return a hint if the column is an alias of SELECT, which WHERE and ON cannot use."""
    select = node.find_ancestor(exp.Select)
    clause = node.find_ancestor(exp.Where, exp.Join, exp.Select)
    if select is None or isinstance(clause, exp.Select) or node.args.get("table"):
        return None
    named = next((column for column in select.expressions if column.alias.lower() == node.name.lower()), None)
    if named is None:
        return None
    if named.find(exp.AggFunc) is not None:
        condition = node.parent if isinstance(node.parent, exp.Predicate) else node
        return f"{node.name} is computed from groups, after WHERE: write HAVING {text_of(condition)}."
    return f"WHERE does not know the names that SELECT gives: write {text_of(named.unalias())} in place of {node.name}."


def _is_compared(node: exp.Expr) -> bool:
    """Return True if the node is where a constant usually is: right of a comparison, or in a list."""
    return isinstance(node.parent, exp.Predicate | exp.In) and node.arg_key != "this"
