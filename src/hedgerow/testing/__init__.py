"""Testing code that gets noisy numbers: tolerances with a stated failure rate, and assertions based on them.

Nothing here needs pytest: the assertions raise `AssertionError` in any test runner.
"""

from hedgerow.testing import tolerance
from hedgerow.testing.comparisons import ApproxPrivate, approx_private, assert_noisy
from hedgerow.testing.distribution import assert_distribution, draws_needed

__all__ = [
    "ApproxPrivate",
    "approx_private",
    "assert_distribution",
    "assert_noisy",
    "draws_needed",
    "tolerance",
]
