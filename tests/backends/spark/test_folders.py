"""Files of a folder can be seen to change: the owners of many rows are found first, and then their rows are read."""

import os

import duckdb
import pytest

from hedgerow.accounting.budget import Budget
from hedgerow.backends.duckdb import DuckDB
from hedgerow.backends.spark.connect import open_spark
from hedgerow.catalog import load_catalog
from hedgerow.compile import program
from hedgerow.dialects.statement import Computed
from hedgerow.errors import BackendError
from hedgerow.plan.bind import bind
from hedgerow.privacy.price import price
from hedgerow.sql.parse import parse

from ...conformance.test_queries import NONCE, REMAINING, measured

CATALOG = """dataset: visits
budget: {epsilon: 10, delta: 1e-6}
tables:
  visits: {unit: person, max_rows: 5, columns: {x: {lower: 0, upper: 80}, k: {values: [0, 1, 2]}}}
"""
ROWS = (
    "SELECT p.range AS person, CAST((line.range * p.range) % 4 AS INTEGER) AS k, (line.range * 37) % 101 - 3.5 AS x "
    "FROM range(14) p, range(14) line WHERE line.range < p.range"
)
"""Person n has n rows, up to 13."""


@pytest.fixture(scope="module")
def visits(owner, tmp_path_factory):
    """A folder opened by Spark, and the same rows in DuckDB."""
    place = tmp_path_factory.mktemp("visits")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE visits AS {ROWS}")
        connection.execute(
            f"COPY (SELECT *, k AS part FROM visits) TO '{place}/visits' (FORMAT parquet, PARTITION_BY (part))"
        )
        spark = open_spark(f"spark://{place}")
        yield spark, DuckDB(connection, handed_in=True), place
        spark.close()


def planned(backend, folder, minimum):
    (folder / "catalog.yaml").write_text(CATALOG, encoding="utf-8")
    query = parse("SELECT k, COUNT(*) AS n, SUM(x) AS total FROM visits GROUP BY k").query
    logical = bind(query, load_catalog(folder / "catalog.yaml"), backend.schema())
    (plan,) = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=minimum).parts
    return plan


@pytest.mark.parametrize("minimum", [1, 2])
def test_owners_of_many_rows_weigh_the_same(visits, tmp_path, minimum):
    """With a minimum, the people of each key are counted as well."""
    spark, reference, _ = visits
    plan = planned(spark, tmp_path, minimum)
    steps = program(plan, spark.dialect, NONCE).first_pass.parts.steps
    assert [step for step in steps if step.computed is Computed.FIRST]
    assert measured(spark, plan) == measured(reference, planned(reference, tmp_path, minimum))


def test_a_file_that_changes_between_two_readings_is_refused(visits, tmp_path, monkeypatch):
    spark, _, place = visits
    steps = program(planned(spark, tmp_path, 1), spark.dialect, NONCE)
    fetched = spark._fetched
    changed = next(place.rglob("*.parquet"))

    def change_then_fetch(frame):
        os.utime(changed, ns=(0, changed.stat().st_mtime_ns + 1_000_000))
        return fetched(frame)

    monkeypatch.setattr(spark, "_fetched", change_then_fetch)
    with pytest.raises(BackendError) as refusal, spark.snapshot() as snapshot:
        snapshot.run(steps.first_pass)
    assert refusal.value.code == "schema-changed"
