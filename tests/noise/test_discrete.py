import numpy as np
import pytest

from hedgerow.errors import InternalError
from hedgerow.noise.discrete import BATCH, discrete_gaussian, discrete_laplace, draw
from hedgerow.noise.rounded import rounded_gaussian
from hedgerow.noise.source import nonce
from hedgerow.testing import assert_distribution

FALSE_ALARM = 1e-9
DRAWS = 10_000
SAMPLERS = [(discrete_gaussian, "discrete gaussian"), (discrete_laplace, "discrete laplace")]
SCALES = [0.7, 1.0, 5.0, 1000.0, 2.0**24 + 0.3, 2.0**44, 2.0**57]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("sampler", "law"), SAMPLERS)
def test_draws_follow_the_law_of_their_scale(sampler, law, scale):
    assert_distribution(sampler(scale, DRAWS), law, scale, false_alarm=FALSE_ALARM)


@pytest.mark.parametrize("wrong", [1 / 1.3, 1.3])
@pytest.mark.parametrize("scale", [0.7, 1.0, 5.0, 2.0**44])
@pytest.mark.parametrize(("sampler", "law"), SAMPLERS)
def test_the_same_test_rejects_a_scale_30_percent_off(sampler, law, scale, wrong):
    with pytest.raises(AssertionError, match="do not follow"):
        assert_distribution(sampler(wrong * scale, DRAWS), law, scale, false_alarm=FALSE_ALARM)


def test_the_test_of_fit_tells_a_laplace_from_a_gaussian_of_the_same_deviation():
    with pytest.raises(AssertionError, match="do not follow"):
        assert_distribution(discrete_laplace(1000 / np.sqrt(2), DRAWS), "discrete gaussian", 1000.0)


@pytest.mark.parametrize("sampler", [discrete_gaussian, discrete_laplace, rounded_gaussian])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_as_many_integers_come_as_were_asked_for(sampler, count):
    drawn = sampler(3.0, count)
    assert drawn.shape == (count,)
    assert drawn.dtype == np.int64


def test_the_last_short_batch_is_drawn_afresh(monkeypatch):
    monkeypatch.setattr(np, "empty", np.zeros)  # memory that was used before may hold old draws
    drawn = draw("laplace", 2.0**57, BATCH + 10)
    assert not np.any(drawn[-10:] == drawn[:10])
    assert np.all(drawn[-10:] != 0)


@pytest.mark.parametrize("sampler", [discrete_gaussian, discrete_laplace, rounded_gaussian])
@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 2.0**59])
def test_a_scale_that_cannot_be_is_refused(sampler, scale):
    with pytest.raises(InternalError, match="noise scale"):
        sampler(scale, 1)


def test_a_negative_number_of_draws_is_refused():
    with pytest.raises(InternalError, match="negative number"):
        discrete_gaussian(1.0, -1)


def test_nonces_do_not_repeat():
    names = {nonce() for _ in range(1000)}
    assert len(names) == 1000
    assert {len(name) for name in names} == {32}
