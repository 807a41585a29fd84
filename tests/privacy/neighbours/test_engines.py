"""One owner more moves the integers within what was paid for, on every engine that keeps facts, with them and without.

The rows are in two tables, of which the second has the rows of one more person. Some people are beyond the limits, and
so is one of the newcomers. Statements run as they do for an answer: `run_cheapest` computes and uses the facts.
"""

from contextlib import contextmanager
from dataclasses import replace

import duckdb
import pandas as pd
import pytest

import hedgerow as hr
from hedgerow.backends import facts as facts_module
from hedgerow.compile import program
from hedgerow.compiled import KEY_INDEX, SELECTED
from hedgerow.execution.run import keeps_facts, run_cheapest

from ...backends.test_facts import insert, on_clickhouse, on_postgres, on_sqlite, server  # noqa: F401 - a fixture
from ...conformance.engines.spark import why_not
from ...internals import price_of, session_of
from .conftest import NONCE, Measured, _as_table, _keys, _units, _vectors

TABLE = "{unit: person, max_rows: 3, columns: {price: {lower: 0, upper: 9}}}"
CATALOG = f"""\
dataset: shop
budget: {{epsilon: 1000, delta: 1e-3}}
defaults: {{epsilon: 1, delta: 1e-7, min_frequency: 2}}
tables: {{orders: {TABLE}, more: {TABLE}}}
"""
QUESTIONS = (
    "SELECT SUM(price) AS s, COUNT(DISTINCT person) AS n FROM {}",
    "SELECT status, AVG(price) AS a, COUNT(DISTINCT person) AS n FROM {} GROUP BY status",
    "SELECT status, SUM(price) AS s FROM {} WHERE price > 2 GROUP BY status",
)
NEWCOMERS = {
    "few rows": [(1000, "x", 4.0), (1000, "y", 9.0)],
    "many rows": [(1000, "wxyz"[i % 4], 9.0) for i in range(20)],
}
CROWD = [(i // 3, "xy"[i % 2], float(i % 9)) for i in range(60)]
CROWD += [(50, "wxyz"[i % 4], 7.0) for i in range(12)] + [(51, "x", 9.0)] * 8
"""Twenty people with three rows each, and two who are beyond the limit."""


@contextmanager
def on_frames(_):
    frames = {}
    yield frames.__setitem__, frames


@contextmanager
def on_spark(folder):
    if why_not() is not None:
        pytest.skip(f"NOT TESTED: {why_not()}")
    (folder / "rows").mkdir()

    def write(name, frame):
        duckdb.from_df(frame).write_parquet(str(folder / "rows" / f"{name}.parquet"))

    yield write, f"spark://{folder}/rows?cores=2"


@contextmanager
def in_sql(engine, where):
    """The two tables in a database; `orders` is there already."""
    with engine(where) as (shop, source):

        def write(name, frame):
            rows = insert(list(frame.itertuples(index=False, name=None)))
            if name == "more":
                create = "CREATE TABLE more AS SELECT * FROM orders WHERE 1 = 0"
                clickhouse = "CREATE TABLE more AS orders ENGINE = MergeTree ORDER BY tuple()"
                shop.execute(clickhouse if engine is on_clickhouse else create)
            shop.execute(rows.replace("INTO orders", f"INTO {name}"))

        yield write, source


@contextmanager
def opened(name, folder, started, newcomer):
    """The database of one engine, with both tables."""
    (folder / "shop.yaml").write_text(CATALOG)
    own = {"frames": on_frames, "spark": on_spark}
    in_server = {"sqlite": on_sqlite, "clickhouse": on_clickhouse, "postgres": on_postgres}
    where = started if name == "postgres" else folder
    with own[name](where) if name in own else in_sql(in_server[name], where) as (write, source):
        for table, rows in (("orders", CROWD), ("more", CROWD + newcomer)):
            write(table, pd.DataFrame(rows, columns=["person", "status", "price"]))
        with hr.connect(source, catalog=folder / "shop.yaml") as db:
            yield db


def measured(db, question, selected, *, facts):
    """The integers of a question as the neighbour tests compare them; its plan, and the number of forms with facts."""
    backend = session_of(db).backend
    statement = price_of(db, question, mechanism="gaussian")[1]
    [plan] = statement.parts
    steps = program(replace(plan, minimum=1), backend.dialect, NONCE, shortcuts=keeps_facts(backend, plan.release))
    known = []
    with backend.snapshot() as snapshot:
        run_known = snapshot.run_known
        snapshot.run_known = lambda query, state: known.append(query) or run_known(query, state)

        def run(query):
            return run_cheapest(query, snapshot) if facts else snapshot.run(query)

        first = run(steps.first_pass)
        units = dict(zip(_keys(first), _units(first), strict=True))
        if steps.measure is None:
            return Measured(units, *_vectors(first, _keys(first), plan, None)), plan, len(known)
        snapshot.load(SELECTED, _as_table(selected, first))
        exact = run(steps.measure)
        places = [selected[place] for place in exact.exact_integers(KEY_INDEX).tolist()]
        return Measured(units, *_vectors(exact, places, plan, None)), plan, len(known)


# Spark takes seconds to plan each statement.
ENGINES = ("sqlite", "frames", "clickhouse", "postgres", "spark")
CASES = [
    pytest.param(engine, newcomer, marks=[pytest.mark.slow] if engine == "spark" else [])
    for engine in ENGINES
    for newcomer in NEWCOMERS
]


@pytest.mark.parametrize(("name", "newcomer"), CASES)
def test_one_owner_more_stays_within_the_charge(name, newcomer, tmp_path, server, monkeypatch, paid):  # noqa: F811
    monkeypatch.setattr(facts_module, "SETTLED_NS", 0)
    with opened(name, tmp_path, server, NEWCOMERS[newcomer]) as db:
        for question in QUESTIONS[1:] if name == "spark" else QUESTIONS:
            selected = [("x",), ("y",), ("z",)] if "GROUP BY" in question else [()]
            results = {}
            for facts in (False, True, True):
                before, plan, _ = measured(db, question.format("orders"), selected, facts=facts)
                after, _, relied = measured(db, question.format("more"), selected, facts=facts)
                results[facts] = change = after - before
                spent, charged = paid(change, plan)
                assert 0 < spent <= charged, (question, facts)
                assert sum(change.units.values()) <= plan.bounding.groups
            assert relied, question
            assert results[True] == results[False], question
