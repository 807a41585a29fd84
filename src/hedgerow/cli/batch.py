"""hedgerow batch."""

import sys
from functools import partial
from typing import Annotated

import typer

from hedgerow.answer import Batch, notes, rich_table
from hedgerow.cli import options
from hedgerow.cli.errors import pointing
from hedgerow.cli.output import say, say_wrapped, show_table, waiting, write_json
from hedgerow.cli.statements import asking, given_options
from hedgerow.session.batch_quote import BatchQuote
from hedgerow.session.job import wait_for
from hedgerow.session.report import Report, report_text


def batch(
    file: Annotated[
        str, typer.Argument(metavar="FILE.sql", help="The report: statements separated by ;, each may have a name.")
    ],
    *,
    plan: Annotated[
        bool, typer.Option("--plan", help="Show the price and the predicted errors instead of asking; free.")
    ] = False,
    db: options.Db,
    catalog: options.CatalogFile,
    ledger: options.LedgerFile = None,
    analyst: options.Analyst = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    within: options.Within = None,
    confidence: options.Confidence = None,
    min_frequency: options.MinFrequency = None,
    mechanism: options.Mechanism = "auto",
    max_rows: options.MaxRows = None,
    max_groups: options.MaxGroups = None,
    nonnegative: options.Nonnegative = False,
    minimise: Annotated[
        str, typer.Option("--minimise", metavar="WHAT", help="The errors to minimise: mean or worst.")
    ] = "mean",
    add_up: options.AddUp = False,
    dialect: options.Dialect = None,
    as_json: options.Json = False,
) -> None:
    """Ask the statements of a file together, for one charge: what they share is paid for once.

    A statement may be headed by comments: -- name: visits_by_ward, -- within 5%, -- weight 2, -- title: ..., and
    -- text: ... . With --plan nothing is spent and no private row is read.

    Example: hedgerow batch report.sql --db demo/hospital.duckdb --catalog demo/hospital.yaml --epsilon 0.5
    """
    text = sys.stdin.read() if file == "-" else report_text(file)
    with pointing(query=text):
        report = Report.parse(text)
    given = given_options(
        epsilon=epsilon,
        delta=delta,
        within=within,
        confidence=confidence,
        min_frequency=min_frequency,
        mechanism=mechanism,
        max_rows=max_rows,
        max_groups=max_groups,
        nonnegative=nonnegative,
        minimise=minimise,
        add_up=add_up,
    )
    with asking(text, db=db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect) as database:
        if plan:
            show_batch_quote(database.quote_batch(report, **given), as_json=as_json)
            return
        with waiting("asking the database"):
            answers = wait_for(partial(database.batch, report, **given))
        if as_json:
            write_json(answers.to_dict())
        else:
            show_batch(answers)


def show_batch_quote(quote: BatchQuote, *, as_json: bool) -> None:
    """Print the price and the predicted errors of a report."""
    if as_json:
        write_json(quote.to_dict())
        return
    show_table(quote.table())
    say_wrapped(quote.caption)


def show_batch(answers: Batch) -> None:
    """Print all answers for people, each with its name, and the price of all."""
    for name, answer in answers.items():
        title = answers.titles.get(name)
        say(f"{name}: {title}" if title else name)
        show_table(rich_table(answer))
        if answer.receipt.alone is not None:
            say_wrapped(f"alone it would have cost epsilon {answer.receipt.alone.epsilon:.3g}")
        for note in notes(answer):
            say_wrapped(f"note: {note}".replace("max_groups=1", "--max-groups 1"))
        say("")
    say_wrapped(answers.caption)
