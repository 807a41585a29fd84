"""Charged estimators: what they cost, what they add, and that they pay before they draw."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from hedgerow import Gaussian, Laplace
from hedgerow.accounting import gaussian_mu
from hedgerow.accounting.budget import Cost
from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import BudgetError, ParameterError
from hedgerow.ledger import open_ledger
from hedgerow.ratio import (
    naive,
    noisy_counts,
    noisy_log,
    propose_test_release,
    relative_risk,
    sample_accuracy,
    smooth,
    smooth_sensitivity,
)
from hedgerow.release import ratios
from hedgerow.release.ratios import Purchase, grid_for, scale_for
from hedgerow.release.ratios import _drawn as drawn_noise

DOMAIN = {"n_x": 150, "n_y": 150}


def spent(ledger):
    return sum((event.cost for event in ledger.events()), Cost())


def all_estimators(ledger):
    return {
        "noisy_counts": lambda: noisy_counts(ledger, 61, 38, epsilon=0.5),
        "gaussian": lambda: noisy_counts(ledger, 61, 38, epsilon=0.5, delta=1e-5),
        "noisy_log": lambda: noisy_log(ledger, 61, 38, epsilon=0.5),
        "naive": lambda: naive(ledger, 61, 38, epsilon=0.5, n_x=150),
        "smooth": lambda: smooth(ledger, 61, 38, epsilon=0.5, delta=1e-5, **DOMAIN),
        "propose_test_release": lambda: propose_test_release(
            ledger, 61, 38, epsilon=0.5, delta=1e-5, bound=0.1, **DOMAIN
        ),
    }


NAMES = list(all_estimators(None))
PURE = {"noisy_counts", "noisy_log", "naive"}


@pytest.mark.parametrize("name", NAMES)
def test_the_charge_is_what_was_asked_and_no_more(ledger, name):
    receipt = all_estimators(ledger)[name]().receipt
    cost = spent(ledger)
    assert receipt.charge.cost == cost
    assert receipt.charge.epsilon == 0.5
    if name == "gaussian":
        limit = Fraction(gaussian_mu(0.5, 1e-5)) ** 2
        assert limit * (1 - Fraction(1, 10**9)) < cost.gaussian <= limit
        assert cost.pure == cost.mass == 0
    else:
        assert Fraction(0.5) * (1 - Fraction(1, 10**9)) < cost.pure <= Fraction(0.5)
        assert cost.mass == (0 if name in PURE else Fraction(1e-5))


@pytest.mark.parametrize("name", NAMES)
def test_the_history_shows_what_was_asked_and_that_it_was_answered(ledger, name):
    all_estimators(ledger)[name]()
    entry = ledger.history()[-1]
    assert entry.question == f"hedgerow.ratio.{name.replace('gaussian', 'noisy_counts')}"
    assert entry.status == "answered"
    assert ledger.verify()


@pytest.mark.parametrize("name", NAMES)
def test_without_budget_nothing_is_drawn(tmp_path, name, monkeypatch):
    policy = BudgetPolicy(epsilon=0.3, delta=1e-9, pure_epsilon=0.1)
    for sampler in ("discrete_laplace", "rounded_gaussian"):
        monkeypatch.setattr(ratios, sampler, _never)
    with open_ledger(tmp_path / "poor.ledger", dataset="clinic", policy=policy) as poor:
        with pytest.raises(BudgetError):
            all_estimators(poor)[name]()
        assert spent(poor) == Cost()


def _never(scale, count):
    pytest.fail("Noise was drawn before it was paid for.")


def test_disjoint_counts_have_the_whole_epsilon_each(ledger):
    actual = noisy_counts(ledger, 61, 38, epsilon=0.5)
    assert actual.noise == (Laplace(2.0, 1.0), Laplace(2.0, 1.0))
    assert isinstance(actual.x, int)
    assert actual.ratio == actual.x / actual.y
    assert relative_risk(actual.x, actual.y, 200, 200, noise=actual.noise).interval.upper > 0


def test_a_person_in_both_counts_makes_them_share_it(ledger):
    actual = noisy_counts(ledger, 61, 38, epsilon=0.5, neighbours="replace")
    assert [law.scale for law in actual.noise] == [4.0, 4.0]
    uneven = noisy_counts(ledger, 61, 38, epsilon=0.5, neighbours="replace", split=0.25)
    assert [law.scale for law in uneven.noise] == [8.0, pytest.approx(8 / 3)]
    assert spent(ledger).pure <= Fraction(1)
    gaussian = noisy_counts(ledger, 61, 38, epsilon=0.5, delta=1e-5, neighbours="replace", split=0.25)
    first, second = (law.sigma for law in gaussian.noise)
    assert math.isclose(1 / first**2 + 1 / second**2, gaussian_mu(0.5, 1e-5) ** 2, rel_tol=1e-9)
    assert math.isclose(first / second, math.sqrt(3), rel_tol=1e-9)


@pytest.mark.parametrize(("delta", "size"), [(None, 1.0), (1e-4, 3.186)])
def test_the_noise_is_the_smallest_that_the_price_allows(ledger, delta, size):
    first, second = noisy_counts(ledger, 61, 38, epsilon=1.0, delta=delta).noise
    assert first == second
    assert round(first.scale if delta is None else first.sigma, 3) == size


def near(false_alarm, held, draws, chance):
    return binom.ppf(false_alarm, draws, chance) <= held <= binom.isf(false_alarm, draws, chance)


@pytest.mark.parametrize("law", [Laplace(5.0, 1.0), Gaussian(9.0)])
def test_the_noise_of_counts_strays_as_its_law_says(false_alarm, law):
    draws, reach = 5_000, 6
    held = sum(abs(drawn_noise(law)) <= reach for _ in range(draws))
    if isinstance(law, Laplace):
        chance = 1 - 2 * math.exp(-(reach + 1) / 5) / (1 + math.exp(-1 / 5))
    else:
        chance = math.erf((reach + 0.5) / (9 * math.sqrt(2)))
    assert near(false_alarm, held, draws, chance)
    assert not near(false_alarm, held, draws, chance * 0.8)


def test_a_noisy_logarithm_misses_as_often_as_its_accuracy_says(ledger, false_alarm):
    draws, law = 5_000, noisy_log(ledger, 100, 100, epsilon=2.0).noise
    values = [ratios._noisy_exponential(0.0, law.scale / law.step) for _ in range(draws)]
    chance = sample_accuracy(100, 100, epsilon=2.0, alpha=0.3, estimator="noisy_log")
    assert near(false_alarm, sum(abs(value - 1) > 0.3 for value in values), draws, chance)


def test_a_naive_ratio_misses_as_often_as_its_accuracy_says(ledger, false_alarm):
    draws, law = 5_000, naive(ledger, 100, 100, epsilon=2.0, n_x=150, bound=30).noise
    grid = Fraction(law.step)
    values = [ratios._noisy_quotient((100, 100), grid, law.scale / law.step) for _ in range(draws)]
    chance = sample_accuracy(100, 100, epsilon=2.0, alpha=0.1, estimator="naive", n_x=150, bound=30)
    assert near(false_alarm, sum(abs(value - 1) > 0.1 for value in values), draws, chance)


def test_the_scale_of_smooth_noise_is_that_of_the_smooth_sensitivity():
    epsilon, delta = 1.0, 1e-6
    grid = ratios._smooth_grid(epsilon, 150)
    smoothness = math.log1p(epsilon / 2 / math.log(2 / delta))
    bound = smooth_sensitivity(61, 38, smoothness=smoothness, **DOMAIN)
    scale = ratios._smooth_scale((61, 38), 150, epsilon, delta, grid)
    assert math.isclose(scale * grid, 2 * (bound + grid) / epsilon, rel_tol=1e-6)
    assert grid < 2 * bound / epsilon / 1000


def test_neighbours_have_smooth_scales_and_quotients_within_what_the_proof_needs():
    epsilon, delta, most = 1.0, 1e-3, 12
    grid = ratios._smooth_grid(epsilon, most)
    limit = 1 + epsilon / 2 / math.log(2 / delta)
    scales = np.array(
        [
            [ratios._smooth_scale((x, y), most, epsilon, delta, grid) for y in range(1, most + 1)]
            for x in range(1, most + 1)
        ]
    )
    places = np.array([[round(Fraction(x, y) / grid) for y in range(1, most + 1)] for x in range(1, most + 1)])
    for axis in (0, 1):
        one, other = (np.moveaxis(scales, axis, 0)[cut] for cut in (slice(1, None), slice(None, -1)))
        moved = np.abs(np.diff(places.astype(float), axis=axis))
        moved = np.moveaxis(moved, axis, 0)
        assert np.max(np.maximum(one / other, other / one)) <= limit
        assert np.all(moved <= np.minimum(one, other) * epsilon / 2)


@pytest.mark.parametrize("distance", [0, 20])
def test_a_distance_passes_as_often_as_whole_number_noise_allows(false_alarm, distance):
    draws, scale, delta = 5_000, 2.0, 0.01
    held = sum(ratios._passes(distance, delta, scale) for _ in range(draws))
    above = math.floor(math.log(1 / delta) * scale) + 1 - distance
    q = math.exp(-1 / scale)
    chance = q**above / (1 + q) if above > 0 else 1 - q ** (1 - above) / (1 + q)
    assert near(false_alarm, held, draws, chance)
    assert distance > 0 or chance < delta


def test_a_proposal_that_the_data_is_near_to_fails_and_is_charged(ledger):
    answers = [
        propose_test_release(ledger, 100, 5, epsilon=0.1, delta=1e-9, bound=5.1, **DOMAIN).value for _ in range(5)
    ]
    assert answers == [None] * 5
    assert spent(ledger).pure == 5 * Fraction(0.1)


def test_a_noise_that_depends_on_the_data_is_not_told(ledger):
    assert smooth(ledger, 61, 38, epsilon=0.5, delta=1e-5, **DOMAIN).noise is None


@pytest.mark.parametrize("counts", [(0, 0), (0, 50), (50, 0), (10_000, 3), (3, 10_000)])
def test_no_count_makes_an_estimator_fail(ledger, counts):
    actual = [
        noisy_log(ledger, *counts, epsilon=1.0),
        naive(ledger, *counts, epsilon=1.0, n_x=150),
        smooth(ledger, *counts, epsilon=1.0, delta=1e-6, **DOMAIN),
        propose_test_release(ledger, *counts, epsilon=1.0, delta=1e-6, bound=80.0, **DOMAIN),
    ]
    assert all(math.isfinite(release.value) for release in actual[:3])
    assert len(list(ledger.events())) == 4


def test_laws_say_whose_noise_they_are(ledger):
    assert isinstance(noisy_counts(ledger, 61, 38, epsilon=0.5, delta=1e-5).noise[0], Gaussian)
    logarithm = noisy_log(ledger, 61, 38, epsilon=0.5).noise
    assert math.isclose(logarithm.scale, 2 * math.log(2), rel_tol=1e-6)
    ratio = naive(ledger, 61, 38, epsilon=0.5, n_x=150, bound=10).noise
    assert math.isclose(ratio.scale, 2 * 150 / 110, rel_tol=1e-6)
    both = naive(ledger, 61, 38, epsilon=0.5, n_x=150, bound=10, neighbours="replace").noise
    assert math.isclose(both.scale, 2 * (150 / 110 + 0.1), rel_tol=1e-6)


@pytest.mark.parametrize("moved", [1, 3])
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1 / 7])
def test_scales_are_rounded_up(moved, epsilon):
    scale = Fraction(scale_for(moved, epsilon))
    assert 0 <= scale - Fraction(moved) / Fraction(epsilon) < scale * Fraction(1, 2**50)


def test_grids_are_fine_and_public():
    for sensitivity in (Fraction(1, 3), Fraction(75), Fraction(1, 10**6)):
        grid = grid_for(sensitivity)
        assert 2**30 <= sensitivity / grid < 2**32


def rounded_log_distance(count):
    """Return the number of steps by which one more person moves the rounded logarithm."""
    places = [round(math.log(size) / Fraction(1, 2**30)) for size in (count, count + 1)]
    return abs(places[1] - places[0])


def test_rounded_logarithms_move_by_no_more_than_is_paid_for(ledger):
    noisy_log(ledger, 5, 5, epsilon=1.0)
    (event,) = ledger.events()
    assert max(rounded_log_distance(count) for count in range(1, 2_000)) <= event.sensitivity


def test_rounded_ratios_move_by_no_more_than_is_paid_for(ledger):
    most, bound = 12, 2
    naive(ledger, 5, 5, epsilon=1.0, n_x=most, bound=bound)
    (event,) = ledger.events()
    grid = grid_for(Fraction(most, bound * (bound + 1)))
    places = np.array([[round(Fraction(x, max(y, bound)) / grid) for y in range(20)] for x in range(most + 1)])
    assert max(np.max(np.abs(np.diff(places, axis=axis))) for axis in (0, 1)) <= event.sensitivity


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda ledger: noisy_counts(ledger, -1, 38, epsilon=1.0), "parameter-whole"),
        (lambda ledger: noisy_counts(ledger, 61.0, 38, epsilon=1.0), "parameter-whole"),
        (lambda ledger: noisy_counts(ledger, 61, 38, epsilon=0.0), "parameter-positive"),
        (lambda ledger: noisy_counts(ledger, 61, 38, epsilon=1.0, split=0.3), "parameter-choice"),
        (lambda ledger: noisy_counts(ledger, 61, 38, epsilon=1.0, neighbours="none"), "parameter-choice"),
        (
            lambda ledger: noisy_counts(ledger, 61, 38, epsilon=1.0, neighbours="replace", split=1.0),
            "parameter-probability",
        ),
        (lambda ledger: naive(ledger, 61, 38, epsilon=1.0, n_x=0), "parameter-whole"),
        (lambda ledger: naive(ledger, 61, 38, epsilon=1.0, n_x=150, bound=0), "parameter-whole"),
        (lambda ledger: smooth(ledger, 61, 38, epsilon=1.0, delta=0.7, **DOMAIN), "parameter-delta"),
        (lambda ledger: smooth(ledger, 61, 38, epsilon=1.0, delta=1e-6, n_x=2**40, n_y=2**40), "parameter-range"),
    ],
)
def test_what_cannot_be_is_refused_before_it_costs(ledger, ask, code):
    with pytest.raises(ParameterError) as caught:
        ask(ledger)
    assert caught.value.code == code
    assert not list(ledger.events())
    assert "61" not in str(caught.value)


def test_a_purchase_names_the_estimator_and_the_analyst(ledger):
    Purchase(ledger, "ana", "noisy_counts", 0.25).pay()
    assert set(ledger.budget().analysts) == {"ana"}
