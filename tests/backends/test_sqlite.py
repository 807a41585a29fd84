"""Tests that concern SQLite alone: who may do what on a connection, what is read of a schema, and what goes wrong."""

import sqlite3
import threading

import duckdb
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.backends.base import owners_log
from hedgerow.backends.sqlite import SQLite, is_sqlite_file, open_sqlite
from hedgerow.backends.sqlite.connect import connect_file
from hedgerow.backends.sqlite.functions import FUNCTIONS
from hedgerow.compile.scalars import scalar
from hedgerow.compiled import Query
from hedgerow.dialects.sqlite.calls import CALLED
from hedgerow.dialects.statement import Step
from hedgerow.errors import BackendError, UnsupportedSQLError
from hedgerow.expressions.nodes import Call, Column, Literal
from hedgerow.expressions.types import Type

CATALOG = """
dataset: d
budget: {epsilon: 100, delta: 1e-4}
defaults: {epsilon: 1, delta: 1e-8, min_frequency: 1}
tables:
  visits:
    unit: person
    max_rows: 4
    columns: {cost: {lower: 0, upper: 100}}
"""
COUNT = Query("SELECT COUNT(*) AS n FROM visits", (), ("n",))
SLOW = "SELECT COUNT(*) AS n FROM visits a, visits b, visits c, visits d, visits e WHERE a.cost + b.cost < e.cost"


def make(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


@pytest.fixture
def file(tmp_path):
    rows = ", ".join(f"({i % 50}, 'ward {i % 3}', {i % 90}.5)" for i in range(300))
    return make(
        tmp_path / "visits.db",
        "CREATE TABLE visits (person INTEGER, ward TEXT, cost REAL)",
        f"INSERT INTO visits VALUES {rows}",
    )


@pytest.fixture
def backend(file):
    return open_sqlite(file)


@pytest.fixture
def catalog(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CATALOG)
    return path


@pytest.fixture
def lender(file):
    connection = sqlite3.connect(file, check_same_thread=False)
    yield connection
    connection.close()


def counted(backend):
    with backend.snapshot() as snapshot:
        return snapshot.run(COUNT).exact_integers("n").tolist()


def answered(source, catalog, tmp_path):
    with hr.connect(source, catalog=catalog, ledger=tmp_path / "l.ledger") as db:
        return db.sql("SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY ward", epsilon=50)


def test_a_question_is_answered_from_a_file_a_url_and_a_connection(file, lender, catalog, tmp_path):
    for source in (file, f"sqlite:///{file}", lender):
        actual = answered(source, catalog, tmp_path)
        assert len(actual) == 3


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO visits VALUES (1, 'x', 2)",
        "UPDATE visits SET cost = 0",
        "DELETE FROM visits",
        "DROP TABLE visits",
        "CREATE TEMP TABLE t (x)",
        "CREATE VIEW v AS SELECT 1",
        "ATTACH ':memory:' AS other",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "PRAGMA trusted_schema = ON",
        "SELECT load_extension('x')",
        "SELECT * FROM pragma_database_list",
        "BEGIN IMMEDIATE",
        "VACUUM INTO 'copy.db'",
        "ANALYZE",
    ],
)
def test_a_connection_of_ours_can_read_and_nothing_else(file, statement):
    before = file.read_bytes()
    connection = connect_file(file)
    with pytest.raises(sqlite3.Error):
        connection.execute(statement).fetchall()
    connection.close()
    assert file.read_bytes() == before


def test_only_the_functions_that_we_register_may_be_called(file):
    connection = connect_file(file)
    for name in ("hedgerow_x", "hedgerow_", "x"):
        connection.create_function(name, 0, lambda: 1)
        with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
            connection.execute(f"SELECT {name}()")
    assert connection.execute("SELECT hedgerow_lower('A'), HEDGEROW_LOWER('A')").fetchall() == [("a", "a")]
    connection.close()


def test_every_function_that_the_dialect_calls_is_registered():
    assert FUNCTIONS.keys() >= CALLED


def test_what_a_view_computes_can_be_read_and_a_view_that_cannot_be_read_is_not_there(tmp_path):
    path = make(
        tmp_path / "v.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)",
        "INSERT INTO t VALUES (1, 'a')",
        "CREATE VIEW v AS SELECT id, upper(body) AS loud FROM t",
        "CREATE VIEW broken AS SELECT x FROM gone",
        "CREATE VIEW unsafe AS SELECT id, load_extension(body) AS x FROM t",
    )
    backend = open_sqlite(path)
    query = Query(f"SELECT loud FROM {backend.dialect.table('v')}", ("loud",), (), (pa.string(),))
    assert backend.public(query).to_pylist() == [{"loud": "A"}]
    assert {*backend.schema().tables} == {"t", "v"}


