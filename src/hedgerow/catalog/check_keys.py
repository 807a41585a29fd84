"""Whether keys identify one row: enforced by the database, or only true at present, or false."""

from collections.abc import Callable, Iterator
from enum import Enum

from hedgerow.catalog.finding import Finding
from hedgerow.catalog.model import Catalog, Table, Through
from hedgerow.schema import Schema

IsUnique = Callable[[str, tuple[str, ...]], bool]


class _Standing(Enum):
    """How firmly a set of columns is unique."""

    ENFORCED = 0
    AT_PRESENT = 1
    FALSE = 2


def _standing(schema: Schema, is_unique: IsUnique, table: str, columns: tuple[str, ...]) -> _Standing:
    if schema.tables[table].is_unique(frozenset(columns)):
        return _Standing.ENFORCED
    return _Standing.AT_PRESENT if is_unique(table, columns) else _Standing.FALSE


def unenforced_paths(catalog: Catalog, schema: Schema) -> list[tuple[str, str]]:
    """The tables whose rows have one owner by the owner's word alone, each with the key that is not enforced."""
    return [
        (table.name, f"`{table.unit.table}` ({', '.join(theirs for _, theirs in table.unit.on)})")
        for table in catalog.tables.values()
        if isinstance(table.unit, Through)
        and not schema.tables[table.unit.table].is_unique(frozenset(theirs for _, theirs in table.unit.on))
    ]


def check_path(table: Table, through: Through, schema: Schema, is_unique: IsUnique) -> Finding:
    """Whether each row of `table` leads to one row of the next table, and so to one owner."""
    key = tuple(theirs for _, theirs in through.on)
    name = f"`{through.table}` ({', '.join(key)})"
    match _standing(schema, is_unique, through.table, key):
        case _Standing.ENFORCED:
            said = f"The key {name} is enforced to be unique, so each row has one owner."
            return Finding("ok", table.name, said, "database")
        case _Standing.AT_PRESENT:
            return Finding(
                "warning",
                table.name,
                f"The key {name} is unique at present, but the database does not enforce it: that each row leads to "
                "one person is your word. If it becomes false, a row counts for each person that it leads to. Make the "
                "key PRIMARY KEY or UNIQUE.",
            )
        case _Standing.FALSE:
            return Finding(
                "error",
                table.name,
                f"The key {name} is not unique, so a row can lead to several people, and then counts for each of them. "
                "Name the columns that identify one row there.",
                "data",
            )


def check_unit_unique(catalog: Catalog, table: Table, schema: Schema, is_unique: IsUnique) -> Iterator[Finding]:
    """Whether `unit_unique` holds where it is declared, and could be declared where it is not."""
    if isinstance(table.unit, Through):
        if table.unit_unique:
            yield _unique_along_path(catalog, table, table.unit, schema, is_unique)
    elif table.unit is not None and table.unit_unique:
        yield _unique_unit(table.name, _standing(schema, is_unique, table.name, (table.unit,)))
    elif table.unit is not None and schema.tables[table.name].is_unique(frozenset({table.unit})):
        yield Finding(
            "warning",
            table.name,
            f"The database enforces one row for each `{table.unit}`. Declare `unit_unique: true` and queries become "
            "faster and more accurate.",
            "database",
        )


def _unique_unit(subject: str, standing: _Standing) -> Finding:
    match standing:
        case _Standing.ENFORCED:
            return Finding("ok", subject, "`unit_unique` holds: the database enforces it.", "database")
        case _Standing.AT_PRESENT:
            return Finding(
                "warning",
                subject,
                "`unit_unique` holds at present, but the database does not enforce it, so weights apply all the same. "
                "Make the unit PRIMARY KEY or UNIQUE for the short path.",
            )
        case _Standing.FALSE:
            return Finding(
                "error",
                subject,
                "`unit_unique` does not hold: some unit has several rows. They count like one (privacy is kept, "
                "accuracy is not). Remove `unit_unique` and declare `max_rows`.",
                "data",
            )


def _unique_along_path(
    catalog: Catalog, table: Table, through: Through, schema: Schema, is_unique: IsUnique
) -> Finding:
    """One row per unit, if the own columns are unique and every later step has one row per unit too."""
    own = _standing(schema, is_unique, table.name, tuple(column for column, _ in through.on))
    steps = [own, *_later_steps(catalog, through, schema, is_unique)]
    if own is not _Standing.FALSE and _Standing.FALSE in steps:
        return Finding(
            "unknown",
            table.name,
            "Whether `unit_unique` holds: some unit has several rows in a table on the path, and the rows here would "
            "have to be joined with it to tell. Weights apply all the same.",
        )
    return _unique_unit(table.name, max(steps, key=lambda standing: standing.value))


def _later_steps(catalog: Catalog, through: Through, schema: Schema, is_unique: IsUnique) -> Iterator[_Standing]:
    table = catalog.table(through.table)
    while table is not None:
        unit = table.unit
        columns = tuple(own for own, _ in unit.on) if isinstance(unit, Through) else (str(unit),)
        yield _standing(schema, is_unique, table.name, columns)
        table = catalog.table(unit.table) if isinstance(unit, Through) else None
