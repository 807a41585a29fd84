"""A budget for people: bars, analysts, accountants, spending over time and every charge."""

import json
import math
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from rich.table import Table
from rich.text import Text

from hedgerow.accounting import (
    AnyEvent,
    GaussianEvent,
    LaplaceEvent,
    PureAsGaussianEvent,
    ThresholdEvent,
    event_from_dict,
)
from hedgerow.accounting.accountant import as_float
from hedgerow.accounting.budget import Cost, Spending
from hedgerow.catalog import BudgetPolicy
from hedgerow.cli.budget_report import BudgetReport, Outlook, charges_in, cost_of
from hedgerow.cli.output import NAMES, bar, printable, say, show, show_table, stdout, used_bars
from hedgerow.figures import figure, percent
from hedgerow.ledger import AnalystView, HistoryEntry, Verification
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.session.page import spending
from hedgerow.session.quote import share_of

NEVER_DECIDES = (
    "A report, which never decides: it is what each accountant would prove had these charges been fixed in advance. "
    "What is admitted is decided by the ledger's filter alone (the bars above), which holds however questions depend "
    "on earlier answers."
)


def accountants_table(epsilons: Mapping[str, float | None], *, tightest: str | None = None) -> Table:
    """One column for each accountant, with the epsilon that it proves."""
    table = Table()
    for name in epsilons:
        table.add_column(f"{name} (tightest)" if name == tightest else name, justify="right")
    table.add_row(*(_shown(epsilon) for epsilon in epsilons.values()))
    return table


def without_pld() -> str:
    """Return why the report has no PLD."""
    if find_spec("dp_accounting") is None:
        return "PLD needs the extra `accountants`: pip install 'hedgerow[accountants]'."
    return "PLD cannot say anything about these charges."


def _shown(epsilon: float | None) -> str:
    if epsilon is None:
        return "–"
    return f"{epsilon:.4g}" if math.isfinite(epsilon) else "nothing"


LONGEST_QUESTION = 400
BAR = 24
ROWS = 14
"""Maximum number of bars of a chart."""

PERIODS = {"minute": 16, "hour": 13, "day": 10, "month": 7, "year": 4}
"""Number of characters of an ISO time for each period."""

STATUSES = {"charged": "no answer: still running, or it never finished"}


def chart(entries: Sequence[HistoryEntry], caps: Cost) -> None:
    """Draw the spending over time, in the coordinate with the largest share."""
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
    """Return the charges one by one, or in the shortest periods that make no more than `ROWS` groups."""
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
    largest, total = max(amounts.values()), 0.0
    for label, amount in amounts.items():
        total += amount
        length = bar(amount / largest if largest else 0.0, BAR)
        length.stylize("cyan")
        table.add_row(label, length, Text(percent(amount), justify="right"), Text(f"in all {percent(total)}"))
    return table


def rows(entries: Sequence[HistoryEntry], caps: Cost) -> None:
    """Print every entry: analyst, time, price, outcome; the noise; the question."""
    width = len(str(entries[-1].sequence)) if entries else 1
    for entry in entries:
        status = STATUSES.get(entry.status, entry.status)
        counted = Counter(_words(event_from_dict(event)) for event in entry.charge.get("events", ()))
        noise = ", ".join(words if number == 1 else f"{words} ({number} times)" for words, number in counted.items())
        lines = (
            f"{_when(entry)}  {entry.analyst or 'the owner'}  {_price(entry, caps)}",
            f"{status}; noise: {noise}" if noise else status,
            printable(entry.question, LONGEST_QUESTION),
            _params(entry),
        )
        _block(f"{entry.sequence:>{width}}  ", [line for line in lines if line])
    say("Times are UTC. Noise is in units of what one person can change.")


def _block(label: str, lines: Sequence[str]) -> None:
    """Return lines after a label, wrapped on a terminal only: elsewhere, programs read them."""
    console = stdout()
    if console.is_terminal:
        lines = [piece for line in lines for piece in textwrap.wrap(line, max(20, console.width - len(label)))]
    for line in lines:
        say(label + line)
        label = " " * len(label)


def _when(entry: HistoryEntry) -> str:
    return entry.time[:16].replace("T", " ")


def _price(entry: HistoryEntry, caps: Cost) -> str:
    price = spending(Spending(entry.charge["epsilon"], entry.charge["delta"]))
    if "events" not in entry.charge:
        return price
    cost = sum((event_from_dict(event).cost for event in entry.charge["events"]), Cost())
    return f"{price} ({percent(share_of(cost, caps))})"


