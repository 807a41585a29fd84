"""Metrics, readiness and log of the service.

Metrics are for Prometheus: no label holds text that an analyst chose, and nothing but time depends on private rows.
`ServiceHealth` reports readiness to load balancers and orchestrators. The log has one line of JSON for each request,
and holds no SQL, no parameter and no answer.
"""

import asyncio
import json
import secrets
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from hedgerow.errors import CatalogError, HedgerowError
from hedgerow.ledger import BudgetView
from hedgerow.service.admission import StatementEvent

INTERFACES = ("wire", "http", "mcp", "console")
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
OTHER = "other"
COORDINATES = ("gaussian", "pure", "mass")
"""The three parts of a budget."""

LoadCount = Callable[[], tuple[int, int]]
"""Returns how many statements run, and how many wait."""

Budgets = Callable[[], Mapping[str, Callable[[], BudgetView]]]
"""Returns, for each dataset, a function that reads its budget from the ledger."""


class Metrics:
    """Counts of statements by outcome, their times, the queue, and the budget that is left."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, load: LoadCount = lambda: (0, 0), budgets: Budgets = dict) -> None:
        self._load = load
        self._budgets = budgets
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "hedgerow_requests",
            "Statements and other requests by their outcome: ok, or the code of the error.",
            ["interface", "dataset", "kind", "outcome"],
            registry=registry,
        )
        self._reused = Counter(
            "hedgerow_reused_answers",
            "Answers that had been paid for before and cost nothing.",
            ["interface", "dataset"],
            registry=registry,
        )
        self._seconds = Histogram(
            "hedgerow_request_seconds",
            "Seconds from the arrival of a request to its end.",
            ["interface", "kind"],
            buckets=BUCKETS,
            registry=registry,
        )
        self._running = Gauge("hedgerow_statements_running", "Statements that run now.", registry=registry)
        self._waiting = Gauge(
            "hedgerow_statements_waiting", "Statements that wait for a free worker.", registry=registry
        )
        self._left = Gauge(
            "hedgerow_budget_left_ratio",
            "Fraction of a dataset's budget that is left, for each of its three parts.",
            ["dataset", "coordinate"],
            registry=registry,
        )

    def observe(self, event: StatementEvent) -> None:
        """Count one request."""
        interface = event.interface if event.interface in INTERFACES else OTHER
        dataset = event.dataset if event.dataset in self._budgets() else OTHER
        self._requests.labels(interface, dataset, event.kind, event.outcome).inc()
        self._seconds.labels(interface, event.kind).observe(event.seconds)
        if event.reused:
            self._reused.labels(interface, dataset).inc()

    def render(self) -> bytes:
        """Return all metrics in the format of Prometheus. It reads the ledgers, and may block."""
        running, waiting = self._load()
        self._running.set(running)
        self._waiting.set(waiting)
        for dataset, read in self._budgets().items():
            with suppress(HedgerowError):  # readiness says so; the last known values stay
                used = read().used
                for coordinate in COORDINATES:
                    self._left.labels(dataset, coordinate).set(max(0.0, 1.0 - used.get(coordinate, 0.0)))
        return generate_latest(self._registry)


Check = Callable[[], Awaitable[object]]
"""Return if a part of the service works; raise an exception if it does not."""

OK = "ok"


@dataclass(frozen=True, slots=True)
class Readiness:
    """State of each part: "ok", or the code of its error."""

    parts: Mapping[str, str]

    @property
    def ready(self) -> bool:
        """True if every part works."""
        return all(state == OK for state in self.parts.values())


@dataclass(slots=True)
class ServiceHealth:
    """Parts of a service that must work before it takes statements.

    `state` is "starting", "ok" or "stopping". The process is alive as long as it answers at all.
    """

    checks: Mapping[str, Check] = field(default_factory=dict)
    state: str = "starting"

    async def readiness(self) -> Readiness:
        """Run every check."""
        states = await asyncio.gather(*(_state(check) for check in self.checks.values()))
        return Readiness({"service": self.state} | dict(zip(self.checks, states, strict=True)))


async def _state(check: Check) -> str:
    """Return "ok" or the code of the error. The text of an exception is dropped: it could quote anything."""
    try:
        await check()
    except HedgerowError as error:
        return error.code
    except Exception:  # noqa: BLE001 - see above
        return "internal"
    return OK


request_id: ContextVar[str | None] = ContextVar("hedgerow_request_id", default=None)
"""Id of the current request, if its interface gives it one; each statement has one in the log in any case."""


class RequestLog:
    """A log in a file or on standard error.

    Args:
        file: The file, which is appended to and may be rotated by `reopen`; None for standard error.
    """

    def __init__(self, file: str | None = None) -> None:
        self._file = None if file is None else Path(file)
        self._turn = threading.Lock()
        self._stream = self._open()

    def observe(self, event: StatementEvent) -> None:
        """Write the line of one request."""
        self.write(
            event="request",
            request=request_id.get() or secrets.token_hex(8),
            interface=event.interface,
            dataset=event.dataset,
            analyst=event.analyst,
            kind=event.kind,
            code=event.outcome,
            seconds=round(event.seconds, 6),
            epsilon=event.epsilon,
            reused=event.reused,
        )

    def observe_change(self, by: str, kind: str, target: str) -> None:
        """Write the line of a change to accounts or requests: its author, its kind, and the account or request."""
        self.write(event="change", request=request_id.get(), analyst=by, kind=kind, target=target)

    def write(self, **fields: object) -> None:
        """Write one line, with the time."""
        line = json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds")} | fields, allow_nan=False)
        with self._turn:
            self._stream.write(f"{line}\n")
            self._stream.flush()

    def reopen(self) -> None:
        """Open the file again, after somebody has moved it away."""
        with self._turn:
            old, self._stream = self._stream, self._open()
            if self._file is not None:
                old.close()

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            if self._file is not None:
                self._stream.close()

    def _open(self) -> TextIO:
        if self._file is None:
            return sys.stderr
        try:
            return self._file.open("a", encoding="utf-8")
        except OSError:
            raise CatalogError(
                f"The log file {self._file} of [serve.logs] cannot be written.",
                code="serve-setting",
                hint="Check the folder and its permissions.",
            ) from None
