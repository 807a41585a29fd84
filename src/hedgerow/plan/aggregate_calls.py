"""Syntax of aggregates: the function, its arguments, DISTINCT and FILTER, and bins of histograms."""

from collections.abc import Callable, Sequence
from decimal import Decimal

from sqlglot import exp

from hedgerow.aggregates import lookup as noisy
from hedgerow.aggregates.bins import MOST_BINS, MOST_VALUES
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.exact_aggregates import ExactAggregate, lookup
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.coerce import call
from hedgerow.plan.handlers import Binder, unsupported
from hedgerow.plan.syntax import arguments_of, span_of, text_of


def histograms_as_bins(select: exp.Select) -> exp.Select:
    """Replace each HISTOGRAM(x, [edges]) of a SELECT list by one column for every bin."""
    if not any(_histogram(item) for item in select.expressions):
        return select
    plain = select.copy()
    plain.set("expressions", [column for item in plain.expressions for column in _columns(item)])
    return plain


def _histogram(item: exp.Expr) -> exp.Anonymous | None:
    inner = item.this if isinstance(item, exp.Alias) else item
    inner = inner.this if isinstance(inner, exp.Filter) else inner
    return inner if isinstance(inner, exp.Anonymous) and str(inner.this).upper() == "HISTOGRAM" else None


def _columns(item: exp.Expr) -> list[exp.Expr]:
    histogram = _histogram(item)
    if histogram is None:
        return [item]
    name = item.alias or "histogram"
    edges = _edges(histogram)
    shown = [text_of(edge) for edge in edges]
    columns: list[exp.Expr] = []
    for number in range(len(edges) - 1):
        end = "]" if number == len(edges) - 2 else ")"
        column = item.copy()
        node = _histogram(column)
        if node is not None:
            node.set("this", "HISTOGRAM_BIN")
            number_node = exp.Literal.number(number)
            number_node.meta.update(histogram.meta)
            node.set("expressions", [node.expressions[0], number_node, *(edge.copy() for edge in edges)])
        inner = column.this if isinstance(column, exp.Alias) else column
        label = f"{name} [{shown[number]}, {shown[number + 1]}{end}"
        columns.append(exp.alias_(inner, label, quoted=True))
    return columns


def _edges(node: exp.Anonymous) -> list[exp.Expr]:
    arguments = node.expressions
    if len(arguments) == 2 and isinstance(arguments[1], exp.Array) and 2 <= len(arguments[1].expressions) <= MOST_BINS:
        return list(arguments[1].expressions)
    raise UnsupportedSQLError(
        "HISTOGRAM takes a value and a list of edges.",
        code="type-mismatch",
        hint="Write HISTOGRAM(x, [0, 10, 20, 30]).",
        span=span_of(node),
    )


CONSTANTS = {bool: Type.BOOLEAN, int: Type.INTEGER, float: Type.FLOAT, str: Type.TEXT}


def constant_of(value: object) -> Literal:
    """Return a declared value as a constant."""
    return Literal(value, CONSTANTS[type(value)])  # type: ignore[arg-type]


def mode_of(value: Expr, values: Sequence[object] | None, count: Callable[[int], Expr], node: exp.Expr) -> Expr:
    """Return the declared value with the largest noisy count, the first of equals; `count` gives the counts."""
    plain = value.type in {Type.TEXT, Type.INTEGER, Type.FLOAT, Type.BOOLEAN}
    if values is None or not plain or not 0 < len(values) <= MOST_VALUES:
        raise UnsupportedSQLError(
            f"{text_of(node)} needs a column whose values the catalog lists, at most {MOST_VALUES} of them.",
            code="mode-values",
            hint="Group by it: SELECT x, COUNT(*) AS n FROM t GROUP BY x ORDER BY n DESC LIMIT 1.",
            span=span_of(node),
        )
    counts = [count(number) for number in range(len(values))]
    maximum = call("greatest", counts) if len(counts) > 1 else counts[0]
    branches: list[Expr] = []
    for frequency, shown in zip(counts, values, strict=True):
        constant = Literal(float(shown), Type.FLOAT) if value.type is Type.FLOAT else constant_of(shown)  # type: ignore[arg-type]
        branches += [Call("equal", (frequency, maximum), Type.BOOLEAN), constant]
    return Call("case", (*branches, Literal(None, Type.NULL)), value.type)


