"""One authenticated request: its caller, the parts of the service that answer, and the running statements by name."""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends
from fastapi.security import HTTPBearer
from starlette.requests import Request

from hedgerow.errors import BackendError, HedgerowError, ParameterError
from hedgerow.service.access.model import AccessStore, Identity
from hedgerow.service.approvals import A
from hedgerow.service.errors import ServiceError
from hedgerow.service.gateway import Gateway, RunningStatement
from hedgerow.service.http.authentication import Authenticator
from hedgerow.service.http.responses import JSON, chosen_format
from hedgerow.service.monitoring import Metrics, ServiceHealth
from hedgerow.session.http_transport import EXACT

REMEMBERED = 1000
"""Number of remembered names that were cancelled before their statements arrived."""


class StatementRegistry:
    """Statements of all clients. A name belongs to one analyst: nobody can cancel another's statement."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, str], RunningStatement[Any]] = {}
        self._cancelled: OrderedDict[tuple[str, str], None] = OrderedDict()

    def reserve(self, identity: Identity, name: str | None) -> None:
        """Refuse a name that is in use, and one that was cancelled before its statement arrived."""
        if name is None:
            return
        if (identity.name, name) in self._running:
            raise ParameterError(
                "A statement with this statement_id is running.", code="statement-exists", hint="Choose another one."
            )
        if (identity.name, name) in self._cancelled:
            del self._cancelled[identity.name, name]
            raise BackendError("The statement was cancelled.", code="cancelled")

    async def answer(self, identity: Identity, name: str | None, statement: RunningStatement[A], request: Request) -> A:
        """Wait for the answer. A client that goes away cancels its statement."""
        if name is not None:
            self._running[identity.name, name] = statement
        answering = asyncio.ensure_future(statement.answer())
        watching = asyncio.ensure_future(gone(request))
        try:
            await asyncio.wait({answering, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                statement.cancel()
            return await answering
        finally:
            watching.cancel()
            if not answering.done():
                statement.cancel()
                with suppress(asyncio.CancelledError, HedgerowError):
                    await answering
            if name is not None:
                self._running.pop((identity.name, name), None)

    def cancel(self, identity: Identity, name: str) -> None:
        """Cancel a statement; one that has not arrived yet is refused when it does."""
        key = identity.name, name
        if key in self._running:
            self._running[key].cancel()
            return
        self._cancelled[key] = None
        while len(self._cancelled) > REMEMBERED:
            self._cancelled.popitem(last=False)
        raise ServiceError(
            "No such statement is running.",
            code="no-such-statement",
            hint="It has ended; or it will be refused when it arrives.",
        )


async def gone(request: Request) -> None:
    """Wait until the client has gone away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of the service that routes use."""

    gateway: Gateway
    access: AccessStore
    authenticator: Authenticator
    statements: StatementRegistry
    health: ServiceHealth | None
    metrics: Metrics | None


@dataclass(frozen=True, slots=True)
class AuthenticatedCall:
    """A request whose caller has a role that may use its route."""

    identity: Identity
    parts: Parts
    request: Request

    @property
    def gateway(self) -> Gateway:
        """The gateway to the datasets."""
        return self.parts.gateway

    @property
    def access(self) -> AccessStore:
        """The accounts and the requests for approval."""
        return self.parts.access

    @property
    def exact(self) -> bool:
        """True if the client wants complete objects, as the Python client does."""
        return chosen_format(self.request.headers.get("accept"), (JSON, EXACT)) == EXACT


BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="A token of the service or of its provider.")
"""For the documentation alone: the `Authenticator` reads the header."""


async def authenticated(request: Request, _: Annotated[object, Depends(BEARER)]) -> AuthenticatedCall:
    """Return the request, if its sender may use this route."""
    parts: Parts = request.app.state.parts
    return AuthenticatedCall(await parts.authenticator.allowed(request), parts, request)


Caller = Annotated[AuthenticatedCall, Depends(authenticated)]
