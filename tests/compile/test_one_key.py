"""No pairs of person and key are made if the database enforces that all rows of a person have the same keys."""

import random
import sqlite3
from dataclasses import replace

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.compile import program
from hedgerow.compiled import KEY_INDEX, SELECTED
from hedgerow.execution.request import resolve_request
from hedgerow.plan.bind import bind
from hedgerow.sql.parse import parse

from ..internals import session_of

pytestmark = pytest.mark.mutation

NONCE = "00112233445566778899aabbccddeeff"
LIMITS = ("max_rows: 3", "max_rows: 6, max_rows_per_group: 2, max_groups: 2", "max_rows: 100")
TABLES = """
  people: {{unit: id, unit_unique: true}}
  visits: {{unit: person, {limits}, columns: {{cost: {{lower: 0, upper: 10}}, kind: {{}}}}}}
  places: {{public: true}}
"""
TWO = "visits JOIN people ON visits.person = people.id"
THREE = f"{TWO} JOIN places ON people.place = places.code"
SHOWN = "COUNT(*) AS n, SUM(cost) AS s, COUNT(DISTINCT visits.person) AS c"
QUESTIONS = (
    f"SELECT place, {SHOWN} FROM {TWO} GROUP BY place",
    f"SELECT place, AVG(cost) FROM {TWO} WHERE cost > 2 GROUP BY place",
    f"SELECT place, SUM(cost) FROM {TWO} WHERE place > 0 GROUP BY place",
    f"SELECT region, {SHOWN} FROM {THREE} GROUP BY region",
    f"SELECT region, place, AVG(cost) FROM {THREE} GROUP BY region, place",
)


def statements():
    """Random visits of forty people, five of whom have up to twelve, and of two who are in no other table."""
    yield "CREATE TABLE people (id BIGINT PRIMARY KEY, place BIGINT)"
    yield "CREATE TABLE visits (person BIGINT, kind BIGINT, cost DOUBLE)"
    yield "CREATE TABLE places (code BIGINT PRIMARY KEY, region VARCHAR(9))"
    yield "INSERT INTO places VALUES (0, 'north'), (1, 'south'), (2, 'north'), (3, NULL)"
    homes = [(person, random.choice(["0", "1", "2", "3", "9", "NULL"])) for person in range(40)]
    yield f"INSERT INTO people VALUES {', '.join(f'({person}, {home})' for person, home in homes)}"
    visitors = [p for p in ["NULL", *range(42)] for _ in range(random.randint(0, 12 if p in range(5) else 3))]
    values = [f"({p}, {random.randint(0, 2)}, {random.choice(['1', '2.5', '99', 'NULL'])})" for p in visitors]
    yield f"INSERT INTO visits VALUES (0, 0, 1), {', '.join(values)}"


def duckdb_of(build, limits, _folder):
    return build(list(statements()), TABLES.format(limits=limits))


def sqlite_of(_build, limits, folder):
    path = folder / "people.sqlite"
    with sqlite3.connect(path) as connection:
        for text in statements():
            connection.execute(text)
    connection.close()
    return hr.connect(f"sqlite:///{path}", catalog=catalog_in(folder, limits))


def catalog_in(folder, limits):
    path = folder / "people.yaml"
    budget = "{epsilon: 1000, delta: 1e-3, pure_epsilon: 1000}"
    defaults = "{epsilon: 1, delta: 1e-7, min_frequency: 1}"
    head = f"dataset: people\nbudget: {budget}\ndefaults: {defaults}\n"
    path.write_text(f"{head}tables:{TABLES.format(limits=limits)}")
    return path


def plan_of(db, text, mechanism="gaussian"):
    session = session_of(db)
    logical = bind(parse(text).query, session.catalog, session.schema)
    statement = session.price(logical, resolve_request(session.catalog, mechanism=mechanism), session.remaining())
    return statement.parts[0]


def integers(db, plan):
    """The keys and integers of both passes; the second is over every other key of the first."""
    steps = program(replace(plan, minimum=1), session_of(db).backend.dialect, NONCE)
    with session_of(db).backend.snapshot() as snapshot:
        first = snapshot.run(steps.first_pass)
        passes = [rows_of(first)]
        if steps.measure is not None:
            keys = sorted(rows_of(first, keys_alone=True), key=repr)[::2]
            names = [key.name for key in plan.release.keys]
            columns = {name: [key[i] for key in keys] for i, name in enumerate(names)}
            types = first.exact_keys().schema
            table = pa.table({name: pa.array(column, types.field(name).type) for name, column in columns.items()})
            snapshot.load(SELECTED, table.append_column(KEY_INDEX, pa.array(range(len(keys)), pa.int64())))
            passes.append(rows_of(snapshot.run(steps.measure)))
    return passes


def rows_of(exact, *, keys_alone=False):
    columns = [column.to_pylist() for column in exact.exact_keys().columns]
    columns += [] if keys_alone else [[int(n) for n in exact.exact_integers(name)] for name in exact.names]
    return sorted(zip(*columns, strict=True), key=repr)


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("connected", [duckdb_of, sqlite_of])
def test_one_key_for_each_person_gives_the_integers_of_pairs(build, tmp_path, connected, limits):
    db = connected(build, limits, tmp_path)
    for text in QUESTIONS:
        plan = plan_of(db, text, random.choice(["gaussian", "laplace"]))
        assert plan.release.one_key, text
        pairs = replace(plan, release=replace(plan.release, settled=()))
        assert integers(db, plan) == integers(db, pairs), text
    db.close()


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT kind, COUNT(*) FROM {TWO} GROUP BY kind",
        f"SELECT place, kind, COUNT(*) FROM {TWO} GROUP BY place, kind",
        "SELECT place, COUNT(*) FROM visits LEFT JOIN people ON visits.person = people.id AND cost > 2 GROUP BY place",
        "SELECT place + kind, COUNT(*) FROM visits JOIN people ON visits.person = people.id GROUP BY 1",
    ],
)
def test_keys_that_can_differ_for_one_person_are_not_taken_for_one(build, text):
    assert not plan_of(build(list(statements()), TABLES.format(limits="max_rows: 3")), text).release.one_key


@pytest.mark.parametrize("table", ["people (id BIGINT", "places (code BIGINT"])
def test_a_key_that_only_the_catalog_calls_unique_is_not_taken_for_one(build, table):
    """Without the constraint, a person may have several rows, whatever the catalog says."""
    loose = [text.replace(f"{table} PRIMARY KEY", table) for text in statements()]
    db = build(loose, TABLES.format(limits="max_rows: 3"))
    assert not plan_of(db, f"SELECT region, COUNT(*) FROM {THREE} GROUP BY region").release.one_key
