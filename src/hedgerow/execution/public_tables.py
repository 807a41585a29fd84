"""Public tables: read without a charge, alone or joined with released numbers."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa

from hedgerow.backends import Backend
from hedgerow.catalog import Catalog
from hedgerow.compile import at_most, query_text
from hedgerow.compile.scalars import scalar
from hedgerow.compiled import Query, arrow_type
from hedgerow.dialects import Dialect
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions import zones
from hedgerow.expressions.nodes import Call, Column, Literal, Order
from hedgerow.expressions.types import Type
from hedgerow.limits import UNDECLARED
from hedgerow.plan.nodes import LogicalPlan, Release, Select, scans_of
from hedgerow.privacy.keys import MAX_DECLARED, Key
from hedgerow.schema import Schema, SchemaColumn


def require_public(catalog: Catalog, tables: Iterable[str]) -> None:
    """Refuse to read a table without a charge unless the owner declared it public."""
    if any(not catalog.tables[name].public for name in tables):
        raise InternalError("A private table was to be read without a charge.")


def public_table(name: str, backend: Backend, schema: Schema, max_rows: int = UNDECLARED.rows) -> pa.Table:
    """Read all usable columns of a whole public table."""
    columns = [column for column in schema.tables[name].columns.values() if column.type is not Type.OTHER]
    names = tuple(column.name for column in columns)
    source, limit = backend.dialect.table(name), backend.dialect.tail([], max_rows + 1, 0)
    types = tuple(arrow_type(Column(column.name, column.type, native=column.native)) for column in columns)
    sql = f"SELECT {', '.join(_stored(column, backend.dialect) for column in columns)} FROM {source}{limit}"
    table = backend.public(Query(sql, names, (), types))
    if table.num_rows > max_rows:
        raise UnsupportedSQLError(
            f"The public table {name!r} has more than {max_rows:,} rows, too many to join with a released result.",
            code="public-too-large",
            hint="Join it with the private rows, before the aggregation.",
        )
    return table


def _stored(column: SchemaColumn, dialect: Dialect) -> str:
    """Read a column as it is stored; points in time at UTC, whatever the session's time zone."""
    name = dialect.identifier(column.name)
    if not column.instant or column.type is not Type.TIMESTAMP:
        return name
    utc = Literal(zones.DEFAULT, Type.TEXT)
    stored = Column(column.name, column.type, native=column.native)
    return f"{scalar(Call('in_zone', (stored, utc, utc), Type.TIMESTAMP), dialect)} AS {name}"


def known_keys(logical: LogicalPlan, backend: Backend, catalog: Catalog) -> dict[Release, tuple[Key, ...]]:
    """Read all keys of each release whose keys come from public rows.

    Privacy: a key that is listed twice would release the same rows twice for one charge. Decimals that differ only
    beyond the digits of a double are such keys; they are selected like undeclared keys.
    """
    known = {}
    for release in logical.releases:
        if release.domain is not None:
            require_public(catalog, [scan.table for scan in scans_of(release.domain)])
            keys = replace(release.domain, limit=MAX_DECLARED + 1)
            table = backend.public(public_query(keys, backend.dialect))
            if table.num_rows <= MAX_DECLARED:
                columns = [
                    [float(value) if isinstance(value, Decimal) else value for value in column.to_pylist()]
                    for column in table.columns
                ]
                listed = tuple(zip(*columns, strict=True))
                if len(set(listed)) == len(listed):
                    known[release] = listed
    return known


def public_query(query: Select, dialect: Dialect) -> Query:
    """Compile a query over public tables."""
    names, types = tuple(c.name for c in query.columns), tuple(arrow_type(c.expr) for c in query.columns)
    return Query(query_text(query, dialect), names, (), types)


def multiplicity(table: str, columns: Iterable[str], backend: Backend) -> int:
    """Return the largest number of rows of a public table that agree on some columns; all its rows without columns."""
    dialect = backend.dialect
    names = [f"t0.{dialect.identifier(name)}" for name in sorted(columns)]
    rows = f"SELECT {dialect.count()} AS n FROM {dialect.table(table)} AS t0"
    if names:
        not_null = " AND ".join(f"{name} IS NOT NULL" for name in names)
        rows = f"SELECT MAX(n) AS n FROM ({rows} WHERE {not_null} GROUP BY {', '.join(names)}) AS counted"
    return int(backend.public(Query(rows, ("n",), (), (pa.int64(),))).column(0).to_pylist()[0] or 0)


def public_statement(logical: LogicalPlan, catalog: Catalog, dialect: Dialect) -> Query:
    """Return the SQL of a statement over public tables alone.

    It reads one row more than the owner allows, to detect that there are more. Ties in ORDER BY are broken by the
    output columns, so that the statement has one answer.
    """
    require_public(catalog, [scan.table for scan in scans_of(logical.root)])
    root = logical.root
    if root.order:
        ties = tuple(Order(column.expr, descending=False, nulls_first=False) for column in root.columns)
        root = replace(root, order=(*root.order, *ties))
    return public_query(at_most(root, catalog.limits.rows + 1), dialect)


def read_public(logical: LogicalPlan, catalog: Catalog, backend: Backend) -> pa.Table:
    """Run a statement over public tables alone. Its result is exact and free."""
    table = backend.public(public_statement(logical, catalog, backend.dialect))
    if table.num_rows > catalog.limits.rows:
        raise UnsupportedSQLError(
            f"The result has more than {catalog.limits.rows:,} rows, the most that the owner allows.",
            code="too-many-rows",
            hint="Aggregate, filter, or add LIMIT.",
        )
    return table.rename_columns(list(logical.names))
