"""Other clients in Python, for real: psycopg 2, asyncpg, SQLAlchemy, pandas, polars, ADBC, ibis.

psycopg 2 cancels in a process of its own: its `cancel` holds Python's lock while it waits for the server.
"""

import asyncio
import datetime as dt
import ssl
import subprocess
import sys
from decimal import Decimal

import adbc_driver_postgresql.dbapi as adbc
import asyncpg
import ibis
import pandas as pd
import polars as pl
import psycopg
import psycopg2
import pytest
import sqlalchemy as sa
from tests.service.wire.conftest import QUESTION, port_of

REGIONS = ["east", "islands", "north", "south", "west"]
TABLES = {"patients", "visits", "wards", "regions"}


@pytest.fixture(scope="module")
def engine(server):
    engine = sa.create_engine(server.tls_url.replace("postgresql://", "postgresql+psycopg://"))
    yield engine
    engine.dispose()


def test_psycopg2_asks_describes_and_fetches_in_parts(server):
    connection = psycopg2.connect(server.tls_url)
    try:
        cursor = connection.cursor()
        cursor.execute(f"{QUESTION} LIMIT %s", (3,))
        assert [column.name for column in cursor.description] == ["region", "n", "mean_age"]
        assert [row[0] for row in cursor.fetchall()] == REGIONS[:3]
        assert any("receipt" in notice for notice in connection.notices)
        with connection.cursor("named") as named:
            named.itersize = 2
            named.execute(QUESTION)
            assert [row[0] for row in named] == REGIONS
        with pytest.raises(psycopg2.errors.UndefinedColumn) as caught:
            cursor.execute("SELECT nonsense FROM patients")
        assert caught.value.diag.statement_position == "8"
        connection.rollback()
        cursor.execute("SELECT COUNT(*) FROM visits WHERE admitted > %s", (dt.date(2024, 5, 1),))
        assert isinstance(cursor.fetchone()[0], int)
    finally:
        connection.close()


CANCELLING = """
import sys, threading, psycopg2
connection = psycopg2.connect(sys.argv[1])
def cancel():
    sys.stdin.readline()
    connection.cancel()
    print("cancelled", flush=True)
threading.Thread(target=cancel).start()
cursor = connection.cursor()
try:
    cursor.execute(sys.argv[2])
except psycopg2.errors.QueryCanceled as error:
    print(str(error).splitlines()[0], flush=True)
connection.rollback()
cursor.execute(sys.argv[2])
print(len(cursor.fetchall()), flush=True)
"""


def test_psycopg2_cancels(server, gate):
    query = "SELECT COUNT(*) FROM patients WHERE age BETWEEN 17 AND 64"
    words = [sys.executable, "-c", CANCELLING, server.tls_url, query]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:  # noqa: S603 - our own words
        assert gate.reached.wait(60)
        print("now", file=client.stdin, flush=True)
        assert client.stdout.readline() == "cancelled\n"
        gate.opened.set()
        assert "stays charged" in client.stdout.readline()
        assert client.stdout.readline() == "1\n"


def test_asyncpg_prepares_binds_in_binary_and_introspects(server):
    tls = ssl.create_default_context(cafile=server.certificate)

    async def ask():
        connection = await asyncpg.connect(
            host="localhost",
            port=port_of(server.encrypted),
            user="ana",
            password=server.password,
            database="hospital",
            ssl=tls,
            server_settings={"hedgerow.epsilon": "0.25"},
        )
        try:
            statement = await connection.prepare(
                "SELECT region, COUNT(*) AS n FROM patients WHERE age > $1 GROUP BY region"
            )
            assert [kind.name for kind in statement.get_parameters()] == ["int8"]
            assert [(a.name, a.type.name) for a in statement.get_attributes()] == [("region", "text"), ("n", "int8")]
            rows = await statement.fetch(40)
            assert rows == await statement.fetch(40)
            assert sorted(row["region"] for row in rows) == REGIONS
            query = "SELECT COUNT(*) AS n FROM visits WHERE admitted > $1 AND cost < $2 AND ward = $3"
            values = dt.date(2024, 3, 1), Decimal("4000.25"), "surgery"
            assert await connection.fetchval(query, *values) == await connection.fetchval(query, *values)
            async with connection.transaction():
                cursor = await connection.cursor(QUESTION)
                assert [row["region"] for row in await cursor.fetch(2)] == REGIONS[:2]
                assert [row["region"] for row in await cursor.fetch(9)] == REGIONS[2:]
            with pytest.raises(asyncpg.UndefinedColumnError) as caught:
                await connection.fetch("SELECT nonsense FROM patients")
            assert caught.value.position == "8"
            await connection.reset()
            tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            assert {row["tablename"] for row in tables} == TABLES
        finally:
            await connection.close()

    asyncio.run(ask())


