"""hedgerow query."""

from hedgerow.answer import Answer, caption, notes, rich_table
from hedgerow.cli import options
from hedgerow.cli.output import printable, say_wrapped, show_table, waiting, write_json
from hedgerow.cli.statements import asking, read_statement, stated


def query(
    statement: options.Statement,
    *,
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
    as_json: options.Json = False,
) -> None:
    """Ask a question, pay for it, and get numbers with error bars.

    The price is written to the ledger before a row is read, and is never given back. A refused question costs
    nothing. What the owner set in the catalog can only be tightened here.

    Example: hedgerow query "SELECT region, COUNT(*) FROM patients GROUP BY region" --db demo/hospital.duckdb
    --catalog demo/hospital.yaml --epsilon 0.1
    """
    text = read_statement(statement)
    with asking(text, db=db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect) as database:
        given = stated(
            epsilon=epsilon,
            delta=delta,
            within=within,
            confidence=confidence,
            min_frequency=min_frequency,
            mechanism=mechanism,
            max_rows=max_rows,
            max_groups=max_groups,
            bounds=bounds,
        )
        with waiting("asking the database"):
            answer = database.sql(text, **given)
    if as_json:
        write_json(answer.to_dict())
    else:
        show_answer(answer)


def show_answer(answer: Answer) -> None:
    """Print the answer for people: a table, the meaning of ±, and each note once."""
    show_table(rich_table(answer))
    say_wrapped(caption(answer))
    for note in notes(answer):
        say_wrapped(f"note: {note}")
    for bounds in answer.receipt.bounds:
        ends = f"{bounds.lower:g} and {bounds.upper:g}"
        say_wrapped(f"note: {printable(bounds.of)} was bounded by {ends}, found privately")
    if answer.receipt.max_rows is not None:
        say_wrapped(f"note: one person counts for {answer.receipt.max_rows} rows at most, chosen privately")
