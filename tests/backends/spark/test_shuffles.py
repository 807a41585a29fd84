"""Rows of a session that is passed in are read once, and shuffled once by owner; not at all if they are in buckets."""

import re

import pytest

from hedgerow.backends.spark import Spark
from hedgerow.compile import program

from ...conformance.test_queries import NONCE, measured
from .conftest import configured
from .test_folders import BY_KEY, CATALOG, planned

MADE = (
    "CREATE TABLE {name} USING parquet {buckets} AS SELECT p.id AS person, CAST((line.id * p.id) % 4 AS INT) AS k, "
    "CAST((line.id * 37) % 101 AS DOUBLE) AS x FROM range(14) p, range(14) line WHERE line.id < p.id"
)
SHUFFLED = re.compile(r"Exchange hashpartitioning\((\w+)#")


@pytest.fixture(scope="module")
def session(owner):
    """A session with a table in buckets, and one without."""
    session = configured(owner.newSession(), {"spark.sql.shuffle.partitions": "4"})
    for name, buckets in {"loose": "", "bucketed": "CLUSTERED BY (person) INTO 3 BUCKETS"}.items():
        session.sql(MADE.format(name=name, buckets=buckets))
    yield session
    for name in ("loose", "bucketed"):
        session.sql(f"DROP TABLE {name}")


def test_rows_are_shuffled_by_owner_once_or_not_at_all(session, tmp_path):
    """The last shuffle has one row for each key and task; the integers do not depend on the others."""
    spark, results = Spark(session, handed_in=True), {}
    for table, shuffles in {"loose": ["o", "k0"], "bucketed": ["k0"]}.items():
        plan = planned(spark, tmp_path, 1, BY_KEY.replace("visits", table), CATALOG.replace("visits", table))
        [(physical,)] = session.sql(f"EXPLAIN {program(plan, spark.dialect, NONCE).first_pass.sql}").collect()
        assert sorted(SHUFFLED.findall(physical)) == sorted(shuffles), physical
        assert physical.count("Exchange") == len(shuffles), physical
        results[table] = measured(spark, plan)
    assert results["loose"] == results["bucketed"]
    assert any(results["loose"].values())
