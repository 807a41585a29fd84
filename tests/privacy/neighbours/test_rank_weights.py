"""Ranks: one owner moves the weights of buckets, and so the law of every draw, by no more than was charged."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.accounting import ApproximateEvent, BoundedRangeEvent, SpreadRangeEvent
from hedgerow.accounting.budget import Charge
from hedgerow.accounting.events import SLOPE_SQUARED
from hedgerow.statistics.quantiles import (
    Target,
    highest,
    limit_shift,
    lower_target,
    lowest,
    rank_scores,
    score_rate,
    upper_target,
)

CHECKS = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
MEASURES = ["MEDIAN(i)", "QUANTILE_DISC(x, 0.9)", "QUANTILE_CONT(i, 0.3) FILTER (WHERE b)", "MIN(x)", "MAX(i)"]
values = st.tuples(
    st.sampled_from(["a", "b", "c", None]),
    st.just("p"),
    st.one_of(st.none(), st.floats(), st.floats(-2, 10)),
    st.one_of(st.none(), st.integers(-3, 8)),
    st.sampled_from([None, True, False]),
)
own = st.builds(lambda rows, times: rows * times, st.lists(values, min_size=1, max_size=6), st.integers(1, 12))
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


def targets(draw, buckets):
    """Where the estimate and its limits aim, each with its epsilon: what `quantiles.measure` draws."""
    if draw.rank.extreme:
        aim = (highest if draw.rank.quantile else lowest)(draw.epsilon, draw.reach, buckets.count)
        end = Target(draw.rank.quantile)
        shift = limit_shift(end, draw.limit_epsilon, draw.reach, buckets.count, draw.beta)
        limit = (lower_target if draw.rank.quantile else upper_target)(end, shift)
        return [(aim, draw.epsilon), (limit, draw.limit_epsilon)]
    middle = Target(draw.rank.quantile)
    shift = limit_shift(middle, draw.limit_epsilon, draw.reach, buckets.count, draw.beta / 2)
    shift += draw.rank.aside << draw.reach.weight_bits
    limits = [(side(middle, shift), draw.limit_epsilon) for side in (lower_target, upper_target)]
    return [(middle, draw.epsilon), *limits]


def ranges(plan, draw, before, after):
    """For each target of a draw, with its epsilon, the range of what an owner does to the loss of every group."""
    found = []
    for target, epsilon in targets(draw, plan.bucketings[draw.bucketing].buckets):
        moved = rank_scores(after[draw.bucketing], target).astype(object) - rank_scores(before[draw.bucketing], target)
        rate = score_rate(target, epsilon, draw.reach)
        assert np.abs(moved).max(initial=0) * rate * 2 <= epsilon, "no score moves further than a full owner moves it"
        found.append((epsilon, [rate * (int(max(group)) - int(min(group))) for group in moved.tolist()]))
    return found


def loss(plan, draw, before, after):
    """What an owner can do to the draws of all groups: the ranges, squared or as they are, in one sum."""
    every = [each for _, groups in ranges(plan, draw, before, after) for each in groups]
    return sum((SLOPE_SQUARED * r * r if plan.mechanism == "gaussian" else r for r in every), Fraction(0))


def charged(plan):
    """What the draws were charged, without the counts and the selection of keys next to them."""
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
        selected = sorted({(each.g,) for each in everybody}, key=repr) if keys else [()]
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
)
def test_one_owner_less_moves_the_draws_within_the_charge(
    both_worlds, mechanism, measures, bounds, members, leaver, keys
):
    bounds = (bounds[0], None if bounds[1] is None else min(bounds[1], bounds[0]), bounds[2])
    plan, before, after = both_worlds(measures, mechanism, bounds, members, leaver, keys)
    most = plan.bounding.rows_per_group << plan.weight_bits
    for one, other in zip(before, after, strict=True):
        added = (other - one).sum(axis=1)
        assert (other >= one).all()
        assert max(added, default=0) <= most
        weights = [Fraction(int(weight), 1 << plan.weight_bits) for weight in added]
        if mechanism == "gaussian":
            assert sum(weight**2 for weight in weights) <= plan.bounding.l2_squared
        else:
            assert sum(weights) <= plan.bounding.l1
    spent = sum(loss(plan, draw, before, after) for draw in plan.draws)
    if mechanism == "laplace" or keys:
        assert spent <= charged(plan)


@both
def test_the_test_notices_weights_that_are_left_out(both_worlds, mechanism):
    """An owner with nine rows where one is allowed: at weight one each, every draw would say nine times too much."""
    heavy = [("a", "p", 10.0, 5, True)] * 9
    plan, before, after = both_worlds(["MEDIAN(i)"], mechanism, (1, 1, 1), [], heavy)
    assert 0 < loss(plan, plan.draws[0], before, after) <= charged(plan)
    unweighted = [9 * table for table in after]
    with pytest.raises(AssertionError, match="no score moves"):
        loss(plan, plan.draws[0], before, unweighted)


@both
def test_a_full_owner_uses_all_of_an_epsilon(both_worlds, mechanism):
    """The noise is not larger than it must be: a rank in the middle is moved by half a row either way."""
    crowd = [[("a", "p", 0.0, n % 6, True)] for n in range(30)]
    plan, before, after = both_worlds(["MEDIAN(i)"], mechanism, (1, 1, 1), crowd, [("a", "p", 0.0, 5, True)])
    epsilon, groups = ranges(plan, plan.draws[0], before, after)[0]
    assert groups == [epsilon]