def _params(entry: HistoryEntry) -> str:
    """The values that were bound to the question's placeholders."""
    if entry.params is None:
        return ""
    pairs = entry.params.items() if isinstance(entry.params, dict) else enumerate(entry.params, start=1)
    listed = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in pairs)
    return printable(f"with {listed}", LONGEST_QUESTION)


def _words(event: AnyEvent) -> str:
    cost = event.cost
    if isinstance(event, GaussianEvent):
        return f"Gaussian {figure(math.sqrt(as_float(1 / cost.gaussian)))}" if cost.gaussian else "Gaussian"
    if isinstance(event, LaplaceEvent):
        return f"Laplace {figure(as_float(1 / cost.pure))}" if cost.pure else "Laplace"
    if isinstance(event, PureAsGaussianEvent):
        return f"epsilon {figure(as_float(event.epsilon))}, charged as Gaussian"
    if isinstance(event, ThresholdEvent):
        return f"threshold (delta {float(cost.mass):.2g})"
    return event.kind


WIDTH = 79
OF_ANALYSTS = (
    "An analyst's cap limits what they may spend, not what they see: an answer that was paid for once is given "
    "again for free, to anyone."
)


def budget_page(report: BudgetReport, *, history: bool, details: bool = False) -> None:
    """Print the page: used and left, who used it; on request the three caps, the accountants, and every charge."""
    say(str(report.view))
    if report.outlook is not None and report.outlook.left is None:
        say("left  always room for another question: each may take less than the one before")
    if report.policy.refresh is not None:
        say(f"The budget is renewed every {str(report.policy.refresh).removesuffix(', 0:00:00')}.")
    if len(report.analysts) > 1 or report.policy.analysts:
        _analysts(report.analysts, report.policy)
    if details:
        _details(report)
    if history:
        say("")
        chart(report.history, report.caps)
        say("")
        rows(report.history, report.caps)
    if report.checked is not None:
        _chain(report.checked)


def _details(report: BudgetReport) -> None:
    """Print what decides: the three caps; and the epsilon that each accountant would prove."""
    view, policy = report.view, report.policy
    say(f"\nlimit      {spending(view.limit)}")
    say(f"spent      {spending(view.spent)}")
    say(f"remaining  {spending(view.remaining)}\n")
    show(used_bars(view.used, policy.pure_epsilon))
    if report.lifetime is not None and policy.lifetime is not None:
        say(f"\nOver all periods together, of epsilon {policy.lifetime.epsilon:g}:")
        show(used_bars(report.lifetime, policy.pure_epsilon))
    if report.epsilons:
        say(f"\nEpsilon of everything charged so far, at delta {report.policy.delta:.3g}, by each accountant:")
        show_table(accountants_table(report.epsilons))
        if report.epsilons.get("PLD") is None:
            say(without_pld())
        _say_wrapped(NEVER_DECIDES)
    if report.outlook is not None and report.outlook.left is not None:
        _ahead(report.outlook)


def _analysts(analysts: Mapping[str, AnalystView], policy: BudgetPolicy) -> None:
    say("")
    if analysts:
        show_table(_analysts_table(analysts))
    if (other := policy.analysts.get(ANONYMOUS)) is not None:
        say(f"Every analyst who is not named in the catalog has a cap of epsilon {other.epsilon:g}.")
    _say_wrapped(OF_ANALYSTS)


def _analysts_table(analysts: Mapping[str, AnalystView]) -> Table:
    table = Table("analyst", "used", "")
    for name in ("spent", "cap", "charges"):
        table.add_column(name, justify="right")
    for name, view in analysts.items():
        largest = max(view.used.values())
        cap = "the total" if view.limit is None else f"{view.limit.epsilon:g}"
        table.add_row(name, bar(largest, 12), percent(largest), f"{view.spent.epsilon:.4g}", cap, f"{view.queries:,}")
    return table


def _ahead(ahead: Outlook) -> None:
    like = "the last one" if ahead.like == 1 else f"the last {ahead.like}"
    if ahead.left == 0:
        text = f"No query like {like} fits any more: {ahead.until} has run out."
    else:
        noun = "query" if ahead.left == 1 else "queries"
        text = f"There is room for about {ahead.left:,} more {noun} like {like}; {ahead.until} would run out first."
    say("")
    _say_wrapped(text)


def _chain(checked: Verification) -> None:
    say(f"\nThe chain holds: {checked.entries:,} entries, {checked.charges:,} of them charges. It ends in")
    say(f"{checked.tip}\nKeep that hash elsewhere: a chain that was cut short would no longer end in it.")


def _say_wrapped(text: str) -> None:
    say(textwrap.fill(text, WIDTH))
