"""Formats of an answer at the command line, and where it is written."""

import io
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import typer

from hedgerow.answer import Answer
from hedgerow.answer.files import as_arrow, as_csv, as_html, as_json, as_markdown, as_parquet, as_text
from hedgerow.cli.errors import UsageError

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
