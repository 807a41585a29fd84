"""ClickHouse as a backend: one class for both clients."""

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import pyarrow as pa

from hedgerow.backends.base import Snapshot, failure, repeated, sealed
from hedgerow.backends.clickhouse import arrow
from hedgerow.backends.clickhouse.clients import Client
from hedgerow.backends.clickhouse.errors import code_of
from hedgerow.backends.clickhouse.schema import COLUMNS, schema_of
from hedgerow.backends.clickhouse.settings import TIGHTEST, limited, settled
from hedgerow.backends.time_limit import stop_after
from hedgerow.compiled import Query
from hedgerow.dialects.clickhouse import CLICKHOUSE
from hedgerow.exact import ExactTable
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaTable


class ClickHouse:
    """A backend over ClickHouse.

    Every statement is a SELECT that carries its own settings, `readonly` among them. There are no transactions: two
    statements of one query may see different rows, where somebody writes between them.
    """

    def __init__(self, client: Client, *, handed_in: bool, locked: bool = True) -> None:
        self._client = client
        self.dialect = CLICKHOUSE
        self._locked = locked
        self._running: set[str] = set()
        self._lock = threading.Lock()
        self._limits, self._bounds = UNDECLARED, limited(UNDECLARED, {})
        self.handed_in = handed_in

    def schema(self) -> Schema:
        """Return the tables and views of all databases, from `system.columns`."""
        with sealed():
            rows = self.ask(COLUMNS)
            listed = zip(*(column.to_pylist() for column in rows.columns), strict=True)
            return schema_of(listed, self.dialect.namespace)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open a snapshot; ClickHouse keeps no state for several statements."""
        with sealed(code_of):
            yield _Snapshot(self)

    def public(self, query: Query) -> pa.Table:
        """The result of a query over public tables, in the types that it names."""
        with sealed(code_of):
            return arrow.table_of(self.ask(query.sql), query)

    def is_unique(self, table: str, columns: tuple[str, ...]) -> bool:
        """Return True if no two rows agree on `columns` now."""
        return bool(self.public(repeated(self.dialect, table, columns)).num_rows == 0)

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit time and memory of each statement; what the user's profile limits more stays so."""
        with sealed():
            names, values = (column.to_pylist() for column in self.ask(TIGHTEST).columns)
        self._limits, self._bounds = limits, limited(limits, dict(zip(names, values, strict=True)))

    def cancel(self) -> None:
        """KILL QUERY for what runs now, by the names we gave it."""
        with self._lock:
            tags = sorted(self._running)
        if tags:
            self._stop(tags)

    def _stop(self, tags: Sequence[str]) -> None:
        listed = ", ".join(self.dialect.string(tag) for tag in tags)
        try:
            self._client.command(f"KILL QUERY WHERE Settings['log_comment'] IN ({listed}) ASYNC")
        except Exception as error:  # noqa: BLE001 - whatever the driver raises may quote the statement
            raise failure(error) from None

    def close(self) -> None:
        """Close what we opened; what was handed in stays open."""
        if not self.handed_in:
            with suppress(Exception):
                self._client.close()

    def ask(self, sql: str) -> pa.Table:
        """One SELECT; it can be cancelled."""
        tag = f"hedgerow-{secrets.token_hex(8)}"
        with self._lock:
            self._running.add(tag)
        try:
            with stop_after(self._limits.seconds, lambda: self._stop([tag])):
                return arrow.read(self._client.ask(settled(sql, tag, self._bounds, locked=self._locked)))
        finally:
            with self._lock:
                self._running.discard(tag)


class _Snapshot:
    """The tables that were handed over go along with every statement."""

    def __init__(self, backend: ClickHouse) -> None:
        self._backend = backend
        self._steps: dict[str, str] = {}

    def table(self, name: str) -> SchemaTable | None:
        return self._backend.schema().tables.get(name)

    def load(self, name: str, table: pa.Table) -> None:
        self._steps[name] = arrow.rows_as_step(name, table, self._backend.dialect)

    def run(self, query: Query) -> ExactTable:
        steps = [step for name, step in self._steps.items() if name in query.sql]
        sql = f"WITH {', '.join(steps)}, {query.sql.removeprefix('WITH ')}" if steps else query.sql
        return arrow.exact_table(self._backend.ask(sql), query)
