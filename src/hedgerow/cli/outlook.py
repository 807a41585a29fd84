"""What the trail says about the future: how many more questions like the last ones there is room for."""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from json import loads

from hedgerow.accounting import AnyEvent, event_from_dict
from hedgerow.accounting.budget import Cost
from hedgerow.catalog import BudgetPolicy
from hedgerow.cli.bars import NAMES
from hedgerow.ledger import BudgetView, HistoryEntry, Ledger
from hedgerow.ledger.limits import LedgerTerms

LAST = 10
"""How many of the last charges stand for the next ones."""

ROUNDING = 1 + 1e-12


@dataclass(frozen=True, slots=True)
class Outlook:
    """How many more charges like the last ones fit.

    Attributes:
        left: The number; None where there is always a next one (`schedule: open`).
        like: Of how many charges the mean was taken.
        until: What runs out first.
    """

    left: int | None
    like: int
    until: str | None


def charges_in(history: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """The charges among the entries, without the owner's own acts."""
    return [entry for entry in history if "events" in entry.charge]


def events_in(charges: Iterable[HistoryEntry]) -> list[AnyEvent]:
    """Every event of the charges, in order."""
    return [event_from_dict(event) for entry in charges for event in entry.charge["events"]]


def cost_of(charges: Iterable[HistoryEntry]) -> dict[str, float]:
    """What the charges took together from each coordinate."""
    total = {"gaussian": 0.0, "pure": 0.0, "mass": 0.0}
    for event in events_in(charges):
        for name in total:
            total[name] += float(getattr(event.cost, name))
    return total


def outlook(book: Ledger, policy: BudgetPolicy, view: BudgetView, charges: Sequence[HistoryEntry]) -> Outlook | None:
    """The mean of the last charges against what remains, in the coordinate that runs out first; None without a charge.

    It is a guess for people: the next question may cost something else, and the filter decides.
    """
    last = charges[-LAST:]
    if not last:
        return None
    if policy.schedule is not None:
        return Outlook(None, len(last), None)
    mean = {name: amount / len(last) for name, amount in cost_of(last).items()}
    rooms = {NAMES[name]: (room, mean[name]) for name, room in _room(book.caps, view).items()}
    if policy.refresh is not None and policy.lifetime is not None:
        for name, room in _lifetime_room(policy, charges).items():
            rooms[f"the lifetime's {NAMES[name]}"] = (room, mean[name])
    if policy.queries is not None:
        rooms["the number of queries"] = _number_left(book, policy.queries, view, len(last))
    numbers = {name: math.floor(max(0.0, room) / price * ROUNDING) for name, (room, price) in rooms.items() if price}
    first = min(numbers, key=lambda name: numbers[name]) if numbers else None
    return None if first is None else Outlook(numbers[first], len(last), first)


def _room(caps: Cost, view: BudgetView) -> dict[str, float]:
    return {name: (1.0 - used) * float(getattr(caps, name)) for name, used in view.used.items()}


def _lifetime_room(policy: BudgetPolicy, charges: Sequence[HistoryEntry]) -> dict[str, float]:
    caps = LedgerTerms.of(policy).lifetime_caps
    if caps is None:
        return {}
    spent = cost_of(charges)
    return {name: float(getattr(caps.cost, name)) - amount for name, amount in spent.items()}


def lifetime_used(policy: BudgetPolicy, charges: Sequence[HistoryEntry]) -> Mapping[str, float] | None:
    """The fractions of the caps over all periods together; None where the owner set none."""
    caps = LedgerTerms.of(policy).lifetime_caps
    if policy.refresh is None or caps is None:
        return None
    spent, whole = cost_of(charges), caps.cost
    return {name: amount / float(getattr(whole, name)) if amount else 0.0 for name, amount in spent.items()}


def _number_left(book: Ledger, number: int, view: BudgetView, like: int) -> tuple[float, float]:
    """How many basic queries are left, and how many the last charges counted as."""
    lines = deque((loads(line) for line in book.export()), maxlen=3 * LAST)
    counted = [line["body"]["queries"] for line in lines if line["kind"] == "charged"][-like:]
    begun = any(view.used.values())  # a new period begins with a new number
    return number - (lines[-1]["total"]["queries"] if begun else 0), sum(counted) / max(1, len(counted))
