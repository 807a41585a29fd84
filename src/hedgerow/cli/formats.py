"""Formats of an answer at the command line, and where it is written."""

import io
import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import typer
from pyarrow import csv, ipc, parquet

from hedgerow.answer import Answer
from hedgerow.answer.frames import OF, PART
from hedgerow.answer.render import html_table, text_table
from hedgerow.cli.errors import UsageError
from hedgerow.figures import finite

Write = Callable[[Answer], bytes]


def as_text(answer: Answer) -> bytes:
    """Return the table for people."""
    return (text_table(answer) + "\n").encode()


def as_json(answer: Answer) -> bytes:
    """Return one line of JSON, with intervals and receipt."""
    return (json.dumps(finite(answer.to_dict()), allow_nan=False) + "\n").encode()


def as_csv(answer: Answer) -> bytes:
    """Return comma-separated values; an open end is inf."""
    stream = io.BytesIO()
    csv.write_csv(_with_whole_ends(answer.arrow(intervals=True)), stream)
    return stream.getvalue()


def _with_whole_ends(table: pa.Table) -> pa.Table:
    """Return a table in which intervals of whole numbers have whole ends, rounded outwards."""
    for index, field in enumerate(table.schema):
        said = field.metadata or {}
        rounding = {b"lower": pc.floor, b"upper": pc.ceil}.get(said.get(PART.encode(), b""))
        if rounding is not None and pa.types.is_integer(table.schema.field(said[OF.encode()].decode()).type):
            table = table.set_column(index, field, rounding(table.column(index)))
    return table


def as_parquet(answer: Answer) -> bytes:
    """Return a Parquet file."""
    stream = io.BytesIO()
    parquet.write_table(answer.arrow(intervals=True), stream)
    return stream.getvalue()


def as_arrow(answer: Answer) -> bytes:
    """Return an Arrow file (Feather)."""
    table, stream = answer.arrow(intervals=True), io.BytesIO()
    with ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def as_markdown(answer: Answer) -> bytes:
    """Return a Markdown table; a vertical bar inside a text is escaped."""
    table = _with_whole_ends(answer.arrow(intervals=True))
    rows = [table.column_names, ["---"] * table.num_columns, *zip(*(c.to_pylist() for c in table.columns), strict=True)]
    lines = ("| " + " | ".join(_in_markdown(value) for value in row) + " |\n" for row in rows)
    return "".join(lines).encode()


def _in_markdown(value: object) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    text = "" if value is None else f"{value:.0f}" if is_whole else str(value)
    return " ".join(escape(text, quote=False).replace("|", "\\|").split())


def as_html(answer: Answer) -> bytes:
    """Return a page with the table that a notebook shows."""
    style = "body{font-family:sans-serif}td,th{padding:.2em .8em;text-align:left}"
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>hedgerow</title><style>{style}</style>'
    return f"{head}<body>{html_table(answer)}</body></html>\n".encode()


def as_xlsx(answer: Answer) -> bytes:
    """Return an Excel workbook; no text in it is taken for a formula."""
    library = _openpyxl()
    book = library.Workbook(write_only=True)
    sheet = book.create_sheet("answer")
    table: pa.Table = answer.arrow(intervals=True)

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


def output(stated: str | None, file: str | None, *, as_json: bool) -> Output | None:
    """Return the output as stated, or by the ending of the file; None for a table on the terminal.

    What can be known to fail fails here, before a question is paid for.
    """
    if as_json and stated not in {None, "json"}:
        raise UsageError("--json and --format name different formats.", hint="Leave one of them out.")
    if stated is not None and stated not in FORMATS:
        raise UsageError(f"There is no format {stated}.", hint=f"There are: {', '.join(FORMATS)}.")
    chosen = "json" if as_json else stated
    if chosen is None and file is not None:
        chosen = ENDINGS.get(Path(file).suffix.lower())
        if chosen is None:
            raise UsageError(f"The ending of {file} names no format.", hint="Name one with --format.")
    if chosen is None or (chosen == "table" and file is None):
        return None
    if file is None and chosen in BINARY and sys.stdout.isatty():
        raise UsageError(f"{chosen} is no text for a terminal.", hint="Name a file with -o.")
    if file is not None and not os.access(Path(file).parent, os.W_OK):
        raise _unwritable(file)
    if chosen == "xlsx":
        _openpyxl()
    return Output(chosen, file)


def _unwritable(file: str) -> UsageError:
    return UsageError(f"{file} cannot be written.", code="output-unwritable", hint="Check the folder and the disk.")
