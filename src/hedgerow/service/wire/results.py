"""Results of private statements: columns, rows, the notice about the price, and COPY TO STDOUT."""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from hedgerow.answer import Answer, caption, notes
from hedgerow.answer.captions import short_notes
from hedgerow.answer.plain import rounded_outwards
from hedgerow.service.wire.formats import FLOAT8, TEXT, WireType, encode
from hedgerow.service.wire.messages import COPY_DONE, StatementError, copy_out, data_row, message

BINARY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
BINARY_TRAILER = b"\xff\xff"


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """One column of a result: `source` is its name in the answer, where the client is shown another."""

    name: str
    type: WireType
    noisy: bool = False
    source: str | None = None

    @property
    def described(self) -> tuple[str, int, int]:
        """Name, object id and size, as a RowDescription has them."""
        return self.name, self.type.type_id, self.type.size


@dataclass(frozen=True, slots=True)
class StatementResult:
    """Result of a statement: `columns` is None for one without rows; `tag` names the command in CommandComplete."""

    tag: str
    columns: tuple[ResultColumn, ...] | None = None
    rows: Sequence[Sequence[Any]] = ()
    notice: Mapping[str, str] = field(default_factory=dict)


def with_intervals(columns: Sequence[ResultColumn]) -> tuple[ResultColumn, ...]:
    """Return the columns with `<name>_lower` and `<name>_upper` behind each noisy one."""
    names = {column.name for column in columns}
    shown: list[ResultColumn] = []
    for column in columns:
        shown.append(column)
        for part in ("lower", "upper") if column.noisy else ():
            name = f"{column.name}_{part}"
            while name in names:
                name += "_"
            names.add(name)
            shown.append(ResultColumn(name, FLOAT8))
    return tuple(shown)


def answer_result(
    answer: Answer, columns: Sequence[ResultColumn], *, intervals: bool, notices: bool
) -> StatementResult:
    """Return an answer as rows. With `intervals` both ends follow each noisy number; an open end is infinite.

    Intervals of whole numbers have whole ends, rounded outwards.
    """
    table = pa.table(answer)
    if table.num_columns != len(columns):
        raise StatementError("cached plan must not change result type", "0A000", hint="Prepare the statement again.")
    shown: list[list[Any]] = []
    for column, values in zip(columns, table.columns, strict=True):
        shown.append(values.to_pylist())
        if intervals and column.noisy:
            bars = [row.get(column.source or column.name) for row in answer.intervals]
            if pa.types.is_integer(values.type):
                bars = [None if bar is None else rounded_outwards(bar) for bar in bars]
            shown.append([None if bar is None or math.isnan(bar.lower) else bar.lower for bar in bars])
            shown.append([None if bar is None or math.isnan(bar.upper) else bar.upper for bar in bars])
    rows = list(zip(*shown, strict=True)) if shown else []
    named = with_intervals(columns) if intervals else tuple(columns)
    return StatementResult(f"SELECT {len(rows)}", named, rows, price_notice(answer) if notices else {})


def price_notice(answer: Answer) -> dict[str, str]:
    """Return the fields of a notice about an answer: price, receipt, and notes; nothing for public data."""
    receipt = answer.receipt
    if receipt.id is None and not receipt.reused:
        return {}
    # the notes on single numbers need every interval, which takes long for some: a repeat does without them
    said = [note.short or "" for note in short_notes(answer)] if receipt.reused else notes(answer)
    price = f"{caption(answer)}; receipt {receipt.id}"
    return {"S": "NOTICE", "C": "00000", "M": price, **({"D": "\n".join(said)} if said else {})}


def text_rows(name: str, lines: Sequence[str], tag: str, kind: WireType = TEXT) -> StatementResult:
    """Return one column of texts."""
    return StatementResult(tag, (ResultColumn(name, kind),), [(line,) for line in lines])


def row_messages(
    columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], formats: Sequence[int], codec: str
) -> Iterator[bytes]:
    """Return each row as a message."""
    encoders = [(column.type, code) for column, code in zip(columns, formats, strict=True)]
    for row in rows:
        yield data_row([encode(kind, value, code, codec) for (kind, code), value in zip(encoders, row, strict=True)])


COPY_OPTIONS = frozenset({"FORMAT", "HEADER", "DELIMITER", "NULL", "QUOTE", "ESCAPE", "ENCODING"})


def copy_messages(result: StatementResult, options: Mapping[str, str], codec: str) -> Iterator[bytes]:
    """Return the messages of COPY TO STDOUT, without the closing CommandComplete."""
    columns = result.columns or ()
    unknown = set(options) - COPY_OPTIONS
    form = options.get("FORMAT", "TEXT").upper()
    if unknown or form not in {"TEXT", "CSV", "BINARY"}:
        raise StatementError(f"COPY option {min(unknown, default=form)} is not supported", "0A000")
    if any(len(options[name]) != 1 for name in ("DELIMITER", "QUOTE", "ESCAPE") if name in options):
        raise StatementError("COPY delimiter, quote and escape must each be a single character", "22023")
    yield copy_out(int(form == "BINARY"), len(columns))
    if form == "BINARY":
        yield from (message(b"d", part) for part in _binary(columns, result.rows))
    else:
        lines = (_csv if form == "CSV" else _text)(columns, result.rows, options)
        yield from (message(b"d", line.encode(codec, errors="replace")) for line in lines)
    yield COPY_DONE


def _binary(columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]]) -> Iterator[bytes]:
    """The header shares a message with the first row, as in PostgreSQL: some clients rely on it."""
    head, count = BINARY_HEADER, struct.pack("!h", len(columns))
    for row in rows:
        values = [encode(column.type, value, 1, "utf-8") for column, value in zip(columns, row, strict=True)]
        fields = [b"\xff\xff\xff\xff" if value is None else struct.pack("!i", len(value)) + value for value in values]
        yield head + count + b"".join(fields)
        head = b""
    yield head + BINARY_TRAILER


def _shown(column: ResultColumn, value: object) -> str | None:
    return None if value is None else column.type.text(value)


def _text(columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], options: Mapping[str, str]) -> Iterator[str]:
    delimiter, null = options.get("DELIMITER", "\t"), options.get("NULL", "\\N")
    special = {delimiter: f"\\{delimiter}", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    escapes = str.maketrans(special)
    if _is_on(options.get("HEADER")):
        yield delimiter.join(column.name.translate(escapes) for column in columns) + "\n"
    for row in rows:
        texts = [_shown(column, value) for column, value in zip(columns, row, strict=True)]
        yield delimiter.join(null if text is None else text.translate(escapes) for text in texts) + "\n"


def _csv(columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], options: Mapping[str, str]) -> Iterator[str]:
    delimiter, null, quote = options.get("DELIMITER", ","), options.get("NULL", ""), options.get("QUOTE", '"')
    escape = options.get("ESCAPE", quote)

    def quoted(text: str) -> str:
        if text not in {null, "\\."} and not any(mark in text for mark in (delimiter, quote, "\n", "\r")):
            return text
        escaped = text if escape == quote else text.replace(escape, escape * 2)
        return f"{quote}{escaped.replace(quote, escape + quote)}{quote}"

    if _is_on(options.get("HEADER")):
        yield delimiter.join(quoted(column.name) for column in columns) + "\n"
    for row in rows:
        texts = [_shown(column, value) for column, value in zip(columns, row, strict=True)]
        yield delimiter.join(null if text is None else quoted(text) for text in texts) + "\n"


def _is_on(value: str | None) -> bool:
    return value is not None and value.upper() in {"TRUE", "ON", "1", "MATCH"}
