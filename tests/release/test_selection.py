"""Key selection, piece by piece: what a key of one person too few does, what it costs, and what the whole promises."""

import math
from fractions import Fraction

import pytest
from scipy import stats

from hedgerow.accounting import gaussian_delta, gaussian_mu, selection_delta
from hedgerow.accounting.budget import RemainingBudget
from hedgerow.privacy import gaussian, laplace

pytestmark = pytest.mark.mutation

MINIMUM = 7
GENEROUS = RemainingBudget(Fraction(10**6), Fraction(10**6), lambda _: Fraction(1))
"""A ledger that leaves the threshold mass to the statement's own delta."""

groups_of = pytest.mark.parametrize("groups", [1, 4, 30])
stated = pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-8), (1.0, 1e-6), (5.0, 1e-4)])


def normal(epsilon, delta, groups, share=0.2):
    """The selection of a statement that spends `share` of its mu squared on it."""
    mu = gaussian_mu(epsilon - gaussian.HEADROOM, delta)
    first, second = mu * math.sqrt(share), mu * math.sqrt(1 - share)
    built, events = gaussian.selection(epsilon, delta, MINIMUM, groups, first, second, GENEROUS, added=False)
    return built, events, second


@stated
@groups_of
def test_the_mass_is_the_chance_that_any_of_an_owners_keys_shows_by_noise_alone(epsilon, delta, groups):
    built, (_, passing), _ = normal(epsilon, delta, groups)
    one = stats.norm.sf(float(built.threshold - MINIMUM) / built.noise.sigma)
    any_of_them = -math.expm1(groups * math.log1p(-one))
    assert any_of_them <= float(built.mass) * (1 + 1e-12)
    assert float(built.mass) <= any_of_them * (1 + 1e-3)
    assert passing.cost.mass == built.mass


@stated
@groups_of
def test_the_noise_of_the_count_is_charged_for_all_keys_of_an_owner(epsilon, delta, groups):
    built, (counted, _), _ = normal(epsilon, delta, groups)
    assert float(counted.cost.gaussian) == pytest.approx(groups / built.noise.sigma**2, rel=1e-9)
    assert counted.moved == groups


@stated
@groups_of
@pytest.mark.parametrize("share", [0.2, 0.01])
def test_the_whole_statement_keeps_its_delta_by_the_exact_profile(epsilon, delta, groups, share):
    """Also where most is spent on the measures: half of delta for the threshold is then too much."""
    built, _, second = normal(epsilon, delta, groups, share)
    assert built.threshold > MINIMUM
    actual = selection_delta(epsilon, built.noise.sigma, MINIMUM, float(built.threshold), groups, stage2=second)
    assert actual <= delta
    lower = float(built.threshold) - built.noise.sigma / 4
    assert selection_delta(epsilon, built.noise.sigma, MINIMUM, lower, groups, stage2=second) > delta


@pytest.mark.parametrize("share", [0.2, 0.02])
@pytest.mark.parametrize("groups", [1, 3])
def test_the_exact_profile_is_the_larger_of_both_directions(share, groups):
    """By its definition: silence with probability p in one world only, and normals that are mu apart in both."""
    epsilon, delta = 1.0, 1e-6
    mu = gaussian_mu(epsilon, delta)
    sigma, second = math.sqrt(groups / share) / mu, mu * math.sqrt(1 - share)
    for tau in (MINIMUM + sigma, MINIMUM + 3 * sigma, MINIMUM + 6 * sigma):
        silence = stats.norm.logcdf((tau - MINIMUM) / sigma)
        worst = 0.0
        for alone in range(groups + 1):
            apart = math.sqrt((groups - alone) / sigma**2 + second**2)
            seen = -math.expm1(alone * silence)
            adding = seen + (1 - seen) * gaussian_delta(epsilon - alone * silence, apart)
            worst = max(worst, adding, gaussian_delta(epsilon + alone * silence, apart))
        assert selection_delta(epsilon, sigma, MINIMUM, tau, groups, stage2=second) == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("tau", [MINIMUM - 5.0, MINIMUM + 3.0, MINIMUM + 30.0])
@pytest.mark.parametrize("groups", [1, 3])
def test_below_zero_the_profile_is_that_of_the_other_direction(tau, groups):
    """For any two distributions, delta(P, Q) at -e is 1 - exp(-e) + exp(-e) delta(Q, P) at e: both must be there."""
    for epsilon in (0.1, 1.0):
        above = selection_delta(epsilon, 10.0, MINIMUM, tau, groups, stage2=0.7)
        below = selection_delta(-epsilon, 10.0, MINIMUM, tau, groups, stage2=0.7)
        assert below == pytest.approx(1 - math.exp(-epsilon) * (1 - above), rel=1e-9)


@groups_of
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
def test_a_laplace_threshold_is_above_the_minimum_by_what_its_mass_says(epsilon, groups):
    built, (counted, passing) = laplace.selection(epsilon, MINIMUM, groups, Fraction(1, 10**6))
    ratio = math.exp(-1 / built.scale)
    one = ratio ** float(built.threshold - MINIMUM) / (1 + ratio)
    any_of_them = -math.expm1(groups * math.log1p(-one))
    assert any_of_them <= float(passing.cost.mass) * (1 + 1e-12)
    assert float(passing.cost.mass) <= min(any_of_them * (1 + 1e-6), 1e-6 * (1 + 1e-6))
    assert float(counted.cost.pure) == pytest.approx(groups / built.scale)
    assert float(counted.cost.pure) <= epsilon


@pytest.mark.parametrize("moved", [0, 10**12, 10**22])
def test_the_stray_mass_of_all_cells_is_taken_from_delta(moved):
    left = gaussian.own_delta(1e-8, moved)
    assert Fraction(left) <= Fraction(1e-8) - Fraction(3, 10**31) * moved
    assert left == pytest.approx(1e-8 - 3e-31 * moved, rel=1e-6)


@pytest.mark.parametrize("rows", [1, 3])
def test_no_noise_shows_a_declared_key_of_one_person_too_few(build, ask, rows):
    """With so much delta that noise alone would let dozens of them pass."""
    keys, few = 8000, MINIMUM - 1
    unit, limits = ("PRIMARY KEY", "unit_unique: true") if rows == 1 else ("", f"max_rows: {rows}")
    listed = ", ".join(map(str, range(keys)))
    filled = f"SELECT j // {rows}, j // {rows * few} FROM range({keys * rows * few}) r(j)"
    db = build(
        [f"CREATE TABLE t (u BIGINT {unit}, g INTEGER NOT NULL)", f"INSERT INTO t {filled}"],
        f"t: {{unit: u, {limits}, columns: {{g: {{values: [{listed}]}}}}}}",
        min_frequency=MINIMUM,
        budget="{epsilon: 0.1, delta: 0.2}",
    )
    query = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
    answer = ask(db, query, mechanism="gaussian", epsilon=0.09, delta=0.17)
    tested = answer.receipt.mechanisms[0]
    assert keys * stats.norm.sf((tested.threshold - few) / tested.scale) > 25, "noise alone would let some pass"
    assert answer["n"] == [None] * keys
