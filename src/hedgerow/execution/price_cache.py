"""Prices of the plans that a database asked last.

Privacy: a price depends on the plan, the options and the caps of the ledger, never on rows. The ledger decides about
every charge as before.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from hedgerow.accounting.budget import Budget, Cost, RemainingBudget
from hedgerow.aggregates import NeededSums
from hedgerow.plan.nodes import LogicalPlan, Release
from hedgerow.privacy.keys import Key
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.privacy.price import price, takes_gaussian_noise
from hedgerow.recently_used import RecentlyUsed

MAXIMUM_PRICES = 200
"""Number of prices that are kept."""


class CachedPrice(NamedTuple):
    """A price, with all that it took from the ledger: the threshold masses that go with some costs."""

    plan: LogicalPlan
    statement: PrivateStatement
    masses: tuple[tuple[Cost, Fraction], ...]


class PriceCache(RecentlyUsed[CachedPrice]):
    """The prices of one database, for all its threads and analysts."""

    def __init__(self) -> None:
        super().__init__(MAXIMUM_PRICES)

    def price(
        self,
        plan: LogicalPlan,
        budget: Budget,
        remaining: RemainingBudget,
        domains: Mapping[Release, tuple[Key, ...]],
        means: Mapping[Release, Mapping[NeededSums, float]],
        **options: Any,  # noqa: ANN401 - those of `price`
    ) -> PrivateStatement:
        """Price a plan, or return its price where that cannot have changed.

        Statements whose kind of noise depends on the remaining budget, whose keys come from public tables, or that use
        means of earlier releases are priced anew. Plans are compared by identity: they are cached, too.
        """
        gaussian = budget.mu is not None or takes_gaussian_noise(budget, remaining)
        if domains or means or not gaussian:
            return price(plan, budget, remaining, domains=domains, means=means, **options)
        key = (id(plan), budget, *options.items())
        cached = self.get(key)
        if cached is not None and all(remaining.fair_mass(cost) == mass for cost, mass in cached.masses):
            return cached.statement
        masses: list[tuple[Cost, Fraction]] = []

        def fair_mass(cost: Cost) -> Fraction:
            masses.append((cost, remaining.fair_mass(cost)))
            return masses[-1][1]

        statement = price(plan, budget, replace(remaining, fair_mass=fair_mass), **options)
        self.keep(key, CachedPrice(plan, statement, tuple(masses)))
        return statement
