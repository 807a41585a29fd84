"""Findings of `hedgerow check`: what in a catalog can be verified, and what cannot. For the owner alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

from hedgerow.catalog.bind import bind_table
from hedgerow.catalog.model import Catalog, DeclaredTable, Through
from hedgerow.errors import CatalogError
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema

Level = Literal["ok", "warning", "error", "unknown"]
Basis = Literal["database", "owner", "data"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of `hedgerow check` about `subject`.

    `ok` was verified, `warning` deserves attention, `error` is false or contradicts the database, and `unknown` is the
    owner's knowledge, which no program can verify.

    `basis` is the evidence: what the *database* enforces or declares, the *owner*'s declaration, or the current *data*.
    """

    level: Level
    subject: str
    message: str
    basis: Basis = "owner"


IsUnique = Callable[[str, tuple[str, ...]], bool]


class _Uniqueness(Enum):
    """Evidence that a set of columns is unique."""

    ENFORCED = 0
    AT_PRESENT = 1
    FALSE = 2


def _uniqueness(schema: Schema, is_unique: IsUnique, table: str, columns: tuple[str, ...]) -> _Uniqueness:
    if schema.tables[table].is_unique(frozenset(columns)):
        return _Uniqueness.ENFORCED
    return _Uniqueness.AT_PRESENT if is_unique(table, columns) else _Uniqueness.FALSE


def unenforced_paths(catalog: Catalog, schema: Schema) -> list[tuple[str, str]]:
    """The tables whose rows have one owner only by the owner's declaration, each with the key that is not enforced."""
    return [
        (table.name, f"`{table.unit.table}` ({', '.join(theirs for _, theirs in table.unit.on)})")
        for table in catalog.tables.values()
        if isinstance(table.unit, Through)
        and not schema.tables[table.unit.table].is_unique(frozenset(theirs for _, theirs in table.unit.on))
    ]


def check_path(table: DeclaredTable, through: Through, schema: Schema, is_unique: IsUnique) -> Finding:
    """Check that each row of `table` leads to one row of the next table, and so to one owner."""
    key = tuple(theirs for _, theirs in through.on)
    name = f"`{through.table}` ({', '.join(key)})"
    match _uniqueness(schema, is_unique, through.table, key):
        case _Uniqueness.ENFORCED:
            message = f"The key {name} is enforced to be unique, so each row has one owner."
            return Finding("ok", table.name, message, "database")
        case _Uniqueness.AT_PRESENT:
            return Finding(
                "warning",
                table.name,
                f"The key {name} is unique at present, but the database does not enforce it: that each row leads to "
                "one person is your word. If it becomes false, a row counts for each person that it leads to. Make the "
                "key PRIMARY KEY or UNIQUE.",
            )
        case _Uniqueness.FALSE:
            return Finding(
                "error",
                table.name,
                f"The key {name} is not unique, so a row can lead to several people, and then counts for each of them. "
                "Name the columns that identify one row there.",
                "data",
            )


def check_unit_unique(catalog: Catalog, table: DeclaredTable, schema: Schema, is_unique: IsUnique) -> Iterator[Finding]:
    """Check `unit_unique` if it is declared, and suggest it where it could be."""
    if isinstance(table.unit, Through):
        if table.unit_unique:
            yield _unique_along_path(catalog, table, table.unit, schema, is_unique)
    elif table.unit is not None and table.unit_unique:
        yield _unique_unit(table.name, _uniqueness(schema, is_unique, table.name, (table.unit,)))
    elif table.unit is not None and schema.tables[table.name].is_unique(frozenset({table.unit})):
        yield Finding(
            "warning",
            table.name,
            f"The database enforces one row for each `{table.unit}`. Declare `unit_unique: true` and queries become "
            "faster and more accurate.",
            "database",
        )
    elif table.unit is not None and table.max_rows != 1 and is_unique(table.name, (table.unit,)):
        yield Finding(
            "warning",
            table.name,
            f"At present each `{table.unit}` has one row. If that is always so, declare `unit_unique: true` in place "
            "of `max_rows`: queries and joins become more accurate.",
            "data",
        )


def _unique_unit(subject: str, uniqueness: _Uniqueness) -> Finding:
    match uniqueness:
        case _Uniqueness.ENFORCED:
            return Finding("ok", subject, "`unit_unique` holds: the database enforces it.", "database")
        case _Uniqueness.AT_PRESENT:
            return Finding(
                "warning",
                subject,
                "`unit_unique` holds at present, but the database does not enforce it, so weights apply all the same. "
                "Make the unit PRIMARY KEY or UNIQUE for the short path.",
            )
        case _Uniqueness.FALSE:
            return Finding(
                "error",
                subject,
                "`unit_unique` does not hold: some unit has several rows. They count like one (privacy is kept, "
                "accuracy is not). Remove `unit_unique` and declare `max_rows`.",
                "data",
            )


def _unique_along_path(
    catalog: Catalog, table: DeclaredTable, through: Through, schema: Schema, is_unique: IsUnique
) -> Finding:
    """One row per unit, if the own columns are unique and every later step has one row per unit too."""
    own = _uniqueness(schema, is_unique, table.name, tuple(column for column, _ in through.on))
    steps = [own, *_later_steps(catalog, through, schema, is_unique)]
    if own is not _Uniqueness.FALSE and _Uniqueness.FALSE in steps:
        return Finding(
            "unknown",
            table.name,
            "Whether `unit_unique` holds: some unit has several rows in a table on the path, and the rows here would "
            "have to be joined with it to tell. Weights apply all the same.",
        )
    return _unique_unit(table.name, max(steps, key=lambda uniqueness: uniqueness.value))


