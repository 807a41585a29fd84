"""Answers for people: a table on the terminal and one in a notebook."""

import html
import io
from typing import TYPE_CHECKING

from hedgerow.answer.plain import shown

if TYPE_CHECKING:
    from rich.table import Table

    from hedgerow.answer.table import Answer

MOST_ROWS = 200


def rich_table(answer: "Answer") -> "Table":
    """The answer as a Rich table; numbers with their error to the right."""
    from rich.table import Table  # noqa: PLC0415 - slow to import, and many answers are never printed

    table = Table()
    noisy = {name for row in answer.intervals for name in row}
    for name in answer.columns:
        table.add_column(name, justify="right" if name in noisy else "left", no_wrap=True)
    for row in _cells(answer):
        table.add_row(*row)
    return table


def text_table(answer: "Answer") -> str:
    """The answer as plain text."""
    from rich.console import Console  # noqa: PLC0415 - likewise

    buffer = io.StringIO()
    console = Console(
        file=buffer, width=max(80, 30 * len(answer.columns)), color_system=None, highlight=False, markup=False
    )
    console.print(rich_table(answer))
    console.print(caption(answer))
    return buffer.getvalue().rstrip("\n")


def html_table(answer: "Answer") -> str:
    """The answer as an HTML table."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in answer.columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in _cells(answer))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{html.escape(caption(answer))}</p>"


def _cells(answer: "Answer") -> list[list[str]]:
    columns = [answer[name] for name in answer.columns]
    rows = list(zip(*columns, strict=True))[:MOST_ROWS]
    return [
        [shown(value, intervals.get(name)) for name, value in zip(answer.columns, row, strict=True)]
        for row, intervals in zip(rows, answer.intervals, strict=False)
    ]


def caption(answer: "Answer") -> str:
    """One line below the table: what ± means, and what was paid."""
    rows = "" if len(answer) <= MOST_ROWS else f"the first {MOST_ROWS} of {len(answer):,} rows; "
    if answer.receipt.id is None and not answer.receipt.reused:
        return f"{rows}public data: exact, free"
    charge = answer.receipt.charge
    price = f"epsilon {charge.epsilon:g}, delta {charge.delta:g}, {answer.receipt.share:.2%} of the budget"
    price = "free: answered before" if answer.receipt.reused else price
    return f"{rows}± at {answer.confidence:.10g} confidence; {price}"
