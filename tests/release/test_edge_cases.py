"""Faults that an attacker found, each as small as it can be made."""

import math
import sqlite3
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from hedgerow.accounting import Basic, SpreadRangeEvent, gaussian_epsilon
from hedgerow.accounting.budget import Budget, RemainingBudget
from hedgerow.backends.duckdb import DuckDB
from hedgerow.catalog.model import BudgetPolicy, Catalog, DeclaredColumn, DeclaredTable
from hedgerow.compile import program
from hedgerow.compiled import BUCKET, KEY_INDEX, SELECTED, WEIGHT
from hedgerow.dialects import DUCKDB
from hedgerow.plan.bind import bind
from hedgerow.privacy.price import price
from hedgerow.sql.parse import parse

pytestmark = pytest.mark.hostile

NONCE = "00112233445566778899aabbccddeeff"
REMAINING = RemainingBudget(
    gaussian_left=Fraction(10**6), pure_left=Fraction(10**6), fair_mass=lambda _: Fraction(1, 10**6)
)


@pytest.fixture
def bench():
    """A connection, and the priced release of a statement about its table `t`."""
    connection = duckdb.connect(config={"threads": 1})

    def plan(query, **table):
        schema = DuckDB(connection, handed_in=True).schema()
        catalog = Catalog("test", BudgetPolicy(1.0, 1e-6), {"t": DeclaredTable("t", unit="u", **table)})
        logical = bind(parse(query).query, catalog, schema)
        (actual,) = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=1).parts
        return actual

    yield connection, plan
    connection.close()


def buckets(connection, plan, keys=()):
    """The exact weight of every bucket of every group."""
    (query,) = program(plan, DUCKDB, NONCE).buckets
    with DuckDB(connection, handed_in=True).snapshot() as snapshot:
        if keys:
            snapshot.load(SELECTED, pa.table({"k0": list(keys), KEY_INDEX: np.arange(len(keys))}))
        actual = snapshot.run(query)
    columns = (actual.exact_integers(name).tolist() for name in (KEY_INDEX, BUCKET, WEIGHT))
    return {(place, bucket): weight for place, bucket, weight in zip(*columns, strict=True)}


@pytest.mark.parametrize("value", [2_000_000_000, -2_000_000_000, 2**31 - 1, -(2**31)])
def test_no_value_of_a_wide_range_makes_the_number_of_its_bucket_overflow(bench, value):
    connection, plan = bench
    connection.execute("CREATE TABLE t (u BIGINT, i INTEGER)")
    wide = plan("SELECT MEDIAN(i) FROM t", max_rows=1, columns={"i": DeclaredColumn("i", lower=-2e9, upper=2e9)})
    connection.execute("INSERT INTO t VALUES (1, ?)", [value])
    last = wide.bucketings[0].buckets.count - 1
    assert list(buckets(connection, wide)) == [(0, last if value > 0 else 0)]


def test_the_range_of_draws_in_many_groups_holds_an_owner_who_is_in_all_of_them(bench):
    """Weights within an l2 norm reach every group, so that their sum is more than the limit on rows."""
    connection, plan = bench
    connection.execute("CREATE TABLE t (u BIGINT, g BIGINT, x DOUBLE)")
    columns = {"x": DeclaredColumn("x", lower=0, upper=10)}
    median_plan = plan("SELECT g, MEDIAN(x) FROM t GROUP BY g", max_rows=1, columns=columns)
    connection.execute("INSERT INTO t SELECT 1, j, 5 FROM range(100) r(j)")
    weights = buckets(connection, median_plan, range(100))
    moved = Fraction(sum(weights.values()), median_plan.draws[0].reach.weight)
    events = [event for event in median_plan.charge.events if isinstance(event, SpreadRangeEvent)]
    assert len(weights) == 100
    assert moved > 9
    assert all(event.norm >= moved for event in events)


def test_draws_in_many_groups_are_totalled_as_the_gaussian_step_that_dominates_them():
    event = SpreadRangeEvent(Fraction(1, 5), Fraction(1), Fraction(1000))
    assert Basic([event]).epsilon(1e-6) == pytest.approx(gaussian_epsilon(math.sqrt(event.cost.gaussian), 1e-6))


PUBLIC = """
dim: {public: true}
t:
  unit: u
  unit_unique: true
"""
ALIKE = ["0.10000000000000000001", "0.10000000000000000002"]


