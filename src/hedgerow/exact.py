"""Exact values, sealed. Only `backends` makes them and only `release` opens them."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class ExactTable:
    """Keys and integers as the database returned them, before any noise.

    Its repr shows nothing, it cannot be iterated, compared or pickled; integers of 128 bits come out whole.
    """

    __slots__ = ("_integers", "_keys", "_table")

    def __init__(self, table: pa.Table, keys: tuple[str, ...], integers: tuple[str, ...]) -> None:
        self._table = table
        self._keys = keys
        self._integers = integers

    def __repr__(self) -> str:
        return "ExactTable(sealed)"

    def __reduce__(self) -> str:
        raise TypeError("Exact values do not leave the process.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the integer columns."""
        return self._integers

    def exact_keys(self) -> pa.Table:
        """The key columns."""
        return self._table.select(list(self._keys))

    def exact_integers(self, name: str) -> NDArray[np.object_]:
        """Return a column of integers, as Python integers of any size."""
        column = self._table.column(name).combine_chunks()
        if pa.types.is_decimal(column.type):
            return _joined(*_halves(column))
        return np.asarray(column.to_numpy(zero_copy_only=False)).astype(object)

    def exact_numbers(self, name: str) -> NDArray[Any]:
        """Return one column of integers: in 64 bits if all of them fit, which is fast, otherwise as Python numbers."""
        column = self._table.column(name).combine_chunks()
        if not pa.types.is_decimal(column.type):
            return np.asarray(column.to_numpy(zero_copy_only=False)).astype(np.int64)
        low, high = _halves(column)
        return low.view(np.int64) if np.array_equal(low.view(np.int64) >> 63, high) else _joined(low, high)

    def __len__(self) -> int:
        return int(self._table.num_rows)


def _halves(column: pa.Array) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The lower and the upper 64 bits."""
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)
    halves = np.frombuffer(column.buffers()[1], dtype=np.uint64)[2 * column.offset : 2 * (column.offset + len(column))]
    return np.ascontiguousarray(halves[0::2]), np.ascontiguousarray(halves[1::2]).view(np.int64)


def _joined(low: NDArray[np.uint64], high: NDArray[np.int64]) -> NDArray[np.object_]:
    return np.asarray(high.astype(object) * (1 << 64) + low.astype(object), dtype=object)
