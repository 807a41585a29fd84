"""What each accountant makes of a list of charges: a report, which never decides."""

import math
from collections.abc import Mapping
from importlib.util import find_spec

from rich.table import Table

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
    """Why there is no PLD in the report."""
    if find_spec("dp_accounting") is None:
        return "PLD needs the extra `accountants`: pip install 'hedgerow[accountants]'."
    return "PLD cannot say anything about these charges."


def _shown(epsilon: float | None) -> str:
    if epsilon is None:
        return "–"
    return f"{epsilon:.4g}" if math.isfinite(epsilon) else "nothing"
