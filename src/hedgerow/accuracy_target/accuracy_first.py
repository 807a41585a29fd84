"""`within=`: the price of a target error, and the answer.

At most two charges: a size estimate, if the sizes of groups are unknown, and the answer. Together they never exceed
what the statement may cost.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.accounting.budget import Receipt, RemainingBudget
from hedgerow.accuracy_target.epsilon_search import (
    DELTA_SHARE,
    PRECISION,
    EpsilonSearch,
    cheapest,
    require_foreseeable,
    sizes_level,
    too_dear,
)
from hedgerow.accuracy_target.error_forecast import ErrorForecast
from hedgerow.answer import Answer
from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.errors import BudgetError, QueryError, carrying
from hedgerow.execution.build_answer import build_answer, paid_summary
from hedgerow.execution.request import ErrorTarget, Question, Request
from hedgerow.execution.session import Session
from hedgerow.figures import finite
from hedgerow.ledger import StoredRelease
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.release import Estimator, known_sizes, load_any

SIZES = (100, 1_000, 10_000, 100_000)
"""Group sizes for which prices and errors are reported."""

LOOKED_AT = 6
"""Number of earlier releases that are tried."""

USUAL = 1.0
"""Epsilon of which a size estimate is a share, if neither statement nor catalog sets a price."""

TOO_ROUGH = "the size estimate is too rough to say what it would cost"
"""The price of a target, if an estimate shows nothing: no group, or no size above its noise."""


@dataclass(frozen=True)
class KnownPrice:
    """Smallest epsilon that reaches a target, and the source of the group sizes."""

    epsilon: float
    basis: str


@dataclass(frozen=True)
class TargetPrice:
    """Price of an error.

    Attributes:
        target: The target error, in words.
        epsilon: The smallest sufficient epsilon; with `estimate`, the most that estimate and answer together would
            cost.
        basis: Source of the group sizes: "stated size", "any size", "earlier answer" or "size estimate".
        estimate: The cost of a size estimate that has to be bought first; None if none is needed.
        cheapest: For each noisy column, the smallest epsilon for groups of 100, 1 000, 10 000 and 100 000 (or of the
            stated size) whatever their values; infinite if none is sufficient.
        fits: Whether it is within what the statement may cost.
    """

    target: str
    epsilon: float
    basis: str
    estimate: float | None
    cheapest: Mapping[str, Mapping[int, float]]
    fits: bool
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "target": self.target,
            "basis": self.basis,
            "size_estimate": self.estimate,
            "cheapest": finite(self.cheapest),
        }


@dataclass(frozen=True)
class AccuracyFirst:
    """One statement with a target."""

    session: Session
    question: Question
    logical: LogicalPlan
    request: Request
    target: ErrorTarget
    remaining: RemainingBudget
    public: Mapping[str, pa.Table]

    def __post_init__(self) -> None:
        require_foreseeable(self.logical)

    @cached_property
    def maximum(self) -> float:
        """Maximum cost of the statement: the stated price, and no more than the ledger would admit now."""
        low, high = EPSILONS[0], self.request.budget.epsilon
        if self._fits(high):
            return high
        while high > low * PRECISION:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._fits(middle) else (low, middle)
        return low

    @cached_property
    def sample(self) -> PrivateStatement:
        """The statement at some price, to find earlier releases."""
        return self.price(min(self.maximum, 1.0))

    def _fits(self, epsilon: float) -> bool:
        try:
            charge = self.price(epsilon).charge
        except (QueryError, BudgetError):
            return False
        return self.session.ledger.preview(charge, analyst=self.session.analyst)[1]

    def price(self, epsilon: float, delta_share: float = 1.0) -> PrivateStatement:
        """Price the statement at an epsilon."""
        return self.session.price(self.logical, self.request, self.remaining, epsilon, delta_share)

    def known_price(self) -> KnownPrice | None:
        """Return the smallest sufficient price, by public or released sizes; None if sizes must be bought."""
        beta = self._search.forecast.beta
        if self.target.size is not None:
            epsilon = self._search.for_sizes(np.array([float(self.target.size)]), beta)
            if epsilon is not None:
                return KnownPrice(epsilon, "stated size")
        epsilon = self._search.for_any_size()
        if epsilon is not None:
            return KnownPrice(epsilon, "any size")
        return self._stored_price()

    def estimate_price(self) -> float:
        """Return the price of the size estimate."""
        usual = self.session.catalog.defaults.epsilon or USUAL
        base = self.maximum if self.request.budget.epsilon < EPSILONS[1] else min(self.maximum, usual)
        return min(self._search.estimate_epsilon(base), self.maximum / 2)

    def cheapest_by_size(self) -> dict[str, dict[int, float]]:
        """Return, for each noisy column, the smallest epsilon by group size; infinite if none is sufficient."""
        forecast = self._search.forecast
        sizes = SIZES if self.target.size is None else (self.target.size,)
        names = forecast.of_sizes(self.price(1.0), np.array([1.0]), forecast.beta) or {}

        def excess(epsilon: float, *, name: str, size: int) -> float:
            errors_by_name = forecast.of_sizes(self.price(epsilon), np.array([float(size)]), forecast.beta) or {}
            smallest, errors = errors_by_name[name]
            with np.errstate(divide="ignore", invalid="ignore"):
                return float(np.nan_to_num(errors / self.target.allowed(smallest), nan=np.inf).max())

        def cheapest_epsilon(name: str, size: int) -> float:
            epsilon = cheapest(partial(excess, name=name, size=size), *EPSILONS)
            return math.inf if epsilon is None else epsilon

        return {name: {size: cheapest_epsilon(name, size) for size in sizes} for name in names}

    def answer(self) -> Answer:
        """Spend the smallest sufficient price; nothing if an earlier release is sufficient."""
        stored = self.reached()
        if stored is not None:
            return self._answer_stored(stored, self.sample)
        known = self.known_price()
        if known is None:
            return self._after_estimate()
        private = self.price(known.epsilon)
        stored = self.session.find(self.question, private, self.request)
        if stored is not None:
            return self._answer_stored(stored, private)
        if known.epsilon > self.maximum:
            raise too_dear(self.target, known.epsilon, self.maximum)
        return self._buy(private, None)

    def reached(self) -> tuple[StoredRelease, list[Estimator]] | None:
        """Return a stored release that reaches the target, by itself or by the size estimate bought before it."""
        if not self.request.reuse:
            return None
        sample, mechanism = self.sample, self.request.budget.mechanism
        read = self.session.preferred(sample, lambda stored: load_any(stored.payload, sample))
        known = list(islice(read, LOOKED_AT))
        for stored, release in known:
            if self.session.was_bought_by(self.question, sample, stored):
                return stored, release
        for stored, release in known:
            if mechanism != "auto" and any(estimator.plan.mechanism != mechanism for estimator in release):
                continue
            private = replace(sample, parts=tuple(estimator.plan for estimator in release))
            earlier = (pair for pair in known if pair[0].charge < stored.charge)
            older = max(earlier, key=lambda pair: pair[0].charge, default=None)
            sources = [release] if older is None else [older[1], release]
            if any(self._search.is_met(private, source, self.maximum) for source in sources):
                return stored, release
        return None

    def _answer_stored(self, stored: tuple[StoredRelease, list[Estimator]], private: PrivateStatement) -> Answer:
        return self.session.answer_stored(
            self.question, stored, self.logical, private, self.request, self.public, self.remaining
        )

    def _after_estimate(self) -> Answer:
        spent = self.estimate_price()
        small = self.price(spent, DELTA_SHARE)
        estimators, receipt = self.session.buy(replace(self.question, stated=None), self.logical, small, self.remaining)
        with carrying(receipt):
            rest = (self.maximum - spent) * (1 - 1e-9)
            remaining = self.session.remaining()
            search = replace(self._search, price=lambda epsilon: self._rest(epsilon, remaining))
            epsilon = search.for_known(estimators, rest) or search.guess(estimators, rest)
            if epsilon is None:
                raise too_dear(self.target, search.guess(estimators, EPSILONS[1]), rest, TOO_ROUGH)
            return self._buy(self._rest(epsilon, remaining), receipt)

    def _rest(self, epsilon: float, remaining: RemainingBudget) -> PrivateStatement:
        return self.session.price(self.logical, self.request, remaining, epsilon, 1.0 - DELTA_SHARE)

    def _buy(self, private: PrivateStatement, estimate: Receipt | None) -> Answer:
        session, remaining = self.session, self.session.remaining()
        in_one_group = session.price_in_one_group(self.logical, self.request, private, remaining)
        estimators, receipt = session.buy(self.question, self.logical, private, remaining)
        with carrying(receipt):
            summary = paid_summary(self.question.text, private, receipt, estimate)
            return build_answer(
                session.postprocess, self.logical, estimators, self.public, self.request, summary, in_one_group
            )

    @property
    def _search(self) -> EpsilonSearch:
        forecast = ErrorForecast(self.logical, self.request, self.session.postprocess, self.public)
        return EpsilonSearch(forecast, self.target, partial(self.price, delta_share=1.0))

    def _stored_price(self) -> KnownPrice | None:
        """The price by an earlier release of the same measures, or by a count of the same rows: reading is free."""
        sample = self.sample
        for stored in self.session.earlier(sample)[:LOOKED_AT]:
            known = load_any(stored.payload, sample)
            epsilon = None if known is None else self._from_known(known)
            epsilon = epsilon or self._from_sizes(stored.payload, sample)
            if epsilon is not None:
                return KnownPrice(epsilon, "earlier answer")
        return None

    def _from_known(self, known: Sequence[Estimator]) -> float | None:
        """Return the price by an earlier release; more than `maximum` if that surely fails; None if it is unknown."""
        search = self._search
        epsilon = search.for_known(known, self.maximum)
        if epsilon is None and search.is_hopeless(known, self.maximum):
            return search.guess(known, EPSILONS[1]) or EPSILONS[1]
        return epsilon

    def _from_sizes(self, payload: bytes, sample: PrivateStatement) -> float | None:
        if len(sample.parts) != 1:
            return None
        beta = self._search.forecast.beta
        sizes = known_sizes(payload, sample.parts[0], sizes_level(beta))
        if sizes is None or not len(sizes):
            return None
        ordered = np.sort(sizes)
        if len(ordered) > 100:  # of a table with many groups, at most a hundred
            ordered = ordered[np.linspace(0, len(ordered) - 1, 100).astype(int)]
        return self._search.for_sizes(ordered, beta - sizes_level(beta), self.maximum)


def price_target(target: AccuracyFirst) -> TargetPrice:
    """Price the error that a statement asks for, in all, and column by column for groups of public sizes. Free."""
    known, cheapest_by_size = target.known_price(), target.cheapest_by_size()
    if known is not None:
        fits = known.epsilon <= target.maximum
        notes = () if fits else (f"It costs more than epsilon {target.maximum:.4g}, the limit of this statement.",)
        return TargetPrice(str(target.target), known.epsilon, known.basis, None, cheapest_by_size, fits, notes)
    estimate = target.estimate_price()
    note = (
        f"A size estimate would be bought first, for epsilon {estimate:.4g}; the price is the most that both may cost."
    )
    return TargetPrice(
        str(target.target), target.maximum, "size estimate", estimate, cheapest_by_size, fits=True, notes=(note,)
    )
