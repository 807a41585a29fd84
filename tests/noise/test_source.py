"""Random bits come from the operating system: no generator that somebody could seed has a hand in them.

Two draws of 128 bits are the same by chance once in 10^38 times.
"""

import random

import numpy as np
import pytest

from hedgerow.noise import source
from hedgerow.noise.rounded import rounded_gaussian

pytestmark = pytest.mark.mutation


@pytest.fixture
def replay():
    """Make something twice from the same state of every generator of this process."""

    def twice(make):
        state, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002 - the one that libraries may share
        first = make()
        random.setstate(state)
        np.random.set_state(legacy)  # noqa: NPY002
        return first, make()

    return twice


@pytest.mark.parametrize(
    "make",
    [
        lambda: source.words(2).tobytes(),
        lambda: source.bits(128),
        source.nonce,
        lambda: rounded_gaussian(2.0**40, 8).tobytes(),
    ],
)
def test_the_state_of_other_generators_says_nothing_about_a_draw(replay, make):
    first, second = replay(make)
    assert first != second


def test_the_test_notices_a_generator_that_can_be_set_back(replay):
    first, second = replay(lambda: random.getrandbits(128))
    assert first == second
    first, second = replay(lambda: np.random.bytes(16))  # noqa: NPY002
    assert first == second
