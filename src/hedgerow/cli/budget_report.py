"""Everything that `hedgerow budget` shows, gathered once: the filter's state, analysts, accountants, history."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hedgerow.accounting.budget import Cost
from hedgerow.catalog import BudgetPolicy
from hedgerow.cli.outlook import Outlook, charges_in, events_in, lifetime_used, outlook
from hedgerow.ledger import AnalystView, BudgetView, HistoryEntry, Ledger, Verification
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.session.forecast import total


@dataclass(frozen=True)
class BudgetReport:
    """A budget to read.

    Attributes:
        epsilons: What each accountant would prove at the budget's delta, had the charges been fixed in advance.
        lifetime: The parts of the caps over all periods that are used, where there are such caps.
        analysts: Who has asked, and whoever has a cap of their own.
    """

    policy: BudgetPolicy
    caps: Cost
    view: BudgetView
    analysts: Mapping[str, AnalystView]
    history: Sequence[HistoryEntry]
    epsilons: Mapping[str, float | None]
    lifetime: Mapping[str, float] | None
    outlook: Outlook | None
    checked: Verification | None

    def to_dict(self, *, history: bool) -> dict[str, Any]:
        """The JSON of the command line."""
        ahead = self.outlook
        found = self.view.to_dict() | {
            "analysts": {name: each.to_dict() for name, each in self.analysts.items()},
            "lifetime": None if self.lifetime is None else {"used": dict(self.lifetime)},
            "left": None if ahead is None else {"queries": ahead.left, "like": ahead.like, "until": ahead.until},
            "accountants": {"decides": False, "delta": self.policy.delta, "epsilons": dict(self.epsilons)},
        }
        if history:
            found["history"] = [asdict(entry) for entry in self.history]
        if self.checked is not None:
            found["verified"] = asdict(self.checked)
        return found


def report(book: Ledger, policy: BudgetPolicy, *, verify: bool) -> BudgetReport:
    """Read the ledger, and total what is in it."""
    view = book.budget()
    checked = book.verify() if verify else None
    history = view.history
    charges = charges_in(history)
    return BudgetReport(
        policy,
        book.caps,
        view,
        _analysts(book, policy, view),
        history,
        total(events_in(charges), policy.delta) if charges else {},
        lifetime_used(policy, charges),
        outlook(book, policy, view, charges),
        checked,
    )


def _analysts(book: Ledger, policy: BudgetPolicy, view: BudgetView) -> dict[str, AnalystView]:
    """Whoever was charged, and then those who have a cap of their own and were not."""
    found = dict(view.analysts)
    for name in policy.analysts:
        if name not in found and name != ANONYMOUS:
            own = book.budget(name)
            found[name] = AnalystView(own.limit, own.spent, own.remaining, own.used, own.queries)
    return found
