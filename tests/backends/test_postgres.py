"""PostgreSQL: what its catalog tells, that nothing can be written, and that connections stay whose they are."""

import threading
import time
from decimal import Decimal
from random import SystemRandom

import psycopg
import pyarrow as pa
import pytest
from psycopg.rows import dict_row

import hedgerow as hr
from hedgerow.backends.base import owners_log
from hedgerow.backends.postgres import Postgres, open_postgres
from hedgerow.compile.scalars import scalar
from hedgerow.compiled import Query
from hedgerow.dialects.statement import StatementParts, Step
from hedgerow.errors import BackendError, UnsupportedSQLError
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Call, Column, Literal
from hedgerow.expressions.types import Type
from hedgerow.limits import StatementLimits

from ..conformance.engines.postgres import create, running, why_not
from ..conformance.tables import nasty
from ..expressions.samples import calls

SECRET = "hunter2"  # noqa: S105 - it is to be looked for, and opens nothing
ONE = Query("SELECT 1 AS n", ("n",), (), (pa.int64(),))
SCHEMA = """
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN grade AS NUMERIC(4, 1);
CREATE TABLE kinds (
    id BIGINT PRIMARY KEY, small SMALLINT NOT NULL, flag BOOLEAN, real REAL, double DOUBLE PRECISION,
    price NUMERIC(12, 2), any_price NUMERIC, mark grade, word TEXT, short VARCHAR(10), padded CHAR(4), feeling mood,
    token UUID, day DATE, clock TIME, moment TIMESTAMP, instant TIMESTAMPTZ, blob BYTEA, list INTEGER[], span INTERVAL,
    bytes TEXT COLLATE "C", UNIQUE (small, word)
);
INSERT INTO kinds (id, small, padded, any_price, instant, price, feeling) VALUES
    (1, 1, 'ab', 1e400, '2024-01-01 12:00:00+02', 'NaN', 'sad'), (2, 2, 'ab', 'NaN', 'infinity', 2.50, 'happy');
CREATE UNIQUE INDEX ON kinds (token) WHERE flag;
CREATE TABLE parted (id BIGINT, region TEXT NOT NULL, value DOUBLE PRECISION, PRIMARY KEY (id, region))
    PARTITION BY LIST (region);
CREATE TABLE parted_a PARTITION OF parted FOR VALUES IN ('a');
CREATE TABLE parted_b PARTITION OF parted FOR VALUES IN ('b');
INSERT INTO parted SELECT i, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, i FROM generate_series(1, 200) AS t(i);
CREATE VIEW seen AS SELECT id, value FROM parted;
CREATE TABLE parent (id BIGINT PRIMARY KEY);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE hidden_away (id BIGINT);
"""


@pytest.fixture(scope="module")
def server():
    if why_not() is not None:
        pytest.skip(f"NOT TESTED: {why_not()}")
    with running() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(SCHEMA)
            connection.execute("CREATE ROLE reader LOGIN; GRANT SELECT ON kinds, parted, seen TO reader")
        yield url


@pytest.fixture(scope="module")
def backend(server):
    built = open_postgres(server)
    yield built
    built.close()


@pytest.fixture
def owner(server):
    with psycopg.connect(server) as connection:
        yield connection


@pytest.fixture
def said():
    """The owner's log."""
    import logging  # noqa: PLC0415 - here alone

    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())
    owners_log.addHandler(handler)
    yield records
    owners_log.removeHandler(handler)


def test_types_come_from_the_catalog(backend):
    columns = backend.schema().tables["kinds"].columns
    assert {name: column.type for name, column in columns.items()} == {
        **dict.fromkeys(("id", "small"), Type.INTEGER),
        "flag": Type.BOOLEAN,
        **dict.fromkeys(("real", "double", "any_price"), Type.FLOAT),
        **dict.fromkeys(("price", "mark"), Type.DECIMAL),
        **dict.fromkeys(("word", "short", "padded", "feeling", "token", "bytes"), Type.TEXT),
        "day": Type.DATE,
        "clock": Type.TIME,
        **dict.fromkeys(("moment", "instant"), Type.TIMESTAMP),
        **dict.fromkeys(("blob", "list", "span"), Type.OTHER),
    }
    assert (columns["price"].native, columns["mark"].native) == ("DECIMAL(12,2)", "DECIMAL(4,1)")
    assert {name for name, column in columns.items() if column.loose} == {"any_price", "padded", "feeling", "token"}
    assert [name for name, column in columns.items() if column.instant] == ["instant"]
    assert [name for name, column in columns.items() if not column.nullable] == ["id", "small"]


