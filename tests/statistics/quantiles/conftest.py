"""The exact law of a drawn bucket, in ball arithmetic."""

import pytest
from flint import arb, ctx, fmpq

from hedgerow.statistics.quantiles import rank_scores, score_rate

PRECISION = 128


def _log_probabilities(weights, target, epsilon, reach):
    """For each row of weights, the logarithms of the probabilities of all buckets, as balls."""
    rate = score_rate(target, epsilon, reach)
    with ctx.workprec(PRECISION):
        laws = []
        for row in rank_scores(weights, target).tolist():
            exponents = [-arb(fmpq(score * rate.numerator, rate.denominator)) for score in row]
            total = sum((exponent.exp() for exponent in exponents), arb(0)).log()
            laws.append([exponent - total for exponent in exponents])
        return laws


@pytest.fixture
def log_probabilities():
    return _log_probabilities