def _later_steps(catalog: Catalog, through: Through, schema: Schema, is_unique: IsUnique) -> Iterator[_Uniqueness]:
    table = catalog.table(through.table)
    while table is not None:
        unit = table.unit
        columns = tuple(own for own, _ in unit.on) if isinstance(unit, Through) else (str(unit),)
        yield _uniqueness(schema, is_unique, table.name, columns)
        table = catalog.table(unit.table) if isinstance(unit, Through) else None


def check_catalog(
    catalog: Catalog, schema: Schema, *, is_unique: Callable[[str, tuple[str, ...]], bool]
) -> list[Finding]:
    """Return all findings about `catalog`, table by table, then about the whole.

    Args:
        catalog: The loaded catalog.
        schema: The database's schema.
        is_unique: Returns whether no two rows of a table agree on the columns. It is called only if the database
            enforces no such key.

    Privacy: the results of `is_unique` are exact and free, so the findings are for the owner, not for analysts.
    """
    tables, findings = _bind(catalog, schema)
    bound = replace(catalog, tables={table.name: table for table in tables})
    for table in tables:
        findings += _check_table(bound, table, schema, is_unique)
    return [*findings, *_check_budget(catalog), *_beyond_reach(catalog)]


def _bind(catalog: Catalog, schema: Schema) -> tuple[list[DeclaredTable], list[Finding]]:
    bound, errors = [], []
    for table in catalog.tables.values():
        try:
            bound.append(bind_table(catalog, table, schema))
        except CatalogError as error:
            errors.append(Finding("error", table.name, str(error), "database"))
    return bound, errors


def _check_table(catalog: Catalog, table: DeclaredTable, schema: Schema, is_unique: IsUnique) -> Iterator[Finding]:
    yield Finding("ok", table.name, "The table exists, and so does every column that the catalog names.", "database")
    if table.public:
        yield Finding("unknown", table.name, "That it may be shown to everybody, as `public` says, is your word.")
        return
    yield from _check_unit(table, schema)
    if isinstance(table.unit, Through) and catalog.table(table.unit.table):
        yield check_path(table, table.unit, schema, is_unique)
    yield from check_unit_unique(catalog, table, schema, is_unique)
    yield from _check_rows(table)
    yield from _declarations(table)


def _check_unit(table: DeclaredTable, schema: Schema) -> Iterator[Finding]:
    if isinstance(table.unit, str) and schema.tables[table.name].columns[table.unit].type is Type.FLOAT:
        yield Finding(
            "warning",
            table.name,
            f"The unit `{table.unit}` is a floating-point number; a name or whole number is safer.",
            "database",
        )


def _check_rows(table: DeclaredTable) -> Iterator[Finding]:
    if table.max_rows is None:
        yield Finding(
            "warning",
            table.name,
            "Neither `unit_unique` nor `max_rows` is declared, so every query must state `max_rows`. Declare how many "
            "rows of one unit should count: `max_rows: 10`.",
        )
    elif not table.unit_unique:
        yield Finding(
            "unknown",
            table.name,
            f"Whether {table.max_rows} rows per unit are a good choice: a wrong one costs accuracy, never privacy.",
        )


def _declarations(table: DeclaredTable) -> Iterator[Finding]:
    bounded = [name for name, column in table.columns.items() if column.lower is not None]
    listed = [name for name, column in table.columns.items() if column.values is not None]
    if bounded:
        yield Finding(
            "unknown",
            table.name,
            f"The bounds of {_listing(bounded)} are your knowledge and are not compared with the data: values beyond "
            "them are cut off, which costs accuracy, never privacy. Do not read them off the data.",
        )
    if listed:
        yield Finding(
            "unknown",
            table.name,
            f"That the values of {_listing(listed)} are public knowledge is your word; rows with other values fall in "
            "no group.",
        )
    for name, column in table.columns.items():
        if column.values_from is not None:
            source, key = column.values_from
            yield Finding(
                "unknown",
                table.name,
                f"The values of `{name}` are those of `{key}` in `{source}` when a connection is opened. That they are "
                "public knowledge is your word; rows with other values fall in no group.",
            )


def _check_budget(catalog: Catalog) -> Iterator[Finding]:
    if catalog.budget.ledger is None:
        yield Finding(
            "warning",
            "budget",
            "The catalog does not name its ledger, so whoever deletes the ledger starts again with a full budget. "
            "Write its id under `budget: {ledger: …}`.",
        )
    default, cap = catalog.defaults.epsilon, catalog.budget.per_query
    maximum = min(catalog.budget.epsilon, cap.epsilon if cap else catalog.budget.epsilon)
    if default is not None and default > maximum:
        yield Finding(
            "warning",
            "defaults",
            f"The default epsilon {default:g} is more than the {maximum:g} that a statement may have, so a query that "
            "states none is refused. Lower it.",
        )


def _beyond_reach(catalog: Catalog) -> Iterator[Finding]:
    yield Finding(
        "unknown",
        catalog.dataset,
        "Whether each unit column names one person, and the same person in every table, is your knowledge.",
    )
    yield Finding(
        "unknown",
        catalog.dataset,
        "Whether no table will hold more rows than its `size` is your knowledge; sums have room for 10^12 in any case.",
    )
    yield Finding(
        "unknown",
        "connection",
        "What hedgerow opens itself is read-only and locked; a connection that you hand in keeps your settings, and "
        "only you can lock it.",
    )
    yield Finding(
        "unknown",
        "analysts",
        "Names of analysts are taken on trust: whoever calls hedgerow must say who is who.",
    )


def _listing(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
