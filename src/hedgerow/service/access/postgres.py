"""The store of accounts in a PostgreSQL database, for several servers: beside the ledgers, in the same schema."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from hedgerow.errors import LedgerError
from hedgerow.ledger.postgres_connection import Address, driver, undo
from hedgerow.service.access.model import UserAccount, hash_token
from hedgerow.service.access.store import (
    FORMAT,
    Execute,
    SqlAccessStore,
    definitions,
    store_closed,
    store_newer,
    store_unreachable,
)

PATIENCE = 5.0
"""Seconds to wait for the server, or for another writer."""

REMEMBERED = 1.0
"""Seconds for which an account is cached: a removal reaches other servers within this time."""

MOST_REMEMBERED = 10_000

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


class PostgresAccessStore(SqlAccessStore):
    """Accounts and approval requests in a schema, shared by threads, processes and servers.

    Args:
        address: The schema; its tables are created if there are none.
        patience: Seconds to wait for the server, or for another writer.
        clock: Returns seconds; used for the age of cached accounts alone.
    """

    def __init__(
        self, address: Address, *, patience: float = PATIENCE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(f"{address.schema}.access_")
        self._address = address
        self._patience = patience
        self._clock = clock
        self._turn = threading.RLock()
        self._remembered: dict[str | bytes, tuple[float, UserAccount]] = {}
        self._closed = False
        self._connection = self._connect()
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def account(self, name: str) -> UserAccount | None:
        """Return the account of a name; None if there is none."""
        return self._recent(name, partial(super().account, name))

    def by_token(self, token: str) -> UserAccount | None:
        """Return the account that a token belongs to; None if there is none."""
        return self._recent(hash_token(token), partial(super().by_token, token))

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[Execute]:
        """One transaction, on a new connection if the old one was lost."""
        psycopg = driver()
        with self._turn:
            if self._closed:
                raise store_closed()
            if writing:
                self._remembered.clear()
            self._begin()
            try:
                yield self._execute
                self._connection.execute("COMMIT")
            except psycopg.Error:
                self._connection.close()
                raise store_unreachable(self._address) from None
            except BaseException:
                undo(self._connection)
                raise

    def close(self) -> None:
        """Close the connection."""
        with self._turn:
            self._closed = True
            self._connection.close()

    def _recent(self, key: str | bytes, read: Callable[[], UserAccount | None]) -> UserAccount | None:
        """Return an account from the cache, or read it. An unknown name or token is always looked up."""
        expires, account = self._remembered.get(key, (0.0, None))
        if account is not None and self._clock() < expires:
            return account
        with self._turn:
            account = read()
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            if account is not None:
                self._remembered[key] = (self._clock() + REMEMBERED, account)
        return account

    def _begin(self) -> None:
        """Begin a transaction. A lost connection fails here, before any statement of the transaction has run."""
        psycopg = driver()
        for last in (False, True):
            if self._connection.closed:
                self._connection = self._connect()
            try:
                self._connection.execute("BEGIN")
                self._connection.execute(f"SET LOCAL lock_timeout = {round(self._patience * 1000)}")
            except psycopg.Error:
                self._connection.close()
                if last:
                    raise store_unreachable(self._address) from None
            else:
                return

    def _execute(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - values of the database
        cursor = self._connection.execute(sql.replace("?", "%s"), values)
        return cursor.fetchall() if cursor.description else []

    def _connect(self) -> Any:  # noqa: ANN401 - the driver is an extra
        try:
            return self._address.connect(self._patience)
        except LedgerError as error:
            if error.code == "ledger-driver":
                raise
            raise store_unreachable(self._address) from None

    def _prepare(self) -> None:
        """Create the tables that are missing, also those that an older version lacks; refuse those of a newer one."""
        schema = self._address.schema
        with self.transaction(writing=True) as execute:
            execute(LOCK, f"hedgerow access {schema}")
            ((known,),) = execute("SELECT to_regclass(?) IS NOT NULL", f"{schema}.access_format")
            if not known:
                execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
                execute(f"CREATE TABLE {schema}.access_format (number INTEGER NOT NULL)")
            ((number,),) = execute(f"SELECT coalesce(max(number), 0) FROM {schema}.access_format")
            if number < FORMAT:
                for definition in definitions(f"{schema}.access_", "BYTEA"):
                    execute(definition)
                execute(f"INSERT INTO {schema}.access_format VALUES (?)", FORMAT)
        if number > FORMAT:
            raise store_newer(self._address)
