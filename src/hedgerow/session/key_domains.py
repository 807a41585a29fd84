"""Key domains that the catalog takes from a public table: read once, when a database is opened."""

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from hedgerow.backends import Backend
from hedgerow.catalog import Catalog, DeclaredColumn, DeclaredTable, Value, codes
from hedgerow.catalog.bind import effective_type
from hedgerow.catalog.load import LARGEST_KEY
from hedgerow.catalog.strict_yaml import is_storable
from hedgerow.compile.scalars import key
from hedgerow.compiled import Query, arrow_type
from hedgerow.dialects import Dialect
from hedgerow.errors import CatalogError
from hedgerow.expressions import nodes
from hedgerow.expressions.types import Type
from hedgerow.privacy.keys import MAX_DECLARED
from hedgerow.schema import Schema, SchemaColumn


def read_domains(catalog: Catalog, schema: Schema, backend: Backend) -> Catalog:
    """Return the catalog with `values` in place of every `values_from`. It is already bound to `schema`.

    Privacy: only tables that the owner calls public are read, so a domain is as public as a list in the catalog. It is
    read before any question and does not change, so no answer depends on the time of the question.
    """
    tables = {name: _with_domains(catalog, table, schema, backend) for name, table in catalog.tables.items()}
    return replace(catalog, tables=tables)


def _with_domains(catalog: Catalog, table: DeclaredTable, schema: Schema, backend: Backend) -> DeclaredTable:
    columns = {name: _with_values(catalog, table, column, schema, backend) for name, column in table.columns.items()}
    return replace(table, columns=columns)


def _with_values(
    catalog: Catalog, table: DeclaredTable, column: DeclaredColumn, schema: Schema, backend: Backend
) -> DeclaredColumn:
    if column.values_from is None:
        return column
    source, name = column.values_from
    public, stored = catalog.tables[source], schema.tables[source].columns[name]
    query = _distinct(source, _readable(public.column(name), stored), backend.dialect)
    keys = backend.public(query).column(0).to_pylist()
    values = tuple(float(value) if isinstance(value, Decimal) else value for value in keys)
    if fault := _fault(values):
        raise _unusable(catalog, table, column, *fault)
    return replace(column, values=values, values_from=None)


def _readable(said: DeclaredColumn | None, column: SchemaColumn) -> nodes.Expr:
    """Return the public column as queries see it; decimals become numbers, as they do in declared keys."""
    plain = nodes.Column(column.name, column.type, native=column.native, collated=column.collated)
    kind = effective_type(said, column)
    if kind is column.type and kind is not Type.TEXT:
        return plain
    wanted = Type.FLOAT if kind is Type.DECIMAL else kind
    return nodes.Call(f"imposed_{wanted.value}", (plain,), wanted)


def _distinct(table: str, expr: nodes.Expr, dialect: Dialect) -> Query:
    """Read one key more than allowed, so that too many can be detected."""
    value = key(expr, dialect)
    values = f"SELECT DISTINCT {value} AS k FROM {dialect.table(table)} WHERE {value} IS NOT NULL"
    return Query(f"{values}{dialect.tail(['k'], MAX_DECLARED + 1, 0)}", ("k",), (), (arrow_type(expr),))


def _fault(values: Sequence[Value]) -> tuple[str, str] | None:
    """Return why `values` are not a domain, and a hint; a table may contain only what a list in the catalog may.

    Privacy: a key that is listed twice would release the same rows twice for one charge.
    """
    if not values:
        return "holds no value, so every row would fall in no group", "Fill the table before you connect."
    if len(values) > MAX_DECLARED:
        return f"holds more than {MAX_DECLARED:,} values", "Name a column with fewer, or leave `values` out."
    if not all(map(_is_key, values)):
        reason = "holds a value that cannot be a key (a number that is not finite or too large, text with a zero byte)"
        return reason, "Correct the table, or name a view without such rows."
    if len(set(values)) < len(values):
        return "holds decimals that differ only beyond the 15th digit", "Name a column of text or whole numbers."
    return None


def _is_key(value: Value) -> bool:
    if isinstance(value, str):
        return is_storable(value)
    return math.isfinite(value) and abs(value) <= LARGEST_KEY


def _unusable(catalog: Catalog, table: DeclaredTable, column: DeclaredColumn, reason: str, hint: str) -> CatalogError:
    source, name = column.values_from or ("", "")
    return catalog.problem(
        f"The values of `{column.name}` are those of `{name}` in `{source}`, which {reason}.",
        *("tables", table.name, "columns", column.name, "values"),
        code=codes.VALUES,
        hint=hint,
    )
