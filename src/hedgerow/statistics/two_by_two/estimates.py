"""Comparisons of two groups: relative risk, odds ratio and risk difference from counts that may be noisy, and averages.

An average of values from 0 to 1 is a rate whose variance is not known beforehand, so the test of `score` applies: with
the noise of sum - average * count in place of that of a count, and with an upper limit of the variance of the values.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.arguments import Floats, Number, chosen, probability, reals
from hedgerow.distributions import Noise
from hedgerow.error_bars.intervals import Bounds, half_width
from hedgerow.error_bars.intervals.interval import Flags, Interval, Reason, Status
from hedgerow.errors import ParameterError
from hedgerow.special import ndtri
from hedgerow.statistics.moments import Moments, variance_bounds
from hedgerow.statistics.two_by_two.arms import (
    Arm,
    NoisePair,
    Term,
    disjoint_counts,
    farthest,
    noises,
    noisy_size,
    public_size,
)
from hedgerow.statistics.two_by_two.curves import ODDS_RATIO, RELATIVE_RISK, RISK_DIFFERENCE, Curve
from hedgerow.statistics.two_by_two.score import Score, accepted_bounds
from hedgerow.statistics.two_by_two.yardsticks import BoundsAndP, bootstrap, fieller, on_log_scale, on_plain_scale

Method = Literal["auto", "classic", "published", "conservative", "log", "fieller", "bootstrap"]

METHODS: tuple[Method, ...] = ("auto", "classic", "published", "conservative", "log", "fieller", "bootstrap")

NO_SIZE = Status(reason=Reason.ZERO_SIZE, note="unbounded: at this confidence the size of a group may be zero")

Noises = Noise | NoisePair | None

VARIANCE_BETA = 1e-6
"""Probability with which the upper limit of a variance may be too low. It is added to p-values."""


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """A relative risk, odds ratio or risk difference; for arrays of counts, arrays of them.

    Attributes:
        value: The point estimate from the noisy counts; nan where there is none.
        interval: Where the statistic of the population lies, at the stated confidence.
        p_value: How likely counts as different as these are where there is no difference, noise included.
        method: How interval and p-value were made.
    """

    value: Number
    interval: Interval | Bounds
    p_value: Number
    method: str


def relative_risk(
    x: ArrayLike,
    y: ArrayLike,
    n_x: ArrayLike,
    n_y: ArrayLike,
    *,
    noise: Noises = None,
    size_noise: Noises = None,
    rest_noise: Noises = None,
    confidence: float = 0.95,
    method: Method = "auto",
    population: bool = True,
) -> RatioEstimate:
    """Relative risk of the outcome in the first group, (x / n_x) / (y / n_y), with its uncertainty.

    The interval is about the population from which the two groups were drawn: it allows for sampling and for noise.
    `auto` tests every ratio and keeps those that the noisy counts do not reject (`score`); it keeps its
    coverage down to groups of twenty. `classic` takes the counts as exact (equation 3 of Shoham and Ligett 2025),
    `published` is Theorem 4.2, `conservative` Theorem 4.5, `log` the latter on the scale of logarithms, `fieller`
    Fieller's interval with both variances, `bootstrap` the same with simulated quantiles.

    Single numbers give single numbers; arrays of counts give arrays, one entry for each pair of groups.

    Args:
        x: (Noisy) count of outcomes in the first group, neither clipped nor rounded.
        y: In the second.
        n_x: Size of the first group; public, unless one of the next two says otherwise.
        n_y: Size of the second.
        noise: The law of the noise of x and y: one for both, or a pair.
        size_noise: That of n_x and n_y, where they were released beside x and y.
        rest_noise: That of the counts without the outcome, where n_x is the sum of x and such a count.
        confidence: How often the interval holds.
        method: See above.
        population: False for an interval about the people who were counted; `auto` only.

    Example:
        >>> from hedgerow import Laplace
        >>> risk = relative_risk(61, 38, 200, 200, noise=Laplace(1.0))
        >>> round(risk.value, 3), round(risk.interval.lower, 3), round(risk.interval.upper, 3)
        (1.605, 1.118, 2.282)
        >>> round(risk.p_value, 4)
        0.0095
    """
    return _estimate(
        RELATIVE_RISK, _arms(x, y, n_x, n_y, noise, size_noise, rest_noise), confidence, method, population=population
    )


def odds_ratio(
    x: ArrayLike,
    y: ArrayLike,
    n_x: ArrayLike,
    n_y: ArrayLike,
    *,
    noise: Noises = None,
    size_noise: Noises = None,
    rest_noise: Noises = None,
    confidence: float = 0.95,
    method: Method = "auto",
    population: bool = True,
) -> RatioEstimate:
    """The odds of the outcome in the first group over those in the second; arguments as for `relative_risk`.

    There is no `fieller`: an odds ratio is not a quotient of two means. `log` has the variances of sampling and noise
    on the scale of log-odds, with rates that are kept away from 0 and 1.

    Example:
        >>> odds = odds_ratio(61, 38, 200, 200)
        >>> round(odds.value, 3), round(odds.interval.lower, 3), round(odds.interval.upper, 3)
        (1.871, 1.178, 2.97)
    """
    return _estimate(
        ODDS_RATIO, _arms(x, y, n_x, n_y, noise, size_noise, rest_noise), confidence, method, population=population
    )


def risk_difference(
    x: ArrayLike,
    y: ArrayLike,
    n_x: ArrayLike,
    n_y: ArrayLike,
    *,
    noise: Noises = None,
    size_noise: Noises = None,
    rest_noise: Noises = None,
    confidence: float = 0.95,
    method: Method = "auto",
    population: bool = True,
) -> RatioEstimate:
    """Risk difference between the first and the second group, x / n_x - y / n_y; arguments as for `relative_risk`.

    There is no `log`: a difference may be negative.

    Example:
        >>> difference = risk_difference(61, 38, 200, 200)
        >>> round(difference.value, 3), round(difference.interval.lower, 3), round(difference.interval.upper, 3)
        (0.115, 0.031, 0.199)
    """
    return _estimate(
        RISK_DIFFERENCE, _arms(x, y, n_x, n_y, noise, size_noise, rest_noise), confidence, method, population=population
    )


def _arms(
    x: ArrayLike, y: ArrayLike, n_x: ArrayLike, n_y: ArrayLike, noise: Noises, size_noise: Noises, rest_noise: Noises
) -> tuple[Arm, Arm, tuple[int, ...]]:
    """The two arms with their counts in one row each, and the shape of the result."""
    given = [reals(name, value) for name, value in (("x", x), ("y", y), ("n_x", n_x), ("n_y", n_y))]
    counts = np.broadcast_arrays(*given)
    flat = [value.ravel() for value in counts]
    terms = _terms(noises("noise", noise), size_noise, rest_noise)
    if size_noise is None and rest_noise is None and np.any(np.minimum(flat[2], flat[3]) <= 0):
        raise ParameterError("n_x and n_y must be above 0: each group needs people.", code="parameter-positive")
    arms = Arm(flat[0], flat[2], terms[0]), Arm(flat[1], flat[3], terms[1])
    for name, arm in zip("xy", arms, strict=True):
        _possible(name, arm)
    return *arms, counts[0].shape


def _possible(name: str, arm: Arm) -> None:
    """Refuse a count so far outside of its group that noise explains it with a probability below 1e-30.

    The noise of count - rate * size is that of the count at a rate of 0, and that of those without the outcome at 1.
    """
    below, above = (
        sum(farthest(term.noise) for term in arm.terms if term.weight(np.asarray(rate)) != 0) for rate in (0.0, 1.0)
    )
    if np.any(arm.count < -below) or np.any(arm.count > arm.size + above):
        raise ParameterError(
            f"{name} must lie between 0 and n_{name}, apart from its noise.",
            code="parameter-range",
            hint="A noisy count may lie outside by a few times its noise: pass noise=Laplace(…) or Gaussian(…).",
        )


def _terms(noise: NoisePair, size_noise: Noises, rest_noise: Noises) -> list[tuple[Term, ...]]:
    if size_noise is not None and rest_noise is not None:
        raise ParameterError(
            "size_noise and rest_noise exclude each other: a size was released itself, or is a sum of two releases.",
            code="parameter-noise",
        )
    if size_noise is not None:
        return [noisy_size(*pair) for pair in zip(noise, noises("size_noise", size_noise), strict=True)]
    if rest_noise is not None:
        return [disjoint_counts(*pair) for pair in zip(noise, noises("rest_noise", rest_noise), strict=True)]
    return [public_size(one) for one in noise]


def _estimate(
    curve: Curve, arms: tuple[Arm, Arm, tuple[int, ...]], confidence: float, method: Method, *, population: bool
) -> RatioEstimate:
    x, y, shape = arms
    beta = 1.0 - probability("confidence", confidence)
    _available(curve, chosen("method", method, METHODS), population=population)
    bounds, p_value = _compared(curve, x, y, beta, method, population=population)
    unknown = np.zeros(x.count.shape, dtype=bool)
    for arm in (x, y):
        unknown |= arm.size <= -float(ndtri(beta / 2)) * np.sqrt(arm.size_variance)
    bounds, p_value = _open_where_unknown(curve, bounds, p_value, unknown)
    value = curve.value(x.rate, y.rate)
    if shape:
        return RatioEstimate(value.reshape(shape), bounds.shaped(shape), p_value.reshape(shape), method)
    return RatioEstimate(float(value[0]), bounds.intervals()[0], float(p_value[0]), method)


def _open_where_unknown(curve: Curve, bounds: Bounds, p_value: Floats, unknown: Flags) -> BoundsAndP:
    """Return the whole range of the statistic, and a p-value of 1, where noise does not tell the size of a group."""
    lower, upper = np.where(unknown, curve.lowest, bounds.lower), np.where(unknown, curve.highest, bounds.upper)
    statuses = [NO_SIZE if gone else status for gone, status in zip(unknown, bounds.statuses, strict=True)]
    return Bounds(lower, upper, statuses), np.where(unknown, 1.0, p_value)


def _available(curve: Curve, method: Method, *, population: bool) -> None:
    if (method, curve) in {("log", RISK_DIFFERENCE), ("fieller", ODDS_RATIO)}:
        raise ParameterError(
            f'There is no method "{method}" for this statistic.', code="parameter-choice", hint='Use "auto".'
        )
    if not population and method != "auto":
        raise ParameterError(
            "An interval about the people who were counted is made by the default method only.",
            code="parameter-choice",
            hint='Leave method at "auto".',
        )


def _compared(curve: Curve, x: Arm, y: Arm, beta: float, method: Method, *, population: bool) -> BoundsAndP:
    if method == "auto":
        score = Score(x, y, curve, population)
        return accepted_bounds(score, beta), score.p_value(np.full(x.count.shape, curve.null))
    if method == "classic":
        scale = on_plain_scale if curve is RISK_DIFFERENCE else on_log_scale
        return scale(x.without_noise(), y.without_noise(), curve, beta, noise=False)
    if method == "log":
        return on_log_scale(x, y, curve, beta, noise=True)
    if method == "fieller":
        return fieller(x, y, curve, beta)
    if method == "bootstrap":
        return bootstrap(x, y, curve, beta)
    return on_plain_scale(x, y, curve, beta, noise=method == "conservative")


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
    unknown = np.zeros(score.x.count.shape, dtype=bool)
    for arm in arms:
        noises = [(coefficient, arm.noise) for coefficient in arm.mixing[0].tolist() if coefficient]
        unknown |= arm.count <= half_width(noises, beta / 2)
    return _open_where_unknown(curve, bounds, p_value, unknown)


def averages(arms: tuple[Moments, Moments]) -> tuple[Floats, Floats]:
    """Return both averages of values from 0 to 1, cut to that range; nan where noise left nobody in a group."""
    first, second = (np.where(arm.count > 0, (arm.means[0] + 1) / 2, np.nan) for arm in arms)
    return first, second
