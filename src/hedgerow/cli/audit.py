"""hedgerow audit."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hedgerow.audit import AuditReport
from hedgerow.audit import audit as look
from hedgerow.audit.run import ProgressReport
from hedgerow.cli import options
from hedgerow.cli.asking import read_statement, stated
from hedgerow.cli.audit_page import audit_page, html_page
from hedgerow.cli.faults import UsageError, pointing
from hedgerow.cli.output import stderr, tell, write_json

EXCEEDED = 1

Db = Annotated[
    str | None,
    typer.Option(
        "--db", envvar="HEDGEROW_DB", metavar="PATH", help="The database: its schema and public tables are read."
    ),
]
SchemaFile = Annotated[
    str | None,
    typer.Option("--schema", metavar="FILE", help="In place of --db: CREATE TABLE statements, in DuckDB's SQL."),
]
Runs = Annotated[int, typer.Option("--runs", metavar="N", help="Runs on each database of each pair.")]
Surely = Annotated[
    float,
    typer.Option("--confidence", metavar="C", help="How surely a statement that keeps its claim passes, such as 0.99."),
]
Depth = Annotated[
    str,
    typer.Option("--depth", metavar="D", help="engine: everything, each time. release: the noise alone, much quicker."),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="KIND", help="Try this kind of newcomer, such as 'many rows'. Repeatable."),
]
Html = Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write the report as a page for browsers.")]


def audit(
    statement: options.Statement,
    *,
    catalog: options.CatalogFile,
    db: Db = None,
    schema: SchemaFile = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    mechanism: options.Mechanism = "auto",
    min_frequency: options.MinFrequency = None,
    max_rows: options.MaxRows = None,
    max_groups: options.MaxGroups = None,
    dialect: options.Dialect = None,
    runs: Runs = 500,
    confidence: Surely = 0.99,
    depth: Depth = "engine",
    only: Only = None,
    html: Html = None,
    as_json: options.Json = False,
) -> None:
    """Look for a leak in a statement: bound its epsilon from below, by experiment.

    The statement is run many times on pairs of made-up databases that differ in one person, the worst that can come:
    extreme values, far too many rows or groups, the one who makes a group large enough, NULL and NaN. How well the two
    can be told apart bounds epsilon from below. A bound above what the receipt claims is a bug, and the exit code is 1.
    No private row is read and nothing is spent.

    Example: hedgerow audit "SELECT region, AVG(age) FROM patients GROUP BY region" --db demo/hospital.duckdb
    --catalog demo/hospital.yaml --epsilon 1 --depth release --runs 200 --html audit.html
    """
    text = read_statement(statement)
    asked = stated(
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        min_frequency=min_frequency,
        max_rows=max_rows,
        max_groups=max_groups,
        dialect=dialect,
        only=only,
    )
    _check_page(html)
    with pointing(catalog=catalog, query=text), _source(db, schema) as source, _bar() as progress:
        found = _audit(text, source, catalog, progress, runs=runs, confidence=confidence, depth=depth, **asked)
    _deliver(found, html, as_json=as_json)
    raise typer.Exit(0 if found.passed else EXCEEDED)


def _audit(text: str, source: object, catalog: str, progress: ProgressReport, **asked: Any) -> AuditReport:  # noqa: ANN401 - see `audit`
    return look(text, source=source, catalog=catalog, progress=progress, **asked)


def _check_page(html: str | None) -> None:
    """Refuse a page that could not be written, before minutes are spent on it."""
    if html is not None and not Path(html).absolute().parent.is_dir():
        raise UsageError(f"There is no folder for {html}.", hint="Make it first, or write the page elsewhere.")


def _deliver(found: AuditReport, html: str | None, *, as_json: bool) -> None:
    if as_json:
        write_json(found.to_dict())
    else:
        audit_page(found)
    if html is None:
        return
    try:
        Path(html).write_text(html_page(found), encoding="utf-8")
    except OSError:
        raise UsageError(f"The report cannot be written to {html}.", hint="Check the path.") from None
    tell(f"Written to {html}.")


@contextmanager
def _source(db: str | None, schema: str | None) -> Iterator[object]:
    """Where the shape of the tables is found."""
    if schema is None:
        if db is None:
            raise UsageError(
                "Nothing says which columns the tables have.",
                hint="Give the database with --db, or CREATE TABLE statements with --schema.",
            )
        yield db
        return
    with duckdb.connect(":memory:", config={"enable_external_access": "false"}) as connection:
        try:
            connection.execute(Path(schema).read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError, duckdb.Error) as error:
            raise UsageError(
                f"The tables in {schema} cannot be made: {error}", hint="It holds CREATE TABLE statements for DuckDB."
            ) from None
        yield connection


@contextmanager
def _bar() -> Iterator[ProgressReport]:
    """A progress bar on a terminal; elsewhere nothing."""
    columns = TextColumn("{task.description:<20}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = stderr()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task("making people up", total=None)
        yield lambda kind, made, planned: shown.update(task, description=kind, completed=made, total=planned)
