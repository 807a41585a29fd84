"""Known facts change the time of a statement and never an integer: all its forms return the same."""

import random
from dataclasses import replace

import duckdb
import pytest

from hedgerow.accounting.budget import Budget
from hedgerow.aggregates import lookup, names
from hedgerow.backends.duckdb import DuckDB
from hedgerow.catalog import load_catalog
from hedgerow.compile import program
from hedgerow.compiled import SELECTED
from hedgerow.plan.bind import bind
from hedgerow.privacy.price import price
from hedgerow.sql.parse import parse

from .conftest import NONCE, REMAINING, Limits, Row, _as_table, _keys
from .forms import allowed_forms, integers
from .test_registry import COLUMNS

KEYS = ("", "g", "d", "g, d", "i", "b, g")
FILTERS = ("", "x > 2", "i IN (1, 2, 3)", "b AND x IS NOT NULL", "x > 1e9")
LIMITS = (
    Limits(rows=3),
    Limits(rows=4, groups=2),
    Limits(rows=6, per_group=2, groups=3),
    Limits(rows=100),
    Limits(rows=2, groups=1),
)


def crowd(most):
    """Random rows of forty people: each has up to three of them, and five people have up to `most`."""
    values = (["a", "b", "c", None], ["p", "q", "r", "z"], [-3.0, 0.5, 2.5, 9.0, 1e300, None], [0, 1, 2, 5, None])
    return [
        Row(owner, *map(random.choice, values), random.choice([True, False, None]))
        for owner in [None, *range(40)]
        for _ in range(random.randint(0, most if owner is not None and owner < 5 else 3))
    ]


def statement(call, keys, where):
    shown = f"{keys}, {call} AS v" if keys else f"{call} AS v"
    return f"SELECT {shown} FROM t{f' WHERE {where}' if where else ''}{f' GROUP BY {keys}' if keys else ''}"


def assert_equal_forms(backend, plan, others=()):
    """Run every form of both passes; return the names of the forms."""
    steps = program(replace(plan, minimum=1), backend.dialect, NONCE, shortcuts=True)
    used = set()
    with backend.snapshot() as snapshot:
        first = None
        for query in (steps.first_pass, steps.measure):
            if query is None:
                continue
            if first is not None:
                kept = [key for key in _keys(first) if random.random() < 0.7]
                snapshot.load(SELECTED, _as_table(kept, first))
            forms = allowed_forms(
                query, lambda fact: snapshot._cursor.sql(fact.sql).to_arrow_table(), snapshot.load, others
            )
            results = {name: snapshot.run(form) for name, form in forms.items()}
            first = first or results["ordinary"]
            wanted = integers(results["ordinary"])
            for name, result in results.items():
                assert integers(result) == wanted, (name, forms[name].sql)
            used |= forms.keys()
    return used


