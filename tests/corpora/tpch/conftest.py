"""TPC-H at scale 0.01, made by tpchgen-cli, in a DuckDB that enforces the keys of the benchmark."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import hedgerow as hr

HERE = Path(__file__).parent
KEYS = {
    "region": "r_regionkey",
    "nation": "n_nationkey",
    "part": "p_partkey",
    "supplier": "s_suppkey",
    "partsupp": "ps_partkey, ps_suppkey",
    "customer": "c_custkey",
    "orders": "o_orderkey",
    "lineitem": "l_orderkey, l_linenumber",
}


@pytest.fixture(scope="session")
def tpch(tmp_path_factory) -> Iterator[duckdb.DuckDBPyConnection]:
    """All eight tables."""
    folder = tmp_path_factory.mktemp("tpch")
    tool = shutil.which("tpchgen-cli") or str(Path(sys.executable).with_name("tpchgen-cli"))
    command = [tool, "parquet", "--scale-factor", "0.01", "--output-dir", str(folder)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own arguments
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        for table, key in KEYS.items():
            connection.execute(f"CREATE TABLE {table} AS FROM read_parquet('{folder / table}.parquet')")
            connection.execute(f"ALTER TABLE {table} ADD PRIMARY KEY ({key})")
        yield connection
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def databases(tpch, tmp_path_factory) -> Iterator[dict[str, hr.Database]]:
    """The same rows, once with private customers and once with private suppliers."""
    folder = tmp_path_factory.mktemp("ledgers")
    opened = {
        protected: hr.connect(tpch, catalog=HERE / f"{protected}.yaml", ledger=folder / f"{protected}.ledger")
        for protected in ("customer", "supplier")
    }
    yield opened
    for database in opened.values():
        database.close()
