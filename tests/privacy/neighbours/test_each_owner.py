"""Every owner's whole vector stays within its cap: thousands of owners in one statement, each under keys of its own."""

import itertools
import random
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

ROWS = [(g, x, b) for g in ("a", "b", None) for x, b in ((None, None), (-2.0, True), (10.0, True), (10.0, False))]
MEASURES = {
    "count": "COUNT(*)",
    "people": "COUNT(DISTINCT u), COUNT(*)",
    "sum": "SUM(x)",
    "mean": "AVG(x)",
    "variance": "VAR_POP(x), AVG(x)",
    "several": "COUNT(*), AVG(x), SUM(x) FILTER (WHERE b), COUNT(DISTINCT u) + COUNT(x)",
}
LIMITS = [(1, 1, 1), (1, 1, None), (2, 1, 2), (3, 1, 2), (3, 2, 2), (3, 2, None), (4, 3, 1), (4, 4, 2), (2, None, 1)]
LETTERS = "abcdefghijkl"


@pytest.fixture
def vectors(laboratory, row):
    """The vector of every owner, over its own keys, as the engine computes it next to all others."""

    def measure(owners, plan):
        rows = [row(number, f"{number}:{g}", "p", x, None, b) for number, own in enumerate(owners) for g, x, b in own]
        measured = laboratory.measure(rows, plan, selected=sorted({(owned.g,) for owned in rows}))
        actual, keys = defaultdict(list), defaultdict(set)
        for (key,), vector in measured.vectors.items():
            actual[int(key.split(":")[0])].append(vector)
        for (key,), count in measured.units.items():
            if count:
                keys[int(key.split(":")[0])].add(key)
        return actual, keys

    return measure


@pytest.fixture
def assert_within(step):
    return partial(_within, step)


