"""How far two noises stray together, for arrays of their scales."""

import numpy as np

from hedgerow.accuracy.noise_error import reach
from hedgerow.arguments import Floats, Mechanism
from hedgerow.distributions import Laplace
from hedgerow.error_bars.intervals import half_width


def joint_error(mechanism: Mechanism, first: Floats, second: Floats, beta: Floats) -> Floats:
    """What the sum of two independent noises exceeds, in either direction, with probability `beta` exactly.

    `first` and `second` are their scales (Laplace) or standard deviations (Gaussian, of either calibration). As a
    function of the scales it is a norm, so it is at most the sum of what each noise exceeds alone.
    """
    if mechanism == "laplace":
        return np.asarray(_two_laplaces(first, second, beta), dtype=np.float64)
    return np.hypot(first, second) * reach("analytic", beta)


def _half_width(first: float, second: float, beta: float) -> float:
    return half_width([(1.0, Laplace(float(first))), (1.0, Laplace(float(second)))], float(beta))


_two_laplaces = np.vectorize(_half_width, otypes=[np.float64])
