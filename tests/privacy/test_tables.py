"""Tables of a batch that are made of the same shown groups: undeclared keys, and a minimum frequency."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
from tests.internals import session_of

from hedgerow.compile import program
from hedgerow.compiled import KEY_INDEX, SELECTED
from hedgerow.errors import ParameterError
from hedgerow.privacy.batch import share_releases
from hedgerow.privacy.keys import KeyRule
from hedgerow.release import Estimator, SelectedKeys, coarser_table, measure
from hedgerow.release.draw import _to_grid
from hedgerow.session import batch_pricing
from hedgerow.session.batch_pricing import PRICE_OF_ADDING_UP, BatchPricing, renumbered
from hedgerow.session.bound_batch import BoundBatch
from hedgerow.session.report import Report

BUDGET = "{epsilon: 1e6, delta: 0.01}"
DECLARED = "a: {values: [p, q, r]}, b: {values: [x, y]}"
PEOPLE = f"""
people: {{unit: id, unit_unique: true, size: 1000000, columns: {{{DECLARED}, age: {{lower: 0, upper: 100}}}}}}
visits: {{unit: person, max_rows: 6, max_rows_per_group: 2, size: 1000000, columns: {{{DECLARED}}}}}
"""
OPEN = PEOPLE.replace("a: {values: [p, q, r]}, ", "").replace("b: {values: [x, y]}", "b: {}")
KEYS = "['p','q','r'][1 + {0} % 3], ['x','y'][1 + ({0} // 3) % 2]"
STATEMENTS = [
    "CREATE TABLE people (id BIGINT PRIMARY KEY, a VARCHAR, b VARCHAR, age INTEGER)",
    f"INSERT INTO people SELECT j, {KEYS.format('j')}, j % 90 FROM range(1200) r(j)",
    "DELETE FROM people WHERE a = 'r' AND b = 'y' AND id > 50",
    "CREATE TABLE visits (person BIGINT, a VARCHAR, b VARCHAR)",
    f"INSERT INTO visits SELECT j % 500, {KEYS.format('j')} FROM range(1500) r(j)",
]
QUERIES = {
    "ab": "SELECT a, b, COUNT(*) AS n FROM people GROUP BY a, b",
    "a": "SELECT a, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY a",
    "b": "SELECT b, COUNT(*) AS n, SUM(age) AS years FROM people GROUP BY b",
    "all": "SELECT COUNT(*) AS n, SUM(age) AS years FROM people",
}
OF_VISITS = {
    name: f"SELECT {keys}{', ' if keys else ''}COUNT(*) AS n FROM visits{' GROUP BY ' + keys if keys else ''}"
    for name, keys in {"ab": "a, b", "a": "a", "b": "b", "all": ""}.items()
}
TOTALLED = {
    "cube": "SELECT a, b, COUNT(*) AS n, SUM(age) AS years FROM people GROUP BY CUBE (a, b)",
    "sets": "SELECT b, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((b), ())",
    **{name: QUERIES[name] for name in ("a", "all")},
}
VISITS_TOTALLED = {"cube": "SELECT a, b, COUNT(*) AS n FROM visits GROUP BY CUBE (a, b)", "b": OF_VISITS["b"]}
JOIN = "visits JOIN people ON people.id = visits.person"
OF_JOIN = {
    "region": f"SELECT people.a, COUNT(*) AS n FROM {JOIN} GROUP BY people.a",
    "ward": f"SELECT visits.b, COUNT(*) AS n FROM {JOIN} GROUP BY visits.b",
    "all": f"SELECT COUNT(*) AS n FROM {JOIN}",
}
"""A person is in one group of the first table, and in several of the second."""

KINDS = {"minimum": (PEOPLE, 10), "open": (OPEN, 1), "both": (OPEN, 10)}


@pytest.fixture(params=list(KINDS))
def db(request, build):
    catalog, minimum = KINDS[request.param]
    return build(STATEMENTS, catalog, min_frequency=minimum, budget=BUDGET)


def priced_batch(db, queries=None, epsilon=3.0, add_up=None):
    """A batch as a publication asks it."""
    report, options = Report.of(queries or QUERIES), {"epsilon": epsilon}
    return BatchPricing(BoundBatch(session_of(db), report, None, "mean", options, add_up=add_up))


def by_key(answer, key, number="n"):
    sums = {}
    for value, count in zip(answer[key], answer[number], strict=True):
        if count is not None:
            sums[value] = sums.get(value, 0) + count
    return sums


def test_every_table_adds_up_to_every_other(db):
    """The group (r, y) has eight people: it is not shown, and in no table."""
    batch = db.batch(QUERIES, epsilon=6.0, add_up=True)
    [total], [years] = batch["all"]["n"], batch["all"]["years"]
    assert by_key(batch["ab"], "a") == by_key(batch["a"], "a")
    assert by_key(batch["ab"], "b") == by_key(batch["b"], "b")
    assert sum(by_key(batch["a"], "a").values()) == sum(by_key(batch["b"], "b").values()) == total
    assert sum(batch["b"]["years"]) == years
    shown = {
        pair
        for *pair, n in zip(batch["ab"]["a"], batch["ab"]["b"], batch["ab"]["n"], strict=True)
        if n is not None
        for pair in [tuple(pair)]
    }
    assert shown == {(a, b) for a in "pqr" for b in "xy"} - {("r", "y")}
    assert abs(total - 1000) < 60
    assert all("add up" in " ".join(note.text for note in batch[name].notes) for name in QUERIES)


def test_no_table_is_less_accurate_than_apart_and_none_shows_fewer_groups(db):
    batch = priced_batch(db)
    (joined,) = batch.priced.private.parts
    bound = batch.batch
    shared = share_releases([(bound.statements[n].logical, bound.own[n]) for n in bound.private])
    apart = batch.split([renumbered(one, bound.private) for one in shared])
    ratios = batch.ratios(batch.priced, apart)
    declared = joined.keys.rule is KeyRule.DECLARED
    assert max(ratios.values()) <= (1.005 if declared else PRICE_OF_ADDING_UP)
    assert min(ratios.values()) < (0.8 if declared else 1.2)
    least = max(float(part.selection.threshold) for part in apart.private.parts if part.selection)
    assert float(joined.selection.threshold) <= least * 1.002
    assert batch.priced.private.charge.epsilon == apart.private.charge.epsilon


def test_by_default_no_predicted_error_of_a_batch_grows(db):
    batch, published = priced_batch(db, add_up=False), priced_batch(db)
    apart = batch.split(batch.shared)
    assert max(batch.ratios(batch.priced, apart).values()) <= 1.005
    declared = published.priced.private.parts[0].keys.rule is KeyRule.DECLARED
    assert [len(one.priced.shared) for one in (batch, published)] == [1 if declared else 4, 1]


def test_the_measures_cost_no_more_than_one_release(db):
    batch = priced_batch(db)
    joined, numbers = batch.priced.shared, batch.ratios(batch.priced, batch.priced)
    plain, measured = (batch.split(joined, weights).private for weights in (None, dict.fromkeys(numbers, 1.0)))
    assert float(measured.charge.cost.gaussian) <= float(plain.charge.cost.gaussian) * (1 + 1e-9)
    assert float(measured.charge.cost.gaussian) >= float(plain.charge.cost.gaussian) * (1 - 1e-4)


def sums_of(db, plan, keys):
    """The exact sums over some groups, through the real backend: by noisy sum, an integer for each group."""
    session = session_of(db)
    steps = program(plan, session.backend.dialect, "0" * 32)
    with session.backend.snapshot() as snapshot:
        for name, table in steps.declared:
            snapshot.load(name, table)
        if steps.measure is None:
            exact = snapshot.run(steps.first_pass)
            rows = {
                key: row
                for row, key in enumerate(zip(*(c.to_pylist() for c in exact.exact_keys().columns), strict=True))
            }
        else:
            selected = pa.table({f"k{i}": [key[i] for key in keys] for i in range(len(keys[0]))})
            snapshot.load(SELECTED, selected.append_column(KEY_INDEX, pa.array(range(len(keys)), type=pa.int64())))
            exact = snapshot.run(steps.measure)
            rows = {keys[int(place)]: row for row, place in enumerate(exact.exact_integers(KEY_INDEX))}
    columns = [exact.exact_numbers(f"s{i}") for i in range(len(plan.sums))]
    places = [rows.get(key, -1) for key in keys]
    return [
        np.array(
            [sum(f * int(columns[i][p]) for i, f in one.combination) if p >= 0 else 0 for p in places], dtype=object
        )
        for one in plan.noisy_sums
    ]


def spent(plan, before, after, keys):
    """mu squared of what the difference of two databases moves, in the groups and in all tables."""
    whole = Fraction(0)
    for cells, noisy_sums in [
        (list(range(len(keys))), plan.noisy_sums),
        *(
            (
                [
                    sorted({tuple(k[i] for i in level.keys) for k in keys}).index(tuple(k[i] for i in level.keys))
                    for k in keys
                ],
                level.noisy_sums,
            )
            for level in plan.levels
        ),
    ]:
        for number, one in enumerate(noisy_sums):
            if not one.scale:
                continue
            totals = []
            for sums in (before, after):
                total = np.zeros(max(cells) + 1, dtype=object)
                np.add.at(total, cells, sums[number])
                totals.append(_to_grid(total, one.shift))
            whole += Fraction(sum(int(move) ** 2 for move in totals[1] - totals[0])) / Fraction(one.scale) ** 2
    return whole


@pytest.mark.parametrize(
    ("queries", "kind", "least"),
    [
        pytest.param(QUERIES, "minimum", 0.5, id="minimum-people"),
        pytest.param(QUERIES, "open", 0.5, id="open-people"),
        pytest.param(OF_VISITS, "minimum", 0.2, id="minimum-visits"),
        pytest.param(OF_VISITS, "open", 0.2, id="open-visits"),
        pytest.param(OF_JOIN, "minimum", 0.2, id="minimum-join"),
        pytest.param(TOTALLED, "minimum", 0.5, id="minimum-people with totals"),
        pytest.param(VISITS_TOTALLED, "open", 0.2, id="open-visits with totals"),
    ],
)
def test_one_person_moves_groups_and_tables_by_at_most_what_is_charged(build, monkeypatch, queries, kind, least):
    monkeypatch.setattr(batch_pricing, "PRICE_OF_ADDING_UP", math.inf)
    catalog, minimum = KINDS[kind]
    person = [
        f"INSERT INTO people SELECT 5000, {KEYS.format('1')}, 100",
        "INSERT INTO visits SELECT 5000, 'p', ['x', 'y'][1 + j % 2] FROM range(9) r(j)",
    ]
    db, other = (build([*STATEMENTS, *more], catalog, min_frequency=minimum, budget=BUDGET) for more in ([], person))
    batch = priced_batch(db, queries, add_up=True if queries in (TOTALLED, VISITS_TOTALLED, OF_JOIN) else None)
    (plan,) = batch.priced.private.parts
    keys = [(a, b) for a in "pqr" for b in "xy"]
    moved = spent(plan, sums_of(db, plan, keys), sums_of(other, plan, keys), keys)
    charged = sum(event.cost.gaussian for event in plan.measuring)
    assert moved <= charged
    assert moved > charged * least


def releases(db, times, statements=range(4)):
    """Estimators of tables, by the real noise, of the same rows and the same selection; and the exact groups."""
    batch = priced_batch(db)
    plan, session = batch.priced.private.parts[0], session_of(db)
    receipt = session.ledger.charge(batch.priced.private.charge, analyst=None, question={"text": "test"})
    with session.backend.snapshot() as snapshot:
        exact = snapshot.run(program(plan, session.backend.dialect, "0" * 32).first_pass)
    cell_keys = exact.exact_keys()
    keys = list(zip(*(column.to_pylist() for column in cell_keys.columns), strict=True))
    kept = [row for row, key in enumerate(keys) if key != ("r", "y")]
    table = cell_keys.take(pa.array(kept))
    selected = SelectedKeys(table, np.ones(len(kept), bool), np.full(len(kept), 100.0), np.array(kept))
    counts = exact.exact_numbers("s0")[kept].astype(float)
    views = {member.statement: member.inside(plan) for member in batch.priced.shared[0].members}
    views = {number: view for number, view in views.items() if number in statements}
    for _ in range(times):
        finest = Estimator(measure(exact, selected, plan, receipt), plan)
        yield (
            [keys[row] for row in kept],
            counts,
            {number: coarser_table(finest, view) for number, view in views.items()},
        )


def errors(db, times):
    """Errors of cells and of totals over what their noise says, and the variances of one cell of each table."""
    cells, totals, stated = [], [], {}
    for keys, counts, tables in releases(db, times):
        for number, places in ((0, (0, 1)), (1, (0,)), (2, (1,)), (3, ())):
            table = tables[number]
            truth = {}
            for key, count in zip(keys, counts, strict=True):
                cell = tuple(key[i] for i in places)
                truth[cell] = truth.get(cell, 0.0) + count
            named = list(zip(*(c.to_pylist() for c in table.noisy.keys.columns), strict=True)) if places else [()]
            rows = [row for row, cell in enumerate(named) if cell in truth]
            error = table.noisy_sums[0][rows] - np.array([truth[named[row]] for row in rows])
            noise = table.noise_of(0)[rows]
            covariance = (noise @ noise.T).toarray()
            cells.append(error / np.sqrt(np.diag(covariance)))
            totals.append(error.sum() / math.sqrt(covariance.sum()))
            stated[number] = covariance.sum()
    return np.concatenate(cells), np.array(totals), stated


def check(cells, totals, trials):
    """Mean squares are one, to 6.5 standard errors: a false alarm is below 1e-9; 30 % off is far outside."""
    for values in (cells, totals):
        reach = 6.5 * math.sqrt(2 / trials)
        assert abs(float((values**2).mean()) - 1) < reach
        assert not abs(float((values**2).mean()) * 1.3**2 - 1) < reach


RELEASES = 300
FALSE_ALARM = 1e-9


def independent_errors(db, times):
    """Errors of the groups of the finest table, multiplied so that the stated noise makes them independent."""
    normal = []
    for keys, counts, tables in releases(db, times, [0]):
        finest = tables[0]
        named = list(zip(*(column.to_pylist() for column in finest.noisy.keys.columns), strict=True))
        rows = [named.index(key) for key in keys]
        if not normal:  # the stated noise is the same in every release
            noise = finest.noise_of(0)[rows]
            root = np.linalg.cholesky((noise @ noise.T).toarray())
        normal.append(np.linalg.solve(root, finest.noisy_sums[0][rows] - counts))
    return np.concatenate(normal)


def test_errors_are_as_large_as_stated(build):
    """The sum of the squares has a chi-square distribution; noise 30 % larger or smaller is rejected."""
    normal = independent_errors(build(STATEMENTS, OPEN, budget=BUDGET), RELEASES)
    squares = float((normal**2).sum())
    least, most = scipy.stats.chi2.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], len(normal))
    assert least < squares < most
    assert squares * 1.3**2 > most
    assert squares / 1.3**2 < least


def test_tables_that_add_up_state_one_noise_for_their_total(build):
    _, _, stated = errors(build(STATEMENTS, OPEN, budget=BUDGET), 1)
    assert max(stated.values()) == pytest.approx(min(stated.values()), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_coverage_is_nominal_in_20_000_releases(build, kind):
    catalog, minimum = KINDS[kind]
    cells, totals, _ = errors(build(STATEMENTS, catalog, min_frequency=minimum, budget=BUDGET), 20_000)
    check(cells, totals, 20_000)
    for level, reach in ((0.95, 1.959964), (0.99, 2.575829)):
        for values in (cells, totals):
            covered = float((np.abs(values) <= reach).mean())
            assert abs(covered - level) < 7 * math.sqrt(level * (1 - level) / 20_000)


def test_the_stated_noise_is_that_of_least_squares_by_matrices(build):
    """Five groups of a product of six: an exact solution by normal equations, from the variances of the plan."""
    db = build(STATEMENTS, OPEN, budget=BUDGET)
    ((keys, _, tables),) = releases(db, 1)
    plan = priced_batch(db).priced.private.parts[0]
    precision = np.eye(len(keys)) / plan.noisy_sums[0].noise.sigma ** 2
    for level in plan.levels:
        for cell in {tuple(key[i] for i in level.keys) for key in keys}:
            inside = np.array([tuple(key[i] for i in level.keys) == cell for key in keys], float)
            precision += np.outer(inside, inside) / level.noisy_sums[0].noise.sigma ** 2
    covariance = np.linalg.inv(precision)
    noise = tables[3].noise_of(0)
    assert (noise @ noise.T).toarray()[0, 0] == pytest.approx(covariance.sum(), rel=1e-9)
    noise = tables[1].noise_of(0)
    inside = np.array([key[0] == "q" for key in keys], float)
    assert (noise @ noise.T).toarray()[1, 1] == pytest.approx(inside @ covariance @ inside, rel=1e-9)


def test_each_table_asked_alone_repeats_its_digits_and_bars(db):
    batch = db.batch(QUERIES, epsilon=6.0, add_up=True)
    for name, sql in QUERIES.items():
        again = db.sql(sql, epsilon=6.0)
        assert again.receipt.reused
        assert list(again) == list(batch[name])
        for old, new in zip(batch[name].intervals, again.intervals, strict=True):
            assert [bar.lower for bar in new.values()] == pytest.approx([bar.lower for bar in old.values()])
        assert any("add up" in note.text for note in again.notes)
    repeated = db.batch(QUERIES, epsilon=6.0, add_up=True)
    assert repeated.receipt.reused
    assert all(list(repeated[name]) == list(batch[name]) for name in QUERIES)
    assert db.budget.queries == 1


def test_a_later_batch_of_fewer_tables_repeats_their_digits(db):
    """They are in the stored release of an earlier batch, where they are made of the groups by all keys."""
    batch = db.batch(QUERIES, epsilon=6.0, add_up=True)
    for name in ("all", "b"):
        again = db.batch({name: QUERIES[name]}, epsilon=6.0)
        assert again.receipt.reused
        assert list(again[name]) == list(batch[name])
        assert db.batch({name: QUERIES[name]}, epsilon=6.0, nonnegative=True).receipt.reused


def test_statements_with_totals_add_up_to_other_tables(db):
    """Their totals are sums of the shown groups of all tables, in error bars, quotes and stored answers, too."""
    batch, quote = (ask(TOTALLED, epsilon=6.0, add_up=True) for ask in (db.batch, db.quote_batch))
    cube = {(a, b): (n, years) for a, b, n, years in batch["cube"]}
    [(total, years)] = batch["all"]
    assert cube[None, None] == (total, years)
    for a, n, _ in batch["a"]:
        assert cube[a, None][0] == n == sum(count for (x, b), (count, _) in cube.items() if x == a and b and count)
    assert all(cube[None, b][0] == n for b, n in batch["sets"] if b)
    assert dict(batch["sets"])[None] == total
    [bars] = [bars for row, bars in zip(batch["cube"], batch["cube"].intervals, strict=True) if row[:2] == (None, None)]
    assert bars["n"].upper == pytest.approx(batch["all"].intervals[0]["n"].upper)
    predicted = quote.totals["cube"]["total"]["n"]
    assert predicted[1000] == pytest.approx(quote.errors["all"]["n"][1000])
    again = db.sql(TOTALLED["cube"], epsilon=6.0)
    assert again.receipt.reused
    assert list(again) == list(batch["cube"])


def test_no_group_of_fewer_than_the_minimum_is_in_a_table(build):
    db = build(STATEMENTS, OPEN, min_frequency=10, budget=BUDGET)
    batch = db.batch(QUERIES, epsilon=500.0, add_up=True)
    assert ("r", "y") not in set(zip(batch["ab"]["a"], batch["ab"]["b"], strict=True))
    assert batch["all"]["n"] == [1000]


def test_the_tables_of_a_join_have_the_limits_of_the_one_in_which_a_person_is_in_most_groups(build):
    """Nobody has more than two visits in a group, so that all 1275 visits of listed people count."""
    db = build(STATEMENTS, PEOPLE, min_frequency=10, budget=BUDGET)
    batch = db.batch(OF_JOIN, epsilon=500.0, add_up=True)
    [total] = batch["all"]["n"]
    assert abs(total - 1275) < 20
    assert sum(batch["region"]["n"]) == sum(batch["ward"]["n"]) == total


def test_shares_and_totals_over_windows_have_exact_bars(db):
    db.batch(QUERIES, epsilon=6.0, add_up=True)
    share = db.sql(
        "SELECT b, n / SUM(n) OVER () AS share FROM (SELECT b, COUNT(*) AS n, SUM(age) AS y FROM people GROUP BY b)",
        epsilon=6.0,
    )
    assert share.receipt.reused
    assert sum(share["share"]) == pytest.approx(1)
    assert {bars["share"].kind.value for bars in share.intervals} == {"exact"}


def test_tables_without_negative_numbers_add_up_where_a_group_is_held_back(db):
    """The rows of (r, y) are in no table; so nothing may be put there when negative sums are moved."""
    numbers = "COUNT(*) AS n, SUM(CASE WHEN age > 95 THEN 100 ELSE 0 END) AS rare FROM people"
    keys = {"ab": "a, b", "a": "a", "b": "b"}
    queries = {name: f"SELECT {by}, {numbers} GROUP BY {by}" for name, by in keys.items()}
    queries["all"] = f"SELECT {numbers}"
    batch = db.batch(queries, epsilon=2.0, nonnegative=True, add_up=True)
    for number in ("n", "rare"):
        [total] = batch["all"][number]
        assert by_key(batch["ab"], "a", number) == by_key(batch["a"], "a", number)
        assert by_key(batch["ab"], "b", number) == by_key(batch["b"], "b", number)
        assert sum(by_key(batch["a"], "a", number).values()) == (total or 0)


SMALL = [
    "CREATE TABLE t (u BIGINT PRIMARY KEY, x INTEGER, y INTEGER)",
    "INSERT INTO t SELECT j, j % 3, j % 5 FROM range(900) r(j)",
]
OF_SMALL = {key: f"SELECT {key}, COUNT(*) AS n FROM t GROUP BY {key}" for key in "xy"}


def test_tables_are_made_of_the_same_groups_if_that_is_asked_for(build):
    """Two undeclared keys of a small table: by itself, a batch measures them apart."""
    db = build(SMALL, "t: {unit: u, unit_unique: true}", min_frequency=5, budget=BUDGET)
    apart = db.batch(OF_SMALL, epsilon=4.0)
    assert db.quote_batch(OF_SMALL, epsilon=4.0, add_up=True).releases == 1
    batch = db.batch(OF_SMALL, epsilon=4.0, add_up=True)
    assert sum(batch["x"]["n"]) == sum(batch["y"]["n"])
    assert all("So they add up" in " ".join(note.text for note in answer.notes) for answer in batch)
    assert not any("add up" in note.text for answer in apart for note in answer.notes)
    assert not batch.receipt.reused
    assert list(db.batch(OF_SMALL, epsilon=4.0, add_up=True)["x"]) == list(batch["x"])
    assert list(db.batch(OF_SMALL, epsilon=4.0)["x"]) == list(apart["x"])
    assert db.budget.queries == 2


def test_declared_tables_that_sharing_makes_worse_add_up_if_that_is_asked_for(build):
    """Nothing is tested; a person has rows in many groups, so that residuals cost more than they save."""
    catalog = PEOPLE.replace("max_rows: 6, max_rows_per_group: 2", "max_rows: 60, max_rows_per_group: 2")
    db = build(STATEMENTS, catalog, budget=BUDGET)
    queries = {key: f"SELECT {key}, COUNT(*) AS n FROM visits GROUP BY {key}" for key in "ab"}
    assert priced_batch(db, queries).priced.private.parts[0].marginal is None
    batch = db.batch(queries, epsilon=3.0, add_up=True)
    assert sum(batch["a"]["n"]) == sum(batch["b"]["n"])
    again = db.sql(queries["a"], epsilon=3.0)
    assert again.receipt.reused
    assert list(again) == list(batch["a"])
    assert all("measured together" in " ".join(note.text for note in one.notes) for one in (*batch, again))


@pytest.mark.parametrize(
    ("table", "options", "reason"),
    [
        ("SELECT a, COUNT(*) AS n FROM people GROUP BY a", {"mechanism": "laplace"}, "Laplace noise: first, all"),
        ("SELECT a, COUNT(*) AS n FROM people GROUP BY a", {"within": "20%"}, "wanted errors: first, all"),
        ("SELECT a, MEDIAN(age) AS n FROM people GROUP BY a", {}, "not sums over rows: first[.]"),
        ("SELECT a, VAR_POP(age) AS n FROM people GROUP BY a", {}, "not sums over rows: first[.]"),
        ("SELECT a, COUNT(DISTINCT b) AS n FROM people GROUP BY a", {}, "not sums over rows: first[.]"),
    ],
)
def test_tables_that_cannot_add_up_are_refused_before_anything_is_charged(build, table, options, reason):
    db = build(STATEMENTS, PEOPLE, min_frequency=10, budget=BUDGET)
    queries = {"first": table, "all": "SELECT COUNT(*) AS n FROM people"}
    with pytest.raises(ParameterError, match=reason) as refused:
        db.batch(queries, epsilon=1.0, add_up=True, **options)
    assert refused.value.code == "cannot-add-up"
    assert db.budget.queries == 0
    assert db.quote_batch({"first": table}, epsilon=1.0, add_up=True).releases == 1


def test_a_table_with_the_keys_of_one_that_cannot_add_up_is_not_named(build):
    db = build(STATEMENTS, PEOPLE, min_frequency=10, budget=BUDGET)
    median = "SELECT a, MEDIAN(age) AS age FROM people GROUP BY a"
    with pytest.raises(ParameterError, match=r"not sums over rows: middle[.]"):
        db.batch({"middle": median, "a": QUERIES["a"], "all": QUERIES["all"]}, epsilon=1.0, add_up=True)


def test_a_count_of_some_rows_beside_that_of_all_rows_adds_up(build):
    """Alone, the two are released as disjoint counts."""
    db = build(STATEMENTS, PEOPLE, min_frequency=10, budget=BUDGET)
    numbers = "COUNT(*) AS n, COUNT(*) FILTER (WHERE age > 50) AS old FROM people"
    queries = {"a": f"SELECT a, {numbers} GROUP BY a", "b": f"SELECT b, {numbers} GROUP BY b", "all": QUERIES["all"]}
    batch = db.batch(queries, epsilon=6.0, add_up=True)
    assert sum(batch["a"]["n"]) == sum(batch["b"]["n"]) == batch["all"]["n"][0]
    assert sum(batch["a"]["old"]) == sum(batch["b"]["old"])


def test_a_statement_with_several_sets_of_groups_cannot_add_up(build):
    db = build(STATEMENTS, PEOPLE, min_frequency=10, budget=BUDGET)
    shares = "SELECT x.n / y.n AS share FROM ({}) AS x CROSS JOIN ({}) AS y".format(QUERIES["a"], QUERIES["all"])
    with pytest.raises(ParameterError, match="several sets of groups") as refused:
        db.batch({"shares": shares}, epsilon=1.0, add_up=True)
    assert refused.value.code == "cannot-add-up"
    assert db.budget.queries == 0


def test_where_groups_are_likely_to_be_small_tables_are_measured_apart(build, monkeypatch):
    """Two keys of thirty values each, of a table whose size nobody declared: eleven rows in a group."""
    monkeypatch.setattr(batch_pricing, "PRICE_OF_ADDING_UP", math.inf)
    sizes = {"": 2, ", size: 1000000": 1}
    for size, releases_ in sizes.items():
        db = build(SMALL, f"t: {{unit: u, unit_unique: true{size}}}", budget=BUDGET)
        assert len(priced_batch(db, OF_SMALL).priced.shared) == releases_
