"""What the error bars have to say in words."""

from collections.abc import Collection

from hedgerow.answer.plain import on_one_line
from hedgerow.answer.population import MEANING, about_people
from hedgerow.answer.released import ReleasedTable

MOST_ROWS = 200
"""How many rows people are shown; programs get all of them."""


def notes(answer: ReleasedTable, only: Collection[str] | None = None) -> list[str]:
    """What is said of the answer as a whole, each note of the error bars once with its columns, and of populations.

    Args:
        answer: The answer.
        only: The columns whose error bars are shown, where these are not all.
    """
    columns: dict[str, dict[str, None]] = {}
    for row in answer.intervals:
        for name, bar in row.items():
            if bar.note and (only is None or name in only):
                columns.setdefault(bar.note, {})[on_one_line(name)] = None
    found = [f"{', '.join(names)}: {note}" for note, names in columns.items()]
    return [*answer.notes, *found, *([MEANING] if about_people(answer) else [])]


def caption(answer: ReleasedTable) -> str:
    """One line below the table: what ± means, and what was paid."""
    rows = "" if len(answer) <= MOST_ROWS else f"the first {MOST_ROWS} of {len(answer):,} rows; "
    if answer.receipt.id is None and not answer.receipt.reused:
        return f"{rows}public data: exact, free"
    charge = answer.receipt.charge
    price = f"epsilon {charge.epsilon:g}, delta {charge.delta:g}, {answer.receipt.share:.2%} of the budget"
    if answer.receipt.payments:
        parts = ", ".join(f"{paid.purpose} {paid.charge.epsilon:g}" for paid in answer.receipt.payments)
        price = f"{price} ({parts})"
    price = "free: answered before" if answer.receipt.reused else price
    return f"{rows}± at {answer.confidence:.10g} confidence; {price}"