def test_a_snapshot_is_one_state_although_others_write(tmp_path):
    path = make(
        tmp_path / "w.db",
        "PRAGMA journal_mode = WAL",
        "CREATE TABLE visits (person INTEGER)",
        "INSERT INTO visits VALUES (1)",
    )
    backend = open_sqlite(path)
    with backend.snapshot() as snapshot:
        first = snapshot.run(COUNT).exact_integers("n").tolist()
        make(path, "INSERT INTO visits VALUES (2)")
        assert snapshot.run(COUNT).exact_integers("n").tolist() == first == [1]
    assert counted(backend) == [2]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE visits ADD COLUMN more INTEGER",
        "DROP TABLE visits",
        "CREATE UNIQUE INDEX i ON visits (person, ward)",
    ],
)
def test_a_table_that_was_changed_is_not_read(file, change):
    make(file, "DELETE FROM visits WHERE rowid > 50")
    backend = open_sqlite(file)
    make(file, change)
    with pytest.raises(BackendError) as caught:
        counted(backend)
    assert caught.value.code == "schema-changed"


def test_another_table_may_come_and_rows_may_change(file, backend):
    before = counted(backend)
    make(file, "CREATE TABLE other (x)", "INSERT INTO visits VALUES (1, 'x', 2)")
    assert counted(backend) == [before[0] + 1]
    assert "other" not in backend.schema().tables


def test_what_runs_is_stopped_from_another_thread(backend):
    actual = []

    def ask():
        with pytest.raises(BackendError) as caught:
            backend.public(Query(SLOW, ("n",), (), (pa.int64(),)))
        actual.append(caught.value.code)

    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        backend.cancel()
        thread.join(0.05)
    assert actual == ["cancelled"]


def test_an_error_tells_nothing_but_a_number(backend, caplog):
    private = "the patient in ward 2"
    owners_log.addHandler(caplog.handler)
    try:
        with pytest.raises(BackendError) as caught, backend.snapshot() as snapshot:
            snapshot.run(Query(f"SELECT n FROM visits WHERE '{private}' = missing", (), ("n",)))
    finally:
        owners_log.removeHandler(caplog.handler)
    assert private not in str(caught.value)
    assert "missing" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert caught.value.incident in caplog.text


