"""hedgerow batch."""

import sys
from typing import Annotated

import typer

from hedgerow.answer import Batch, notes, rich_table
from hedgerow.cli import options
from hedgerow.cli.errors import pointing
from hedgerow.cli.output import say, say_wrapped, show_table, waiting, write_json
from hedgerow.cli.statements import asking, stated
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
    minimise: Annotated[
        str, typer.Option("--minimise", metavar="WHAT", help="The errors that the split makes least: mean or worst.")
    ] = "mean",
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
    given = stated(
        epsilon=epsilon,
        delta=delta,
        within=within,
        confidence=confidence,
        min_frequency=min_frequency,
        mechanism=mechanism,
        max_rows=max_rows,
        max_groups=max_groups,
        minimise=minimise,
    )
    with asking(text, db=db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect) as database:
        if plan:
            quote = database.quote_batch(report, **given)
            if as_json:
                write_json(quote.to_dict())
            else:
                show_table(quote.table())
                say_wrapped(quote.caption)
            return
        with waiting("asking the database"):
            answers = database.batch(report, **given)
        if as_json:
            write_json(answers.to_dict())
        else:
            show_batch(answers)


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