def test_only_what_holds_for_every_row_is_unique(backend):
    tables = backend.schema().tables
    assert tables["kinds"].unique == {frozenset({"id"}), frozenset({"small", "word"})}
    assert tables["parted"].unique == {frozenset({"id", "region"})}
    assert tables["seen"].unique == frozenset()
    assert tables["parent"].unique == frozenset()
    assert tables["parent"].columns["id"].nullable


def test_tables_and_columns_that_may_not_be_read_are_not_there(server):
    reading = open_postgres(server.replace("postgres:@", "reader:@"))
    try:
        assert set(reading.schema().tables) == {"kinds", "parted", "seen"}
    finally:
        reading.close()


def test_a_schema_without_tables_is_an_error(server):
    built = open_postgres(f"{server}&schema=nowhere")
    with pytest.raises(BackendError) as caught:
        built.schema()
    assert caught.value.code == "no-tables"
    built.close()


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO parent VALUES (7) RETURNING id",
        "UPDATE parent SET id = 8 RETURNING id",
        "DELETE FROM parent RETURNING id",
        "SELECT nextval('counter') AS n",
    ],
)
def test_nothing_can_be_written(server, backend, statement):
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE SEQUENCE IF NOT EXISTS counter")
    with pytest.raises(BackendError) as caught:
        backend.public(Query(statement, ("n",), (), (pa.int64(),)))
    assert caught.value.code == "engine-failed"


def test_an_error_says_nothing_of_the_data(backend, said):
    query = Query(f"SELECT CAST('{SECRET}' AS BIGINT) AS n", ("n",), (), (pa.int64(),))
    with pytest.raises(BackendError) as caught:
        backend.public(query)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.incident is not None
    assert any(SECRET in line and caught.value.incident in line for line in said)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        (f"postgresql://nobody:{SECRET}@127.0.0.1:1/none", "no-server"),
        (f"postgresql://nobody:{SECRET}@[::1/none", "not-a-database"),
        (f"postgresql://nobody:{SECRET}@127.0.0.1/none?timeout=soon", "not-a-database"),
        (f"postgresql://nobody:{SECRET}@127.0.0.1/none?timeout=0", "not-a-database"),
        (f"postgresql://nobody:{SECRET}@127.0.0.1/none?unknown=1", "not-a-database"),
    ],
)
def test_a_server_that_cannot_be_reached_is_told_without_its_password(url, code):
    with pytest.raises(BackendError) as caught:
        open_postgres(url)
    assert caught.value.code == code
    assert SECRET not in f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"


def test_a_snapshot_sees_one_state(server, backend):
    counted = Query("SELECT COUNT(*) AS n FROM parent", (), ("n",))
    with psycopg.connect(server, autocommit=True) as connection, backend.snapshot() as snapshot:
        before = snapshot.run(counted).exact_integers("n")[0]
        connection.execute("INSERT INTO parent VALUES (1000)")
        assert snapshot.run(counted).exact_integers("n")[0] == before
        connection.execute("DELETE FROM parent WHERE id = 1000")


def test_numbers_of_128_bits_come_whole(backend):
    wide = 2**100 + 1
    with backend.snapshot() as snapshot:
        actual = snapshot.run(Query(f"SELECT {wide} AS s UNION ALL SELECT -{wide}", (), ("s",)))
    assert sorted(actual.exact_integers("s").tolist()) == [-wide, wide]


def test_rows_that_are_handed_over_come_back_as_they_were(backend):
    texts = ['"', "'", "\\", "{}", ",", "NULL", "", None, "é\n😀"]
    table = pa.table({"k": texts, "place": list(range(len(texts)))})
    with backend.snapshot() as snapshot:
        snapshot.load("hedgerow_selected", table)
        step = Step("x", "SELECT k, place FROM hedgerow_selected")
        parts = StatementParts((step,), "SELECT k, place FROM x ORDER BY place")
        sql = backend.dialect.statement_text(parts)
        actual = snapshot.run(Query(sql, ("k",), ("place",), (pa.string(),), statement=parts))
    assert actual.exact_keys().column("k").to_pylist() == texts


def test_a_statement_can_be_cancelled(backend):
    failed = []

    def run():
        try:
            backend.public(Query("SELECT 1 AS n FROM pg_sleep(60)", ("n",), (), (pa.int64(),)))
        except BackendError as error:
            failed.append(error.code)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        backend.cancel()
        time.sleep(0.05)
    thread.join()
    assert failed == ["cancelled"]


