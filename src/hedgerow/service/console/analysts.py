"""The page of accounts: who may ask, about which datasets, and how much. Secrets are shown once, when they are made."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from nicegui import ui

from hedgerow.errors import HedgerowError, ParameterError
from hedgerow.figures import figure as rounded
from hedgerow.figures import percent
from hedgerow.ledger import BudgetView
from hedgerow.service.access.model import Credentials, Identity, Role, UserAccount
from hedgerow.service.access.rights import add_account, remove_account, rotate_account, visible_accounts
from hedgerow.service.console.budget import meter
from hedgerow.service.console.parts import box, button, card, copy_text, notice, refusal, text
from hedgerow.service.console.visit import INTERFACE, Visit

ROLES = {
    Role.ANALYST.value: "analyst: asks questions",
    Role.OWNER.value: "owner: also changes the catalog and accounts",
    Role.AUDITOR.value: "auditor: reads the ledger",
}

Outcome = Callable[[], None]
"""Says what came of a change."""


async def analysts_page(visit: Visit) -> None:
    """Draw the page."""
    await AccountsView(visit).draw()


class AccountsView:
    """The accounts that an owner manages, and what can be done about them."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit

    async def draw(self) -> None:
        """Draw the form, the place of new secrets, and the list."""
        self._problem = box("div", "hr-stack")
        self._secrets = box("div", "hr-stack").props("aria-live=polite")
        self._form()
        self._list = box("div", "hr-stack")
        await self._redraw()

    def _form(self) -> None:
        visit = self._visit
        with card("New account"), box("div", "hr-row hr-fields"):
            name = ui.input("Name").props("dense outlined autocomplete=off").classes("hr-grow")
            role = ui.select(ROLES, value=Role.ANALYST.value, label="Role").props("dense outlined options-dense")
            datasets = ui.select(
                visit.gateway.datasets(visit.identity), value=[visit.dataset], multiple=True, label="Datasets"
            ).props("dense outlined options-dense use-chips")

            async def add() -> Outcome:
                identity = Identity((name.value or "").strip(), Role(role.value), frozenset(datasets.value))
                credentials = await asyncio.to_thread(add_account, visit.gateway.access, visit.identity, identity)
                name.set_value("")
                return partial(self._show_secrets, identity.name, credentials)

            button("Add", self._doing(add), kind="primary")

    async def _redraw(self) -> None:
        visit = self._visit
        accounts = await asyncio.to_thread(visible_accounts, visit.gateway.access, visit.identity)
        budget = await visit.gateway.budget(visit.identity, visit.dataset, interface=INTERFACE)
        caps = await asyncio.to_thread(visit.parts.catalogs.caps, visit.identity, visit.dataset)
        self._list.clear()
        with self._list, card("Accounts", f"Spending and caps are those of {visit.dataset}."):
            for account in accounts:
                self._account(
                    account, budget, None if account.identity.name not in caps else caps[account.identity.name].epsilon
                )

    def _account(self, account: UserAccount, budget: BudgetView, cap: float | None) -> None:
        identity, visit = account.identity, self._visit
        used = "all datasets" if identity.datasets is None else ", ".join(sorted(identity.datasets)) or "no dataset"
        own = budget.analysts.get(identity.name)
        with box("div", "hr-account-row"):
            with box("div", "hr-account-name"):
                text("div", identity.name, "hr-strong")
                text("div", f"{identity.role.value}; {used}", "hr-small hr-quiet")
            with box("div", "hr-account-spent"):
                part = 0.0 if own is None else max(own.used.values())
                of = "of the cap" if own is not None and own.limit is not None else "of the budget"
                meter(part, f"Used by {identity.name}")
                number = 0 if own is None else own.queries
                count = "1 question" if number == 1 else f"{number:,} questions"
                text("div", f"{count}, {percent(part)} {of}", "hr-small hr-quiet hr-number")
            with box("div", "hr-row hr-account-actions"):
                if identity.role is not Role.AUDITOR:
                    self._cap(identity.name, cap)
                renew = button(
                    "New secrets",
                    self._confirmed(
                        f"New secrets for {identity.name}?",
                        "The old password and token stop working at once.",
                        lambda: self._rotate(identity.name),
                    ),
                    kind="plain",
                )
                renew.classes("hr-renew").props["aria-label"] = f"New secrets for {identity.name}"
                if identity.name != visit.identity.name:
                    remove = button(
                        "Remove",
                        self._confirmed(
                            f"Remove {identity.name}?",
                            "What the account has spent stays in the ledger.",
                            lambda: self._remove(identity.name),
                        ),
                        kind="plain",
                    ).classes("hr-danger")
                    remove.props["aria-label"] = f"Remove {identity.name}"

    def _cap(self, name: str, cap: float | None) -> None:
        field = ui.number("Cap on epsilon", value=cap, min=0, placeholder="none")
        field.props("dense outlined step=any").classes("hr-cap").props["aria-label"] = f"Cap on epsilon of {name}"

        async def set_cap() -> Outcome:
            if field.value is None or field.value <= 0:
                raise ParameterError(
                    "A cap is a number above 0.",
                    code="bad-cap",
                    hint="To take a cap away, remove its line from the catalog.",
                )
            visit = self._visit
            await visit.parts.catalogs.set_cap(visit.identity, visit.dataset, name, float(field.value))
            return partial(self._say, f"{name} may spend epsilon {rounded(field.value)} from the next question on.")

        button("Set", self._doing(set_cap), kind="plain").props["aria-label"] = f"Set the cap of {name}"

    async def _rotate(self, name: str) -> Outcome:
        access, identity = self._visit.gateway.access, self._visit.identity
        return partial(self._show_secrets, name, await asyncio.to_thread(rotate_account, access, identity, name))

    async def _remove(self, name: str) -> Outcome:
        await asyncio.to_thread(remove_account, self._visit.gateway.access, self._visit.identity, name)
        return partial(self._say, f"{name} is removed.")

    def _doing(self, work: Callable[[], Awaitable[Outcome]]) -> Callable[[], Coroutine[Any, Any, None]]:
        """Run a change, list the accounts again, and report the result; or show a refusal."""

        async def do() -> None:
            self._problem.clear()
            self._secrets.clear()
            try:
                outcome = await work()
                await self._redraw()
                outcome()
            except HedgerowError as error:
                with self._problem:
                    refusal(error)

        return do

    def _confirmed(self, question: str, consequence: str, work: Callable[[], Awaitable[Outcome]]) -> Callable[[], None]:
        def ask() -> None:
            with ui.dialog() as dialog, ui.card().classes("hr-dialog"):
                dialog.props["aria-label"] = question
                text("h2", question)
                text("p", consequence, "hr-quiet")

                async def confirm() -> None:
                    dialog.close()
                    await self._doing(work)()

                with box("div", "hr-row hr-end"):
                    button("Cancel", dialog.close, kind="plain")
                    button("Yes", confirm, kind="primary")
            dialog.open()

        return ask

    def _say(self, words: str) -> None:
        self._secrets.clear()
        with self._secrets, notice("good", words):
            pass

    def _show_secrets(self, name: str, credentials: Credentials) -> None:
        """Show a password and a token, this one time."""
        self._secrets.clear()
        with self._secrets, notice("good", f"Account {name}. These are shown once, and kept nowhere:"):
            for label, secret in (("password", credentials.password), ("token", credentials.token)):
                with box("div", "hr-row"):
                    text("span", label, "hr-quiet")
                    text("code", secret, "hr-hash")
                    copied = partial(copy_text, json.dumps(secret), f"The {label} is copied.")
                    copy = button("Copy", copied, kind="plain")
                    copy.props["aria-label"] = f"Copy the {label}"
