"""A budget for people and programs: state of the filter, analysts, accountants, spending over time, every charge."""

import json
import math
import textwrap
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from json import loads
from typing import Any

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
from hedgerow.accounting.accountants import as_float
from hedgerow.accounting.budget import Cost, Spending
from hedgerow.catalog import BudgetPolicy
from hedgerow.cli.output import NAMES, bar, printable, say, show, show_table, stdout, used_bars
from hedgerow.figures import figure, percent
from hedgerow.ledger import AnalystView, BudgetView, HistoryEntry, Ledger, Verification
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.ledger.limits import LedgerTerms
from hedgerow.session.forecast import total
from hedgerow.session.page import spending
from hedgerow.session.quote import share_of

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
    remaining_by_name = {
        NAMES[name]: ((1.0 - used) * float(getattr(book.caps, name)), mean[name]) for name, used in view.used.items()
    }
    caps = LedgerTerms.of(policy).lifetime_caps
    if policy.refresh is not None and policy.lifetime is not None and caps is not None:
        for name, amount in cost_of(charges).items():
            remaining_by_name[f"the lifetime's {NAMES[name]}"] = (float(getattr(caps.cost, name)) - amount, mean[name])
    if policy.queries is not None:
        remaining_by_name["the number of queries"] = _number_left(book, policy.queries, view, len(last))
    numbers = {
        name: math.floor(max(0.0, remaining) / price * ROUNDING)
        for name, (remaining, price) in remaining_by_name.items()
        if price
    }
    first = min(numbers, key=lambda name: numbers[name]) if numbers else None
    return None if first is None else Outlook(numbers[first], len(last), first)


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
    analysts = dict(view.analysts)  # everybody who was charged, and then those with a cap of their own who were not
    for name in policy.analysts:
        if name not in analysts and name != ANONYMOUS:
            own = book.budget(name)
            analysts[name] = AnalystView(own.limit, own.spent, own.remaining, own.used, own.queries)
    return BudgetReport(
        policy,
        book.caps,
        view,
        analysts,
        history,
        total(events_in(charges), policy.delta) if charges else {},
        lifetime_used(policy, charges),
        outlook(book, policy, view, charges),
        checked,
    )


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
    proved = (
        "–" if epsilon is None else f"{epsilon:.4g}" if math.isfinite(epsilon) else "nothing"
        for epsilon in epsilons.values()
    )
    table.add_row(*proved)
    return table


def without_pld() -> str:
    """Return why the report has no PLD."""
    if find_spec("dp_accounting") is None:
        return "PLD needs the extra `accountants`: pip install 'hedgerow[accountants]'."
    return "PLD cannot say anything about these charges."


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
        say("")
        if report.analysts:
            show_table(_analysts_table(report.analysts))
        if (other := report.policy.analysts.get(ANONYMOUS)) is not None:
            say(f"Every analyst who is not named in the catalog has a cap of epsilon {other.epsilon:g}.")
        _say_wrapped(OF_ANALYSTS)
    if details:
        _details(report)
    if history:
        say("")
        chart(report.history, report.caps)
        say("")
        rows(report.history, report.caps)
    if report.checked is not None:
        checked = report.checked
        say(f"\nThe chain holds: {checked.entries:,} entries, {checked.charges:,} of them charges. It ends in")
        say(f"{checked.tip}\nKeep that hash elsewhere: a chain that was cut short would no longer end in it.")


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


def _say_wrapped(text: str) -> None:
    say(textwrap.fill(text, WIDTH))
