"""A statement that runs is stopped from another thread; it stays charged, and says nothing of the data."""

import threading
import time

import duckdb
import pytest

import hedgerow as hr

CATALOG = """
dataset: d
budget: {epsilon: 10, delta: 1e-6}
defaults: {delta: 1e-8, min_frequency: 1}
tables:
  t: {unit: u, max_rows: 3, columns: {x: {lower: 0, upper: 1}}}
"""
ENDLESS = "SELECT COUNT(*) FROM t a WHERE a.x < (SELECT SUM(b.x * c.x) FROM t b, t c WHERE b.u = a.u AND c.u = b.u)"


@pytest.fixture
def world(tmp_path):
    """People with so many rows each that a question about pairs of them does not end soon."""
    (tmp_path / "c.yaml").write_text(CATALOG)
    with duckdb.connect(":memory:", config={"threads": "1"}) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 3 AS u, i * 1e-6 AS x FROM range(300000) r(i)")
        with hr.connect(connection, catalog=tmp_path / "c.yaml", ledger=tmp_path / "l.ledger") as built:
            yield built


def test_a_cancelled_statement_ends_in_an_error_that_says_nothing_and_stays_charged(world):
    actual = []

    def ask():
        with pytest.raises(hr.BackendError) as caught:
            world.sql(ENDLESS, epsilon=1)
        actual.append(caught.value)

    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        time.sleep(0.05)
        if world.budget.queries:
            world.cancel()
    thread.join()
    (error,) = actual
    assert error.code == "cancelled"
    assert error.receipt is not None
    assert world.budget.queries == 1


def test_nothing_runs_and_nothing_is_cancelled(world):
    world.cancel()
    assert world.sql("SELECT COUNT(*) FROM t", epsilon=1)
