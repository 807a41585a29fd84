"""Running statements by the names that their clients chose, so that each can be cancelled."""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import Any

from starlette.requests import Request

from hedgerow.errors import BackendError, HedgerowError, ParameterError
from hedgerow.service.access.model import Identity
from hedgerow.service.errors import ServiceError
from hedgerow.service.gateway import A, RunningStatement

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
