"""The ten queries of Matsumoto et al. (2026, Table 2), the data they are asked of, and the catalog with its bounds.

The data is TPC-H by tpchgen-cli with two changes that Matsumoto et al. (2026) make too: `l_discount` is reordered so
that its correlation with `l_extendedprice` is 0.3, and every bound is the true extreme, for all systems alike. Table 2
describes the queries in words; where the words leave something open, what was chosen is said here.
"""

import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import tpch_data

DELTA = 1e-7
CORRELATION = 0.3
SEGMENT = "BUILDING"
"""Table 2 leaves the predicate of JOIN open; a market segment keeps a fifth of the orders."""


@dataclass(frozen=True)
class Query:
    """A query, how many numbers it returns, and the text a plain engine would need to reach the person as well."""

    name: str
    text: str
    keyed: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    joined: str | None = None


JOINED = "customer JOIN orders ON c_custkey = o_custkey"
QUERIES = (
    Query("COUNT", "SELECT COUNT(*) FROM customer"),
    Query("COUNT_DISTINCT", "SELECT COUNT(DISTINCT c_nationkey) FROM customer"),
    Query("SUM", "SELECT SUM(c_acctbal) FROM customer"),
    Query("AVG", "SELECT AVG(c_acctbal) FROM customer"),
    Query("VAR", "SELECT VAR_SAMP(c_acctbal) FROM customer"),
    Query("STDDEV", "SELECT STDDEV_SAMP(c_acctbal) FROM customer"),
    Query(
        "COVAR",
        "SELECT COVAR_SAMP(l_extendedprice, l_discount) FROM lineitem",
        joined="SELECT COVAR_SAMP(l_extendedprice, l_discount) FROM lineitem JOIN orders ON l_orderkey = o_orderkey "
        "WHERE o_custkey IS NOT NULL",
    ),
    Query("JOIN", f"SELECT AVG(o_totalprice) FROM {JOINED} WHERE c_mktsegment = '{SEGMENT}'"),
    Query(
        "GROUPBY",
        "SELECT o_orderstatus, AVG(o_totalprice) FROM orders GROUP BY o_orderstatus",
        keyed=True,
        options={"max_groups": 3},
    ),
    Query(
        "GROUPBY_JOIN",
        f"SELECT c_mktsegment, AVG(o_totalprice) FROM {JOINED} GROUP BY c_mktsegment",
        keyed=True,
    ),
)


@dataclass(frozen=True)
class Facts:
    """The true extremes, which every system is given as its bounds, and the sizes of groups."""

    acctbal: tuple[float, float]
    totalprice: tuple[float, float]
    extendedprice: tuple[float, float]
    discount: tuple[float, float]
    orders_each: int
    lines_each: int
    statuses_each: int
    sizes: dict[str, int]


def database(scale: float) -> Path:
    """The DuckDB file, made from the benchmark's TPC-H data if it is not there."""
    path = tpch_data.CACHE / f"sf{scale:g}-correlated.duckdb"
    if not path.exists():
        _make(tpch_data.database(scale), path)
    return path


def _make(source: Path, path: Path) -> None:
    """Copy the columns that the queries read; discounts are dealt out again by the rank of a noisy price.

    A discount goes to the row whose rank, by price and noise, is the discount's own rank. The noise is a hash of the
    row's key, so that everybody gets the same data; its share is searched for.
    """
    print(f"reordering l_discount to a correlation of {CORRELATION} …", file=sys.stderr)
    unfinished = path.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{source}' AS plain (READ_ONLY)")
        connection.execute(f"ATTACH '{unfinished}' AS made")
        _reorder(connection)
        connection.execute("CREATE TABLE made.lineitem AS FROM reordered")
        for table in ("customer", "orders"):
            connection.execute(f"CREATE TABLE made.{table} AS SELECT {COLUMNS[table]} FROM plain.{table}")
        connection.execute("ALTER TABLE made.customer ADD PRIMARY KEY (c_custkey)")
        connection.execute("ALTER TABLE made.customer ALTER c_acctbal SET NOT NULL")
    unfinished.rename(path)


def _reorder(connection: duckdb.DuckDBPyConnection) -> None:
    low, high = 0.0, 1.0
    for _ in range(12):
        share = (low + high) / 2
        connection.execute(_reordered(share))
        correlation = connection.execute("SELECT CORR(l_extendedprice, l_discount) FROM reordered").fetchall()[0][0]
        low, high = (share, high) if correlation < CORRELATION else (low, share)
        if abs(correlation - CORRELATION) < 1e-3:
            return


