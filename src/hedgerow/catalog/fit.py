"""Which declarations a column's type can carry."""

import json
from collections.abc import Mapping

from hedgerow.catalog import codes
from hedgerow.catalog.model import Catalog, Column, Table, Through, Value
from hedgerow.errors import CatalogError
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaColumn

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
"""Which columns a key of each type can be found in; what is not here is no key."""


def effective_type(declared: Column | None, column: SchemaColumn) -> Type:
    """The type that queries see: the imposed one, or else the database's."""
    return column.type if declared is None or declared.type is None else declared.type


def check_column_type(catalog: Catalog, declared: Column, column: SchemaColumn, place: tuple[str, ...]) -> None:
    """Refuse bounds, values or an imposed type that the column cannot carry."""
    if declared.type is not None and not _can_cast(column.type, declared.type):
        raise _misfit(
            catalog,
            (*place, "type"),
            f"`{column.name}` is {_called(column)}, and there is no safe way to read that as {declared.type.value}.",
            "Remove `type`: the database's own type holds.",
        )
    kind = effective_type(declared, column)
    if declared.lower is not None and kind not in _NUMBERS:
        raise _misfit(
            catalog,
            (*place, "lower"),
            f"`{column.name}` is {_called(column)}, and only numbers have bounds.",
            "Remove `lower` and `upper`, or impose a `type` if the source keeps numbers as text.",
        )
    for value in declared.values or ():
        if kind not in _HOLDERS[_type_of(value)]:
            raise _misfit(
                catalog,
                (*place, "values"),
                f"`{column.name}` is {_called(column)}, which never equals `{json.dumps(value, ensure_ascii=False)}`.",
                _advice(kind),
            )


def _can_cast(source: Type, target: Type) -> bool:
    return source == target or source in _UNTYPED or any({source, target} <= group for group in _CASTS)


def check_domain_type(
    catalog: Catalog,
    declared: Column,
    column: SchemaColumn,
    source: tuple[str, str],
    schema: Schema,
    place: tuple[str, ...],
) -> None:
    """Refuse values from a public column (`source`, bound already) that can be no keys of this column."""
    table = catalog.table(source[0])
    theirs = schema.tables[source[0]].columns[source[1]]
    kind = effective_type(declared, column)
    known = effective_type(table.column(theirs.name) if table else None, theirs)
    if kind not in _HOLDERS.get(known, ()):
        raise _misfit(
            catalog,
            (*place, "values"),
            f"`{column.name}` is {_called(column)}, and its values are looked for in `{theirs.name}` of "
            f"`{source[0]}`, which is {_called(theirs)}.",
            _source_advice(kind),
        )


def _source_advice(kind: Type) -> str:
    if kind not in _HOLDERS:
        return _advice(kind)
    whole = "whole " if kind is Type.INTEGER else ""
    wanted = f"{whole}numbers" if kind in _NUMBERS else "booleans" if kind is Type.BOOLEAN else "text"
    return f"Name a column of {wanted}, or impose a `type` on one of the two."


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


def _misfit(catalog: Catalog, place: tuple[str, ...], message: str, hint: str) -> CatalogError:
    return catalog.problem(message, *place, code=codes.TYPE, hint=hint)


def check_path_types(catalog: Catalog, table: Table, schema: Schema) -> None:
    """Refuse a step whose two columns can never be equal. `table` is bound already."""
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
