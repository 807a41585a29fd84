"""The gateway: every statement of every interface (wire, HTTP, MCP, console) passes through it.

It says who may use which dataset, lets a bounded number of statements run and wait, stops one where its time is over,
and holds back what an owner wants to see first. It decides nothing about privacy: the ledger admits each charge.
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from hedgerow.answer import Answer
from hedgerow.answer.plot import Errors
from hedgerow.cancellation import Cancellation
from hedgerow.errors import BackendError, HedgerowError, dump_error
from hedgerow.execution.request import Parameters
from hedgerow.figures import finite
from hedgerow.ledger import BudgetView, HistoryEntry, Ledger, Verification
from hedgerow.owners_log import about, withheld
from hedgerow.service.access.administration import require_owner
from hedgerow.service.access.model import AccessStore, ApprovalRequest, Identity, RequestState, Role
from hedgerow.service.caps import LiveCaps
from hedgerow.service.errors import AccessError, ApprovalError, BusyError
from hedgerow.session.database import Database
from hedgerow.session.explain import Explanation
from hedgerow.session.forecast import Forecast
from hedgerow.session.quote import Quote
from hedgerow.session.stored import options_of, stored_answer
from hedgerow.session.tables import Description, TableList

T = TypeVar("T")

MINUTE = 60.0
MAXIMUM_PENDING = 100
"""Number of questions of one analyst on one dataset that may wait for an owner's word."""

KNOWN_SECONDS = 1.0
"""Seconds for which an account that was looked up is not looked up again."""

