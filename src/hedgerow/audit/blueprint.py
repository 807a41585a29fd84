"""Empty databases of the owner's shape: the tables of the catalog, with types and keys, and public contents.

Nothing of a private table but its declaration is read.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb
import pyarrow as pa

from hedgerow.backends import Backend
from hedgerow.catalog import Catalog, bind_catalog
from hedgerow.errors import ConditionNotMet
from hedgerow.execution.public_tables import public_table
from hedgerow.expressions.table_names import parts_of
from hedgerow.expressions.types import Type
from hedgerow.schema import SchemaColumn, SchemaTable
from hedgerow.session.key_domains import read_domains

STAND_INS: Mapping[Type, str] = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.DECIMAL: "DECIMAL(38, 9)",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIME: "TIME",
    Type.TIMESTAMP: "TIMESTAMP",
}
"""What stands for a type that DuckDB, in which the audit runs, does not know by the name it has at the owner's."""

Row = tuple[str | None, ...]
"""The cells of a row as text, which DuckDB reads as what the column holds."""


def quoted(name: str) -> str:
    """A name as DuckDB writes it."""
    return '"' + name.replace('"', '""') + '"'


def place(name: str) -> str:
    """The name of a table as DuckDB writes it, with its schema and database."""
    return ".".join(map(quoted, parts_of(name)))


@dataclass(frozen=True)
class Blueprint:
    """What a database of this shape is made from.

    Attributes:
        catalog: In the spelling of the owner's database.
        tables: Those that the catalog declares, as the owner's database declares them.
        natives: For each table and column, the type in DuckDB.
        public: The contents of public tables.
    """

    catalog: Catalog
    tables: Mapping[str, SchemaTable]
    natives: Mapping[tuple[str, str], str]
    public: Mapping[str, pa.Table]

    def reading(self, tables: Collection[str]) -> "Blueprint":
        """The same, with the contents of these public tables only."""
        return replace(self, public={name: rows for name, rows in self.public.items() if name in tables})

    def build(self) -> duckdb.DuckDBPyConnection:
        """A new database in memory, in which private tables are empty."""
        connection = duckdb.connect(":memory:", config={"threads": 1})
        for table in self.tables.values():
            *around, _ = parts_of(table.name)
            if len(around) > 1:
                connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {quoted(around[0])}")
            if around:
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {'.'.join(map(quoted, around))}")
            connection.execute(self._ddl(table))
        for name, contents in self.public.items():
            connection.register("public_rows", contents)
            listed = ", ".join(quoted(column) for column in contents.column_names)
            connection.execute(f"INSERT INTO {place(name)} ({listed}) SELECT {listed} FROM public_rows")
            connection.unregister("public_rows")
        return connection

    def insert(self, connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
        """Put rows of text into a table; each cell becomes what its column holds."""
        if not rows:
            return
        columns = self.tables[table].columns
        cells = [pa.array(list(column), type=pa.string()) for column in zip(*rows, strict=True)]
        connection.register("made_rows", pa.table(cells, names=[f"c{i}" for i in range(len(cells))]))
        casts = ", ".join(f"CAST(c{i} AS {self.natives[table, name]})" for i, name in enumerate(columns))
        try:
            connection.execute(f"INSERT INTO {place(table)} SELECT {casts} FROM made_rows")
        except duckdb.Error:
            raise ConditionNotMet(
                f"No rows could be made up that the table {table!r} takes.",
                condition="types and keys that rows can be made for",
                hint="Audit a schema in which its keys have room for thousands of people.",
            ) from None
        connection.unregister("made_rows")

    def _ddl(self, table: SchemaTable) -> str:
        open_ended = {name for name, column in table.columns.items() if column.nullable or column.type is Type.OTHER}
        columns = [
            f"{quoted(name)} {self.natives[table.name, name]}{'' if name in open_ended else ' NOT NULL'}"
            for name in table.columns
        ]
        keys = [f"UNIQUE ({', '.join(map(quoted, sorted(key)))})" for key in sorted(table.unique, key=sorted)]
        return f"CREATE TABLE {place(table.name)} ({', '.join([*columns, *keys])})"


def draw_up(catalog: Catalog, backend: Backend) -> Blueprint:
    """The blueprint of the owner's database. Its schema is read, and its public tables."""
    schema = backend.schema()
    bound = read_domains(bind_catalog(catalog, schema), schema, backend)
    tables = {name: schema.tables[name] for name in bound.tables}
    with duckdb.connect(":memory:") as scratch:
        natives = {
            (table.name, column.name): _native(scratch, column)
            for table in tables.values()
            for column in table.columns.values()
        }
    public = {
        name: public_table(name, backend, schema, bound.limits.rows)
        for name, table in bound.tables.items()
        if table.public
    }
    return Blueprint(bound, tables, natives, public)


def _native(scratch: duckdb.DuckDBPyConnection, column: SchemaColumn) -> str:
    """The column's own type, if DuckDB knows it."""
    if column.native:
        try:
            scratch.execute(f"SELECT CAST(NULL AS {column.native})")
        except duckdb.Error:
            return STAND_INS.get(column.type, "VARCHAR")
        return column.native
    return STAND_INS.get(column.type, "VARCHAR")


def readable(connection: duckdb.DuckDBPyConnection, native: str, texts: Iterable[str | None]) -> tuple[str | None, ...]:
    """Those of `texts` that a column of this type can hold, each once."""
    listed = list(dict.fromkeys(texts))
    if not listed:
        return ()
    connection.register("texts", pa.table({"t": pa.array(listed, type=pa.string())}))
    kept = connection.execute(f"SELECT t FROM texts WHERE t IS NULL OR TRY_CAST(t AS {native}) IS NOT NULL").fetchall()
    connection.unregister("texts")
    found = {text for (text,) in kept}
    return tuple(text for text in listed if text in found)
