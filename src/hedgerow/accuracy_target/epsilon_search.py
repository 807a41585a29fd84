"""Search for the smallest epsilon that keeps an answer within a stated error.

The cost of an error depends on the sizes of groups, which are private. They are taken from the statement, from earlier
releases, or from a small estimate that is bought first (docs/explanation/accuracy-first.md).

Privacy: every decision here depends on the plan, the catalog, the budget and released values, never on rows.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.accuracy_target.error_forecast import ESTIMATE_SHARE, ErrorForecast, Errors, Floats, ReleaseForecast
from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.errors import BudgetError, ParameterError
from hedgerow.execution.request import ErrorTarget
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.privacy.statement_sums import needed_sums
from hedgerow.release import Estimator

NO_SIZE, LARGE = 1.0, 1e12
CAUTIOUS, RELEASED, FAVOURABLE = -1, 0, 1
ALIKE = 1.005
DELTA_SHARE = 0.1
"""Share of delta for the size estimate."""

PRECISION, STEP, MOST_STEPS = 1.002, 1.0003, 80
"""Parameters of the search for the smallest epsilon: precision, step beyond a guess, and number of steps."""


@dataclass(frozen=True)
class EpsilonSearch:
    """Search for the smallest epsilon that reaches a target. `price` prices the statement at an epsilon."""

    forecast: ErrorForecast
    target: ErrorTarget
    price: Callable[[float], PrivateStatement]

    def for_sizes(self, sizes: Floats, beta: float, maximum: float = EPSILONS[1]) -> float | None:
        """Return the price for groups of these sizes; in a grouped statement, for those that `maximum` reaches."""
        return self._cheapest(lambda epsilon: self._of_sizes(epsilon, sizes, beta), maximum)

    def for_any_size(self) -> float | None:
        """Return the price that is sufficient for groups of every size; None if the size matters.

        Raises:
            BudgetError: No budget reaches the target in groups of any size.
        """
        if not self.target.absolute:
            return None
        chosen = [part.selection for part in self.price(1.0).parts if part.selection is not None]
        small = max([NO_SIZE, *(2 * float(selection.threshold) for selection in chosen)])
        ends = [np.array([size]) for size in (small, LARGE)]
        small_price, large_price = (self.for_sizes(size, self.forecast.beta) for size in ends)
        if small_price is None and large_price is None and all(self._is_bounded(size) for size in ends):
            raise too_dear(self.target, None, EPSILONS[1])
        alike = small_price and large_price and small_price <= large_price * ALIKE
        return small_price if alike else None

    def _is_bounded(self, sizes: Floats) -> bool:
        return bool(np.isfinite(self._of_sizes(EPSILONS[1], sizes, self.forecast.beta)).all())

    def for_known(self, known: Sequence[Estimator], maximum: float) -> float | None:
        """Return the price for the groups of an earlier release, as far as `maximum` reaches them; None if none."""
        groups = self.forecast.from_release(known, CAUTIOUS)
        return self._cheapest(lambda epsilon: self._of_groups(epsilon, groups), maximum)

    def guess(self, known: Sequence[Estimator], maximum: float) -> float | None:
        """Return twice the price for the groups of a release as released, which is too noisy for a promise."""
        groups = self.forecast.from_release(known, RELEASED)
        minimum = self._cheapest(lambda epsilon: self._of_groups(epsilon, groups), maximum)
        return None if minimum is None else min(2 * minimum, maximum)

    def is_hopeless(self, known: Sequence[Estimator], maximum: float) -> bool:
        """Return True if `maximum` reaches no group, even if all are as large as an earlier release allows."""
        return not bool((self._of_groups(maximum, self.forecast.from_release(known, FAVOURABLE)) <= 1).any())

    def is_met(self, release: PrivateStatement, known: Sequence[Estimator], maximum: float) -> bool:
        """True if a release is sufficient for all groups that `maximum` reaches, or for any if it reaches none."""
        groups = self.forecast.from_release(known, CAUTIOUS)
        does, reached = self._at(release, groups) <= 1, self._of_groups(maximum, groups) <= 1
        return bool(does[reached].all() if reached.any() else does.any())

    def estimate_epsilon(self, maximum: float) -> float:
        """Return the price of a size estimate that is precise enough wherever `maximum` reaches the target."""
        share = 0.1 if self.target.absolute else float(np.clip(2 * self.target.amount, 0.005, 0.2))
        return max(maximum * share, EPSILONS[0])

    def _cheapest(self, excess: Callable[[float], Floats], maximum: float) -> float | None:
        at_most = excess(maximum)
        reached = at_most <= 1
        if not reached.any() or (not self.forecast.grouped and not reached.all()):
            return None
        return cheapest(lambda epsilon: float(excess(epsilon)[reached].max()), EPSILONS[0], maximum)

    def _of_sizes(self, epsilon: float, sizes: Floats, beta: float) -> Floats:
        errors = self.forecast.of_sizes(self.price(epsilon), sizes, beta)
        if not errors:
            return np.full(len(sizes), np.inf)
        return np.asarray(self._excess(errors).reshape(-1, len(sizes)).max(axis=0))

    def _of_groups(self, epsilon: float, groups: ReleaseForecast) -> Floats:
        return self._at(self.price(epsilon), groups)

    def _at(self, statement: PrivateStatement, groups: ReleaseForecast) -> Floats:
        errors = groups.errors(statement)
        return self._excess(errors) if errors else np.full(1, np.inf)

    def _excess(self, errors: Errors) -> Floats:
        """Return, by row, the largest error as a multiple of the allowed one."""
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = [error / self.target.allowed(minimum) for minimum, error in errors.values()]
        return np.asarray(np.nan_to_num(np.maximum.reduce(excess), nan=np.inf, posinf=np.inf))


def require_foreseeable(logical: LogicalPlan) -> None:
    """Refuse aggregates whose error depends on more than the size and the mean of a group, before any charge."""
    pairs = [pair for release in logical.releases for pair in zip(release.calls, needed_sums(release), strict=True)]
    unforeseen = sorted({call.function for call, need in pairs if not need.kind.value.foreseeable})
    if unforeseen:
        raise ParameterError(
            f"The error of {unforeseen[0]} is not known before it is bought, so within= cannot promise it.",
            code="within-aggregate",
            hint="Pass epsilon= in place of within=: the answer has an interval. COUNT, SUM and AVG take within=.",
        )


def sizes_level(beta: float) -> float:
    """Return the failure probability of a stored count that is used as a size."""
    return beta * ESTIMATE_SHARE


def too_dear(
    target: ErrorTarget, needed: float | None, maximum: float, unknown: str = "no budget would do"
) -> BudgetError:
    """Return the refusal of a target that costs more than the statement may; `unknown` is said without a price."""
    price = unknown if needed is None else f"it would cost epsilon {needed:.4g}"
    return BudgetError(
        f"An error of {target} is out of reach: {price}, and this statement may spend {maximum:.4g}.",
        code="within-too-dear",
        hint="Ask for a wider error, for larger groups, or with a larger epsilon.",
        asked={} if needed is None else {"epsilon": needed},
        left={"epsilon": maximum},
    )


def cheapest(excess: Callable[[float], float], minimum: float, maximum: float) -> float | None:
    """The smallest epsilon from `minimum` to `maximum`, to 0.2 %, where `excess` is at most 1; None if there is none.

    `excess` is about inversely proportional to epsilon, so one step from any epsilon nearly hits the cheapest. The
    returned epsilon has been evaluated, so the promise does not depend on that.
    """
    low, high, over = minimum, maximum, excess(maximum)
    if over > 1:
        return None
    for _ in range(MOST_STEPS):
        if high <= low * PRECISION:
            break
        near = high * over * STEP
        near = min(high / PRECISION, near)
        guess = near if low * STEP < near else math.sqrt(low * high)
        excess_there = excess(guess)
        if excess_there <= 1:
            high, over = guess, excess_there
        else:
            low = guess
    return high
