"""hedgerow query."""

from functools import partial
from typing import Annotated

import typer

from hedgerow.answer import Answer, caption, notes, rich_table
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError, Words, in_words_of_command_line, pointing
from hedgerow.cli.formats import FORMATS, output
from hedgerow.cli.output import say, say_wrapped, show_table, waiting
from hedgerow.cli.statements import asking, given_options, read_parameters, read_statements
from hedgerow.session.job import wait_for


def query(
    statement: Annotated[
        str | None, typer.Argument(metavar="SELECT…", help="The statement; - reads it from standard input.")
    ] = None,
    *,
    file: Annotated[
        str | None, typer.Option("-f", "--file", metavar="FILE", help="Ask the statements of a file, one by one.")
    ] = None,
    param: options.Param = None,
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
    bounds: options.Bounds = None,
    dialect: options.Dialect = None,
    form: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help=f"{', '.join(FORMATS)}; else by the file's ending.")
    ] = None,
    show_notes: Annotated[
        bool, typer.Option("--notes", help="Show every note on the answer, in full; by default the short ones.")
    ] = False,
    out: Annotated[str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the answer there.")] = None,
    as_json: options.Json = False,
) -> None:
    """Ask a question, pay for it, and get numbers with error bars.

    The price is written to the ledger before a row is read, and is never refunded. A refused question costs
    nothing. Options can only tighten what the owner set.

    Example: hedgerow query "SELECT region, COUNT(*) FROM patients GROUP BY region" --db demo/hospital.duckdb
    --catalog demo/hospital.yaml --epsilon 0.1
    """
    texts, values, target = (
        read_statements(statement, file),
        read_parameters(param or ()),
        output(form, out, as_json=as_json),
    )
    if len(texts) > 1 and out is not None:
        raise UsageError("-o takes the answer of one statement.", hint="Ask the statements of the file one by one.")
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
        bounds=bounds,
    )
    with asking(texts[0], db=db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect) as database:
        for number, text in enumerate(texts):
            with pointing(catalog=catalog, query=text), waiting("asking the database"):
                answer = wait_for(partial(database.sql, text, params=values or None, **given))
            if target is not None:
                target.write(answer)
            else:
                if number:
                    say("")
                show_answer(answer, whole_notes=show_notes)


ONE_GROUP = "max_groups=1"


def show_answer(answer: Answer, *, whole_notes: bool = False, words: Words = in_words_of_command_line) -> None:
    """Print the answer for people: a table, the meaning of ±, and each note once, with options in these `words`."""
    show_table(rich_table(answer))
    say_wrapped(caption(answer))
    for note in notes(answer, whole=whole_notes):
        say_wrapped(f"note: {note}".replace(ONE_GROUP, words(ONE_GROUP)))
