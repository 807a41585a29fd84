"""The price of a list of queries, for people."""

import math
import textwrap

from rich.table import Table

from hedgerow.cli.accountants import accountants_table, without_pld
from hedgerow.cli.output import printable, say, show_table
from hedgerow.cli.plan import WHY_PLD, PricedList
from hedgerow.session.page import percent

WIDTH = 79
LONGEST_QUESTION = 200
PRICED_ANEW = (
    "Each statement is priced as a new one; where the ledger has its answer already, it is free. Nothing was spent, "
    "and no private row was read."
)


def plan_page(plan: PricedList) -> None:
    """Print the page."""
    found = plan.forecast
    number = len(found.queries)
    say(f"{plan.dataset}: a plan of {number:,} {'query' if number == 1 else 'queries'}, fixed in advance")
    show_table(_prices(plan))
    name, epsilon = found.tightest
    say(f"\nAll of them together, at delta {found.delta:.3g}, by each accountant:")
    show_table(accountants_table(found.epsilons, tightest=name))
    if math.isfinite(epsilon):
        say(f"The tightest valid one is {name}: epsilon {epsilon:.4g}.")
    if found.epsilons.get("PLD") is None:
        say(without_pld())
    say(f"\n{_admitted(found.admitted, number)}\n")
    for text in (WHY_PLD, PRICED_ANEW):
        say(textwrap.fill(text, WIDTH))


def _prices(plan: PricedList) -> Table:
    table = Table("#")
    for name in ("epsilon", "delta", "of the budget"):
        table.add_column(name, justify="right")
    table.add_column("statement")
    rows = zip(plan.forecast.queries, plan.forecast.charges, plan.shares, strict=True)
    for number, (query, charge, share) in enumerate(rows, start=1):
        price = (f"{charge.epsilon:.4g}", f"{charge.delta:.3g}", percent(share)) if charge.events else ("free", "", "")
        table.add_row(str(number), *price, printable(query, LONGEST_QUESTION))
    return table


def _admitted(admitted: int | None, number: int) -> str:
    if admitted is None:
        return "The catalog sets the price of a statement, so the ledger decides about them one by one."
    if admitted == number:
        return f"The ledger's filter would admit all {number:,} of them now."
    if admitted == 0:
        return f"The ledger's filter would admit none of the {number:,} now."
    return f"The ledger's filter would admit the first {admitted:,} of {number:,} now, and then refuse."
