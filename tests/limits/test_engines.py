"""On every engine a statement that takes too long, needs too much or has too many rows ends, and the next one runs."""

import threading

import pytest

import hedgerow as hr

from .conftest import ENGINES

ENDLESS = " CROSS JOIN ".join(f"numbers AS n{i}" for i in range(4)), "n0.n + n1.n + n2.n + n3.n"
FOR_EACH = " CROSS JOIN ".join(f"numbers AS n{i}" for i in range(3)), "n0.n + n1.n + n2.n"
FOR_EACH_LINE = "numbers AS n0 CROSS JOIN numbers AS n1", "n0.n + n1.n"
"""For Spark, which stops between two rows of a person: four million rows for each of two thousand."""

SECONDS = {"spark": 6}
"""Spark takes seconds to count a table."""

UNLIMITED = {
    "ibis_duckdb": "the memory of a connection that is handed in is its owner's",
    "spark": "the memory is that of the Spark that runs",
    "sqlite": "it sorts in temporary files, and only time limits them",
}
SLOW = {"postgres": "it takes a minute to write as much as it may"}


def test_a_public_statement_stops_when_its_time_is_over_and_the_next_one_is_answered(shop, tmp_path):
    """On Spark several at once: a task that went on would keep one of its two cores from the next statement."""
    tables, value = ENDLESS
    codes = []

    def ask():
        with pytest.raises(hr.BackendError) as caught:
            db.sql(f"SELECT COUNT(*) AS c FROM {tables} WHERE {value} = -1")
        codes.append((caught.value.code, caught.value.receipt))

    with shop.connected(tmp_path, seconds=SECONDS.get(shop.name, 1), joined_rows=10**18) as db:
        asking = [threading.Thread(target=ask) for _ in range(2 if shop.name == "spark" else 1)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        assert codes == [("timed-out", None)] * len(asking)
        assert db.sql("SELECT COUNT(*) AS c FROM nations")["c"][0] == 25


def test_a_private_statement_stops_when_its_time_is_over_and_says_that_it_was_charged(shop, tmp_path):
    people, (tables, value) = ("lines", FOR_EACH_LINE) if shop.name == "spark" else ("customers", FOR_EACH)
    own = {"lines": "amount", "customers": "age"}[people]
    query = f"SELECT COUNT(*) AS c FROM {people} CROSS JOIN {tables} WHERE {value} + {own} = -1"
    room = {"memory": "100TB", "joined_rows": 10**18, "rows_per_person": 10**18}
    with shop.connected(tmp_path, seconds=SECONDS.get(shop.name, 1), **room) as db:
        with pytest.raises(hr.BackendError) as caught:
            db.sql(query, max_rows=1)
        assert caught.value.code == "timed-out"
        assert caught.value.receipt is not None
    with shop.connected(tmp_path) as db:
        assert len(db.sql("SELECT COUNT(*) AS c FROM customers")) == 1


@pytest.mark.parametrize(
    "shop",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in ENGINES if name not in UNLIMITED],
    indirect=True,
)
def test_a_statement_that_needs_more_memory_than_there_may_be_is_stopped(shop, tmp_path):
    crossed = "numbers AS a CROSS JOIN numbers AS b CROSS JOIN nations AS c"
    value = "(a.n * 2000 + b.n) * 25 + c.id"
    query = f"SELECT COUNT(*) AS c FROM (SELECT DISTINCT {value} AS v FROM {crossed}) AS t"
    with shop.connected(tmp_path, memory="64MB") as db:
        with pytest.raises(hr.BackendError) as caught:
            db.sql(query)
        assert caught.value.code == "out-of-memory"
    with shop.connected(tmp_path) as db:
        assert db.sql("SELECT COUNT(*) AS c FROM nations")["c"][0] == 25


@pytest.mark.parametrize("shop", [name for name in ENGINES if name != "spark"], indirect=True)
def test_a_result_that_takes_more_than_its_share_of_the_memory_is_stopped(shop, tmp_path):
    """A million rows of four numbers; Spark itself limits what its driver collects."""
    query = "SELECT a.n AS a, b.n AS b, a.n * b.n AS c, a.n + b.n AS d FROM numbers AS a CROSS JOIN numbers AS b"
    with shop.connected(tmp_path, memory="64MB") as db:
        with pytest.raises(hr.BackendError) as caught:
            db.sql(query)
        assert caught.value.code == "out-of-memory"
        assert db.sql("SELECT COUNT(*) AS c FROM nations")["c"][0] == 25


def test_a_public_result_has_no_more_rows_than_the_owner_allows(shop, tmp_path):
    query = "SELECT a.id AS a, b.id AS b FROM nations AS a CROSS JOIN nations AS b"
    with shop.connected(tmp_path, rows=600) as db:
        with pytest.raises(hr.UnsupportedSQLError) as caught:
            db.sql(query)
        assert caught.value.code == "too-many-rows"
        assert "600" in caught.value.message
        assert len(db.sql(f"{query} ORDER BY 1, 2 LIMIT 600")) == 600