MAXIMUM_VIEWS = 1000
"""Number of views (of one analyst on one dataset, with the plans of their last statements) that are kept."""


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Limits of the service on statements. What runs and waits beyond them is refused as `too-busy`.

    Attributes:
        workers: Number of statements that run at once.
        queue: Number of statements that may wait, of all analysts together; half of them of one analyst.
        per_analyst: Number of statements of one analyst that run at once; more of them wait.
        statement_timeout: Seconds that a statement may wait and run.
        requests_per_minute: Number of statements that one analyst may send in a minute; None for any number.
        approval_epsilon: By dataset, the epsilon above which a question waits for an owner's word.
    """

    workers: int = 8
    queue: int = 64
    per_analyst: int = 4
    statement_timeout: float = 60.0
    requests_per_minute: int | None = None
    approval_epsilon: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatementEvent:
    """Outcome of one statement, for logs and metrics. Nothing in it depends on private rows.

    Attributes:
        door: "wire", "http", "mcp" or "console".
        dataset: Name of the dataset.
        analyst: Name of the analyst.
        kind: "query", "quote", "describe", …
        outcome: "ok", or the code of the error.
        seconds: Time from its arrival to its end.
        epsilon: The charge.
        reused: True if the answer had been paid for before.
    """

    door: str
    dataset: str
    analyst: str
    kind: str
    outcome: str
    seconds: float
    epsilon: float = 0.0
    reused: bool = False


def quiet(event: StatementEvent) -> None:
    """Observe nothing."""


class RunningStatement:
    """One statement on its way. It must be awaited in the event loop that submitted it."""

    def __init__(self, task: "asyncio.Task[Answer]", cancellation: Cancellation) -> None:
        self._task = task
        self._cancellation = cancellation

    async def answer(self) -> Answer:
        """Wait for the answer. Whoever stops waiting stops the statement."""
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            self.cancel()
            raise

    def cancel(self) -> None:
        """Stop this statement and no other. A charge stays; `answer` then raises an error that says so."""
        self._cancellation.request()


class Gateway:
    """All datasets of a service. Its methods are called in one event loop; statements run in threads."""

    def __init__(
        self,
        databases: Mapping[str, Database],
        access: AccessStore,
        limits: ServiceLimits,
        *,
        observe: Callable[[StatementEvent], None] = quiet,
    ) -> None:
        self.access = access
        self.limits = limits
        self._databases = dict(databases)
        self._caps = _live_caps(databases)
        self._observe = observe
        self._views: dict[tuple[str, str, str | None], Database] = {}
        self._threads = ThreadPoolExecutor(limits.workers, thread_name_prefix="hedgerow-statement")
        self._turns = Turns(limits)
        self._running: set[Cancellation] = set()
        self._known: dict[str, tuple[float, bytes | None]] = {}
        self._draining = False

    @property
    def running(self) -> int:
        """Number of statements that run or wait."""
        return len(self._running)

    @property
    def load(self) -> tuple[int, int]:
        """Number of statements that run, and of those that wait for their turn."""
        running = self._turns.running
        return running, len(self._running) - running

    def datasets(self, identity: Identity) -> list[str]:
        """Return the names of the datasets that somebody may use."""
        return [name for name in self._databases if identity.may_use(name)]

    def view(self, identity: Identity, dataset: str, dialect: str | None = None) -> Database:
        """Return a dataset as one analyst asks it.

        An unknown dataset and one that somebody may not use are refused in the same words.
        """
        if dataset not in self._databases or not identity.may_use(dataset):
            raise AccessError(
                f"There is no dataset {dataset!r} for you here.",
                code="no-such-dataset",
                hint=f"You may use: {', '.join(self.datasets(identity)) or 'none'}.",
            )
        key = identity.name, dataset, dialect
        if key not in self._views:
            while len(self._views) >= MAXIMUM_VIEWS:
                del self._views[next(iter(self._views))]
            self._views[key] = self._databases[dataset].as_analyst(identity.name, dialect=dialect)
        return self._views[key]

    def submit(
        self,
        identity: Identity,
        dataset: str,
        sql: str,
        params: Parameters = None,
        *,
        door: str,
        dialect: str | None = None,
        timeout: float | None = None,
        **options: Any,  # noqa: ANN401 - the options of `Database.sql`
    ) -> RunningStatement:
        """Ask a question. It is refused here, or it waits for its turn, runs, and can be cancelled.

        Args:
            identity: Who asks.
            dataset: What is asked.
            sql: The statement.
            params: Its parameters.
            door: Where it came in: "wire", "http", "mcp" or "console".
            dialect: The SQL dialect that it is written in; the dataset's by default.
            timeout: Seconds that it may take; at most the service's own limit.
            **options: Those of `Database.sql`.
        """
        if identity.role is Role.AUDITOR:
            raise AccessError(
                "An auditor reads the ledger and asks nothing.", hint="Ask with the account of an analyst."
            )
        database = self.view(identity, dataset, dialect)
        cancellation = Cancellation()
        ask = partial(self._ask, identity, dataset, database, sql, params, options)
        seconds = min(timeout or self.limits.statement_timeout, self.limits.statement_timeout)
        run = self._run(GatewayCall(identity, dataset, door, "query", seconds), database, ask, cancellation)
        return RunningStatement(asyncio.ensure_future(run), cancellation)

    async def quote(
        self,
        identity: Identity,
        dataset: str,
        sql: str,
        params: Parameters = None,
        *,
        door: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - the options of `Database.sql`
    ) -> Quote:
        """Return the cost of a question and its predicted errors. Free."""
        database = self.view(identity, dataset, dialect)
        work = partial(database.quote, sql, params=params, **options)
        return await self._free(identity, dataset, door, "quote", database, work)

    async def explain(
        self,
        identity: Identity,
        dataset: str,
        sql: str,
        params: Parameters = None,
        *,
        door: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - likewise
    ) -> Explanation:
        """Show how a question would be answered. Free."""
        database = self.view(identity, dataset, dialect)
        work = partial(database.explain, sql, params, **options)
        return await self._free(identity, dataset, door, "explain", database, work)

    async def describe(
        self,
        identity: Identity,
        dataset: str,
        sql: str,
        params: Parameters = None,
        *,
        door: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - likewise
    ) -> Description:
        """List the columns of a statement's answer. Free."""
        database = self.view(identity, dataset, dialect)
        work = partial(database.describe, sql, params, **options)
        return await self._free(identity, dataset, door, "describe", database, work)

    async def forecast(
        self,
        identity: Identity,
        dataset: str,
        queries: Sequence[str],
        *,
        door: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - likewise
    ) -> Forecast:
        """Total the charges of a list of queries that is fixed in advance. Free."""
        database = self.view(identity, dataset, dialect)
        work = partial(database.forecast, queries, **options)
        return await self._free(identity, dataset, door, "forecast", database, work)

    async def is_capped(self, identity: Identity, dataset: str) -> bool:
        """Return True if a cap limits what somebody may spend on a dataset."""
        session = self.view(identity, dataset)._session  # noqa: SLF001 - of a database that is ours
        await self._read_caps(dataset)
        return session.ledger.is_capped(identity.name)

    def tables(self, identity: Identity, dataset: str) -> TableList:
        """Return the tables and columns that may be asked about, with what the owner declares of them."""
        return self.view(identity, dataset).tables

    async def budget(self, identity: Identity, dataset: str, *, door: str) -> BudgetView:
        """Return spent and remaining budget: an analyst's own, and for owners and auditors everybody's."""
        database = self._book(identity, dataset)
        return await self._free(identity, dataset, door, "budget", database, lambda: database.budget)

    async def history(self, identity: Identity, dataset: str, *, door: str) -> Sequence[HistoryEntry]:
        """Return the charges in order: an analyst's own, and for owners and auditors everybody's."""
        database = self._book(identity, dataset)
        return await self._free(identity, dataset, door, "history", database, lambda: database.budget.history)

    async def errors_at(
        self,
        identity: Identity,
        dataset: str,
        sql: str,
        params: Parameters = None,
        *,
        at: float,
        door: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - the options of `Database.sql`
    ) -> Errors:
        """Return the predicted errors of a question at another epsilon (`at`). Free."""
        database = self.view(identity, dataset, dialect)

        def work() -> Errors:
            return database.quote(sql, params=params, **options).errors_at(at)

        return await self._free(identity, dataset, door, "quote", database, work)

    async def answer_again(self, identity: Identity, dataset: str, entry: HistoryEntry, *, door: str) -> Answer:
        """Answer a question of the history from the stored releases, with their digits; refuse it if it would cost."""
        database = self.view(identity, dataset)

        def work() -> Answer:
            return stored_answer(database, entry.question, entry.params, options_of(database, entry))

        return await self._free(identity, dataset, door, "query", database, work)

    async def as_owner(
        self, identity: Identity, dataset: str, kind: str, work: Callable[[Database], T], *, door: str
    ) -> T:
        """Run work of an owner on the dataset itself: looking at a catalog, or calibrating it in the owner's name."""
        require_owner(identity)
        database = self.view(identity, dataset)
        return await self._free(identity, dataset, door, kind, database, lambda: work(database))

    async def verify(self, identity: Identity, dataset: str, *, door: str) -> Verification:
        """Check every entry of a dataset's ledger, for owners and auditors."""
        database, ledger = self._ledger(identity, dataset)
        return await self._free(identity, dataset, door, "verify", database, ledger.verify)

    def export(self, identity: Identity, dataset: str) -> Iterator[str]:
        """Return a dataset's ledger as lines of JSON, for owners and auditors. It reads as it is iterated."""
        return self._ledger(identity, dataset)[1].export()

    def _ledger(self, identity: Identity, dataset: str) -> tuple[Database, Ledger]:
        database = self._book(identity, dataset)
        if identity.role is Role.ANALYST:
            raise AccessError("The ledger is for owners and auditors.", hint="Read your own history instead.")
        return database, database._session.ledger  # noqa: SLF001 - of a database that is ours

    def _book(self, identity: Identity, dataset: str) -> Database:
        """Return the dataset as this identity may read its spending."""
        own = self.view(identity, dataset)
        return own if identity.role is Role.ANALYST else self._databases[dataset]

    def report_refused_login(self, door: str) -> None:
        """Report a login that failed. It has no name: some type a password in its place."""
        self._observe(StatementEvent(door, "", "", "login", "login-refused", 0.0))

    async def drain(self, seconds: float) -> None:
        """Take no more statements, wait for those that run, and stop what still runs after some seconds."""
        self._draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._turns.idle()
        for cancellation in list(self._running):
            cancellation.request()
        await self._turns.idle()
        self._threads.shutdown(wait=False)

    async def replace(self, databases: Mapping[str, Database]) -> None:
        """Use other databases from now on, and close the old ones once their statements have ended."""
        old = [database for name, database in self._databases.items() if databases.get(name) is not database]
        self._databases, self._views, self._caps = dict(databases), {}, _live_caps(databases)
        await self._turns.idle(before_now=True)
        for database in old:
            await asyncio.to_thread(database.close)

    def _ask(
        self,
        identity: Identity,
        dataset: str,
        database: Database,
        sql: str,
        params: Parameters,
        options: Mapping[str, Any],
    ) -> Answer:
        """Answer a question in this thread, if its price needs no owner's word or has it."""
        allowed, granted = self.limits.approval_epsilon.get(dataset), None
        if allowed is not None and identity.role is not Role.OWNER:
            granted = self._require_approval(identity, dataset, database, sql, params, options, allowed)
        try:
            return database.sql(sql, params=params, **options)
        except HedgerowError as error:
            if granted is not None and dump_error(error)["charged"] is False:
                self.access.restore(granted)
            raise

    def _require_approval(
        self,
        identity: Identity,
        dataset: str,
        database: Database,
        sql: str,
        params: Parameters,
        options: Mapping[str, Any],
        allowed: float,
    ) -> str | None:
        """Let a question pass that costs at most `allowed`, or that an owner granted; otherwise make it a request.

        Return the id of the granted request that is used up by it, if there is one.
        """
        quote = database.quote(sql, params=params, **options)
        if quote.reused or quote.charge.epsilon <= allowed:
            return None
        question = dataset, identity.name, sql, _plain(params), _plain(dict(options))
        own = self.access.requests(dataset, analyst=identity.name)
        known = [request for request in own if request.asks(*question)]
        for request in known:
            if request.state is RequestState.GRANTED and self.access.use(request.id):
                return request.id
        waiting = next((request for request in known if request.state is RequestState.PENDING), None)
        if waiting is None:
            if sum(request.state is RequestState.PENDING for request in own) >= MAXIMUM_PENDING:
                raise BusyError(
                    f"{MAXIMUM_PENDING} questions of yours wait for the owner's word already.",
                    code="too-many-requests",
                    hint="Ask again when some are decided, or ask with a smaller epsilon.",
                )
            price = _plain(quote.to_dict())
            waiting = ApprovalRequest(secrets.token_hex(8), *question, price, datetime.now(UTC))
            self.access.create_request(waiting)
        raise ApprovalError(
            f"The question would cost epsilon {quote.charge.epsilon:.3g}; above {allowed:g} the owner decides. It is "
            f"now request {waiting.id}, and nothing was charged.",
            request_id=waiting.id,
            hint="Ask again once it is granted, or ask with a smaller epsilon.",
        )

    async def _free(
        self, identity: Identity, dataset: str, door: str, kind: str, database: Database, work: Callable[[], T]
    ) -> T:
        """Run what costs nothing, with the limits of a statement."""
        call = GatewayCall(identity, dataset, door, kind, self.limits.statement_timeout)
        return await self._run(call, database, work, Cancellation())

    async def _run(
        self, call: "GatewayCall", database: Database, work: Callable[[], T], cancellation: Cancellation
    ) -> T:
        """Run `work` in a thread when it is its turn, and report how it ended."""
        began, result, outcome, paid = time.monotonic(), None, "internal", None
        self._running.add(cancellation)
        try:
            if self._draining:
                raise BackendError("The service is shutting down.", code="shutting-down", hint="Ask again in a while.")
            await self._require_account(call.identity)
            await self._read_caps(call.dataset)
            async with self._turns.turn(call.identity.name, call.seconds):
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
            paid = result.receipt if isinstance(result, Answer) else paid
            epsilon = 0.0 if paid is None else paid.charge.epsilon
            reused = isinstance(result, Answer) and result.receipt.reused
            name, seconds = call.identity.name, time.monotonic() - began
            self._observe(StatementEvent(call.door, call.dataset, name, call.kind, outcome, seconds, epsilon, reused))

    async def _require_account(self, identity: Identity) -> None:
        """Refuse somebody whose account was removed, or got other secrets, since they proved who they are."""
        if identity.issued is None:
            return
        expires, issued = self._known.get(identity.name, (0.0, None))
        if time.monotonic() >= expires or issued != identity.issued:
            account = await asyncio.to_thread(self.access.account, identity.name)
            issued = None if account is None else account.identity.issued
            while len(self._known) >= MAXIMUM_VIEWS:
                del self._known[next(iter(self._known))]
            self._known[identity.name] = time.monotonic() + KNOWN_SECONDS, issued
        if issued != identity.issued:
            raise AccessError(
                "The account was removed, or has other secrets now.", code="login-refused", hint="Log in again."
            )

    async def _read_caps(self, dataset: str) -> None:
        """Keep to the caps that the catalog's file has now: an owner sets one, and the next statement obeys it."""
        caps = self._caps.get(dataset)
        if caps is not None and caps.stale:
            await asyncio.to_thread(caps.refresh)

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


