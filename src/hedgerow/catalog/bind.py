"""Comparison of the catalog with the database's schema: names, types, keys. No row is read."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from hedgerow.catalog import codes
from hedgerow.catalog.model import Catalog, DeclaredColumn, DeclaredTable, Through, Value
from hedgerow.catalog.names import closest, spellings, tables_named
from hedgerow.errors import CatalogError
from hedgerow.expressions.table_names import parts_of
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

_NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
_POINTS_IN_TIME = frozenset({Type.DATE, Type.TIMESTAMP})
_UNTYPED = frozenset({Type.TEXT, Type.OTHER, Type.NULL})
_CASTS = (_NUMBERS, _POINTS_IN_TIME, frozenset({Type.INTEGER, Type.BOOLEAN}))
_COMPARABLE = (_NUMBERS, _POINTS_IN_TIME, *(frozenset({kind}) for kind in (Type.TEXT, Type.BOOLEAN, Type.TIME)))

_HOLDERS: Mapping[Type, frozenset[Type]] = {
    Type.BOOLEAN: frozenset({Type.BOOLEAN}),
    Type.TEXT: frozenset({Type.TEXT}),
    Type.INTEGER: _NUMBERS,
    Type.DECIMAL: _NUMBERS - {Type.INTEGER},
    Type.FLOAT: _NUMBERS - {Type.INTEGER},
}
"""Types of the columns that can hold a key of each type; other types cannot be keys."""


def effective_type(declared: DeclaredColumn | None, column: SchemaColumn) -> Type:
    """Return the type that queries see: the declared one, or else the database's."""
    return column.type if declared is None or declared.type is None else declared.type


def check_column_type(catalog: Catalog, declared: DeclaredColumn, column: SchemaColumn, path: tuple[str, ...]) -> None:
    """Refuse bounds, values or a declared type that the column cannot have."""
    wanted, actual = declared.type, column.type
    readable = wanted in {None, actual} or actual in _UNTYPED or any({actual, wanted} <= group for group in _CASTS)
    if wanted is not None and not readable:
        raise _misfit(
            catalog,
            (*path, "type"),
            f"`{column.name}` is {_called(column)}, and there is no safe way to read that as {wanted.value}.",
            "Remove `type`: the database's own type holds.",
        )
    kind = effective_type(declared, column)
    if declared.lower is not None and kind not in _NUMBERS:
        raise _misfit(
            catalog,
            (*path, "lower"),
            f"`{column.name}` is {_called(column)}, and only numbers have bounds.",
            "Remove `lower` and `upper`, or impose a `type` if the source keeps numbers as text.",
        )
    for value in declared.values or ():
        if kind not in _HOLDERS[_type_of(value)]:
            raise _misfit(
                catalog,
                (*path, "values"),
                f"`{column.name}` is {_called(column)}, which never equals `{json.dumps(value, ensure_ascii=False)}`.",
                _advice(kind),
            )


def check_domain_type(
    catalog: Catalog,
    declared: DeclaredColumn,
    column: SchemaColumn,
    source: tuple[str, str],
    schema: Schema,
    path: tuple[str, ...],
) -> None:
    """Refuse values from a public column (`source`, already bound) that cannot be keys of this column."""
    table = catalog.table(source[0])
    theirs = schema.tables[source[0]].columns[source[1]]
    kind = effective_type(declared, column)
    known = effective_type(table.column(theirs.name) if table else None, theirs)
    if kind not in _HOLDERS.get(known, ()):
        whole = "whole " if kind is Type.INTEGER else ""
        wanted = f"{whole}numbers" if kind in _NUMBERS else "booleans" if kind is Type.BOOLEAN else "text"
        raise _misfit(
            catalog,
            (*path, "values"),
            f"`{column.name}` is {_called(column)}, and its values are looked for in `{theirs.name}` of "
            f"`{source[0]}`, which is {_called(theirs)}.",
            f"Name a column of {wanted}, or impose a `type` on one of the two." if kind in _HOLDERS else _advice(kind),
        )