def _within(step, plan, actual):
    """Each owner's vector costs no more than all measuring was charged, and each coordinate keeps its cap."""
    gaussian = plan.mechanism == "gaussian"
    power, cap = (2, plan.bounding.l2_squared) if gaussian else (1, plan.bounding.l1)
    weights = [(step(coordinate, plan) / Fraction(coordinate.scale)) ** power for coordinate in plan.noisy_sums]
    cost = plan.charge.cost
    charged = cost.gaussian if gaussian else cost.pure
    if plan.selection is not None:
        charged -= plan.bounding.groups / (Fraction(plan.selection.scale) / (1 << plan.selection.shift)) ** power
    for own in actual.values():
        sizes = [sum(abs(vector[i]) ** power for vector in own) for i in range(len(weights))]
        assert max(sizes, default=0) <= cap
        assert sum(size * weight for size, weight in zip(sizes, weights, strict=True)) <= charged


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("measures", MEASURES)
def test_every_small_owner_stays_within_its_cap(laboratory, limits, vectors, assert_within, measures, mechanism):
    """All owners of up to three rows over three keys and four contents."""
    owners = [own for size in range(4) for own in itertools.combinations_with_replacement(ROWS, size)]
    assert len(owners) == 455
    for rows, per_group, groups in LIMITS:
        plan = laboratory.plan(
            f"SELECT g, {MEASURES[measures]} FROM t GROUP BY g",
            limits(rows=rows, per_group=per_group, groups=groups),
            mechanism=mechanism,
        )
        actual, keys = vectors(owners, plan)
        assert_within(plan, actual)
        assert max(len(own) for own in keys.values()) <= plan.bounding.groups


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 300.0])
def test_owners_of_any_size_stay_within_their_cap(laboratory, limits, vectors, assert_within, mechanism, epsilon):
    dice = random.Random()
    for _ in range(6):
        rows = dice.choice([1, 2, 7, 40, 1000])
        bounds = limits(rows, dice.choice([None, 1, max(1, rows // 3)]), dice.choice([None, 1, 2, 5]))
        select = f"SELECT g, {MEASURES[dice.choice(list(MEASURES))]} FROM t GROUP BY g"
        plan = laboratory.plan(select, bounds, mechanism=mechanism, epsilon=epsilon)
        sizes = [dice.choice([1, 2, 10, 300]) for _ in range(60)]
        owners = [[(dice.choice(LETTERS), dice.uniform(-2, 10), True) for _ in range(size)] for size in sizes]
        actual, _ = vectors(owners, plan)
        assert_within(plan, actual)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_an_owner_within_all_limits_loses_nothing(laboratory, limits, vectors, mechanism):
    plan = laboratory.plan(
        "SELECT g, COUNT(*) FROM t GROUP BY g", limits(rows=6, per_group=2, groups=3), mechanism=mechanism
    )
    owners = [
        [("a", 1.0, True)] * i + [("b", 1.0, True)] * j + [("c", 1.0, True)] * k
        for i, j, k in itertools.product(range(3), repeat=3)
    ]
    actual, _ = vectors(owners, plan)
    for number, own in enumerate(owners):
        assert sum(vector[0] for vector in actual[number]) == len(own)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_whoever_counts_for_a_key_also_weighs_in_it(laboratory, limits, vectors, mechanism):
    """The contributors of the selection are among those of the measures, so that a shown cell rests on k people."""
    plan = laboratory.plan(
        "SELECT g, COUNT(*) FROM t GROUP BY g", limits(rows=2, per_group=1, groups=2), mechanism=mechanism
    )
    owners = [[(g, 1.0, True)] * times for times in (1, 3, 1000) for g in LETTERS[:1]]
    owners += [[(g, 1.0, True) for g in LETTERS] * times for times in (1, 50)]
    actual, keys = vectors(owners, plan)
    for number, own in enumerate(owners):
        assert keys[number]
        assert len(actual[number]) == len({g for g, _, _ in own})
        assert all(vector[0] > 0 for vector in actual[number])


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("select", ["SELECT COUNT(*), SUM(x), COUNT(DISTINCT u) FROM t", "SELECT COUNT(*) FROM t"])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_without_keys_an_owner_counts_like_at_most_so_many_rows(laboratory, limits, row, select, mechanism, rows):
    """An owner beyond the limit counts for all of it (up to the rounding of a weight), never for nothing."""
    plan = laboratory.plan(select, limits(rows=rows), mechanism=mechanism)
    for own in (0, 1, 2, 3, 7, 100):
        (vector,) = laboratory.measure([row(1, "a", "p", 10.0, 1, b=True)] * own, plan).vectors.values()
        label = [coordinate.label for coordinate in plan.noisy_sums]
        count = vector[label.index("rows")]
        assert count <= min(own, rows)
        assert count >= min(own, rows) * (1 - Fraction(own, 1 << 10))


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_spellings_that_the_database_calls_equal_are_one_owner(build, mechanism):
    """Under a collation without case one person may be spelt in 64 ways, each in a key of its own."""
    spellings = ["".join(letters) for letters in itertools.product(*zip("abcdef", "ABCDEF", strict=True))]
    rows = ", ".join(f"('{name}', {key})" for key, name in enumerate(spellings))
    keys = ", ".join(map(str, range(64)))
    db = build(
        ["CREATE TABLE t (u VARCHAR COLLATE NOCASE, g INTEGER)", f"INSERT INTO t VALUES {rows}"],
        f"t: {{unit: u, max_rows: 4, max_rows_per_group: 1, columns: {{g: {{values: [{keys}]}}}}}}",
    )
    answer = db.sql("SELECT g, COUNT(*) * 1.0 AS n, SUM(1) AS s FROM t GROUP BY g", mechanism=mechanism, epsilon=900)
    total = sum(value**2 if mechanism == "gaussian" else abs(value) for value in answer["s"])
    assert total < 20  # the cap is 4; as 64 owners they would have 64


@pytest.mark.parametrize("keys", [7, 8, 9, 20])
def test_an_owner_in_more_keys_than_weights_can_tell_apart_weighs_nothing(laboratory, row, limits, keys):
    """A cap of 2 rows in steps of a quarter: beyond 8 keys the weight is below a step, and rounding down leaves 0."""
    plan = laboratory.plan("SELECT g, COUNT(*) AS n FROM t GROUP BY g", limits(2, 1, None), mechanism="laplace")
    plan = replace(plan, weight_bits=2)
    rows = [row(1, f"{key}", "p", 1.0, None, None) for key in range(keys)]
    vectors = laboratory.measure(rows, plan, selected=[(f"{key}",) for key in range(keys)]).vectors
    assert plan.bounding.keys_weighed(2) == 8
    assert [any(vector) for vector in vectors.values()] == [keys <= 8] * keys


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(
    "aggregate", ["COUNT(*) FILTER (WHERE b)", "SUM(x) FILTER (WHERE b)", "AVG(x) FILTER (WHERE b)"]
)
def test_rows_that_add_to_no_sum_do_not_share_the_weight(laboratory, limits, row, assert_within, aggregate, mechanism):
    """Owners of one row that counts and many that do not: the same numbers as if the others were not there."""
    plan = laboratory.plan(f"SELECT {aggregate} FROM t", limits(rows=1), mechanism=mechanism)
    counting = [row(1, "a", "p", 10.0, b=True), row(2, "a", "p", -2.0, b=True)]
    others = [row(owner, "a", "p", 5.0, None, b) for owner in (1, 2, 3) for b in (False, None) for _ in range(4)]
    actual = laboratory.measure(counting + others, plan)
    assert actual.vectors == laboratory.measure(counting, plan).vectors
    assert any(any(vector) for vector in actual.vectors.values())
    for more in (1, 5):
        alone = laboratory.measure(counting[:1] * more + others[:8], plan)
        assert_within(plan, {1: list(alone.vectors.values())})


def test_where_people_are_tested_all_their_rows_share_the_weight(laboratory, limits, row):
    plan = laboratory.plan("SELECT COUNT(*) FILTER (WHERE b) FROM t", limits(rows=1), min_frequency=2)
    rows = [row(owner, "a", "p", 1.0, None, owner == turn) for owner in range(3) for turn in range(2)]
    ((number,),) = laboratory.measure(rows, plan).vectors.values()
    assert number == 1, "two owners count with one of their two rows, at half its weight"
