"""Budget of a statement, spent in parts: each question of our own is a statement with a charge of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hedgerow.accounting.budget import Charge, Receipt, Spending
from hedgerow.answer import Payment
from hedgerow.catalog import Catalog
from hedgerow.errors import BudgetError, PolicyError, carrying
from hedgerow.execution.price_policy import sets_price
from hedgerow.execution.request import Question, Request
from hedgerow.execution.session import Session
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.release import Estimator

BOUNDS = "bounds"
ROUNDING = 1 - 1e-9
AS_GOOD_AS = 0.5
"""An answer that was paid for before is taken if this part of the price would have bought it."""


@dataclass
class SubBudget:
    """Budget of one statement, and what was taken out of it so far.

    Privacy: every question is priced by its share, charged before a row is read, and released like any statement.
    Shares add up to at most one, so that epsilons and deltas add up to at most those stated (basic composition, with
    parameters that may follow from earlier answers, which are released values).
    """

    session: Session
    query: str
    request: Request
    buy: bool = True
    purpose: str = BOUNDS
    payments: list[Payment] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    taken: float = 0.0

    def ask(
        self, plan: LogicalPlan, share: float, subject: str, cells: tuple[int, ...] | None = None
    ) -> list[Estimator]:
        """Answer a question of our own: from what was paid for before, or else bought for a share of it all.

        The share is taken either way, so that the same question comes to the same price when it is asked again.
        `cells` lists all keys of a histogram of people over public cells.

        Raises:
            LookupError: Nothing is bought, and nothing was.
        """
        self.taken += share
        known = self.known(plan, share, cells)
        if known is None and not self.buy:
            raise LookupError(subject)
        return known or self._bought(plan, share, subject, cells)

    def known(self, plan: LogicalPlan, share: float, cells: tuple[int, ...] | None = None) -> list[Estimator] | None:
        """Return an earlier release that is as good as a fraction of this share would buy."""
        least = self.price(plan, share * AS_GOOD_AS, cells)
        stored = self.session.find(Question(self.query), least, self.request)
        return None if stored is None else stored[1]

    def price(self, plan: LogicalPlan, share: float, cells: tuple[int, ...] | None = None) -> PrivateStatement:
        """Price a plan at a share of the budget. The limits of the statement do not apply to it.

        Privacy: every cell of a histogram over public cells is released with noise, whether or not anybody is in it,
        so there is no minimum frequency to test. Its counts are shown to nobody.
        """
        own = replace(self.request, max_rows=None, max_groups=None, within=None)
        keys = None
        if cells is not None:
            own, keys = replace(own, min_frequency=1), {plan.releases[0]: tuple((cell,) for cell in cells)}
        return self.session.price(plan, own, self.session.remaining(), self._epsilon(share), share, keys)

    @property
    def receipt(self) -> Receipt | None:
        """Receipt of the latest charge; None where nothing was bought."""
        return self.receipts[-1] if self.receipts else None

    def remaining_share(self) -> float:
        """Return the share that is left."""
        return (1.0 - self.taken) * ROUNDING

    def spent(self) -> Spending:
        """Return what was paid so far."""
        paid = [payment.charge for payment in self.payments]
        return Spending(sum((c.epsilon for c in paid), 0.0), sum((c.delta for c in paid), 0.0))

    def require(self, statements: Sequence[PrivateStatement]) -> None:
        """Refuse, before anything is spent, what the ledger would not admit all of."""
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

    def _epsilon(self, share: float) -> float:
        return self.request.budget.epsilon * share


def require_free_price(catalog: Catalog) -> None:
    """Refuse to split a price that the owner set for each statement."""
    if sets_price(catalog):
        raise PolicyError(
            "The catalog sets the price of a statement, so it cannot be split into several.",
            code="price-is-set",
            hint="State bounds and limits, or write CLIP(x, lower, upper).",
        )
