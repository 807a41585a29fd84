"""Find the aggregates of a statement that add up values without bounds, and insert bounds there.

The binder reports missing bounds. Marks (bounds that nobody would write) take their place until everything is bound.
Then the value inside each mark is known, and the bounds that were found replace the mark.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, TypeVar

from hedgerow.calibration.bounds_search import UnboundedValue
from hedgerow.errors import HedgerowError, Span
from hedgerow.expressions.nodes import Call, Literal
from hedgerow.plan.aggregate_calls import is_aggregate
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.plan.syntax import span_of, text_of
from hedgerow.sql.parse import parse

Tree = TypeVar("Tree")
Bind = Callable[[Any], LogicalPlan]

MISSING, LOOSER = "missing-bounds", "looser-bounds"
FIRST_MARK, MOST_MARKS = 7_419_583_620_117, 32
WRAPPERS = frozenset({"filter", "respectnulls", "ignorenulls"})
NO_VALUES = frozenset({"star", "distinct"})


@dataclass(frozen=True)
class MarkedStatement:
    """A statement with a mark wherever bounds are missing, its plan, and the values that lack bounds."""

    tree: Any
    plan: LogicalPlan
    values: Mapping[int, UnboundedValue]

    def with_bounds(self, bounds: Mapping[int, tuple[float, float]]) -> Any:  # noqa: ANN401 - the parser's own trees
        """Return the statement with bounds in place of the marks."""
        tree = self.tree.copy()
        for node in list(tree.walk()):
            mark = _mark_of(node)
            if mark is not None and mark in bounds:
                node.set("expressions", [node.expressions[0], *_clip(*bounds[mark]).expressions[1:]])
        return tree


def find_unbounded(tree: Any, bind: Bind) -> MarkedStatement:  # noqa: ANN401 - the parser's own trees
    """Mark the values of a statement that lack bounds; there are no marks if nothing is missing."""
    marks = 0
    while True:
        try:
            plan = bind(tree.copy())
        except HedgerowError as error:
            if error.code != MISSING or error.span is None or marks >= MOST_MARKS:
                raise
            wrapped = _wrapped(tree if marks else _named(tree), error.span, FIRST_MARK + marks, bind)
            if wrapped is None:
                raise
            tree, marks = wrapped[0], marks + wrapped[1]
        else:
            return MarkedStatement(tree, plan, dict(_unbounded_values(plan, marks)))


def _named(tree: Any) -> Any:  # noqa: ANN401 - likewise
    """Name every column after the text of the statement, so that no name contains a mark or a bound."""
    named = tree.copy()
    for select in [node for node in named.walk() if node.key == "select"]:
        for column in list(select.expressions):
            if column.key != "star" and not column.alias and not column.output_name:
                name = text_of(column).lower().replace('"', '""')
                alias = parse(f'SELECT 0 AS "{name}"', "duckdb").query.expressions[0].copy()
                column.replace(alias)
                alias.set("this", column)
                for name in ("start", "end", "line", "col"):
                    alias.args["alias"].meta.pop(name, None)
    return named


def _wrapped(tree: Any, span: Span, mark: int, bind: Bind) -> tuple[Any, int] | None:  # noqa: ANN401 - likewise
    """Mark as few values of the aggregate as necessary; return the statement and the number of marks."""
    indices = [i for i, node in enumerate(tree.walk()) if is_aggregate(node) and span_of(node) == span]
    for index in indices[:1]:
        count = len(_values(_node(tree, index)))
        sizes = (combinations(range(count), size) for size in range(1, count + 1))
        for chosen in chain.from_iterable(sizes):
            trial = tree.copy()
            values = _values(_node(trial, index))
            for number, at in enumerate(chosen):
                clip = _clip(-(mark + number), mark + number)
                values[at].replace(clip)
                clip.set("expressions", [values[at], *clip.expressions[1:]])
            if _mended(trial, span, bind):
                return trial, len(chosen)
    return None


def _mended(tree: Any, span: Span, bind: Bind) -> bool:  # noqa: ANN401 - likewise
    """Return True if the aggregate at `span` is bound now; errors elsewhere are reported later."""
    try:
        bind(tree.copy())
    except HedgerowError as error:
        return error.code != LOOSER and (error.code != MISSING or error.span != span)
    return True


def _node(tree: Any, index: int) -> Any:  # noqa: ANN401 - likewise
    return next(node for i, node in enumerate(tree.walk()) if i == index)


def _values(node: Any) -> list[Any]:  # noqa: ANN401 - likewise
    """Return the arguments of an aggregate, except constants."""
    while node.key in WRAPPERS:
        node = node.this
    if node.key == "withingroup":
        return [node.expression.expressions[0].this]
    parts = [part for part in node.iter_expressions() if part.key not in NO_VALUES and _mark_of(part) is None]
    return [part for part in parts if any(inner.key == "column" for inner in part.walk())]


def _clip(lower: float, upper: float) -> Any:  # noqa: ANN401 - likewise
    """Return CLIP(0, lower, upper), with no position in the text."""
    clip = parse(f"SELECT CLIP(0, {lower!r}, {upper!r})", "duckdb").query.expressions[0].copy()
    for node in clip.walk():
        for name in ("start", "end", "line", "col"):
            node.meta.pop(name, None)
    return clip


def _mark_of(node: Any) -> int | None:  # noqa: ANN401 - likewise
    if node.key != "anonymous" or str(node.this).upper() != "CLIP" or len(node.expressions) != 3:
        return None
    last = node.expressions[2]
    value = int(last.this) if last.key == "literal" and str(last.this).isdigit() else 0
    return value if value >= FIRST_MARK else None


def _unbounded_values(plan: LogicalPlan, marks: int) -> Iterator[tuple[int, UnboundedValue]]:
    """Yield each mark with the value that it encloses."""
    wanted = range(FIRST_MARK, FIRST_MARK + marks)
    for release in plan.releases:
        for call in release.calls:
            for value in call.arguments:
                last = (
                    value.arguments[-1]
                    if isinstance(value, Call) and value.function in {"clip", "clip_whole"}
                    else None
                )
                if isinstance(value, Call) and isinstance(last, Literal) and last.value in wanted:
                    yield int(str(last.value)), UnboundedValue(release, value.arguments[0], call.filter)
