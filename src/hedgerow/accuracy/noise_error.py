"""How far one noise strays: Laplace noise, and Gaussian noise of either calibration."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from hedgerow.accounting import gaussian_epsilon, gaussian_mu
from hedgerow.arguments import (
    Floats,
    Mechanism,
    Number,
    budgets,
    chosen,
    non_negatives,
    plain,
    positives,
    probabilities,
)


def gaussian_sigma(
    epsilon: ArrayLike,
    delta: ArrayLike,
    sensitivity: ArrayLike = 1.0,
    method: Literal["analytic", "classic"] = "analytic",
) -> Number:
    """The standard deviation of Gaussian noise that is (epsilon, delta)-DP.

    Privacy: `analytic` is the least that is (Balle and Wang 2018). `classic`, sensitivity sqrt(2 ln(1.25 / delta)) /
    epsilon, is proved for epsilon below 1, refused elsewhere, and up to 1.6 times as much.

    Example:
        >>> round(gaussian_sigma(0.5, 1e-6), 4), round(gaussian_sigma(0.5, 1e-6, method="classic"), 4)
        (8.0576, 10.5976)
    """
    chosen("method", method, ("analytic", "classic"))
    mechanism: Mechanism = "analytic" if method == "analytic" else "gaussian"
    epsilons, deltas = budgets("epsilon", epsilon, delta, mechanism)
    return plain(positives("sensitivity", sensitivity) * unit_noise(mechanism, epsilons, deltas))


def laplace_error(sensitivity: ArrayLike, epsilon: ArrayLike, beta: ArrayLike) -> Number:
    """What Laplace noise exceeds, in either direction, with probability `beta` exactly (Definition 2.6).

    Example:
        >>> round(laplace_error(1.0, 0.1, 0.05), 4)
        29.9573
    """
    scale = positives("sensitivity", sensitivity) / positives("epsilon", epsilon)
    return plain(scale * reach("laplace", probabilities("beta", beta)))


def gaussian_error(sigma: ArrayLike, beta: ArrayLike, method: Literal["quantile", "tail"] = "quantile") -> Number:
    """What Gaussian noise exceeds, in either direction, with probability at most `beta`.

    `quantile` is exact. `tail` is Definition 2.7 of Russo et al. (2025), sigma sqrt(2 ln(2 / beta)): 40 % more at 0.05.

    Example:
        >>> round(gaussian_error(10.0, 0.05), 4), round(gaussian_error(10.0, 0.05, method="tail"), 4)
        (19.5996, 27.162)
    """
    chosen("method", method, ("quantile", "tail"))
    mechanism: Mechanism = "analytic" if method == "quantile" else "gaussian"
    return plain(non_negatives("sigma", sigma) * reach(mechanism, probabilities("beta", beta)))


def unit_noise(mechanism: Mechanism, epsilon: Floats, delta: Floats) -> Floats:
    """The scale (Laplace) or standard deviation (Gaussian) of noise for a sensitivity of 1."""
    if mechanism == "laplace":
        return 1.0 / epsilon
    if mechanism == "gaussian":
        return np.sqrt(2.0 * np.log(1.25 / delta)) / epsilon
    return np.asarray(1.0 / _each_mu(epsilon, delta), dtype=np.float64)


def unit_epsilon(mechanism: Mechanism, noise: Floats, delta: Floats) -> Floats:
    """The epsilon with which noise for a sensitivity of 1 is as small as `noise`."""
    if mechanism == "laplace":
        return 1.0 / noise
    if mechanism == "gaussian":
        return np.sqrt(2.0 * np.log(1.25 / delta)) / noise
    return np.asarray(_each_epsilon(1.0 / noise, delta), dtype=np.float64)


def reach(mechanism: Mechanism, beta: Floats) -> Floats:
    """What noise of scale, or standard deviation, 1 exceeds with probability at most `beta`.

    For the classic Gaussian mechanism it is the tail bound that Russo et al. (2025) use, for the others the quantile.
    """
    if mechanism == "laplace":
        return -np.log(beta)
    if mechanism == "gaussian":
        return np.sqrt(2.0 * np.log(2.0 / beta))
    return np.asarray(-ndtri(beta / 2.0), dtype=np.float64)


_each_mu = np.vectorize(lambda epsilon, delta: gaussian_mu(float(epsilon), float(delta)), otypes=[np.float64])
_each_epsilon = np.vectorize(lambda mu, delta: gaussian_epsilon(float(mu), float(delta)), otypes=[np.float64])
