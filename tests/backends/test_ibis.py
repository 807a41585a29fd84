"""Ibis: its driver gets statements as they are, types come from an allow-list, the connection stays the owner's."""

import sqlite3
import threading
import time
from types import SimpleNamespace

import duckdb
import ibis
import ibis.backends.sql.datatypes as mappers
import ibis.backends.sql.dialects
import pytest

import hedgerow as hr
from hedgerow.backends import connect_backend
from hedgerow.backends.duckdb import DuckDB
from hedgerow.backends.ibis import Cursors, Ibis, read_column
from hedgerow.compiled import Query
from hedgerow.dialects.experimental.bigquery import BIGQUERY
from hedgerow.errors import BackendError
from hedgerow.expressions.types import Type

from ..conformance.engines.ibis_duckdb import ibis_over
from ..internals import session_of

CATALOG = """\
dataset: shop
budget: {epsilon: 100000, delta: 0.01, pure_epsilon: 50000}
defaults: {epsilon: 1000, delta: 1e-8, min_frequency: 2}
tables:
  orders: {unit: person, max_rows: 4, max_rows_per_group: 2, max_groups: 2, columns: {price: {lower: 0, upper: 100}}}
"""
NEAR, OFF = 50, 2.5
"""By how much a sum and a count may be off: tens of standard deviations at so large an epsilon."""

ORDERS = """\
CREATE TABLE orders AS
SELECT i // 2 AS person, ['Rome', 'Oslo', NULL][i % 3 + 1] AS city, 10.5 AS price FROM range(90) r(i)"""


@pytest.fixture
def owner():
    with duckdb.connect(":memory:", config={"threads": "1"}) as connection:
        connection.execute(ORDERS)
        yield connection


@pytest.fixture
def backend(owner):
    return Ibis(ibis_over(owner))


@pytest.fixture
def db(backend, tmp_path):
    (tmp_path / "shop.yaml").write_text(CATALOG)
    with hr.connect(backend, catalog=tmp_path / "shop.yaml") as built:
        yield built


def test_a_question_is_answered_through_ibis(db):
    answer = db.sql("SELECT COUNT(*) AS n, SUM(price) AS s FROM orders")
    assert abs(answer["n"][0] - 90) < OFF
    assert abs(answer["s"][0] - 945) < NEAR


def test_keys_are_selected_and_measured_through_ibis(db):
    answer = db.sql("SELECT city, COUNT(*) AS n, MEDIAN(price) AS m FROM orders GROUP BY city")
    assert set(answer["city"]) == {"Rome", "Oslo", None}
    assert all(abs(n - 30) < OFF for n in answer["n"])


def test_what_hedgerow_knows_itself_is_taken_out_of_ibis(owner):
    actual = connect_backend(ibis_over(owner))
    assert isinstance(actual, DuckDB)
    assert actual.handed_in


def test_an_engine_without_a_dialect_is_refused_by_name():
    with pytest.raises(BackendError, match="polars") as refused:
        connect_backend(ibis.polars.connect())
    assert refused.value.code == "unknown-engine"


MAPPED = [
    ("bigquery", mappers.BigQueryType, "INT64", Type.INTEGER, False),
    ("bigquery", mappers.BigQueryType, "DATETIME", Type.TIMESTAMP, False),
    ("bigquery", mappers.BigQueryType, "TIMESTAMP", Type.TIMESTAMP, False),
    ("bigquery", mappers.BigQueryType, "NUMERIC", Type.DECIMAL, False),
    ("bigquery", mappers.BigQueryType, "BIGNUMERIC", Type.OTHER, False),
    ("bigquery", mappers.BigQueryType, "GEOGRAPHY", Type.OTHER, False),
    ("snowflake", mappers.SnowflakeType, "NUMBER(38,0)", Type.INTEGER, True),
    ("snowflake", mappers.SnowflakeType, "NUMBER(10,2)", Type.DECIMAL, False),
    ("snowflake", mappers.SnowflakeType, "FLOAT", Type.FLOAT, False),
    ("snowflake", mappers.SnowflakeType, "TIMESTAMP_NTZ(9)", Type.TIMESTAMP, False),
    ("snowflake", mappers.SnowflakeType, "TIMESTAMP_TZ(9)", Type.TIMESTAMP, False),
    ("snowflake", mappers.SnowflakeType, "TIMESTAMP_LTZ(9)", Type.TIMESTAMP, False),
    ("snowflake", mappers.SnowflakeType, "VARIANT", Type.OTHER, False),
    ("trino", mappers.TrinoType, "varchar(10)", Type.TEXT, False),
    ("trino", mappers.TrinoType, "uuid", Type.TEXT, True),
    ("trino", mappers.TrinoType, "timestamp(3) with time zone", Type.TIMESTAMP, False),
    ("trino", mappers.TrinoType, "array(bigint)", Type.OTHER, False),
    ("mysql", mappers.MySQLType, "bigint unsigned", Type.DECIMAL, False),
    ("mysql", mappers.MySQLType, "decimal(65,2)", Type.OTHER, False),
    ("mysql", mappers.MySQLType, "datetime(6)", Type.TIMESTAMP, False),
    ("mysql", mappers.MySQLType, "timestamp", Type.TIMESTAMP, False),
    ("mysql", mappers.MySQLType, "enum('a','b')", Type.TEXT, False),
    ("mysql", mappers.MySQLType, "blob", Type.OTHER, False),
    ("mssql", mappers.MSSQLType, "bit", Type.BOOLEAN, False),
    ("mssql", mappers.MSSQLType, "uniqueidentifier", Type.TEXT, True),
    ("mssql", mappers.MSSQLType, "datetimeoffset", Type.TIMESTAMP, False),
    ("mssql", mappers.MSSQLType, "nvarchar(20)", Type.TEXT, False),
]


