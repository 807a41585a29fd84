"""The catalog, compared with what the database says of itself. No row is read."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hedgerow.catalog import codes
from hedgerow.catalog.fit import check_column_type, check_path_types
from hedgerow.catalog.model import Catalog, Column, Table, Through
from hedgerow.catalog.names import closest, spellings
from hedgerow.schema import Schema, SchemaTable


def bind_catalog(catalog: Catalog, schema: Schema) -> Catalog:
    """The catalog with every name in the database's own spelling, or an error at the first that does not fit.

    Names are matched as DuckDB folds them. A name that the database has in two spellings is refused, because a
    query could not say which of the two it means.
    """
    tables = [bind_table(catalog, table, schema) for table in catalog.tables.values()]
    return replace(catalog, tables={table.name: table for table in tables})


def bind_table(catalog: Catalog, table: Table, schema: Schema) -> Table:
    """One table of `catalog` in the database's own spelling."""
    place = ("tables", table.name)
    found = schema.tables[_spelling(catalog, table.name, schema.tables, place, "table of the database")]
    columns = [_bind_column(catalog, table, column, found) for column in table.columns.values()]
    bound = replace(
        table,
        name=found.name,
        unit=_bind_unit(catalog, table, found, schema),
        columns={column.name: column for column in columns},
    )
    check_path_types(catalog, bound, schema)
    return bound


def _bind_column(catalog: Catalog, table: Table, column: Column, found: SchemaTable) -> Column:
    place = ("tables", table.name, "columns", column.name)
    name = _spelling(catalog, column.name, found.columns, place, f"column of `{found.name}`")
    check_column_type(catalog, column, found.columns[name], place)
    return replace(column, name=name)


def _bind_unit(catalog: Catalog, table: Table, found: SchemaTable, schema: Schema) -> str | Through | None:
    place = ("tables", table.name, "unit")
    if isinstance(table.unit, Through):
        return _bind_through(catalog, table.unit, found, schema, place)
    if table.unit is None:
        return None
    return _spelling(catalog, table.unit, found.columns, place, f"column of `{found.name}`")


def _bind_through(
    catalog: Catalog, through: Through, found: SchemaTable, schema: Schema, place: tuple[str, ...]
) -> Through:
    step = (*place, "through")
    parent = schema.tables[_spelling(catalog, through.table, schema.tables, step, "table of the database")]
    pairs = tuple(
        (
            _spelling(catalog, own, found.columns, (*place, "on", own), f"column of `{found.name}`"),
            _spelling(catalog, theirs, parent.columns, (*place, "on", own), f"column of `{parent.name}`"),
        )
        for own, theirs in through.on
    )
    return Through(parent.name, pairs)


def _spelling(catalog: Catalog, name: str, names: Mapping[str, object], place: tuple[str, ...], what: str) -> str:
    found = spellings(name, names)
    if len(found) == 1:
        return found[0]
    if found:
        raise catalog.problem(
            f"`{name}` is more than one {what}: {_listing(found)}. Names that differ only in their case are one name.",
            *place,
            code=codes.AMBIGUOUS,
            hint="Rename one of them in the database, or give it another name in a view.",
        )
    guess = closest(name, names)
    raise catalog.problem(
        f"`{name}` is no {what}.",
        *place,
        code=codes.UNKNOWN_COLUMN if what.startswith("column") else codes.UNKNOWN_TABLE,
        hint=f"Did you mean `{guess}`?" if guess else _known(names),
    )


def _known(names: Iterable[str]) -> str:
    known = sorted(names)
    more = ", …" if len(known) > 20 else ""
    return f"There are {_listing(known[:20])}{more}." if known else "There are none at all."


def _listing(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
