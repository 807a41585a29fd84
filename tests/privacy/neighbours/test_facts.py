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
from hedgerow.compile.optimistic import MOST_KEYS
from hedgerow.compiled import SELECTED
from hedgerow.plan.bind import bind
from hedgerow.privacy.price import price
from hedgerow.sql.parse import parse

from .conftest import NONCE, REMAINING, Limits, Row, _as_table, _keys
from .forms import allowed_forms, integers
from .test_registry import COLUMNS
from .test_windows import Windowed

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
    steps = program(replace(plan, minimum=1), backend.dialect, NONCE, shortcuts=True, fixed=True)
    used = set()
    with backend.snapshot() as snapshot:
        first = None
        for query in (steps.first_pass, steps.measure):
            if query is None:
                continue
            if first is not None:
                kept = [key for key in _keys(first) if random.random() < 0.7]
                snapshot.load(SELECTED, _as_table(kept, first))
            forms = allowed_forms(query, snapshot.read, snapshot.load, others)
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


@pytest.mark.parametrize("limits", [Limits(rows=3), Limits(rows=4, groups=2)], ids=repr)
@pytest.mark.parametrize("keys", ["g", "i", "g, i"])
@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_short_statement_proves_its_result_up_to_the_limits_and_no_further(laboratory, keys, limits, mechanism):
    """The last person has as many rows, or touches as many keys, as allowed, and then one more."""
    most = limits.rows if keys == "g" else limits.groups or limits.rows
    call = "COUNT(*) AS n, SUM(x), COUNT(DISTINCT u)"
    plan = laboratory.plan(statement(call, keys, ""), limits, mechanism=mechanism)
    steps = program(replace(plan, minimum=1), laboratory.backend.dialect, NONCE, fixed=True)
    for more in (0, 1):
        rows = [Row(owner, "abc"[owner % 3], "p", 5.0, owner % 5) for owner in range(10)]
        laboratory.fill(
            rows + [Row(20, "a", "p", 5.0, 0 if keys == "g" else i) for i in range(most + more)], unique=False
        )
        with laboratory.backend.snapshot() as snapshot:
            forms = allowed_forms(steps.first_pass, snapshot.read, snapshot.load)
            results = [integers(snapshot.run(form)) for form in forms.values()]
        assert forms.keys() == ({"ordinary"} if more else {"ordinary", "optimistic"})
        assert results.count(results[0]) == len(results)


def test_a_short_statement_over_more_keys_than_bits_proves_nothing(laboratory):
    plan = laboratory.plan("SELECT x, COUNT(DISTINCT u) AS n FROM t GROUP BY x", Limits(rows=400))
    steps = program(replace(plan, minimum=1), laboratory.backend.dialect, NONCE, fixed=True)
    for different in (MOST_KEYS, MOST_KEYS + 1):
        laboratory.fill([Row(owner % 50, x=float(owner % different)) for owner in range(400)], unique=False)
        with laboratory.backend.snapshot() as snapshot:
            forms = allowed_forms(steps.first_pass, snapshot.read, snapshot.load)
            assert all(
                integers(snapshot.run(form)) == integers(snapshot.run(steps.first_pass)) for form in forms.values()
            )
        assert ("optimistic" in forms) is (different == MOST_KEYS)


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("keys", KEYS)
def test_rows_that_are_joined_with_the_heavy_owners_have_the_same_integers(laboratory, monkeypatch, keys, rounds):
    """Engines with windows read the rows once, and tell the rows of heavy owners apart by a join."""
    monkeypatch.setattr(laboratory.backend, "dialect", Windowed().at(*laboratory.backend.dialect.namespace))
    for _ in range(rounds):
        call = random.choice(["COUNT(*) AS n, SUM(x), AVG(i), COUNT(DISTINCT u)", "SUM(x)", "COUNT(DISTINCT u)"])
        text = statement(call, keys, random.choice(FILTERS))
        plan = laboratory.plan(text, random.choice(LIMITS), min_frequency=random.choice([1, 3]))
        laboratory.fill(crowd(random.choice([3, 12])), unique=False)
        used = assert_equal_forms(laboratory.backend, plan, random.sample(range(40), 3))
        counts = plan.selection is not None or "DISTINCT" in call
        assert ("apart, counted" in used) is (counts and not plan.release.where)


EDGES = (-(2**63), -65_537, -65_536, -1, 0, 65_535, 65_536, 2**40, 2**63 - 1)
"""Owners at the ends of blocks."""


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("where", ["", "x > 2", "x > 1e9"])
@pytest.mark.parametrize("keys", ["", "x", "g, x", "d"])
def test_people_counted_in_blocks_are_those_counted_by_pairs(laboratory, keys, where, rounds):
    """For up to 200 keys, declared and not, where some people are beyond a limit and where nobody is."""
    call = "COUNT(*) AS n, SUM(i), COUNT(DISTINCT u)"
    for _ in range(rounds):
        for limits, most in ((Limits(rows=100), 3), (Limits(rows=6, per_group=2, groups=3), 12)):
            plan = laboratory.plan(statement(call, keys, where), limits)
            people = [*EDGES, *random.sample(range(-(10**6), 10**6), 40)]
            laboratory.fill(
                [
                    Row(owner, random.choice("abc"), random.choice("pqz"), float(random.randrange(-3, 197)), 1)
                    for owner in people
                    for _ in range(random.randint(0, most))
                ]
                + [Row(EDGES[0], "a", "p", 5.0, 1) for _ in range(most)],
                unique=False,
            )
            used = assert_equal_forms(laboratory.backend, plan, others=[EDGES[3], EDGES[4]])
            assert ("within, blocked" if most == 3 else "apart, blocked") in used


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
    assert not {"ownerless", "optimistic"} & assert_equal_forms(backend, plan)