def test_a_statement_that_takes_too_long_ends(server):
    built = open_postgres(f"{server}&timeout=0.2")
    with pytest.raises(BackendError):
        built.public(Query("SELECT 1 AS n FROM pg_sleep(60)", ("n",), (), (pa.int64(),)))
    built.close()


def test_many_threads_share_a_backend(backend):
    actual = []

    def run(number):
        query = Query(f"SELECT {number} AS n FROM pg_sleep(0.01)", ("n",), (), (pa.int64(),))
        actual.append((number, backend.public(query).to_pylist()[0]["n"]))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(actual) == 20
    assert all(wanted == got for wanted, got in actual)


def test_a_connection_that_was_lost_while_idle_is_made_again(server, backend):
    backend.public(ONE)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hedgerow'")
    assert backend.public(ONE).to_pylist() == [{"n": 1}]


def test_a_connection_handed_in_stays_open_and_as_it_was(owner):
    owner.row_factory = dict_row
    owner.execute("SET DateStyle = 'German'")
    owner.commit()
    built = Postgres(owner, handed_in=True)
    assert "kinds" in built.schema().tables
    assert built.public(ONE).to_pylist() == [{"n": 1}]
    built.close()
    assert not owner.closed
    assert owner.execute("SHOW DateStyle").fetchone() == {"DateStyle": "German, DMY"}


def test_a_connection_within_a_transaction_is_refused(owner):
    built = Postgres(owner, handed_in=True)
    owner.execute("SELECT 1")
    with pytest.raises(BackendError) as caught:
        built.public(ONE)
    assert caught.value.code == "connection-in-use"
    owner.rollback()
    assert built.public(ONE).num_rows == 1


def test_threads_wait_for_a_connection_handed_in(owner):
    built = Postgres(owner, handed_in=True)
    actual = []

    def run(number):
        query = Query(f"SELECT {number} AS n FROM pg_sleep(0.01)", ("n",), (), (pa.int64(),))
        actual.append((number, built.public(query).to_pylist()[0]["n"]))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(actual) == [(number, number) for number in range(8)]


def test_uniqueness_is_looked_up(backend):
    assert backend.is_unique("parted", ("id",))
    assert not backend.is_unique("parted", ("region",))


NESTED, TOGETHER = 400, 20


@pytest.fixture(scope="module")
def nasty_one(server):
    with psycopg.connect(server, autocommit=True) as connection:
        create(connection, "nasty", nasty())
    built = open_postgres(server)
    yield built
    built.close()


def inside(outer, exprs, randomness):
    """A call with one of its columns exchanged for another call of the same type."""
    fitting = {expr.type for expr in exprs}
    places = [at for at, a in enumerate(outer.arguments) if isinstance(a, Column) and a.type in fitting]
    if not places:
        return outer
    at = randomness.choice(places)
    inner = randomness.choice([expr for expr in exprs if expr.type is outer.arguments[at].type])
    return Call(outer.function, (*outer.arguments[:at], inner, *outer.arguments[at + 1 :]), outer.type)


def available(expr, dialect):
    try:
        scalar(expr, dialect)
    except UnsupportedSQLError:
        return False
    return True


def test_no_row_makes_a_function_inside_a_function_fail(nasty_one):
    """Privacy: an error that appears for one row only would be an answer that nobody paid for."""
    randomness, dialect = SystemRandom(), nasty_one.dialect
    exprs = [expr for name in allowed() for expr in calls(name) if available(expr, dialect)]
    built = [inside(inside(randomness.choice(exprs), exprs, randomness), exprs, randomness) for _ in range(NESTED)]
    for start in range(0, NESTED, TOGETHER):
        texts = [f"COUNT({scalar(expr, dialect)}) AS c{at}" for at, expr in enumerate(built[start : start + TOGETHER])]
        names = tuple(f"c{at}" for at in range(len(texts)))
        sql = f"SELECT {', '.join(texts)} FROM {dialect.table('nasty')}"
        assert nasty_one.public(Query(sql, names, (), (pa.int64(),) * len(names))).num_rows == 1


@pytest.mark.parametrize("pattern", [r"\Bx", r"(?m)^a", r"\pL", "(?U)a*"])
def test_a_pattern_that_is_not_understood_alike_is_refused(nasty_one, pattern):
    expr = Call("regexp_matches", (Column("text_0", Type.TEXT), Literal(pattern, Type.TEXT)), Type.BOOLEAN)
    with pytest.raises(UnsupportedSQLError) as caught:
        scalar(expr, nasty_one.dialect)
    assert caught.value.code == "engine-lacks"


