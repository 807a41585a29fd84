"""The page of the history: questions that were paid for, found by their words, and opened again for free."""

import asyncio
import json
from collections.abc import Sequence
from datetime import datetime

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.figures import figure as rounded
from hedgerow.ledger import HistoryEntry
from hedgerow.service.access.model import Role
from hedgerow.service.access.rights import keep_answer
from hedgerow.service.console.parts import Debounced, box, button, card, empty_state, notice, refusal, text
from hedgerow.service.console.visit import INTERFACE, Visit
from hedgerow.session.draft import is_question
from hedgerow.session.stored import options_of

AT_ONCE = 25
"""Number of questions that are listed before somebody asks for more."""

PAUSE = 0.2
"""Seconds without a keystroke after which the list is searched."""

STATUS = {"answered": "", "failed": "failed, and charged", "charged": "no answer arrived; charged"}
"""Words for what became of a charge."""


async def history_page(visit: Visit) -> None:
    """Draw the page: an analyst's own questions, and for owners and auditors everybody's."""
    history = await visit.gateway.history(visit.identity, visit.dataset, interface=INTERFACE)
    entries = [entry for entry in reversed(history) if entry.question]
    if not entries:
        empty_state(
            "history",
            "No question has been paid for yet",
            "Paid questions are listed here. Search them by their words, and open them again for free.",
            ("Ask a question", visit.link("/")),
        )
        return
    HistoryList(visit, entries)


class HistoryList:
    """The list, as far as it is shown, and the words that it is searched for."""

    def __init__(self, visit: Visit, entries: Sequence[HistoryEntry]) -> None:
        self._visit, self._entries = visit, entries
        self._dialect = visit.gateway.view(visit.identity, visit.dataset).dialect
        self._shown = AT_ONCE
        self._drawn: list[HistoryEntry] = []
        self._searching = Debounced(self._search_anew, PAUSE)
        with card():
            self._search = ui.input("Search questions, analysts and days", value=visit.query.get("q", "")[:200])
            self._search.props("dense outlined clearable type=search").classes("full-width")
            self._search.on_value_change(lambda _: self._searching.soon())
            self._number = text("p", "", "hr-quiet hr-small").props("aria-live=polite")
            self._problem = box("div", "hr-stack")
            self._list = box("ul", "hr-history").props('aria-label="Questions"')
            self._more = button("Show more", self._show_more)
        self._draw()

    async def _search_anew(self) -> None:
        self._shown = AT_ONCE
        self._draw()

    def _show_more(self) -> None:
        self._shown += 4 * AT_ONCE
        self._draw()

    def _draw(self) -> None:
        matched = matching(self._entries, self._search.value or "")
        of = "question" if len(self._entries) == 1 else "questions"
        count = (
            f"{len(matched):,} of {len(self._entries):,}" if len(matched) < len(self._entries) else f"{len(matched):,}"
        )
        self._number.set_text(f"{count} {of}")
        self._more.set_visibility(len(matched) > self._shown)
        shown = matched[: self._shown]
        if shown == self._drawn:  # a button that has the focus stays
            return
        self._drawn = shown
        self._list.clear()
        with self._list:
            for entry in shown:
                self._line(entry)

    def _line(self, entry: HistoryEntry) -> None:
        epsilon, status = entry.charge.get("epsilon", 0.0), STATUS.get(entry.status, entry.status)
        with box("li"):
            with box("div", "hr-row hr-small hr-quiet"):
                text("time", f"{shown_time(entry.time)} UTC").props["datetime"] = entry.time
                text("span", entry.analyst or "")
                text("span", f"epsilon {rounded(epsilon)}", "hr-number")
                if status:
                    text("span", status, "hr-badge hr-badge-warn")
            text("pre", entry.question, "hr-code hr-clamped").props("tabindex=0")
            if entry.params:
                text("p", f"with {json.dumps(entry.params, ensure_ascii=False)}", "hr-small hr-quiet hr-mono")
            with box("div", "hr-row"):
                number = f"question {entry.sequence}"
                if not is_question(entry, self._dialect):
                    text("span", "A batch, or bounds that were found: it has no answer here.", "hr-small hr-quiet")
                    return
                if entry.status == "answered":
                    opened = button("Open, free", lambda: self._open(entry), icon="link", kind="plain")
                    opened.props["aria-label"] = f"Open {number}, free"
                if self._visit.identity.role is not Role.AUDITOR:
                    edited = button(
                        "Open in the editor",
                        lambda: ui.navigate.to(self._visit.editor(entry.question, entry.params)),
                        kind="plain",
                    )
                    edited.props["aria-label"] = f"Open {number} in the editor"

    async def _open(self, entry: HistoryEntry) -> None:
        """Answer from what is stored, keep the answer, and go to its address."""
        visit = self._visit
        self._problem.clear()
        try:
            identity, boards = visit.identity, visit.parts.boards
            answer = await visit.gateway.answer_again(identity, visit.dataset, entry, interface=INTERFACE)
            options = options_of(visit.gateway.view(identity, visit.dataset), entry)
            name = await asyncio.to_thread(
                keep_answer,
                boards,
                identity,
                visit.dataset,
                entry.question,
                answer,
                params=entry.params,
                options=options,
            )
        except HedgerowError as error:
            with self._problem:
                if error.code == "not-stored":
                    with notice("warn", error.message):
                        text(
                            "p", "The catalog was changed since it was answered. Ask it anew; its price is shown first."
                        )
                        ui.link("To the editor", visit.editor(entry.question, entry.params))
                else:
                    refusal(error)
        else:
            ui.navigate.to(visit.link("/answer", id=name))


def matching(entries: Sequence[HistoryEntry], words: str) -> list[HistoryEntry]:
    """Return the entries that have every word in their question, parameters, analyst, day or status."""
    wanted, matched = words.casefold().split(), []
    if not wanted:
        return list(entries)
    for entry in entries:
        parts = (entry.question, json.dumps(entry.params), entry.analyst or "", entry.time[:10], entry.status)
        searched = " ".join(parts).casefold()
        if all(word in searched for word in wanted):
            matched.append(entry)
    return matched


def shown_time(time: str) -> str:
    """Return the time of an entry as people read it."""
    return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M}"
