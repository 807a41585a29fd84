"""The pages of the budget and of the history."""

import asyncio
from urllib.parse import quote as quoted

from nicegui import ui

from hedgerow.answer.plot import svg
from hedgerow.errors import HedgerowError
from hedgerow.service.console.parts import error_html, shown
from hedgerow.service.console.visit import DOOR, Visit

LATEST = 500
"""Number of entries of the history that the page shows."""


async def budget_page(visit: Visit) -> None:
    """Draw what is spent and what is left, and what a price would leave."""
    view = await visit.gateway.budget(visit.identity, visit.dataset, door=DOOR)
    shown(view)
    if view.queries:
        try:
            picture = await asyncio.to_thread(lambda: svg(view.plot()))
        except HedgerowError as error:
            picture = error_html(error)
        ui.html(picture, sanitize=False).classes("hr-answer")
    else:
        ui.label("Nothing is spent yet. The first question begins the curve of spending here.").classes("hr-quiet")


async def history_page(visit: Visit) -> None:
    """Draw the questions that were paid for, the latest first. Each can be asked again, free."""
    entries = [
        entry for entry in await visit.gateway.history(visit.identity, visit.dataset, door=DOOR) if entry.question
    ]
    if not entries:
        ui.label("No question has been paid for yet. Each one that is stands here, and can be asked again for free.")
        return
    rows = [
        {
            "number": entry.sequence,
            "time": entry.time[:19].replace("T", " "),
            "analyst": entry.analyst or "",
            "question": entry.question,
            "epsilon": f"{entry.charge.get('epsilon', 0):.3g}",
            "status": entry.status,
        }
        for entry in reversed(entries[-LATEST:])
    ]
    columns = [
        {"name": name, "label": name, "field": name, "align": "left", "sortable": True}
        for name in ("time", "analyst", "question", "epsilon", "status")
    ]
    searched = ui.input("Search").props("dense clearable").classes("hr-search")
    table = ui.table(rows=rows, columns=columns, row_key="number", pagination=20, selection="single").classes(
        "full-width"
    )
    table.classes("full-width").props("dense wrap-cells flat").bind_filter_from(searched, "value")

    def ask_again() -> None:
        if table.selected:
            text = quoted(table.selected[0]["question"])
            ui.navigate.to(f"/?dataset={quoted(visit.dataset)}&sql={text}")

    ui.button("Ask the selected one again, free", on_click=ask_again).props("no-caps flat")
