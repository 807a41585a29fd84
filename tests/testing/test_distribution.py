"""The test of laws: right draws pass, draws 30 % off do not, and a test that could not tell is refused."""

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.answer import Mechanism
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.testing import assert_distribution, draws_needed
from hedgerow.testing.distribution import CELLS, FALSE_ALARM, OFF, _evidence, _needed
from hedgerow.testing.laws import NAMES, law_of

DRAWS = 12_000
"""Twice what the most demanding law here needs."""


def whole_laplace(random, scale, count):
    """The difference of two geometric numbers."""
    share = -np.expm1(-1 / scale)
    return (random.geometric(share, count) - random.geometric(share, count)).astype(float)


def whole_gaussian(random, scale, count):
    support = np.arange(-int(12 * scale + 12), int(12 * scale + 13))
    weights = np.exp(-(support**2) / (2 * scale**2))
    return random.choice(support, count, p=weights / weights.sum()).astype(float)


SAMPLERS = {
    "gaussian": lambda random, scale, count: random.normal(0, scale, count),
    "laplace": lambda random, scale, count: random.laplace(0, scale, count),
    "rounded gaussian": lambda random, scale, count: np.rint(random.normal(0, scale, count)),
    "rounded laplace": lambda random, scale, count: np.rint(random.laplace(0, scale, count)),
    "discrete gaussian": whole_gaussian,
    "discrete laplace": whole_laplace,
}
SCALES = [0.7, 1.0, 5.0, 1000.0]
cases = pytest.mark.parametrize("scale", SCALES)
laws = pytest.mark.parametrize("name", NAMES)


@cases
@laws
def test_draws_of_a_law_follow_it(random, name, scale):
    assert_distribution(SAMPLERS[name](random, scale, DRAWS), name, scale)


@pytest.mark.parametrize("off", [OFF, 1 / OFF])
@cases
@laws
def test_a_scale_30_percent_off_is_rejected(random, name, scale, off):
    with pytest.raises(AssertionError, match=f"do not follow the {name}"):
        assert_distribution(SAMPLERS[name](random, off * scale, DRAWS), name, scale)


@laws
def test_the_chances_of_cells_are_those_of_simulated_draws(random, rates, name):
    law = law_of(name, 3.0, 1.0)
    edges = law.edges(CELLS)
    chances = law.chances(edges)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    assert chances.min() > 0.01
    cells = np.searchsorted(edges, SAMPLERS[name](random, 3.0, 200_000))
    for cell, chance in enumerate(chances):
        assert rates.may_be(cells == cell, chance)
        assert rates.may_reach(cells == cell, chance)


@pytest.mark.parametrize(
    ("drawn", "named", "scale"),
    [("laplace", "gaussian", 1 / np.sqrt(2)), ("gaussian", "laplace", np.sqrt(np.pi / 2)), ("gaussian", "gaussian", 0)],
)
def test_another_shape_is_rejected(random, drawn, named, scale):
    """Of the same deviation, of the same mean size, and no noise at all."""
    draws = SAMPLERS[drawn](random, scale, 3 * DRAWS) if scale else np.zeros(DRAWS)
    with pytest.raises(AssertionError, match="do not follow"):
        assert_distribution(draws, named, 1.0)


def test_a_bias_is_rejected_and_a_known_centre_is_taken_away(random):
    draws = 7.0 + random.normal(0, 1.0, DRAWS)
    assert_distribution(draws, "gaussian", 1.0, centre=7.0)
    with pytest.raises(AssertionError, match="do not follow"):
        assert_distribution(draws, "gaussian", 1.0, centre=6.7)
    with pytest.raises(AssertionError, match="do not follow"):
        assert_distribution(np.abs(draws - 7.0), "gaussian", 1.0)