MOST = 10**6
SPELLINGS = {
    "STDDEV": "STDDEV_SAMP",
    "VARIANCE": "VAR_SAMP",
    "VARIANCE_POP": "VAR_POP",
    "LOGICAL_AND": "BOOL_AND",
    "LOGICAL_OR": "BOOL_OR",
    "PERCENTILE_CONT": "QUANTILE_CONT",
    "PERCENTILE_DISC": "QUANTILE_DISC",
    "APPROX_QUANTILE": "QUANTILE_CONT",
    "QUANTILE": "QUANTILE_CONT",
    "MAX_BY": "ARG_MAX",
    "MIN_BY": "ARG_MIN",
    "EVERY": "BOOL_AND",
    "GROUP_CONCAT": "STRING_AGG",
}

READ: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Lag: ("this", "offset", "default"),
    exp.Lead: ("this", "offset", "default"),
    exp.NthValue: ("this", "offset"),
    exp.ArgMax: ("this", "expression"),
    exp.ArgMin: ("this", "expression"),
    exp.Quantile: ("this", "quantile"),
    exp.PercentileCont: ("this", "expression"),
    exp.PercentileDisc: ("this", "expression"),
    exp.ApproxQuantile: ("this", "quantile"),
    **dict.fromkeys((exp.CovarPop, exp.CovarSamp, exp.Corr), ("this", "expression")),
    **dict.fromkeys((exp.RegrSlope, exp.RegrIntercept, exp.RegrR2), ("this", "expression")),
}


def name_of(node: exp.Expr) -> str | None:
    """Return the name of the aggregate or window function, if the node is one."""
    inner, _ = unwrap(node)
    if isinstance(inner, exp.Anonymous):
        name = str(inner.this).upper()
    elif isinstance(inner, exp.Func):
        name = type(inner).sql_name()
    else:
        return None
    name = SPELLINGS.get(name, name)
    return name if isinstance(inner, exp.AggFunc) or lookup(name) or noisy(name) or name == "RATIO" else None


def is_aggregate(node: exp.Expr) -> bool:
    """Return True if the node is an aggregate (with or without FILTER), and not a function that needs OVER."""
    name = name_of(node)
    if name is None:
        return False
    known = lookup(name)
    return known is None or known.windowed is not True


def has_aggregate(node: exp.Expr) -> bool:
    """Return True if the node contains an aggregate: not as a window function, and not in a nested query."""
    if isinstance(node, exp.Window):
        call, _ = unwrap(node.this)
        inner = [*call.iter_expressions(), *(node.args.get("partition_by") or [])]
        inner += node.args["order"].expressions if node.args.get("order") else []
        return any(has_aggregate(part) for part in inner)
    if isinstance(node, exp.Query):
        return False
    return is_aggregate(node) or any(has_aggregate(part) for part in node.iter_expressions())


