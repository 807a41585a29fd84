"""Public tables: passed through, and handed to the after part where it joins with them."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from hedgerow.backends import Backend
from hedgerow.catalog import Catalog
from hedgerow.compile import query_text
from hedgerow.compile.scalars import scalar
from hedgerow.compiled import Query, arrow_type
from hedgerow.dialects import Dialect
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions import zones
from hedgerow.expressions.nodes import Call, Column, Literal, Order
from hedgerow.expressions.types import Type
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.plan.nodes import LogicalPlan, Release, Select, scans_of
from hedgerow.privacy.keys import MAX_DECLARED, Key
from hedgerow.schema import Schema, SchemaColumn


def require_public(catalog: Catalog, tables: Iterable[str]) -> None:
    """The last door: nothing but declared public tables is read without a charge."""
    if any(not catalog.tables[name].public for name in tables):
        raise InternalError("A private table was to be read without a charge.")


def public_table(name: str, backend: Backend, schema: Schema, most: int = UNDECLARED.rows) -> pa.Table:
    """A whole public table, as far as its columns can be used."""
    columns = [column for column in schema.tables[name].columns.values() if column.type is not Type.OTHER]
    names = tuple(column.name for column in columns)
    source, limit = backend.dialect.table(name), backend.dialect.tail([], most + 1, 0)
    types = tuple(arrow_type(Column(column.name, column.type, native=column.native)) for column in columns)
    sql = f"SELECT {', '.join(_stored(column, backend.dialect) for column in columns)} FROM {source}{limit}"
    table = backend.public(Query(sql, names, (), types))
    if table.num_rows > most:
        raise UnsupportedSQLError(
            f"The public table {name!r} has more than {most:,} rows, too many to join with a released result.",
            code="public-too-large",
            hint="Join it with the private rows, before the aggregation.",
        )
    return table


def _stored(column: SchemaColumn, dialect: Dialect) -> str:
    """A column as it is stored; points in time at UTC, whatever the time zone of a session is."""
    name = dialect.identifier(column.name)
    if not column.instant or column.type is not Type.TIMESTAMP:
        return name
    utc = Literal(zones.DEFAULT, Type.TEXT)
    stored = Column(column.name, column.type, native=column.native)
    return f"{scalar(Call('in_zone', (stored, utc, utc), Type.TIMESTAMP), dialect)} AS {name}"


def known_keys(logical: LogicalPlan, backend: Backend, catalog: Catalog) -> dict[Release, tuple[Key, ...]]:
    """For each release whose keys hang on public rows, all keys there are.

    Privacy: a key that stood there twice would release the same rows twice for one charge. Decimals that differ beyond
    the digits of a double do; they are selected like keys of which no list is known.
    """
    found = {}
    for release in logical.releases:
        if release.domain is not None:
            require_public(catalog, [scan.table for scan in scans_of(release.domain)])
            keys = replace(release.domain, limit=MAX_DECLARED + 1)
            table = backend.public(public_query(keys, backend.dialect))
            if table.num_rows <= MAX_DECLARED:
                columns = [[_plain(value) for value in column.to_pylist()] for column in table.columns]
                listed = tuple(zip(*columns, strict=True))
                if len(set(listed)) == len(listed):
                    found[release] = listed
    return found


def public_query(query: Select, dialect: Dialect) -> Query:
    """A query over public tables."""
    names, types = tuple(c.name for c in query.columns), tuple(arrow_type(c.expr) for c in query.columns)
    return Query(query_text(query, dialect), names, (), types)


def multiplicity(table: str, columns: Iterable[str], backend: Backend) -> int:
    """The most rows of a public table that agree on some columns; all its rows where there are no columns."""
    dialect = backend.dialect
    names = [f"t0.{dialect.identifier(name)}" for name in sorted(columns)]
    rows = f"SELECT {dialect.count()} AS n FROM {dialect.table(table)} AS t0"
    if names:
        there = " AND ".join(f"{name} IS NOT NULL" for name in names)
        rows = f"SELECT MAX(n) AS n FROM ({rows} WHERE {there} GROUP BY {', '.join(names)}) AS counted"
    return int(backend.public(Query(rows, ("n",), (), (pa.int64(),))).column(0).to_pylist()[0] or 0)


def require_rows(table: pa.Table, limits: StatementLimits) -> None:
    """Refuse a result over public tables that has more rows than the owner allows."""
    if table.num_rows > limits.rows:
        raise UnsupportedSQLError(
            f"The result has more than {limits.rows:,} rows, the most that the owner allows.",
            code="too-many-rows",
            hint="Aggregate, filter, or add LIMIT.",
        )


def _plain(value: object) -> Any:  # noqa: ANN401 - whatever a key can be
    return float(value) if isinstance(value, Decimal) else value


def ordered(root: Select) -> Select:
    """The query with ties in ORDER BY put in the order of what is shown, so that it gives one answer."""
    if not root.order:
        return root
    ties = tuple(Order(column.expr, descending=False, nulls_first=False) for column in root.columns)
    return replace(root, order=(*root.order, *ties))
