"""Foreign-key paths: where a table's unit is found when the table itself does not name it."""

from hedgerow.catalog import codes
from hedgerow.catalog.model import Catalog, Table, Through
from hedgerow.catalog.names import closest, fold
from hedgerow.errors import CatalogError


def check_paths(catalog: Catalog) -> None:
    """Refuse a path that leads nowhere, to a public table, or back to where it began.

    Privacy: a private table has a unit column or a path, so a path without a loop through private tables ends
    in a unit column, and every row that counts has an owner (docs/proofs/ownership.md).
    """
    for table in catalog.tables.values():
        if isinstance(table.unit, Through):
            _next_table(catalog, table, table.unit)
    for table in catalog.tables.values():
        _refuse_loop(catalog, table)


def _next_table(catalog: Catalog, table: Table, through: Through) -> Table:
    found = catalog.table(through.table)
    if found is None:
        raise _absent(catalog, table, through)
    if found.public:
        raise catalog.problem(
            f"The unit of `{table.name}` is looked for in `{found.name}`, which is public and has none.",
            *_place(table),
            code=codes.PATH,
            hint="Name a private table, or the column of this table that names the person.",
        )
    return found


def _absent(catalog: Catalog, table: Table, through: Through) -> CatalogError:
    guess = closest(through.table, catalog.tables)
    return catalog.problem(
        f"The unit of `{table.name}` is looked for in `{through.table}`, which the catalog does not declare.",
        *_place(table),
        code=codes.PATH,
        hint=f"Did you mean `{guess}`?" if guess else f"Declare `{through.table}` under `tables`, with its unit.",
    )


def _refuse_loop(catalog: Catalog, start: Table) -> None:
    table, visited = start, [start.name]
    while isinstance(table.unit, Through):
        table = _next_table(catalog, table, table.unit)
        visited.append(table.name)
        if fold(table.name) in map(fold, visited[:-1]):
            raise catalog.problem(
                f"The path to the unit of `{start.name}` goes round in a circle: {' -> '.join(visited)}.",
                *_place(start),
                code=codes.PATH_LOOP,
                hint="Give one of these tables a unit column of its own.",
            )


def _place(table: Table) -> tuple[str, ...]:
    return ("tables", table.name, "unit", "through")
