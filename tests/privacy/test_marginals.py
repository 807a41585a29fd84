"""Tables that are measured together: the closed form, its vectors, and what one person can move."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.internals import session_of

from hedgerow.compile import program
from hedgerow.privacy import marginals
from hedgerow.privacy.batch import best_shares
from hedgerow.privacy.marginals import best_variances, cell_variance, projected_size, subsets
from hedgerow.privacy.predicted_error import level_plan, number_widths
from hedgerow.release.key_selection import select_keys
from hedgerow.release.marginals import _dense, measure_together
from hedgerow.session import batch_pricing
from hedgerow.session.batch_pricing import BatchPricing
from hedgerow.session.bound_batch import BoundBatch
from hedgerow.session.report import Report

VECTORS = [(5, 5, [2], 0.813), (3, 5, [2], 0.702), (10, 5, [2], 0.903), (5, 5, [0, 1, 2], 0.738)]
VECTORS += [(4, 3, [1, 2], 0.753), (5, 4, [0, 1, 2, 3], 0.701), (4, 6, [0, 1, 2], 0.672)]


@pytest.mark.parametrize(("values", "keys", "sizes", "expected"), VECTORS)
def test_the_vectors_of_the_closed_form(values, keys, sizes, expected):
    tables = [table for size in sizes for table in itertools.combinations(range(keys), size)]
    variances = best_variances(dict.fromkeys(tables, 1.0), [values] * keys, 1.0)
    together = sum(cell_variance(table, variances, [values] * keys) for table in tables) / len(tables)
    assert math.sqrt(together / len(tables)) == pytest.approx(expected, abs=5e-4)
    assert _by_hand(values, tables) == pytest.approx(together)


def _by_hand(values, tables):
    """Mean cell variance at mu squared 1, by matrices: noise on every residual, pushed through the reconstruction.

    A table is rebuilt from the residuals of its own keys, so its matrices need not have the other keys.
    """
    one, centre = np.ones((1, values)), np.eye(values) - 1 / values
    costs = dict.fromkeys(sorted({a for table in tables for a in subsets(table)}), 0.0)
    gains = dict.fromkeys(costs, 0.0)
    for table in tables:
        for a in subsets(table):
            query = _kron([centre if i in a else one for i in table])
            gains[a] += float((np.linalg.pinv(query, rcond=1e-9)[0] ** 2).sum())
            costs[a] = float((query**2).sum(axis=0).max())
    return sum(math.sqrt(costs[a] * gains[a]) for a in costs) ** 2 / len(tables)


def _kron(parts):
    whole = np.ones((1, 1))
    for part in parts:
        whole = np.kron(whole, part)
    return whole


TABLES = """
people:
  unit: id
  unit_unique: true
  columns:
    a: {values: [p, q, r]}
    b: {values: [x, y]}
    c: {values: [u, v, w, z]}
    age: {lower: 0, upper: 100}
visits:
  unit: person
  max_rows: 3
  columns:
    a: {values: [p, q, r]}
    b: {values: [x, y]}
    c: {values: [u, v, w, z]}
