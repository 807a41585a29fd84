"""A budget for people: bars, analysts, history."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from hedgerow.cli.bars import bar, percent, spending, used_bars
from hedgerow.cli.output import say, show, show_table
from hedgerow.ledger import AnalystView, BudgetView, HistoryEntry, Verification

LONGEST_QUESTION = 200


def budget_page(view: BudgetView, pure_epsilon: float, *, history: bool, checked: Verification | None) -> None:
    """Print the page."""
    say(f"{view.dataset}: {view.queries:,} {'charge' if view.queries == 1 else 'charges'} so far")
    say(f"limit      {spending(view.limit)}")
    say(f"spent      {spending(view.spent)}")
    say(f"remaining  {spending(view.remaining)}\n")
    show(used_bars(view.used, pure_epsilon))
    if view.analysts:
        say("")
        show_table(_analysts(view.analysts))
    if history:
        say("")
        show_table(_history(view.history))
    if checked is not None:
        say(f"\nThe chain holds: {checked.entries:,} entries, {checked.charges:,} of them charges. It ends in")
        say(f"{checked.tip}\nKeep that hash elsewhere: a chain that was cut short would no longer end in it.")


def _analysts(analysts: Mapping[str, AnalystView]) -> Table:
    table = Table("analyst", "used", "")
    for name in ("spent", "of", "charges"):
        table.add_column(name, justify="right")
    for name, each in analysts.items():
        most = max(each.used.values())
        cap = "the total" if each.limit is None else f"{each.limit.epsilon:g}"
        table.add_row(name, bar(most, 12), percent(most), f"{each.spent.epsilon:.4g}", cap, f"{each.queries:,}")
    return table


def _history(entries: Sequence[HistoryEntry]) -> Table:
    table = Table("#", "when", "analyst", "epsilon", "status", "question")
    for entry in entries:
        epsilon = entry.charge.get("epsilon")
        table.add_row(
            str(entry.sequence),
            entry.time[:16].replace("T", " "),
            entry.analyst or "",
            "" if epsilon is None else f"{epsilon:g}",
            entry.status,
            " ".join(entry.question.split())[:LONGEST_QUESTION],
        )
    return table
