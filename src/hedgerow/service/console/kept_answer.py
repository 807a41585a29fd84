"""The page of one saved answer, under an address that stays: the same digits, free, for all who may use the dataset."""

import asyncio
import json
from dataclasses import replace

from nicegui import ui

from hedgerow.service.access.model import Role
from hedgerow.service.access.sharing import visible_answer
from hedgerow.service.console.answers import AnswerPanel
from hedgerow.service.console.keeping import add_to_dashboard, copy_link
from hedgerow.service.console.parts import box, button, card, text
from hedgerow.service.console.visit import Visit


async def kept_answer_page(visit: Visit) -> None:
    """Draw the page."""
    kept, answer = await asyncio.to_thread(
        visible_answer, visit.parts.boards, visit.identity, visit.query.get("id", "")
    )
    visit = replace(visit, dataset=kept.dataset)
    with card("Question"):
        text("pre", kept.sql, "hr-code").props("tabindex=0")
        if kept.params:
            text("p", f"with {json.dumps(kept.params, ensure_ascii=False)}", "hr-small hr-quiet hr-mono")
        said = f"{kept.dataset}; saved by {kept.analyst} on {kept.created:%Y-%m-%d %H:%M} UTC. Looking at it is free."
        text("p", said, "hr-small hr-quiet")
        with box("div", "hr-row"):
            copy_link(visit, kept.id)
            add_to_dashboard(visit, kept.id, answer)
            if visit.identity.role is not Role.AUDITOR:
                editor = visit.editor(kept.sql, kept.params)
                button("Open in the editor", lambda: ui.navigate.to(editor), kind="plain")
    await AnswerPanel("Table").show(answer, visit, kept.sql, kept.options, params=kept.params, kept=True)
