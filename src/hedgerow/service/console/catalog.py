"""The page of the catalog: an editor that says what is wrong, what a change would do, and what the data would add."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from nicegui import ui

from hedgerow.calibration.calibrate import Calibration, QuotedPart
from hedgerow.catalog.load import TYPES
from hedgerow.catalog.patch import patched
from hedgerow.errors import HedgerowError
from hedgerow.figures import figure as rounded
from hedgerow.figures import percent
from hedgerow.schema import Schema
from hedgerow.service.console.editor import show_marks
from hedgerow.service.console.parts import EDITOR_SCRIPT, Debounced, box, button, card, notice, refusal, table, text
from hedgerow.service.console.visit import INTERFACE, Visit
from hedgerow.session.database import Database
from hedgerow.session.draft import (
    SIZE,
    LineNote,
    QuestionChange,
    check_draft,
    compare_draft,
    diagnose_draft,
    quote_parts,
    schema_of,
)

PAUSE = 0.4
"""Seconds without a keystroke after which a draft is read."""

USUAL_PRICE = 0.1
"""Epsilon of a calibration before somebody types another."""

LENS = 90
"""Number of characters of a finding that are shown beside its line; the list shows all of it."""

LEVELS = {
    "error": ("error_outline", "error", "hr-level-bad"),
    "warning": ("warning_amber", "warning", "hr-level-warn"),
    "ok": ("check_circle", "verified", "hr-level-good"),
    "unknown": ("help_outline", "only you can know", "hr-level-quiet"),
}
"""Icon, words and look of a finding, by its level."""

UNDERLINED = {"error": "hr-refused", "warning": "hr-doubted"}
"""Look of the words that a fault is about; other findings are about a whole line."""

FIELDS = {
    "dataset": "name of the dataset",
    "version": "version of the data; a new one makes old answers stale",
    "timezone": "zone in which times are read",
    "budget": "limits on what may be learnt",
    "epsilon": "privacy loss",
    "delta": "probability, below 1e-5",
    "pure_epsilon": "part of epsilon for Laplace noise",
    "refresh": "period, such as 30d",
    "lifetime": "limit over all periods",
    "per_query": "limit of one statement",
    "queries": "number of questions, each at the same price",
    "accounting": "exact or published",
    "schedule": "open",
    "analysts": "caps by name",
    "ledger": "id of the ledger",
    "defaults": "options of questions that state none",
    "min_frequency": "smallest number of people in a group",
    "confidence": "coverage of intervals",
    "limits": "limits of one statement",
    "tables": "tables by name",
    "unit": "column that names the protected person",
    "unit_unique": "true: one row for each person",
    "public": "true: not about people",
    "max_rows": "rows of one person that count",
    "max_rows_per_group": "rows of one person in a group",
    "max_groups": "groups of one person",
    "size": "most rows of the table",
    "undeclared": "hidden",
    "columns": "columns by name",
    "lower": "smallest value",
    "upper": "largest value",
    "values": "keys that are public knowledge",
    "type": "type of the values",
    "hidden": "true: nobody may ask about it",
    "comment": "words for analysts",
    "through": "table that knows the person",
    "on": "own column: its column",
}
"""Fields of a catalog, and what they say, for completion."""


async def catalog_page(visit: Visit) -> None:
    """Draw the page."""
    written = await asyncio.to_thread(visit.parts.catalogs.text, visit.identity, visit.dataset)
    schema: Schema = await visit.gateway.as_owner(
        visit.identity, visit.dataset, "catalog", schema_of, interface=INTERFACE
    )
    editor = CatalogEditor(visit, written, schema)
    await editor.draw()


class CatalogEditor:
    """The editor with everything around it. What it shows is a draft until it is saved."""

    def __init__(self, visit: Visit, written: str, schema: Schema) -> None:
        self._visit, self._written, self._schema = visit, written, schema
        self._notes: list[LineNote] = []
        self._diagnosing = Debounced(self._diagnose, PAUSE)

    async def draw(self) -> None:
        """Draw editor and panels."""
        first = await self._owner(partial(first_to_calibrate, names=list(self._private)))
        with box("div", "hr-editing"):
            with box("div", "hr-stack hr-editing-text"):
                self._editor = ui.codemirror(
                    self._written,
                    language="YAML",
                    indent="  ",
                    line_wrapping=True,
                    on_change=lambda _: self._typed(),
                    keymap={"Mod-s": self._save},
                ).classes("hr-editor hr-catalog-editor")
                words = json.dumps(list(completions(self._schema)))
                place, script = self._editor.id, EDITOR_SCRIPT
                ui.run_javascript(
                    f'import("{script}").then((script) => script.prepare({place}, "Text of the catalog", {words}))'
                    f".then(() => getElement({place}).editorPromise).then((editor) => editor.scrollDOM.tabIndex = 0)"
                )
                with box("div", "hr-row"):
                    self._save_button = button("Save", self._save, icon="save", kind="primary")
                    self._revert = button("Revert", self._take_back, kind="plain")
                    self._state = text("span", "", "hr-small hr-quiet").props("aria-live=polite")
                self._outcome = box("div", "hr-stack").props("aria-live=polite")
            with box("div", "hr-stack hr-editing-side"):
                with card("Findings"):
                    self._findings = box("div", "hr-stack").props("aria-live=polite")
                    with box("div", "hr-row"):
                        button("Check against the data", self._check, icon="fact_check")
                    said = "This looks at the data without noise: the result is for the owner alone."
                    text("p", said, "hr-small hr-quiet")
                self._list_findings()
                with card("What the change would do", "The latest questions, priced under this text. Free."):
                    self._changes = box("div", "hr-stack").props("aria-live=polite")
                    with box("div", "hr-row"):
                        button("Compare", self._compare, icon="difference")
                self._calibration_card(first)
        self._compared = box("div", "hr-stack")
        self._show_state()

    @property
    def _changed(self) -> bool:
        return bool(self._editor.value != self._written)

    def _typed(self) -> None:
        self._diagnosing.soon()
        self._changes.clear()  # they are about the text before
        self._compared.clear()
        self._show_state()

    async def _diagnose(self) -> None:
        draft = self._editor.value
        try:
            notes = await self._owner(lambda database: diagnose_draft(database, draft))
        except HedgerowError:
            return  # saving shows the reason
        self._notes = notes
        self._mark()
        self._list_findings()
        self._show_state()

    async def _owner(self, work: Callable[[Database], Any]) -> Any:  # noqa: ANN401 - the work's own result
        visit = self._visit
        return await visit.gateway.as_owner(visit.identity, visit.dataset, "catalog", work, interface=INTERFACE)

    def _show_state(self) -> None:
        wrong = any(note.level == "error" for note in self._notes)
        words = "Changed, not saved." if self._changed else "As it is in force."
        if not self._visit.parts.catalogs.writable:
            words = "This service cannot save catalogs."
        self._state.set_text(f"{words} {'It cannot be saved as it is.' if wrong and self._changed else ''}")
        self._save_button.set_enabled(self._changed and not wrong and self._visit.parts.catalogs.writable)
        self._revert.set_visibility(self._changed)

    def _mark(self) -> None:
        """Say beside each line what was found about it, and underline faults."""
        lines, length = self._editor.value.split("\n"), len(self._editor.value)
        marks: list[dict[str, Any]] = []
        tips: dict[int, str] = {}
        for note in self._notes:
            if note.line > len(lines):
                continue
            said = LEVELS[note.level][1]
            if note.level in UNDERLINED:
                said = note.message if len(note.message) <= LENS else f"{note.message[: LENS - 1]}…"
                if note.start < length:
                    end = min(max(note.end, note.start + 1), length)
                    marks.append({"kind": "mark", "from": note.start, "to": end, "class": UNDERLINED[note.level]})
            line_end = sum(len(line) + 1 for line in lines[: note.line]) - 1
            look = f"hr-lens hr-lens-{note.level}"
            lens = {"kind": "widget", "position": min(line_end, length), "text": said, "class": look}
            if lens not in marks:  # several of one line are verified: the tip and the list have them all
                marks.append(lens)
            tips[note.line] = "\n".join(filter(None, (tips.get(note.line), note.message, note.hint)))
        show_marks(self._editor, marks, tips)

    def _list_findings(self) -> None:
        self._findings.clear()
        with self._findings:
            if not self._notes:
                text(
                    "p",
                    "Nothing is wrong with the text." if self._changed else "The catalog in force has no fault.",
                    "hr-quiet",
                )
            with box("ul", "hr-findings"):
                for note in self._notes:
                    self._finding(note)

    def _finding(self, note: LineNote) -> None:
        icon, words, look = LEVELS[note.level]
        with box("li", look):
            ui.icon(icon)
            with box("div", "hr-grow"):
                text("span", f"{words}: ", "visually-hidden")
                place = button(f"line {note.line}", lambda: self._editor.reveal_line(note.line), kind="plain")
                place.classes("hr-line-link").props["aria-label"] = f"Go to line {note.line}"
                text("span", note.message)
                if note.hint:
                    text("div", note.hint, "hr-small hr-quiet")

    async def _check(self) -> None:
        draft = self._editor.value
        self._findings.clear()
        with self._findings:
            text("p", "Looking at the data …", "hr-quiet")
        try:
            self._notes = await self._owner(lambda database: check_draft(database, draft))
        except HedgerowError as error:
            self._findings.clear()
            with self._findings:
                refusal(error)
            return
        self._mark()
        self._list_findings()
        self._show_state()

    async def _compare(self) -> None:
        draft = self._editor.value
        self._changes.clear()
        self._compared.clear()
        try:
            changes = await self._owner(lambda database: compare_draft(database, draft))
        except HedgerowError as error:
            with self._changes:
                refusal(error)
            return
        if draft != self._editor.value:  # it has changed meanwhile
            return
        with self._changes:
            show_summary(changes)
        if changes:
            with self._compared, card("Question by question", "Under the catalog in force, and under this text."):
                show_changes(changes)

    @property
    def _private(self) -> dict[str, list[str]]:
        """Columns of the tables that the catalog names; of all tables if it names none."""
        known = {name: sorted(stored.columns) for name, stored in self._schema.tables.items()}
        return {name: columns for name, columns in known.items() if f"{name}:" in self._written} or known

    def _calibration_card(self, first: str | None) -> None:
        private = self._private
        with card("Calibrate", "Find bounds and limits privately, and pay for them like for a question."):
            chosen = ui.select(list(private), value=first, label="Table").props("dense outlined options-dense")
            columns = ui.select(
                private.get(first or "", []), value=[], multiple=True, label="Columns (all without bounds)"
            )
            columns.props("dense outlined options-dense use-chips")
            chosen.on_value_change(lambda event: columns.set_options(private[event.value], value=[]))
            price = ui.number("For at most epsilon", value=USUAL_PRICE, min=0).props("dense outlined step=any")
            self._price = box("div", "hr-stack").props("aria-live=polite")
            self._calibrated = box("div", "hr-stack").props("aria-live=polite")

            async def quote() -> None:
                await self._quote(chosen.value, columns.value or None, price.value)

            async def run() -> None:
                await self._calibrate(chosen.value, columns.value or None, price.value)
                await quote()

            for control in (chosen, columns, price):
                control.on_value_change(quote)
            with box("div", "hr-row"):
                button("Calibrate and pay", run, icon="straighten")
        ui.timer(0, quote, once=True)

    async def _quote(self, name: str, columns: list[str] | None, epsilon: float | None) -> None:
        """Show the price of each part of a calibration, before anything is paid."""
        if not epsilon or epsilon <= 0:
            self._price.clear()
            with self._price:
                text("p", "Write a price above 0.", "hr-small hr-quiet")
            return
        visit = self._visit
        try:
            view = await visit.gateway.budget(visit.identity, visit.dataset, interface=INTERFACE)
            parts = await self._owner(lambda database: quote_parts(database, name, columns, epsilon))
        except HedgerowError as error:
            self._price.clear()
            with self._price:
                text("p", " ".join(filter(None, (error.message, error.hint))), "hr-small hr-quiet")
            return
        self._price.clear()
        with self._price:
            show_parts(parts)
            left = rounded(view.remaining.epsilon)
            text("p", f"All of it takes at most epsilon {rounded(epsilon)} of the {left} that are left.", "hr-small")

    async def _calibrate(self, name: str, columns: list[str] | None, epsilon: float | None) -> None:
        self._calibrated.clear()
        with self._calibrated:
            text("p", "Calibrating …", "hr-quiet")
        try:
            calibration: Calibration = await self._owner(
                lambda database: database.calibrate(name, columns, epsilon=epsilon)
            )
        except HedgerowError as error:
            self._calibrated.clear()
            with self._calibrated:
                refusal(error)
            return
        self._calibrated.clear()
        with self._calibrated:
            show_calibration(calibration)
            if calibration.changes():
                button("Put into the text", lambda: self._put(calibration), icon="edit")

    def _put(self, calibration: Calibration) -> None:
        """Write what was found into the draft; everything else in it stays, comments too."""
        try:
            self._editor.set_value(patched(self._editor.value, calibration.changes()))
        except (ValueError, AttributeError):
            ui.notify("The text must be a catalog first.")

    async def _save(self) -> None:
        if not self._changed:
            return
        visit, draft = self._visit, self._editor.value
        self._outcome.clear()
        try:
            copy = await visit.parts.catalogs.save(visit.identity, visit.dataset, draft, expected=self._written)
        except HedgerowError as error:
            with self._outcome:
                refusal(error)
            return
        self._written = draft
        with self._outcome, notice("good", "Saved, and in force from the next question on."):
            text("p", f"The catalog before is kept as {copy.name}.")
        self._show_state()

    def _take_back(self) -> None:
        self._editor.set_value(self._written)


def first_to_calibrate(database: Database, names: Sequence[str]) -> str | None:
    """Return the first table about which a calibration has something to find; otherwise the first one."""
    for name in names:
        with suppress(HedgerowError):
            if quote_parts(database, name, None, USUAL_PRICE):
                return name
    return next(iter(names), None)


def show_summary(changes: Sequence[QuestionChange]) -> None:
    """Say in two sentences what a draft would do to the questions of the history."""
    if not changes:
        text("p", "No question was paid for yet, so there is nothing to compare.", "hr-quiet")
        return
    stored = [change for change in changes if change.stored[0]]
    kept = sum(change.stored[1] for change in stored)
    refused = sum(change.refusal is not None for change in changes)
    kind = "good" if kept == len(stored) and not refused else "warn"
    with notice(kind, f"{kept} of {len(stored)} stored answers would still be given again for free."):
        moved = sum(
            before is not None and after is not None and percent(before) != percent(after)  # as the table shows them
            for before, after in (change.share for change in changes)
        )
        text("p", f"{moved} of {len(changes)} questions take another share of the budget; {refused} would be refused.")


def show_changes(changes: Sequence[QuestionChange]) -> None:
    """Show what a draft would do to the questions of the history, one by one."""
    table(
        ("Question", "Share of the budget", f"± in a group of {SIZE:,}", "More that fit", "Stored answer"),
        [
            (
                " ".join(change.question.split())
                if change.refusal is None
                else f"{change.question} — refused: {change.refusal}",
                _turn(*change.share, percent),
                _turn(*change.error, rounded),
                _turn(*change.repeats, lambda number: f"{number:,}"),
                _validity(*change.stored),
            )
            for change in changes
        ],
    ).classes("hr-small")


def _turn(before: Any, after: Any, said: Callable[[Any], str]) -> str:  # noqa: ANN401 - numbers of either kind
    old, new = ("–" if value is None else said(value) for value in (before, after))
    return old if old == new else f"{old} → {new}"


def _validity(before: bool, after: bool) -> str:  # noqa: FBT001 - a pair
    if before and after:
        return "stays free"
    return "would have to be paid again" if before else "becomes free" if after else "none"


def show_parts(parts: Sequence[QuotedPart]) -> None:
    """Show the price of each part of a calibration: of its first look, and of all that may follow from it."""
    rows = [
        (part.name, "free: known already" if part.first == 0 else f"{part.first:.3g}", f"{part.maximum:.3g}")
        for part in parts
    ]
    table(("What", "Epsilon of the first look", "At most"), rows).classes("hr-small")


def show_calibration(calibration: Calibration) -> None:
    """Show what a calibration found, and what it cost."""
    rows = []
    for column in calibration.columns:
        told = column.to_dict()
        ends = "too few people share a range" if column.lower is None else f"{told['lower']} to {told['upper']}"
        rows.append((column.column, ends, f"{column.epsilon:.3g}"))
    for name, limit, value in (
        ("max_rows", calibration.rows, calibration.max_rows),
        ("max_groups", calibration.groups, calibration.max_groups),
    ):
        if limit is not None:
            rows.append((name, "too few people to tell" if value is None else f"{value:,}", f"{limit.epsilon:.3g}"))
    table(("What", "Found", "Epsilon"), rows)
    text("p", f"Paid: epsilon {calibration.charge.epsilon:.3g} in all.", "hr-small hr-quiet")


def completions(schema: Schema) -> Iterator[dict[str, str]]:
    """Yield what the editor proposes: fields, types, and the tables and columns of the database."""
    for name, meaning in FIELDS.items():
        yield {"label": name, "type": "keyword", "detail": meaning}
    for name in TYPES:
        yield {"label": name, "type": "type", "detail": "type"}
    for stored in schema.tables.values():
        yield {"label": stored.name, "type": "class", "detail": "table"}
        for column in stored.columns.values():
            yield {"label": column.name, "type": "property", "detail": f"{stored.name}, {column.type.value}"}
