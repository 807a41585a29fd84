"""Discrete Laplace noise on the integers."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.noise.discrete import draw


def discrete_laplace(scale: float, count: int) -> NDArray[np.int64]:
    """Draw `count` independent integers with P(x) proportional to exp(-|x| / scale).

    `scale` stands for its exact binary value; it may be up to 2^58.

    Privacy: the sampler is OpenDP's, rational arithmetic on bits of the operating system. Added to integers
    that one unit moves by D in l1 norm, it is exactly (D / scale)-DP.

    Example:
        >>> len(discrete_laplace(scale=2.0**24, count=3))
        3
    """
    return draw("laplace", scale, count)
