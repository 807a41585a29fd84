"""The wanted errors of a batch: what each costs, and the shares of the budget that reach them all."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from hedgerow.accounting import gaussian_epsilon
from hedgerow.accuracy_target.accuracy_first import AccuracyFirst
from hedgerow.accuracy_target.epsilon_search import DELTA_SHARE, too_dear
from hedgerow.errors import ParameterError
from hedgerow.execution.request import Options, Question
from hedgerow.privacy.batch import SharedRelease, best_shares, least_costs, noise_cost
from hedgerow.privacy.gaussian import ADDED_SHARE, HEADROOM
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.session.bound_batch import BoundBatch

SPARE = 1.001
"""Factor on the cost of a wanted error, because noise is rounded to its lattice."""


class BatchTargets:
    """The statements of a batch with a wanted error."""

    def __init__(self, batch: BoundBatch, *, estimated: bool) -> None:
        self.batch = batch
        self._estimated = estimated

    def lacks_sizes(self) -> list[int]:
        """Return the statements with a wanted error whose price depends on sizes that nobody knows yet."""
        return [number for number, target in self.by_number.items() if target.known_price() is None]

    def estimate(self) -> tuple[dict[str, str], Options, Options]:
        """Return the statements that lack sizes, the options to estimate these, and those of the batch after it."""
        batch, lacking = self.batch, self.lacks_sizes()
        maximum = min(target.maximum for target in self.by_number.values())
        prices = [self.by_number[number].estimate_price() for number in lacking]
        epsilon, delta = min(max(prices) * math.sqrt(len(lacking)), maximum / 2), batch.request.budget.delta
        queries = {batch.report.queries[number].name: batch.report.queries[number].sql for number in lacking}
        first = {
            "within": None,
            "reuse": False,
            "epsilon": epsilon,
            "delta": None if delta is None else delta * DELTA_SHARE,
        }
        rest = {
            "epsilon": (maximum - epsilon) * (1 - 1e-9),
            "delta": None if delta is None else delta * (1 - DELTA_SHARE),
        }
        return queries, {**batch.options, **first}, {**batch.options, **rest}  # type: ignore[typeddict-item]

    @cached_property
    def by_number(self) -> dict[int, AccuracyFirst]:
        """The wanted errors, by the numbers of their statements."""
        batch, targets = self.batch, {}
        for number in batch.private:
            statement = batch.statements[number]
            if statement.request.within is None:
                continue
            with batch.naming(number):
                budget = replace(statement.request.budget, mechanism=batch.mechanism)
                request = replace(statement.request, budget=budget)
                targets[number] = AccuracyFirst(
                    batch.session,
                    Question.of(statement.text, None, request),
                    statement.logical,
                    request,
                    statement.request.within,
                    batch.remaining,
                    batch.session.public_tables(statement.logical),
                )
        return targets

    def needed(self) -> dict[int, PrivateStatement]:
        """Return the statements with a wanted error, each at the price that reaches it alone.

        One whose price is unknown even after an estimate is left out: it gets its share of what the others leave, and
        its numbers say if they miss the error.
        """
        needed = {}
        for number, target in self.by_number.items():
            with self.batch.naming(number):
                known = target.known_price()
                if known is None and self._estimated:
                    continue
                if known is None:
                    wanted, absolute = target.target, "State an absolute error, such as within abs:20@1000."
                    amount = f"abs:{wanted.amount:g}" if wanted.absolute else f"{100 * wanted.amount:g}%"
                    raise ParameterError(
                        f"How much this error costs depends on the {'sizes of' if wanted.size is None else 'sums in'} "
                        "the groups, which nobody knows yet.",
                        code="batch-sizes",
                        hint=f"State a size, too: within {amount}@1000." if wanted.size is None else absolute,
                    )
                needed[number] = self.batch.priced_alone(number, known.epsilon)
        return needed

    def shares(
        self, even: PrivateStatement, shared: Sequence[SharedRelease], needed: Mapping[int, PrivateStatement]
    ) -> tuple[float, list[float]]:
        """Return the smallest epsilon at which every wanted error is reached, and the shares.

        Releases of statements without a wanted error get the whole rest of the stated epsilon.
        """
        if self.batch.mechanism == "laplace":
            raise ParameterError("Wanted errors of a batch need Gaussian noise.", code="bad-mechanism")
        costs = [None if cost is None else cost * SPARE for cost in least_costs(even, shared, needed)]
        wanted = math.fsum(cost for cost in costs if cost is not None)
        delta = (self.batch.request.budget.delta or 0.0) * (1.0 if len(shared) == 1 else 1.0 - ADDED_SHARE) * (1 - 1e-6)
        minimum = gaussian_epsilon(math.sqrt(wanted), delta) + 2 * HEADROOM
        maximum = self.batch.request.budget.epsilon
        if minimum > maximum:
            targets = [one.request.within for one in self.batch.statements if one.request.within is not None]
            raise too_dear(targets[0], minimum, maximum)
        if None not in costs:
            return minimum, [cost / wanted for cost in costs if cost is not None]
        whole = math.fsum(noise_cost(part) for part in even.parts)
        rest = whole - wanted
        losses = best_shares(even, shared, self.batch.weights, self.batch.minimise)
        free = math.fsum(loss for loss, cost in zip(losses, costs, strict=True) if cost is None)
        shares = [
            (rest * loss / free if cost is None else cost) / whole for loss, cost in zip(losses, costs, strict=True)
        ]
        return maximum, shares
