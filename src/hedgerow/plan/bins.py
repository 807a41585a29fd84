"""HISTOGRAM as its bins, and MODE as the value of the fullest one."""

from collections.abc import Callable, Sequence

from sqlglot import exp

from hedgerow.aggregates.bins import MOST_BINS, MOST_VALUES
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.coerce import call
from hedgerow.plan.syntax import span_of, text_of


def histograms_as_bins(select: exp.Select) -> exp.Select:
    """Each HISTOGRAM(x, [edges]) of a SELECT list as one column for every bin."""
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
    found = _histogram(item)
    if found is None:
        return [item]
    name = item.alias or "histogram"
    edges = _edges(found)
    shown = [text_of(edge) for edge in edges]
    columns: list[exp.Expr] = []
    for number in range(len(edges) - 1):
        end = "]" if number == len(edges) - 2 else ")"
        made = item.copy()
        node = _histogram(made)
        if node is not None:
            node.set("this", "HISTOGRAM_BIN")
            number_node = exp.Literal.number(number)
            number_node.meta.update(found.meta)
            node.set("expressions", [node.expressions[0], number_node, *(edge.copy() for edge in edges)])
        inner = made.this if isinstance(made, exp.Alias) else made
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
    """A declared value as a constant."""
    return Literal(value, CONSTANTS[type(value)])  # type: ignore[arg-type]


def mode_of(value: Expr, values: Sequence[object] | None, count: Callable[[int], Expr], node: exp.Expr) -> Expr:
    """The declared value whose noisy count is the largest, the first of equals; `count` gives the counts."""
    plain = value.type in {Type.TEXT, Type.INTEGER, Type.FLOAT, Type.BOOLEAN}
    if values is None or not plain or not 0 < len(values) <= MOST_VALUES:
        raise UnsupportedSQLError(
            f"{text_of(node)} needs a column whose values the catalog lists, at most {MOST_VALUES} of them.",
            code="mode-values",
            hint="Group by it: SELECT x, COUNT(*) AS n FROM t GROUP BY x ORDER BY n DESC LIMIT 1.",
            span=span_of(node),
        )
    counts = [count(number) for number in range(len(values))]
    most = call("greatest", counts) if len(counts) > 1 else counts[0]
    branches: list[Expr] = []
    for each, shown in zip(counts, values, strict=True):
        constant = Literal(float(shown), Type.FLOAT) if value.type is Type.FLOAT else constant_of(shown)  # type: ignore[arg-type]
        branches += [Call("equal", (each, most), Type.BOOLEAN), constant]
    return Call("case", (*branches, Literal(None, Type.NULL)), value.type)
