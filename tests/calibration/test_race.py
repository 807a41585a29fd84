"""The race to the top: a lower limit that holds, and no more than its parts say."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import hedgerow as hr
from hedgerow.accuracy.propositions import leader, margins, race_to_the_top

FALSE_ALARM = 1e-9
SUMS = st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1e5)), min_size=1, max_size=20)
BETAS = st.floats(1e-6, 0.5)


@given(SUMS, BETAS)
def test_it_is_the_largest_of_the_single_limits_and_never_negative(pairs, beta):
    values, sigmas = zip(*pairs, strict=True)
    quantile = NormalDist().inv_cdf(1 - beta / len(values))
    expected = max(0.0, *(v - s * quantile for v, s in pairs))
    assert race_to_the_top(values, sigmas, beta) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(SUMS, BETAS)
def test_a_smaller_beta_never_raises_the_limit(pairs, beta):
    values, sigmas = zip(*pairs, strict=True)
    assert race_to_the_top(values, sigmas, beta / 2) <= race_to_the_top(values, sigmas, beta) + 1e-9


def test_printed_vectors():
    assert race_to_the_top([900.0, 1700.0, 2000.0], [10.0, 20.0, 200.0], 0.05) == pytest.approx(1657.4391, abs=1e-4)
    assert race_to_the_top([100.0], [10.0], 0.05) == pytest.approx(83.5515, abs=1e-4)
    assert race_to_the_top([1.0, 2.0], [100.0, 200.0], 0.05) == 0.0


def test_of_equals_the_smallest_cap_leads():
    assert leader([5.0, 5.0, 4.0], [1.0, 1.0, 0.0]) == 0


def test_the_limit_lies_above_the_sum_no_more_often_than_stated():
    contributions = np.minimum(np.arange(1, 2001), 700)
    caps, mu, beta, trials = [2**j for j in range(1, 12)], 0.5, 0.05, 4000
    exact = np.array([np.minimum(contributions, cap).sum() for cap in caps], dtype=float)
    sigmas = [cap * math.sqrt(len(caps)) / mu for cap in caps]
    noise = np.random.default_rng().normal(size=(trials, len(caps))) * sigmas
    limits = np.array([race_to_the_top(list(row), sigmas, beta) for row in exact + noise])
    assert (limits > contributions.sum()).sum() <= stats.binom.isf(FALSE_ALARM, trials, beta)
    assert np.median(limits) > 0.9 * contributions.sum()


@pytest.mark.parametrize(
    ("values", "sigmas", "beta"),
    [([], [], 0.1), ([1.0], [1.0, 2.0], 0.1), ([1.0], [-1.0], 0.1), ([1.0], [math.nan], 0.1), ([1.0], [1.0], 0.0)],
)
def test_what_is_no_race_is_refused(values, sigmas, beta):
    with pytest.raises(hr.ParameterError) as caught:
        race_to_the_top(values, sigmas, beta)
    assert caught.value.code == "bad-race"


def test_margins_grow_with_the_number_of_sums():
    assert margins([1.0], 0.05) == [pytest.approx(1.6448536)]
    assert margins([1.0, 1.0], 0.05)[0] == pytest.approx(1.9599640)
