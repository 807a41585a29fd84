"""`bounds="auto"`: find the missing bounds of a statement privately, then ask the statement with them.

The binder reports missing bounds. Marks (bounds that nobody would write) take their place until everything is bound.
Then the value inside each mark is known, and the bounds that were found replace the mark.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any, TypeVar

from hedgerow.answer import FoundBounds, Payment, Summary, bounds_note, percent_above
from hedgerow.calibration.bounds_search import (
    OF_A_STATEMENT,
    FoundLimit,
    UnboundedValue,
    find_cap,
    find_range,
    rows_of_people,
)
from hedgerow.calibration.sub_budget import SubBudget, require_free_price
from hedgerow.catalog import Catalog
from hedgerow.errors import BudgetError, HedgerowError, ParameterError, Span
from hedgerow.execution.request import Request
from hedgerow.execution.session import Session
from hedgerow.expressions.nodes import Call, Literal
from hedgerow.plan.aggregate_calls import is_aggregate
from hedgerow.plan.nodes import LogicalPlan, Release, Released, releases_of, rewrite
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


CAP_SHARE = 0.1
"""Share of the budget for the number of rows that one person counts for, where it is not declared."""


@dataclass(frozen=True)
class Completed:
    """A statement with all bounds: its plan, the rest of its budget, and the bounds."""

    logical: LogicalPlan
    request: Request
    bounds: tuple[FoundBounds, ...]
    max_rows: FoundLimit | None
    sub_budget: SubBudget

    def summary(self, receipt: Summary) -> Summary:
        """Return the summary of the answer, including the charges for the search."""
        max_rows = None if self.max_rows is None else self.max_rows.value
        with_bounds = replace(receipt, bounds=self.bounds, max_rows=max_rows)
        if not self.sub_budget.payments:
            return with_bounds
        paid_now = () if receipt.reused else (Payment("answer", receipt.id or "", receipt.charge, receipt.share),)
        last = receipt.payments or paid_now
        payments = (*self.sub_budget.payments, *last)
        paid = self.sub_budget.spent(answer=None if receipt.reused else receipt.charge)
        return replace(with_bounds, payments=payments, charge=paid, share=sum(p.share for p in payments))

    def notes(self) -> tuple[str, ...]:
        """Return the notes on the bounds and the limit that were found."""
        notes = [bounds_note(bounds) for bounds in self.bounds]
        if self.max_rows is not None:
            counted = f"one person counts for {self.max_rows.value:,} rows at most, chosen privately"
            notes.append(f"{counted}; at most {percent_above(self.max_rows.beyond)} of people have more.")
        return tuple(notes)


@dataclass(frozen=True)
class Automatic:
    """One statement with `bounds="auto"`."""

    session: Session
    query: str
    request: Request
    unbounded: MarkedStatement
    bind: Bind

    @property
    def lacks(self) -> bool:
        """Return True if bounds or limits are missing."""
        return bool(self.unbounded.values or self._unlimited)

    def completed(self, *, buy: bool = True) -> Completed:
        """Find all missing bounds and limits; with `buy` False, only from earlier purchases.

        Privacy: every bound and limit is released by a statement with its own charge. The remainder for the answer
        depends on the number of looks, which follows from released values.

        Raises:
            LookupError: `buy` is False, and something was not bought before.
        """
        sub_budget = SubBudget(self.session, self.query, self.request, buy=buy)
        if buy:
            self._require(sub_budget)
        bounds = {mark: self._range(sub_budget, value) for mark, value in self._distinct.items()}
        cap = self._cap(sub_budget)
        first = {value: mark for mark, value in self._distinct.items()}
        pairs = {mark: bounds[first[value]] for mark, value in self.unbounded.values.items()}
        tree = self.unbounded.with_bounds({mark: (_plain(b, b.lower), _plain(b, b.upper)) for mark, b in pairs.items()})
        logical = with_limit(self.bind(tree), None if cap is None else cap.value)
        request = self._rest(sub_budget, sub_budget.remaining_share())
        return Completed(logical, request, tuple(bounds.values()), cap, sub_budget)

    def assumed(self) -> tuple[Request, LogicalPlan]:
        """Return the statement with assumed bounds, priced at the smallest budget that the search can leave."""
        sub_budget = SubBudget(self.session, self.query, self.request, buy=False)
        logical = with_limit(self.unbounded.plan, 1 if self._unlimited else None)
        return self._rest(sub_budget, 1 - self._reserved), logical

    @property
    def _distinct(self) -> dict[int, UnboundedValue]:
        """Distinct values that lack bounds, by their first marks."""
        first = {value: mark for mark, value in reversed(list(self.unbounded.values.items()))}
        return {mark: value for value, mark in sorted(first.items(), key=lambda pair: pair[1])}

    @property
    def _unlimited(self) -> list[Release]:
        """Releases without a limit on the rows of one person."""
        if self.request.max_rows is not None:
            return []
        return [release for release in self.unbounded.plan.releases if release.limits.max_rows is None]

    @property
    def _reserved(self) -> float:
        """Share of the budget that the first looks take."""
        return (OF_A_STATEMENT.first if self._distinct else 0.0) + (CAP_SHARE if self._unlimited else 0.0)

    def _range(self, sub_budget: SubBudget, value: UnboundedValue) -> FoundBounds:
        bounds = find_range(sub_budget, value, OF_A_STATEMENT.among(len(self._distinct)))
        if bounds is None:
            raise _not_found(f"the values of {value.label}", sub_budget)
        return bounds

    def _cap(self, sub_budget: SubBudget) -> FoundLimit | None:
        share = CAP_SHARE / max(len(self._unlimited), 1)
        caps = []
        for release in self._unlimited:
            cap = find_cap(sub_budget, release, share, 1 - self._reserved)
            if cap is None:
                raise _not_found("the number of rows", sub_budget)
            caps.append(cap)
        return max(caps, key=lambda cap: cap.value, default=None)

    def _rest(self, sub_budget: SubBudget, share: float) -> Request:
        return replace(self.request, budget=sub_budget.part(share), automatic=False)

    def _require(self, sub_budget: SubBudget) -> None:
        """Refuse a statement that could not be asked even with bounds, before anything is spent.

        Privacy: bounds do not change the price of a statement, so it can be priced with the marks.
        """
        request, logical = self.assumed()
        histograms = [
            (value.octaves(), OF_A_STATEMENT.among(len(self._distinct)).first) for value in self._distinct.values()
        ]
        histograms += [(rows_of_people(release), CAP_SHARE / len(self._unlimited)) for release in self._unlimited]
        looks = [sub_budget.price(histogram.plan, share, histogram.cells) for histogram, share in histograms]
        answer = self.session.price(logical, request, self.session.remaining())
        if not self._is_known():
            sub_budget.require([*looks, answer])

    def _is_known(self) -> bool:
        """Return True if all looks were bought before, so that only the answer remains to be paid for."""
        try:
            self.completed(buy=False)
        except LookupError:
            return False
        return True


def with_limit(logical: LogicalPlan, cap: int | None) -> LogicalPlan:
    """Set a limit on rows in each release of a plan that has none."""

    def swap(node: object) -> object | None:
        if isinstance(node, Released) and node.release.limits.max_rows is None:
            limits = replace(node.release.limits, max_rows=cap)
            return replace(node, release=replace(node.release, limits=limits))
        return None

    if cap is None:
        return logical
    root = rewrite(logical.root, swap)
    return replace(logical, root=root, releases=releases_of(root))


def require_split(catalog: Catalog, request: Request, options: Mapping[str, object]) -> None:
    """Refuse `bounds="auto"` if neither the query nor the owner names an epsilon that can be split."""
    require_free_price(catalog)
    epsilons = options.get("epsilon"), catalog.defaults.epsilon
    if request.within is not None and all(epsilon is None for epsilon in epsilons):
        raise ParameterError(
            'within= with bounds="auto" needs epsilon, which pays for the bounds.',
            code="missing-epsilon",
            hint="Pass epsilon=, the most that all may cost, or set defaults.epsilon in the catalog.",
        )


def _plain(bounds: FoundBounds, end: float) -> float:
    """Return an end of the bounds, as an integer if both ends are integers."""
    return int(end) if bounds.lower.is_integer() and bounds.upper.is_integer() else end


def _not_found(what: str, sub_budget: SubBudget) -> BudgetError:
    spent = sub_budget.spent().epsilon
    error = BudgetError(
        f"Too few people share {what} for bounds to be found at this price. Looking cost epsilon {spent:.4g}.",
        code="bounds-not-found",
        hint="Ask with a larger epsilon, state bounds, or write CLIP(x, lower, upper).",
        asked={"epsilon": spent},
    )
    error.receipt = sub_budget.receipt
    return error
