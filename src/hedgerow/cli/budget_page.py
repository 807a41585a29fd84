"""A budget for people: bars, analysts, accountants, history."""

import textwrap
from collections.abc import Mapping

from rich.table import Table

from hedgerow.catalog import BudgetPolicy
from hedgerow.cli import history_page
from hedgerow.cli.accountants import NEVER_DECIDES, accountants_table, without_pld
from hedgerow.cli.bars import bar, used_bars
from hedgerow.cli.budget_report import BudgetReport
from hedgerow.cli.outlook import Outlook
from hedgerow.cli.output import say, show, show_table
from hedgerow.ledger import AnalystView, Verification
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.session.page import percent, spending

WIDTH = 79
OF_ANALYSTS = (
    "An analyst's cap limits what they may spend, not what they see: an answer that was paid for once is given "
    "again for free, to anyone."
)


def budget_page(found: BudgetReport, *, history: bool) -> None:
    """Print the page."""
    _state(found)
    if found.analysts or found.policy.analysts:
        _analysts(found.analysts, found.policy)
    if found.epsilons:
        _accountants(found)
    if history:
        say("")
        history_page.chart(found.history, found.caps)
        say("")
        history_page.rows(found.history, found.caps)
    if found.outlook is not None:
        _ahead(found.outlook)
    if found.checked is not None:
        _chain(found.checked)


def _state(found: BudgetReport) -> None:
    view, policy = found.view, found.policy
    say(f"{view.dataset}: {_charges(view.queries)} so far")
    say(f"limit      {spending(view.limit)}" + ("" if policy.refresh is None else f", anew every {policy.refresh}"))
    say(f"spent      {spending(view.spent)}")
    say(f"remaining  {spending(view.remaining)}\n")
    show(used_bars(view.used, policy.pure_epsilon))
    if found.lifetime is not None and policy.lifetime is not None:
        say(f"\nOver all periods together, of epsilon {policy.lifetime.epsilon:g}:")
        show(used_bars(found.lifetime, policy.pure_epsilon))


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
    for name, each in analysts.items():
        most = max(each.used.values())
        cap = "the total" if each.limit is None else f"{each.limit.epsilon:g}"
        table.add_row(name, bar(most, 12), percent(most), f"{each.spent.epsilon:.4g}", cap, f"{each.queries:,}")
    return table


def _accountants(found: BudgetReport) -> None:
    say(f"\nEpsilon of everything charged so far, at delta {found.policy.delta:.3g}, by each accountant:")
    show_table(accountants_table(found.epsilons))
    if found.epsilons.get("PLD") is None:
        say(without_pld())
    _say_wrapped(NEVER_DECIDES)


def _ahead(ahead: Outlook) -> None:
    like = "the last one" if ahead.like == 1 else f"the last {ahead.like}"
    if ahead.left is None:
        text = "There is always room for another query: each may take less than the one before."
    elif ahead.left == 0:
        text = f"No query like {like} fits any more: {ahead.until} has run out."
    else:
        noun = "query" if ahead.left == 1 else "queries"
        text = f"There is room for about {ahead.left:,} more {noun} like {like}; {ahead.until} would run out first."
    say("")
    _say_wrapped(text)


def _chain(checked: Verification) -> None:
    say(f"\nThe chain holds: {checked.entries:,} entries, {checked.charges:,} of them charges. It ends in")
    say(f"{checked.tip}\nKeep that hash elsewhere: a chain that was cut short would no longer end in it.")


def _charges(number: int) -> str:
    return f"{number:,} {'charge' if number == 1 else 'charges'}"


def _say_wrapped(text: str) -> None:
    say(textwrap.fill(text, WIDTH))
