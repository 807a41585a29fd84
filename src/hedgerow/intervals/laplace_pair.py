"""The exact tail of the sum of two independent continuous Laplace noises, for arrays of scales."""

import numpy as np
from scipy.special import exprel

from hedgerow.intervals.bounds import Floats


def pair_tail(first: Floats, second: Floats, distance: Floats) -> Floats:
    """P(|X + Y| > distance) for Laplace X, Y with the scales `first` and `second`, either of which may be zero.

    With b the larger and c the smaller scale it is (b^2 e^(-t/b) - c^2 e^(-t/c)) / (b^2 - c^2). Written as below
    nothing cancels, and equal scales need no case of their own: exprel is 1 there and leaves (1 + t/2b) e^(-t/b).
    """
    larger, smaller = np.maximum(first, second), np.minimum(first, second)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        reach = distance / larger
        gap = np.where(smaller > 0, reach * (larger - smaller) / smaller, np.inf)
        mixed = np.where(smaller > 0, smaller * reach / (larger + smaller) * exprel(-gap), 0.0)
        result = np.exp(-reach) * (1.0 + mixed)
    result = np.where(larger > 0, result, 0.0)
    return np.where(distance > 0, np.minimum(result, 1.0), 1.0)
