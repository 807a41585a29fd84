"""Noise is added to exact integers as it was paid for, by either sampler."""

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.release import draw
from hedgerow.release.draw import ROUNDED_UP_TO, add_noise
from hedgerow.testing import assert_distribution

FALSE_ALARM = 1e-9
SCALE = 2.0**44 + 12345.5


def drawn(count, mechanism, scale=SCALE):
    """Noise alone, in units of its scale: the exact values are taken away again."""
    exact = np.array([(-1) ** i * (2**100 + i) for i in range(count)], dtype=object)
    return (add_noise(exact, 0, scale, mechanism) - exact).astype(float) / SCALE


@pytest.mark.parametrize(("count", "mechanism"), [(4_999, "gaussian"), (20_000, "gaussian"), (20_000, "laplace")])
def test_few_cells_and_many_get_the_noise_that_was_paid_for(count, mechanism):
    assert_distribution(drawn(count, mechanism), mechanism, 1.0, false_alarm=FALSE_ALARM)
    for wrong in (1.3, 1 / 1.3):
        with pytest.raises(AssertionError, match="do not follow"):
            assert_distribution(drawn(count, mechanism, SCALE * wrong), mechanism, 1.0, false_alarm=FALSE_ALARM)


def test_a_scale_beyond_the_quick_sampler_is_drawn_by_the_other():
    wide = ROUNDED_UP_TO * 16
    noise = add_noise(np.zeros(5_000, dtype=object), 0, wide, "gaussian").astype(float)
    assert_distribution(noise, "discrete gaussian", wide, false_alarm=FALSE_ALARM)


@pytest.mark.parametrize("shift", [-70, -3, 0, 5])
def test_the_exact_value_survives_the_lattice_to_half_a_step(shift):
    exact = np.array([3 * 2**90 + 1, -(2**80) - 3, 0], dtype=object)
    noisy = add_noise(exact, shift, 2.0**10, "gaussian")
    for value, start in zip(noisy, exact, strict=True):
        assert abs(value - start * 2.0**shift) < 20 * 2.0**10 + abs(start * 2.0**shift) * 1e-9


CATALOG = """
dataset: keys
budget: {epsilon: 100, delta: 1e-3, pure_epsilon: 10}
defaults: {delta: 1e-7, min_frequency: 1}
tables:
  visits: {unit: person, max_rows: 1}
"""
SAMPLERS = ("rounded_gaussian", "discrete_gaussian", "discrete_laplace")


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_the_number_of_keys_in_the_data_does_not_choose_the_sampler(mechanism, tmp_path, monkeypatch):
    """Whoever knew the law of the noise would learn on which side of a limit the private number of keys is."""
    catalog = tmp_path / "keys.yaml"
    catalog.write_text(CATALOG)
    drawn_by: list[str] = []

    def recorded(name):
        real = getattr(draw, name)

        def sample(scale, count):
            drawn_by.append(name)
            return real(scale, count)

        return sample

    for name in SAMPLERS:
        monkeypatch.setattr(draw, name, recorded(name))

    def samplers(keys):
        visits = pa.table({"person": np.arange(keys), "place": np.arange(keys)})
        drawn_by.clear()
        with hr.connect({"visits": visits}, catalog=catalog, ledger=tmp_path / f"{keys}.ledger") as db:
            db.sql("SELECT place, COUNT(*) FROM visits GROUP BY place", epsilon=1.0, mechanism=mechanism)
        return list(drawn_by)

    assert samplers(4_999) == samplers(5_000) != []
