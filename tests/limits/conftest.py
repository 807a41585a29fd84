"""A shop on every engine, in which one person has far more orders than all others, under small limits."""

import datetime as dt
import importlib
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
import pytest

import hedgerow as hr

from ..conformance.engines import clickhouse
from ..conformance.engines.ibis_duckdb import ibis_over
from ..conformance.engines.spark import folder_of
from ..conformance.tables import Table, reference
from ..internals import session_of

SERVERS = ("clickhouse", "ibis_duckdb", "postgres", "spark", "sqlite")
ENGINES = ("duckdb", "folder", "frames", *SERVERS)
ATTACKED = (*ENGINES, "mariadb")
"""MariaDB is asked the hostile statements alone; tests/backends/test_mariadb.py has its limit on time."""

RUNNING = ("clickhouse", "postgres", "spark")
"""Engines that go on for the next test."""

PEOPLE, NATIONS, HEAVY = 60, 25, 600
CATALOG = """
dataset: shop
budget: {epsilon: 1e6, delta: 0.5}
defaults: {epsilon: 1, delta: 1e-9, min_frequency: 1}
limits: {limits}
tables:
  customers: {unit: id, unit_unique: true, max_groups: 3, columns: {age: {lower: 0, upper: 100}}}
  orders: {unit: customer_id, max_rows: 20, columns: {price: {lower: 0, upper: 100}}}
  lines: {unit: {through: orders, on: {order_id: id}}, max_rows: 40, columns: {amount: {lower: 0, upper: 10}}}
  nations: {public: true}
  numbers: {public: true}
"""
DAY = dt.date(2024, 1, 1)


def orders():
    """Return the buyer of each order: the first person has most of them."""
    return [1] * HEAVY + [1 + i % PEOPLE for i in range(PEOPLE * 5)]


TABLES = {
    "customers": Table(
        {"id": "BIGINT", "age": "BIGINT", "region": "VARCHAR"},
        [(i, 20 + i % 50, ("north", "south")[i % 2]) for i in range(1, PEOPLE + 1)],
        ("id",),
    ),
    "orders": Table(
        {"id": "BIGINT", "customer_id": "BIGINT", "price": "DOUBLE", "day": "DATE"},
        [(i, who, float(i % 90), DAY + dt.timedelta(days=i % 365)) for i, who in enumerate(orders())],
        ("id",),
    ),
    "lines": Table(
        {"order_id": "BIGINT", "amount": "BIGINT"}, [(i % (HEAVY + PEOPLE * 5), i % 10) for i in range(2000)]
    ),
    "nations": Table({"id": "BIGINT", "name": "VARCHAR"}, [(i, f"nation {i}") for i in range(NATIONS)], ("id",)),
    "numbers": Table({"n": "BIGINT"}, [(i,) for i in range(2000)], ("n",)),
}


@dataclass(frozen=True)
class Shop:
    """One engine: what to hand to `connect`."""

    name: str
    source: object

    @contextmanager
    def connected(self, folder, **limits):
        """A database under limits."""
        written = ", ".join(f"{name}: {value}" for name, value in limits.items())
        (folder / "shop.yaml").write_text(CATALOG.replace("{limits}", f"{{{written}}}"), encoding="utf-8")
        built = hr.connect(self.source, catalog=folder / "shop.yaml", ledger=folder / f"{len(written)}.ledger")
        try:
            yield built
        finally:
            session_of(built).ledger.close()
            if self.name not in RUNNING:
                built.close()


@contextmanager
def chdb_with(tables):
    """A session in a database of its own: all sessions of a process share one engine."""
    from chdb import session  # noqa: PLC0415 - it may be missing

    with session.Session() as built:
        built.query("CREATE DATABASE limited")
        built.query("USE limited")
        for name, table in tables.items():
            clickhouse.create(built, name, table)
        yield built
        built.query("USE default")
        built.query("DROP DATABASE limited")


@contextmanager
def opened(name):
    """The source of an engine that holds the tables."""
    if name == "clickhouse":
        with chdb_with(TABLES) as session:
            yield session
        return
    if name == "ibis_duckdb":
        with reference(TABLES) as connection:
            connection.execute("SET memory_limit = '100MB'")  # a connection handed in has the limit of its owner
            yield ibis_over(connection)
        return
    if name in (*SERVERS, "mariadb"):
        with importlib.import_module(f"..conformance.engines.{name}", __package__).opened(TABLES) as backend:
            yield backend._connection if name == "mariadb" else backend  # as Ibis has it: its schema is compared
        return
    with tempfile.TemporaryDirectory() as folder, folder_of(TABLES) as files:
        if name == "folder":
            yield Path(files)
        elif name == "frames":
            with reference(TABLES) as connection:
                yield {table: connection.sql(f"SELECT * FROM {table}").to_arrow_table() for table in TABLES}
        else:
            with duckdb.connect(f"{folder}/shop.duckdb") as connection:
                for table, built in TABLES.items():
                    key = f"PRIMARY KEY ({', '.join(built.primary)})" if built.primary else ""
                    shape = ", ".join(
                        [f"{column} {kind}" for column, kind in built.columns.items()] + [key] * bool(key)
                    )
                    connection.execute(f"CREATE TABLE {table} ({shape})")
                    connection.execute(f"INSERT INTO {table} SELECT * FROM '{files}/{table}.parquet'")
            yield Path(folder) / "shop.duckdb"


@pytest.fixture(scope="session")
def shops():
    """Engines by name, opened when they are first asked for."""
    with ExitStack() as stack:

        @cache
        def shop(name):
            if name in SERVERS:
                module = importlib.import_module(f"..conformance.engines.{name}", __package__)
                if module.why_not() is not None:
                    return module.why_not()
            return Shop(name, stack.enter_context(opened(name)))

        yield shop


@pytest.fixture(params=ENGINES)
def shop(request, shops):
    actual = shops(request.param)
    if isinstance(actual, str):
        pytest.skip(f"NOT TESTED on {request.param}: {actual}")
    return actual