def test_asyncpg_cancels_when_it_stops_waiting(server, gate):
    async def ask():
        connection = await asyncpg.connect(server.url)
        try:
            waiting = asyncio.ensure_future(
                connection.fetch("SELECT COUNT(*) FROM patients WHERE age BETWEEN 22 AND 66")
            )
            await asyncio.to_thread(gate.reached.wait, 60)
            waiting.cancel()
            asyncio.get_running_loop().call_later(0.1, gate.opened.set)
            with pytest.raises(asyncio.CancelledError):
                await waiting
            return await connection.fetchval("SELECT 1")
        finally:
            await connection.close()

    assert asyncio.run(ask()) == 1


def test_sqlalchemy_reflects_and_asks(engine):
    inspector = sa.inspect(engine)
    assert set(inspector.get_table_names()) == TABLES
    assert [column["name"] for column in inspector.get_columns("patients")][:3] == ["id", "region", "age"]
    assert inspector.get_pk_constraint("patients")["constrained_columns"] == ["id"]
    patients = sa.Table("patients", sa.MetaData(), autoload_with=engine)
    query = (
        sa.select(patients.c.region, sa.func.count().label("n"))
        .where(patients.c.age > 30, patients.c.region.in_(["north", "south"]))
        .group_by(patients.c.region)
        .order_by(patients.c.region)
    )
    with engine.connect() as connection:
        rows = connection.execute(query).all()
        assert rows == connection.execute(query).all()
        assert [row.region for row in rows] == REGIONS
        assert connection.execute(query.limit(2).offset(1)).all() == rows[1:3]
        with pytest.raises(sa.exc.NotSupportedError, match="single rows"):
            connection.execute(sa.select(patients).limit(10))
    with engine.connect().execution_options(stream_results=True, yield_per=2) as connection:
        assert [row[0] for row in connection.execute(sa.text(QUESTION))] == REGIONS


def test_pandas_reads_an_answer(engine):
    frame = pd.read_sql_query(sa.text(f"{QUESTION} LIMIT :n"), engine, params={"n": 4})
    assert list(frame.columns) == ["region", "n", "mean_age"]
    assert list(frame["region"]) == REGIONS[:4]
    assert str(frame["mean_age"].dtype) == "float64"
    with pytest.raises((sa.exc.ProgrammingError, pd.errors.DatabaseError), match="There is no column 'nonsense'"):
        pd.read_sql_query("SELECT nonsense FROM patients", engine)
    with pytest.raises((sa.exc.NotSupportedError, pd.errors.DatabaseError), match="single rows"):
        pd.read_sql_table("patients", engine)


def test_adbc_and_polars_read_an_answer_as_arrow(server):
    with adbc.connect(server.tls_url) as connection, connection.cursor() as cursor:
        listed = connection.adbc_get_objects(depth="tables", db_schema_filter="public").read_all().to_pylist()
        assert {table["table_name"] for table in listed[0]["catalog_db_schemas"][0]["db_schema_tables"]} >= TABLES
        assert "age" in connection.adbc_get_table_schema("patients").names
        cursor.execute(QUESTION)
        table = cursor.fetch_arrow_table()
        assert [str(field.type) for field in table.schema] == ["string", "int64", "double"]
        assert table.column("region").to_pylist() == REGIONS
        cursor.execute("SELECT COUNT(*) AS n FROM patients WHERE age > $1", (50,))
        assert cursor.fetchone()[0] > 0
        with pytest.raises(adbc.Error, match="single rows"):
            cursor.execute("SELECT * FROM patients")
    with adbc.connect(server.tls_url) as connection:
        frame = pl.read_database(QUESTION, connection)
    assert frame["region"].to_list() == REGIONS
    assert frame.schema["n"] == pl.Int64
    assert pl.read_database_uri(QUESTION, server.tls_url, engine="adbc").equals(frame)


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:Warning")
def test_ibis_lists_describes_and_asks(server):
    connection = ibis.postgres.connect(
        host="localhost",
        port=port_of(server.encrypted),
        user="ana",
        password=server.password,
        database="hospital",
        sslmode="verify-full",
        sslrootcert=str(server.certificate),
    )
    try:
        assert set(connection.list_tables()) >= TABLES
        patients = connection.table("patients")
        assert patients.schema()["age"].is_integer()
        query = patients.filter(patients.age > 30).group_by("region").agg(n=ibis._.count()).order_by("region")
        assert list(query.to_pandas()["region"]) == REGIONS
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="single rows"):
            patients.limit(10).to_pandas()
    finally:
        connection.disconnect()