@pytest.mark.parametrize("rounds", [1, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", names())
def test_every_form_of_an_aggregate_has_the_same_integers(laboratory, name, rounds):
    select = lookup(name).example.format(**COLUMNS)
    for _ in range(rounds):
        keys, where, limits = random.choice(KEYS), random.choice(FILTERS), random.choice(LIMITS)
        mechanism = random.choice(["gaussian", "laplace"])
        plan = laboratory.plan(statement(select, keys, where), limits, mechanism=mechanism)
        laboratory.fill(crowd(12), unique=False)
        others = random.sample(range(40), 3)
        assert {"ordinary", "apart"} <= assert_equal_forms(laboratory.backend, plan, others)


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("limits", LIMITS, ids=repr)
def test_every_form_has_the_same_integers_whatever_the_filter_and_the_keys(laboratory, keys, limits):
    call = "COUNT(*) AS n, SUM(x), AVG(i), COUNT(DISTINCT u)"
    plan = laboratory.plan(statement(call, keys, random.choice(FILTERS)), limits)
    laboratory.fill(crowd(random.choice([3, 12])), unique=False)
    used = assert_equal_forms(laboratory.backend, plan)
    assert not keys or "apart, coded" in used
    assert limits.rows < 100 or "within" in used


@pytest.mark.parametrize("limits", LIMITS, ids=repr)
def test_one_row_beyond_a_limit_is_beyond_it(laboratory, limits):
    """Rows in one group and in many: one person has as many as allowed, and another one more."""
    per_group = min(limits.per_group or limits.rows, limits.rows)
    groups = min(limits.groups or limits.rows, limits.rows)
    for keys, (most, value) in {"": (limits.rows, "a"), "g": (per_group, "a"), "i": (groups, None)}.items():
        plan = laboratory.plan(statement("COUNT(*) AS n, SUM(x)", keys, ""), limits)
        rows = [Row(owner, "a", "p", 5.0, 1) for owner in range(10)]
        rows += [Row(20 + more, value, "p", 5.0, i) for more in (0, 1) for i in range(most + more)]
        laboratory.fill(rows, unique=False)
        assert "within" not in assert_equal_forms(laboratory.backend, plan)


def test_more_keys_than_bits_are_counted_by_pairs(laboratory):
    plan = laboratory.plan("SELECT x, COUNT(DISTINCT u) AS n FROM t GROUP BY x", Limits(rows=3))
    for different in (62, 63, 200):
        laboratory.fill([Row(owner % 50, x=float(owner % different)) for owner in range(400)], unique=False)
        assert ("apart, coded" in assert_equal_forms(laboratory.backend, plan)) is (different <= 62)


CATALOG = """\
dataset: shop
budget: {epsilon: 100, delta: 1e-3}
tables:
  customer: {unit: c, unit_unique: true, columns: {balance: {lower: 0, upper: 9}}}
  orders: {unit: o_c, max_rows: 3, columns: {price: {lower: 0, upper: 9}}}
  line: {unit: {through: orders, on: {l_o: o}}, max_rows: 4, columns: {amount: {lower: 0, upper: 9}}}
"""
JOINED = (
    "SELECT SUM(amount), COUNT(*) FROM line",
    "SELECT AVG(amount) FROM line WHERE amount > 2",
    "SELECT kind, AVG(amount) FROM line GROUP BY kind",
    "SELECT kind, status, COUNT(*) FROM line JOIN orders ON l_o = o GROUP BY kind, status",
    "SELECT AVG(price) FROM customer JOIN orders ON c = o_c WHERE segment = 'a'",
    "SELECT segment, AVG(price), COUNT(*) FROM customer JOIN orders ON c = o_c GROUP BY segment",
    "SELECT segment, status, SUM(price) FROM customer JOIN orders ON c = o_c GROUP BY segment, status",
    "SELECT segment, SUM(amount) FROM customer, orders, line WHERE c = o_c AND l_o = o GROUP BY segment",
    "SELECT status, COUNT(DISTINCT o_c) FROM orders GROUP BY status",
)
ALONE = ("FROM line", "FROM line WHERE amount > 2", "FROM line GROUP BY kind")
"""Ends of the statements that read nothing but the owner along the path."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A DuckDB with three tables, of which nothing says that orders are unique."""
    path = tmp_path_factory.mktemp("facts") / "shop.yaml"
    path.write_text(CATALOG)
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE customer (c BIGINT PRIMARY KEY, segment VARCHAR, balance DOUBLE)")
    connection.execute("CREATE TABLE orders (o BIGINT, o_c BIGINT, status VARCHAR, price DECIMAL(9, 2))")
    connection.execute("CREATE TABLE line (l_o BIGINT, kind VARCHAR, amount DOUBLE)")
    backend = DuckDB(connection, handed_in=True)
    return connection, backend, load_catalog(path)


def fill_shop(connection, *, heavy, strays):
    """Forty customers with two orders each and one line for an order, and people and rows that are not like that."""
    connection.execute("TRUNCATE line; TRUNCATE orders; DELETE FROM customer")
    connection.execute("INSERT INTO customer SELECT range, ['a', 'b', NULL][1 + range % 3], range % 9 FROM range(40)")
    connection.execute(
        "INSERT INTO orders SELECT range, range // 2, ['x', 'y'][1 + range % 2], range % 9 FROM range(80)"
    )
    connection.execute("INSERT INTO line SELECT range, ['k', 'l', 'm'][1 + range % 3], random() * 9 FROM range(80)")
    if heavy:
        connection.execute("INSERT INTO orders SELECT 100 + range, 7, 'z', random() * 9 FROM range(6)")
        connection.execute("INSERT INTO line SELECT 3, 'k', random() * 9 FROM range(9)")
    if strays:
        connection.execute(strays)


STRAYS = (
    "INSERT INTO line VALUES (999, 'k', 5)",
    "INSERT INTO orders VALUES (5, 20, 'x', 5)",
    "INSERT INTO line VALUES (NULL, 'k', 5)",
    "UPDATE orders SET o_c = NULL WHERE o = 11",
    "INSERT INTO line VALUES (999, 'k', 5); INSERT INTO orders VALUES (5, 20, 'x', 5)",
)
"""Rows that lead to nobody, or to two people; the last have as many rows with the path as without."""


@pytest.mark.parametrize("strays", STRAYS)
def test_a_row_that_does_not_lead_to_one_person_is_seen(shop, strays):
    connection, backend, catalog = shop
    fill_shop(connection, heavy=False, strays=strays)
    logical = bind(parse(JOINED[0]).query, catalog, backend.schema())
    (plan,) = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=1).parts
    assert "ownerless" not in assert_equal_forms(backend, plan)


@pytest.mark.parametrize("strays", ["", STRAYS[-1]], ids=["no strays", "strays"])
@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("query", JOINED)
def test_every_form_of_a_join_has_the_same_integers(shop, query, heavy, strays):
    connection, backend, catalog = shop
    fill_shop(connection, heavy=heavy, strays=strays)
    logical = bind(parse(query).query, catalog, backend.schema())
    (plan,) = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=1).parts
    used = assert_equal_forms(backend, plan, others=[3, 8])
    assert ("ownerless" in used) is (query.endswith(ALONE) and not heavy and not strays)
