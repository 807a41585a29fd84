"""The history for people: spending over time, and every charge."""

import json
import math
import textwrap
from collections import Counter
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from hedgerow.accounting import AnyEvent, GaussianEvent, LaplaceEvent, ThresholdEvent, event_from_dict
from hedgerow.accounting.accountant import as_float
from hedgerow.accounting.budget import Cost, Spending
from hedgerow.cli.bars import NAMES, bar
from hedgerow.cli.outlook import charges_in, cost_of
from hedgerow.cli.output import printable, say, show, stdout
from hedgerow.ledger import HistoryEntry
from hedgerow.session.page import figure, percent, spending
from hedgerow.session.quote import share_of

LONGEST_QUESTION = 400
BAR = 24
ROWS = 14
"""How many bars a chart has at most."""

PERIODS = {"minute": 16, "hour": 13, "day": 10, "month": 7, "year": 4}
"""How much of an ISO time names each."""

STATUSES = {"charged": "no answer: still running, or it never finished"}


def chart(entries: Sequence[HistoryEntry], caps: Cost) -> None:
    """Draw what was spent over time, in the coordinate of which most was taken."""
    charges = charges_in(entries)
    if not charges:
        return
    shares = {name: amount / float(getattr(caps, name)) for name, amount in cost_of(charges).items() if amount}
    coordinate = max(shares, key=lambda name: shares[name]) if shares else "gaussian"
    kind, groups = _groups(charges)
    say(f"Spending by {kind} ({NAMES[coordinate]}, as a part of its cap):")
    whole = float(getattr(caps, coordinate))
    show(_bars({label: cost_of(group)[coordinate] / whole for label, group in groups.items()}))


def _groups(charges: Sequence[HistoryEntry]) -> tuple[str, dict[str, list[HistoryEntry]]]:
    """The charges one by one, or in the shortest periods that make no more than `ROWS` groups."""
    if len(charges) <= ROWS:
        return "charge", {f"{entry.sequence:>4}  {_when(entry)}": [entry] for entry in charges}
    for kind, length in PERIODS.items():
        groups: dict[str, list[HistoryEntry]] = {}
        for entry in charges:
            groups.setdefault(entry.time[:length].replace("T", " "), []).append(entry)
        if len(groups) <= ROWS or kind == "year":
            break
    return kind, groups


def _bars(amounts: dict[str, float]) -> Table:
    table = Table.grid(padding=(0, 2))
    most, total = max(amounts.values()), 0.0
    for label, amount in amounts.items():
        total += amount
        length = bar(amount / most if most else 0.0, BAR)
        length.stylize("cyan")
        table.add_row(label, length, Text(percent(amount), justify="right"), Text(f"in all {percent(total)}"))
    return table


def rows(entries: Sequence[HistoryEntry], caps: Cost) -> None:
    """Print every entry: who, when, price, what became of it; the noise; the question."""
    width = len(str(entries[-1].sequence)) if entries else 1
    for entry in entries:
        status = STATUSES.get(entry.status, entry.status)
        noise = _noise(entry)
        lines = (
            f"{_when(entry)}  {entry.analyst or 'the owner'}  {_price(entry, caps)}",
            f"{status}; noise: {noise}" if noise else status,
            printable(entry.question, LONGEST_QUESTION),
            _params(entry),
        )
        _block(f"{entry.sequence:>{width}}  ", [line for line in lines if line])
    say("Times are UTC. Noise is in units of what one person can change.")


def _block(label: str, lines: Sequence[str]) -> None:
    """Lines behind a label, broken on a terminal only: elsewhere, programs read them."""
    console = stdout()
    if console.is_terminal:
        lines = [piece for line in lines for piece in textwrap.wrap(line, max(20, console.width - len(label)))]
    for line in lines:
        say(label + line)
        label = " " * len(label)


def _when(entry: HistoryEntry) -> str:
    return entry.time[:16].replace("T", " ")


def _price(entry: HistoryEntry, caps: Cost) -> str:
    found = spending(Spending(entry.charge["epsilon"], entry.charge["delta"]))
    if "events" not in entry.charge:
        return found
    cost = sum((event_from_dict(event).cost for event in entry.charge["events"]), Cost())
    return f"{found} ({percent(share_of(cost, caps))})"


def _params(entry: HistoryEntry) -> str:
    """The values that were bound to the question's placeholders."""
    if entry.params is None:
        return ""
    pairs = entry.params.items() if isinstance(entry.params, dict) else enumerate(entry.params, start=1)
    listed = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in pairs)
    return printable(f"with {listed}", LONGEST_QUESTION)


def _noise(entry: HistoryEntry) -> str:
    counted = Counter(_words(event_from_dict(event)) for event in entry.charge.get("events", ()))
    return ", ".join(words if number == 1 else f"{words} ({number} times)" for words, number in counted.items())


def _words(event: AnyEvent) -> str:
    cost = event.cost
    if isinstance(event, GaussianEvent):
        return f"Gaussian {figure(math.sqrt(as_float(1 / cost.gaussian)))}" if cost.gaussian else "Gaussian"
    if isinstance(event, LaplaceEvent):
        return f"Laplace {figure(as_float(1 / cost.pure))}" if cost.pure else "Laplace"
    if isinstance(event, ThresholdEvent):
        return f"threshold (delta {float(cost.mass):.2g})"
    return event.kind
