"""The exact law of a drawn bucket, in ball arithmetic; priced columns."""

from dataclasses import dataclass

import pytest
from flint import arb, ctx, fmpq

from hedgerow.aggregates import Rank
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.ranks import RankedColumn, gaussian_column, laplace_column
from hedgerow.release.ranks import measure_column
from hedgerow.statistics.quantiles import Buckets, rank_scores, score_rate

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


@dataclass(frozen=True)
class Ranked:
    """A priced column, and how the release draws from it."""

    column: RankedColumn
    buckets: Buckets
    mechanism: str
    weight_bits: int

    def measure(self, weights):
        column = self.column
        return measure_column(
            weights,
            self.buckets,
            column.draws,
            column.cumulative,
            mechanism=self.mechanism,
            weight_bits=self.weight_bits,
        )


@pytest.fixture
def ranked():
    """Quantiles and extremes of one column of people with one row each, priced in one group of many."""

    def price(quantiles, mechanism, beta, budget, buckets, *, extremes=(), weight_bits=0):
        limits = Bounding(1, 1, 1, weighted=False, size=10**6)
        ranks = [Rank(quantile) for quantile in quantiles] + [Rank(end, extreme=True) for end in extremes]
        make = {"gaussian": gaussian_column, "laplace": laplace_column}[mechanism]
        return Ranked(make(0, buckets, ranks, budget, limits, weight_bits, beta), buckets, mechanism, weight_bits)

    return price
