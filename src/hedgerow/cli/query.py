"""hedgerow query; and the formats of an answer at the command line, and where it is written."""

import io
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any

import typer

from hedgerow.answer import Answer, caption, notes, rich_table
from hedgerow.answer.files import as_arrow, as_csv, as_html, as_json, as_markdown, as_parquet, as_text
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError, Words, in_words_of_command_line, pointing
from hedgerow.cli.output import say, say_wrapped, show_table, waiting
from hedgerow.cli.statements import asking, given_options, read_parameters, read_statements
from hedgerow.session.job import wait_for

Write = Callable[[Answer], bytes]


def as_xlsx(answer: Answer) -> bytes:
    """Return an Excel workbook; no text in it is taken for a formula."""
    library = _openpyxl()
    book = library.Workbook(write_only=True)
    sheet = book.create_sheet("answer")
    table = answer.arrow(intervals=True)

    def cell(value: object) -> object:
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if not isinstance(value, str):
            return value
        text = library.cell.WriteOnlyCell(sheet, value)
        text.data_type = "s"
        return text

    for row in (table.column_names, *zip(*(column.to_pylist() for column in table.columns), strict=True)):
        sheet.append([cell(value) for value in row])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _openpyxl() -> Any:  # noqa: ANN401 - a library without types
    try:
        import openpyxl  # noqa: PLC0415 - an extra
    except ImportError:
        raise UsageError(
            "Workbooks are written with openpyxl, which is not installed.",
            code="no-excel",
            hint='Install the extra excel: pip install "hedgerow[excel]".',
        ) from None
    return openpyxl


FORMATS: dict[str, Write] = {
    "table": as_text,
    "json": as_json,
    "csv": as_csv,
    "parquet": as_parquet,
    "arrow": as_arrow,
    "markdown": as_markdown,
    "html": as_html,
    "xlsx": as_xlsx,
}
BINARY = {"parquet", "arrow", "xlsx"}
ENDINGS = {".txt": "table", ".md": "markdown", ".feather": "arrow", ".htm": "html"} | {
    f".{name}": name for name in FORMATS
}


@dataclass(frozen=True, slots=True)
class Output:
    """A format, and the file that is written; without a file it is standard output."""

    format: str
    file: str | None

    def write(self, answer: Answer) -> None:
        """Write an answer: to a file completely or not at all."""
        content = FORMATS[self.format](answer)
        if self.file is None:
            typer.echo(content, nl=False)
            return
        path = Path(self.file)
        try:
            with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as draft:
                draft.write(content)
            Path(draft.name).replace(path)
        except OSError:
            raise _unwritable(self.file) from None


def output(
    name: str | None, file: str | None, *, as_json: bool, otherwise: str = "Name one with --format."
) -> Output | None:
    """Return the output as stated, or by the ending of the file; None for a table on the terminal.

    `otherwise` is the hint for an extension that is not a known format.

    Errors that can be predicted are raised here, before a question is paid for.
    """
    if as_json and name not in {None, "json"}:
        raise UsageError("--json and --format name different formats.", hint="Leave one of them out.")
    if name is not None and name not in FORMATS:
        raise UsageError(f"There is no format {name}.", hint=f"There are: {', '.join(FORMATS)}.")
    chosen = "json" if as_json else name
    if chosen is None and file is not None:
        chosen = ENDINGS.get(Path(file).suffix.lower())
        if chosen is None:
            raise UsageError(f"The extension of {file} is not a known format.", hint=otherwise)
    if chosen is None or (chosen == "table" and file is None):
        return None
    if file is None and chosen in BINARY and sys.stdout.isatty():
        raise UsageError(f"{chosen} cannot be printed on a terminal.", hint="Name a file with -o.")
    if file is not None and not os.access(Path(file).parent, os.W_OK):
        raise _unwritable(file)
    if chosen == "xlsx":
        _openpyxl()
    return Output(chosen, file)


def _unwritable(file: str) -> UsageError:
    return UsageError(f"{file} cannot be written.", code="output-unwritable", hint="Check the folder and the disk.")


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
