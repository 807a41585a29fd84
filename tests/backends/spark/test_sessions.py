"""Folders, and sessions of the owner. A classic session compiles its statements, unlike in `tests/conformance`."""

import os
import shutil
import subprocess
import sys
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.backends import connect_backend
from hedgerow.backends.spark import open_spark
from hedgerow.backends.spark.driver import pyspark
from hedgerow.errors import BackendError
from hedgerow.expressions.types import Type

from ...conformance.engines.spark import why_not
from ...conformance.test_queries import agree, measured, planned
from .conftest import (
    CATALOG,
    DIFFERENT,
    FAR,
    HOSTILE,
    JOINED,
    KEPT_FOREVER,
    MEDIANS,
    QUICK,
    SECRET,
    TABLES,
    TEXTS,
    activated,
    counted,
    nothing_left,
    refused,
    views,
    whole,
    works,
)

if why_not() is not None:
    pytest.skip(f"NOT TESTED: {why_not()}", allow_module_level=True)


def test_files_and_folders_of_parquet_are_tables_and_hidden_names_are_not(owner, people):
    rows = pa.table({"year": [2024, 2025, 2025], "x": [1.5, 2.5, None]})
    pq.write_to_dataset(rows, people / "Sales", partition_cols=["year"])
    for name in (".hidden.parquet", "_written.parquet", "notes.txt"):
        (people / name).write_text(SECRET)
    (people / "_delta_log").mkdir()
    opened = connect_backend(f"spark://{people}?cores=1")
    try:
        tables = opened.schema().tables
        assert set(tables) - {*TABLES} == {"people", "sales"}  # a server in this Spark shares its own
        assert not opened.handed_in
        assert {name: column.type for name, column in tables["sales"].columns.items()} == {
            "x": Type.FLOAT,
            "year": Type.TEXT,
        }
        assert counted(opened, "SELECT COUNT(*) AS n FROM Sales WHERE year = '2025'") == [2]
        assert counted(opened, "SELECT COUNT(*) AS n FROM people") == [400]
    finally:
        opened.close()


def test_a_folder_that_is_not_there_is_said(tmp_path):
    refused("no-database", f"spark://{tmp_path / 'nothing'}")


def test_a_file_that_is_no_parquet_is_said_without_what_it_holds(owner, people):
    (people / "other.parquet").write_text(f"{SECRET} " * 50)
    assert SECRET not in refused("not-a-database", f"spark://{people}")


@pytest.mark.parametrize("other", ["PEOPLE.parquet", "people", "peop[l]e.parquet", "peop*.parquet"])
def test_a_name_stands_for_one_table(owner, people, other):
    if other == "people":
        (people / other).mkdir()
    else:
        shutil.copy(people / "people.parquet", people / other)
    refused("not-a-database", f"spark://{people}")


def test_the_owners_spark_goes_on_when_a_folder_is_closed(owner, people):
    opened = open_spark(f"spark://{people}")
    opened.close()
    assert owner.sql("SELECT 1 AS n").count() == 1
    assert "people" not in views(owner)


@pytest.mark.parametrize("text", [MEDIANS, JOINED, DIFFERENT, TEXTS])
def test_hostile_settings_change_no_integer_and_are_not_changed(owner, hostile, pair, text):
    before = dict(hostile.conf.getAll)
    assert {name: before[name] for name in HOSTILE} == HOSTILE
    with nothing_left(owner, hostile):
        assert agree(pair, text)
    assert dict(hostile.conf.getAll) == before


def test_two_threads_ask_at_once(owner, hostile, pair):
    queries, expected = [MEDIANS, JOINED], []
    for text in queries:
        (one,) = planned(pair.duckdb_schema, text)
        expected.append(measured(pair.duckdb, one))
    actual, ready = {}, threading.Barrier(len(queries))

    def ask(text):
        (one,) = planned(pair.schema, text)
        ready.wait()
        actual[text] = measured(pair.engine, one)

    with nothing_left(owner, hostile):
        threads = [threading.Thread(target=ask, args=(text,)) for text in queries]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [actual.get(text) for text in queries] == expected


