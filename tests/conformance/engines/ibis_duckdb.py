"""Ibis over DuckDB, by the way that any Ibis backend takes: the driver behind Ibis, and the schema that Ibis reads."""

import importlib.util
from contextlib import contextmanager
from dataclasses import replace

from hedgerow.schema import Schema

from ..tables import reference


def why_not():
    return None if importlib.util.find_spec("ibis") else "ibis-framework is not installed"


class FormerNames:
    """A DuckDB connection that has, besides its own, the names of methods by which Ibis still calls them."""

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def __getattr__(self, name):
        return getattr(self._wrapped, name)

    def execute(self, sql, *arguments):
        reads = sql.lstrip().upper().startswith(("SELECT", "WITH", "DESCRIBE"))
        return self.sql(sql) if reads else self._wrapped.execute(sql, *arguments)

    def sql(self, sql):
        return Read(self._wrapped, sql)


class Read:
    """A query that is run when its rows are fetched."""

    def __init__(self, connection, sql):
        self._connection, self._sql = connection, sql
        self._running = None

    def fetchall(self):
        return self._connection.execute(self._sql).fetchall()

    def fetchmany(self, count):
        if self._running is None:
            self._running = self._connection.execute(self._sql)
        return self._running.fetchmany(count)

    def fetch_arrow_table(self):
        return self._connection.sql(self._sql).to_arrow_table()


def ibis_over(connection):
    """An Ibis backend over an open DuckDB connection."""
    import ibis  # noqa: PLC0415 - only where it is installed

    return ibis.duckdb.from_connection(FormerNames(connection))


def uncollated(schema):
    """The tables are made here and have no collations, which Ibis cannot tell."""
    return Schema(
        {
            name: replace(
                table, columns={column: replace(actual, collated=False) for column, actual in table.columns.items()}
            )
            for name, table in schema.tables.items()
        }
    )


@contextmanager
def opened(tables):
    from hedgerow.backends.ibis import Ibis  # noqa: PLC0415 - likewise

    class Uncollated(Ibis):
        def schema(self):
            return uncollated(super().schema())

    with reference(tables) as connection:
        yield Uncollated(ibis_over(connection))
