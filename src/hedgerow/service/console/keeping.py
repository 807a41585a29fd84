"""Buttons that keep an answer: under an address of its own, and on a dashboard."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from nicegui import ui

from hedgerow.answer import Answer
from hedgerow.answer.plain import on_one_line
from hedgerow.errors import HedgerowError
from hedgerow.service.access.dashboards import LONGEST_TITLE, Tile
from hedgerow.service.access.rights import (
    change_dashboard,
    create_dashboard,
    keep_answer,
    visible_dashboard,
    visible_dashboards,
)
from hedgerow.service.console.parts import box, button, copy_text, refusal, text
from hedgerow.service.console.visit import Visit

NEW = "a new dashboard"

NARROW = 8
"""Number of rows that a narrow tile shows well."""


def keeping_buttons(visit: Visit, sql: str, answer: Answer, options: Mapping[str, Any]) -> None:
    """Draw the buttons that keep an answer: under an address of its own, and on a dashboard."""

    async def keep() -> str | None:
        try:
            return await asyncio.to_thread(
                keep_answer, visit.parts.boards, visit.identity, visit.dataset, sql, answer, options=options
            )
        except HedgerowError as error:
            ui.notify(error.message)
            return None

    async def link() -> None:
        name = await keep()
        if name is not None:
            await _copy(visit.link("/answer", id=name))

    async def place() -> None:
        name = await keep()
        if name is not None:
            await choose_dashboard(visit, name, answer)

    button("Copy link", link, icon="link", kind="plain")
    button("Add to a dashboard", place, icon="dashboard_customize", kind="plain")


def copy_link(visit: Visit, name: str) -> None:
    """Draw the button that copies the address of an answer."""
    button("Copy link", lambda: _copy(visit.link("/answer", id=name)), icon="link", kind="plain")


def add_to_dashboard(visit: Visit, name: str, answer: Answer) -> None:
    """Draw the button that puts a kept answer on a dashboard."""

    async def choose() -> None:
        await choose_dashboard(visit, name, answer)

    button("Add to a dashboard", choose, icon="dashboard_customize", kind="plain")


async def choose_dashboard(visit: Visit, name: str, answer: Answer) -> None:
    """Ask for a dashboard and a title, and put a kept answer on it."""
    title = answer_title(answer)
    boards = await asyncio.to_thread(visible_dashboards, visit.parts.boards, visit.identity, visit.dataset)
    own = {board.id: board.title for board in boards if board.owner == visit.identity.name}
    with ui.dialog().props('aria-label="Add to a dashboard"') as dialog, ui.card().classes("hr-dialog"):
        text("h2", "Add to a dashboard")
        chosen = ui.select({**own, NEW: NEW}, value=next(iter(own), NEW), label="Dashboard").classes("full-width")
        named = ui.input("Name of the new dashboard").classes("full-width")
        named.bind_visibility_from(chosen, "value", value=NEW)
        heading = ui.input("Title of the tile", value=title[:LONGEST_TITLE]).classes("full-width")
        problem = box("div", "hr-stack")

        def add() -> str:
            store, identity = visit.parts.boards, visit.identity
            board = (
                create_dashboard(store, identity, visit.dataset, named.value or "")
                if chosen.value == NEW
                else visible_dashboard(store, identity, chosen.value)
            )
            tile = Tile(name, (heading.value or title)[:LONGEST_TITLE], width=first_width(answer))
            change_dashboard(store, identity, board.id, tiles=(*board.tiles, tile))
            return board.id

        async def confirm() -> None:
            problem.clear()
            try:
                board = await asyncio.to_thread(add)
            except HedgerowError as error:
                with problem:
                    refusal(error)
                return
            dialog.close()
            ui.navigate.to(visit.link("/dashboard", id=board))

        with box("div", "hr-row hr-end"):
            button("Cancel", dialog.close, kind="plain")
            button("Add", confirm, kind="primary")
    dialog.open()


def answer_title(answer: Answer) -> str:
    """Return a first title for an answer: its numbers, and the keys that they are by."""
    numbers = [on_one_line(name) for name in answer.columns if name in answer.noisy] or [on_one_line(answer.columns[0])]
    keys = [on_one_line(name) for name in answer.columns if name not in answer.noisy]
    return f"{' and '.join(numbers)} by {', '.join(keys)}" if keys and answer.noisy else " and ".join(numbers)


def first_width(answer: Answer) -> int:
    """Return the columns that a tile takes at first: more for an answer of many groups or numbers."""
    return 1 if len(answer) <= NARROW and len(answer.columns) <= 2 else 2


async def _copy(address: str) -> None:
    """Copy the address, with the host that the browser knows it by."""
    said = "The address of this answer is copied. It opens for all who may use the dataset."
    await copy_text(f"location.origin + {json.dumps(address)}", said)