def test_statements_run_beside_each_other(backend):
    actual = []
    threads = [threading.Thread(target=lambda: actual.append(counted(backend))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert actual == [[300]] * 8


def test_statements_on_a_connection_handed_in_wait_for_each_other(lender):
    backend, actual = SQLite(lender), []
    threads = [threading.Thread(target=lambda: actual.append(counted(backend))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert actual == [[300]] * 8


def test_a_connection_handed_in_stays_as_it_was(lender):
    lender.row_factory, lender.text_factory = sqlite3.Row, bytes
    backend = SQLite(lender)
    assert backend.handed_in
    query = Query("SELECT ward FROM visits ORDER BY 1 LIMIT 1", ("ward",), (), (pa.string(),))
    assert backend.public(query).to_pylist() == [{"ward": "ward 0"}]
    backend.close()
    assert lender.row_factory is sqlite3.Row
    assert lender.text_factory is bytes
    assert lender.execute("SELECT ward FROM visits ORDER BY 1").fetchone()[0] == b"ward 0"
    assert not lender.in_transaction


def test_what_the_owner_has_not_committed_is_neither_committed_nor_lost(lender):
    lender.execute("INSERT INTO visits VALUES (1, 'x', 2)")
    assert counted(SQLite(lender)) == [301]
    assert lender.in_transaction
    lender.rollback()
    assert counted(SQLite(lender)) == [300]


def test_a_connection_of_another_thread_is_refused_with_advice(file):
    built, ready, done = [], threading.Event(), threading.Event()

    def lend():
        built.append(sqlite3.connect(file))
        ready.set()
        done.wait()
        built[0].close()

    thread = threading.Thread(target=lend)
    thread.start()
    ready.wait()
    try:
        with pytest.raises(BackendError, match="check_same_thread=False") as caught:
            SQLite(built[0])
    finally:
        done.set()
        thread.join()
    assert caught.value.code == "wrong-thread"


def test_a_closed_connection_is_refused(lender):
    lender.close()
    with pytest.raises(BackendError) as caught:
        SQLite(lender)
    assert caught.value.code == "closed"


def test_files_are_told_by_their_first_bytes(file, tmp_path):
    other = tmp_path / "other.db"
    duckdb.connect(str(other)).close()
    assert is_sqlite_file(file)
    assert not is_sqlite_file(other)
    assert not is_sqlite_file(tmp_path / "missing.db")
    assert not is_sqlite_file(tmp_path)


@pytest.mark.parametrize(("content", "code"), [(None, "no-database"), (b"name,age\n", "not-a-database")])
def test_what_is_no_database_is_refused(tmp_path, content, code):
    path = tmp_path / "x.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BackendError) as caught:
        open_sqlite(path)
    assert caught.value.code == code


def test_a_damaged_file_is_refused(file):
    file.write_bytes(file.read_bytes()[:100] + b"\xff" * 400)
    with pytest.raises(BackendError) as caught:
        open_sqlite(file)
    assert caught.value.code == "not-a-database"


def test_text_in_another_encoding_is_refused(tmp_path):
    path = make(tmp_path / "u.db", "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE t (x TEXT)")
    with pytest.raises(BackendError) as caught:
        open_sqlite(path)
    assert caught.value.code == "database-encoding"


def test_a_path_with_odd_signs_is_opened(file, tmp_path):
    odd = tmp_path / "a b?c#d%20.db"
    odd.write_bytes(file.read_bytes())
    assert counted(open_sqlite(odd)) == [300]


def columns(path, table):
    return open_sqlite(path).schema().tables[table].columns


@pytest.mark.parametrize(
    ("declared", "kind", "native"),
    [
        ("INTEGER", Type.INTEGER, "INTEGER"),
        ("unsigned big int", Type.INTEGER, "UNSIGNED BIG INT"),
        ("bigint(20)", Type.INTEGER, "BIGINT(20)"),
        ("BOOLEAN", Type.BOOLEAN, "BOOLEAN"),
        ("DOUBLE PRECISION", Type.FLOAT, "DOUBLE PRECISION"),
        ("NUMERIC", Type.FLOAT, "NUMERIC"),
        ("numeric(10)", Type.DECIMAL, "DECIMAL(10,0)"),
        ("DECIMAL(12, 2)", Type.DECIMAL, "DECIMAL(12,2)"),
        ("DECIMAL(2, 5)", Type.FLOAT, "DECIMAL"),
        ("VARCHAR(80)", Type.TEXT, "VARCHAR(80)"),
        ("DATE", Type.DATE, "DATE"),
        ("datetime", Type.TIMESTAMP, "DATETIME"),
        ("TIME", Type.TIME, "TIME"),
        ("BLOB", Type.OTHER, "BLOB"),
        ("STRING", Type.OTHER, "STRING"),
        ("", Type.OTHER, ""),
    ],
)
def test_types_are_those_of_the_definition(tmp_path, declared, kind, native):
    path = make(tmp_path / "t.db", f"CREATE TABLE t (x {declared})", "INSERT INTO t VALUES ('words')")
    actual = columns(path, "t")["x"]
    assert (actual.type, actual.native) == (kind, native)


def unique(path, table):
    return {tuple(sorted(key)) for key in open_sqlite(path).schema().tables[table].unique}


@pytest.mark.parametrize(
    ("definition", "keys"),
    [
        ("id INTEGER PRIMARY KEY, x TEXT", {("id",)}),
        ("id BIGINT PRIMARY KEY, x TEXT UNIQUE", {("id",), ("x",)}),
        ("id INTEGER, x TEXT, PRIMARY KEY (id, x)", {("id", "x")}),
        ("id TEXT COLLATE NOCASE UNIQUE, x INTEGER UNIQUE", {("x",)}),
        ("id REAL UNIQUE, x DATETIME UNIQUE", set()),
        ("id INTEGER, x TEXT", set()),
    ],
)
def test_columns_that_identify_a_row_are_those_that_sqlite_enforces(tmp_path, definition, keys):
    assert unique(make(tmp_path / "t.db", f"CREATE TABLE t ({definition})"), "t") == keys


@pytest.mark.parametrize(
    ("index", "keys"),
    [
        ("CREATE UNIQUE INDEX i ON t (a)", {("a",)}),
        ("CREATE INDEX i ON t (a)", set()),
        ("CREATE UNIQUE INDEX i ON t (a) WHERE b > 0", set()),
        ("CREATE UNIQUE INDEX i ON t (a, abs(b))", set()),
    ],
)
def test_indexes_of_some_rows_or_of_expressions_identify_nothing(tmp_path, index, keys):
    assert unique(make(tmp_path / "t.db", "CREATE TABLE t (a INTEGER, b INTEGER)", index), "t") == keys


def test_values_are_always_there_only_where_sqlite_enforces_it(tmp_path):
    path = make(
        tmp_path / "t.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT NOT NULL, b TEXT, c DATETIME NOT NULL)"
    )
    assert {name: column.nullable for name, column in columns(path, "t").items()} == {
        "id": False,
        "a": False,
        "b": True,
        "c": True,
    }


def test_text_is_known_to_be_compared_by_bytes_only_where_no_collation_is_near(tmp_path):
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE plain (x TEXT)",
        "CREATE TABLE folded (x TEXT COLLATE NOCASE)",
        "CREATE VIEW seen AS SELECT x FROM folded",
        "CREATE VIRTUAL TABLE words USING fts5 (body)",
    )
    tables = open_sqlite(path).schema().tables
    assert {name: table.columns["x"].collated for name, table in tables.items()} == {
        "plain": False,
        "folded": True,
        "seen": True,
    }


def deep(expr, wrap, times):
    for _ in range(times):
        expr = wrap(expr)
    return expr


COST, ONE, PERSON = Column("cost", Type.FLOAT), Literal(1.5, Type.FLOAT), Column("person", Type.INTEGER)
MISSING = Call("is_null", (PERSON,), Type.BOOLEAN)


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (deep(COST, lambda e: Call("add", (e, ONE), Type.FLOAT), 150), 225.5),
        (deep(PERSON, lambda e: Call("add_whole", (e, PERSON), Type.INTEGER), 150), 0),
        (deep(COST, lambda e: Call("subtract", (Call("add", (e, COST), Type.FLOAT), COST), Type.FLOAT), 10), 0.5),
        (deep(PERSON, lambda e: Call("case", (MISSING, PERSON, e), Type.INTEGER), 80), 0),
    ],
)
def test_long_chains_are_no_deep_nests(backend, expr, value):
    text = scalar(expr, backend.dialect)
    sql = f"SELECT {text} AS v FROM {backend.dialect.table('visits')} WHERE person = 0 AND ward = 'ward 0' LIMIT 1"
    assert backend.public(Query(sql, ("v",), (), (pa.float64(),))).to_pylist() == [{"v": value}]


def test_what_is_nested_too_deep_for_sqlite_is_refused_before_anything_is_run(backend):
    nested = deep(COST, lambda e: Call("abs", (Call("negate", (e,), Type.FLOAT),), Type.FLOAT), 30)
    with pytest.raises(UnsupportedSQLError) as caught:
        scalar(nested, backend.dialect)
    assert caught.value.code == "engine-lacks"
    with pytest.raises(UnsupportedSQLError):
        backend.dialect.statement([Step("a", "SELECT 1")], f"SELECT {'(' * 200}1{')' * 200}")


def test_uniqueness_is_looked_up_for_the_owner(backend, tmp_path):
    assert not backend.is_unique("visits", ("person",))
    path = make(tmp_path / "t.db", "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1), (2), (NULL), (NULL)")
    assert open_sqlite(path).is_unique("t", ("a",))


JOINED = """
dataset: d
budget: {epsilon: 100, delta: 1e-4}
defaults: {epsilon: 1}
timezone: Europe/Berlin
tables: {flights: {public: true}, weather: {public: true}}
"""
HOURS = ", ".join(f"('2024-03-31 {hour:02d}:00:00', '2024-03-31T{hour:02d}:00:00Z', {hour})" for hour in range(20))


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize(
    ("match", "count"),
    [
        ("f.at = w.at", 20),
        ("f.at = w.at AND f.hedgerow_key0 = w.hedgerow_key0", 20),
        ("w.seen = f.seen", 20),
        ("w.seen AT TIME ZONE 'UTC' = f.at", 20),
        ("f.at = w.at AND w.hedgerow_key0 < 5", 5),
    ],
)
def test_timestamps_are_joined_by_an_index_of_what_was_read_once(tmp_path, kind, match, count):
    (tmp_path / "c.yaml").write_text(JOINED)
    columns = "(at TIMESTAMP, seen TIMESTAMP WITH TIME ZONE, hedgerow_key0 INTEGER)"
    path = make(
        tmp_path / "j.db",
        *(f"CREATE TABLE {name} {columns}" for name in ("flights", "weather")),
        *(f"INSERT INTO {name} VALUES {HOURS}" for name in ("flights", "weather")),
    )
    text = f"SELECT f.hedgerow_key0, w.hedgerow_key0 FROM flights f {kind} weather w ON {match}"
    with hr.connect(path, catalog=tmp_path / "c.yaml", ledger=tmp_path / "l.ledger") as db:
        rows = [row for row in map(tuple, db.sql(text)) if row[1] is not None]
        (sql,) = db.quote(text).sql
    assert sorted(rows) == [(hour, hour) for hour in range(count)]
    connection = connect_file(path)
    connection.set_authorizer(None)
    steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
    connection.close()
    assert any("AUTOMATIC" in step and "hedgerow_key1=?" in step for step in steps)
