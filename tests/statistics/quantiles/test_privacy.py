"""The loss of a whole draw on neighbouring data, computed from its exact law, is within what is charged."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from scipy.special import ndtr, ndtri

from hedgerow.accounting import GaussianEvent, LaplaceEvent, bounded_range_mu, gaussian_delta
from hedgerow.aggregates import Rank
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.ranks import gaussian_column
from hedgerow.statistics.quantiles import (
    Buckets,
    Reach,
    Target,
    affordable_epsilon,
    joint_factor,
    joint_range,
    levels,
    mu_squared,
    nested_rank_variances,
    pure_epsilon,
)
from hedgerow.statistics.quantiles.charge import FINEST, SLOPE_SQUARED

TABLES = np.array(list(product(range(4), repeat=3)))
OWNERS = np.array([owner for owner in product(range(3), repeat=3) if 0 < sum(owner) <= 4])
REACH = Reach(rows=2, weight_bits=1)
BUCKETS = Buckets(0, 99, 1)
TARGETS = [Target(q, shift) for q in (Fraction(1, 2), Fraction(1, 10), Fraction(1)) for shift in (-4, 0, 3)]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
@pytest.mark.parametrize("target", TARGETS)
def test_the_range_of_the_loss_is_within_epsilon_times_the_owners_share(target, epsilon, log_probabilities):
    without = log_probabilities(TABLES, target, epsilon, REACH)
    for owner in OWNERS:
        allowed = epsilon * Fraction(int(owner.sum()), REACH.weight)
        with ctx.workprec(128):
            for one, other in zip(without, log_probabilities(TABLES + owner, target, epsilon, REACH), strict=True):
                losses = [float((a - b).mid()) for a, b in zip(one, other, strict=True)]
                assert max(losses) - min(losses) <= float(allowed) * (1 + 1e-12)
                assert max(map(abs, losses)) <= float(pure_epsilon(epsilon, allowed / epsilon)) * (1 + 1e-12)


def test_the_range_is_reached_by_a_full_owner(log_probabilities):
    target, epsilon = Target(Fraction(1, 2)), Fraction(1)
    tables = np.array([[40] * 6, [44] + [40] * 5])
    without, with_owner = log_probabilities(tables, target, epsilon, REACH)
    losses = [float((a - b).mid()) for a, b in zip(without, with_owner, strict=True)]
    assert max(losses) - min(losses) == pytest.approx(1.0)


def hockey_stick(one, other, epsilon):
    return sum(max(0.0, math.exp(a) - math.exp(epsilon + b)) for a, b in zip(one, other, strict=True))


def pair(tables, target, epsilon, reach, log_probabilities):
    return [[float(ball.mid()) for ball in law] for law in log_probabilities(tables, target, epsilon, reach)]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(6)])
def test_one_group_stays_below_the_gaussian_profile_that_is_charged(epsilon, log_probabilities):
    mu = math.sqrt(mu_squared(epsilon, one_group=True))
    for owner in ([4, 0, 0], [0, 4, 0], [1, 1, 2]):
        for table in TABLES[::5]:
            tables = np.array([table, table + owner])
            without, with_owner = pair(tables, Target(Fraction(1, 2)), epsilon, REACH, log_probabilities)
            for level in (-2.0, -0.5, 0.0, 0.3, 1.0, 3.0):
                allowed = gaussian_delta(level, mu) + 1e-12
                assert hockey_stick(without, with_owner, level) <= allowed
                assert hockey_stick(with_owner, without, level) <= allowed


def test_many_thin_groups_need_the_slope_and_get_it():
    groups, epsilon = 100, 4.0
    needed = groups * bounded_range_mu(epsilon / math.sqrt(groups)) ** 2
    assert needed == pytest.approx(6.274, abs=1e-3)
    assert bounded_range_mu(epsilon) ** 2 == pytest.approx(5.560, abs=1e-3)
    assert mu_squared(Fraction(4), Fraction(1), one_group=False) >= needed


@pytest.mark.parametrize("epsilon", np.geomspace(1e-4, 60, 80))
def test_mu_of_a_bounded_range_lies_below_its_tangent(epsilon):
    assert bounded_range_mu(epsilon) ** 2 <= float(SLOPE_SQUARED) * epsilon**2 * (1 + 1e-12)


def test_the_slope_is_a_little_above_an_eighth_of_pi():
    with ctx.workprec(200):
        excess = arb(SLOPE_SQUARED.numerator) / SLOPE_SQUARED.denominator - arb.pi() / 8
        assert excess > 0
        assert excess < 1e-17


@pytest.mark.parametrize("one_group", [True, False])
@pytest.mark.parametrize("budget", [Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 4), Fraction(9)])
def test_the_affordable_epsilon_is_within_the_budget_and_nearly_uses_it(budget, one_group):
    norm = Fraction(1) if one_group else Fraction(7, 3)
    epsilon = affordable_epsilon(budget, norm, one_group=one_group)
    assert mu_squared(epsilon, norm, one_group=one_group) <= budget
    assert mu_squared(epsilon * (1 + Fraction(1, 10**7)) + Fraction(1, FINEST), norm, one_group=one_group) > budget


def test_one_group_is_charged_by_the_closed_formula():
    epsilon = 2 * math.log(ndtr(0.25) / ndtr(-0.25))
    assert float(affordable_epsilon(Fraction(1, 4), one_group=True)) == pytest.approx(epsilon, rel=1e-8)
    assert 2 * ndtri(1 / (1 + math.exp(-epsilon / 2))) == pytest.approx(0.5)


def test_nested_quantiles_are_charged_by_levels():
    assert [levels(count) for count in (1, 2, 3, 4, 15, 16)] == [1, 2, 2, 3, 4, 5]


def drawn_events(column):
    return [event for event in column.events if not isinstance(event, GaussianEvent | LaplaceEvent)]


QUARTILES = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
BUDGET = 0.25


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(
    ("quantiles", "nested", "factors"),
    [
        (QUARTILES, True, (Fraction(2), Fraction(2))),
        ([Fraction(1, 4), Fraction(3, 4)], False, (Fraction(13, 9), Fraction(5, 3))),
        ([Fraction(0), *QUARTILES], False, (Fraction(22, 9) + Fraction(1), Fraction(11, 3))),
    ],
)
def test_several_quantiles_of_one_column_are_priced_together(ranked, mechanism, quantiles, nested, factors):
    """Drawn one by one they would have the epsilon of one draw each; the factor of their price is less than that."""
    one = ranked(quantiles[:1], mechanism, 0.05, BUDGET, BUCKETS).column.draws[0].epsilon
    column = ranked(quantiles, mechanism, 0.05, BUDGET, BUCKETS)
    factor = factors[0] if mechanism == "gaussian" else factors[1]
    (epsilon,) = {draw.epsilon for draw in column.column.draws}
    gain = len(quantiles) / factor
    assert [draw.nested for draw in column.column.draws] == [nested] * len(quantiles)
    assert float(epsilon / one) == pytest.approx(math.sqrt(gain) if mechanism == "gaussian" else gain)
    (event,) = drawn_events(column.column)
    spent = event.cost.gaussian if mechanism == "gaussian" else event.cost.pure
    assert float(spent) == pytest.approx(len(quantiles) * BUDGET / 2)
    assert spent <= len(quantiles) * Fraction(BUDGET) / 2


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_column_spends_its_budget_and_no_more(ranked, mechanism):
    column = ranked(QUARTILES, mechanism, 0.05, BUDGET, BUCKETS, extremes=[Fraction(0), Fraction(1)])
    cost = sum((e.cost.gaussian if mechanism == "gaussian" else e.cost.pure for e in column.column.events), Fraction(0))
    assert 0.999 * 5 * BUDGET < cost <= 5 * Fraction(BUDGET)


def test_the_epsilon_of_one_group_is_the_better_of_two_prices():
    """At a large budget the price of one group, draw by draw, is less than the joint price by the slope."""
    limits = Bounding(1, 1, 1, weighted=False, size=10**6, grouped=False)
    ranks = [Rank(Fraction(1, 4)), Rank(Fraction(3, 4))]
    for budget, together in ((0.01, True), (400.0, False)):
        column = gaussian_column(0, BUCKETS, ranks, budget, limits, 0, 0.05)
        assert (len(drawn_events(column)) == 1) is together
        assert {draw.epsilon for draw in column.draws} == {column.draws[0].epsilon}


def test_nested_errors_are_inherited_from_the_cuts():
    """A tenth between nothing and a median: its own error, and a fifth of the median's."""
    tenth, median = nested_rank_variances([Fraction(1, 10), Fraction(1, 2)], Fraction(1))
    assert median == 1
    assert tenth == Fraction(8, 5) ** 2 + Fraction(1, 25)


