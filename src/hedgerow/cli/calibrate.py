"""hedgerow calibrate."""

from typing import Annotated

import typer
from rich.table import Table

from hedgerow.calibration.calibrate import Calibration, ColumnRange
from hedgerow.cli import options
from hedgerow.cli.asking import asking
from hedgerow.cli.catalog_file import write_changes
from hedgerow.cli.output import say, show_table, tell, write_json

EXCEEDING = "about one person in a hundred has more"


def calibrate(
    *,
    db: options.Db,
    catalog: options.CatalogFile,
    table: Annotated[str, typer.Option("--table", metavar="T", help="The private table to find out about.")],
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="A,B", help="Its columns; else all numbers that have no bounds yet."),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="E", help="The most that all of it may cost; else the catalog's."),
    ] = None,
    delta: options.Delta = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="K1,K2", help="Columns to group by: in how many groups is one person?")
    ] = None,
    ledger: options.LedgerFile = None,
    analyst: options.Analyst = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write what was found into the catalog; all else in it stays as it is.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Find bounds and limits for a catalog privately, and pay for them. The owner's command.

    Bounds of columns come from how many people share each range of values; max_rows and max_groups from how much each
    person has. Every part is charged like a query, so what it prints may be shown and written down.

    Example: hedgerow calibrate --db demo/hospital.duckdb --catalog demo/hospital.yaml --table visits --columns nights
    --epsilon 0.5
    """
    text = f"calibrate {table}"
    with asking(text, db=db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=None) as database:
        found = database.calibrate(
            table, _listed(columns), epsilon=epsilon, delta=delta, by=_listed(by), progress=_looking
        )
        if write:
            write_changes(catalog, found.changes())
    if as_json:
        write_json(found.to_dict())
    else:
        _show(found)
    if write:
        tell(f"Written to {catalog}.")


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _looking(subject: str) -> None:
    tell(f"looking at {subject} …")


def _show(found: Calibration) -> None:
    table = Table("what", "found", "epsilon")
    for column in found.columns:
        table.add_row(column.column, _ends(column), f"{column.epsilon:.4g}")
    for name, limit, value in (
        ("max_rows", found.rows, found.max_rows),
        ("max_groups", found.groups, found.max_groups),
    ):
        if limit is not None:
            table.add_row(name, _limit(value), f"{limit.epsilon:.4g}")
    show_table(table)
    say(f"epsilon {found.charge.epsilon:.4g}, delta {found.charge.delta:.4g} in all; {EXCEEDING}")


def _ends(column: ColumnRange) -> str:
    told = column.to_dict()
    if column.lower is None:
        return "too few people share a range"
    return f"{told['lower']} to {told['upper']}" if column.days else f"{column.lower:g} to {column.upper:g}"


def _limit(value: int | None) -> str:
    return "too few people to tell" if value is None else f"{value}"
