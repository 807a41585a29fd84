"""One open page: who looks at it, and which dataset it shows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.service.access.model import Identity
from hedgerow.service.console.parts import error_html
from hedgerow.service.console.sign_in import Sessions
from hedgerow.service.errors import AccessError
from hedgerow.service.gateway import Gateway

DOOR = "console"


@dataclass
class Visit:
    """One open page of somebody who signed in.

    Attributes:
        gateway: The datasets.
        sessions: The sessions of everybody.
        session: The identifier of this one.
        dataset: The dataset that the page shows.
        api: The address of the HTTP API; None where there is none.
        statement: The statement that the address brought along.
        dark: True for dark colours, False for light ones; None for those of the browser.
    """

    gateway: Gateway
    sessions: Sessions
    session: str | None
    dataset: str = ""
    api: str | None = None
    statement: str | None = None
    dark: bool | None = None

    @property
    def identity(self) -> Identity:
        """Who looks at the page; an error if the session has ended since it was opened."""
        identity = self.sessions.identity(self.session)
        if identity is None:
            raise AccessError("The session has ended.", code="login-refused", hint="Sign in again.")
        return identity

    async def attempt(self, work: Callable[[], Awaitable[None]], problem: ui.html) -> bool:
        """Run what a click asked for; show a refusal in place of a result. Return True if there was none."""
        problem.set_content("")
        try:
            await work()
        except HedgerowError as error:
            problem.set_content(error_html(error))
            return False
        return True
