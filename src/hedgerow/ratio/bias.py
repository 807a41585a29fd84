"""Bias of a ratio of noisy counts, and its correction."""

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import exp1, expi

from hedgerow.arguments import Floats, Number, chosen, plain, positives, probability, reals
from hedgerow.distributions import Noise
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.statistics.two_by_two.arms import noises

SERIES_FROM = 60.0
"""From here on, the divergent series of the exponential integral is exact to sixteen digits; e^60 cannot overflow."""

SERIES = [math.factorial(k) for k in range(17)]
FAR = 5.0
"""A denominator this many standard deviations away from zero has a bias that a second-order formula removes."""


def expected_ratio(
    x: ArrayLike, y: ArrayLike, *, epsilon: ArrayLike | None = None, scale: ArrayLike | None = None
) -> Number:
    """Return the mean of noisy x over noisy y, with y raised to at least 1 (Shoham and Ligett 2025, Claim 3.4).

    Without that limit a ratio of noisy counts has no mean. The numerator's noise does not matter; the denominator's
    makes the mean larger: by about 2 scale^2 / y^2 of the ratio where y is large.

    Args:
        x: The exact numerator.
        y: The exact denominator, not below 0.
        epsilon: The cost of both counts together, with Laplace noise of 2/epsilon each as in the paper.
        scale: The scale of the Laplace noise on y, instead of `epsilon`.

    Example:
        >>> round(expected_ratio(100, 100, epsilon=0.5), 6), round(expected_ratio(10, 10, epsilon=1.0), 6)
        (1.003265, 1.150865)
    """
    noise = _scale(epsilon, scale)
    numerator, denominator, b = np.broadcast_arrays(reals("x", x), reals("y", y), noise)
    if np.any(denominator < 0):
        raise ParameterError("y must not be below 0: it is an exact count.", code="parameter-negative")
    return plain(numerator * _mean_inverse(denominator, b))


def binomial_prior(size: int, rate: float) -> dict[int, float]:
    """Return the probability of each count of at least 1 among `size` people, each with the outcome with chance `rate`.

    For `debias`: under the hypothesis of no difference the rate of the second group is that of the first.

    Example:
        >>> round(binomial_prior(2, 0.5)[1], 4)
        0.6667
    """
    counts = np.arange(1, size + 1)
    from scipy.stats import binom  # noqa: PLC0415 - slow to import, and seldom needed

    weights = binom.pmf(counts, size, probability("rate", rate))
    return {int(count): float(weight) for count, weight in zip(counts, weights / weights.sum(), strict=True)}


def debias(
    ratio: ArrayLike,
    *,
    estimator: Literal["noisy_counts", "noisy_log"] = "noisy_counts",
    epsilon: float | None = None,
    scale: float | None = None,
    prior: Mapping[int, float] | None = None,
    denominator: ArrayLike | None = None,
    noise: Noise | None = None,
) -> Number:
    """Return a noisy ratio with its bias removed.

    - `noisy_log`: times 1 - scale^2, the scale being ln 2/epsilon (Claim B.5). It must be below 1, and so epsilon above
      ln 2: otherwise the estimate has no mean.
    - `noisy_counts` with a `prior` (or null hypothesis) for the exact denominator: times the mean of 1/y under it, over
      the mean of its noisy version by Claim 3.4.
    - `noisy_counts` with the noisy `denominator` and its `noise`: times 1 - variance / denominator^2. Refused within
      five standard deviations of zero, where only an interval is meaningful.

    Never apply it before an interval is computed: intervals take noisy counts as they are.

    Args:
        ratio: The noisy ratio.
        estimator: The estimator that computed it.
        epsilon: Its cost; noise as in Shoham and Ligett (2025).
        scale: The scale of the noise on the denominator or the logarithm, instead of `epsilon`.
        prior: The probability of each exact denominator, from 1 on.
        denominator: The noisy denominator.
        noise: The law of its noise.

    Raises:
        ConditionNotMet: There is no mean to correct.

    Example:
        >>> round(debias(1.0, estimator="noisy_log", epsilon=1.0), 4)
        0.5195
        >>> round(debias(1.003265, epsilon=0.5, prior={100: 1.0}), 6)
        1.0
    """
    chosen("estimator", estimator, ("noisy_counts", "noisy_log"))
    value = reals("ratio", ratio)
    if estimator == "noisy_log":
        log_scale = float(_scale(epsilon, scale, of_one=math.log(2)))
        if log_scale >= 1:
            raise ConditionNotMet(
                "The noisy logarithm has noise of scale 1 or more, so the ratio has no mean, and no bias to correct.",
                condition="ln 2 / epsilon < 1",
                hint="Spend an epsilon above ln 2 = 0.6931.",
            )
        return plain(value * (1 - log_scale**2))
    if prior is not None:
        return plain(value * _prior_factor(prior, _scale(epsilon, scale)))
    if denominator is None or noise is None:
        raise ParameterError(
            "No constant factor corrects a ratio of noisy counts.",
            code="parameter-choice",
            hint="Give a prior for the exact denominator, or the noisy denominator and its noise.",
        )
    return plain(value * _plug_in_factor(reals("denominator", denominator), noise))


