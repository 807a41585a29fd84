"""A toy engine, complete in one file: rows of Python lists, and a dialect of its own."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from hedgerow.backends.base import Backend, Snapshot, sealed
from hedgerow.backends.results import exact_table, stop_after, table_of, with_rows
from hedgerow.compiled import Query
from hedgerow.dialects import Dialect
from hedgerow.exact import ExactTable
from hedgerow.expressions.types import Type
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaColumn, SchemaTable


class ToyDialect(Dialect):
    """Plain SQL, as the base class writes it, and a handful of functions."""

    name = "toy"
    label = "the toy engine"
    double = "DOUBLE"
    functions = {  # noqa: RUF012 - read and never written
        "equal": "({0} = {1})",
        "less": "({0} < {1})",
        "greater": "({0} > {1})",
        "and": "({0} AND {1})",
        "not": "(NOT {0})",
        "is_null": "({0} IS NULL)",
        "divide": "(CAST({0} AS DOUBLE) / NULLIF(CAST({1} AS DOUBLE), 0))",
    }

    def canonical(self, text: str, kind: Type) -> str:
        """Return the unique text of a value for hashing: digits, or the text itself."""
        if kind not in {Type.INTEGER, Type.TEXT}:
            raise self.lacks(f"a key of type {kind.value}")
        return text if kind is Type.TEXT else f"CAST({text} AS VARCHAR)"


@dataclass(frozen=True)
class Rows:
    """A table: the types of its columns, and its rows."""

    columns: Mapping[str, Type]
    rows: Sequence[Sequence[object]]


STORED = {Type.INTEGER: "BIGINT", Type.FLOAT: "DOUBLE", Type.TEXT: "VARCHAR"}


class Toy(Backend):
    """A backend: it describes its tables and runs compiled SQL."""

    dialect: Dialect = ToyDialect()
    handed_in = False

    def __init__(self, tables: Mapping[str, Rows]) -> None:
        self._tables = tables
        self._turn = threading.Lock()
        self._limits = UNDECLARED
        self._engine = duckdb.connect(":memory:", config={"enable_external_access": "false"})
        for name, table in tables.items():
            shape = ", ".join(f'"{column}" {STORED[kind]}' for column, kind in table.columns.items())
            self._engine.execute(f'CREATE TABLE "{name}" ({shape})')
            self._engine.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(table.columns))})', table.rows)

    def schema(self) -> Schema:
        """Return names and types. Types are never inferred from rows."""
        return Schema({name: self.table(name) for name in self._tables})

    def table(self, name: str) -> SchemaTable:
        """Describe one table. No column is unique or NOT NULL, because nothing is enforced."""
        columns = self._tables[name].columns
        return SchemaTable(name, {column: SchemaColumn(column, kind) for column, kind in columns.items()})

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Answer one question at a time; `sealed` hides the engine's error messages from the analyst."""
        with sealed(), self._turn, stop_after(self._limits.seconds, self.cancel):
            yield ToySnapshot(self)

    def public(self, query: Query) -> pa.Table:
        """Return the result of a query over public tables."""
        with sealed(), self._turn, stop_after(self._limits.seconds, self.cancel):
            return table_of(self.rows(query.sql), query)

    def rows(self, sql: str) -> Sequence[Sequence[object]]:
        """Run a statement on the engine."""
        return self._engine.execute(sql).fetchall()

    def set_limits(self, limits: StatementLimits) -> None:
        """Keep the owner's limits; `stop_after` enforces the time limit."""
        self._limits = limits

    def cancel(self) -> None:
        """Stop the running statement, from another thread."""
        self._engine.interrupt()

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()


class ToySnapshot:
    """The statements of one question. Selected keys are written into the next statement as constants."""

    def __init__(self, backend: Toy) -> None:
        self._backend = backend
        self._loaded: dict[str, pa.Table] = {}

    def table(self, name: str) -> SchemaTable | None:
        """Return the current definition of a table."""
        return self._backend.table(name)

    def load(self, name: str, table: pa.Table) -> None:
        """Keep the selected keys for the next statement."""
        self._loaded[name] = table

    def run(self, query: Query) -> ExactTable:
        """Return keys and integers, sealed. 128-bit integers pass unchanged."""
        return exact_table(self._backend.rows(with_rows(query, self._loaded, self._backend.dialect)), query)
