"""Results that are read within a limit of memory."""

import duckdb
import pyarrow as pa
import pytest

from hedgerow.backends.results import read_batches
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
