"""Numbers on the lattice of their noise, and bits that tell."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.audit.record import DECIDABLE, lowest_bits, off_lattice

steps = st.builds(
    lambda denominator, bits, shift: float(denominator << bits) * 2.0**shift,
    st.integers(1, 10**6),
    st.integers(0, 30),
    st.integers(-10, 30),
)


@given(st.lists(st.integers(-(2**50), 2**50), min_size=1), steps)
def test_what_integers_make_is_on_the_lattice(wholes, step):
    released = np.array(wholes, dtype=object).astype(float) / step
    assert off_lattice(released, step) == (0, len(wholes))


@given(st.integers(-(2**40), 2**40), steps)
def test_a_little_beside_is_off_the_lattice(whole, step):
    assert off_lattice(np.array([(whole + 0.3) / step]), step) == (1, 1)


def test_nothing_is_said_where_doubles_are_too_coarse():
    assert off_lattice(np.array([DECIDABLE * 4]), 1.0) == (0, 0)


def test_what_is_not_there_is_not_counted():
    assert off_lattice(np.array([np.nan, np.inf, 2.0]), 1.0) == (0, 1)


@given(st.integers(0, 2**51).map(lambda n: 2 * n + 1), st.integers(-900, 900), st.sampled_from([-1, 1]))
def test_the_lowest_bit_of_an_odd_multiple_is_the_power(odd, power, sign):
    assert lowest_bits(np.array([sign * odd * 2.0**power])).tolist() == [power]