QUANTILES = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]


def test_several_quantiles_of_one_group_cost_no_more_than_their_joint_factor(log_probabilities):
    epsilon, tables = Fraction(1), np.array(list(product((0, 3, 20), repeat=4)))
    for owner in ([4, 0, 0, 0], [0, 4, 0, 0], [0, 0, 0, 4], [2, 0, 0, 2], [1, 1, 1, 1], [0, 1, 0, 0]):
        squares = np.zeros(len(tables))
        for quantile in QUANTILES:
            without = pair(tables, Target(quantile), epsilon, REACH, log_probabilities)
            with_owner = pair(tables + owner, Target(quantile), epsilon, REACH, log_probabilities)
            losses = np.array(without) - np.array(with_owner)
            squares += (losses.max(axis=1) - losses.min(axis=1)) ** 2
        allowed = float(joint_factor(QUANTILES)) * (sum(owner) / REACH.weight) ** 2
        assert squares.max() <= allowed * (1 + 1e-9)


def test_the_joint_factor_is_reached_by_an_owner_at_the_end(log_probabilities):
    tables = np.array([[400] * 40, [404] + [400] * 39])
    squares = 0.0
    for quantile in QUANTILES:
        without, with_owner = pair(tables, Target(quantile), Fraction(1), REACH, log_probabilities)
        losses = np.array(without) - np.array(with_owner)
        squares += (losses.max() - losses.min()) ** 2
    assert squares == pytest.approx(float(joint_factor(QUANTILES)), rel=0.15)
    assert joint_factor(QUANTILES) < len(QUANTILES)


@pytest.mark.parametrize("quantile", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)])
def test_the_joint_factor_of_one_quantile_asked_often_is_how_often(quantile):
    assert joint_factor([quantile] * 3) == 3


def test_the_ranges_of_several_quantiles_add_up_to_no_more_than_their_joint_range(log_probabilities):
    epsilon, tables = Fraction(1), np.array(list(product((0, 3, 20), repeat=4)))
    for owner in ([4, 0, 0, 0], [0, 4, 0, 0], [0, 0, 0, 4], [2, 0, 0, 2], [1, 1, 1, 1]):
        total = np.zeros(len(tables))
        for quantile in QUANTILES:
            without = pair(tables, Target(quantile), epsilon, REACH, log_probabilities)
            with_owner = pair(tables + owner, Target(quantile), epsilon, REACH, log_probabilities)
            losses = np.array(without) - np.array(with_owner)
            total += losses.max(axis=1) - losses.min(axis=1)
        assert total.max() <= float(joint_range(QUANTILES)) * sum(owner) / REACH.weight * (1 + 1e-9)
    assert joint_range(QUANTILES) < len(QUANTILES)
