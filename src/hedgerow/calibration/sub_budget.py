"""Budget of a statement, spent in parts: each internal question is a statement with its own charge."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hedgerow.accounting import gaussian_epsilon, gaussian_mu
from hedgerow.accounting.budget import Budget, Charge, Receipt, Spending
from hedgerow.answer import Payment
from hedgerow.catalog import Catalog
from hedgerow.errors import BudgetError, PolicyError, carrying
from hedgerow.execution.price_policy import sets_price
from hedgerow.execution.request import Question, Request
from hedgerow.execution.session import Session
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.gaussian import HEADROOM
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.privacy.price import takes_gaussian_noise
from hedgerow.release import Estimator

BOUNDS = "bounds"
ROUNDING = 1 - 1e-9
AS_GOOD_AS = 0.5
"""An earlier answer is reused if this part of the price would have bought it."""

MASS_SHARE = 0.2
"""Share of delta for the threshold and stray masses of all parts with Gaussian noise. The rest is for the noise."""

AGREEMENT = 0.8
"""Share of a part's own delta at which its mu and its epsilon agree. The rest is for its threshold."""


@dataclass
class SubBudget:
    """Budget of one statement, and the shares taken from it so far.

    Privacy: every question is priced by its share, charged before a row is read, and released like any statement.
    Shares add up to at most one, and follow from released values. Epsilons and deltas of the parts therefore add up to
    at most those stated (basic composition). Where all parts have Gaussian noise, mu squared is split instead: the mu
    squared of all parts add up to at most the square of `mu`, their masses to at most a fifth of delta, and `mu` at
    the stated epsilon leaves four fifths of delta. So all parts together are (epsilon, delta)-differentially private by
    the theorem of the ledger's filter, with these sums as its caps (docs/proofs/ledger.md).
    """

    session: Session
    query: str
    request: Request
    buy: bool = True
    purpose: str = BOUNDS
    payments: list[Payment] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    taken: float = 0.0
    mu: float | None = field(init=False)

    def __post_init__(self) -> None:
        """Choose once between mu and epsilon, so that all parts have one kind of noise."""
        budget = self.request.budget
        splits_mu = self.request.within is None and takes_gaussian_noise(budget, self.session.remaining())
        self.mu = _common_mu(budget.epsilon, budget.delta) if splits_mu and budget.delta is not None else None

    def part(self, share: float) -> Budget:
        """Return the budget of one part.

        With Gaussian noise it is that share of mu squared, and the (epsilon, delta) of this mu on its own. Neither
        exceeds the requested one.
        """
        whole = self.request.budget
        if self.mu is None or whole.delta is None:
            delta = None if whole.delta is None else whole.delta * share
            return replace(whole, epsilon=whole.epsilon * share, delta=delta)
        delta = whole.delta * MASS_SHARE * share
        mu = min(self.mu * math.sqrt(share), gaussian_mu(whole.epsilon, AGREEMENT * delta))
        epsilon = min(gaussian_epsilon(mu, AGREEMENT * delta), whole.epsilon)
        return replace(whole, epsilon=epsilon, delta=delta, mu=mu)

    def noise_factor(self, share: float, other: float) -> float:
        """Return the ratio of two noise scales: that of the `other` share over that of `share`."""
        return share / other if self.mu is None else math.sqrt(share / other)

    def ask(
        self, plan: LogicalPlan, share: float, subject: str, cells: tuple[int, ...] | None = None
    ) -> list[Estimator]:
        """Answer an internal question from an earlier release, or buy it for a share of the budget.

        The share is taken either way, so that the same question has the same price when it is asked again.
        `cells` lists all keys of a histogram of people over public cells.

        Raises:
            LookupError: Buying is off, and there is no earlier release.
        """
        self.taken += share
        self.shares.append(share)
        known = self.known(plan, share, cells)
        if known is None and not self.buy:
            raise LookupError(subject)
        return known or self._bought(plan, share, subject, cells)

    def known(self, plan: LogicalPlan, share: float, cells: tuple[int, ...] | None = None) -> list[Estimator] | None:
        """Return an earlier release at least as accurate as a fraction of this share would buy."""
        minimum = self.price(plan, share * AS_GOOD_AS, cells)
        stored = self.session.find(Question(self.query), minimum, self.request)
        return None if stored is None else stored[1]

    def price(self, plan: LogicalPlan, share: float, cells: tuple[int, ...] | None = None) -> PrivateStatement:
        """Price a plan at a share of the budget. The limits of the statement do not apply to it.

        Privacy: every cell of a histogram over public cells is released with noise, whether or not anybody is in it,
        so there is no minimum frequency to test. Its counts are shown to nobody.
        """
        own = replace(self.request, budget=self.part(share), max_rows=None, max_groups=None, within=None)
        keys = None
        if cells is not None:
            own, keys = replace(own, min_frequency=1), {plan.releases[0]: tuple((cell,) for cell in cells)}
        return self.session.price(plan, own, self.session.remaining(), public_keys=keys)

    @property
    def receipt(self) -> Receipt | None:
        """Receipt of the latest charge; None where nothing was bought."""
        return self.receipts[-1] if self.receipts else None

    def remaining_share(self) -> float:
        """Return the share that is left."""
        return (1.0 - self.taken) * ROUNDING

    def spent(self, first: int = 0, answer: Spending | None = None) -> Spending:
        """Return the (epsilon, delta) of all questions bought since `first`, including the answer if it was bought.

        Epsilons and deltas are added up. With Gaussian noise, mu squared is added up instead, which costs less.
        """
        charges = [receipt.charge for receipt in self.receipts[first:]]
        paid = [Spending(charge.epsilon, charge.delta) for charge in charges] + ([] if answer is None else [answer])
        total = Spending(sum((part.epsilon for part in paid), 0.0), sum((part.delta for part in paid), 0.0))
        whole = self.request.budget
        if self.mu is None or whole.delta is None or len(paid) <= 1:
            return total
        squares = float(sum(charge.cost.gaussian for charge in charges))
        squares += 0.0 if answer is None else (self.part(self.remaining_share()).mu or 0.0) ** 2
        noise = (1 - MASS_SHARE) * whole.delta
        return Spending(min(gaussian_epsilon(math.sqrt(squares), noise), whole.epsilon), noise + total.delta)

    def price_since(self, first: int) -> float:
        """Return the epsilon of all questions asked since `first`, as if no earlier release had answered them."""
        parts, whole = [self.part(share) for share in self.shares[first:]], self.request.budget
        if self.mu is None or whole.delta is None or len(parts) <= 1:
            return sum(part.epsilon for part in parts)
        mu = math.sqrt(sum((part.mu or 0.0) ** 2 for part in parts))
        return min(gaussian_epsilon(mu, (1 - MASS_SHARE) * whole.delta), whole.epsilon)

    def require(self, statements: Sequence[PrivateStatement]) -> None:
        """Raise an error before anything is spent if the ledger would not admit all parts."""
        budget = self.request.budget
        events = tuple(event for private in statements for event in private.charge.events)
        whole = Charge(events, budget.epsilon, budget.delta or 0.0)
        left, fits = self.session.ledger.preview(whole, analyst=self.session.analyst)
        if not fits:
            raise BudgetError(
                "This takes several charges, and what is left of the budget does not cover all of them.",
                code="parts-too-dear",
                hint="Ask with a smaller epsilon.",
                asked={"epsilon": budget.epsilon},
                left={"epsilon": left.epsilon},
            )

    def _bought(self, plan: LogicalPlan, share: float, subject: str, cells: tuple[int, ...] | None) -> list[Estimator]:
        private = self.price(plan, share, cells)
        question = Question(f"{self.query} /* {subject} */")
        with carrying(self.receipt):
            estimators, receipt = self.session.buy(question, plan, private, self.session.remaining())
        self.receipts.append(receipt)
        charge = Spending(receipt.charge.epsilon, receipt.charge.delta)
        self.payments.append(Payment(self.purpose, receipt.id, charge, receipt.share))
        return estimators


def _common_mu(epsilon: float, delta: float) -> float:
    """Return the mu of all parts together. The looks and the answer each have a reserve for discrete noise."""
    return gaussian_mu(epsilon - 2 * HEADROOM, (1 - MASS_SHARE) * delta * ROUNDING)


def require_free_price(catalog: Catalog) -> None:
    """Refuse to split a price that the owner set for each statement."""
    if sets_price(catalog):
        raise PolicyError(
            "The catalog sets the price of a statement, so it cannot be split into several.",
            code="price-is-set",
            hint="State bounds and limits, or write CLIP(x, lower, upper).",
        )