COLUMNS = {
    "customer": "c_custkey, c_nationkey, c_acctbal, c_mktsegment",
    "orders": "o_orderkey, o_custkey, o_orderstatus, o_totalprice",
    "lineitem": "l_orderkey, l_linenumber, l_extendedprice, l_discount",
}


def _reordered(share: float) -> str:
    noise = "(hash(l_orderkey * 8 + l_linenumber) % 1000003) / 1000003.0"
    return f"""
        CREATE OR REPLACE TEMP TABLE reordered AS
        WITH placed AS (
            SELECT {COLUMNS["lineitem"]}, rowid AS place,
                ROW_NUMBER() OVER (ORDER BY l_discount, rowid) AS discount_rank,
                ROW_NUMBER() OVER (
                    ORDER BY {share} * l_extendedprice / 104949.5 + {1 - share} * {noise}, rowid
                ) AS score_rank
            FROM plain.lineitem
        )
        SELECT a.l_orderkey, a.l_linenumber, a.l_extendedprice, b.l_discount
        FROM placed AS a JOIN placed AS b ON a.score_rank = b.discount_rank ORDER BY a.place"""


def sizes(scale: float) -> dict[str, int]:
    """Public figures that no table of this scale exceeds, by the definition of TPC-H, with room to spare."""
    rows = {"customer": 150_000, "orders": 1_500_000, "lineitem": 6_500_000}
    return {table: math.ceil(4 * scale * number) for table, number in rows.items()}


def facts(path: Path, scale: float) -> Facts:
    """The true extremes of the data."""
    with duckdb.connect(str(path), read_only=True) as connection:

        def ends(column: str, table: str) -> tuple[float, float]:
            low, high = connection.execute(f"SELECT MIN({column}), MAX({column}) FROM {table}").fetchall()[0]
            return float(low), float(high)

        def most(counted: str, table: str) -> int:
            text = f"SELECT MAX(n) FROM (SELECT {counted} AS n FROM {table} GROUP BY o_custkey)"
            return int(connection.execute(text).fetchall()[0][0])

        return Facts(
            ends("c_acctbal", "customer"),
            ends("o_totalprice", "orders"),
            ends("l_extendedprice", "lineitem"),
            ends("l_discount", "lineitem"),
            most("COUNT(*)", "orders"),
            most("COUNT(*)", "lineitem JOIN orders ON l_orderkey = o_orderkey"),
            most("COUNT(DISTINCT o_orderstatus)", "orders"),
            sizes(scale),
        )


CATALOG = """\
dataset: tpch
budget: {budget}
defaults: {{delta: {delta:g}, min_frequency: 1}}
tables:
  customer:
    unit: c_custkey
    unit_unique: true
    size: {facts.sizes[customer]}
    columns:
      c_acctbal: {acctbal}
  orders:
    unit: o_custkey
    max_rows: {facts.orders_each}
    size: {facts.sizes[orders]}
    columns:
      o_totalprice: {totalprice}
  lineitem:
    unit: {{through: orders, on: {{l_orderkey: o_orderkey}}}}
    max_rows: {facts.lines_each}
    size: {facts.sizes[lineitem]}
    columns:
      l_extendedprice: {extendedprice}
      l_discount: {discount}
"""


def catalog(table_facts: Facts, budget: str) -> str:
    """The catalog, with the budget as it stands in YAML."""
    columns = ("acctbal", "totalprice", "extendedprice", "discount")
    ranges = {name: "{{lower: {!r}, upper: {!r}}}".format(*getattr(table_facts, name)) for name in columns}
    return CATALOG.format(budget=budget, delta=DELTA, facts=table_facts, **ranges)


FEW = "few"
MANY = "many"


def few_budget(epsilon: float, statements: int) -> str:
    """A budget for `statements` of this epsilon, with room for both kinds of noise.

    Half of epsilon is kept for Laplace noise, and as many statements with Gaussian noise fit. A hundredth more is there
    so that rounding up never refuses the last one.
    """
    room = statements * 1.01
    return f"{{epsilon: {2 * epsilon * room!r}, delta: {2 * DELTA * room!r}, pure_epsilon: {epsilon * room!r}}}"


def many_budget() -> str:
    """A budget for many statements that keeps nothing for Laplace noise, which no benchmark exhausts."""
    return "{epsilon: 100000, delta: 1e-3, pure_epsilon: 0}"
