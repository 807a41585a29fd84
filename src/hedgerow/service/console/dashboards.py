"""The pages of dashboards: a list of them, and one of them with its tiles, to look at, arrange, share and export."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from nicegui import ui

from hedgerow.answer import Answer
from hedgerow.errors import HedgerowError
from hedgerow.service.access.dashboards import WIDEST, Dashboard, Tile, TileView
from hedgerow.service.access.model import Role
from hedgerow.service.access.sharing import (
    change_dashboard,
    create_dashboard,
    remove_dashboard,
    visible_answer,
    visible_dashboard,
    visible_dashboards,
)
from hedgerow.service.console.answer_table import AnswerTable
from hedgerow.service.console.charts import chart_picture
from hedgerow.service.console.export import export_dashboard
from hedgerow.service.console.parts import box, button, card, empty_state, icon_button, refusal, text
from hedgerow.service.console.visit import Visit

WIDTHS = {1: "narrow", 2: "wide", WIDEST: "full width"}


async def dashboards_page(visit: Visit) -> None:
    """Draw the list: one's own dashboards, and those that others share."""
    boards = await asyncio.to_thread(visible_dashboards, visit.parts.boards, visit.identity, visit.dataset)
    problem = box("div", "hr-stack")

    async def create() -> None:
        problem.clear()
        try:
            board = await asyncio.to_thread(
                create_dashboard, visit.parts.boards, visit.identity, visit.dataset, title.value or ""
            )
        except HedgerowError as error:
            with problem:
                refusal(error)
        else:
            ui.navigate.to(visit.link("/dashboard", id=board.id))

    with card("New dashboard"), box("div", "hr-row hr-fields"):
        title = ui.input("Title").props("dense outlined maxlength=200").classes("hr-grow").on("keydown.enter", create)
        button("Create", create, kind="primary")
    if not boards:
        empty_state(
            "dashboard",
            "No dashboard yet",
            "A dashboard shows kept answers side by side. Open an answer from the history, and add it to one. Nothing "
            "is paid for again, however often it is looked at.",
            ("To the history", visit.link("/history")),
        )
        return
    with box("ul", "hr-tiles hr-boards").props('aria-label="Dashboards"'):
        for board in boards:
            with box("li", "hr-card"):
                ui.link(board.title, visit.link("/dashboard", id=board.id)).classes("hr-strong hr-title-link")
                if board.text:
                    text("p", board.text, "hr-small hr-clamped")
                number = "1 tile" if len(board.tiles) == 1 else f"{len(board.tiles)} tiles"
                shared = "shared" if board.shared else "only you"
                said = f"{number}; {shared if board.owner == visit.identity.name else f'by {board.owner}'}"
                text("p", f"{said}; changed {board.changed:%Y-%m-%d %H:%M}", "hr-small hr-quiet")


async def dashboard_page(visit: Visit) -> None:
    """Draw one dashboard."""
    board = await asyncio.to_thread(visible_dashboard, visit.parts.boards, visit.identity, visit.query.get("id", ""))
    await DashboardView(replace(visit, dataset=board.dataset), board).draw()


