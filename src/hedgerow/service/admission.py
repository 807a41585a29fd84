"""Admission of statements: whose account may run one, how many run and wait, and how long each may take."""

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from hedgerow.answer import Answer, Batch
from hedgerow.cancellation import Cancellation
from hedgerow.errors import BackendError, HedgerowError
from hedgerow.owners_log import about, withheld
from hedgerow.service.access.model import AccessStore, Identity
from hedgerow.service.caps import LiveCaps
from hedgerow.service.errors import AccessError
from hedgerow.service.statement_queue import ServiceLimits, StatementQueue
from hedgerow.session.database import Database

T = TypeVar("T")

KNOWN_SECONDS = 1.0
"""Seconds for which a looked-up account is cached."""

MAXIMUM_KNOWN = 1000
"""Number of cached accounts."""


@dataclass(frozen=True, slots=True)
class StatementEvent:
    """Outcome of one statement, for logs and metrics. Nothing in it depends on private rows.

    Attributes:
        interface: "wire", "http", "mcp" or "console".
        dataset: Name of the dataset.
        analyst: Name of the analyst.
        kind: "query", "batch", "quote", "describe", …
        outcome: "ok", or the code of the error.
        seconds: Time from its arrival to its end.
        epsilon: The charge.
        reused: True if the answer had been paid for before.
    """

    interface: str
    dataset: str
    analyst: str
    kind: str
    outcome: str
    seconds: float
    epsilon: float = 0.0
    reused: bool = False


def ignore(event: StatementEvent) -> None:
    """Discard an event."""


@dataclass(frozen=True, slots=True)
class StatementCall:
    """One statement: the caller, the interface it came through, and its time limit."""

    identity: Identity
    dataset: str
    interface: str
    kind: str
    seconds: float


class Admission:
    """Runs the statements of all datasets in threads. Its methods are called in one event loop.

    `caps` has the caps of the catalog's file by dataset; they are read anew before each statement.
    """

    def __init__(
        self,
        access: AccessStore,
        limits: ServiceLimits,
        caps: Mapping[str, LiveCaps],
        observe: Callable[[StatementEvent], None],
    ) -> None:
        self.caps = caps
        self._access = access
        self._observe = observe
        self._threads = ThreadPoolExecutor(limits.workers, thread_name_prefix="hedgerow-statement")
        self._queue = StatementQueue(limits)
        self._running: set[Cancellation] = set()
        self._known: dict[str, tuple[float, bytes | None]] = {}
        self._draining = False

    @property
    def load(self) -> tuple[int, int]:
        """Number of statements that run, and of those that wait for a worker."""
        running = self._queue.running
        return running, len(self._running) - running

    async def run(
        self, call: StatementCall, database: Database, work: Callable[[], T], cancellation: Cancellation
    ) -> T:
        """Run `work` in a thread when a worker is free, and report its outcome."""
        began, result, outcome, paid = time.monotonic(), None, "internal", None
        self._running.add(cancellation)
        try:
            if self._draining:
                raise BackendError("The service is shutting down.", code="shutting-down", hint="Ask again in a while.")
            await self._require_account(call.identity)
            await self.read_caps(call.dataset)
            async with self._queue.slot(call.identity.name, call.seconds):
                left = call.seconds - (time.monotonic() - began)
                result = await self._in_thread(database, work, cancellation, left)
            outcome = "ok"
        except HedgerowError as error:
            outcome, paid = error.code, error.receipt
            raise
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        else:
            return result
        finally:
            self._running.discard(cancellation)
            paid = result.receipt if isinstance(result, Answer | Batch) else paid
            epsilon = 0.0 if paid is None else paid.charge.epsilon
            reused = isinstance(result, Answer | Batch) and result.receipt.reused
            name, seconds = call.identity.name, time.monotonic() - began
            self._observe(
                StatementEvent(call.interface, call.dataset, name, call.kind, outcome, seconds, epsilon, reused)
            )

    async def read_caps(self, dataset: str) -> None:
        """Apply the caps that the catalog's file has now, so that a cap holds from the next statement on."""
        caps = self.caps.get(dataset)
        if caps is not None and caps.stale:
            await asyncio.to_thread(caps.refresh)

    def report_refused_login(self, interface: str) -> None:
        """Report a login that failed. It has no name: some type a password in its place."""
        self._observe(StatementEvent(interface, "", "", "login", "login-refused", 0.0))

    async def idle(self) -> None:
        """Wait for the statements that run or wait now."""
        await self._queue.idle(before_now=True)

    async def drain(self, seconds: float) -> None:
        """Accept no new statements, wait for those that run, and stop those that still run after some seconds."""
        self._draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._queue.idle()
        for cancellation in list(self._running):
            cancellation.request()
        await self._queue.idle()
        self._threads.shutdown(wait=False)

    async def _require_account(self, identity: Identity) -> None:
        """Refuse a caller whose account was removed, or whose credentials were replaced, since the login."""
        if identity.issued is None:
            return
        expires, issued = self._known.get(identity.name, (0.0, None))
        if time.monotonic() >= expires or issued != identity.issued:
            account = await asyncio.to_thread(self._access.account, identity.name)
            issued = None if account is None else account.identity.issued
            while len(self._known) >= MAXIMUM_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[identity.name] = time.monotonic() + KNOWN_SECONDS, issued
        if issued != identity.issued:
            raise AccessError(
                "The account was removed, or its credentials were replaced.", code="login-refused", hint="Log in again."
            )

    async def _in_thread(
        self, database: Database, work: Callable[[], T], cancellation: Cancellation, seconds: float
    ) -> T:
        """Run `work` in a thread; cancel it after some seconds.

        Privacy: an exception that is not ours is not shown, because its message could quote private values. It goes to
        the owner's log.
        """

        def cancellable() -> T:
            try:
                with cancellation.active():
                    return work()
            except HedgerowError:
                raise
            except Exception as error:  # noqa: BLE001 - see above
                with about(database.owners_log):
                    raise withheld(error) from None

        loop = asyncio.get_running_loop()
        deadline = loop.call_later(seconds, cancellation.request)
        try:
            return await loop.run_in_executor(self._threads, cancellable)
        except BackendError as error:
            if error.code != "cancelled" or loop.time() < deadline.when():
                raise
            raise BackendError(
                "The statement took longer than the service allows, and was stopped.",
                code="statement-timeout",
                hint="Ask about fewer rows, or ask the owner for a longer statement_timeout.",
                receipt=error.receipt,
            ) from None
        finally:
            deadline.cancel()
