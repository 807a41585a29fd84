"""The gateway: every statement of every interface (wire, HTTP, MCP, console) passes through it.

It checks who may use which dataset, bounds the number of running and waiting statements, stops each at its time limit,
and holds questions that an owner must approve. It decides nothing about privacy: the ledger admits each charge.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar

from hedgerow.answer import Answer, Batch
from hedgerow.answer.plot import Errors
from hedgerow.cancellation import Cancellation
from hedgerow.errors import BackendError, HedgerowError, dump_error
from hedgerow.execution.price_policy import sets_price
from hedgerow.execution.request import Parameters
from hedgerow.figures import finite
from hedgerow.ledger import BudgetView, HistoryEntry, Ledger, Verification
from hedgerow.owners_log import about, withheld
from hedgerow.service.access.model import AccessStore, ApprovalRequest, Identity, RequestState, Role
from hedgerow.service.access.rights import require_owner
from hedgerow.service.caps import LiveCaps
from hedgerow.service.errors import AccessError, ApprovalError, BusyError
from hedgerow.service.statement_queue import ServiceLimits, StatementQueue
from hedgerow.session.batch_quote import BatchQuote
from hedgerow.session.database import Database
from hedgerow.session.explain import Explanation
from hedgerow.session.forecast import Forecast
from hedgerow.session.quote import Quote
from hedgerow.session.report import Report
from hedgerow.session.stored import options_of, stored_answer
from hedgerow.session.tables import Description, TableList

T = TypeVar("T")
A = TypeVar("A", bound=Answer | Batch)

MAXIMUM_PENDING = 100
"""Number of questions of one analyst on one dataset that may wait for an owner's decision."""

KNOWN_SECONDS = 1.0
"""Seconds for which a looked-up account is cached."""

MAXIMUM_VIEWS = 1000
"""Number of cached views. A view is one dataset for one analyst, with the plans of its last statements."""


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
class AskedQuestion(Generic[A]):
    """A question or a batch: what a request for approval shows of it, and the functions that price and ask it."""

    text: str
    params: Any
    options: Mapping[str, Any]
    price: Callable[[], Quote | BatchQuote]
    ask: Callable[[], A]


