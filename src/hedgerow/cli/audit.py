"""hedgerow audit."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Annotated

import duckdb
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from hedgerow.audit import AuditReport, Judged, PairReport
from hedgerow.audit import audit as look
from hedgerow.audit.run import ProgressReport
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError, pointing
from hedgerow.cli.output import printable, say, show_table, stderr, tell, write_json
from hedgerow.cli.statements import given_options, read_statement

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
    typer.Option("--confidence", metavar="C", help="Probability that a correct statement passes, such as 0.99."),
]
Depth = Annotated[
    str,
    typer.Option("--depth", metavar="D", help="engine: everything, each time. release: only the noise, much faster."),
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
    """Search for a leak in a statement: bound its epsilon from below, by experiment.

    The statement runs many times on pairs of generated databases that differ in one person, chosen as a worst case:
    extreme values, far too many rows or groups, the person who makes a group large enough, NULL and NaN. How well the
    two databases can be distinguished bounds epsilon from below. A bound above the receipt's claim is a bug, and the
    exit code is 1. No private row is read and nothing is spent.

    Example: hedgerow audit "SELECT region, AVG(age) FROM patients GROUP BY region" --db demo/hospital.duckdb
    --catalog demo/hospital.yaml --epsilon 1 --depth release --runs 200 --html audit.html
    """
    text = read_statement(statement)
    query_options = given_options(
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        min_frequency=min_frequency,
        max_rows=max_rows,
        max_groups=max_groups,
        dialect=dialect,
        only=only,
    )
    if html is not None and not Path(html).absolute().parent.is_dir():  # before minutes are spent on it
        raise UsageError(f"There is no folder for {html}.", hint="Make it first, or write the page elsewhere.")
    with pointing(catalog=catalog, query=text), _source(db, schema) as source, _progress_bar() as progress:
        report = look(
            text,
            source=source,
            catalog=catalog,
            progress=progress,
            runs=runs,
            confidence=confidence,
            depth=depth,
            **query_options,
        )
    _deliver(report, html, as_json=as_json)
    raise typer.Exit(0 if report.passed else EXCEEDED)


def _deliver(report: AuditReport, html: str | None, *, as_json: bool) -> None:
    if as_json:
        write_json(report.to_dict())
    else:
        audit_page(report)
    if html is None:
        return
    try:
        Path(html).write_text(html_page(report), encoding="utf-8")
    except OSError:
        raise UsageError(f"The report cannot be written to {html}.", hint="Check the path.") from None
    tell(f"Written to {html}.")


@contextmanager
def _source(db: str | None, schema: str | None) -> Iterator[object]:
    """Return the database, or a new one with the tables of the schema file."""
    if schema is None:
        if db is None:
            raise UsageError(
                "audit requires --db or --schema.",
                hint="Name the database with --db, or a file of CREATE TABLE statements with --schema.",
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
def _progress_bar() -> Iterator[ProgressReport]:
    """Show a progress bar on a terminal; elsewhere nothing."""
    columns = TextColumn("{task.description:<20}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = stderr()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task("making people up", total=None)
        yield lambda kind, done, planned: shown.update(task, description=kind, completed=done, total=planned)


DEPTHS = {"engine": "the whole engine", "release": "the release alone"}
LONGEST = 200


def audit_page(report: AuditReport) -> None:
    """Print the report."""
    show_table(_table(report))
    for line in summary(report):
        say(line)


def summary(report: AuditReport) -> list[str]:
    """Return claim, findings and number of runs, in sentences."""
    claim = report.claim
    mu = "" if claim.mu is None else f", and mu {claim.mu:.4g}"
    lines = [f"claimed: epsilon {claim.epsilon:.4g} at delta {claim.delta:.3g}{mu}"]
    if report.passed:
        lines.append("passed: nothing that was found contradicts the claim")
    for pair in report.pairs:
        lines += [f"exceeded, {pair.kind}: {finding}" for finding in pair.findings]
    number = len(report.pairs)
    lines.append(
        f"{number} {'pair' if number == 1 else 'pairs'}, {report.runs:,} runs on each of {2 * number} databases, "
        f"{DEPTHS[report.depth]}, {report.confidence:.10g} confidence in all, {report.seconds:,.0f} s"
    )
    if report.left_out:
        lines.append(f"left out, because the newcomer changes nothing that is measured: {', '.join(report.left_out)}")
    if not report.can_tell:  # half the noise would not be detected
        why = (
            f"the audit can show at most epsilon {report.reach:.3g}"
            if claim.mu is None
            else f"mu is uncertain by {report.blur:.2g}, more than the claim"
        )
        more = "more --runs show more, and so does a larger --epsilon"
        lines.append(f"note: with this number of runs, {why}; {more}")
    return lines


def _table(report: AuditReport) -> Table:
    table = Table("newcomer")
    for name in _headings(report):
        table.add_column(name, justify="right")
    table.add_column("what tells them apart")
    for pair in report.pairs:
        judged = _most_telling(pair)
        event = "nothing" if judged is None else printable(judged.event, LONGEST)
        table.add_row(pair.kind, *_numbers(pair), event, style="" if pair.passed else "bold red")
    return table


def _headings(report: AuditReport) -> list[str]:
    return ["epsilon at least", *([] if report.claim.mu is None else ["mu at least", "as epsilon"])]


def _numbers(pair: PairReport) -> list[str]:
    of_mu = pair.epsilon_of_mu
    shown = [] if pair.claim.mu is None else [f"{pair.mu_bound:.3f}", "" if of_mu is None else f"{of_mu:.3f}"]
    return [f"{pair.epsilon_bound:.3f}", *shown]


def _most_telling(pair: PairReport) -> Judged | None:
    """Return the event that shows the most: that of mu, if mu is claimed, because it shows more."""
    judged = pair.epsilon if pair.claim.mu is None else pair.mu
    return judged if judged is not None and judged.bound > 0.0 else None


STYLE = """
:root { color-scheme: light dark; --line: #8885; --bar: #4c78a8; --bad: #c0392b; --good: #2e7d32; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
pre { padding: .8rem; border: 1px solid var(--line); overflow-x: auto; white-space: pre-wrap; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.verdict { font-weight: 600; } .good { color: var(--good); } .bad { color: var(--bad); }
svg text { fill: currentColor; font: 13px system-ui, sans-serif; }
"""

METHOD = (
    "On each database the statement was run {runs:,} times. One half of the runs chose the event that tells the two "
    "databases apart best; the other half counted it. From the two counts, at their least favourable within exact "
    "limits of {confidence:.10g} confidence in all, follows the bound: no smaller epsilon (at the paid delta), and no "
    "smaller mu, is compatible with them. A bound below the claim proves only that this newcomer, this event and "
    "this number of runs did not show a leak."
)


def html_page(report: AuditReport) -> str:
    """Return the report as one self-contained page: no script, no picture, everything escaped."""
    first, second, *rest = summary(report)
    verdict = "good" if report.passed else "bad"
    said = [second, *rest] if not report.passed else rest
    sentence = second if report.passed else "the claim is exceeded"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>Audit: {escape(printable(report.query, 60))}</title><style>{STYLE}</style></head><body>",
        f"<h1>Audit</h1><pre>{escape(report.query)}</pre>",
        f'<p>{escape(first)}</p><p class="verdict {verdict}">{escape(sentence)}</p>',
        *(f"<p>{escape(line)}</p>" for line in said),
        "<h2>Bounds, as a part of the claim</h2>",
        _chart(report),
        "<h2>Pairs of neighbours</h2>",
        _rows(report),
        f"<h2>How to read it</h2><p>{escape(METHOD.format(runs=report.runs, confidence=report.confidence))}</p>",
        "</body></html>",
    ]
    return "\n".join(parts)


def _rows(report: AuditReport) -> str:
    names = ["newcomer", "who comes", *_headings(report), "what tells them apart", "with", "without"]
    numeric = {*_headings(report), "with", "without"}
    head = "".join(f"<th{_class(name in numeric)}>{escape(name)}</th>" for name in names)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, report.pairs))}</tbody></table>"


def _row(pair: PairReport) -> str:
    judged = _most_telling(pair)
    document = {} if judged is None else judged.to_dict()
    counts = [
        f"{document[name]} of {document['runs']}" if document else "" for name in ("with_newcomer", "without_newcomer")
    ]
    findings = "".join(f"<br><strong>{escape(finding)}</strong>" for finding in pair.findings)
    cells = [
        f'<td class="{"good" if pair.passed else "bad"}">{escape(pair.kind)}</td>',
        f"<td>{escape(pair.words)}{findings}</td>",
        *(f"<td{_class(True)}>{escape(number)}</td>" for number in _numbers(pair)),  # noqa: FBT003 - it is a number
        f"<td>{escape(document.get('event', 'nothing'))}</td>",
        *(f"<td{_class(True)}>{escape(count)}</td>" for count in counts),  # noqa: FBT003 - likewise
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _class(number: bool) -> str:  # noqa: FBT001 - a fact about a cell
    return ' class="number"' if number else ""


WIDTH, LABEL, LINE = 900, 190, 26
"""Layout of the chart: its width, that of the names on the left, and the height of one pair."""


def _chart(report: AuditReport) -> str:
    """Return a bar for each pair: the bound as a fraction of the claim; the line is the claim."""
    parts = [(pair, _part(pair)) for pair in report.pairs]
    largest = max(1.25, *(1.1 * part for _, part in parts)) if parts else 1.25
    scale = (WIDTH - LABEL) / largest
    height = LINE * len(parts) + 30
    claim = LABEL + scale
    bars = ""
    for index, (pair, part) in enumerate(parts):
        top = index * LINE + 4
        colour = "var(--bar)" if pair.passed else "var(--bad)"
        width = max(part * scale, 1.0)
        bars += f'<text x="{LABEL - 8}" y="{top + 14}" text-anchor="end">{escape(pair.kind)}</text>'
        bars += f'<rect x="{LABEL}" y="{top}" width="{width:.1f}" height="{LINE - 8}" fill="{colour}" />'
    line = f'<line x1="{claim:.1f}" x2="{claim:.1f}" y1="0" y2="{height - 24}" stroke="currentColor" />'
    words = f'<text x="{claim:.1f}" y="{height - 8}" text-anchor="middle">claim</text>'
    title = "<title>How far each bound is from the claim</title>"
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" width="100%">{title}{bars}{line}{words}</svg>'


def _part(pair: PairReport) -> float:
    """Return the bound as a fraction of the claim, the larger if there are two."""
    parts = [pair.epsilon_bound / pair.claim.epsilon if pair.claim.epsilon else 0.0]
    if pair.claim.mu:
        parts.append(pair.mu_bound / pair.claim.mu)
    return max(parts)
