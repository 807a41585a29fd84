"""A whole answer as JSON and back: values in Arrow's own format, so that every type comes back as it was."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from hedgerow.answer.batch import Batch, Savings
from hedgerow.answer.released import Note, Summary
from hedgerow.answer.table import Answer
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.exchange import decode, encode


def dump_answer(answer: Answer) -> dict[str, Any]:
    """Return an answer as plain JSON, from which `load_answer` makes an equal one."""
    _, (table, intervals, confidence, receipt, noisy, notes) = answer.__reduce__()
    buffer = pa.BufferOutputStream()
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)
    return {
        "table": b64encode(buffer.getvalue()).decode(),
        "intervals": encode(intervals),
        "confidence": confidence,
        "receipt": encode(receipt),
        "noisy": list(noisy),
        "notes": encode(notes),
    }


def load_answer(document: Mapping[str, Any]) -> Answer:
    """Return the answer that `dump_answer` wrote. It can be shown and drawn; diagnostics are asked of a database."""
    with pa.ipc.open_stream(b64decode(document["table"])) as stream:
        table = stream.read_all()
    return Answer(
        table,
        decode(list[Mapping[str, Interval]], document["intervals"]),
        document["confidence"],
        decode(Summary, document["receipt"]),
        document["noisy"],
        decode(tuple[Note, ...], document["notes"]),
    )


def dump_batch(batch: Batch) -> dict[str, Any]:
    """Return answers that were asked together as plain JSON, from which `load_batch` makes equal ones."""
    return {
        "answers": {name: dump_answer(answer) for name, answer in batch.items()},
        "receipt": encode(batch.receipt),
        "savings": encode(batch.savings),
        "titles": batch.titles,
        "texts": batch.texts,
    }


def load_batch(document: Mapping[str, Any]) -> Batch:
    """Return the answers that `dump_batch` wrote."""
    return Batch(
        {name: load_answer(answer) for name, answer in document["answers"].items()},
        decode(Summary, document["receipt"]),
        decode(Savings | None, document["savings"]),
        document["titles"],
        document["texts"],
    )
