"""Which aggregates of a statement add up something that has no bounds, and the same statement with bounds there.

The binder says where bounds are missing. Marks take their place, which are bounds that nobody would write, until
everything is bound; then each mark is known by the value that it stands around, and is exchanged for bounds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, TypeVar

from hedgerow.calibration.ranges import Sought
from hedgerow.errors import HedgerowError, Span
from hedgerow.expressions.nodes import Call, Literal
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.plan.summarised import is_aggregate
from hedgerow.plan.syntax import span_of, text_of
from hedgerow.sql.parse import parse

Tree = TypeVar("Tree")
Bind = Callable[[Any], LogicalPlan]

MISSING, LOOSER = "missing-bounds", "looser-bounds"
FIRST_MARK, MOST_MARKS = 7_419_583_620_117, 32
WRAPPERS = frozenset({"filter", "respectnulls", "ignorenulls"})
NO_VALUES = frozenset({"star", "distinct"})


@dataclass(frozen=True)
class Marked:
    """A statement with a mark wherever bounds are missing, its plan, and the values that are marked."""

    tree: Any
    plan: LogicalPlan
    sought: Mapping[int, Sought]

    def with_bounds(self, bounds: Mapping[int, tuple[float, float]]) -> Any:  # noqa: ANN401 - the parser's own trees
        """The statement with bounds in place of the marks."""
        tree = self.tree.copy()
        for node in list(tree.walk()):
            mark = _mark_of(node)
            if mark is not None and mark in bounds:
                node.set("expressions", [node.expressions[0], *_clip(*bounds[mark]).expressions[1:]])
        return tree


def marked(tree: Any, bind: Bind) -> Marked:  # noqa: ANN401 - the parser's own trees
    """The statement with marks; as it is where nothing is missing."""
    marks = 0
    while True:
        try:
            plan = bind(tree.copy())
        except HedgerowError as error:
            if error.code != MISSING or error.span is None or marks >= MOST_MARKS:
                raise
            found = _wrapped(tree if marks else _named(tree), error.span, FIRST_MARK + marks, bind)
            if found is None:
                raise
            tree, marks = found[0], marks + found[1]
        else:
            return Marked(tree, plan, dict(_sought(plan, marks)))


def _named(tree: Any) -> Any:  # noqa: ANN401 - likewise
    """The statement with a name for every column, as its own text names it: marks and bounds are in no name."""
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
    """The statement with marks around the fewest values of the aggregate there that need one, and how many."""
    places = [i for i, node in enumerate(tree.walk()) if is_aggregate(node) and span_of(node) == span]
    for place in places[:1]:
        count = len(_values(_node(tree, place)))
        sizes = (combinations(range(count), size) for size in range(1, count + 1))
        for chosen in chain.from_iterable(sizes):
            trial = tree.copy()
            values = _values(_node(trial, place))
            for number, at in enumerate(chosen):
                clip = _clip(-(mark + number), mark + number)
                values[at].replace(clip)
                clip.set("expressions", [values[at], *clip.expressions[1:]])
            if _mended(trial, span, bind):
                return trial, len(chosen)
    return None


def _mended(tree: Any, span: Span, bind: Bind) -> bool:  # noqa: ANN401 - likewise
    """Whether the aggregate at `span` is bound now; what is wrong elsewhere comes later."""
    try:
        bind(tree.copy())
    except HedgerowError as error:
        return error.code != LOOSER and (error.code != MISSING or error.span != span)
    return True


def _node(tree: Any, place: int) -> Any:  # noqa: ANN401 - likewise
    return next(node for i, node in enumerate(tree.walk()) if i == place)


def _values(node: Any) -> list[Any]:  # noqa: ANN401 - likewise
    """What an aggregate is computed from, its constants aside."""
    while node.key in WRAPPERS:
        node = node.this
    if node.key == "withingroup":
        return [node.expression.expressions[0].this]
    parts = [part for part in node.iter_expressions() if part.key not in NO_VALUES and _mark_of(part) is None]
    return [part for part in parts if any(inner.key == "column" for inner in part.walk())]


def _clip(lower: float, upper: float) -> Any:  # noqa: ANN401 - likewise
    """CLIP(0, lower, upper), of no place in the text."""
    made = parse(f"SELECT CLIP(0, {lower!r}, {upper!r})", "duckdb").query.expressions[0].copy()
    for node in made.walk():
        for name in ("start", "end", "line", "col"):
            node.meta.pop(name, None)
    return made


def _mark_of(node: Any) -> int | None:  # noqa: ANN401 - likewise
    if node.key != "anonymous" or str(node.this).upper() != "CLIP" or len(node.expressions) != 3:
        return None
    last = node.expressions[2]
    value = int(last.this) if last.key == "literal" and str(last.this).isdigit() else 0
    return value if value >= FIRST_MARK else None


def _sought(plan: LogicalPlan, marks: int) -> Iterator[tuple[int, Sought]]:
    """Each mark, with the value that it stands around."""
    wanted = range(FIRST_MARK, FIRST_MARK + marks)
    for release in plan.releases:
        for made in release.calls:
            for value in made.arguments:
                last = (
                    value.arguments[-1]
                    if isinstance(value, Call) and value.function in {"clip", "clip_whole"}
                    else None
                )
                if isinstance(value, Call) and isinstance(last, Literal) and last.value in wanted:
                    yield int(str(last.value)), Sought(release, value.arguments[0], made.filter)
