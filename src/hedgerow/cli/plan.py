"""hedgerow plan."""

from typing import Annotated

import typer

from hedgerow.cli import options
from hedgerow.cli.errors import UsageError
from hedgerow.cli.output import say_wrapped, show_table, write_json
from hedgerow.cli.statements import asking, given_options
from hedgerow.session.planning import read_plan


def plan(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE…",
            help="Reports (.sql), or plans (.toml) that have a [[report]] with file, times and epsilon for each.",
        ),
    ],
    *,
    db: options.Db,
    catalog: options.CatalogFile,
    ledger: options.LedgerFile = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="Choose prices, in the proportions of the plan, that use up the budget.")
    ] = False,
    times: Annotated[
        int, typer.Option("--times", metavar="N", min=1, help="How often each report of a .sql file is published.")
    ] = 1,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon", metavar="E", help="The price of each report of a .sql file; by default the catalog's."
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option("--budget", metavar="E", help="The epsilon to compare with; by default the catalog's."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", metavar="D", help="The delta to compare with; by default the catalog's.")
    ] = None,
    confidence: options.Confidence = None,
    mechanism: options.OptionalMechanism = None,
    dialect: options.Dialect = None,
    as_json: options.Json = False,
) -> None:
    """Show the budget that a year of reports takes, or the errors that a budget allows. Free.

    Reports are files of statements, as for `batch`. A plan lists them with how often each is published; every time is
    a purchase of its own. The command prints the smallest budget that covers all of them; with --fit it chooses
    prices that use up the budget instead, and shows the errors that they buy.

    Example: hedgerow plan year.toml --fit --budget 6 --db demo/hospital.duckdb --catalog demo/hospital.yaml
    """
    if delta is not None and budget is None:
        raise UsageError("--delta requires --budget.")
    reports = [report for file in files for report in read_plan(file, times=times, epsilon=epsilon)]
    given = given_options(confidence=confidence, mechanism=mechanism)
    with asking("", db=db, catalog=catalog, ledger=ledger, analyst=None, dialect=dialect) as database:
        granted = None if budget is None else (budget, database.budget.limit.delta if delta is None else delta)
        planned = database.plan(reports, budget=granted, fit=fit, **given)
    if as_json:
        write_json(planned.to_dict())
    else:
        show_table(planned.table())
        show_table(planned.errors_table())
        say_wrapped(planned.caption)
