"""Tolerances for one noise: what it exceeds, in either direction, with probability 10^-k."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri_exp

from hedgerow.arguments import Number, non_negatives, plain, positives
from hedgerow.testing.flakiness import exponents


def laplace(sensitivity: ArrayLike, epsilon: ArrayLike, k: ArrayLike) -> Number:
    """The tolerance for Laplace noise of scale sensitivity / epsilon.

    Example:
        >>> round(laplace(1.0, 50.0, 23), 12)
        1.059189142777
    """
    scale = positives("sensitivity", sensitivity) / positives("epsilon", epsilon)
    return plain(scale * exponents(k) * math.log(10.0))


def gaussian(sigma: ArrayLike, k: ArrayLike) -> Number:
    """The tolerance for Gaussian noise.

    The quantile is found from the logarithm of its probability: 1 - 10^-k is 1 in floats from k = 17 on.

    Example:
        >>> round(gaussian(1.0, 23), 12), round(gaussian(1.0, 300), 6)
        (10.041637612176, 37.065788)
    """
    log_tail = -exponents(k) * math.log(10.0) - math.log(2.0)
    return plain(-positives("sigma", sigma) * ndtri_exp(log_tail))


def integer(tolerance: ArrayLike) -> Number:
    """The tolerance where the noisy number is rounded to a whole one: |round(X)| <= T means |X| < T + 1/2.

    So a half and more is rounded up, and less than a half down: the test is as sharp as the flakiness allows.

    Example:
        >>> integer(1.1), integer(2.4), integer(2.6)
        (1.0, 2.0, 3.0)
    """
    return plain(np.floor(non_negatives("tolerance", tolerance) + 0.5))
