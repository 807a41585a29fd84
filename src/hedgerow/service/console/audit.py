"""The auditor's page: verify the chain of the ledger, look at its latest entries, and take a copy of it along."""

import asyncio

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.figures import figure as rounded
from hedgerow.service.console.history import shown_time
from hedgerow.service.console.parts import box, button, card, notice, refusal, table, text
from hedgerow.service.console.visit import INTERFACE, Visit

OWNERS = {"opened": "The ledger was opened.", "raised": "The budget was raised."}
"""Words for the owner's own entries, by status."""

LATEST = 50
"""Number of entries that the page lists."""


async def audit_page(visit: Visit) -> None:
    """Draw the page."""
    history = await visit.gateway.history(visit.identity, visit.dataset, interface=INTERFACE)
    with card("The chain", "Each entry holds the hash of the one before it, so that none can be changed or left out."):
        result = box("div", "hr-stack").props("aria-live=polite")

        async def verify() -> None:
            result.clear()
            try:
                verified = await visit.gateway.verify(visit.identity, visit.dataset, interface=INTERFACE)
            except HedgerowError as error:
                with result:
                    refusal(error)
                return
            said = f"{verified.entries:,} entries and {verified.charges:,} charges fit together, sum by sum."
            with result, notice("good", said):
                text(
                    "p",
                    "The chain ends in this hash. Keep it elsewhere: a chain that was cut short does not end there.",
                )
                text("code", verified.tip, "hr-hash")

        async def export() -> None:
            try:
                identity = visit.identity
                lines = await asyncio.to_thread(lambda: "\n".join(visit.gateway.export(identity, visit.dataset)))
            except HedgerowError as error:
                with result:
                    refusal(error)
                return
            ui.download.content(f"{lines}\n", f"{visit.dataset}-ledger.jsonl", "application/jsonl")

        with box("div", "hr-row"):
            button("Verify", verify, icon="verified", kind="primary")
            button("Export", export, icon="download")
            text("span", "One line of JSON for each entry; without the answers.", "hr-small hr-quiet")
    with card("Latest entries", f"At most {LATEST}, the latest first."):
        table(
            ("Entry", "Time (UTC)", "Analyst", "What", "Price"),
            [
                (
                    f"{entry.sequence:,}",
                    shown_time(entry.time),
                    entry.analyst or "owner",
                    entry.question or OWNERS.get(entry.status, entry.status),
                    f"epsilon {rounded(entry.charge['epsilon'])}"
                    if entry.question and "epsilon" in entry.charge
                    else "",  # the owner's own entries have no price
                )
                for entry in reversed(history[-LATEST:])
            ],
        )
