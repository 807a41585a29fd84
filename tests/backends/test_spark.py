"""What only concerns Spark: folders, sessions that are handed in, Spark Connect, and that nothing is left or said.

All but one test share one Spark, which may run already: `tests/conformance` uses the same process. Unlike there, what
Spark can compile is compiled.
"""

import datetime as dt
import os
import shutil
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.backends import connect_backend
from hedgerow.backends.duckdb import DuckDB
from hedgerow.backends.spark import Spark, open_spark
from hedgerow.backends.spark.connect import STARTED
from hedgerow.backends.spark.driver import pyspark, remote_sessions
from hedgerow.compiled import Query
from hedgerow.dialects.spark import KEPT, SPARK
from hedgerow.errors import BackendError
from hedgerow.expressions.nodes import Call, Column
from hedgerow.expressions.types import Type

from ..conformance.conftest import Pair
from ..conformance.engines.spark import folder_of, why_not
from ..conformance.tables import reference, shop
from ..conformance.test_queries import agree, measured, planned

if why_not() is not None:
    pytest.skip(f"NOT TESTED: {why_not()}", allow_module_level=True)

SECRET = "hunter2"  # noqa: S105 - it is to be looked for, and opens nothing
FAR = 60
"""Hundreds of times the noise at the epsilon of these tests."""
QUICK = {"spark.sql.shuffle.partitions": "1", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
HOSTILE = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.shuffle.partitions": "1",
}
MEDIANS = "SELECT channel, MEDIAN(amount) AS v FROM orders GROUP BY channel"
JOINED = "SELECT m.region, SUM(o.amount) AS s FROM orders o JOIN members m ON o.member_id = m.member_id GROUP BY 1"
DIFFERENT = "SELECT channel, COUNT(DISTINCT ordered_at) AS v FROM orders GROUP BY channel"
TEXTS = r"""SELECT DATE_TRUNC('month', ordered_at) AS k, REPLACE(coupon, 'I', '\n''') AS c, COUNT(*) AS n FROM orders
WHERE coupon LIKE '%R%' OR LOWER(channel) = 'web' GROUP BY 1, 2"""
TABLES = ("members", "orders", "regions")
ENDLESS = "SELECT COUNT(*) AS n FROM range(1000000000000000) WHERE id * 7 % 11 = 3"
KEPT_FOREVER = f"{KEPT} kept AS {ENDLESS};\nSELECT n FROM kept"
FAILING = f"{KEPT} kept AS SELECT k FROM gone;\nSELECT COUNT(*) AS n FROM kept JOIN chosen USING (k)"
CATALOG = """
dataset: d
budget: {epsilon: 1000, delta: 1e-3}
defaults: {delta: 1e-6, min_frequency: 1}
tables:
  people: {unit: id, max_rows: 2, columns: {k: {values: [a, b]}}}
"""


def whole(sql):
    return Query(sql, ("n",), (), (pa.int64(),))


def counted(backend, sql):
    return backend.public(whole(sql)).column("n").to_pylist()


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    """The owner's session: one more in the Spark that runs already, or one in a Spark that is started here."""
    sessions = pyspark().SparkSession
    running = sessions._instantiatedSession
    if running is not None:
        before = sessions.getActiveSession() or running
        yield activated(configured(running.newSession(), {"spark.sql.shuffle.partitions": "1"}))
        activated(before)
        return
    place = tmp_path_factory.mktemp("warehouse")
    builder = sessions.builder.master("local[2]")
    for name, value in {**STARTED, "spark.sql.warehouse.dir": str(place), **QUICK}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def configured(session, settings):
    for name, value in settings.items():
        session.conf.set(name, value)
    return session


def activated(session):
    """PySpark takes for the active session whichever last made a frame from rows."""
    session.createDataFrame([(1,)], "n INT")
    return session


@pytest.fixture(scope="module")
def tables():
    return {name: table for name, table in shop().items() if name in TABLES}


@pytest.fixture(scope="module")
def folder(tables):
    with folder_of(tables) as made:
        yield made


@pytest.fixture(scope="module")
def duckdb_side(tables):
    with reference(tables) as connection:
        yield DuckDB(connection, handed_in=True), {}


@pytest.fixture(scope="module")
def hostile(owner, folder):
    """A session whose settings change what almost every expression means."""
    session = configured(owner.newSession(), HOSTILE)
    for name in TABLES:
        session.read.parquet(f"{folder}/{name}.parquet").createTempView(name)
    return session


@pytest.fixture(scope="module")
def pair(hostile, duckdb_side):
    return Pair("spark", Spark(hostile, handed_in=True), *duckdb_side)


