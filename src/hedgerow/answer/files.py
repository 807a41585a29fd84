"""An answer as the content of a file: text, JSON, CSV, Parquet, Arrow, Markdown and HTML, with its intervals."""

import io
import json
from html import escape

import pyarrow as pa
from pyarrow import csv, ipc, parquet

from hedgerow.answer.frames import OF, PART
from hedgerow.answer.render import html_table, text_table
from hedgerow.answer.table import Answer
from hedgerow.figures import finite


def as_text(answer: Answer) -> bytes:
    """Return the table for people."""
    return (text_table(answer) + "\n").encode()


def as_json(answer: Answer) -> bytes:
    """Return one line of JSON, with intervals and receipt."""
    return (json.dumps(finite(answer.to_dict()), allow_nan=False) + "\n").encode()


def as_csv(answer: Answer, *, intervals: bool = True) -> bytes:
    """Return comma-separated values; an open end is inf."""
    stream = io.BytesIO()
    csv.write_csv(_with_whole_ends(answer.arrow(intervals=intervals)), stream)
    return stream.getvalue()


def _with_whole_ends(table: pa.Table) -> pa.Table:
    """Return a table in which intervals of whole numbers have whole ends, rounded outwards."""
    import pyarrow.compute as pc  # noqa: PLC0415 - a twentieth of a second to load, and for files alone

    for index, field in enumerate(table.schema):
        said = field.metadata or {}
        rounding = {b"lower": pc.floor, b"upper": pc.ceil}.get(said.get(PART.encode(), b""))
        if rounding is not None and pa.types.is_integer(table.schema.field(said[OF.encode()].decode()).type):
            table = table.set_column(index, field, rounding(table.column(index)))
    return table


def as_parquet(answer: Answer, *, intervals: bool = True) -> bytes:
    """Return a Parquet file."""
    stream = io.BytesIO()
    parquet.write_table(answer.arrow(intervals=intervals), stream)
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