class RunningStatement(Generic[A]):
    """A running statement or batch. Await it in the event loop that submitted it."""

    def __init__(self, task: "asyncio.Task[A]", cancellation: Cancellation) -> None:
        self._task = task
        self._cancellation = cancellation

    async def answer(self) -> A:
        """Wait for the answer. The statement is stopped if the waiting task is cancelled."""
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
        observe: Callable[[StatementEvent], None] = ignore,
    ) -> None:
        self.access = access
        self.limits = limits
        self._databases = dict(databases)
        self._caps = _live_caps(databases)
        self._observe = observe
        self._views: dict[tuple[str, str, str | None], Database] = {}
        self._threads = ThreadPoolExecutor(limits.workers, thread_name_prefix="hedgerow-statement")
        self._queue = StatementQueue(limits)
        self._running: set[Cancellation] = set()
        self._known: dict[str, tuple[float, bytes | None]] = {}
        self._draining = False

    @property
    def running(self) -> int:
        """Number of statements that run or wait."""
        return len(self._running)

    @property
    def load(self) -> tuple[int, int]:
        """Number of statements that run, and of those that wait for a worker."""
        running = self._queue.running
        return running, len(self._running) - running

    def datasets(self, identity: Identity) -> list[str]:
        """Return the names of the datasets that an identity may use."""
        return [name for name in self._databases if identity.may_use(name)]

    def view(self, identity: Identity, dataset: str, dialect: str | None = None) -> Database:
        """Return a dataset as one analyst queries it.

        An unknown dataset and one that the identity may not use are refused in the same words.
        """
        if dataset not in self._databases or not identity.may_use(dataset):
            raise AccessError(
                f"No dataset {dataset!r} is available to you.",
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
        interface: str,
        dialect: str | None = None,
        timeout: float | None = None,
        **options: Any,  # noqa: ANN401 - the options of `Database.sql`
    ) -> RunningStatement[Answer]:
        """Ask a question. It is refused here, or it waits for a free worker, runs, and can be cancelled.

        Args:
            identity: The caller.
            dataset: Name of the dataset.
            sql: The statement.
            params: Its parameters.
            interface: The one it came through: "wire", "http", "mcp" or "console".
            dialect: The SQL dialect that it is written in; the dataset's by default.
            timeout: Seconds that it may take; at most the service's own limit.
            **options: Those of `Database.sql`.
        """
        database = self.view(identity, dataset, dialect)
        question = AskedQuestion(
            sql,
            params,
            options,
            lambda: database.quote(sql, params=params, **options),
            lambda: database.sql(sql, params=params, **options),
        )
        return self._submit(identity, dataset, interface, "query", database, question, timeout)

    def submit_batch(
        self,
        identity: Identity,
        dataset: str,
        report: Report,
        *,
        interface: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - the options of `Database.batch`
    ) -> RunningStatement[Batch]:
        """Ask several questions together, as one statement: with one worker, one price, one approval and one charge."""
        database = self.view(identity, dataset, dialect)
        named = {"weights": None, "minimise": "mean", "add_up": False, **options}  # as requests for approval list them
        question = AskedQuestion(
            report.to_text(),
            None,
            named,
            partial(database.quote_batch, report, **named),
            partial(database.batch, report, **named),
        )
        return self._submit(identity, dataset, interface, "batch", database, question, None)

    def _submit(
        self,
        identity: Identity,
        dataset: str,
        interface: str,
        kind: str,
        database: Database,
        question: AskedQuestion[A],
        timeout: float | None,
    ) -> RunningStatement[A]:
        if identity.role is Role.AUDITOR:
            raise AccessError(
                "An auditor reads the ledger and asks nothing.", hint="Ask with the account of an analyst."
            )
        cancellation = Cancellation()
        seconds = min(timeout or self.limits.statement_timeout, self.limits.statement_timeout)
        call = GatewayCall(identity, dataset, interface, kind, seconds)
        run = self._run(call, database, partial(self._ask, identity, dataset, question), cancellation)
        return RunningStatement(asyncio.ensure_future(run), cancellation)

    async def quote(
        self,
        identity: Identity,
        dataset: str,
        sql: str,
        params: Parameters = None,
        *,
        interface: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - the options of `Database.sql`
    ) -> Quote:
        """Return the cost of a question and its predicted errors. Free."""
        database = self.view(identity, dataset, dialect)
        work = partial(database.quote, sql, params=params, **options)
        return await self._free(identity, dataset, interface, "quote", database, work)

    async def quote_batch(
        self,
        identity: Identity,
        dataset: str,
        report: Report,
        *,
        interface: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - the options of `Database.batch`
    ) -> BatchQuote:
        """Return the cost of several questions together, and their predicted errors. Free."""
        database = self.view(identity, dataset, dialect)
        work = partial(database.quote_batch, report, **options)
        return await self._free(identity, dataset, interface, "quote", database, work)

    async def explain(
        self,
        identity: Identity,
        dataset: str,
        sql: str,
        params: Parameters = None,
        *,
        interface: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - likewise
    ) -> Explanation:
        """Show how a question would be answered. Free."""
        database = self.view(identity, dataset, dialect)
        work = partial(database.explain, sql, params, **options)
        return await self._free(identity, dataset, interface, "explain", database, work)

    async def describe(
        self,
        identity: Identity,
        dataset: str,
        sql: str,
        params: Parameters = None,
        *,
        interface: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - likewise
    ) -> Description:
        """List the columns of a statement's answer. Free."""
        database = self.view(identity, dataset, dialect)
        work = partial(database.describe, sql, params, **options)
        return await self._free(identity, dataset, interface, "describe", database, work)

    async def forecast(
        self,
        identity: Identity,
        dataset: str,
        queries: Sequence[str],
        *,
        interface: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - likewise
    ) -> Forecast:
        """Total the charges of a list of queries that is fixed in advance. Free."""
        database = self.view(identity, dataset, dialect)
        work = partial(database.forecast, queries, **options)
        return await self._free(identity, dataset, interface, "forecast", database, work)

    async def is_capped(self, identity: Identity, dataset: str) -> bool:
        """Return True if a cap limits what an identity may spend on a dataset."""
        session = self.view(identity, dataset)._session  # noqa: SLF001 - of a database that is ours
        await self._read_caps(dataset)
        return session.ledger.is_capped(identity.name)

    def tables(self, identity: Identity, dataset: str) -> TableList:
        """Return the tables and columns that may be asked about, with what the owner declares of them."""
        return self.view(identity, dataset).tables

    async def budget(self, identity: Identity, dataset: str, *, interface: str) -> BudgetView:
        """Return spent and remaining budget: an analyst's own, and for owners and auditors everybody's."""
        database = self._book(identity, dataset)
        return await self._free(identity, dataset, interface, "budget", database, lambda: database.budget)

    async def largest_price(self, identity: Identity, dataset: str, *, interface: str) -> float | None:
        """Return the largest epsilon that a question may state; None where the catalog sets the price."""
        catalog = self.view(identity, dataset)._session.catalog  # noqa: SLF001 - of a database that is ours
        budget = await self.budget(identity, dataset, interface=interface)
        if sets_price(catalog):
            return None
        cap = catalog.budget.per_query
        return budget.limit.epsilon if cap is None else min(budget.limit.epsilon, cap.epsilon)

    async def history(self, identity: Identity, dataset: str, *, interface: str) -> Sequence[HistoryEntry]:
        """Return the charges in order: an analyst's own, and for owners and auditors everybody's."""
        database = self._book(identity, dataset)
        return await self._free(identity, dataset, interface, "history", database, lambda: database.budget.history)

    async def errors_at(
        self,
        identity: Identity,
        dataset: str,
        sql: str,
        params: Parameters = None,
        *,
        at: float,
        interface: str,
        dialect: str | None = None,
        **options: Any,  # noqa: ANN401 - the options of `Database.sql`
    ) -> Errors:
        """Return the predicted errors of a question at another epsilon (`at`). Free."""
        database = self.view(identity, dataset, dialect)

        def work() -> Errors:
            return database.quote(sql, params=params, **options).errors_at(at)

        return await self._free(identity, dataset, interface, "quote", database, work)

    async def answer_again(self, identity: Identity, dataset: str, entry: HistoryEntry, *, interface: str) -> Answer:
        """Answer a question of the history from the stored releases, with their digits; refuse it if it would cost."""
        database = self.view(identity, dataset)

        def work() -> Answer:
            return stored_answer(database, entry.question, entry.params, options_of(database, entry))

        return await self._free(identity, dataset, interface, "query", database, work)

    async def as_owner(
        self, identity: Identity, dataset: str, kind: str, work: Callable[[Database], T], *, interface: str
    ) -> T:
        """Run work of an owner on a dataset, such as checking a draft of its catalog or calibrating it."""
        require_owner(identity)
        database = self.view(identity, dataset)
        return await self._free(identity, dataset, interface, kind, database, lambda: work(database))

    async def verify(self, identity: Identity, dataset: str, *, interface: str) -> Verification:
        """Check every entry of a dataset's ledger, for owners and auditors."""
        database, ledger = self._ledger(identity, dataset)
        return await self._free(identity, dataset, interface, "verify", database, ledger.verify)

    def export(self, identity: Identity, dataset: str) -> Iterator[str]:
        """Return a dataset's ledger as lines of JSON, for owners and auditors. It reads as it is iterated."""
        return self._ledger(identity, dataset)[1].export()

    def _ledger(self, identity: Identity, dataset: str) -> tuple[Database, Ledger]:
        database = self._book(identity, dataset)
        if identity.role is Role.ANALYST:
            raise AccessError("The ledger is for owners and auditors.", hint="Read your own history instead.")
        return database, database._session.ledger  # noqa: SLF001 - of a database that is ours

    def _book(self, identity: Identity, dataset: str) -> Database:
        """Return the dataset as this identity may see its spending: an analyst's own view, or everybody's."""
        own = self.view(identity, dataset)
        return own if identity.role is Role.ANALYST else self._databases[dataset]

    def report_refused_login(self, interface: str) -> None:
        """Report a login that failed. It has no name: some type a password in its place."""
        self._observe(StatementEvent(interface, "", "", "login", "login-refused", 0.0))

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

    async def replace(self, databases: Mapping[str, Database]) -> None:
        """Replace the databases, and close the old ones once their statements have ended."""
        old = [database for name, database in self._databases.items() if databases.get(name) is not database]
        self._databases, self._views, self._caps = dict(databases), {}, _live_caps(databases)
        await self._queue.idle(before_now=True)
        for database in old:
            await asyncio.to_thread(database.close)

    def _ask(self, identity: Identity, dataset: str, question: AskedQuestion[A]) -> A:
        """Answer a question in this thread, if its price needs no approval or an owner has approved it."""
        allowed, granted = self.limits.approval_epsilon.get(dataset), None
        if allowed is not None and identity.role is not Role.OWNER:
            granted = self._require_approval(identity, dataset, question, allowed)
        try:
            return question.ask()
        except HedgerowError as error:
            if granted is not None and dump_error(error)["charged"] is False:
                self.access.restore(granted)
            raise

    def _require_approval(
        self, identity: Identity, dataset: str, question: AskedQuestion[Any], allowed: float
    ) -> str | None:
        """Allow a question that costs at most `allowed`, or that an owner granted; otherwise turn it into a request.

        Return the id of the granted request that is used up by it, if there is one.
        """
        quote = question.price()
        if quote.reused or quote.charge.epsilon <= allowed:
            return None
        key = dataset, identity.name, question.text, _plain(question.params), _plain(dict(question.options))
        own = self.access.requests(dataset, analyst=identity.name)
        known = [request for request in own if request.asks(*key)]
        for request in known:
            if request.state is RequestState.GRANTED and self.access.use(request.id):
                return request.id
        waiting = next((request for request in known if request.state is RequestState.PENDING), None)
        if waiting is None:
            if sum(request.state is RequestState.PENDING for request in own) >= MAXIMUM_PENDING:
                raise BusyError(
                    f"{MAXIMUM_PENDING} of your questions already wait for the owner's decision.",
                    code="too-many-requests",
                    hint="Ask again when some are decided, or ask with a smaller epsilon.",
                )
            price = _plain(quote.to_dict())
            waiting = ApprovalRequest(secrets.token_hex(8), *key, price, datetime.now(UTC))
            self.access.create_request(waiting)
        raise ApprovalError(
            f"The question would cost epsilon {quote.charge.epsilon:.3g}; above {allowed:g} the owner decides. It is "
            f"now request {waiting.id}, and nothing was charged.",
            request_id=waiting.id,
            hint="Ask again once it is granted, or ask with a smaller epsilon.",
        )

    async def _free(
        self, identity: Identity, dataset: str, interface: str, kind: str, database: Database, work: Callable[[], T]
    ) -> T:
        """Run free work, with the limits of a statement."""
        call = GatewayCall(identity, dataset, interface, kind, self.limits.statement_timeout)
        return await self._run(call, database, work, Cancellation())

    async def _run(
        self, call: "GatewayCall", database: Database, work: Callable[[], T], cancellation: Cancellation
    ) -> T:
        """Run `work` in a thread when a worker is free, and report its outcome."""
        began, result, outcome, paid = time.monotonic(), None, "internal", None
        self._running.add(cancellation)
        try:
            if self._draining:
                raise BackendError("The service is shutting down.", code="shutting-down", hint="Ask again in a while.")
            await self._require_account(call.identity)
            await self._read_caps(call.dataset)
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

    async def _require_account(self, identity: Identity) -> None:
        """Refuse a caller whose account was removed, or whose credentials were replaced, since the login."""
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
                "The account was removed, or its credentials were replaced.", code="login-refused", hint="Log in again."
            )

    async def _read_caps(self, dataset: str) -> None:
        """Apply the caps that the catalog's file has now, so that a cap holds from the next statement on."""
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
    """One call: the caller, the interface it came through, and its time limit."""

    identity: Identity
    dataset: str
    interface: str
    kind: str
    seconds: float


def _plain(value: Any) -> Any:  # noqa: ANN401 - plain JSON
    """Return parameters, options or a quote as plain JSON: other values become their text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return finite(value)
    return value if isinstance(value, str | int | bool | None) else str(value)
