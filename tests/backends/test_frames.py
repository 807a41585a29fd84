"""Tables in memory: pandas, Polars and Arrow. Types are those of the columns, and nothing else can be reached."""

import datetime as dt
import threading

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.backends import connect_backend, frames
from hedgerow.errors import BackendError
from hedgerow.expressions.types import Type

CATALOG = """\
dataset: frames
budget: {epsilon: 100000, delta: 0.01, pure_epsilon: 50000}
defaults: {epsilon: 1000, delta: 1e-8, min_frequency: 1}
tables:
  people: {unit: id, max_rows: 1, columns: {age: {lower: 0, upper: 100}}}
  regions: {public: true}
"""
NEAR, OFF = 25, 0.9
"""By how much a sum and a count may be off: tens of standard deviations at so large an epsilon."""

COLUMNS = {
    "id": [1, 2, 3, 4],
    "age": [10.0, 20.0, None, 40.0],
    "city": ["Rome", "Rome", "Oslo", None],
    "day": [dt.date(2024, 1, 1)] * 4,
    "at": [dt.datetime(2024, 1, 1, 12)] * 4,  # noqa: DTZ001 - without a time zone
    "flag": [True, False, None, True],
}
ARROW = pa.table(COLUMNS)


def pandas_frame():
    frame = ARROW.to_pandas(date_as_object=False)
    return frame.astype({"flag": "boolean"})


KINDS = {"arrow": lambda: ARROW, "pandas": pandas_frame, "polars": lambda: pl.from_arrow(ARROW)}


@pytest.fixture
def catalog(tmp_path):
    (tmp_path / "frames.yaml").write_text(CATALOG)
    return tmp_path / "frames.yaml"


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_in_memory_is_asked_like_any_other(catalog, kind):
    regions = pl.DataFrame({"city": ["Rome", "Oslo"], "country": ["IT", "NO"]})
    with hr.connect({"people": KINDS[kind](), "regions": regions}, catalog=catalog) as db:
        answer = db.sql("SELECT COUNT(*) AS n, SUM(age) AS s FROM people")
        assert abs(answer["n"][0] - 4) < OFF
        assert abs(answer["s"][0] - 70) < NEAR
        joined = "SELECT COUNT(*) AS n FROM people p JOIN regions r ON p.city = r.city WHERE r.country = 'IT'"
        assert abs(db.sql(joined)["n"][0] - 2) < OFF


@pytest.mark.parametrize("kind", KINDS)
def test_types_are_those_of_the_columns(kind):
    backend = connect_backend({"people": KINDS[kind]()})
    actual = {name: column.type for name, column in backend.schema().tables["people"].columns.items()}
    day = Type.TIMESTAMP if kind == "pandas" else Type.DATE
    wanted = {"id": Type.INTEGER, "age": Type.FLOAT, "city": Type.TEXT, "day": day, "at": Type.TIMESTAMP}
    assert actual == {**wanted, "flag": Type.BOOLEAN}
    backend.close()


def test_nothing_is_enforced():
    table = connect_backend({"people": ARROW}).schema().tables["people"]
    assert not table.unique
    assert all(column.nullable for column in table.columns.values())


def test_missing_numbers_of_pandas_are_null():
    frame = pd.DataFrame({"id": [1, 2], "x": [1.0, float("nan")]})
    backend = connect_backend({"t": frame})
    assert backend._cursor().sql("SELECT COUNT(x) FROM t").fetchall() == [(1,)]


def test_categories_are_text():
    frames = {
        "a": pd.DataFrame({"c": pd.Categorical(["u", "v"])}),
        "b": pl.DataFrame({"c": pl.Series(["u", "v"], dtype=pl.Categorical)}),
    }
    tables = connect_backend(frames).schema().tables
    assert {table.columns["c"].type for table in tables.values()} == {Type.TEXT}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({0: [1, 2]}),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame({"a": [1], "A": [2]}),
        pl.DataFrame({"a": [1], "A": [2]}),
        pa.table({"a": [1], "A": [2]}),
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
        pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ],
)
def test_columns_need_different_names(frame):
    with pytest.raises(BackendError) as refused:
        connect_backend({"t": frame})
    assert refused.value.code == "column-names"


@pytest.mark.parametrize("frame", [pl.LazyFrame({"x": [1]}), [1, 2], "t", None])
def test_what_is_no_table_is_refused(frame):
    with pytest.raises(BackendError) as refused:
        connect_backend({"t": frame})
    assert refused.value.code == "unknown-source"


@pytest.mark.parametrize("names", [("", "a"), ("a", "A"), (1, "a")])
def test_names_of_tables_differ(names):
    with pytest.raises(BackendError) as refused:
        connect_backend(dict.fromkeys(names, ARROW))
    assert refused.value.code == "table-names"


def test_a_mapping_without_tables_is_refused():
    with pytest.raises(BackendError) as refused:
        connect_backend({})
    assert refused.value.code == "no-tables"


def test_a_strange_name_is_a_name():
    backend = connect_backend({'a"; DROP TABLE x; --': ARROW})
    assert list(backend.schema().tables) == ['a"; DROP TABLE x; --']


hidden = pa.table({"secret": [1]})
"""A variable of the program, which no query may see."""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM hidden",
        "SELECT * FROM read_csv('/etc/hostname', auto_detect = false, columns = {'a': 'VARCHAR'})",
        "COPY people TO '/tmp/out.csv'",
        "SET enable_external_access = true",
        "SET threads = 1",
        "ATTACH '/tmp/x.duckdb'",
        "INSTALL httpfs",
    ],
)
def test_nothing_else_can_be_reached(sql):
    backend = connect_backend({"people": ARROW})
    with pytest.raises(duckdb.Error):
        backend._cursor().sql(sql).fetchall()


def shared_people():
    """A table whose numbers are those of an array that can be written, and the array."""
    ages = np.array([10.0, 20.0, 30.0, 40.0])
    shared = pa.Array.from_buffers(pa.float64(), 4, [None, pa.py_buffer(ages)])
    return pa.table({"id": [1, 2, 3, 4], "age": shared}), ages


def total_age(backend):
    [(total,)] = backend._cursor().execute("SELECT SUM(age) FROM people").fetchall()
    return total


def test_a_small_table_is_copied_so_that_its_rows_cannot_change():
    table, ages = shared_people()
    backend = connect_backend({"people": table})
    ages[:] = 0.0
    assert total_age(backend) == 100.0
    assert backend.keeps_facts({"people"})
    assert backend.state({"people"}) == backend.state({"people"})


def test_a_large_table_is_read_in_place_and_has_no_facts(monkeypatch):
    table, ages = shared_people()
    monkeypatch.setattr(frames, "MOST_COPIED", table.nbytes - 1)
    backend = connect_backend({"people": table})
    ages[:] = 0.0
    assert total_age(backend) == 0.0
    assert not backend.keeps_facts({"people"})
    assert backend.state({"people"}) is None


def test_many_threads_ask_at_once(catalog):
    actual = []
    with hr.connect({"people": ARROW, "regions": pl.DataFrame({"city": ["Rome"]})}, catalog=catalog) as db:

        def ask():
            actual.append(abs(db.sql("SELECT COUNT(*) AS n FROM people", reuse=False)["n"][0] - 4) < OFF)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert actual == [True] * 4
