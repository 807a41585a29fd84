"""hedgerow calibrate."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from hedgerow.answer import WARNINGS, percent_above
from hedgerow.calibration.calibrate import Calibration
from hedgerow.catalog.patch import MARK, patched, quote, replace_catalog
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError
from hedgerow.cli.options import complete_table
from hedgerow.cli.output import say, show_table, tell, write_json
from hedgerow.cli.statements import asking
from hedgerow.session.job import wait_for


def write_changes(catalog: str, changes: Mapping[tuple[str, ...], Any]) -> None:
    """Write `changes` into the file, completely or not at all, after checking that the result loads as a catalog."""
    path = Path(catalog)
    try:
        text = path.read_bytes().decode("utf-8")
        mark = MARK if text.startswith(MARK) else ""
        replace_catalog(path, mark + patched(text.removeprefix(MARK), changes))
    except OSError:
        raise UsageError(
            f"{catalog} could not be written.",
            code="catalog-unwritable",
            hint="What was found stays in the ledger: make the file writable, and repeat the command, which is free.",
        ) from None


def calibrate(
    *,
    db: options.Db,
    catalog: options.CatalogFile,
    table: Annotated[
        str,
        typer.Option("--table", metavar="T", help="The private table to calibrate.", autocompletion=complete_table),
    ],
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="A,B", help="Its columns; by default all numbers without bounds."),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="E", help="The most that all of it may cost; by default the catalog's."),
    ] = None,
    delta: options.Delta = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="K1,K2", help="Columns to group by, to find max_groups.")
    ] = None,
    ledger: options.LedgerFile = None,
    analyst: options.Analyst = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write the results into the catalog; the rest of the file stays unchanged.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Find bounds and limits for a catalog privately, and pay for them. The owner's command.

    Bounds of columns come from the number of people in each range of values; max_rows and max_groups from the number of
    rows and groups of each person. Every part is charged like a query, so the output may be shown and written down.

    Example: hedgerow calibrate --db demo/hospital.duckdb --catalog demo/hospital.yaml --table visits --columns nights
    --epsilon 0.5
    """
    text = f"calibrate {table}"
    with asking(text, db=db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=None) as database:
        calibrate_table = partial(
            database.calibrate,
            table,
            _listed(columns),
            epsilon=epsilon,
            delta=delta,
            by=_listed(by),
            progress=lambda subject: tell(f"looking at {subject} …"),
        )
        calibration = wait_for(calibrate_table)
        if write:
            write_changes(catalog, calibration.changes())
    if as_json:
        write_json(calibration.to_dict())
    else:
        _show(calibration, written=write)
    if write:
        tell(f"Written to {catalog}.")


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _show(calibration: Calibration, *, written: bool) -> None:
    table = Table("what", "found", "people beyond", "epsilon")
    for column in calibration.columns:
        document = column.to_dict()
        if column.lower is None:
            ends = "too few people share a range"
        elif column.days:
            ends = f"{document['lower']} to {document['upper']}"
        else:
            ends = f"{column.lower:g} to {column.upper:g}"
        table.add_row(column.column, ends, _beyond(column.beyond), f"{column.epsilon:.4g}")
    for name, limit, value in (
        ("max_rows", calibration.rows, calibration.max_rows),
        ("max_groups", calibration.groups, calibration.max_groups),
    ):
        if limit is not None:
            shown = "too few people to tell" if value is None else f"{value}"
            table.add_row(name, shown, _beyond(limit.beyond), f"{limit.epsilon:.4g}")
    show_table(table)
    say(f"epsilon {calibration.charge.epsilon:.4g}, delta {calibration.charge.delta:.4g} in all")
    for column in calibration.columns:
        if column.warning is not None:
            say(f"{column.column}: {WARNINGS[column.warning]}")
    changes = calibration.changes()
    if changes and not written:
        say("For the catalog; or repeat the command with --write, which is free:")
        say(patched(f"tables:\n  {quote(calibration.table)}: {{}}\n", changes).rstrip())


def _beyond(share: float | None) -> str:
    return "" if share is None else f"at most {percent_above(share)}"
