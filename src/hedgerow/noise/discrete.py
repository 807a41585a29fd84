"""OpenDP's samplers over vectors of 64-bit integers, shared by `gaussian` and `laplace`."""

from collections.abc import Callable
from functools import lru_cache
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.noise.scales import check_draw

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
