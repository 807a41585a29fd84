"""`within=`: from a wanted error to what is spent, and to the answer.

At most two charges: a size estimate where nothing else tells how large the groups are, and the answer. Together they
never exceed what the statement may cost.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice

import numpy as np
import pyarrow as pa

from hedgerow.accounting.budget import Receipt
from hedgerow.accuracy_target.cheapest import PRECISION
from hedgerow.accuracy_target.epsilon_search import DELTA_SHARE, Seeker, require_foreseeable, sizes_level, too_dear
from hedgerow.accuracy_target.error_forecast import Floats, Foresight
from hedgerow.answer import Answer
from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.errors import BudgetError, QueryError, carrying
from hedgerow.execution.build_answer import tell
from hedgerow.execution.question import Question
from hedgerow.execution.request import Asked
from hedgerow.execution.session import Desk
from hedgerow.execution.summary import summary
from hedgerow.execution.target import Target
from hedgerow.ledger import StoredRelease
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivateStatement, Room
from hedgerow.release import Estimator, known_sizes, recall_any

LOOKED_AT = 6
"""So many earlier releases are tried."""

USUAL = 1.0
"""What a size estimate is a share of where neither statement nor catalog says what a statement costs."""


@dataclass(frozen=True)
class Price:
    """The least that reaches a target, and how the sizes of groups were known."""

    epsilon: float
    basis: str


@dataclass(frozen=True)
class AccuracyFirst:
    """One statement with a target."""

    desk: Desk
    question: Question
    logical: LogicalPlan
    request: Asked
    target: Target
    room: Room
    public: Mapping[str, pa.Table]

    def __post_init__(self) -> None:
        require_foreseeable(self.logical)

    @cached_property
    def most(self) -> float:
        """What the statement may cost in all: what it stated, and no more than the ledger would admit now."""
        low, high = EPSILONS[0], self.request.budget.epsilon
        if self._fits(high):
            return high
        while high > low * PRECISION:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._fits(middle) else (low, middle)
        return low

    @cached_property
    def sample(self) -> PrivateStatement:
        """The statement at some price, to find what was released before."""
        return self.price(min(self.most, 1.0))

    def _fits(self, epsilon: float) -> bool:
        try:
            charge = self.price(epsilon).charge
        except (QueryError, BudgetError):
            return False
        return self.desk.ledger.preview(charge, analyst=self.desk.analyst)[1]

    def price(self, epsilon: float, delta_share: float = 1.0) -> PrivateStatement:
        """The statement at an epsilon."""
        return self.desk.price(self.logical, self.request, self.room, epsilon, delta_share)

    def known_price(self) -> Price | None:
        """The least that reaches the target, from what is public or was released; None where sizes must be bought."""
        beta = self._seeker().foresight.beta
        if self.target.size is not None:
            found = self._seeker().for_sizes(np.array([float(self.target.size)]), beta)
            if found is not None:
                return Price(found, "stated size")
        found = self._seeker().for_any_size()
        if found is not None:
            return Price(found, "any size")
        return self._stored_price()

    def estimate_price(self) -> float:
        """What the size estimate would cost."""
        usual = self.desk.catalog.defaults.epsilon or USUAL
        base = self.most if self.request.budget.epsilon < EPSILONS[1] else min(self.most, usual)
        return min(self._seeker().estimate_epsilon(base), self.most / 2)

    def answer(self) -> Answer:
        """Spend the least that reaches the target; nothing where an earlier release does."""
        found = self._reached() if self.request.reuse else None
        return found or self._bought()

    def _bought(self) -> Answer:
        known = self.known_price()
        if known is None:
            return self._after_estimate()
        private = self.price(known.epsilon)
        if self.request.reuse and (found := self.desk.find(self.question, private, self.request)) is not None:
            return self._retold(found, private)
        if known.epsilon > self.most:
            raise too_dear(self.target, known.epsilon, self.most)
        return self._buy(private, None)

    def _reached(self) -> Answer | None:
        """An answer that was paid for and does, by itself or by the size estimate that was bought before it."""
        found = self.reached()
        return None if found is None else self._retold(found, self.sample)

    def reached(self) -> tuple[StoredRelease, list[Estimator]] | None:
        """The release that was paid for and does."""
        sample, asked = self.sample, self.request.budget.mechanism
        read = self.desk.preferred(sample, lambda stored: recall_any(stored.payload, sample))
        known = list(islice(read, LOOKED_AT))
        for stored, release in known:
            if self.desk.was_bought_by(self.question, sample, stored):
                return stored, release
        for stored, release in known:
            if asked != "auto" and any(each.plan.mechanism != asked for each in release):
                continue
            private = replace(sample, parts=tuple(each.plan for each in release))
            older = max((pair for pair in known if pair[0].charge < stored.charge), key=_charge, default=None)
            sizes = [release] if older is None else [older[1], release]
            if any(self._seeker().is_met(private, each, self.most) for each in sizes):
                return stored, release
        return None

    def _retold(self, found: tuple[StoredRelease, list[Estimator]], private: PrivateStatement) -> Answer:
        return self.desk.retell(self.question, found, self.logical, private, self.request, self.public)

    def _after_estimate(self) -> Answer:
        spent = self.estimate_price()
        small = self.price(spent, DELTA_SHARE)
        estimators, receipt = self.desk.buy(replace(self.question, stated=None), self.logical, small, self.room)
        with carrying(receipt):
            rest = (self.most - spent) * (1 - 1e-9)
            room = self.desk.room()
            seeker = replace(self._seeker(), price=lambda epsilon: self._rest(epsilon, room))
            epsilon = seeker.for_known(estimators, rest) or seeker.guess(estimators, rest)
            if epsilon is None:
                raise too_dear(self.target, seeker.guess(estimators, EPSILONS[1]), rest)
            return self._buy(self._rest(epsilon, room), receipt)

    def _rest(self, epsilon: float, room: Room) -> PrivateStatement:
        return self.desk.price(self.logical, self.request, room, epsilon, 1.0 - DELTA_SHARE)

    def _buy(self, private: PrivateStatement, estimate: Receipt | None) -> Answer:
        estimators, receipt = self.desk.buy(self.question, self.logical, private, self.desk.room())
        with carrying(receipt):
            told = summary(self.question.text, private, receipt, estimate)
            return tell(self.desk.after, self.logical, estimators, self.public, self.request, told)

    def _seeker(self) -> Seeker:
        foresight = Foresight(self.logical, self.request, self.desk.after, self.public)
        return Seeker(foresight, self.target, partial(self.price, delta_share=1.0))

    def _stored_price(self) -> Price | None:
        """From an earlier release of the same measures, or a count of the same rows: both are free to read."""
        sample = self.sample
        for stored in self.desk.earlier(sample)[:LOOKED_AT]:
            known = recall_any(stored.payload, sample)
            found = None if known is None else self._from_known(known)
            found = found or self._from_sizes(stored.payload, sample)
            if found is not None:
                return Price(found, "earlier answer")
        return None

    def _from_known(self, known: Sequence[Estimator]) -> float | None:
        """The least by an earlier release; more than `most` where that is sure not to do; None where it cannot tell."""
        seeker = self._seeker()
        found = seeker.for_known(known, self.most)
        if found is None and seeker.is_hopeless(known, self.most):
            return seeker.guess(known, EPSILONS[1]) or EPSILONS[1]
        return found

    def _from_sizes(self, payload: bytes, sample: PrivateStatement) -> float | None:
        if len(sample.parts) != 1:
            return None
        beta = self._seeker().foresight.beta
        sizes = known_sizes(payload, sample.parts[0], sizes_level(beta))
        if sizes is None or not len(sizes):
            return None
        return self._seeker().for_sizes(_worth(sizes), beta - sizes_level(beta), self.most)


def _charge(pair: tuple[StoredRelease, list[Estimator]]) -> int:
    return pair[0].charge


def _worth(sizes: Floats) -> Floats:
    """Sizes to look at: every hundredth part of them at most, for a table of many groups."""
    ordered = np.sort(sizes)
    return ordered if len(ordered) <= 100 else ordered[np.linspace(0, len(ordered) - 1, 100).astype(int)]
