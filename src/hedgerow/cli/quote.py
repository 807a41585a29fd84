"""hedgerow quote."""

from typing import Annotated

import typer

from hedgerow.cli import options
from hedgerow.cli.output import say, show_table, write_json
from hedgerow.cli.statements import asking, given_options, read_parameters, read_statement
from hedgerow.session.explain import Explanation
from hedgerow.session.page import explanation_page, quote_page


def quote(
    statement: options.Statement,
    *,
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
    bounds: options.Bounds = None,
    dialect: options.Dialect = None,
    details: Annotated[
        bool, typer.Option("--details", help="Show the noise of every measure, too, and what would be left.")
    ] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Show the plan, too, and the SQL that would run.")] = False,
    as_json: options.Json = False,
) -> None:
    """Show the cost of a question and the predicted errors of its answers, for free.

    No private row is read and nothing is spent. If an error depends on the size of a group, it is shown for groups of
    100 to 100 000 rows.

    Example: hedgerow quote "SELECT diagnosis, AVG(cost) FROM visits GROUP BY diagnosis" --db demo/hospital.duckdb
    --catalog demo/hospital.yaml --epsilon 0.2
    """
    text = read_statement(statement)
    with asking(text, db=db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect) as database:
        explanation = database.explain(
            text,
            read_parameters(param or ()) or None,
            **given_options(
                epsilon=epsilon,
                delta=delta,
                within=within,
                confidence=confidence,
                min_frequency=min_frequency,
                mechanism=mechanism,
                max_rows=max_rows,
                max_groups=max_groups,
                bounds=bounds,
            ),
        )
    if as_json:
        write_json(explanation.quote.to_dict())
    else:
        _show(explanation, details=details, sql=sql)


def _show(explanation: Explanation, *, details: bool, sql: bool) -> None:
    statements = [(statement.step, statement.sql) for statement in explanation.statements]
    cheaper = bool(explanation.shortcuts)
    whole = explanation_page(explanation.plan, explanation.quote, statements, cheaper=cheaper)
    for block in whole if sql else quote_page(explanation.quote, whole=details):
        if isinstance(block, str):
            say(block)
        else:
            show_table(block)
