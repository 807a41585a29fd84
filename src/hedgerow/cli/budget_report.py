"""Everything that `hedgerow budget` shows: state of the filter, analysts, accountants, forecast."""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from json import loads
from typing import Any

from hedgerow.accounting import AnyEvent, event_from_dict
from hedgerow.accounting.budget import Cost
from hedgerow.catalog import BudgetPolicy
from hedgerow.cli.output import NAMES
from hedgerow.ledger import AnalystView, BudgetView, HistoryEntry, Ledger, Verification
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.ledger.limits import LedgerTerms
from hedgerow.session.forecast import total

LAST = 10
"""Number of last charges from which the next ones are predicted."""

ROUNDING = 1 + 1e-12


@dataclass(frozen=True, slots=True)
class Outlook:
    """Number of further charges like the last ones that fit.

    Attributes:
        left: The number; None if there is always a next one (`schedule: open`).
        like: The number of charges in the mean.
        until: The coordinate that runs out first.
    """

    left: int | None
    like: int
    until: str | None


def charges_in(history: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """Return the charges among the entries, without the owner's own actions."""
    return [entry for entry in history if "events" in entry.charge]


def events_in(charges: Iterable[HistoryEntry]) -> list[AnyEvent]:
    """Return the events of all charges, in order."""
    return [event_from_dict(event) for entry in charges for event in entry.charge["events"]]


def cost_of(charges: Iterable[HistoryEntry]) -> dict[str, float]:
    """Return the sum of the charges in each coordinate."""
    total = {"gaussian": 0.0, "pure": 0.0, "mass": 0.0}
    for event in events_in(charges):
        for name in total:
            total[name] += float(getattr(event.cost, name))
    return total


def outlook(book: Ledger, policy: BudgetPolicy, view: BudgetView, charges: Sequence[HistoryEntry]) -> Outlook | None:
    """Compare the mean of the last charges with the remainder of the scarcest coordinate; None without a charge.

    It is an estimate for people: the next question may cost something else, and the filter decides.
    """
    last = charges[-LAST:]
    if not last:
        return None
    if policy.schedule is not None:
        return Outlook(None, len(last), None)
    mean = {name: amount / len(last) for name, amount in cost_of(last).items()}
    remaining_by_name = {NAMES[name]: (left, mean[name]) for name, left in _remaining(book.caps, view).items()}
    if policy.refresh is not None and policy.lifetime is not None:
        for name, remaining in _lifetime_remaining(policy, charges).items():
            remaining_by_name[f"the lifetime's {NAMES[name]}"] = (remaining, mean[name])
    if policy.queries is not None:
        remaining_by_name["the number of queries"] = _number_left(book, policy.queries, view, len(last))
    numbers = {
        name: math.floor(max(0.0, remaining) / price * ROUNDING)
        for name, (remaining, price) in remaining_by_name.items()
        if price
    }
    first = min(numbers, key=lambda name: numbers[name]) if numbers else None
    return None if first is None else Outlook(numbers[first], len(last), first)


def _remaining(caps: Cost, view: BudgetView) -> dict[str, float]:
    return {name: (1.0 - used) * float(getattr(caps, name)) for name, used in view.used.items()}


def _lifetime_remaining(policy: BudgetPolicy, charges: Sequence[HistoryEntry]) -> dict[str, float]:
    caps = LedgerTerms.of(policy).lifetime_caps
    if caps is None:
        return {}
    spent = cost_of(charges)
    return {name: float(getattr(caps.cost, name)) - amount for name, amount in spent.items()}


def lifetime_used(policy: BudgetPolicy, charges: Sequence[HistoryEntry]) -> Mapping[str, float] | None:
    """Return the used fractions of the lifetime caps; None if the owner set none."""
    caps = LedgerTerms.of(policy).lifetime_caps
    if policy.refresh is None or caps is None:
        return None
    spent, whole = cost_of(charges), caps.cost
    return {name: amount / float(getattr(whole, name)) if amount else 0.0 for name, amount in spent.items()}


def _number_left(book: Ledger, number: int, view: BudgetView, like: int) -> tuple[float, float]:
    """Number of basic queries left, and number that the last charges counted as."""
    lines = deque((loads(line) for line in book.export()), maxlen=3 * LAST)
    counted = [line["body"]["queries"] for line in lines if line["kind"] == "charged"][-like:]
    begun = any(view.used.values())  # a new period begins with a new number
    return number - (lines[-1]["total"]["queries"] if begun else 0), sum(counted) / max(1, len(counted))


@dataclass(frozen=True)
class BudgetReport:
    """A budget for display.

    Attributes:
        epsilons: The epsilon that each accountant would prove at the budget's delta, had the charges been fixed in
            advance.
        lifetime: The used fractions of the lifetime caps, if there are any.
        analysts: Everybody who has asked, and everybody with a cap of their own.
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
        ahead, left = self.outlook, self.view.questions_left
        shown = self.view.to_dict() | {
            "analysts": {name: view.to_dict() for name, view in self.analysts.items()},
            "lifetime": None if self.lifetime is None else {"used": dict(self.lifetime)},
            "left": None
            if ahead is None
            else {
                "queries": ahead.left,
                "like": ahead.like,
                "until": ahead.until,
                "like_last": None if left is None else left.last,
                "like_median": None if left is None else left.median,
            },
            "accountants": {"decides": False, "delta": self.policy.delta, "epsilons": dict(self.epsilons)},
        }
        if history:
            shown["history"] = [asdict(entry) for entry in self.history]
        if self.checked is not None:
            shown["verified"] = asdict(self.checked)
        return shown


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
    """Return everybody who was charged, and then those with a cap of their own who were not."""
    views = dict(view.analysts)
    for name in policy.analysts:
        if name not in views and name != ANONYMOUS:
            own = book.budget(name)
            views[name] = AnalystView(own.limit, own.spent, own.remaining, own.used, own.queries)
    return views