def unwrap(node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """The function without its FILTER clause, and that clause's condition. Other spellings become the plain one."""
    where = None
    while isinstance(node, exp.Filter | exp.RespectNulls | exp.IgnoreNulls):
        if isinstance(node, exp.IgnoreNulls) and not isinstance(node.this, exp.AggFunc):
            raise unsupported(node, hint="IGNORE NULLS is not available.")
        where = node.expression.this if isinstance(node, exp.Filter) else where
        node = node.this
    if isinstance(node, exp.CountIf):
        where = node.this if where is None else exp.and_(node.this, where)
        node = exp.Count(this=exp.Star())
    if isinstance(node, exp.WithinGroup) and isinstance(node.this, exp.PercentileCont | exp.PercentileDisc | exp.Mode):
        node = _in_order(node, node.this)
    return node, where


def _in_order(node: exp.WithinGroup, function: exp.PercentileCont | exp.PercentileDisc | exp.Mode) -> exp.Expr:
    """Return the plain spelling of a function WITHIN GROUP (ORDER BY x)."""
    ordered = node.expression.expressions
    if len(ordered) != 1:
        raise unsupported(node, hint="Order by one value.")
    if isinstance(function, exp.Mode):
        if function.this is not None:
            raise unsupported(node, hint="Write MODE() WITHIN GROUP (ORDER BY x), or MODE(x).")
        return exp.Mode(this=ordered[0].this)
    return type(function)(this=ordered[0].this, expression=_share(function.this, ordered[0]))


def _share(share: exp.Expr, ordered: exp.Ordered) -> exp.Expr:
    """Return the share counted from the lowest value: one minus the share for WITHIN GROUP (ORDER BY x DESC)."""
    if not ordered.args.get("desc"):
        return share
    if not isinstance(share, exp.Literal) or share.is_string:
        raise unsupported(share, hint="Write a constant share, such as 0.5.")
    return exp.Literal.number(str(1 - Decimal(share.this)))


def arguments_of_summary(summary: ExactAggregate, node: exp.Expr, binder: Binder) -> tuple[bool, list[Expr]]:
    """Return a flag (True for DISTINCT) and the bound arguments of an exact aggregate."""
    distinct, nodes = argument_nodes(node)
    if distinct and summary.name not in {"COUNT", "MIN", "MAX"}:
        raise unsupported(node, hint="DISTINCT is available in COUNT.")
    arguments = [binder.bind(argument) for argument in nodes]
    for index, argument in enumerate(arguments):
        if index >= summary.constants and not isinstance(argument, Literal):
            raise unsupported(node, hint=f"{summary.name} needs a constant here.")
        if index >= summary.constants and not _fits(summary, index, argument):
            raise unsupported(node, hint=f"The constant in {summary.name} is out of range.")
    return distinct, arguments


def _fits(summary: ExactAggregate, index: int, argument: Expr) -> bool:
    """Return True if no row can make the constant argument fail."""
    value = argument.value if isinstance(argument, Literal) else None
    if summary.name == "QUANTILE_CONT" and index == 1:
        return isinstance(value, int | float | Decimal) and 0 <= value <= 1
    if summary.name in {"NTILE", "NTH_VALUE"}:
        return isinstance(value, int) and 1 <= value <= MOST
    if summary.name in {"LAG", "LEAD"} and index == 1:
        return isinstance(value, int) and 0 <= value <= MOST
    return True


def argument_nodes(node: exp.Expr) -> tuple[bool, list[exp.Expr]]:
    """Return a flag (True for DISTINCT) and the arguments as written; none for COUNT(*)."""
    if isinstance(node, exp.Anonymous):
        return False, list(node.expressions)
    if isinstance(node, exp.GroupConcat):
        return False, _listed(node)
    if type(node) in READ:
        arguments = arguments_of(node, READ[type(node)])
        if arguments is None:
            raise unsupported(node)
        return False, arguments
    if arguments_of(node, ("this",)) is None:
        raise unsupported(node, hint="It takes one value.")
    return _single(node)


def _listed(node: exp.GroupConcat) -> list[exp.Expr]:
    """Return the arguments of STRING_AGG(x, separator), which is always ordered by x; other orders are refused."""
    value, separator = node.this, node.args.get("separator") or exp.Literal.string(",")
    if isinstance(value, exp.Order):
        terms = [term for term in value.expressions if term.this == value.this and not term.args.get("desc")]
        value = value.this if len(terms) == len(value.expressions) else None
    if value is None or isinstance(value, exp.Distinct) or arguments_of(node, ("this", "separator")) is None:
        raise unsupported(node, hint="STRING_AGG(x, ',' ORDER BY x) is available.")
    return [value, separator]


def _single(node: exp.Expr) -> tuple[bool, list[exp.Expr]]:
    argument = node.args.get("this")
    if argument is None:
        return False, []
    if isinstance(argument, exp.Star):
        if any(argument.args.values()) or not isinstance(node, exp.Count):
            raise unsupported(node, hint="Write COUNT(*).")
        return False, []
    if isinstance(argument, exp.Distinct):
        if argument.args.get("on") or len(argument.expressions) != 1:
            raise UnsupportedSQLError(
                f"{text_of(node)}: COUNT takes one expression.",
                code="unsupported-expression",
                hint="Join the texts to count pairs: COUNT(DISTINCT a || '/' || b).",
                span=span_of(node),
            )
        return True, [argument.expressions[0]]
    return False, [argument]
