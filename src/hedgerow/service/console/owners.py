"""The pages of requests, accounts and the ledger."""

import asyncio
from collections.abc import Awaitable, Callable

from nicegui import ui

from hedgerow.figures import percent
from hedgerow.service.access.administration import (
    add_account,
    decide_request,
    remove_account,
    rotate_account,
    visible_accounts,
    visible_requests,
)
from hedgerow.service.access.model import ApprovalRequest, Credentials, Identity, RequestState, Role, UserAccount
from hedgerow.service.console.visit import DOOR, Visit


async def requests_page(visit: Visit) -> None:
    """Draw the questions that wait for an owner's word: an analyst's own, and for others everybody's."""
    requests = await asyncio.to_thread(visible_requests, visit.gateway.access, visit.identity, visit.dataset)
    if not requests:
        ui.label("No question waits. One that costs more than the owner lets pass unseen would stand here.")
    for request in reversed(requests):
        _request_card(visit, request)


def _request_card(visit: Visit, request: ApprovalRequest) -> None:
    with ui.card().classes("full-width"):
        ui.label(f"{request.analyst}, {request.created:%Y-%m-%d %H:%M}: {request.state.value}").classes("hr-strong")
        ui.code(request.sql, language="sql").classes("full-width")
        charge = request.quote.get("charge", {})
        ui.label(f"epsilon {charge.get('epsilon', 0):.3g}, {percent(charge.get('share', 0))} of the budget")
        if request.state is not RequestState.PENDING or visit.identity.role is not Role.OWNER:
            return
        problem = ui.html("", sanitize=False)

        def decision(state: RequestState) -> Callable[[], Awaitable[bool]]:
            async def work() -> None:
                await asyncio.to_thread(decide_request, visit.gateway.access, visit.identity, request.id, state)
                ui.navigate.reload()

            return lambda: visit.attempt(work, problem)

        with ui.row():
            ui.button("Grant", on_click=decision(RequestState.GRANTED)).props("no-caps")
            ui.button("Deny", on_click=decision(RequestState.DENIED)).props("no-caps flat")


async def accounts_page(visit: Visit) -> None:
    """Draw the accounts that an owner manages. Secrets are shown once, when they are made."""
    accounts = await asyncio.to_thread(visible_accounts, visit.gateway.access, visit.identity)
    problem, secrets = ui.html("", sanitize=False), ui.column()
    with ui.row().classes("items-end q-gutter-sm"):
        name = ui.input("Name")
        role = ui.select([role.value for role in Role], value=Role.ANALYST.value, label="Role")
        datasets = ui.select(
            visit.gateway.datasets(visit.identity), value=[visit.dataset], multiple=True, label="Datasets"
        )

        async def add() -> None:
            identity = Identity(name.value.strip(), Role(role.value), frozenset(datasets.value))
            show_secrets(
                secrets,
                identity.name,
                await asyncio.to_thread(add_account, visit.gateway.access, visit.identity, identity),
            )

        ui.button("Add", on_click=lambda: visit.attempt(add, problem)).props("no-caps")
    for account in accounts:
        _account_row(visit, account, secrets, problem)


def _account_row(visit: Visit, account: UserAccount, secrets: ui.column, problem: ui.html) -> None:
    identity = account.identity
    used = "all datasets" if identity.datasets is None else ", ".join(sorted(identity.datasets))

    async def rotate() -> None:
        credentials = await asyncio.to_thread(rotate_account, visit.gateway.access, visit.identity, identity.name)
        show_secrets(secrets, identity.name, credentials)

    async def remove() -> None:
        await asyncio.to_thread(remove_account, visit.gateway.access, visit.identity, identity.name)
        ui.navigate.reload()

    with ui.row().classes("items-center full-width"):
        ui.label(identity.name).classes("hr-strong")
        ui.label(identity.role.value).classes("hr-quiet")
        ui.label(used).classes("col-grow")
        ui.button("New password", on_click=lambda: visit.attempt(rotate, problem)).props("flat dense no-caps")
        ui.button("Remove", on_click=lambda: visit.attempt(remove, problem)).props("flat dense no-caps color=red-9")


def show_secrets(place: ui.column, name: str, credentials: Credentials) -> None:
    """Show a password and a token, this one time."""
    place.clear()
    with place, ui.card():
        ui.label(f"Account {name}. These are shown once:").classes("hr-strong")
        ui.code(f"password  {credentials.password}\ntoken     {credentials.token}", language=None)


async def ledger_page(visit: Visit) -> None:
    """Draw the auditor's view: verify the chain, and take a copy of it along."""
    problem, result = ui.html("", sanitize=False), ui.column().props('aria-live="polite"')

    async def verify() -> None:
        verified = await visit.gateway.verify(visit.identity, visit.dataset, door=DOOR)
        result.clear()
        with result:
            ui.label(f"{verified.entries:,} entries and {verified.charges:,} charges fit together, sum by sum.")
            ui.label(f"The chain ends in {verified.tip}. Keep this elsewhere: a truncated chain does not end there.")

    async def export() -> None:
        lines = await asyncio.to_thread(lambda: "\n".join(visit.gateway.export(visit.identity, visit.dataset)))
        ui.download.content(f"{lines}\n", f"{visit.dataset}-ledger.jsonl")

    ui.label("The ledger is a chain of entries: each holds the hash of the one before it.")
    with ui.row():
        ui.button("Verify", on_click=lambda: visit.attempt(verify, problem)).props("no-caps")
        ui.button("Export", on_click=lambda: visit.attempt(export, problem)).props("no-caps flat")
