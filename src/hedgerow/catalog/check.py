"""Findings of `hedgerow check`: what in a catalog can be verified, and what cannot. For the owner alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

from hedgerow.catalog.bind import bind_table, listing
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
                f"The key {name} is unique at present, but the database does not enforce it. It is your "
                "declaration that each row leads to one person. If it becomes false, a row counts for each person that "
                "it leads to. Make the key PRIMARY KEY or UNIQUE.",
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
    """Return the finding on one row per unit: the own columns are unique, and every later step has one row per unit."""
    own = _uniqueness(schema, is_unique, table.name, tuple(column for column, _ in through.on))
    steps, parent = [own], catalog.table(through.table)
    while parent is not None:
        unit = parent.unit
        columns = tuple(mine for mine, _ in unit.on) if isinstance(unit, Through) else (str(unit),)
        steps.append(_uniqueness(schema, is_unique, parent.name, columns))
        parent = catalog.table(unit.table) if isinstance(unit, Through) else None
    if own is not _Uniqueness.FALSE and _Uniqueness.FALSE in steps:
        return Finding(
            "unknown",
            table.name,
            "`unit_unique` is not verified: some unit has several rows in a table on the path, and only a join with "
            "that table could tell. Weights apply all the same.",
        )
    return _unique_unit(table.name, max(steps, key=lambda uniqueness: uniqueness.value))


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
    tables, findings = [], []
    for declared in catalog.tables.values():
        try:
            tables.append(bind_table(catalog, declared, schema))
        except CatalogError as error:
            findings.append(Finding("error", declared.name, str(error), "database"))
    bound = replace(catalog, tables={table.name: table for table in tables})
    for table in tables:
        findings += _check_table(bound, table, schema, is_unique)
    return [*findings, *_check_budget(catalog), *_beyond_reach(catalog)]


def _check_table(catalog: Catalog, table: DeclaredTable, schema: Schema, is_unique: IsUnique) -> Iterator[Finding]:
    yield Finding("ok", table.name, "The table exists, and so does every column that the catalog names.", "database")
    if table.public:
        message = "`public` is your declaration: the table may be shown to everybody."
        yield Finding("unknown", table.name, message)
        return
    if isinstance(table.unit, str) and schema.tables[table.name].columns[table.unit].type is Type.FLOAT:
        yield Finding(
            "warning",
            table.name,
            f"The unit `{table.unit}` is a floating-point number; a name or whole number is safer.",
            "database",
        )
    if isinstance(table.unit, Through) and catalog.table(table.unit.table):
        yield check_path(table, table.unit, schema, is_unique)
    yield from check_unit_unique(catalog, table, schema, is_unique)
    yield from _check_rows(table)
    yield from _declarations(table)


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
            f"Only you know whether {table.max_rows} rows per unit are a good choice. A wrong one costs accuracy, "
            "never privacy.",
        )


def _declarations(table: DeclaredTable) -> Iterator[Finding]:
    bounded = [name for name, column in table.columns.items() if column.lower is not None]
    listed = [name for name, column in table.columns.items() if column.values is not None]
    if bounded:
        yield Finding(
            "unknown",
            table.name,
            f"The bounds of {listing(bounded)} are your declaration and are not compared with the data. Values beyond "
            "them are clipped, which costs accuracy, never privacy. Do not take bounds from the data.",
        )
    if listed:
        yield Finding(
            "unknown",
            table.name,
            f"It is your declaration that the values of {listing(listed)} are public knowledge. Rows with other "
            "values are in no group.",
        )
    for name, column in table.columns.items():
        if column.values_from is not None:
            source, key = column.values_from
            yield Finding(
                "unknown",
                table.name,
                f"The values of `{name}` are those of `{key}` in `{source}` when a connection is opened. It is your "
                "declaration that they are public knowledge. Rows with other values are in no group.",
            )


def _check_budget(catalog: Catalog) -> Iterator[Finding]:
    if catalog.budget.ledger is None:
        yield Finding(
            "warning",
            "budget",
            "The catalog does not name its ledger, so deleting the ledger restores the full budget. "
            "Write its id under `budget: {ledger: …}`.",
        )
    default, cap = catalog.defaults.epsilon, catalog.budget.per_query
    maximum = min(catalog.budget.epsilon, cap.epsilon if cap else catalog.budget.epsilon)
    if default is not None and default > maximum:
        yield Finding(
            "warning",
            "defaults",
            f"The default epsilon {default:g} exceeds {maximum:g}, the most that a statement may cost, so a query "
            "that states none is refused. Lower it.",
        )


def _beyond_reach(catalog: Catalog) -> Iterator[Finding]:
    yield Finding(
        "unknown",
        catalog.dataset,
        "Only you know whether each unit column names one person, and the same person in every table.",
    )
    yield Finding(
        "unknown",
        catalog.dataset,
        "Only you know whether a table will have more rows than its `size`. Sums have room for 10^12 rows in any case.",
    )
    yield Finding(
        "unknown",
        "connection",
        "A database that hedgerow opens is read-only and locked. A connection that you pass in keeps your settings, "
        "and only you can lock it.",
    )
    yield Finding(
        "unknown",
        "analysts",
        "hedgerow does not verify the names of analysts. The program that calls it must do that.",
    )
