"""Results of statements, read piece by piece: one that outgrows its share of the memory ends its statement."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from sys import getsizeof
from typing import TypeVar

import pyarrow as pa

from hedgerow.backends.base import failure

Piece = TypeVar("Piece")
Row = Sequence[object]
ROWS_AT_ONCE = 2048
"""Rows of one piece. Text has at most some ten thousand characters, so that a piece has at most some 20 MB."""


def within(most: int, pieces: Iterable[Piece], size: Callable[[Piece], int]) -> Iterator[Piece]:
    """Hand on the pieces of a result until they take more than `most` bytes, which is an `out-of-memory` error.

    Privacy: which statement is stopped may depend on the data, as with every limit of memory. What is said does not.
    """
    taken = 0
    for piece in pieces:
        taken += size(piece)
        if taken > most:
            raise failure(MemoryError(f"The result takes more than {most} bytes."), "out-of-memory")
        yield piece


def read_batches(reader: pa.RecordBatchReader, most: int) -> pa.Table:
    """Return the table of a stream of Arrow, if it takes at most `most` bytes."""
    return pa.Table.from_batches(within(most, reader, pa.RecordBatch.get_total_buffer_size), reader.schema)


def fetch_rows(fetch: Callable[[int], Sequence[Row]], most: int) -> list[Row]:
    """Return the rows of a cursor, by its `fetchmany`, if they take at most `most` bytes as Python objects."""
    return [row for piece in within(most, _fetched(fetch), _bytes_of_rows) for row in piece]


def _fetched(fetch: Callable[[int], Sequence[Row]]) -> Iterator[Sequence[Row]]:
    while rows := fetch(ROWS_AT_ONCE):
        yield rows


def _bytes_of_rows(rows: Sequence[Row]) -> int:
    return sum(getsizeof(row) + sum(map(getsizeof, row)) for row in rows)