def test_public_keys_that_are_one_number_as_doubles_do_not_release_their_rows_twice(build, ask):
    db = build(
        [
            "CREATE TABLE dim (k DECIMAL(38, 20) PRIMARY KEY)",
            f"INSERT INTO dim VALUES ({ALIKE[0]}), ({ALIKE[1]})",
            "CREATE TABLE t (u BIGINT PRIMARY KEY, k DECIMAL(38, 20))",
            f"INSERT INTO t SELECT j, CASE WHEN j < 300 THEN {ALIKE[0]} ELSE {ALIKE[1]} END FROM range(1000) r(j)",
        ],
        PUBLIC,
    )
    shown = ask(db, "SELECT d.k, COUNT(*) AS n FROM dim d LEFT JOIN t ON t.k = d.k GROUP BY d.k", epsilon=50)
    assert sorted(map(str, shown["k"])) == ALIKE
    assert sorted(round(n, -2) for n in shown["n"]) == [300, 700]


def test_the_order_in_which_groups_are_stored_does_not_tell_in_which_order_rows_came(build, ask):
    rows = "INSERT INTO t SELECT j, 'g' || (j % 5) FROM range(500) r(j) ORDER BY j {}"
    stored = []
    for direction in ("ASC", "DESC"):
        db = build(
            ["CREATE TABLE t (u BIGINT, g VARCHAR)", rows.format(direction)],
            "t: {unit: u, max_rows: 2}",
            handed_in=True,
        )
        kept = []
        db.sql("SELECT g, COUNT(*) FROM t GROUP BY g", epsilon=30)
        for payload in payloads(db):
            with pa.ipc.open_stream(payload[8:]) as stream:
                kept.append(stream.read_all().column("key_k0").to_pylist())
        stored.append(kept)
    assert stored[0] == stored[1] == [[f"g{i}" for i in range(5)]]


def payloads(db):
    """The releases in the ledger, as stored."""
    (path,) = db.place.glob("*.ledger")
    with sqlite3.connect(path) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        cells = [cell for name in tables for row in connection.execute(f"SELECT * FROM {name}") for cell in row]
    return [cell for cell in cells if isinstance(cell, bytes) and b"coordinate_0" in cell]


COLLATED = "CREATE TABLE t (u VARCHAR COLLATE NOCASE, g VARCHAR, x DOUBLE)"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g",
        "SELECT COUNT(DISTINCT g) AS n FROM t",
        "SELECT g, COUNT(DISTINCT x) AS n FROM t GROUP BY g",
    ],
)
def test_units_that_a_collation_compares_can_be_counted_next_to_other_texts(build, ask, query):
    rows = "INSERT INTO t SELECT 'Unit ' || j, 'g' || (j % 2), j % 3 FROM range(900) r(j)"
    db = build([COLLATED, rows], "t: {unit: u, max_rows: 4, max_groups: 1}")
    assert len(ask(db, query, epsilon=10)) >= 1


@pytest.mark.parametrize("groups", ["", "d"])
@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("statistic", ["RELATIVE_RISK", "ODDS_RATIO", "RISK_DIFFERENCE", "LIFT"])
def test_groups_that_noise_leaves_empty_have_no_risk_and_make_no_error(build, ask, statistic, mechanism, groups):
    table = "t: {unit: u, max_rows: 3, columns: {d: {values: [p, q, r, s, v, w]}}}"
    db = build("CREATE TABLE t (u BIGINT, d VARCHAR, b BOOLEAN, e BOOLEAN)", table, min_frequency=3)
    shown = f"{groups}, " if groups else ""
    grouped = f" GROUP BY {groups}" if groups else ""
    answer = ask(db, f"SELECT {shown}{statistic}(b, e) AS r FROM t{grouped}", mechanism=mechanism)
    assert set(answer["r"]) == {None}


def test_a_distinct_value_need_not_be_printable_to_count(build, ask):
    db = build(
        [
            "CREATE TABLE t (u BIGINT PRIMARY KEY, e DATE)",
            "INSERT INTO t SELECT j, DATE '10000-01-01' + j::INTEGER FROM range(500) r(j)",
        ],
        "t: {unit: u, unit_unique: true}",
    )
    answer = ask(db, "SELECT COUNT(DISTINCT e) AS n FROM t", epsilon=30)
    assert answer["n"][0] > 400


def test_a_count_of_groups_of_which_none_is_shown_is_not_surely_zero(build, ask):
    rows = "INSERT INTO t SELECT j, 'g' || (j % 50) FROM range(250) r(j)"
    db = build(["CREATE TABLE t (u BIGINT PRIMARY KEY, g VARCHAR)", rows], "t: {unit: u, unit_unique: true}")
    inner = "SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > 2"
    answer = ask(db, f"SELECT COUNT(*) AS groups FROM ({inner})", epsilon=0.1, delta=1e-12)
    bar = answer.intervals[0]["groups"]
    assert answer["groups"] == [0]
    assert bar.upper == math.inf