def _type_of(value: Value) -> Type:
    if isinstance(value, bool):
        return Type.BOOLEAN
    if isinstance(value, str):
        return Type.TEXT
    return Type.INTEGER if isinstance(value, int) else Type.FLOAT


def _advice(kind: Type) -> str:
    if kind is Type.TEXT:
        return "Write text, in quotes if it looks like something else."
    if kind is Type.BOOLEAN:
        return "Write `[true, false]`."
    if kind in _NUMBERS:
        return f"Write {'whole ' if kind is Type.INTEGER else ''}numbers without quotes."
    return "Values can be declared for text, numbers and booleans; make another column in a view."


def _called(column: SchemaColumn) -> str:
    return f"of type {column.native or column.type.value}"


def _misfit(catalog: Catalog, path: tuple[str, ...], message: str, hint: str) -> CatalogError:
    return catalog.problem(message, *path, code=codes.TYPE, hint=hint)


def check_path_types(catalog: Catalog, table: DeclaredTable, schema: Schema) -> None:
    """Refuse a step whose two columns can never be equal. `table` is already bound."""
    if not isinstance(table.unit, Through):
        return
    parent = catalog.table(table.unit.table)
    for own, theirs in table.unit.on:
        left, right = schema.tables[table.name].columns[own], schema.tables[table.unit.table].columns[theirs]
        kinds = {
            effective_type(table.column(own), left),
            effective_type(parent.column(theirs) if parent else None, right),
        }
        if len(kinds) > 1 and not kinds & {Type.OTHER, Type.NULL} and not any(kinds <= group for group in _COMPARABLE):
            raise _misfit(
                catalog,
                ("tables", table.name, "unit", "on", own),
                f"`{own}` is {_called(left)} and `{theirs}` is {_called(right)}, which are never equal.",
                "Name two columns of the same type, or impose a `type` on one of them.",
            )


TABLE = "table that this connection can read"


def bind_catalog(catalog: Catalog, schema: Schema) -> Catalog:
    """The catalog with every name in the database's own spelling, or raise an error at the first that does not match.

    Names are matched as DuckDB folds them. A name that the database has in two spellings is refused, because a query
    could not distinguish them.
    """
    tables = [bind_table(catalog, table, schema) for table in catalog.tables.values()]
    return replace(catalog, tables={table.name: table for table in tables})


def bind_table(catalog: Catalog, table: DeclaredTable, schema: Schema) -> DeclaredTable:
    """Return one table of `catalog` in the database's own spelling."""
    path = ("tables", table.name)
    actual = schema.tables[_table_spelling(catalog, table.name, schema, path)]
    columns = [_bind_column(catalog, table, column, schema, actual) for column in table.columns.values()]
    bound = replace(
        table,
        name=actual.name,
        unit=_bind_unit(catalog, table, actual, schema),
        columns={column.name: column for column in columns},
    )
    check_path_types(catalog, bound, schema)
    return bound


def _bind_column(
    catalog: Catalog, table: DeclaredTable, column: DeclaredColumn, schema: Schema, actual: SchemaTable
) -> DeclaredColumn:
    path = ("tables", table.name, "columns", column.name)
    name = _spelling(catalog, column.name, actual.columns, path, f"column of `{actual.name}`")
    check_column_type(catalog, column, actual.columns[name], path)
    if column.values_from is None:
        return replace(column, name=name)
    source = _bind_domain(catalog, column, column.values_from, schema, path)
    check_domain_type(catalog, column, actual.columns[name], source, schema, path)
    return replace(column, name=name, values_from=source)


