"""Two averages compared, from noisy moments of two groups: a difference or a ratio, of these people or of a population.

An average of values from 0 to 1 is a rate whose variance is not known beforehand, so the test of `score` applies: with
the noise of sum - average * count in place of that of a count, and with an upper limit of the variance of the values.
"""

import numpy as np

from hedgerow.arguments import Floats
from hedgerow.distributions import Noise
from hedgerow.error_bars.intervals import Bounds, half_width
from hedgerow.statistics.moments import Moments, variance_bounds
from hedgerow.statistics.two_by_two.arms import Arm, Term
from hedgerow.statistics.two_by_two.curves import Curve
from hedgerow.statistics.two_by_two.estimates import NO_SIZE
from hedgerow.statistics.two_by_two.score import Score, accepted_bounds
from hedgerow.statistics.two_by_two.yardsticks import BoundsAndP

VARIANCE_BETA = 1e-6
"""Probability with which the upper limit of a variance may be too low. It is added to p-values."""


def average_arm(moments: Moments) -> Arm:
    """Return a group as an arm: the sum of u = (z + 1) / 2 among the number of rows, both noisy.

    Noise i has the coefficient (s_i + n_i) / 2 in the sum of u and n_i in the number of rows, hence
    (s_i + n_i) / 2 - p n_i in sum - p * rows.
    """
    rows, sums = moments.mixing[0], moments.mixing[1]
    terms = tuple(_term(moments, (s + n) / 2, n) for s, n in zip(sums.tolist(), rows.tolist(), strict=True))
    upper = variance_bounds(moments, VARIANCE_BETA, sample=True).upper / 4
    return Arm((moments.moment((1, 0)) + moments.count) / 2, moments.count, terms, np.asarray(upper, dtype=np.float64))


def _term(moments: Moments, in_sum: float, in_rows: float) -> Term:
    return Term(moments.noise, lambda rate: in_sum - rate * in_rows, in_size=in_rows != 0)


def compare_averages(arms: tuple[Moments, Moments], curve: Curve, beta: float, *, population: bool) -> BoundsAndP:
    """Return the interval of a statistic of two averages and the p-value for no difference, for every group.

    Args:
        arms: The moments of the two groups that are compared; their noises are independent.
        curve: The statistic, of averages of values from 0 to 1.
        beta: The probability with which an interval may fail.
        population: True for the population that the people were drawn from; False for the people themselves.
    """
    score = Score(average_arm(arms[0]), average_arm(arms[1]), curve, population)
    spared = min(VARIANCE_BETA, beta / 10) if population else 0.0
    bounds = accepted_bounds(score, beta - 2 * spared)
    p_value = np.minimum(score.p_value(np.full(score.x.count.shape, curve.null)) + 2 * spared, 1.0)
    unknown = np.any([arm.count <= half_width(_rows_noise(arm), beta / 2) for arm in arms], axis=0)
    lower, upper = np.where(unknown, curve.lowest, bounds.lower), np.where(unknown, curve.highest, bounds.upper)
    statuses = [NO_SIZE if gone else status for gone, status in zip(unknown, bounds.statuses, strict=True)]
    return Bounds(lower, upper, statuses), np.where(unknown, 1.0, p_value)


def _rows_noise(moments: Moments) -> list[tuple[float, Noise]]:
    return [(coefficient, moments.noise) for coefficient in moments.mixing[0].tolist() if coefficient]


def averages(arms: tuple[Moments, Moments]) -> tuple[Floats, Floats]:
    """Return both averages of values from 0 to 1, cut to that range; nan where noise left nobody in a group."""
    first, second = (np.where(arm.count > 0, (arm.means[0] + 1) / 2, np.nan) for arm in arms)
    return first, second
