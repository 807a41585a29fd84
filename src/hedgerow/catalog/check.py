"""What can be verified about a catalog, and, as plainly, what cannot. For the owner's eyes."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from hedgerow.catalog.bind import bind_table
from hedgerow.catalog.check_keys import IsUnique, check_path, check_unit_unique
from hedgerow.catalog.finding import Finding
from hedgerow.catalog.model import Catalog, Table, Through
from hedgerow.errors import CatalogError
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema


def check_catalog(
    catalog: Catalog, schema: Schema, *, is_unique: Callable[[str, tuple[str, ...]], bool]
) -> list[Finding]:
    """Everything that can be said about `catalog`, table by table, then about the whole.

    Args:
        catalog: As it was loaded.
        schema: What the database says of itself.
        is_unique: Asks the data whether no two rows of a table agree on the columns. It is asked only where the
            database enforces nothing.

    Privacy: the answers of `is_unique` are exact and cost nothing, so the findings are the owner's, not the analysts'.
    """
    tables, findings = _bind(catalog, schema)
    bound = replace(catalog, tables={table.name: table for table in tables})
    for table in tables:
        findings += _check_table(bound, table, schema, is_unique)
    return [*findings, *_check_budget(catalog), *_beyond_reach(catalog)]


def _bind(catalog: Catalog, schema: Schema) -> tuple[list[Table], list[Finding]]:
    bound, errors = [], []
    for table in catalog.tables.values():
        try:
            bound.append(bind_table(catalog, table, schema))
        except CatalogError as error:
            errors.append(Finding("error", table.name, str(error), "database"))
    return bound, errors


def _check_table(catalog: Catalog, table: Table, schema: Schema, is_unique: IsUnique) -> Iterator[Finding]:
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


def _check_unit(table: Table, schema: Schema) -> Iterator[Finding]:
    if isinstance(table.unit, str) and schema.tables[table.name].columns[table.unit].type is Type.FLOAT:
        yield Finding(
            "warning",
            table.name,
            f"The unit `{table.unit}` is a floating-point number; a name or whole number is safer.",
            "database",
        )


def _check_rows(table: Table) -> Iterator[Finding]:
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


def _declarations(table: Table) -> Iterator[Finding]:
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
    asked, cap = catalog.defaults.epsilon, catalog.budget.per_query
    most = min(catalog.budget.epsilon, cap.epsilon if cap else catalog.budget.epsilon)
    if asked is not None and asked > most:
        yield Finding(
            "warning",
            "defaults",
            f"The default epsilon {asked:g} is more than the {most:g} that a statement may have, so a query that "
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