"""
ROWS = "['p','q','r'][1 + {0} % 3], ['x','y'][1 + ({0} // 3) % 2], ['u','v','w','z'][1 + ({0} // 5) % 4]"
STATEMENTS = [
    "CREATE TABLE people (id BIGINT PRIMARY KEY, a VARCHAR, b VARCHAR, c VARCHAR, age INTEGER)",
    f"INSERT INTO people SELECT j, {ROWS.format('j')}, j % 90 FROM range(900) r(j)",
    "CREATE TABLE visits (person BIGINT, a VARCHAR, b VARCHAR, c VARCHAR)",
    f"INSERT INTO visits SELECT j % 300, {ROWS.format('j')} FROM range(900) r(j)",
]
QUERIES = {
    "ab": "SELECT a, b, COUNT(*) AS n FROM people GROUP BY a, b",
    "ca": "SELECT c, a, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY c, a",
    "b": "SELECT b, COUNT(*) AS n FROM people GROUP BY b",
    "all": "SELECT COUNT(*) AS n FROM people",
}
WITH_TOTALS = {
    "cube": "SELECT a, b, COUNT(*) AS n FROM people GROUP BY CUBE(a, b)",
    "sets": "SELECT b, c, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((b), (c))",
    "ca": "SELECT c, a, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY c, a",
    "all": "SELECT COUNT(*) AS n FROM people",
}
OF_VISITS = {name: sql.replace("people", "visits").replace(", AVG(age) AS age", "") for name, sql in QUERIES.items()}

JOIN = "visits JOIN people ON people.id = visits.person"
OF_JOIN = {
    "region": f"SELECT people.a, COUNT(*) AS n FROM {JOIN} WHERE people.age < 90 AND visits.c <> 'q' GROUP BY people.a",
    "ward": f"SELECT visits.b, COUNT(*) AS n FROM {JOIN} WHERE visits.c <> 'q' AND people.age < 90 GROUP BY visits.b",
    "all": f"SELECT COUNT(*) AS n FROM {JOIN} WHERE visits.c <> 'q' AND people.age < 90",
}
"""A person is in one group of the first table, and in several of the second."""


NOT_NULL = [*STATEMENTS, "ALTER TABLE people ALTER age SET NOT NULL"]
MIXED = {
    "a": "SELECT a, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS m FROM people GROUP BY a",
    "b": "SELECT b, SUM(age) AS s FROM people GROUP BY b",
    "c": "SELECT c, COUNT(*) AS n FROM people GROUP BY c",
    "all": "SELECT COUNT(*) AS n, SUM(age) AS s FROM people",
}
"""A sum next to a count and by itself; people next to an average of all rows, and by themselves."""


def plans_of(db, queries=None):
    batch = BatchPricing(BoundBatch(session_of(db), Report.of(queries or QUERIES), None, "mean", {"epsilon": 1.0}))
    return batch.priced.private


@pytest.fixture
def db(build):
    return build(STATEMENTS, TABLES, budget="{epsilon: 100000, delta: 0.01}")


def exact_of(db, plans):
    together = plans.parts[0].marginal.together
    query = program(together.finest, session_of(db).backend.dialect, "0" * 32).first_pass
    with session_of(db).backend.snapshot() as snapshot:
        return snapshot.run(query)


def test_all_tables_are_measured_together_at_the_cost_of_measuring_them_apart(db):
    plans = plans_of(db)
    assert all(part.marginal is not None for part in plans.parts)
    events = [event for part in plans.parts for event in part.charge.events]
    assert events == []
    apart = BatchPricing(BoundBatch(session_of(db), Report.of(QUERIES), None, "mean", {"epsilon": 1.0}))
    shared = apart.priced.shared
    independent = apart.price(shared, apart.priced.logical, None, None).charge.cost.gaussian
    assert float(plans.charge.cost.gaussian) <= float(independent) * (1 + 1e-9)
    assert float(plans.charge.cost.gaussian) >= float(independent) * (1 - 1e-4)


def moved(db, other, plans):
    """Yield the change of each residual by the rows that two databases do not share, and the charge for it."""
    together = plans.parts[0].marginal.together
    pairs = zip(_dense(exact_of(db, plans), together), _dense(exact_of(other, plans), together), strict=True)
    differences = [one - two for one, two in pairs]
    events = iter(together.finest.charge.events)
    for residuals in together.residuals:
        for residual in residuals:
            noisy, event = residual.noisy_sum, next(events)
            others = tuple(axis for axis in range(len(together.sizes)) if axis not in residual.keys)
            table = np.asarray(differences[noisy.combination[0][0]].sum(axis=others), dtype=object)
            placed = _placed(table, noisy.shift)
            yield _without_kernel(placed), event.sensitivity_squared


def _placed(table, shift):
    flat = [Fraction(int(value)) * Fraction(2) ** shift for value in table.reshape(-1)]
    return np.array([round(value) for value in flat], dtype=object).reshape(table.shape)


def _without_kernel(table):
    """Subtract an integer vector that the projection ignores: d - P d with its coefficients rounded to integers."""
    rest = table.copy()
    for axes in itertools.chain.from_iterable(
        itertools.combinations(range(table.ndim), count) for count in range(1, table.ndim + 1)
    ):
        sums = np.asarray(table.sum(axis=axes, keepdims=True), dtype=object)
        size = math.prod(table.shape[axis] for axis in axes)
        rounded = np.vectorize(lambda value, size=size: round(Fraction(int(value), size)), otypes=[object])(sums)
        rest = rest + (-1) ** len(axes) * rounded
    return rest


@pytest.mark.parametrize(
    "queries", [QUERIES, OF_VISITS, WITH_TOTALS, OF_JOIN, MIXED], ids=["people", "visits", "totals", "join", "mixed"]
)
@pytest.mark.parametrize("rows", [1, 3, 7])
def test_one_person_moves_each_residual_by_at_most_what_is_charged(build, queries, rows):
    person = [
        f"INSERT INTO people SELECT 5000, {ROWS.format(str(rows))}, 33",
        f"INSERT INTO visits SELECT 5000, {ROWS.format('(j * j)')} FROM range({rows}) r(j)",
    ]
    budget = "{epsilon: 100000, delta: 0.01}"
    statements = NOT_NULL if queries is MIXED else STATEMENTS
    db, other = (build([*statements, *more], TABLES, budget=budget) for more in ([], person))
    plans = plans_of(db, queries)
    if plans.parts[0].marginal is None:
        plans = _forced(db, queries)
    for left, charged in moved(db, other, plans):
        assert sum(int(value) ** 2 for value in left.reshape(-1)) <= charged
    worst = max(
        float(sum(int(v) ** 2 for v in left.reshape(-1)) / charged) for left, charged in moved(db, other, plans)
    )
    assert worst > (0.9 if queries is QUERIES or rows >= 3 else 0.05)


def _forced(db, queries):
    """The same tables measured together even if that is less accurate."""
    larger = marginals.LARGER
    marginals.LARGER = math.inf
    try:
        return plans_of(db, queries)
    finally:
        marginals.LARGER = larger


def test_a_sensitivity_that_is_too_small_is_noticed(build, monkeypatch):
    budget = "{epsilon: 100000, delta: 0.01}"
    person = [f"INSERT INTO people SELECT 5000, {ROWS.format('1')}, 33"]
    db, other = (build([*STATEMENTS, *more], TABLES, budget=budget) for more in ([], person))
    monkeypatch.setattr(marginals, "projected_size", lambda keys, sizes: projected_size(keys, sizes) * Fraction(9, 10))
    plans = plans_of(db)
    assert any(sum(int(v) ** 2 for v in left.reshape(-1)) > charged for left, charged in moved(db, other, plans))


def released(db, plans, times):
    """Tables of many releases of the same data, by the real noise."""
    session = session_of(db)
    receipt = session.ledger.charge(plans.charge, analyst=None, question={"text": "test"})
    exact = exact_of(db, plans)
    steps = [program(part, session.backend.dialect, "0" * 32) for part in plans.parts]
    with session.backend.snapshot() as snapshot:
        first = [snapshot.run(step.first_pass) for step in steps]
    selected = [select_keys(one, part, receipt) for one, part in zip(first, plans.parts, strict=True)]
    for _ in range(times):
        yield measure_together(exact, selected, plans.parts, receipt)


def spread(db, plans, times):
    """Errors of all tables, over the standard deviations that were stated, and those of sums of cells."""
    cells, sums = [], []
    truth = [_truth(db, plans, part) for part in plans.parts]
    for tables in released(db, plans, times):
        for part, table, exact in zip(plans.parts, tables, truth, strict=True):
            error = table.noisy_sums[0] - exact
            cells.append(error / part.noisy_sums[0].noise.sigma)
            if part.release.keys:
                places = np.array(np.unravel_index(np.arange(len(error)), part.marginal.sizes)).T
                half = np.arange(len(error)) % 2 == 0
                variance = half @ marginals.covariance(part.marginal, 0, places) @ half
                sums.append(error[half].sum() / math.sqrt(variance))
    return np.concatenate(cells), np.array(sums)


def _truth(db, plans, part):
    """The exact counts of a table, in its own order."""
    together = plans.parts[0].marginal.together
    counts = _dense(exact_of(db, plans), together)[0].astype(float)
    keys = part.marginal.keys
    total = counts.sum(axis=tuple(axis for axis in range(counts.ndim) if axis not in keys))
    return np.transpose(total, [sorted(keys).index(key) for key in keys]).reshape(-1)


def check_spread(cells, sums, trials, per_trial):
    """Mean squares are one: 6 sigma, so a false alarm below 1e-8 of 1e-9 each way; 30 % off is far outside."""
    for values, freedom in ((cells, trials * per_trial), (sums, trials)):
        reach = 6.5 * math.sqrt(2 / freedom)
        assert abs(float((values**2).mean()) - 1) < reach
    assert not abs(float((cells**2).mean()) * 1.3**2 - 1) < 6.5 * math.sqrt(2 / (trials * per_trial))


@pytest.mark.parametrize("queries", [QUERIES, WITH_TOTALS], ids=["tables", "totals"])
def test_errors_are_as_large_as_stated(db, queries):
    """Mean squared errors of cells and of sums of cells against the closed form, over 150 releases.

    The errors of cells of one release are correlated: at least 12 of them are independent in effect.
    """
    cells, sums = spread(db, plans_of(db, queries), 150)
    check_spread(cells, sums, 150, 4)


@pytest.mark.slow
def test_errors_are_as_large_as_stated_in_20_000_releases(db):
    cells, sums = spread(db, plans_of(db), 20_000)
    check_spread(cells, sums, 20_000, 4)
    for level, reach in ((0.95, 1.959964), (0.99, 2.575829)):
        for values in (cells, sums):
            covered = float((np.abs(values) <= reach).mean())
            assert abs(covered - level) < 7 * math.sqrt(level * (1 - level) / 20_000)


FIVE = [f"k{i}" for i in range(5)]


@pytest.mark.parametrize(("sizes", "times"), [([2], 200), ([0, 1, 2], 400)], ids=["pairs", "up to pairs"])
def test_tables_of_five_keys_have_the_error_of_the_closed_form(build, sizes, times):
    """The root mean square error is within 3 % of what matrices say, compared with independent releases.

    Its standard error is 0.39 % for pairs, and 0.46 % with their totals: 3 % are at least 6.4 of these.
    """
    columns = ", ".join(f"{name} VARCHAR" for name in FIVE)
    values = ", ".join(f"chr(97 + CAST(floor(random() * 5) AS INTEGER)) AS {name}" for name in FIVE)
    statements = [
        f"CREATE TABLE people (id BIGINT PRIMARY KEY, {columns})",
        f"INSERT INTO people SELECT j, {values} FROM range(2000) r(j)",
    ]
    declared = "\n".join(f"    {name}: {{values: [a, b, c, d, e]}}" for name in FIVE)
    db = build(
        statements,
        f"people:\n  unit: id\n  unit_unique: true\n  columns:\n{declared}",
        budget="{epsilon: 9999, delta: 0.01}",
    )
    keysets = [keyset for size in sizes for keyset in itertools.combinations(range(5), size)]
    tables = [", ".join(FIVE[i] for i in keyset) for keyset in keysets]
    queries = [
        f"SELECT {by}, COUNT(*) AS n FROM people GROUP BY {by}" if by else "SELECT COUNT(*) AS n FROM people"
        for by in tables
    ]
    plans = plans_of(db, queries)
    sigma = math.sqrt(len(tables) / float(plans.charge.cost.gaussian))
    truth = [_truth(db, plans, part) for part in plans.parts]
    squares = [
        ((table.noisy_sums[0] - exact) ** 2).mean()
        for together in released(db, plans, times)
        for table, exact in zip(together, truth, strict=True)
    ]
    by_hand = math.sqrt(_by_hand(5, keysets) / len(keysets))
    assert math.sqrt(np.mean(squares)) / sigma == pytest.approx(by_hand, rel=0.03)


def test_every_table_adds_up_to_every_other(db):
    batch = db.batch(QUERIES, epsilon=1.0)
    [total] = batch["all"]["n"]
    assert sum(batch["ab"]["n"]) == sum(batch["ca"]["n"]) == sum(batch["b"]["n"]) == total
    by_b = dict(zip(batch["b"]["b"], batch["b"]["n"], strict=True))
    for value, number in by_b.items():
        pairs = zip(batch["ab"]["b"], batch["ab"]["n"], strict=True)
        assert sum(count for key, count in pairs if key == value) == number
    by_a = dict.fromkeys("pqr", 0)
    for name in ("ab", "ca"):
        sums = dict.fromkeys(by_a, 0)
        for key, count in zip(batch[name]["a"], batch[name]["n"], strict=True):
            sums[key] += count
        by_a = sums if not any(by_a.values()) else by_a
        assert sums == by_a


def add_up(batch):
    """Return True if the numbers of the tables in `MIXED` add up."""
    [[total, whole]] = batch["all"]
    sums = [sum(batch[name]["s"]) for name in "ab"]
    return [sum(batch[name]["n"]) for name in "ac"] == [total] * 2 and sums == [whole] * 2


def said(batch):
    return [any("measured together" in note.text for note in answer.notes) for answer in batch]


@pytest.mark.parametrize("options", [{}, {"add_up": True}])
def test_a_number_adds_up_whatever_other_numbers_are_beside_it(build, options):
    db = build(NOT_NULL, TABLES, budget="{epsilon: 100000, delta: 0.01}")
    batch = db.batch(MIXED, epsilon=1.0, **options)
    assert add_up(batch)
    assert said(batch) == [True] * 4


def test_tables_of_other_sums_do_not_say_that_they_add_up_and_are_not_sold_as_such(build, monkeypatch):
    """Equal sums in all tables count as too inaccurate here."""
    db = build(NOT_NULL, TABLES, budget="{epsilon: 100000, delta: 0.01}")
    monkeypatch.setattr(batch_pricing, "NO_LARGER", 0.0)
    batch = db.batch(MIXED, epsilon=1.0)
    assert not add_up(batch)
    assert said(batch) == [False] * 4
    assert said(db.batch(MIXED, epsilon=1.0)) == [False] * 4
    wanted, again = (db.batch(MIXED, epsilon=1.0, add_up=True) for _ in range(2))
    assert (wanted.receipt.reused, again.receipt.reused) == (False, True)
    assert all(add_up(one) and said(one) == [True] * 4 for one in (wanted, again))


@pytest.mark.parametrize("options", [{}, {"min_frequency": 2, "add_up": True}])
def test_tables_of_a_join_add_up_whatever_the_order_of_their_conditions(db, options):
    """The key of one table is from a table with a row for each person, so that it has other limits."""
    batch = db.batch(OF_JOIN, epsilon=20.0, **options)
    [total] = batch["all"]["n"]
    assert sum(filter(None, batch["region"]["n"])) == sum(filter(None, batch["ward"]["n"])) == total
    assert all("measured together" in " ".join(note.text for note in answer.notes) for answer in batch)


def test_statements_with_totals_add_up_to_the_other_tables(db):
    batch = db.batch(WITH_TOTALS, epsilon=1.0)
    [total] = batch["all"]["n"]
    cube = {(a, b): n for a, b, n in batch["cube"]}
    assert cube[None, None] == total
    for a in "pqr":
        own = sum(row[2] for row in batch["ca"] if row[1] == a)
        assert cube[a, None] == cube[a, "x"] + cube[a, "y"] == own
    by_b, by_c = ({row[i]: row[2] for row in batch["sets"] if row[i] is not None} for i in (0, 1))
    assert by_b == {b: cube[None, b] for b in "xy"}
    assert by_c == {c: sum(row[2] for row in batch["ca"] if row[0] == c) for c in "uvwz"}
    for name, sql in WITH_TOTALS.items():
        again = db.sql(sql, epsilon=1.0)
        assert again.receipt.reused
        assert list(again) == list(batch[name])
        assert again.intervals == batch[name].intervals


def test_statements_with_totals_add_up_without_negative_numbers(db):
    """Noise far larger than the counts, so that many numbers have to be raised."""
    batch = db.batch(WITH_TOTALS, epsilon=0.01, nonnegative=True)
    [total] = batch["all"]["n"]
    cube = {(a, b): n for a, b, n in batch["cube"]}
    assert min(row[2] for name in ("cube", "sets", "ca") for row in batch[name]) >= 0
    assert cube[None, None] == total == sum(row[2] for row in batch["ca"])
    assert all(cube[None, b] == sum(cube[a, b] for a in "pqr") for b in "xy")
    assert {row[0]: row[2] for row in batch["sets"] if row[0]} == {b: cube[None, b] for b in "xy"}


def test_no_number_of_a_statement_with_totals_is_less_accurate_than_apart(db):
    batch = BatchPricing(BoundBatch(session_of(db), Report.of(WITH_TOTALS), None, "mean", {"epsilon": 1.0}))
    together = batch.priced
    assert len({id(part.marginal.together) for part in together.private.parts}) == 1
    shares = best_shares(batch.price(together.shared, together.logical, None, None), together.shared, [1.0] * 4)
    independent = batch.price(together.shared, together.logical, None, shares)
    assert float(together.private.charge.cost.gaussian) <= float(independent.charge.cost.gaussian) * (1 + 1e-9)
    for release, new, old in zip(together.shared, together.private.parts, independent.parts, strict=True):
        for level in release.use.levels or [tuple(range(len(new.release.keys)))]:
            widths, before = (number_widths(level_plan(plan, level)) for plan in (new, old))
            assert all(width <= apart * 1.001 for width, apart in zip(widths, before, strict=True))


def test_totals_of_one_statement_have_the_bar_of_the_same_numbers_in_others(db):
    batch = db.batch(WITH_TOTALS, epsilon=1.0)
    rows = zip(batch["cube"].intervals, batch["cube"], strict=True)
    bars = [row["n"] for row, key in rows if key[:2] == (None, None)]
    [whole] = [row["n"] for row in batch["all"].intervals]
    assert [(bar.lower, bar.upper, bar.kind.value) for bar in bars] == [
        (pytest.approx(whole.lower), pytest.approx(whole.upper), "exact")
    ]


def test_a_total_of_cells_has_the_error_bar_of_the_total(db):
    batch = db.batch(QUERIES, epsilon=1.0)
    summed = db.sql("SELECT SUM(n) AS n FROM (SELECT a, b, COUNT(*) AS n FROM people GROUP BY a, b)", epsilon=1.0)
    assert summed.receipt.reused
    [own], [other] = ([row["n"] for row in answer.intervals] for answer in (batch["all"], summed))
    assert summed["n"] == batch["all"]["n"]
    assert other.upper - other.lower == pytest.approx(own.upper - own.lower, rel=0.05)
    assert other.kind.value == "exact"


def test_each_table_asked_alone_repeats_its_digits_and_bars(db):
    batch = db.batch(QUERIES, epsilon=1.0)
    for name, sql in QUERIES.items():
        again = db.sql(sql, epsilon=1.0)
        assert again.receipt.reused
        assert list(again) == list(batch[name])
        assert again.intervals == batch[name].intervals
    assert db.budget.queries == 1


def test_tables_at_a_larger_price_are_bought_anew(db):
    """Tables that are measured together have no cost of their own, which once counted as a smaller one."""
    for epsilon, buys in ((0.5, True), (0.2, False), (2.0, True), (0.5, False)):
        batch, spent = db.batch(QUERIES, epsilon=epsilon), db.budget.queries
        assert batch.receipt.reused is not buys
        assert all(answer.receipt.reused is not buys for answer in batch)
        assert batch.receipt.charge.epsilon == (epsilon if buys else 0.0)
    assert spent == 2


def test_where_groups_are_tested_those_that_are_held_back_have_no_number(build):
    queries = {name: sql.replace("COUNT(*) AS n", "AVG(age) AS age") for name, sql in QUERIES.items() if name != "ca"}
    rare = [
        "INSERT INTO people SELECT 9000 + j, 'r', 'y', 'z', 5 FROM range(2) r(j)",
        "DELETE FROM people WHERE a = 'r' AND b = 'y' AND id < 9000",
    ]
    db = build([*STATEMENTS, *rare], TABLES, min_frequency=10, budget="{epsilon: 100000, delta: 0.01}")
    batch = db.batch(queries, epsilon=200.0)
    cell = list(zip(batch["ab"]["a"], batch["ab"]["b"], strict=True)).index(("r", "y"))
    assert batch["ab"]["age"][cell] is None
    assert all(value is not None for i, value in enumerate(batch["ab"]["age"]) if i != cell)
    assert any("measured together" in note.text for note in batch["ab"].notes)


def test_a_statement_with_two_releases_keeps_independent_noise(db):
    share = (
        "SELECT t.b, t.n / w.n AS share FROM (SELECT b, COUNT(*) AS n FROM people GROUP BY b) t, "
        "(SELECT COUNT(*) AS n FROM people) w"
    )
    plans = plans_of(db, {"share": share, **{name: QUERIES[name] for name in ("ab", "ca")}})
    kinds = {len(part.release.keys): part.marginal is not None for part in plans.parts}
    assert kinds == {1: False, 0: False, 2: True}
