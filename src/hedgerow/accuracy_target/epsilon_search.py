"""Accuracy first: the least that keeps an answer within a stated error.

What an error costs depends on how large the groups are, which is private. It is taken from what was stated, from what
was released before, or from a small estimate that is bought first (docs/explanation/accuracy-first.md).

Privacy: every decision here rests on the plan, the catalog, the budget and released values, never on rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.accuracy_target.cheapest import cheapest
from hedgerow.accuracy_target.error_forecast import ESTIMATE_SHARE, Errors, Floats, Foresight, Seen
from hedgerow.aggregates import Kind
from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.errors import BudgetError, ParameterError
from hedgerow.execution.target import Target
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.needs import needs_of
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.release import Estimator

UNFORESEEN = {Kind.SPREAD, Kind.PAIR, Kind.PAIRS, Kind.RANK, Kind.DISTINCT, Kind.CELLS}
"""What an error of depends on the values of a group, or has no upper end."""

NO_SIZE, LARGE = 1.0, 1e12
CAUTIOUS, RELEASED, FAVOURABLE = -1, 0, 1
ALIKE = 1.005
DELTA_SHARE = 0.1
"""Of delta, for the size estimate."""


@dataclass(frozen=True)
class Seeker:
    """Looks for the least epsilon that reaches a target; `price` says what a statement is at an epsilon."""

    foresight: Foresight
    target: Target
    price: Callable[[float], PrivateStatement]

    def for_sizes(self, sizes: Floats, beta: float, most: float = EPSILONS[1]) -> float | None:
        """The least for groups of these sizes; in a grouped statement, for those of them that `most` reaches."""
        return self._least(lambda epsilon: self._of_sizes(epsilon, sizes, beta), most)

    def for_any_size(self) -> float | None:
        """The least that does for groups of every size; None where the size matters.

        Raises:
            BudgetError: No budget reaches the target in groups of any size.
        """
        if not self.target.absolute:
            return None
        chosen = [part.selection for part in self.price(1.0).parts if part.selection is not None]
        small = max([NO_SIZE, *(2 * float(selection.threshold) for selection in chosen)])
        ends = [np.array([size]) for size in (small, LARGE)]
        found = [self.for_sizes(size, self.foresight.beta) for size in ends]
        if found == [None, None] and all(self._is_bounded(size) for size in ends):
            raise too_dear(self.target, None, EPSILONS[1])
        return found[0] if found[0] and found[1] and found[0] <= found[1] * ALIKE else None

    def _is_bounded(self, sizes: Floats) -> bool:
        return bool(np.isfinite(self._of_sizes(EPSILONS[1], sizes, self.foresight.beta)).all())

    def for_known(self, known: Sequence[Estimator], most: float) -> float | None:
        """The least for the groups of an earlier release, as far as `most` reaches them; None where it reaches none."""
        seen = self.foresight.seen(known, CAUTIOUS)
        return self._least(lambda epsilon: self._of_seen(epsilon, seen), most)

    def guess(self, known: Sequence[Estimator], most: float) -> float | None:
        """Where an earlier release is too noisy to tell: twice what its groups would need, were they as released."""
        seen = self.foresight.seen(known, RELEASED)
        found = self._least(lambda epsilon: self._of_seen(epsilon, seen), most)
        return None if found is None else min(2 * found, most)

    def is_hopeless(self, known: Sequence[Estimator], most: float) -> bool:
        """Whether `most` reaches no group, even if all are as large as an earlier release allows."""
        return not bool((self._of_seen(most, self.foresight.seen(known, FAVOURABLE)) <= 1).any())

    def is_met(self, release: PrivateStatement, known: Sequence[Estimator], most: float) -> bool:
        """Whether a release does for all groups that `most` reaches; where it reaches none, for any."""
        seen = self.foresight.seen(known, CAUTIOUS)
        does, reached = self._at(release, seen) <= 1, self._of_seen(most, seen) <= 1
        return bool(does[reached].all() if reached.any() else does.any())

    def estimate_epsilon(self, most: float) -> float:
        """What a size estimate may cost: enough to tell the size wherever `most` reaches the target."""
        share = 0.1 if self.target.absolute else float(np.clip(2 * self.target.amount, 0.005, 0.2))
        return max(most * share, EPSILONS[0])

    def _least(self, excess: Callable[[float], Floats], most: float) -> float | None:
        at_most = excess(most)
        reached = at_most <= 1
        if not reached.any() or (not self.foresight.grouped and not reached.all()):
            return None
        return cheapest(lambda epsilon: float(excess(epsilon)[reached].max()), EPSILONS[0], most)

    def _of_sizes(self, epsilon: float, sizes: Floats, beta: float) -> Floats:
        found = self.foresight.of_sizes(self.price(epsilon), sizes, beta)
        if not found:
            return np.full(len(sizes), np.inf)
        return np.asarray(self._excess(found).reshape(-1, len(sizes)).max(axis=0))

    def _of_seen(self, epsilon: float, seen: Seen) -> Floats:
        return self._at(self.price(epsilon), seen)

    def _at(self, statement: PrivateStatement, seen: Seen) -> Floats:
        found = seen.errors(statement)
        return self._excess(found) if found else np.full(1, np.inf)

    def _excess(self, errors: Errors) -> Floats:
        """By row, the largest error as a multiple of what is allowed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = [error / self.target.allowed(least) for least, error in errors.values()]
        return np.asarray(np.nan_to_num(np.maximum.reduce(found), nan=np.inf, posinf=np.inf))


def require_foreseeable(logical: LogicalPlan) -> None:
    """Refuse aggregates whose error depends on more than the size and the mean of a group, before anything is spent."""
    pairs = [pair for each in logical.releases for pair in zip(each.calls, needs_of(each), strict=True)]
    dark = sorted({call.function for call, need in pairs if need.kind in UNFORESEEN})
    if dark:
        raise ParameterError(
            f"How wrong {dark[0]} will be is not known before it is bought, so within= cannot promise it.",
            code="within-aggregate",
            hint="Pass epsilon= in place of within=: the answer has an interval. COUNT, SUM and AVG take within=.",
        )


def sizes_level(beta: float) -> float:
    """How often a stored count that is used as a size may fail."""
    return beta * ESTIMATE_SHARE


def too_dear(target: Target, needed: float | None, most: float) -> BudgetError:
    """The refusal of a target that costs more than the statement may."""
    price = "no budget would do" if needed is None else f"it would cost epsilon {needed:.4g}"
    return BudgetError(
        f"An error of {target} is out of reach: {price}, and this statement may spend {most:.4g}.",
        code="within-too-dear",
        hint="Ask for a wider error, for larger groups, or with a larger epsilon.",
        asked={} if needed is None else {"epsilon": needed},
        left={"epsilon": most},
    )
