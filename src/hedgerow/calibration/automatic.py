"""`bounds="auto"`: find the missing bounds of a statement privately, then ask the statement with them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hedgerow.answer import FoundBounds, Payment, Summary, bounds_note, percent_above
from hedgerow.calibration.bounds_search import (
    OF_A_STATEMENT,
    FoundLimit,
    UnboundedValue,
    find_cap,
    find_range,
    rows_of_people,
)
from hedgerow.calibration.missing_bounds import Bind, MarkedStatement
from hedgerow.calibration.sub_budget import SubBudget, require_free_price
from hedgerow.catalog import Catalog
from hedgerow.errors import BudgetError, ParameterError
from hedgerow.execution.request import Request
from hedgerow.execution.session import Session
from hedgerow.plan.nodes import LogicalPlan, Release, Released, releases_of, rewrite

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
        last = receipt.payments or (() if receipt.reused else (_payment(receipt),))
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


def _payment(receipt: Summary) -> Payment:
    return Payment("answer", receipt.id or "", receipt.charge, receipt.share)


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
        pairs = {mark: bounds[self._first(value)] for mark, value in self.unbounded.values.items()}
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

    def _first(self, value: UnboundedValue) -> int:
        return next(mark for mark, known in self._distinct.items() if known == value)

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
