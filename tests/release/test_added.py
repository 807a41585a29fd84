"""Noise is added to the same integers in 64 bits and in Python's own."""

import numpy as np
import pytest

from hedgerow.release.draw import FITS, added

ENDS = [0, 1, -1, 2, -3, 1023, -1024, 2**31, -(2**40) - 1, 2**52 + 1, FITS - 1, 1 - FITS, FITS, -FITS, 2**63, -(2**90)]


def by_hand(exact, shift, noise):
    """In Python's integers: times 2^shift, or the nearest multiple, halves up."""
    placed = exact << shift if shift >= 0 else (exact + (1 << (-shift - 1))) // (1 << -shift)
    return placed + noise


@pytest.mark.parametrize("shift", [-70, -61, -8, -1, 0, 1, 9, 40, 61, 70])
@pytest.mark.parametrize("noise", [0, 7, -(2**50), FITS - 1, 1 - FITS, 2**62])
def test_the_sum_is_that_of_whole_numbers(shift, noise):
    drawn = np.full(len(ENDS), noise, dtype=np.int64)
    for exact in ([end] for end in ENDS):
        actual = added(np.array(exact, dtype=object), shift, drawn[:1])
        assert [int(number) for number in actual] == [by_hand(exact[0], shift, noise)]
    together = added(np.array(ENDS, dtype=object), shift, drawn)
    assert [int(number) for number in together] == [by_hand(end, shift, noise) for end in ENDS]


def test_small_numbers_stay_in_64_bits():
    assert added(np.array([5, -5], dtype=object), 3, np.array([1, 2])).dtype == np.int64
    assert added(np.array([2**63], dtype=object), 0, np.array([1])).dtype == object


def test_nothing_to_add_is_nothing():
    assert len(added(np.array([], dtype=object), 4, np.array([], dtype=np.int64))) == 0
