"""`aconnect` and `AsyncDatabase`: the same database for asyncio. Statements run in threads."""

import asyncio
from collections.abc import Generator
from functools import partial
from types import TracebackType
from typing import Self, Unpack

from hedgerow.answer import Answer, Batch
from hedgerow.errors import charged
from hedgerow.execution.request import Options, Parameters  # noqa: TC001 - their names are resolved at run time
from hedgerow.ledger import BudgetView
from hedgerow.session.batch_quote import BatchQuote
from hedgerow.session.bound_batch import Weights  # noqa: TC001 - likewise
from hedgerow.session.connection import CatalogSource, LedgerSource, connect
from hedgerow.session.database import Database
from hedgerow.session.explain import Explanation
from hedgerow.session.quote import Quote
from hedgerow.session.report import Queries  # noqa: TC001 - likewise
from hedgerow.session.tables import Description, TableList


class AsyncDatabase:
    """A database that answers privately, for asyncio. `sync` is the same database without `await`."""

    def __init__(self, database: Database) -> None:
        self.sync = database

    async def sql(self, query: str, *, params: "Parameters" = None, **options: "Unpack[Options]") -> Answer:
        """Ask a question, as `Database.sql` does. Cancelling the task cancels the statement, and no other.

        A charge is never given back: where the statement had been charged, a note of the `CancelledError` says so.
        """
        job = self.sync.submit(query, params=params, **options)
        try:
            return await asyncio.wrap_future(job.future)
        except asyncio.CancelledError as cancelled:
            job.cancel()
            error = await asyncio.to_thread(job.future.exception)
            if error is None:
                cancelled.add_note("The question was answered before it could be stopped: asked again, it is free.")
            else:
                cancelled.add_note(charged(error) or "Nothing was charged.")
            raise

    async def quote(self, query: str, *, params: "Parameters" = None, **options: "Unpack[Options]") -> Quote:
        """Return the cost of a question and the predicted errors of its answers. Free; reads no private row."""
        return await asyncio.to_thread(partial(self.sync.quote, query, params=params, **options))

    async def batch(
        self,
        queries: "Queries",
        *,
        weights: "Weights" = None,
        minimise: str = "mean",
        add_up: bool = False,
        **options: "Unpack[Options]",
    ) -> Batch:
        """Ask several questions together, for one charge, as `Database.batch` does."""
        call = partial(self.sync.batch, queries, weights=weights, minimise=minimise, add_up=add_up, **options)
        return await asyncio.to_thread(call)

    async def quote_batch(
        self,
        queries: "Queries",
        *,
        weights: "Weights" = None,
        minimise: str = "mean",
        add_up: bool = False,
        **options: "Unpack[Options]",
    ) -> BatchQuote:
        """Return the cost of several questions together. Free; reads no private row."""
        call = partial(self.sync.quote_batch, queries, weights=weights, minimise=minimise, add_up=add_up, **options)
        return await asyncio.to_thread(call)

    async def explain(self, query: str, params: "Parameters" = None, **options: "Unpack[Options]") -> Explanation:
        """Show how a question would be answered. Free; reads no private row."""
        return await asyncio.to_thread(partial(self.sync.explain, query, params, **options))

    async def describe(self, query: str, params: "Parameters" = None, **options: "Unpack[Options]") -> Description:
        """List the columns of a statement's answer. Free; reads no row."""
        return await asyncio.to_thread(partial(self.sync.describe, query, params, **options))

    async def budget(self) -> BudgetView:
        """Return spent and remaining budget; of this analyst's cap, if there is one."""
        return await asyncio.to_thread(lambda: self.sync.budget)

    @property
    def tables(self) -> TableList:
        """Tables and columns that may be asked about."""
        return self.sync.tables

    def as_analyst(self, name: str) -> "AsyncDatabase":
        """The same database for another analyst, with that analyst's cap. It is open as long as the first one."""
        return AsyncDatabase(self.sync.as_analyst(name))

    async def close(self) -> None:
        """Close database and ledger."""
        await asyncio.to_thread(self.sync.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Connecting:
    """A pending connection: `await` it, or open it with `async with`."""

    def __init__(self, opening: partial[Database]) -> None:
        self._opening = opening
        self._database: AsyncDatabase | None = None

    async def _open(self) -> AsyncDatabase:
        self._database = AsyncDatabase(await asyncio.to_thread(self._opening))
        return self._database

    def __await__(self) -> Generator[object, None, AsyncDatabase]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncDatabase:
        return await self._open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._database is not None:
            await self._database.close()


def aconnect(
    source: object = None,
    *,
    catalog: "CatalogSource" = None,
    ledger: "LedgerSource" = None,
    analyst: str | None = None,
    dialect: str | None = None,
    token: str | None = None,
    ca: str | None = None,
) -> Connecting:
    """Open a database for private questions from asyncio, with the arguments of `connect`.

    Example:
        >>> async with aconnect("shop.duckdb", catalog="shop.yaml") as db:                # doctest: +SKIP
        ...     answer = await db.sql("SELECT COUNT(*) FROM customers", epsilon=1)
    """
    return Connecting(
        partial(connect, source, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect, token=token, ca=ca)
    )
