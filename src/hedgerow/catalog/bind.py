"""The catalog, compared with what the database says of itself. No row is read."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hedgerow.catalog import codes
from hedgerow.catalog.fit import check_column_type, check_domain_type, check_path_types
from hedgerow.catalog.model import Catalog, Column, Table, Through
from hedgerow.catalog.names import closest, spellings, tables_named
from hedgerow.errors import CatalogError
from hedgerow.expressions.table_names import parts_of
from hedgerow.schema import Schema, SchemaTable

TABLE = "table that this connection can read"


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
    found = schema.tables[_table_spelling(catalog, table.name, schema, place)]
    columns = [_bind_column(catalog, table, column, schema, found) for column in table.columns.values()]
    bound = replace(
        table,
        name=found.name,
        unit=_bind_unit(catalog, table, found, schema),
        columns={column.name: column for column in columns},
    )
    check_path_types(catalog, bound, schema)
    return bound


def _bind_column(catalog: Catalog, table: Table, column: Column, schema: Schema, found: SchemaTable) -> Column:
    place = ("tables", table.name, "columns", column.name)
    name = _spelling(catalog, column.name, found.columns, place, f"column of `{found.name}`")
    check_column_type(catalog, column, found.columns[name], place)
    if column.values_from is None:
        return replace(column, name=name)
    source = _bind_domain(catalog, column, column.values_from, schema, place)
    check_domain_type(catalog, column, found.columns[name], source, schema, place)
    return replace(column, name=name, values_from=source)


def _bind_domain(
    catalog: Catalog, column: Column, source: tuple[str, str], schema: Schema, place: tuple[str, ...]
) -> tuple[str, str]:
    """The public table and column that have the keys of `column`, in the database's own spelling.

    Privacy: every key is shown in every answer, so it must come from a table that the owner calls public, and from a
    column of it that may be seen.
    """
    step = (*place, "values")
    table = _public(catalog, column, source[0], step)
    found = schema.tables[_table_spelling(catalog, table.name, schema, (*step, "table"))]
    name = _spelling(catalog, source[1], found.columns, (*step, "column"), f"column of `{found.name}`")
    said = table.column(name)
    if said.hidden if said is not None else table.undeclared_hidden:
        raise _no_domain(
            catalog,
            (*step, "column"),
            f"The values of `{column.name}` would be those of `{name}` in `{found.name}`, which is hidden, and every "
            "answer would show them.",
            "Name a column that may be seen, or list the values here.",
        )
    return found.name, name


def _public(catalog: Catalog, column: Column, name: str, step: tuple[str, ...]) -> Table:
    if column.values is not None:
        raise _no_domain(
            catalog,
            step,
            f"The values of `{column.name}` are given twice, as a list and by a table.",
            "Keep one of the two.",
        )
    table = catalog.table(name)
    if table is None:
        guess = closest(name, (table.name for table in catalog.tables.values() if table.public))
        raise _no_domain(
            catalog,
            (*step, "table"),
            f"The values of `{column.name}` are looked for in `{name}`, which the catalog does not declare.",
            f"Did you mean `{guess}`?" if guess else f"Declare it under `tables`: `{name}: {{public: true}}`.",
        )
    if not table.public:
        raise _no_domain(
            catalog,
            (*step, "table"),
            f"The values of `{column.name}` are looked for in `{table.name}`, which is private, and every answer would "
            "show what its rows hold.",
            "Name a public table, list the values here, or leave `values` out: groups of enough people appear then.",
        )
    return table


def _no_domain(catalog: Catalog, place: tuple[str, ...], message: str, hint: str) -> CatalogError:
    return catalog.problem(message, *place, code=codes.VALUES, hint=hint)


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
    parent = schema.tables[_table_spelling(catalog, through.table, schema, step)]
    pairs = tuple(
        (
            _spelling(catalog, own, found.columns, (*place, "on", own), f"column of `{found.name}`"),
            _spelling(catalog, theirs, parent.columns, (*place, "on", own), f"column of `{parent.name}`"),
        )
        for own, theirs in through.on
    )
    return Through(parent.name, pairs)


def _table_spelling(catalog: Catalog, name: str, schema: Schema, place: tuple[str, ...]) -> str:
    """The one table that a name of the catalog means.

    A name with dots is a qualified one; where no table has that name, it may be a plain one with dots in it. Where it
    can be either, the owner must say which.
    """
    found = dict.fromkeys([*tables_named(schema, parts_of(name)), *tables_named(schema, (name,))])
    return _the_one(catalog, name, list(found), schema.tables, place, TABLE)


def _spelling(catalog: Catalog, name: str, names: Mapping[str, object], place: tuple[str, ...], what: str) -> str:
    return _the_one(catalog, name, spellings(name, names), names, place, what)


def _the_one(
    catalog: Catalog, name: str, found: list[str], names: Mapping[str, object], place: tuple[str, ...], what: str
) -> str:
    if len(found) == 1:
        return found[0]
    if found:
        raise catalog.problem(
            f"`{name}` is more than one {what}: {_listing(found)}. Names that differ only in their case are one name.",
            *place,
            code=codes.AMBIGUOUS,
            hint="Rename one of them in the database, or give it another name in a view. "
            "A name with a dot in it is written in double quotes: '\"odd.name\"'.",
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