def _prior_factor(prior: Mapping[int, float], scale: Floats) -> Floats:
    counts, weights = np.array(list(prior), dtype=float), np.array(list(prior.values()), dtype=float)
    if not len(counts) or np.any(counts < 1) or np.any(weights < 0) or weights.sum() <= 0:
        raise ParameterError("prior must give a probability to counts from 1 on.", code="parameter-probability")
    exact = np.sum(weights / counts)
    noisy = np.sum(weights * _mean_inverse(counts, scale[..., None] if scale.ndim else scale), axis=-1)
    return np.asarray(exact / noisy)


def _plug_in_factor(denominator: Floats, noise: Noise) -> Floats:
    noise_variance = noises("noise", noise)[0].variance
    if np.any(denominator <= FAR * math.sqrt(noise_variance)):
        raise ConditionNotMet(
            "The noisy denominator is within five standard deviations of zero, where no factor removes the bias.",
            condition="denominator > 5 standard deviations of its noise",
            hint="Report the interval.",
        )
    return np.asarray(1 - noise_variance / denominator**2)


def _scale(epsilon: ArrayLike | None, scale: ArrayLike | None, of_one: float = 2.0) -> Floats:
    """The scale that was given, or that of Shoham and Ligett (2025) for an epsilon of 1, divided by epsilon."""
    if epsilon is not None and scale is None:
        return of_one / positives("epsilon", epsilon)
    if scale is not None and epsilon is None:
        return positives("scale", scale)
    raise ParameterError("Give either epsilon or scale.", code="parameter-choice")


def _mean_inverse(y: Floats, scale: Floats) -> Floats:
    """The mean of 1 / max(y + noise, 1)."""
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        kappa, one = y / scale, 1 / scale
        left = _scaled_ei(kappa) - np.exp(np.minimum(one - kappa, 0.0)) * _scaled_ei(one)
        large = np.exp(-np.maximum(y - 1, 0.0) * one) / 2 + one / 2 * (left + _scaled_e1(np.maximum(kappa, one)))
        small = 1 - np.exp(-np.maximum(1 - y, 0.0) * one) / 2 * (1 - one * _scaled_e1(one))
        return np.where(y >= 1, large, small)


def _scaled_ei(at: Floats) -> Floats:
    """exp(-t) Ei(t)."""
    near, far = np.minimum(at, SERIES_FROM), np.maximum(at, SERIES_FROM)
    series = sum(factor / far ** (k + 1) for k, factor in enumerate(SERIES))
    return np.where(at < SERIES_FROM, np.exp(-near) * expi(near), series)


def _scaled_e1(at: Floats) -> Floats:
    """exp(t) E1(t)."""
    near, far = np.minimum(at, SERIES_FROM), np.maximum(at, SERIES_FROM)
    series = sum((-1) ** k * factor / far ** (k + 1) for k, factor in enumerate(SERIES))
    return np.where(at < SERIES_FROM, np.exp(near) * exp1(near), series)
