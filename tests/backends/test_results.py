"""Results that are read within a limit of memory."""

from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from hedgerow.backends.results import read_batches, table_of
from hedgerow.compiled import Query
from hedgerow.errors import BackendError


@pytest.fixture
def reader():
    with duckdb.connect() as connection:
        yield connection.sql("SELECT range AS a FROM range(10000)").to_arrow_reader(1000)


def test_a_stream_is_closed_after_its_table_was_read(reader):
    assert read_batches(reader, 1 << 20).column("a").to_pylist() == list(range(10_000))
    with pytest.raises(pa.ArrowInvalid):
        reader.read_next_batch()


def test_a_stream_is_closed_if_its_result_is_too_large(reader):
    """An open one, kept by the traceback of the error, would let DuckDB wait for ever when the file is opened again."""
    with pytest.raises(BackendError) as refused:
        read_batches(reader, 10_000)
    assert refused.value.code == "out-of-memory"
    with pytest.raises(pa.ArrowInvalid):
        reader.read_next_batch()


@pytest.mark.parametrize(
    "numbers",
    [
        [1, None, -(2**63), 2**63 - 1],
        [1, None, 2**63, -(10**37)],
        [5, None, "9223372036854775808", "-99999999999999999999999999999999999999"],
        [Decimal(7), None, 10**30, "12"],
        [None, None],
        [],
    ],
)
def test_whole_numbers_of_any_size_and_spelling_are_read_exactly(numbers):
    rows = [(f"k{i}" if i else None, number) for i, number in enumerate(numbers)]
    table = table_of(rows, Query("", ("k",), ("n",), (pa.string(),)))
    assert table.column("n").to_pylist() == [None if n is None else Decimal(n) for n in numbers]
    assert table.column("k").to_pylist() == [key for key, _ in rows]
    assert table.schema.types == [pa.string(), pa.decimal128(38, 0)]
