"""How far a noisy number may stray before a test fails: all tolerances under one name.

Each fails, where nothing is wrong, with probability 10^-k at most. The complementary ones are for the opposite
question: that any noise is there at all.
"""

from hedgerow.testing.complementary import (
    complementary_gaussian,
    complementary_laplace,
    complementary_mean,
    complementary_variance,
)
from hedgerow.testing.flakiness import LARGEST_K, independent, k_of, partitions
from hedgerow.testing.moments import Bracket, mean, variance
from hedgerow.testing.noise import gaussian, integer, laplace

__all__ = [
    "LARGEST_K",
    "Bracket",
    "complementary_gaussian",
    "complementary_laplace",
    "complementary_mean",
    "complementary_variance",
    "gaussian",
    "independent",
    "integer",
    "k_of",
    "laplace",
    "mean",
    "partitions",
    "variance",
]
