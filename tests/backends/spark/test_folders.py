"""Files of a folder can be seen to change, so rows may be read twice, and facts about them are kept until then."""

import os
from datetime import date

import deltalake
import duckdb
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

import hedgerow as hr
from hedgerow.accounting.budget import Budget
from hedgerow.backends import facts as facts_module
from hedgerow.backends.duckdb import DuckDB
from hedgerow.backends.spark.connect import open_spark
from hedgerow.catalog import load_catalog
from hedgerow.compile import program
from hedgerow.dialects.statement import Computed
from hedgerow.errors import BackendError
from hedgerow.execution.prepare import prepare, usual_statements
from hedgerow.execution.run import run_cheapest
from hedgerow.expressions.types import Type
from hedgerow.plan.bind import bind
from hedgerow.privacy.price import price
from hedgerow.sql.parse import parse

from ...conformance.test_queries import NONCE, REMAINING, measured
from ...internals import session_of
from ...privacy.neighbours.forms import allowed_forms, integers
from .conftest import counted

CATALOG = """dataset: visits
budget: {epsilon: 10, delta: 1e-6}
tables:
  visits: {unit: person, max_rows: 5, columns: {x: {lower: 0, upper: 80}, k: {values: [0, 1, 2]}}}
"""
BY_KEY = "SELECT k, COUNT(*) AS n, SUM(x) AS total FROM visits GROUP BY k"
FILTERED = "SELECT k, COUNT(DISTINCT person) AS people, SUM(x) AS total FROM visits WHERE x > 9 GROUP BY k"
WHOLE = "SELECT COUNT(*) AS n, AVG(x) AS mean FROM visits"
NAMED = CATALOG.replace("unit: person", "unit: name")
ROWS = (
    "SELECT p.range AS person, 'p' || p.range AS name, CAST((line.range * p.range) % 4 AS INTEGER) AS k, "
    "(line.range * 37) % 101 - 3.5 AS x "
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


def test_a_folder_of_delta_or_iceberg_has_the_rows_of_its_newest_version(owner, tmp_path):
    table = pa.table(
        {"id": range(9), "day": [date(2026, 1, 1 + n % 3) for n in range(9)], "ward": ["a b", None, "c"] * 3}
    )
    deltalake.write_deltalake(str(tmp_path / "delta"), table, partition_by=["day", "ward"])
    deltalake.DeltaTable(str(tmp_path / "delta")).delete("id < 3")
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/lake.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("lake")
    iceberg = catalog.create_table("lake.iceberg", schema=table.schema, location=f"file://{tmp_path}/iceberg")
    iceberg.append(table)
    iceberg.delete("id < 3")
    catalog.close()
    spark = open_spark(f"spark://{tmp_path}")
    try:
        days = spark.schema().tables["delta"].columns["day"].type, spark.schema().tables["iceberg"].columns["day"].type
        assert days == (Type.DATE, Type.DATE)
        for name in ("delta", "iceberg"):
            assert counted(spark, f"SELECT COUNT(*) AS n FROM {name} WHERE day > DATE '2026-01-01'") == [4]
            assert counted(spark, f"SELECT COUNT(*) AS n FROM {name} WHERE ward IS NULL") == [2]
        assert spark.keeps_facts({"delta", "iceberg"})
        assert len(spark.all_files()) > 1
    finally:
        spark.close()


def planned(backend, folder, minimum, text=BY_KEY, catalog=CATALOG):
    (folder / "catalog.yaml").write_text(catalog, encoding="utf-8")
    query = parse(text).query
    logical = bind(query, load_catalog(folder / "catalog.yaml"), backend.schema())
    (plan,) = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=minimum).parts
    return plan


@pytest.mark.parametrize("minimum", [pytest.param(1, marks=pytest.mark.slow), 2])
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


@pytest.mark.parametrize(
    ("text", "minimum", "catalog"),
    [
        (BY_KEY, 2, CATALOG),
        *(pytest.param(BY_KEY, 1, text, marks=pytest.mark.slow) for text in (NAMED, CATALOG.replace("5", "50"))),
        *(pytest.param(FILTERED, n, text, marks=pytest.mark.slow) for n in (1, 2) for text in (CATALOG, NAMED)),
        *(pytest.param(WHOLE, n, text, marks=pytest.mark.slow) for n in (1, 2) for text in (CATALOG, NAMED)),
    ],
)
def test_known_facts_change_no_integer(visits, tmp_path, text, minimum, catalog):
    """Nine of the people are beyond the limit, or nobody; two more are treated as if they were."""
    spark, _, _ = visits
    steps = program(planned(spark, tmp_path, minimum, text, catalog), spark.dialect, NONCE, shortcuts=True)
    others = ["p1", "p3"] if catalog == NAMED else [1, 3]
    with spark.snapshot() as snapshot:
        forms = allowed_forms(steps.first_pass, snapshot.read, snapshot.load, others)
        results = {name: integers(snapshot.run(form)) for name, form in forms.items()}
    assert "apart" in forms
    assert results == dict.fromkeys(forms, results["ordinary"])
    assert any(results["ordinary"])


def test_a_fact_is_kept_until_a_file_changes(visits, tmp_path, monkeypatch):
    spark, _, place = visits
    query = program(planned(spark, tmp_path, 1), spark.dialect, NONCE, shortcuts=True).first_pass
    fetched = []
    fetch = spark._fetched
    monkeypatch.setattr(spark, "_fetched", lambda frame: fetched.append(1) or fetch(frame))
    monkeypatch.setattr(facts_module, "SETTLED_NS", 0)

    def ask():
        fetched.clear()
        with spark.snapshot() as snapshot:
            return integers(run_cheapest(query, snapshot)), len(fetched)

    (expected, first), (again, second) = ask(), ask()
    assert (first, second) == (2, 1), "the fact and the statement, and then the statement alone"
    changed = next(place.rglob("*.parquet"))
    os.utime(changed, ns=(0, changed.stat().st_mtime_ns + 1_000_000))
    assert ask() == (expected, 2)
    assert again == expected
    monkeypatch.setattr(facts_module, "SETTLED_NS", 10**18)
    assert spark.state(["visits"]) is None


def test_a_table_that_is_no_file_has_no_facts(visits):
    """A session that is passed in has no files (`pair`), and a view of another name is none of them."""
    spark, _, _ = visits
    assert spark.keeps_facts({"visits"})
    assert not spark.keeps_facts({"visits", "another"})
    assert spark.state({"another"}) is None


@pytest.mark.slow
def test_the_owner_prepares_facts_beside_the_files(visits, tmp_path, monkeypatch):
    _, _, place = visits
    with_price = CATALOG.replace("tables:", "defaults: {epsilon: 1, delta: 1e-7}\ntables:", 1)
    (tmp_path / "visits.yaml").write_text(with_price, encoding="utf-8")
    monkeypatch.setattr(facts_module, "SETTLED_NS", 0)
    with hr.connect(f"spark://{place}", catalog=tmp_path / "visits.yaml") as db:
        session = session_of(db)
        assert prepare(session, usual_statements(session)).statements == 2
    with hr.connect(f"spark://{place}", catalog=tmp_path / "visits.yaml") as db:
        spark = session_of(db).backend
        fetched, fetch = [], spark._fetched
        monkeypatch.setattr(spark, "_fetched", lambda frame: fetched.append(1) or fetch(frame))
        with spark.snapshot() as snapshot:
            query = program(planned(spark, tmp_path, 1), spark.dialect, NONCE, shortcuts=True).first_pass
            run_cheapest(query, snapshot)
        assert len(fetched) == 1, "the statement alone"
