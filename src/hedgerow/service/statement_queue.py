"""Queue of statements: how many run and wait at once, in all and of one analyst."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from hedgerow.service.errors import BusyError

MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Limits of the service on statements. Statements beyond them are refused as `too-busy`.

    Attributes:
        workers: Number of statements that run at once.
        queue: Number of statements that may wait, of all analysts together; half of them of one analyst.
        per_analyst: Number of statements of one analyst that run at once; more of them wait.
        statement_timeout: Seconds that a statement may wait and run.
        requests_per_minute: Number of statements that one analyst may send in a minute; None for any number.
        approval_epsilon: By dataset, the epsilon above which a question needs an owner's approval.
    """

    workers: int = 8
    queue: int = 64
    per_analyst: int = 4
    statement_timeout: float = 60.0
    requests_per_minute: int | None = None
    approval_epsilon: Mapping[str, float] = field(default_factory=dict)


class StatementQueue:
    """Queue of statements: its length is bounded, and no analyst occupies all the workers."""

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits = limits
        self._workers = asyncio.Semaphore(limits.workers)
        self.running = 0
        """Number of statements that run."""
        self._own: dict[str, asyncio.Semaphore] = {}
        self._present: list[tuple[str, int]] = []
        """Analyst and generation of every statement that runs or waits."""
        self._generation = 0
        self._arrivals: dict[str, deque[float]] = {}
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def slot(self, analyst: str, seconds: float) -> AsyncIterator[None]:
        """Wait for a worker, at most for some seconds, and hold it."""
        self._admit(analyst)
        present = analyst, self._generation
        self._present.append(present)
        own = self._own.setdefault(analyst, asyncio.Semaphore(self._limits.per_analyst))
        try:
            async with _held(own, seconds), _held(self._workers, seconds):
                self.running += 1
                try:
                    yield
                finally:
                    self.running -= 1
        finally:
            self._present.remove(present)
            if all(name != analyst for name, _ in self._present):
                self._own.pop(analyst, None)
            async with self._changed:
                self._changed.notify_all()

    def _admit(self, analyst: str) -> None:
        """Refuse a statement if the queue is full, or if the analyst sends too many in a minute."""
        if len(self._present) >= self._limits.workers + self._limits.queue:
            raise BusyError("Too many statements are waiting.", hint="Ask again in a moment.")
        own = sum(name == analyst for name, _ in self._present)
        if own >= self._limits.per_analyst + (self._limits.queue + 1) // 2:
            raise BusyError("You have too many statements waiting.", hint="Ask again when they have ended.")
        allowed = self._limits.requests_per_minute
        if allowed is None:
            return
        now, recent = time.monotonic(), self._arrivals.setdefault(analyst, deque(maxlen=allowed))
        if len(recent) == allowed and now - recent[0] < MINUTE:
            raise BusyError(
                f"An analyst may send {allowed:,} statements in a minute.",
                code="too-many-requests",
                hint="Ask again in a minute.",
            )
        recent.append(now)

    async def idle(self, *, before_now: bool = False) -> None:
        """Wait until no statement runs or waits; with `before_now`, until none does that is in the queue now."""
        last = self._generation
        self._generation += 1
        async with self._changed:
            await self._changed.wait_for(
                lambda: (
                    not any(generation <= last for _, generation in self._present) if before_now else not self._present
                )
            )


@asynccontextmanager
async def _held(semaphore: asyncio.Semaphore, seconds: float) -> AsyncIterator[None]:
    """Hold a semaphore; refuse to wait longer than some seconds."""
    try:
        await asyncio.wait_for(semaphore.acquire(), seconds)
    except TimeoutError:
        raise BusyError("The statement waited too long for a free worker.", hint="Ask again in a moment.") from None
    try:
        yield
    finally:
        semaphore.release()
