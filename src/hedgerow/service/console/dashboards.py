"""The pages of dashboards: a list of them, and one of them with its tiles, to look at, arrange, share and export."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from hedgerow.answer import Answer
from hedgerow.errors import HedgerowError
from hedgerow.service.access.dashboards import WIDEST, Dashboard, Tile, TileView
from hedgerow.service.access.model import Role
from hedgerow.service.access.rights import (
    change_dashboard,
    create_dashboard,
    remove_dashboard,
    visible_answer,
    visible_dashboard,
    visible_dashboards,
)
from hedgerow.service.console.answers import AnswerTable
from hedgerow.service.console.charts import chart_picture
from hedgerow.service.console.export import export_dashboard
from hedgerow.service.console.parts import (
    box,
    button,
    card,
    empty_state,
    icon_button,
    is_narrow_screen,
    refusal,
    text,
)
from hedgerow.service.console.visit import Visit

WIDTHS = {1: "narrow", 2: "wide", WIDEST: "full width"}

NOTE_FOCUS = "document.addEventListener('focusin', (event) => { window.focused = event.target })"
FOCUS_AGAIN = "if (document.activeElement === document.body && window.focused?.isConnected) window.focused.focus()"
"""Scripts for tiles that change places: a browser takes the focus from what is inside an element that it moves."""


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
            "A dashboard shows saved answers side by side. Open an answer from the history, and add it to one. Nothing "
            "is paid for again, however often it is looked at.",
            ("To the history", visit.link("/history")),
        )
        return
    with box("ul", "hr-tiles hr-boards").props('aria-label="Dashboards"'):
        for board in boards:
            with box("li", "hr-card"):
                ui.link(board.title, visit.link("/dashboard", id=board.id)).classes("hr-strong hr-title-link")
                if board.text:
                    text("p", board.text, "hr-small hr-clamped").props("tabindex=0")
                number = "1 tile" if len(board.tiles) == 1 else f"{len(board.tiles)} tiles"
                shared = "shared" if board.shared else "only you"
                said = f"{number}; {shared if board.owner == visit.identity.name else f'by {board.owner}'}"
                text("p", f"{said}; changed {board.changed:%Y-%m-%d %H:%M} UTC", "hr-small hr-quiet")


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
        self._cards: list[TileCard] = []  # in the order of the tiles
        self._saving = asyncio.Lock()

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
        self._cards.clear()
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
                for tile in self._board.tiles:
                    self._cards.append(TileCard(self, tile))
        if self._arranging:
            self._name_controls()
            self._place.client.run_javascript(NOTE_FOCUS)

    def _head(self) -> None:
        board = self._board
        with box("div", "hr-board-head"):
            with box("div", "hr-grow hr-stack"):
                if self._arranging:
                    self._title, self._text = self.text_fields(board.title, board.text)
                else:
                    text("h2", board.title, "hr-board-title")
                    if board.text:
                        text("p", board.text, "hr-prose")
                self._about = text("p", "", "hr-small hr-quiet")
            with box("div", "hr-row"):
                button("Export", self._export, icon="download")
                if self._is_own:
                    if self._arranging:
                        button("Done", partial(self._arrange, on=False), kind="primary")
                    else:
                        button("Arrange", partial(self._arrange, on=True))
                    self._share = button(
                        "", self.changer(lambda: {"shared": not self._board.shared}, self._tell_sharing)
                    )
                if self._is_own or self._visit.identity.role is Role.OWNER:
                    button("Remove", self._remove, kind="plain").classes("hr-danger")
        self._tell_sharing()

    def _tell_sharing(self) -> None:
        board = self._board
        shared = "shared with all who may use the dataset" if board.shared else "seen by its owner alone"
        self._about.set_text(f"by {board.owner}; {shared}; free to look at")
        if self._is_own:
            self._share.set_text("Stop sharing" if board.shared else "Share")

    def text_fields(self, title: str, about: str) -> tuple[ui.input, ui.textarea]:
        """Draw fields for a title and a text, which are saved when the cursor leaves them."""
        fields = (
            ui.input("Title", value=title).props("dense outlined maxlength=200"),
            ui.textarea("Text", value=about).props("dense outlined autogrow"),
        )
        for field in fields:
            field.on("blur", self._save_fields)
        return fields

    def answer(self, tile: Tile) -> Answer | None:
        """Return the answer of a tile, or None if it is no longer stored."""
        known = self._answers.get(tile.answer)
        return None if known is None else known[1]

    def link(self, tile: Tile) -> str:
        """Return the address of the answer of a tile."""
        return self._visit.link("/answer", id=tile.answer)

    @property
    def is_arranging(self) -> bool:
        """True while tiles have controls instead of titles and texts."""
        return self._arranging

    def tile(self, card: "TileCard") -> Tile:
        """Return the tile of a card as it was saved last."""
        return self._board.tiles[self._cards.index(card)]

    def changed_tile(self, card: "TileCard", **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a tile
        """Return the change of the dashboard that changes one tile."""
        tiles = list(self._board.tiles)
        index = self._cards.index(card)
        tiles[index] = replace(tiles[index], **changes)
        return {"tiles": tuple(tiles)}

    async def move(self, card: "TileCard", step: int) -> None:
        """Move a tile before the one before it (-1), or behind the one behind it (1)."""

        def target() -> int:
            return min(max(self._cards.index(card) + step, 0), len(self._cards) - 1)

        def moved() -> dict[str, Any]:
            tiles = list(self._board.tiles)
            tiles.insert(target(), tiles.pop(self._cards.index(card)))
            return {"tiles": tuple(tiles)}

        def redraw() -> None:
            index = target()
            self._cards.remove(card)
            self._cards.insert(index, card)
            card.section.move(target_index=index)
            self._place.client.run_javascript(FOCUS_AGAIN)

        await self.changer(moved, redraw, card)()

    async def remove(self, card: "TileCard") -> None:
        """Remove a tile."""

        def remaining() -> dict[str, Any]:
            index = self._cards.index(card)
            return {"tiles": tuple(tile for at, tile in enumerate(self._board.tiles) if at != index)}

        def redraw() -> None:
            self._cards.remove(card)
            card.section.delete()
            if not self._cards:
                self._redraw()

        await self.changer(remaining, redraw, card)()

    def _name_controls(self) -> None:
        last = len(self._cards) - 1
        for index, tile in enumerate(self._board.tiles):
            self._cards[index].name_controls(tile, is_first=index == 0, is_last=index == last)

    def changer(
        self,
        changes: Callable[[], dict[str, Any]],
        redraw: Callable[[], None],
        card: "TileCard | None" = None,
    ) -> Callable[[], Coroutine[Any, Any, None]]:
        """Return a function that saves what is written in text fields, then changes, and draws what they change.

        Text fields stay as they are, because somebody may be typing into one of them.
        """

        async def change() -> None:
            async with self._saving:
                if card is not None and card not in self._cards:  # the second of two clicks on Remove
                    return
                if not (await self._save_texts() and await self._save(changes)):
                    return
                redraw()
                if self._arranging:
                    self._name_controls()

        return change

    async def _save_fields(self) -> bool:
        """Save what is written in text fields; the page and its cursor stay. Return False if something was refused.

        Every button that draws the page anew calls this first: NiceGUI drops the `blur` event of a field that is
        deleted before the event is handled.
        """
        async with self._saving:
            is_saved = await self._save_texts()
            if is_saved and self._arranging:
                self._name_controls()
            return is_saved

    async def _save_texts(self) -> bool:
        if not self._arranging:
            return True
        return all([await self._save(changes) for changes in (self._written, *(tile.written for tile in self._cards))])

    def _written(self) -> dict[str, Any]:
        return {"title": self._title.value or self._board.title, "text": self._text.value or ""}

    async def _save(self, changes: Callable[[], dict[str, Any]]) -> bool:
        wanted, board = changes(), self._board
        if all(getattr(board, name) == value for name, value in wanted.items()):
            return True
        try:
            self._board = await asyncio.to_thread(
                lambda: change_dashboard(self._visit.parts.boards, self._visit.identity, board.id, **wanted)
            )
        except HedgerowError as error:
            self._problem.clear()
            with self._problem:
                refusal(error)
            return False
        return True

    async def _arrange(self, *, on: bool) -> None:
        """Show the controls of tiles, or save what is written in them and show the tiles alone."""
        if await self._save_fields() and self._arranging != on:  # the second of two clicks changes nothing
            self._arranging = on
            self._redraw()

    async def _export(self) -> None:
        """Offer the dashboard as one file to everyone who may see it."""
        await self._save_fields()
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


class TileCard:
    """One tile on the page of a dashboard, and the controls that arrange it. All of them work with the keyboard."""

    def __init__(self, view: DashboardView, tile: Tile) -> None:
        self._view = view
        with box("section", f"hr-card hr-tile hr-w{tile.width}") as self.section:
            self.section.props["aria-label"] = tile.title
            if view.is_arranging:
                self._controls(tile)
            else:
                text("h3", tile.title)
                if tile.text:
                    text("p", tile.text, "hr-prose")
            answer = view.answer(tile)
            if answer is None:
                text("p", "The answer of this tile is no longer stored.", "hr-quiet")
                return
            self._content = box("div", "hr-stack")
            self._draw(tile)
            with box("div", "hr-row hr-small hr-quiet"):
                text("span", f"± at {answer.confidence:g} confidence", "hr-grow")
                ui.link("Open", view.link(tile)).props["aria-label"] = f"Open {tile.title}"

    def _draw(self, tile: Tile) -> None:
        """Draw the chart and the table, as wide as the tile is."""
        answer = self._view.answer(tile)
        if answer is None:
            return
        self._content.clear()
        with self._content:
            if tile.view is not TileView.TABLE:
                _chart(answer, narrow=tile.width == 1)
            if tile.view is not TileView.CHART:
                AnswerTable(answer)

    def _controls(self, tile: Tile) -> None:
        view = self._view
        with box("div", "hr-row"):
            self._before = icon_button("arrow_back", "Move before", lambda: view.move(self, -1))
            self._behind = icon_button("arrow_forward", "Move behind", lambda: view.move(self, 1))
            width = ui.select(WIDTHS, value=tile.width, label="Width").props("dense outlined options-dense")
            width.on_value_change(view.changer(lambda: view.changed_tile(self, width=width.value), self._redraw, self))
            names = [known.value for known in TileView]
            shown = ui.select(names, value=tile.view.value, label="Show").props("dense outlined options-dense")
            shown.on_value_change(
                view.changer(lambda: view.changed_tile(self, view=TileView(str(shown.value))), self._redraw, self)
            )
            self._remove = icon_button("delete_outline", "Remove", lambda: view.remove(self))
        self._title, self._text = view.text_fields(tile.title, tile.text)

    def _redraw(self) -> None:
        tile = self._view.tile(self)
        self.section.classes(remove=" ".join(f"hr-w{width}" for width in WIDTHS), add=f"hr-w{tile.width}")
        self._draw(tile)

    def name_controls(self, tile: Tile, *, is_first: bool, is_last: bool) -> None:
        """Name the controls after their tile, and disable those that cannot move it."""
        for control, name in (
            (self._before, "Move before: "),
            (self._behind, "Move behind: "),
            (self._remove, "Remove "),
        ):
            control.props["aria-label"] = control.props["title"] = name + tile.title
        self.section.props["aria-label"] = tile.title
        self._before.set_enabled(not is_first)
        self._behind.set_enabled(not is_last)

    def written(self) -> dict[str, Any]:
        """Return the change that the text fields make; an empty title changes nothing."""
        title = self._title.value or self._view.tile(self).title
        return self._view.changed_tile(self, title=title, text=self._text.value or "")


def _chart(answer: Answer, *, narrow: bool) -> None:
    """Draw a chart in the background, in a place that has its height already."""
    place = ui.html("", sanitize=False).classes("hr-picture hr-picture-place")

    async def draw() -> None:
        is_narrow = narrow or await is_narrow_screen()
        place.set_content(await asyncio.to_thread(chart_picture, answer, narrow=is_narrow))
        place.classes(remove="hr-picture-place")

    ui.timer(0, draw, once=True)