def _live_caps(databases: Mapping[str, Database]) -> dict[str, LiveCaps]:
    sessions = {name: database._session for name, database in databases.items()}  # noqa: SLF001 - databases of ours
    return {name: LiveCaps(session.ledger, session.catalog.path) for name, session in sessions.items()}


@dataclass(frozen=True, slots=True)
class GatewayCall:
    """Who calls what, where it came in, and how long it may take."""

    identity: Identity
    dataset: str
    door: str
    kind: str
    seconds: float


class Turns:
    """Turns of statements: a bounded number wait, and no analyst takes all the workers."""

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits = limits
        self._workers = asyncio.Semaphore(limits.workers)
        self.running = 0
        """Number of statements that hold a turn."""
        self._own: dict[str, asyncio.Semaphore] = {}
        self._present: list[tuple[str, int]] = []
        """Analyst and generation of every statement that runs or waits."""
        self._generation = 0
        self._arrivals: dict[str, deque[float]] = {}
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def turn(self, analyst: str, seconds: float) -> AsyncIterator[None]:
        """Wait for a turn, at most for some seconds, and hold it."""
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
        """Refuse a statement that would wait behind too many others, or that comes too soon after others."""
        if len(self._present) >= self._limits.workers + self._limits.queue:
            raise BusyError("Too many statements wait already.", hint="Ask again in a moment.")
        own = sum(name == analyst for name, _ in self._present)
        if own >= self._limits.per_analyst + (self._limits.queue + 1) // 2:
            raise BusyError("Too many statements of yours wait already.", hint="Ask again when they have ended.")
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
        """Wait until no statement runs or waits; or until none does that arrived before now."""
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
        raise BusyError("The statement waited too long for its turn.", hint="Ask again in a moment.") from None
    try:
        yield
    finally:
        semaphore.release()


def _plain(value: Any) -> Any:  # noqa: ANN401 - plain JSON
    """Return parameters, options or a quote as plain JSON: other values become their text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return finite(value)
    return value if isinstance(value, str | int | bool | None) else str(value)