class DashboardView:
    """One dashboard on a page; its owner can turn to arranging it."""

    def __init__(self, visit: Visit, board: Dashboard) -> None:
        self._visit, self._board = visit, board
        self._arranging = False
        self._answers: dict[str, tuple[str, Answer]] = {}

    @property
    def _is_own(self) -> bool:
        return self._board.owner == self._visit.identity.name

    async def draw(self) -> None:
        """Read the answers once, and draw."""
        self._answers = await asyncio.to_thread(self._read)
        self._place = box("div", "hr-stack hr-board")
        self._redraw()

    def _read(self) -> dict[str, tuple[str, Answer]]:
        known = {}
        for tile in self._board.tiles:
            try:
                kept, answer = visible_answer(self._visit.parts.boards, self._visit.identity, tile.answer)
            except HedgerowError:
                continue
            known[tile.answer] = kept.sql, answer
        return known

    def _redraw(self) -> None:
        self._place.clear()
        with self._place:
            self._problem = box("div", "hr-stack")
            self._head()
            if not self._board.tiles:
                empty_state(
                    "add_chart",
                    "No tile yet",
                    "Open an answer from the history, and add it to this dashboard.",
                    ("To the history", self._visit.link("/history")),
                )
            with box("div", "hr-grid"):
                for index, tile in enumerate(self._board.tiles):
                    self._tile(index, tile)

    def _head(self) -> None:
        board = self._board
        with box("div", "hr-board-head"):
            with box("div", "hr-grow hr-stack"):
                if self._arranging:
                    title = ui.input("Title", value=board.title).props("dense outlined maxlength=200")
                    title.on("blur", self._changer(lambda: {"title": title.value or board.title}, redraw=False))
                    about = ui.textarea("Text", value=board.text).props("dense outlined autogrow")
                    about.on("blur", self._changer(lambda: {"text": about.value or ""}, redraw=False))
                else:
                    text("h2", board.title, "hr-board-title")
                    if board.text:
                        text("p", board.text, "hr-prose")
                shared = "shared with all who may use the dataset" if board.shared else "seen by its owner alone"
                text("p", f"by {board.owner}; {shared}; free to look at", "hr-small hr-quiet")
            with box("div", "hr-row"):
                button("Export", self._export, icon="download")
                if self._is_own:
                    button(
                        "Done" if self._arranging else "Arrange", self._turn, kind="primary" if self._arranging else ""
                    )
                    sharing = {"shared": not board.shared}
                    button("Stop sharing" if board.shared else "Share", self._changer(lambda: sharing))
                if self._is_own or self._visit.identity.role is Role.OWNER:
                    button("Remove", self._remove, kind="plain").classes("hr-danger")

    def _tile(self, index: int, tile: Tile) -> None:
        known = self._answers.get(tile.answer)
        with box("section", f"hr-card hr-tile hr-w{tile.width}") as section:
            section.props["aria-label"] = tile.title
            if self._arranging:
                self._arrange(index, tile)
            else:
                text("h3", tile.title)
                if tile.text:
                    text("p", tile.text, "hr-prose")
            if known is None:
                text("p", "The answer of this tile is not kept any more.", "hr-quiet")
                return
            if tile.view is not TileView.TABLE:
                _chart(known[1])
            if tile.view is not TileView.CHART:
                AnswerTable(known[1])
            with box("div", "hr-row hr-small hr-quiet"):
                text("span", f"± at {known[1].confidence:g} confidence", "hr-grow")
                ui.link("Open", self._visit.link("/answer", id=tile.answer)).props["aria-label"] = f"Open {tile.title}"

    def _arrange(self, index: int, tile: Tile) -> None:
        """Draw the controls of one tile. All of them work with the keyboard."""

        def changed(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a tile
            tiles = list(self._board.tiles)
            tiles[index] = replace(tiles[index], **changes)
            return {"tiles": tuple(tiles)}

        def written() -> dict[str, Any]:
            return changed(title=title.value or tile.title, text=about.value or "")

        with box("div", "hr-row"):
            for step, icon, name in ((-1, "arrow_back", "Move before"), (1, "arrow_forward", "Move behind")):
                moved = icon_button(icon, f"{name}: {tile.title}", self._changer(lambda s=step: self._moved(index, s)))  # type: ignore[misc]
                moved.set_enabled(0 <= index + step < len(self._board.tiles))
            width = ui.select(WIDTHS, value=tile.width, label="Width").props("dense outlined options-dense")
            width.on_value_change(self._changer(lambda: changed(width=width.value)))
            views = [view.value for view in TileView]
            view = ui.select(views, value=tile.view.value, label="Show").props("dense outlined options-dense")
            view.on_value_change(self._changer(lambda: changed(view=TileView(str(view.value)))))
            remaining = tuple(other for at, other in enumerate(self._board.tiles) if at != index)
            icon_button("delete_outline", f"Remove {tile.title}", self._changer(lambda: {"tiles": remaining}))
        title = ui.input("Title", value=tile.title).props("dense outlined maxlength=200")
        about = ui.textarea("Text", value=tile.text).props("dense outlined autogrow")
        for field in (title, about):
            field.on("blur", self._changer(written, redraw=False))

    def _moved(self, index: int, step: int) -> dict[str, Any]:
        tiles = list(self._board.tiles)
        tiles.insert(index + step, tiles.pop(index))
        return {"tiles": tuple(tiles)}

    def _changer(
        self, changes: Callable[[], dict[str, Any]], *, redraw: bool = True
    ) -> Callable[[], Coroutine[Any, Any, None]]:
        """Return a function that saves changes. Without `redraw` the page and its cursor stay."""

        async def change() -> None:
            wanted, board = changes(), self._board
            if all(getattr(board, name) == value for name, value in wanted.items()):
                return
            try:
                self._board = await asyncio.to_thread(
                    lambda: change_dashboard(self._visit.parts.boards, self._visit.identity, board.id, **wanted)
                )
            except HedgerowError as error:
                self._problem.clear()
                with self._problem:
                    refusal(error)
            else:
                if redraw or not self._arranging:
                    self._redraw()

        return change

    def _turn(self) -> None:
        self._arranging = not self._arranging
        self._redraw()

    async def _export(self) -> None:
        """Offer the dashboard as one file. Who sees it may take it along."""
        board = await asyncio.to_thread(
            visible_dashboard, self._visit.parts.boards, self._visit.identity, self._board.id
        )
        content = await asyncio.to_thread(export_dashboard, board, self._answers)
        name = re.sub(r"[^A-Za-z0-9]+", "-", board.title).strip("-").lower() or "dashboard"
        ui.download.content(content, f"{name}.html", "text/html")

    async def _remove(self) -> None:
        with ui.dialog().props('aria-label="Remove the dashboard"') as dialog, ui.card().classes("hr-dialog"):
            text("h2", f"Remove {self._board.title}?")
            text("p", "Its answers stay under their own addresses.", "hr-quiet")

            async def confirm() -> None:
                await asyncio.to_thread(
                    remove_dashboard, self._visit.parts.boards, self._visit.identity, self._board.id
                )
                ui.navigate.to(self._visit.link("/dashboards"))

            with box("div", "hr-row hr-end"):
                button("Cancel", dialog.close, kind="plain")
                button("Remove", confirm, kind="danger")
        dialog.open()


def _chart(answer: Answer) -> None:
    """Draw a chart in the background, in a place that has its height already."""
    place = ui.html("", sanitize=False).classes("hr-picture hr-picture-place")

    async def draw() -> None:
        place.set_content(await asyncio.to_thread(chart_picture, answer))
        place.classes(remove="hr-picture-place")

    ui.timer(0, draw, once=True)