@pytest.mark.parametrize("strays", ["", STRAYS[-1]], ids=["no strays", "strays"])
@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("query", JOINED)
def test_every_form_of_a_join_has_the_same_integers(shop, query, heavy, strays):
    connection, backend, catalog = shop
    fill_shop(connection, heavy=heavy, strays=strays)
    logical = bind(parse(query).query, catalog, backend.schema())
    (plan,) = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=1).parts
    used = assert_equal_forms(backend, plan, others=[3, 8])
    assert ("apart, beside" in used) is (query.endswith(ALONE) and not strays)
    assert ("ownerless" in used) is (query.endswith(ALONE) and not heavy and not strays)
    if query == JOINED[0]:
        assert ("optimistic" in used) is (not heavy and not strays)


def test_keys_of_a_path_in_another_order_prove_nothing(shop):
    connection, backend, catalog = shop
    fill_shop(
        connection, heavy=False, strays="DELETE FROM orders WHERE o = 5; INSERT INTO orders VALUES (5, 2, 'y', 5)"
    )
    logical = bind(parse(JOINED[0]).query, catalog, backend.schema())
    (plan,) = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=1).parts
    used = assert_equal_forms(backend, plan)
    assert "ownerless" in used
    assert "optimistic" not in used


PATH_CATALOG = """\
dataset: ways
budget: {{epsilon: 100, delta: 1e-3}}
tables:
  ends: {{unit: u, max_rows: 1000}}
  ways: {{unit: {{through: ends, on: {{e: e}}}}, max_rows: 1000}}
  t:
    unit: {{through: ways, on: {{w: w}}}}
    max_rows: {rows}
    max_rows_per_group: {per_group}
    max_groups: {groups}
    columns: {{x: {{lower: -2, upper: 10}}, i: {{lower: 0, upper: 5}}, d: {{values: [p, q, r]}}}}
"""


@pytest.fixture
def ways(tmp_path):
    """A DuckDB in which the person of a row is found along two tables, and a function that plans questions about it."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE t (w BIGINT, g VARCHAR, d VARCHAR, x DOUBLE, i BIGINT, b BOOLEAN)")
    connection.execute("CREATE TABLE ways (w BIGINT, e BIGINT); CREATE TABLE ends (e BIGINT, u BIGINT)")
    backend = DuckDB(connection, handed_in=True)

    def plan(text, limits, mechanism):
        path = tmp_path / "ways.yaml"
        most = {"rows": limits.rows, "per_group": limits.per_group or limits.rows}
        path.write_text(PATH_CATALOG.format(**most, groups=limits.groups or limits.rows))
        logical = bind(parse(text).query, load_catalog(path), backend.schema())
        (plan,) = price(logical, Budget(1.0, 1e-8, mechanism), REMAINING, min_frequency=1).parts
        return plan

    return connection, backend, plan


def fill_ways(connection, rows):
    """Each row has a way of its own to its owner; those of nobody have none, or a way that ends nowhere, or NULL."""
    connection.execute("TRUNCATE t; TRUNCATE ways; TRUNCATE ends")
    connection.execute("INSERT INTO ends SELECT range + 500, range FROM range(40)")
    for number, row in enumerate(rows):
        way = number if row.owner is not None or random.random() < 0.7 else None
        connection.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", [way, *row[1:]])
        if row.owner is not None or random.random() < 0.5:
            connection.execute(
                "INSERT INTO ways VALUES (?, ?)", [number, 9999 if row.owner is None else row.owner + 500]
            )


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", names())
def test_every_form_of_an_aggregate_along_a_path_has_the_same_integers(ways, name, rounds):
    connection, backend, planned = ways
    select = lookup(name).example.format(**COLUMNS)
    for _ in range(rounds):
        text = statement(select, random.choice(KEYS), random.choice(FILTERS))
        plan = planned(text, random.choice(LIMITS), random.choice(["gaussian", "laplace"]))
        fill_ways(connection, crowd(12))
        used = assert_equal_forms(backend, plan, random.sample(range(40), 3))
        assert {"apart", "apart, beside", "ordinary, beside"} <= used


def counts(backend, plan):
    """The weighted number of rows of each key, in every form of a statement."""
    steps = program(replace(plan, minimum=1), backend.dialect, NONCE, shortcuts=True, fixed=True)
    with backend.snapshot() as snapshot:
        forms = allowed_forms(steps.first_pass, snapshot.read, snapshot.load)
        results = {name: snapshot.run(form) for name, form in forms.items()}
        return {
            name: dict(zip(_keys(result), result.exact_integers("s0").tolist(), strict=True))
            for name, result in results.items()
        }


@pytest.mark.parametrize("keys", ["", "g", "i"])
@pytest.mark.parametrize("limits", LIMITS[:3], ids=repr)
def test_one_more_person_changes_counts_within_the_limits_with_the_owner_column_and_without(ways, keys, limits):
    connection, backend, planned = ways
    plan = planned(statement("COUNT(*)", keys, ""), limits, "laplace")
    rows = [row for row in crowd(12) if row.owner is not None and row.owner < 39]
    newcomer = [Row(39, "abc"[i % 3], "p", 1.0, i % 5) for i in range(30)]
    measured = []
    for present in (rows, rows + newcomer):
        fill_ways(connection, present)
        measured.append(counts(backend, plan))
    before, after = measured
    assert {"ordinary", "apart, beside", "ordinary, beside"} <= after.keys()
    for form in after:
        named = before.get(form, before["ordinary"])
        change = sum(abs(after[form].get(key, 0) - named.get(key, 0)) for key in after[form].keys() | named.keys())
        assert 0 < change <= plan.bounding.l1 << plan.weight_bits
