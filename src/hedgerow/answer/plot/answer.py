"""The chart of an answer: one panel for each column of numbers."""

import textwrap

import pyarrow as pa

from hedgerow.answer.plot.alone import alone
from hedgerow.answer.plot.choice import ALONE, PlotChoice, Wanted, choose
from hedgerow.answer.plot.library import AnyChart, altair, harmless
from hedgerow.answer.plot.marks import Panel
from hedgerow.answer.plot.points import notes_of, points
from hedgerow.answer.released import ReleasedTable


def plot_answer(answer: ReleasedTable, schema: pa.Schema, wanted: Wanted) -> AnyChart:
    """Return a panel, or several below each other."""
    library = altair()
    choice = choose(answer, schema, wanted)
    panels = [_panel(answer, choice, name) for name in choice.y]
    return panels[0] if len(panels) == 1 else library.vconcat(*panels)


def _panel(answer: ReleasedTable, choice: PlotChoice, y: str) -> AnyChart:
    found = points(answer, choice, y)
    name = harmless(y)
    chart = alone(found.rows[0], name) if choice.axis == ALONE else Panel(found, choice, name).chart()
    remarks = [*found.remarks, *_noisy_axis(answer, choice), *notes_of(found.rows)]
    lines = [line for text in remarks for line in textwrap.wrap(text, 70)]
    return chart.properties(title={"text": _title(answer, choice, y), "subtitle": lines, "anchor": "start"})


def _title(answer: ReleasedTable, choice: PlotChoice, y: str) -> str:
    keys = [name for name in (choice.x, *choice.colours) if name is not None]
    by = f" by {', '.join(map(harmless, keys))}" if keys and choice.axis != ALONE else ""
    if not len(answer):
        return f"{harmless(y)}{by}: no rows"
    noise = f", {100 * answer.confidence:.10g} % intervals" if y in answer.noisy else ", exact"
    return f"{harmless(y)}{by}{noise}"


def _noisy_axis(answer: ReleasedTable, choice: PlotChoice) -> list[str]:
    noisy = choice.x is not None and choice.x in answer.noisy
    return [f"{harmless(choice.x or '')} is noisy, too; its intervals are not drawn"] if noisy else []