def test_noise_that_is_now_and_then_left_out_is_rejected(random):
    """On a fine grid no noise at all is nearly impossible, so thirty zeros among thousands of draws tell."""
    draws = np.rint(random.normal(0, 2.0**30, DRAWS))
    assert_distribution(draws, "rounded gaussian", 2.0**30)
    draws[:30] = 0.0
    with pytest.raises(AssertionError, match="do not follow"):
        assert_distribution(draws, "rounded gaussian", 2.0**30)


@pytest.mark.parametrize("step", [0.5, 0.1, 8.0])
def test_another_grid_is_taken_into_account(random, step):
    draws = step * np.rint(random.normal(0, 3.0 / step, DRAWS))
    assert_distribution(draws, "rounded gaussian", 3.0, step=step)
    with pytest.raises(AssertionError, match="not multiples of"):
        assert_distribution(draws + step / 3, "rounded gaussian", 3.0, step=step)


def test_a_noise_or_a_mechanism_names_its_law(random):
    draws = random.normal(0, 3.0, DRAWS)
    assert_distribution(draws, hr.Gaussian(3.0))
    assert_distribution(draws, Mechanism("rows", "gaussian", 3.0, 1.0))
    assert_distribution(random.laplace(0, 3.0, DRAWS), hr.Laplace(3.0))
    assert_distribution(0.5 * whole_laplace(random, 6.0, DRAWS), hr.Laplace(3.0, step=0.5))
    with pytest.raises(AssertionError, match="do not follow the gaussian of scale 4"):
        assert_distribution(draws, hr.Gaussian(4.0))


def test_the_failure_shows_what_was_seen(random):
    with pytest.raises(AssertionError) as caught:
        assert_distribution(random.normal(0, 2.0, DRAWS), "gaussian", 1.0)
    said = str(caught.value)
    assert "median" in said
    assert said.count("\n  ") == CELLS


@laws
def test_too_few_draws_are_refused_because_the_test_could_not_fail(random, name):
    least = draws_needed(name, 5.0)
    assert_distribution(SAMPLERS[name](random, 5.0, least), name, 5.0)
    with pytest.raises(ConditionNotMet, match="too few") as caught:
        assert_distribution(SAMPLERS[name](random, 5.0, least - 1), name, 5.0)
    assert caught.value.condition == f"at least {least} draws"


def test_a_law_that_hardly_ever_moves_needs_very_many_draws():
    assert draws_needed("discrete laplace", 0.05) > 10**7
    assert draws_needed("discrete laplace", 0.001) > 10**100


@pytest.mark.parametrize("freedom", [2, 5, 11])
def test_evidence_exceeds_what_is_needed_less_often_than_the_false_alarm_rate(random, rates, freedom):
    """At a rate that can be simulated, for few draws and many, and for cells of very different chances."""
    alarm = 0.01
    chances = 2.0 ** -np.arange(1.0, freedom + 2)
    chances /= chances.sum()
    for draws in (5, 50, 5000):
        tables = random.multinomial(draws, chances, size=20_000)
        evidence = np.array([draws * _evidence(table / draws, chances) for table in tables])
        assert rates.may_be(evidence > _needed(freedom, alarm), alarm)


def test_the_evidence_needed_solves_the_bound():
    for freedom in (2, 11):
        x = _needed(freedom, FALSE_ALARM)
        assert x > freedom
        assert -x + freedom * (1 + np.log(x / freedom)) == pytest.approx(np.log(FALSE_ALARM))


@pytest.mark.parametrize(
    ("law", "scale"), [("normal", 1.0), ("gaussian", None), ("gaussian", 0.0), (hr.Gaussian(1.0), 1.0), (None, None)]
)
def test_a_law_that_is_none_is_refused(law, scale):
    with pytest.raises(ParameterError):
        assert_distribution(np.zeros(DRAWS), law, scale)


def test_draws_that_are_no_numbers_are_refused():
    with pytest.raises(ParameterError, match="draws must be"):
        assert_distribution([float("nan")] * DRAWS, "gaussian", 1.0)
