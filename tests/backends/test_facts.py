"""Facts on SQLite, ClickHouse and PostgreSQL: they are used while rows stay as they are, and no longer."""

import sqlite3
from contextlib import ExitStack, contextmanager
from functools import cache

import psycopg
import pytest

import hedgerow as hr
from hedgerow.backends import facts as facts_module
from hedgerow.backends.clickhouse import over_chdb
from hedgerow.backends.postgres import open_postgres
from hedgerow.compiled import Query
from hedgerow.errors import BackendError
from hedgerow.execution.prepare import prepare
from hedgerow.execution.run import compile_steps, run_cheapest

from ..conformance.engines.postgres import running, why_not
from ..internals import price_of, session_of
from ..privacy.neighbours.forms import integers

CATALOG = """\
dataset: shop
budget: {epsilon: 1000, delta: 1e-3}
defaults: {epsilon: 1, delta: 1e-7, min_frequency: 1}
tables:
  orders: {unit: person, max_rows: 3, columns: {price: {lower: 0, upper: 9}}}
"""
QUESTIONS = (
    "SELECT SUM(price) AS s FROM orders",
    "SELECT status, AVG(price) AS a, COUNT(*) AS n FROM orders GROUP BY status",
    "SELECT COUNT(*) AS n FROM orders WHERE price > 2",
)
ROWS = [(i // 3, "xy"[i % 2], float(i % 9)) for i in range(90)]
COUNT = Query("SELECT COUNT(*) AS n FROM orders", (), ("n",))


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    """Let files count as unchanged at once."""
    monkeypatch.setattr(facts_module, "SETTLED_NS", 0)


class OnSQLite:
    def __init__(self, connection):
        self.connection = connection
        self.execute("CREATE TABLE orders (person INTEGER, status TEXT, price REAL)")

    def execute(self, sql):
        with self.connection:
            self.connection.execute(sql)


class OnClickHouse:
    def __init__(self, session):
        self.execute = session.query
        self.execute(
            "CREATE TABLE orders (person Int64, status String, price Float64) ENGINE = MergeTree ORDER BY tuple()"
        )


class OnPostgres:
    def __init__(self, connection):
        self.execute = connection.execute
        self.execute("CREATE TABLE orders (person BIGINT, status TEXT, price DOUBLE PRECISION)")


@contextmanager
def on_sqlite(folder):
    with sqlite3.connect(folder / "shop.sqlite") as connection:
        yield OnSQLite(connection), folder / "shop.sqlite"
    connection.close()


@contextmanager
def on_clickhouse(_):
    """A session in a database of its own: all sessions of a process share one engine."""
    session = pytest.importorskip("chdb.session", reason="NOT TESTED: chdb is not installed")
    with session.Session() as opened:
        opened.query("CREATE DATABASE facts")
        opened.query("USE facts")
        try:
            yield OnClickHouse(opened), opened
        finally:
            opened.query("USE default")
            opened.query("DROP DATABASE facts")


@pytest.fixture(scope="module")
def server():
    """A function that returns the address of a PostgreSQL server, which is started when it is first needed."""
    with ExitStack() as stack:

        @cache
        def started():
            if why_not() is not None:
                pytest.skip(f"NOT TESTED: {why_not()}")
            return stack.enter_context(running())

        yield started


@contextmanager
def on_postgres(started):
    url = started()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        yield OnPostgres(connection), f"{url}&snapshot=3600"


ENGINES = {"sqlite": on_sqlite, "clickhouse": on_clickhouse, "postgres": on_postgres}


def insert(rows):
    return f"INSERT INTO orders VALUES {', '.join(map(str, rows))}"


@pytest.fixture(params=ENGINES)
def shop(request, tmp_path, server):
    """A function that changes the rows of a shop, and its database."""
    (tmp_path / "shop.yaml").write_text(CATALOG)
    with ENGINES[request.param](server if request.param == "postgres" else tmp_path) as (changed, source):
        changed.execute(insert(ROWS))
        with hr.connect(source, catalog=tmp_path / "shop.yaml") as db:
            yield request.param, changed.execute, db


def cheapest(db, question):
    """The integers of the cheapest form and of the statement itself, and whether that form relied on facts."""
    backend = session_of(db).backend
    [steps] = compile_steps(price_of(db, question)[1], backend)
    with backend.snapshot() as snapshot:
        known, run = [], snapshot.run_known
        snapshot.run_known = lambda query, state: known.append(query) or run(query, state)
        return integers(run_cheapest(steps.first_pass, snapshot)), integers(snapshot.run(steps.first_pass)), bool(known)


def test_facts_are_used_and_change_no_integer_whatever_is_written(shop):
    name, execute, db = shop
    for change in (None, insert([(7, "x", 5.0)] * 20), "DELETE FROM orders WHERE person = 7", insert([(8, "y", 1.0)])):
        if change is not None:
            execute(change)
        if name == "clickhouse" and change is not None and "DELETE" in change:
            execute("OPTIMIZE TABLE orders FINAL")
        for question in QUESTIONS:
            results = [cheapest(db, question) for _ in range(2)]
            for known, ordinary, _ in results:
                assert known == ordinary
            assert results[-1][2], (name, question)


def rows_of(snapshot, state):
    return int(snapshot.run_known(COUNT, state).exact_integers("n")[0])


def test_a_state_ends_with_a_change_of_the_rows(shop):
    """On PostgreSQL it lasts: statements read the rows as they were, until the file of a table is another one."""
    name, execute, db = shop
    backend = session_of(db).backend

    def state():
        with backend.snapshot() as snapshot:
            return snapshot.state(["orders"])

    before = state()
    assert before is not None
    assert state() == before
    execute(insert([(50, "x", 1.0)]))
    assert (state() == before) is (name == "postgres")
    again = state()
    execute("TRUNCATE TABLE orders" if name != "sqlite" else "DELETE FROM orders")
    assert state() != again


STRANGE = (("INTEGER", "'abc'"), ("INTEGER", "1.5"), ("TEXT", "CAST(x'ff41' AS TEXT)"), ("TEXT", "x'41'"))


def test_text_among_numbers_and_broken_text_are_not_kept(tmp_path):
    """SQLite stores anything in any column: an owner that cannot leave the engine as it is must not be missed."""
    (tmp_path / "shop.yaml").write_text(CATALOG)
    for kind, strange in STRANGE:
        path = tmp_path / "strange.sqlite"
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as connection:
            connection.execute(f"CREATE TABLE orders (person {kind}, status TEXT, price REAL)")
            connection.execute(insert(ROWS))
            connection.execute(f"INSERT INTO orders SELECT {strange}, 'x', 5.0 FROM orders LIMIT 20")
        connection.close()
        with hr.connect(path, catalog=tmp_path / "shop.yaml") as db:
            for question in QUESTIONS[:2]:
                known, ordinary, used = cheapest(db, question)
                assert known == ordinary
                assert not used


def test_a_log_that_is_not_empty_and_views_have_no_state(tmp_path):
    (tmp_path / "shop.yaml").write_text(CATALOG.replace("orders:", "seen:"))
    with on_sqlite(tmp_path) as (changed, path):
        changed.execute("CREATE VIEW seen AS SELECT * FROM orders WHERE date('now') > '2020-01-01'")
        changed.execute(insert(ROWS))
        with hr.connect(path, catalog=tmp_path / "shop.yaml") as db:
            backend = session_of(db).backend
            assert not backend.keeps_facts(["seen"])
            assert backend.state(["orders"]) is not None
            changed.connection.execute("PRAGMA journal_mode = WAL")
            changed.execute(insert(ROWS))
            assert backend.state(["orders"]) is None
            changed.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert backend.state(["orders"]) is not None


def test_a_statement_reads_exactly_the_parts_for_which_facts_hold(tmp_path):
    """A part that is inserted, read and dropped again would leave no trace."""
    with on_clickhouse(tmp_path) as (changed, session):
        changed.execute(insert(ROWS))
        with over_chdb(session).snapshot() as snapshot:
            state = snapshot.state(["orders"])
            changed.execute(insert([(7, "x", 5.0)] * 20))
            assert rows_of(snapshot, state) == len(ROWS)
            assert int(snapshot.run(COUNT).exact_integers("n")[0]) == len(ROWS) + 20
            changed.execute("ALTER TABLE orders DROP PART 'all_2_2_0'")
            assert snapshot.state(["orders"]) == state


@pytest.mark.parametrize(
    "kind",
    [
        "(person Int64) ENGINE = Memory",
        "(person Int64, at DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY tuple()",
        "(person Int64, twice Int64 ALIAS person * 2) ENGINE = MergeTree ORDER BY tuple()",
    ],
)
def test_tables_whose_rows_are_not_their_parts_have_no_state(tmp_path, kind):
    with on_clickhouse(tmp_path) as (changed, session):
        changed.execute(f"CREATE TABLE other {kind}")
        with over_chdb(session).snapshot() as snapshot:
            assert snapshot.state(["orders"]) is not None
            assert snapshot.state(["orders", "other"]) is None
        changed.execute("DROP TABLE other")


OTHERS = """
CREATE TABLE parted (person BIGINT) PARTITION BY LIST (person);
CREATE VIEW seen AS SELECT * FROM orders;
CREATE TABLE guarded (person BIGINT); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE TABLE parent (person BIGINT); CREATE TABLE child () INHERITS (parent);
CREATE TABLE computed (person BIGINT, twice BIGINT GENERATED ALWAYS AS (person * 2) STORED);
"""


def test_a_snapshot_is_held_for_some_time(server):
    with on_postgres(server) as (changed, url):
        changed.execute(insert(ROWS))
        changed.execute(OTHERS)
        held, brief = open_postgres(url), open_postgres(url.replace("3600", "0.000001"))
        for number in (1, 2):
            with held.snapshot() as snapshot, brief.snapshot() as newer:
                assert rows_of(snapshot, None) == len(ROWS)
                assert rows_of(newer, None) == len(ROWS) + number - 1
                assert [
                    name for name in ("parted", "seen", "guarded", "parent", "computed") if snapshot.state([name])
                ] == []
                first = snapshot.state(["orders"])
            changed.execute(insert([(50, "x", 1.0)]))
        changed.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'")
        with held.snapshot() as snapshot:
            assert rows_of(snapshot, None) == len(ROWS) + 2
            assert snapshot.state(["orders"]) not in {first, None}
        changed.execute("ALTER TABLE orders ADD COLUMN more BIGINT")
        with held.snapshot() as snapshot:
            assert "more" in snapshot.table("orders").columns
        plain = open_postgres(url.partition("&snapshot")[0])
        assert not plain.keeps_facts(["orders"])
        for opened in (held, brief, plain):
            opened.close()


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE orders RENAME person TO other; ALTER TABLE orders RENAME one TO person",
        "ALTER TABLE orders DROP person; ALTER TABLE orders ADD person BIGINT DEFAULT 1",
        "ALTER TYPE kind RENAME VALUE 'a' TO 'c'",
    ],
)
def test_a_column_under_the_name_of_another_ends_a_state(server, change):
    """None of these writes a row or a file, and the rows have other owners or keys after it."""
    with on_postgres(server) as (changed, url):
        changed.execute("DROP TYPE IF EXISTS kind CASCADE; CREATE TYPE kind AS ENUM ('a', 'b')")
        changed.execute("ALTER TABLE orders ADD one BIGINT DEFAULT 1; ALTER TABLE orders ADD k kind")
        backend = open_postgres(url)
        states = []
        for sql in ("SELECT 1", "SELECT 1", change):
            changed.execute(sql)
            with backend.snapshot() as snapshot:
                states.append(snapshot.state(["orders"]))
        assert states[0] == states[1]
        assert None not in states
        assert states[2] != states[0]
        backend.close()


def test_facts_about_a_server_are_not_kept_in_a_file(shop):
    name, _, db = shop
    if name == "sqlite":
        assert prepare(session_of(db), QUESTIONS).statements == len(QUESTIONS)
        return
    with pytest.raises(BackendError) as caught:
        prepare(session_of(db), QUESTIONS)
    assert caught.value.code == "no-facts"
