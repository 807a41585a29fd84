"""Joins of very many rows are repartitioned, and give the same integers. DuckDB stands in: it ignores the hint."""

import pytest

from hedgerow.compile import query_text
from hedgerow.dialects.spark import SPARK
from hedgerow.plan import repartition
from hedgerow.plan.nodes import Repartitioned, inside, scans_of
from hedgerow.plan.repartition import repartitioned

from ..internals import plan_of, session_of
from .test_person import exact

TWO = "SELECT COUNT(*) AS c FROM numbers AS a JOIN numbers AS b"
THREE = f"{TWO} ON a.n < b.n JOIN numbers AS c ON b.n < c.n"
MANY = "SELECT COUNT(*) AS c FROM " + ", ".join(f"nations AS n{i}" for i in range(7))
PUBLIC = [
    "SELECT COUNT(*) AS c, SUM(a.id * b.id + d.id) AS s FROM nations a, nations b, nations d WHERE a.id < b.id",
    "SELECT a.id, b.name, COUNT(*) AS c FROM nations a JOIN nations b ON a.id < b.id, nations d GROUP BY 1, 2",
    """SELECT a.id, COUNT(b.id) AS c FROM nations AS a LEFT JOIN nations AS b ON a.id < b.id
    LEFT JOIN nations AS d ON d.id = b.id AND d.name <> a.name GROUP BY a.id""",
    """SELECT a.name FROM nations AS a, nations AS b
    WHERE EXISTS (SELECT 1 FROM nations AS c, nations AS d WHERE c.id + d.id = a.id * b.id) ORDER BY 1""",
    """WITH p AS (SELECT a.id AS x, b.id AS y FROM nations AS a, nations AS b)
    SELECT q.x, COUNT(*) AS c FROM p AS q JOIN p AS r ON q.y < r.x JOIN nations AS n ON n.id = q.x GROUP BY q.x""",
    """SELECT g.k, n.id, g.c FROM (SELECT id % 3 AS k, COUNT(*) AS c FROM nations GROUP BY 1) AS g, nations AS n,
    (VALUES (1), (2)) AS v(w) WHERE n.id > g.c - v.w""",
    "SELECT a.id AS c FROM nations AS a FULL JOIN nations AS b ON a.id = b.id + 3, nations AS d WHERE d.id < 3",
]
PRIVATE = [
    "SELECT COUNT(*) AS c FROM orders, nations AS a, nations AS b WHERE a.id + b.id > price",
    "SELECT SUM(o.price) AS c FROM orders AS o JOIN orders AS p ON o.customer_id = p.customer_id, nations AS n",
    "SELECT COUNT(*) AS c FROM lines, nations AS n WHERE n.id > amount",
    """SELECT COUNT(*) AS c FROM customers AS c JOIN orders AS o ON c.id = o.customer_id
    LEFT JOIN nations AS n ON n.id > c.age""",
    "SELECT COUNT(*) AS c FROM customers WHERE EXISTS (SELECT 1 FROM nations a, nations b WHERE a.id * b.id = age)",
]


@pytest.fixture
def db(shops, tmp_path):
    with shops("duckdb").connected(tmp_path) as built:
        yield built


@pytest.fixture
def everywhere(monkeypatch):
    """Every join is long, and the engine wants long joins repartitioned."""
    monkeypatch.setattr(repartition, "MET", 1)
    monkeypatch.setattr(repartition, "LONG", 1)

    def switched(db):
        monkeypatch.setattr(type(session_of(db).backend.dialect), "repartitions", True)
        session_of(db).plans.clear()
        return db

    return switched


def planned(db, text):
    session = session_of(db)
    return repartitioned(plan_of(db, text), session.catalog, session.schema, session._multiplicity)


def rows(answer):
    return sorted(zip(*(answer[name] for name in answer.columns), strict=True), key=str)


def texts(plan):
    return query_text(plan.root, SPARK.at("spark_catalog", "default"))


def test_a_long_join_is_repartitioned_before_it_and_a_short_one_is_not(db):
    assert texts(planned(db, THREE)).count("REPARTITION") == 3
    assert "REPARTITION" not in texts(
        planned(db, "SELECT COUNT(*) AS c FROM numbers AS a JOIN numbers AS b ON a.n < b.n")
    )
    assert "REPARTITION" not in texts(planned(db, f"{TWO} USING (n)"))


def test_small_tables_are_joined_first_until_their_rows_are_many_enough_to_stop_between(db):
    actual = [node for node in inside(planned(db, MANY)) if isinstance(node, Repartitioned)]
    assert sorted(len(scans_of(node)) for node in actual) == [1, 1, 1, 4]


def test_each_row_of_a_person_that_meets_many_public_rows_is_repartitioned(db):
    (release,) = planned(db, "SELECT COUNT(*) AS c FROM orders, numbers AS a, numbers AS b").releases
    assert sum(isinstance(node, Repartitioned) for node in inside(release)) == 3
    (release,) = planned(db, "SELECT COUNT(*) AS c FROM orders, nations AS a").releases
    assert not any(isinstance(node, Repartitioned) for node in inside(release))


@pytest.mark.parametrize("text", PUBLIC)
def test_public_answers_are_the_same(db, everywhere, text):
    plain = rows(db.sql(text))
    everywhere(db)
    assert any(isinstance(node, Repartitioned) for node in inside(plan_of(db, text)))
    assert rows(db.sql(text)) == plain


@pytest.mark.parametrize("text", PRIVATE)
def test_the_exact_sums_of_people_are_the_same(db, everywhere, text):
    plain = exact(db, text)
    everywhere(db)
    assert any(isinstance(node, Repartitioned) for node in inside(plan_of(db, text)))
    assert exact(db, text) == plain
