"""Noise is added to exact integers as it was paid for, by either sampler."""

import numpy as np
import pytest

from hedgerow.release.draw import MANY_CELLS, QUICK, add_noise
from hedgerow.testing import assert_distribution

FALSE_ALARM = 1e-9
SCALE = 2.0**44 + 12345.5


def drawn(count, mechanism, scale=SCALE):
    """Noise alone, in units of its scale: the exact values are taken away again."""
    exact = np.array([(-1) ** i * (2**100 + i) for i in range(count)], dtype=object)
    return (add_noise(exact, 0, scale, mechanism) - exact).astype(float) / SCALE


@pytest.mark.parametrize(
    ("count", "mechanism"), [(MANY_CELLS - 1, "gaussian"), (4 * MANY_CELLS, "gaussian"), (4 * MANY_CELLS, "laplace")]
)
def test_few_cells_and_many_get_the_noise_that_was_paid_for(count, mechanism):
    assert_distribution(drawn(count, mechanism), mechanism, 1.0, false_alarm=FALSE_ALARM)
    for wrong in (1.3, 1 / 1.3):
        with pytest.raises(AssertionError, match="do not follow"):
            assert_distribution(drawn(count, mechanism, SCALE * wrong), mechanism, 1.0, false_alarm=FALSE_ALARM)


def test_a_scale_beyond_the_quick_sampler_is_drawn_by_the_other():
    wide = QUICK * 16
    noise = add_noise(np.zeros(MANY_CELLS, dtype=object), 0, wide, "gaussian").astype(float)
    assert_distribution(noise, "discrete gaussian", wide, false_alarm=FALSE_ALARM)


@pytest.mark.parametrize("shift", [-70, -3, 0, 5])
def test_the_exact_value_survives_the_lattice_to_half_a_step(shift):
    exact = np.array([3 * 2**90 + 1, -(2**80) - 3, 0], dtype=object)
    noisy = add_noise(exact, shift, 2.0**10, "gaussian")
    for value, start in zip(noisy, exact, strict=True):
        assert abs(value - start * 2.0**shift) < 20 * 2.0**10 + abs(start * 2.0**shift) * 1e-9
