"""`bounds="auto"`: what a statement lacks is found privately first, then it is asked with what was found."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hedgerow.accounting.budget import Spending
from hedgerow.answer import Answer, FoundBounds, Payment, Summary
from hedgerow.calibration.missing_bounds import Bind, Marked
from hedgerow.calibration.ranges import OF_A_STATEMENT, Sought, find_range
from hedgerow.calibration.rows import cap_plan, find_cap
from hedgerow.calibration.sub_budget import Purse, require_free_price
from hedgerow.errors import BudgetError, ParameterError
from hedgerow.execution.request import Asked
from hedgerow.execution.session import Desk
from hedgerow.plan.nodes import LogicalPlan, Release, Released, releases_of
from hedgerow.plan.rewrite import rewrite

RACE = 0.1
"""Of the budget, for the number of rows that one person counts for, where nobody said so."""


@dataclass(frozen=True)
class Completed:
    """A statement that lacks nothing any more: its plan, what is left of its budget, and what was found."""

    logical: LogicalPlan
    request: Asked
    bounds: tuple[FoundBounds, ...]
    max_rows: int | None
    purse: Purse

    def told(self, receipt: Summary) -> Summary:
        """The receipt of the answer, with all that was paid before it."""
        said = replace(receipt, bounds=self.bounds, max_rows=self.max_rows)
        if not self.purse.payments:
            return said
        last = receipt.payments or (() if receipt.reused else (_payment(receipt),))
        payments = (*self.purse.payments, *last)
        paid = Spending(sum(p.charge.epsilon for p in payments), sum(p.charge.delta for p in payments))
        return replace(said, payments=payments, charge=paid, share=sum(p.share for p in payments))


def _payment(receipt: Summary) -> Payment:
    return Payment("answer", receipt.id or "", receipt.charge, receipt.share)


@dataclass(frozen=True)
class Automatic:
    """One statement with `bounds="auto"`."""

    desk: Desk
    query: str
    request: Asked
    marked: Marked
    bind: Bind

    @property
    def lacks(self) -> bool:
        """Whether there is anything to find."""
        return bool(self.marked.sought or self._unlimited)

    def completed(self, *, buy: bool = True) -> Completed:
        """The statement with everything found. With `buy` False, only what was bought before: `Unknown` otherwise.

        Privacy: all that is found is released, by statements that are charged one by one. What is left for the answer
        depends on the number of looks, which follows from released values.
        """
        purse = Purse(self.desk, self.query, self.request, buy=buy)
        if buy:
            self._require(purse)
        bounds = {mark: self._range(purse, sought) for mark, sought in self._distinct.items()}
        cap = self._cap(purse)
        pairs = {mark: bounds[self._first(sought)] for mark, sought in self.marked.sought.items()}
        tree = self.marked.with_bounds({mark: (_plain(b, b.lower), _plain(b, b.upper)) for mark, b in pairs.items()})
        logical = with_limit(self.bind(tree), cap)
        return Completed(logical, self._rest(purse.rest()), tuple(bounds.values()), cap, purse)

    def assumed(self) -> tuple[Asked, LogicalPlan]:
        """The statement as it could be asked if bounds were known, at the least that would be left for it."""
        return self._rest(1 - self._reserved), with_limit(self.marked.plan, 1 if self._unlimited else None)

    @property
    def _distinct(self) -> dict[int, Sought]:
        """The values that lack bounds, each once, by their first marks."""
        first = {sought: mark for mark, sought in reversed(list(self.marked.sought.items()))}
        return {mark: sought for sought, mark in sorted(first.items(), key=lambda pair: pair[1])}

    def _first(self, sought: Sought) -> int:
        return next(mark for mark, found in self._distinct.items() if found == sought)

    @property
    def _unlimited(self) -> list[Release]:
        """The releases of which nobody said how many rows one person may count for."""
        if self.request.max_rows is not None:
            return []
        return [release for release in self.marked.plan.releases if release.limits.max_rows is None]

    @property
    def _reserved(self) -> float:
        """The share of the budget that the first looks take."""
        return (OF_A_STATEMENT.first if self._distinct else 0.0) + (RACE if self._unlimited else 0.0)

    def _range(self, purse: Purse, sought: Sought) -> FoundBounds:
        found = find_range(purse, sought, OF_A_STATEMENT.among(len(self._distinct)))
        if found is None:
            raise _not_found(f"the values of {sought.label}", purse)
        return found

    def _cap(self, purse: Purse) -> int | None:
        found = [find_cap(purse, release, RACE / len(self._unlimited)) for release in self._unlimited]
        if any(cap is None for cap in found):
            raise _not_found("the number of rows", purse)
        return max((cap for cap in found if cap is not None), default=None)

    def _rest(self, share: float) -> Asked:
        budget = self.request.budget
        delta = None if budget.delta is None else budget.delta * share
        return replace(
            self.request, budget=replace(budget, epsilon=budget.epsilon * share, delta=delta), automatic=False
        )

    def _require(self, purse: Purse) -> None:
        """Refuse what could not be asked even if everything were found, before anything is spent.

        Privacy: bounds do not change what a statement costs, so the marks can stand for them.
        """
        request, logical = self.assumed()
        plans = [
            (sought.magnitudes(), OF_A_STATEMENT.among(len(self._distinct)).first) for sought in self._distinct.values()
        ]
        plans += [(cap_plan(release), RACE / len(self._unlimited)) for release in self._unlimited]
        looks = [purse.price(plan, share) for plan, share in plans]
        answer = self.desk.price(logical, request, self.desk.room())
        if not self._is_known():
            purse.require([*looks, answer])

    def _is_known(self) -> bool:
        """Whether everything was bought before, so that the ledger alone decides about the answer."""
        try:
            self.completed(buy=False)
        except LookupError:
            return False
        return True


def with_limit(logical: LogicalPlan, cap: int | None) -> LogicalPlan:
    """The plan with a limit on rows wherever nobody set one."""

    def swap(node: object) -> object | None:
        if isinstance(node, Released) and node.release.limits.max_rows is None:
            limits = replace(node.release.limits, max_rows=cap)
            return replace(node, release=replace(node.release, limits=limits))
        return None

    if cap is None:
        return logical
    root = rewrite(logical.root, swap)
    return replace(logical, root=root, releases=releases_of(root))


def require_split(desk: Desk, request: Asked, options: Mapping[str, object]) -> None:
    """Refuse `bounds="auto"` where there is no epsilon that could be split."""
    require_free_price(desk.catalog)
    if request.within is not None and options.get("epsilon") is None:
        raise ParameterError(
            'With within= and bounds="auto", epsilon says what bounds are paid from.',
            code="missing-epsilon",
            hint="Pass epsilon=, the most that all may cost.",
        )


def completed_answer(answer: Answer, completed: Completed) -> Answer:
    """The answer, with a receipt for everything."""
    answer.receipt = completed.told(answer.receipt)
    return answer


def _plain(bounds: FoundBounds, end: float) -> float:
    """Whole ends as whole numbers, where both are."""
    return int(end) if bounds.lower.is_integer() and bounds.upper.is_integer() else end


def _not_found(what: str, purse: Purse) -> BudgetError:
    error = BudgetError(
        f"Too few people share {what} for bounds to be found at this price.",
        code="bounds-not-found",
        hint="Ask with a larger epsilon, state bounds, or write CLIP(x, lower, upper).",
        asked={"epsilon": purse.spent().epsilon},
    )
    error.receipt = purse.receipt
    return error