def test_a_statement_can_be_cancelled_and_the_session_works_afterwards(owner, backend):
    raised, session = [], backend._session

    def ask():
        with pytest.raises(BackendError) as caught, backend.snapshot() as snapshot:
            snapshot.run(whole(KEPT_FOREVER))
        raised.append(caught.value.code)

    with nothing_left(owner, session):
        thread = threading.Thread(target=ask)
        thread.start()
        while thread.is_alive():
            if works(owner):
                backend.cancel()
            thread.join(0.05)
    assert raised == ["cancelled"]
    assert counted(backend, "SELECT COUNT(*) AS n FROM regions") == [5]


def test_a_session_that_is_handed_in_stays_open(hostile):
    backend = connect_backend(hostile)
    assert backend.handed_in
    backend.close()
    assert counted(backend, "SELECT COUNT(*) AS n FROM regions") == [5]


def test_a_word_is_the_active_session_and_statements_leave_it_active(owner, folder, pair):
    sessions = pyspark().SparkSession
    activated(owner)
    assert connect_backend("spark")._session is owner
    (one,) = planned(pair.schema, "SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel")
    measured(pair.engine, one)
    assert sessions.getActiveSession() is owner
    assert connect_backend("spark").handed_in


def test_a_folder_is_asked_from_end_to_end(owner, tmp_path, people):
    pq.write_table(pa.table({"id": range(400), "k": ["a", "a", "a", "b"] * 100}), people / "people.parquet")
    (tmp_path / "c.yaml").write_text(CATALOG)
    text = "SELECT k, COUNT(*) AS n FROM people GROUP BY k ORDER BY k"
    with hr.connect(f"spark://{people}?cores=1", catalog=tmp_path / "c.yaml", ledger=tmp_path / "l.ledger") as db:
        assert db.quote(text, epsilon=100)
        assert db.budget.queries == 0
        answer = db.sql(text, epsilon=100)
        assert db.budget.queries == 1
    assert answer["k"] == ["a", "b"]
    for value, bars, exact in zip(answer["n"], answer.intervals, (300, 100), strict=True):
        assert abs(value - exact) < FAR
        assert bars["n"].lower <= value <= bars["n"].upper


ALONE = """
import sys
from pathlib import Path

import pyarrow as pa

from hedgerow.backends import connect_backend
from hedgerow.compiled import Query
from hedgerow.errors import BackendError

def code(act):
    try:
        return act()
    except BackendError as error:
        print("SAID", error)
        return error.code

folder = Path(sys.argv[1])
many = Query("SELECT COUNT(*) AS n FROM people WHERE k <> 'x'", ("n",), (), (pa.int64(),))
assert code(lambda: connect_backend("spark")) == "no-database"
first, second = (connect_backend(f"spark://{folder}?cores=1&memory=512m") for _ in range(2))
from pyspark import SparkContext
warehouse = Path(first._session.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
assert warehouse.is_dir()
first.close()
assert second.public(many).column("n").to_pylist() == [400]
(folder / "people.parquet").unlink()
assert code(lambda: second.public(many)) == "engine-failed"
assert SparkContext._active_spark_context is not None
second.close()
second.close()
assert SparkContext._active_spark_context is None
assert not warehouse.exists()
print("DONE")
"""


@pytest.mark.slow
def test_a_spark_of_our_own_says_nothing_and_ends_with_its_last_folder(people):
    """In a process of its own: here, another Spark may run, and what Java writes is not seen."""
    quick = {**os.environ, "JAVA_TOOL_OPTIONS": QUICK["spark.driver.extraJavaOptions"]}
    command = [sys.executable, "-c", ALONE, str(people)]
    ran = subprocess.run(command, env=quick, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert ran.stdout.endswith("DONE\n"), ran.stderr
    said = ran.stdout + ran.stderr
    assert "The database could not run the query" in said
    assert SECRET not in said
    assert str(people) not in said
    assert "Exception" not in said