SHOWN = "SELECT setting::bigint AS n FROM pg_catalog.pg_settings WHERE name = '{}'"


def setting(backend, name):
    """Settings inside a transaction of ours."""
    return backend.public(Query(SHOWN.format(name), ("n",), (), (pa.int64(),))).column("n").to_pylist()[0]


@pytest.mark.parametrize(
    ("role", "seconds", "timeout"), [("1s", 900.0, 1000), ("20min", 2.5, 2500), ("0", 900.0, 900_000)]
)
def test_the_time_of_a_statement_is_the_shorter_of_the_roles_and_the_owners(server, role, seconds, timeout):
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE hasty LOGIN; ALTER ROLE hasty SET statement_timeout = '{role}'")
        connection.execute("GRANT SELECT ON kinds TO hasty")
        built = open_postgres(server.replace("postgres:@", "hasty:@"))
        try:
            built.set_limits(StatementLimits(seconds=seconds))
            assert setting(built, "statement_timeout") == timeout
            assert setting(built, "temp_file_limit") == -1, "this user may not set it"
        finally:
            built.close()
            connection.execute("REVOKE ALL ON kinds FROM hasty; DROP ROLE hasty")


def test_temporary_files_are_limited_where_the_user_may(server):
    built = open_postgres(server)
    built.set_limits(StatementLimits(memory=10**9))
    assert setting(built, "temp_file_limit") == 4 * 10**9 // 1024
    built.close()


@pytest.mark.parametrize("pattern", ["a|ab", "a*?", "(a*)(ab)?", "(|a)", "(a?)*"])
def test_a_pattern_that_leaves_a_choice_is_not_extracted(nasty_one, pattern):
    arguments = (Column("text_0", Type.TEXT), Literal(pattern, Type.TEXT), Literal(0, Type.INTEGER))
    with pytest.raises(UnsupportedSQLError) as caught:
        scalar(Call("regexp_extract", arguments, Type.TEXT), nasty_one.dialect)
    assert caught.value.code == "engine-lacks"


CATALOG = """\
dataset: parted
budget: {epsilon: 100000, delta: 0.01, pure_epsilon: 50000}
defaults: {epsilon: 1000, delta: 1e-8, min_frequency: 1}
tables:
  parted:
    unit: id
    max_rows: 1
    columns:
      value: {lower: 0, upper: 200}
      region: {values: [a, b]}
  seen:
    unit: id
    max_rows: 1
    columns:
      value: {lower: 0, upper: 200}
  kinds:
    unit: id
    max_rows: 1
    columns:
      any_price: {lower: 0, upper: 10}
      price: {lower: 0, upper: 10}
"""


@pytest.fixture(scope="module")
def db(server, tmp_path_factory):
    path = tmp_path_factory.mktemp("parted") / "catalog.yaml"
    path.write_text(CATALOG)
    with hr.connect(server, catalog=path) as built:
        yield built


def test_partitioned_tables_and_views_are_asked_like_any_other(db):
    rows = db.sql("SELECT region, COUNT(*) AS n, AVG(value) AS m FROM parted GROUP BY region").arrow().to_pylist()
    assert [(row["region"], round(float(row["n"]))) for row in rows] == [("a", 100), ("b", 100)]
    assert round(float(db.sql("SELECT COUNT(*) AS n FROM seen").arrow().to_pylist()[0]["n"])) == 200


def test_padded_text_numbers_of_any_size_and_moments_with_a_zone_can_be_used(db):
    actual = db.sql("SELECT COUNT(*) AS n FROM kinds WHERE padded = 'ab'").arrow().to_pylist()[0]["n"]
    assert round(float(actual)) == 2
    assert round(float(db.sql("SELECT SUM(any_price) AS s FROM kinds").arrow().to_pylist()[0]["s"])) == 10
    at_utc = db.sql("SELECT COUNT(*) AS n FROM kinds WHERE instant = TIMESTAMP '2024-01-01 10:00:00'")
    assert round(float(at_utc.arrow().to_pylist()[0]["n"])) == 1


def test_a_number_that_is_none_is_no_key(db):
    rows = db.sql("SELECT price, COUNT(*) AS n FROM kinds GROUP BY price").arrow().to_pylist()
    assert {None if row["price"] is None else Decimal(str(row["price"])) for row in rows} <= {None, Decimal("2.5")}
