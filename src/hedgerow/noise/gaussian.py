"""Discrete Gaussian noise on the integers."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.noise.discrete import draw


def discrete_gaussian(scale: float, count: int) -> NDArray[np.int64]:
    """Draw `count` independent integers with P(x) proportional to exp(-x^2 / (2 scale^2)).

    `scale` stands for its exact binary value; it may be up to 2^58.

    Privacy: the sampler is OpenDP's, which uses rational arithmetic on bits of the operating system
    (Canonne, Kamath, Steinke 2020), so no float takes part. Added to integers that one unit moves by D, it
    is D^2 / (2 scale^2)-zCDP, and D / scale in Gaussian terms up to the surcharge that the accounting adds.

    Example:
        >>> len(discrete_gaussian(scale=2.0**24, count=3))
        3
    """
    return draw("gaussian", scale, count)
