"""Discrete Gaussian and Laplace noise on 64-bit integers, by OpenDP's samplers."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError

MAX_SCALE = 2.0**58
"""Above this scale, a 64-bit integer might not hold a draw; here, 32 standard deviations fit."""


def check_draw(scale: float, count: int) -> None:
    """Refuse a scale or a count for which no noise can be drawn."""
    if not (math.isfinite(scale) and 0 < scale <= MAX_SCALE):
        raise InternalError("A noise scale is not a number above 0 and up to 2^58. The grid of this release is wrong.")
    if count < 0:
        raise InternalError("A negative number of noise values was asked for.")


Shape = Literal["gaussian", "laplace"]
Sampler = Callable[[NDArray[np.int64]], list[int]]

BATCH = 1 << 17
"""Draws per call, so that a million cells do not become a million Python integers at once."""


@lru_cache(maxsize=64)
def _sampler(shape: Shape, scale: float) -> Sampler:
    # Imported here because OpenDP takes a quarter of a second to load, and a quote needs no noise.
    from opendp import domains, measurements, metrics  # noqa: PLC0415
    from opendp.mod import enable_features  # noqa: PLC0415

    enable_features("contrib")
    vectors = domains.vector_domain(domains.atom_domain(T="i64"))
    if shape == "gaussian":
        return cast("Sampler", measurements.make_gaussian(vectors, metrics.l2_distance(T="f64"), scale=scale))
    return cast("Sampler", measurements.make_laplace(vectors, metrics.l1_distance(T="i64"), scale=scale))


def draw(shape: Shape, scale: float, count: int) -> NDArray[np.int64]:
    """Draw `count` independent integers of the given shape and scale."""
    check_draw(scale, count)
    sampler = _sampler(shape, float(scale))
    drawn = np.empty(count, dtype=np.int64)
    for start in range(0, count, BATCH):
        batch = drawn[start : start + BATCH]
        batch[:] = sampler(np.zeros(len(batch), dtype=np.int64))
    return drawn


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