def _bind_domain(
    catalog: Catalog, column: DeclaredColumn, source: tuple[str, str], schema: Schema, path: tuple[str, ...]
) -> tuple[str, str]:
    """Return the public table and column with the keys of `column`, in the database's own spelling.

    Privacy: every key is shown in every answer, so it must come from a table that the owner calls public, and from a
    visible column of it.
    """
    step = (*path, "values")
    table = _public(catalog, column, source[0], step)
    actual = schema.tables[_table_spelling(catalog, table.name, schema, (*step, "table"))]
    name = _spelling(catalog, source[1], actual.columns, (*step, "column"), f"column of `{actual.name}`")
    declared = table.column(name)
    if declared.hidden if declared is not None else table.undeclared_hidden:
        raise _no_domain(
            catalog,
            (*step, "column"),
            f"The values of `{column.name}` would be those of `{name}` in `{actual.name}`, which is hidden, and every "
            "answer would show them.",
            "Name a column that may be seen, or list the values here.",
        )
    return actual.name, name


def _public(catalog: Catalog, column: DeclaredColumn, name: str, step: tuple[str, ...]) -> DeclaredTable:
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


def _no_domain(catalog: Catalog, path: tuple[str, ...], message: str, hint: str) -> CatalogError:
    return catalog.problem(message, *path, code=codes.VALUES, hint=hint)


def _bind_unit(catalog: Catalog, table: DeclaredTable, actual: SchemaTable, schema: Schema) -> str | Through | None:
    path = ("tables", table.name, "unit")
    if isinstance(table.unit, Through):
        return _bind_through(catalog, table.unit, actual, schema, path)
    if table.unit is None:
        return None
    return _spelling(catalog, table.unit, actual.columns, path, f"column of `{actual.name}`")


def _bind_through(
    catalog: Catalog, through: Through, actual: SchemaTable, schema: Schema, path: tuple[str, ...]
) -> Through:
    step = (*path, "through")
    parent = schema.tables[_table_spelling(catalog, through.table, schema, step)]
    pairs = tuple(
        (
            _spelling(catalog, own, actual.columns, (*path, "on", own), f"column of `{actual.name}`"),
            _spelling(catalog, theirs, parent.columns, (*path, "on", own), f"column of `{parent.name}`"),
        )
        for own, theirs in through.on
    )
    return Through(parent.name, pairs)


def _table_spelling(catalog: Catalog, name: str, schema: Schema, path: tuple[str, ...]) -> str:
    """Return the one table that a name of the catalog means.

    A name with dots is a qualified one; if no table has that name, it may be a plain one with dots in it. If both are
    possible, the owner must decide.
    """
    candidates = dict.fromkeys([*tables_named(schema, parts_of(name)), *tables_named(schema, (name,))])
    return _the_one(catalog, name, list(candidates), schema.tables, path, TABLE)


def _spelling(catalog: Catalog, name: str, names: Mapping[str, object], path: tuple[str, ...], what: str) -> str:
    return _the_one(catalog, name, spellings(name, names), names, path, what)


def _the_one(
    catalog: Catalog, name: str, candidates: list[str], names: Mapping[str, object], path: tuple[str, ...], what: str
) -> str:
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise catalog.problem(
            f"`{name}` is more than one {what}: {listing(candidates)}. "
            "Names that differ only in their case are one name.",
            *path,
            code=codes.AMBIGUOUS,
            hint="Rename one of them in the database, or give it another name in a view. "
            "A name with a dot in it is written in double quotes: '\"odd.name\"'.",
        )
    guess, known = closest(name, names), sorted(names)
    more = ", …" if len(known) > 20 else ""
    there_are = f"There are {listing(known[:20])}{more}." if known else "There are none at all."
    raise catalog.problem(
        f"`{name}` is not a {what}.",
        *path,
        code=codes.UNKNOWN_COLUMN if what.startswith("column") else codes.UNKNOWN_TABLE,
        hint=f"Did you mean `{guess}`?" if guess else there_are,
    )


def listing(names: Iterable[str]) -> str:
    """Names in a sentence."""
    return ", ".join(f"`{name}`" for name in names)