INSTANTS = {
    *("TIMESTAMP", "TIMESTAMP_TZ(9)", "TIMESTAMP_LTZ(9)", "timestamp(3) with time zone", "timestamp", "datetimeoffset"),
}
"""Types of points in time. Trino's and Snowflake's own TIMESTAMP is none, and is not listed here."""


@pytest.mark.parametrize(("engine", "mapper", "native", "kind", "loose"), MAPPED)
def test_types_come_from_ibis_by_an_allow_list(engine, mapper, native, kind, loose):
    column = read_column("x", mapper.from_string(native), engine)
    assert (column.type, column.loose) == (kind, loose)
    assert column.instant == (native in INSTANTS)
    assert column.nullable
    assert column.collated


def test_decimals_are_called_by_their_digits():
    assert read_column("x", mappers.SnowflakeType.from_string("NUMBER(10, 2)"), "snowflake").native == "DECIMAL(10,2)"


def test_nothing_is_unique_and_everything_may_be_missing(backend, owner):
    owner.execute("CREATE TABLE strict (id BIGINT PRIMARY KEY)")
    table = backend.schema().tables["strict"]
    assert not table.unique
    assert table.columns["id"].nullable


def test_everything_in_a_snapshot_is_one_state_of_the_data(backend, owner):
    count = Query("SELECT COUNT(*) AS n FROM orders", (), ("n",))
    with backend.snapshot() as snapshot:
        before = snapshot.run(count).exact_integers("n")[0]
        owner.cursor().execute("INSERT INTO orders VALUES (1000, 'Rome', 1)")
        assert snapshot.run(count).exact_integers("n")[0] == before
    with backend.snapshot() as snapshot:
        assert snapshot.run(count).exact_integers("n")[0] == before + 1


def test_a_transaction_of_the_owner_stays_the_owners(backend, owner):
    owner.execute("BEGIN TRANSACTION")
    owner.execute("DELETE FROM orders")
    with backend.snapshot() as snapshot:
        actual = snapshot.run(Query("SELECT COUNT(*) AS n FROM orders", (), ("n",)))
        assert actual.exact_integers("n")[0] == 0
    owner.execute("ROLLBACK")
    assert owner.execute("SELECT COUNT(*) FROM orders").fetchall() == [(90,)]


def test_whole_numbers_of_128_bits_come_out_whole(backend):
    with backend.snapshot() as snapshot:
        actual = snapshot.run(Query(f"SELECT CAST('{10**38 - 1}' AS HUGEINT) AS n", (), ("n",)))
        assert actual.exact_integers("n")[0] == 10**38 - 1


def test_an_error_of_the_engine_says_nothing(db, owner):
    owner.execute("ALTER TABLE orders RENAME city TO secret_city")
    with pytest.raises(BackendError) as failed:
        db.sql("SELECT city, COUNT(*) FROM orders GROUP BY city")
    assert "secret" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.code == "schema-changed"
    with pytest.raises(BackendError) as broken:
        session_of(db).backend.public(Query("SELECT no_such_column FROM orders", ("k",), ()))
    assert "no_such" not in str(broken.value)


def test_a_connection_that_is_handed_in_is_not_closed(backend, owner):
    backend.close()
    assert owner.execute("SELECT 1").fetchall() == [(1,)]


def test_many_threads_wait_for_their_turn(db):
    actual = []

    def ask():
        actual.append(abs(db.sql("SELECT COUNT(*) AS n FROM orders", reuse=False)["n"][0] - 90) < OFF)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert actual == [True] * 4


def test_a_statement_that_runs_can_be_cancelled(backend, owner):
    owner.execute("CREATE TABLE many AS SELECT i FROM range(100000) r(i)")
    endless = Query("SELECT COUNT(*) AS n FROM many a, many b, many c WHERE a.i + b.i < c.i", (), ("n",))
    actual = []

    def run():
        try:
            backend.public(endless)
        except BackendError as error:
            actual.append(error.code)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        backend.cancel()
        time.sleep(0.01)
    assert actual == ["cancelled"]


def test_a_driver_with_cursors_fetches_rows_as_they_are():
    connection = sqlite3.connect(":memory:")
    driver = Cursors(SimpleNamespace(con=connection))
    assert driver.rows("SELECT 1, 'a%sb?', NULL, 2.5", 1000) == [(1, "a%sb?", None, 2.5)]
    driver.cancel()
    connection.close()


def test_bigquery_tables_are_called_by_their_full_names():
    assert BIGQUERY.at("project", "dataset").table("orders") == "`project`.`dataset`.`orders`"


def test_a_sqlite_connection_is_taken_out_of_ibis(tmp_path):
    with sqlite3.connect(tmp_path / "shop.db") as built:
        built.execute("CREATE TABLE people (id INTEGER, age INTEGER)")
    built.close()
    wrapped = ibis.sqlite.connect(tmp_path / "shop.db")
    actual = connect_backend(wrapped)
    assert type(actual).__name__ == "SQLite"
    assert set(actual.schema().tables) == {"people"}
    wrapped.disconnect()
