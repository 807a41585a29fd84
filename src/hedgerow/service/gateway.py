"""The gateway: every statement of every interface (wire, HTTP, MCP, console) passes through it.

It checks who may use which dataset. `admission` bounds the number of running and waiting statements, and stops each at
its time limit; `approvals` holds questions that an owner must approve. None of them decides anything about privacy: the
ledger admits each charge.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from hedgerow.answer import Answer, Batch
from hedgerow.answer.plot import Errors
from hedgerow.cancellation import Cancellation
from hedgerow.execution.price_policy import sets_price
from hedgerow.execution.request import Parameters
from hedgerow.ledger import BudgetView, HistoryEntry, Ledger, Verification
from hedgerow.service.access.model import AccessStore, Identity, Role
from hedgerow.service.access.rights import require_owner
from hedgerow.service.admission import Admission, StatementCall, StatementEvent, ignore
from hedgerow.service.approvals import A, AskedQuestion, ask_if_allowed
from hedgerow.service.caps import LiveCaps
from hedgerow.service.errors import AccessError
from hedgerow.service.statement_queue import ServiceLimits
from hedgerow.session.batch_quote import BatchQuote
from hedgerow.session.database import Database
from hedgerow.session.explain import Explanation
from hedgerow.session.forecast import Forecast
from hedgerow.session.quote import Quote
from hedgerow.session.report import Report
from hedgerow.session.stored import options_of, stored_answer
from hedgerow.session.tables import Description, TableList

T = TypeVar("T")

MAXIMUM_VIEWS = 1000
"""Number of cached views. A view is one dataset for one analyst, with the plans of its last statements."""


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
        self.admission = Admission(access, limits, _live_caps(databases), observe)
        self._databases = dict(databases)
        self._views: dict[tuple[str, str, str | None], Database] = {}

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
        call = StatementCall(identity, dataset, interface, kind, seconds)
        allowed = self.limits.approval_epsilon.get(dataset)
        work = partial(ask_if_allowed, self.access, identity, dataset, question, allowed)
        run = self.admission.run(call, database, work, cancellation)
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
        await self.admission.read_caps(dataset)
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

    async def replace(self, databases: Mapping[str, Database]) -> None:
        """Replace the databases, and close the old ones once their statements have ended."""
        old = [database for name, database in self._databases.items() if databases.get(name) is not database]
        self._databases, self._views, self.admission.caps = dict(databases), {}, _live_caps(databases)
        await self.admission.idle()
        for database in old:
            await asyncio.to_thread(database.close)

    async def _free(
        self, identity: Identity, dataset: str, interface: str, kind: str, database: Database, work: Callable[[], T]
    ) -> T:
        """Run free work, with the limits of a statement."""
        call = StatementCall(identity, dataset, interface, kind, self.limits.statement_timeout)
        return await self.admission.run(call, database, work, Cancellation())


def _live_caps(databases: Mapping[str, Database]) -> dict[str, LiveCaps]:
    sessions = {name: database._session for name, database in databases.items()}  # noqa: SLF001 - databases of ours
    return {name: LiveCaps(session.ledger, session.catalog.path) for name, session in sessions.items()}
