"""Lattices: where the exact sums are finer than the noise they are rounded once, and the rounding is paid for."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from hedgerow.errors import ParameterError
from hedgerow.privacy import gaussian, laplace
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.precision import COARSE_SCALE, SUM_BITS, precision, root_up, shift_for
from hedgerow.release.draw import _to_grid

limits = st.builds(
    lambda r, extra, c, size, weighted: Bounding(r + extra, r, c, weighted, size),
    st.integers(1, 1000),
    st.integers(0, 10_000),
    st.integers(1, 500),
    st.integers(1, 10**12),
    st.booleans(),
)
noises = st.floats(1e-3, 1e7)
denominators = st.integers(1, 2**41)


def exact(value, shift):
    return _to_grid(np.array([value], dtype=object), shift)[0]


@given(st.integers(-(2**120), 2**120), st.integers(-80, 60))
def test_rounding_goes_to_the_nearest_point_of_the_lattice(value, shift):
    rounded = Fraction(exact(value, shift)) / Fraction(2) ** shift
    step = Fraction(2) ** -shift
    assert abs(rounded - value) <= (step / 2 if shift < 0 else 0)


@given(
    st.lists(st.tuples(st.integers(-(2**90), 2**90), st.integers(-(2**60), 2**60)), min_size=1, max_size=30),
    st.integers(-70, -1),
)
def test_rounding_adds_at_most_one_step_a_coordinate_and_the_root_of_their_number_in_all(cells, shift):
    scale = Fraction(2) ** shift
    moves = [exact(base + change, shift) - exact(base, shift) for base, change in cells]
    before = [change * scale for _, change in cells]
    assert all(abs(after - was) <= 1 for after, was in zip(moves, before, strict=True))
    norm_after, norm_before = (math.sqrt(sum(float(m) ** 2 for m in vector)) for vector in (moves, before))
    assert norm_after <= (norm_before + math.sqrt(len(cells))) * (1 + 1e-12)


@given(limits, noises, denominators, st.sampled_from([0, 30]))
def test_a_gaussian_coordinate_pays_for_its_rounding_and_stays_within_what_it_was_given(
    bounding, sigma, denominator, bits
):
    built, event = gaussian.noisy_sum("x", (), denominator, sigma, bounding, bits)
    step = Fraction(denominator << bits) * Fraction(2) ** built.shift
    moved = root_up(bounding.l2_squared) * step + (root_up(bounding.keys_touched) if built.shift < 0 else 0)
    exact_norm = Fraction(bounding.l2_squared) * step**2
    assert exact_norm <= event.sensitivity_squared <= moved**2
    if built.shift < 0:
        least = math.sqrt(bounding.l2_squared) * float(step) + math.sqrt(bounding.keys_touched)
        assert float(event.sensitivity_squared) >= least**2 * (1 - 1e-12)
    assert event.cost.gaussian <= Fraction(bounding.l2_squared) / Fraction(sigma) ** 2
    assert built.scale < 2**58
    paid = float(moved / (root_up(bounding.l2_squared) * step))
    assert built.noise.sigma == pytest.approx(sigma * paid, rel=1e-6)


@given(limits, noises, denominators, st.sampled_from([0, 30]), st.integers(1, 2))
def test_a_laplace_block_pays_for_its_rounding_and_stays_within_what_it_was_given(
    bounding, scale, denominator, bits, parts
):
    keys = min(bounding.keys_touched, bounding.l1 * 2**bits)
    if scale * parts * keys > 2**56:
        reject()  # rounding may then take more noise than the sampler draws, which is refused: see below
    built, event = laplace.block([("x", ())] * parts, denominator, scale, bounding, bits)
    step = Fraction(denominator << bits) * Fraction(2) ** built[0].shift
    rounding = parts * keys if built[0].shift < 0 else 0
    assert event.sensitivity == bounding.l1 * step + rounding
    assert event.cost.pure <= Fraction(bounding.l1) / Fraction(scale)
    assert built[0].scale <= 2**58


def test_noise_beyond_the_sampler_is_refused_when_it_is_priced():
    bounding = Bounding(1, 1, 1, weighted=True, size=10**18)
    with pytest.raises(ParameterError, match="exceed any answer"):
        laplace.block([("x", ())], 1, 1e12, bounding, 30)


@given(st.floats(1e-9, 1e60), st.floats(1.0, 2.0**45))
def test_the_lattice_is_neither_too_coarse_nor_too_fine_for_the_sampler(native, least):
    scaled = native * 2.0 ** shift_for(native, least)
    assert scaled >= min(least, COARSE_SCALE) * 0.999
    assert scaled <= 2 * COARSE_SCALE * 1.001


@given(st.integers(1, 10**18), st.booleans())
def test_sums_over_the_declared_size_fit_the_engine(size, weighted):
    bits = precision(size, weighted=weighted)
    assert bits.value >= 20
    assert size.bit_length() + bits.value + 1 + bits.weight <= SUM_BITS


@given(st.integers(0, 10**40))
def test_the_root_is_rounded_up(value):
    assert root_up(value) ** 2 >= value
    assert (root_up(value) - Fraction(2, 2**40)) ** 2 <= value or root_up(value) < Fraction(2, 2**40)
