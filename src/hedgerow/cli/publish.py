"""hedgerow publish."""

import sys
from functools import partial
from typing import Annotated

import typer

from hedgerow.cli import options
from hedgerow.cli.batch import show_batch_quote
from hedgerow.cli.errors import pointing
from hedgerow.cli.output import say, say_wrapped, tell, waiting, write_json
from hedgerow.cli.statements import asking, given_options
from hedgerow.session.job import wait_for
from hedgerow.session.report import Report, report_text


def publish(
    file: Annotated[
        str, typer.Argument(metavar="FILE.sql", help="The report: statements separated by ;, with names and titles.")
    ],
    *,
    out: Annotated[str, typer.Option("-o", "--output", metavar="FOLDER", help="The folder that is written.")],
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="FILE", help="The owner's private key; by default next to the catalog."),
    ] = None,
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
    plan: Annotated[
        bool, typer.Option("--plan", help="Show the price and the predicted errors instead of publishing; free.")
    ] = False,
    dialect: options.Dialect = None,
    as_json: options.Json = False,
) -> None:
    """Ask the statements of a report, and write tables, charts, a page and a signed certificate. The owner's command.

    The folder is written as a whole or not at all. Publishing the same report again is free and gives the same files.
    With --plan nothing is spent or written.
    The first release makes the key that signs, as `hedgerow key new` does; `hedgerow verify FOLDER` checks the folder
    anywhere.

    Example: hedgerow publish report.sql -o release --db demo/hospital.duckdb --catalog demo/hospital.yaml
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
            show_batch_quote(database.quote_batch(report, **{**given, "add_up": add_up or None}), as_json=as_json)
            return
        with waiting("asking the database"):
            release = wait_for(partial(database.publish, report, out, key=key, **given))
    if as_json:
        write_json(release.to_dict())
        return
    if not release.written:
        tell(f"{release.folder} holds this release already.")
    say(f"{release.folder}: {len(release.files)} files, begin with index.html")
    say_wrapped(f"guarantee of this release: epsilon {release.guarantee.epsilon:g}, delta {release.guarantee.delta:g}")
    if release.together:
        say_wrapped(f"measured together, so that tables about the same rows add up: {', '.join(release.together)}")
    if release.apart:
        say_wrapped(f"about the same rows, but measured apart (--add-up forbids it): {', '.join(release.apart)}")
    say_wrapped(f"signed with {release.key}")
    say_wrapped(f"check it with: hedgerow verify {release.folder} --key {release.key}")
