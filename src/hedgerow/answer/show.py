"""Answers for people: a table on the terminal."""

import io
from collections.abc import Iterator

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from hedgerow.answer.captions import MOST_ROWS, caption, notes
from hedgerow.answer.plain import on_one_line, shown
from hedgerow.answer.population import about_people, cells, headings
from hedgerow.answer.released import ReleasedTable


def rich_table(answer: ReleasedTable) -> Table:
    """The answer as a Rich table; numbers with their error to the right."""
    table = Table()
    people = about_people(answer)
    for name in answer.columns:
        for heading in (name, *(headings(name) if name in people else ())):
            side = "right" if name in answer.noisy else "left"
            table.add_column(Text(on_one_line(heading)), justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in _cells(answer):
        table.add_row(*map(Text, row))
    return table


def text_table(answer: ReleasedTable) -> str:
    """The answer as plain text: a table as wide as its numbers need, what ± means, and each note once."""
    buffer = io.StringIO()
    console = Console(file=buffer, width=100_000, color_system=None, highlight=False, markup=False)
    table = rich_table(answer)
    console.width = max(80, Measurement.get(console, console.options, table).maximum)
    console.print(table)
    lines = [buffer.getvalue().rstrip("\n"), caption(answer), *(f"note: {note}" for note in notes(answer))]
    return "\n".join(lines)


def _cells(answer: ReleasedTable) -> Iterator[list[str]]:
    columns = [answer[name] for name in answer.columns]
    people = about_people(answer)
    rows = list(zip(*columns, strict=True))[:MOST_ROWS]
    for row, bars in zip(rows, answer.intervals, strict=False):
        found: list[str] = []
        for name, value in zip(answer.columns, row, strict=True):
            found += [shown(value, bars.get(name)), *(cells(bars, name) if name in people else ())]
        yield found