@pytest.fixture(scope="module")
def server(owner, folder):
    """Spark Connect, served by the same Spark; its sessions see the tables of the shared catalog."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = owner._jsc.sc().conf()
    settings.set("spark.connect.grpc.binding.address", "127.0.0.1")
    settings.set("spark.connect.grpc.binding.port", str(port))
    served = owner._jvm.org.apache.spark.sql.connect.SparkConnectPlugin().driverPlugin()
    served.init(owner._jsc.sc(), None)
    for name in TABLES:
        owner.sql(f"CREATE TABLE {name} USING parquet LOCATION '{folder}/{name}.parquet'")
    yield f"127.0.0.1:{port}"
    for name in TABLES:
        owner.sql(f"DROP TABLE {name}")
    served.shutdown()


@pytest.fixture(scope="module")
def client(server):
    """A session of Spark Connect that its owner opened."""
    session = remote_sessions()(connection=f"sc://{server}")
    session.conf.set("spark.sql.shuffle.partitions", "1")
    yield session
    session.stop()


@pytest.fixture(params=["classic", "connect"])
def backend(request):
    if request.param == "classic":
        return request.getfixturevalue("pair").engine
    return Spark(request.getfixturevalue("client"), handed_in=True)


@pytest.fixture
def people(tmp_path):
    """A folder with one small table."""
    place = tmp_path / "data"
    place.mkdir()
    pq.write_table(pa.table({"id": range(400), "k": [SECRET[:1], SECRET] * 200}), place / "people.parquet")
    return place


def views(session):
    return {table.name for table in session.catalog.listTables() if table.isTemporary}


def kept(owner):
    """How many steps Spark still holds in its memory, for all of its sessions."""
    entries = 0 if owner._jsparkSession.sharedState().cacheManager().isEmpty() else 1
    return entries + owner._jsc.getPersistentRDDs().size()


def works(owner):
    """Whether tasks run: what Spark still plans has no jobs that could be stopped."""
    tracker = owner.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return any(stage is not None and stage.numActiveTasks > 0 for stage in stages)


@contextmanager
def nothing_left(owner, session):
    before = views(session)
    assert kept(owner) == 0
    yield
    assert views(session) == before
    assert kept(owner) == 0


def chosen(backend, query):
    with backend.snapshot() as snapshot:
        snapshot.load("chosen", pa.table({"k": [SECRET]}))
        return snapshot.run(query)


def refused(code, source):
    with pytest.raises(BackendError) as caught:
        connect_backend(source)
    assert caught.value.code == code
    assert caught.value.__cause__ is None
    return str(caught.value)


# ---- folders


def test_files_and_folders_of_parquet_are_tables_and_hidden_names_are_not(owner, people):
    rows = pa.table({"year": [2024, 2025, 2025], "x": [1.5, 2.5, None]})
    pq.write_to_dataset(rows, people / "Sales", partition_cols=["year"])
    for name in (".hidden.parquet", "_written.parquet", "notes.txt"):
        (people / name).write_text(SECRET)
    (people / "_delta_log").mkdir()
    opened = connect_backend(f"spark://{people}?cores=1")
    try:
        tables = opened.schema().tables
        assert set(tables) == {"people", "sales"}
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


# ---- sessions that are handed in


@pytest.mark.parametrize("text", [MEDIANS, JOINED, DIFFERENT, TEXTS])
def test_hostile_settings_change_no_integer_and_are_not_changed(owner, hostile, pair, text):
    before = dict(hostile.conf.getAll)
    assert {name: before[name] for name in HOSTILE} == HOSTILE
    with nothing_left(owner, hostile):
        assert agree(pair, text)
    assert dict(hostile.conf.getAll) == before


def test_two_threads_ask_at_once(owner, hostile, pair):
    asked, expected = [MEDIANS, JOINED], []
    for text in asked:
        (one,) = planned(pair.duckdb_schema, text)
        expected.append(measured(pair.duckdb, one))
    found, ready = {}, threading.Barrier(len(asked))

    def ask(text):
        (one,) = planned(pair.schema, text)
        ready.wait()
        found[text] = measured(pair.engine, one)

    with nothing_left(owner, hostile):
        threads = [threading.Thread(target=ask, args=(text,)) for text in asked]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [found.get(text) for text in asked] == expected


def test_a_statement_can_be_cancelled_and_the_session_works_afterwards(owner, backend):
    raised, session = [], backend._session

    def ask():
        with pytest.raises(BackendError) as caught, backend.snapshot() as snapshot:
            snapshot.run(whole(KEPT_FOREVER))
        raised.append(caught.value.code)

    with nothing_left(owner, session):
        asking = threading.Thread(target=ask)
        asking.start()
        while asking.is_alive():
            if works(owner):
                backend.cancel()
            asking.join(0.05)
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


# ---- Spark Connect


@pytest.mark.parametrize("text", [MEDIANS, JOINED])
def test_a_server_gives_the_same_integers(owner, server, duckdb_side, text):
    backend = connect_backend(f"sc://{server}")
    try:
        assert not backend.handed_in
        assert agree(Pair("spark", backend, *duckdb_side), text)
        assert not views(backend._session)
        assert kept(owner) == 0
    finally:
        backend.close()


@pytest.mark.parametrize("text", [MEDIANS, JOINED])
def test_a_session_of_a_client_gives_the_same_integers_and_stays_open(owner, client, duckdb_side, text):
    backend = connect_backend(client)
    assert backend.handed_in
    with nothing_left(owner, client):
        assert agree(Pair("spark", backend, *duckdb_side), text)
    backend.close()
    assert client.sql("SELECT 1 AS n").count() == 1


def test_a_server_that_is_not_there_is_said_without_the_token(capfd):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        said = refused("no-server", f"sc://127.0.0.1:{port}/;token={SECRET};use_ssl=false")
    assert SECRET not in said
    assert SECRET not in "".join(capfd.readouterr())


# ---- what is said, and what is left


def test_an_error_of_the_engine_is_one_sentence_and_leaves_nothing(owner, backend, people, capfd):
    session = backend._session
    session.read.parquet(f"{people}/people.parquet").createTempView("gone")
    (people / "people.parquet").unlink()
    try:
        with nothing_left(owner, session), pytest.raises(BackendError) as caught:
            chosen(backend, whole(FAILING))
    finally:
        session.catalog.dropTempView("gone")
    error, said = caught.value, "".join(capfd.readouterr())
    assert str(error).startswith(f"The database could not run the query (incident {error.incident}).")
    assert (error.code, error.__cause__) == ("engine-failed", None)
    assert "people" not in said
    assert SECRET not in said


def test_a_value_that_an_error_quotes_is_not_said(hostile, pair, capfd):
    text = f"SELECT CAST(raise_error('{SECRET}' || region) AS BIGINT) AS n FROM regions"
    with pytest.raises(BackendError) as caught:
        counted(pair.engine, text)
    assert SECRET not in str(caught.value)
    assert SECRET not in "".join(capfd.readouterr())


def test_memory_that_runs_out_is_told_by_the_class_of_the_error_and_spark_goes_on(hostile, pair):
    with pytest.raises(BackendError) as caught:
        counted(pair.engine, "SELECT COUNT(*) AS n FROM range(1) WHERE length(space(CAST(2147483646 + id AS INT))) > 5")
    assert caught.value.code == "out-of-memory"
    assert counted(pair.engine, "SELECT COUNT(*) AS n FROM regions") == [5]


def test_a_value_that_reads_like_an_error_of_memory_is_none(backend):
    value = "java.lang.OutOfMemoryError SparkOutOfMemoryError UNABLE_TO_ACQUIRE_MEMORY spark.driver.maxResultSize"
    with pytest.raises(BackendError) as caught:
        counted(backend, f"SELECT CAST(raise_error('{value}' || region) AS BIGINT) AS n FROM regions")
    assert caught.value.code == "engine-failed"


@pytest.mark.parametrize(
    "write",
    [
        lambda: SPARK.constant(dt.time(12)),
        lambda: SPARK.call(Call("cast_time", (Column("ordered_at", Type.TIMESTAMP),), Type.TIME), ["ordered_at"]),
    ],
)
def test_the_refusal_of_times_of_day_names_the_type(write):
    with pytest.raises(hr.UnsupportedSQLError) as caught:
        write()
    assert caught.value.code == "engine-lacks"
    assert caught.value.message == "On Spark SQL, the type TIME (times of day) is not available."


def test_no_function_and_no_table_is_made(owner, hostile, pair):
    def there():
        functions = {row.function for row in hostile.sql("SHOW USER FUNCTIONS").collect()}
        tables = {table.name for table in hostile.catalog.listTables()}
        return functions, tables, [base.name for base in hostile.catalog.listDatabases()]

    before = there()
    assert agree(pair, "SELECT MEDIAN(amount) AS v FROM orders")
    assert there() == before


def test_types_are_told_by_a_list_and_nothing_is_called_enforced(owner, hostile, pair, tmp_path):
    columns = (
        "id BIGINT NOT NULL, small SMALLINT, flag BOOLEAN, real FLOAT, double DOUBLE, price DECIMAL(12,2), "
        "word STRING, short VARCHAR(4), padded CHAR(4), folded STRING COLLATE UTF8_LCASE, day DATE, "
        "moment TIMESTAMP_NTZ, instant TIMESTAMP, blob BINARY, list ARRAY<INT>, parts STRUCT<a: INT>, "
        "lookup MAP<STRING, INT>, span INTERVAL DAY TO SECOND"
    )
    owner.sql(f"CREATE TABLE kinds ({columns}) USING parquet LOCATION '{tmp_path}/kinds'")
    try:
        table = pair.engine.schema().tables["kinds"]
    finally:
        owner.sql("DROP TABLE kinds")
    assert {name: column.type for name, column in table.columns.items()} == {
        **dict.fromkeys(("id", "small"), Type.INTEGER),
        "flag": Type.BOOLEAN,
        **dict.fromkeys(("real", "double"), Type.FLOAT),
        "price": Type.DECIMAL,
        **dict.fromkeys(("word", "short"), Type.TEXT),
        "day": Type.DATE,
        **dict.fromkeys(("moment", "instant"), Type.TIMESTAMP),
        **dict.fromkeys(("padded", "folded", "blob", "list", "parts", "lookup", "span"), Type.OTHER),
    }
    assert table.columns["price"].native == "DECIMAL(12,2)"
    assert [name for name, column in table.columns.items() if column.instant] == ["instant"]
    assert [name for name, column in table.columns.items() if not column.collated] == ["word", "short"]
    assert all(column.nullable for column in table.columns.values())
    assert not table.unique


# ---- the whole engine


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
