"""Ranks: one owner moves the weights of buckets, and so the law of every draw, by no more than was charged."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.accounting import ApproximateEvent, BoundedRangeEvent, SpreadRangeEvent
from hedgerow.accounting.budget import Charge
from hedgerow.accounting.events import SLOPE_SQUARED
from hedgerow.release.ranks import Cells, _cut, _Part
from hedgerow.release.stored_release import _alike_draws
from hedgerow.statistics.quantiles import (
    DENOMINATOR,
    Target,
    cell_edges,
    highest,
    lowest,
    rank_scores,
    score_rate,
    strategy,
)

CHECKS = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
MEASURES = [
    "MEDIAN(i)",
    "QUANTILE_DISC(x, 0.9)",
    "QUANTILE_CONT(i, 0.3) FILTER (WHERE b)",
    "MIN(x)",
    "MAX(i)",
    "QUANTILE_DISC(i, 0.25), MEDIAN(i), QUANTILE_DISC(i, 0.75)",
    "QUANTILE_DISC(x, 0.1), QUANTILE_DISC(x, 0.8)",
]
values = st.tuples(
    st.sampled_from(["a", "b", "c", None]),
    st.just("p"),
    st.one_of(st.none(), st.floats(), st.floats(-2, 10)),
    st.one_of(st.none(), st.integers(-3, 8)),
    st.sampled_from([None, True, False]),
)
own = st.builds(lambda rows, times: rows * times, st.lists(values, min_size=1, max_size=6), st.integers(1, 12))
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


def aim(draw, buckets):
    """The rank that the release aims at."""
    if draw.rank.extreme:
        return (highest if draw.rank.quantile else lowest)(draw.epsilon, draw.reach, buckets.count)
    return Target(draw.rank.quantile)


def ranges(draw, target, before, after):
    """The range of what an owner does to the loss of a draw, in every group."""
    moved = rank_scores(after, target).astype(object) - rank_scores(before, target)
    rate = score_rate(target, draw.epsilon, draw.reach)
    assert np.abs(moved).max(initial=0) * rate * 2 <= draw.epsilon, "no score moves further than a full owner moves it"
    return [rate * (int(max(group)) - int(min(group))) for group in moved.tolist()]


def nested_ranges(draws, before, after, place):
    """The ranges of all nested draws where each cuts at a bucket that is fixed here: the same one in both worlds."""
    values = sorted({draw.rank.quantile for draw in draws})
    groups, count = before.shape
    ends = np.zeros(groups, int), np.full(groups, count - 1)
    worlds = [[_Part(table, *ends, 0, len(values) - 1, Fraction(0), Fraction(1))] for table in (before, after)]
    actual = []
    while worlds[0]:
        parts = [world.pop() for world in worlds]
        middle = (parts[0].first + parts[0].last + 1) // 2
        low, high = parts[0].low, parts[0].high
        target = Target((values[middle] - low) / (high - low))
        actual += ranges(draws[0], target, *(part.weights for part in parts))
        cut = np.clip(np.full(groups, place), parts[0].begin, parts[0].end)
        for world, part in zip(worlds, parts, strict=True):
            world.extend(_cut(part, middle, values[middle], cut))
    return actual


def loss(plan, before, after, place=0):
    """The ranges that an owner can cause in all draws and groups, squared or as they are, in one sum."""
    every = []
    for index, tables in enumerate(zip(before, after, strict=True)):
        draws = [draw for draw in plan.draws if draw.bucketing == index]
        buckets = plan.bucketings[index].buckets
        nested = [draw for draw in draws if draw.nested]
        every += nested_ranges(nested, *tables, place % buckets.count) if nested else []
        for draw in draws:
            every += [] if draw.nested else ranges(draw, aim(draw, buckets), *tables)
    return sum((SLOPE_SQUARED * r * r if plan.mechanism == "gaussian" else r for r in every), Fraction(0))


def moved_sums(plan, before, after, place=0):
    """Return the distance by which an owner moves the sums that give limits; a row of length one moves them by 1."""
    norms = []
    for shared in plan.cumulative:
        count = plan.bucketings[shared.bucketing].buckets.count
        edges = cell_edges(np.full((len(before[shared.bucketing]), 1), place % count), count, shared.cells)
        coefficients = strategy(shared.cells, shared.quantiles, plan.mechanism).coefficients.astype(object)
        cells = [
            Cells.merge(world[shared.bucketing], plan.bucketings[shared.bucketing].buckets, edges).weights
            for world in (before, after)
        ]
        moved = ((cells[1] - cells[0]).astype(object) @ coefficients.T).reshape(-1)
        one = DENOMINATOR << plan.weight_bits
        squares = sum(Fraction(int(distance), one) ** 2 for distance in moved)
        norms.append(squares if plan.mechanism == "gaussian" else sum(abs(Fraction(int(m), one)) for m in moved))
    return norms


def charged(plan):
    """The charge for the draws, without the counts and the selection of keys next to them."""
    drawn = (BoundedRangeEvent, SpreadRangeEvent, ApproximateEvent)
    cost = Charge(tuple(event for event in plan.charge.events if isinstance(event, drawn)), 1.0, 0.0).cost
    return cost.pure if plan.mechanism == "laplace" else cost.gaussian


@pytest.fixture
def both_worlds(laboratory, limits, row):
    """The weights with and without an owner, and the plan."""

    def measure(measures, mechanism, bounds, members, leaver, keys="GROUP BY g"):
        shown = ", ".join([*(["g"] if keys else []), *measures])
        plan = laboratory.plan(f"SELECT {shown} FROM t {keys}", limits(*bounds), mechanism=mechanism, epsilon=2.0)
        stay = [row(n, *cells) for n, cells_of in enumerate(members) for cells in cells_of]
        everybody = stay + [row(99, *cells) for cells in leaver]
        selected = sorted({(owned.g,) for owned in everybody}, key=repr) if keys else [()]
        return plan, laboratory.weights(stay, plan, selected), laboratory.weights(everybody, plan, selected)

    return measure


@both
@CHECKS
@given(
    st.lists(st.sampled_from(MEASURES), min_size=1, max_size=3, unique=True),
    st.tuples(st.integers(1, 6), st.one_of(st.none(), st.integers(1, 2)), st.one_of(st.none(), st.integers(1, 3))),
    st.lists(own, max_size=3),
    own,
    st.sampled_from(["", "GROUP BY g"]),
    st.integers(0, 20_000),
)
def test_one_owner_less_moves_the_draws_within_the_charge(
    both_worlds, mechanism, measures, bounds, members, leaver, keys, place
):
    bounds = (bounds[0], None if bounds[1] is None else min(bounds[1], bounds[0]), bounds[2])
    plan, before, after = both_worlds(measures, mechanism, bounds, members, leaver, keys)
    bounds_of = [bucketing.limits(plan.bounding) for bucketing in plan.bucketings]
    for limits, one, other in zip(bounds_of, before, after, strict=True):
        added = (other - one).sum(axis=1)
        assert (other >= one).all()
        assert max(added, default=0) <= limits.rows_per_group << plan.weight_bits
        weights = [Fraction(int(weight), 1 << plan.weight_bits) for weight in added]
        if mechanism == "gaussian":
            assert sum(weight**2 for weight in weights) <= limits.l2_squared
        else:
            assert sum(weights) <= limits.l1
    if mechanism == "laplace" or keys:
        assert loss(plan, before, after, place) <= charged(plan)
    for shared, moved in zip(plan.cumulative, moved_sums(plan, before, after, place), strict=True):
        limits = bounds_of[shared.bucketing]
        assert moved <= (limits.l2_squared if mechanism == "gaussian" else limits.l1)


@both
def test_the_test_notices_weights_that_are_left_out(both_worlds, mechanism):
    """An owner with nine rows where one is allowed: at weight one each, every draw would say nine times too much."""
    heavy = [("a", "p", 10.0, 5, True)] * 9
    plan, before, after = both_worlds(["MEDIAN(i)"], mechanism, (1, 1, 1), [], heavy)
    assert 0 < loss(plan, before, after) <= charged(plan)
    (moved,) = moved_sums(plan, before, after)
    assert 0.9 < moved <= 1
    unweighted = [9 * table for table in after]
    assert moved_sums(plan, before, unweighted)[0] > 1
    with pytest.raises(AssertionError, match="no score moves"):
        loss(plan, before, unweighted)


@both
def test_a_full_owner_uses_all_of_an_epsilon(both_worlds, mechanism):
    """The noise is not larger than it must be: a rank in the middle is moved by half a row either way."""
    crowd = [[("a", "p", 0.0, n % 6, True)] for n in range(30)]
    plan, before, after = both_worlds(["MEDIAN(i)"], mechanism, (1, 1, 1), crowd, [("a", "p", 0.0, 5, True)])
    (draw,) = plan.draws
    assert ranges(draw, aim(draw, plan.bucketings[0].buckets), before[0], after[0]) == [draw.epsilon]


@both
def test_the_rows_of_a_person_in_a_group_share_one_weight(both_worlds, mechanism):
    """Of eight rows in two groups some have no value: those that have one share what a person weighs in a group."""
    rows = [("a", "p", 0.0, 1, True), ("a", "p", 0.0, 4, True), ("a", "p", 0.0, 4, True), ("a", "p", 0.0, None, True)]
    rows += [("b", "p", 0.0, 5, True)] * 4
    plan, _, after = both_worlds(["MEDIAN(i)"], mechanism, (8, None, None), [], rows)
    in_each = math.isqrt(4**plan.weight_bits // 2) if mechanism == "gaussian" else 2**plan.weight_bits // 2
    low = plan.bucketings[0].buckets.low
    first, second = after[0]
    assert [int(first[value - low]) for value in (1, 4)] == [in_each // 3, 2 * (in_each // 3)]
    assert int(second[5 - low]) == 4 * (in_each // 4)
    assert first.sum() + second.sum() == 3 * (in_each // 3) + 4 * (in_each // 4)


@both
def test_one_group_and_extremes_weigh_rows(both_worlds, mechanism):
    rows = [("a", "p", 0.0, 1, True)] * 3
    for measures, keys in ((["MEDIAN(i)"], ""), (["MAX(i)"], "GROUP BY g")):
        plan, _, after = both_worlds(measures, mechanism, (8, None, None), [], rows, keys)
        assert after[0].sum() == 3 << plan.weight_bits


@both
def test_a_stored_median_of_rows_does_not_answer_for_people(both_worlds, mechanism):
    """Releases that were stored by earlier versions weigh rows."""
    plan, _, _ = both_worlds(["MEDIAN(i)"], mechanism, (8, None, None), [], [("a", "p", 0.0, 1, True)])
    rows = replace(plan, bucketings=tuple(replace(bucketing, by_person=False) for bucketing in plan.bucketings))
    assert _alike_draws(plan, 0, plan, 0)
    assert not _alike_draws(rows, 0, plan, 0)
    assert not _alike_draws(plan, 0, rows, 0)
