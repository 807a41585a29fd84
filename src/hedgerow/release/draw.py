"""Adding noise to exact integers: the one place where the two meet."""

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.errors import InternalError
from hedgerow.noise import discrete_gaussian, discrete_laplace, rounded_gaussian
from hedgerow.privacy.plan import PrivatePlan

Whole = NDArray[np.object_]
"""Integers of any size; of 64 bits where `added` found that they fit."""

ROUNDED_UP_TO = 2.0**46
"""Up to this scale, Gaussian noise is drawn as the rounded Gaussian, which is fast there."""

FITS = 1 << 61
"""Two integers below this, and half a step of rounding, add up within 64 bits."""


def require(receipt: Receipt, plan: PrivatePlan) -> None:
    """Refuse to draw noise without a receipt that covers this release."""
    if not isinstance(receipt, Receipt) or not _covers(receipt, plan):
        raise InternalError("A release was asked for without a receipt for it.")


def _covers(receipt: Receipt, plan: PrivatePlan) -> bool:
    return plan.charge is receipt.charge or Counter(plan.charge.events) <= Counter(receipt.charge.events)


def add_noise(exact: Whole, shift: int, scale: float, mechanism: str) -> Whole:
    """Return the exact integers times 2^shift (rounded to the nearest, below zero), plus integer noise of that scale.

    Privacy: the mechanism and the scale of the plan, both public, decide which sampler draws. The number of cells does
    not:
    it may be the number of keys in the data, and two laws would reveal on which side of a limit it is. The rounded
    Gaussian (docs/proofs/noise.md) is exactly a Gaussian mechanism; the discrete one, for scales too wide for the
    other, costs a little more, and that is charged for both.
    """
    sample = sampler(mechanism, scale)
    return added(exact, shift, sample(scale, len(exact)))


def sampler(mechanism: str, scale: float) -> Callable[[float, int], NDArray[np.int64]]:
    """The function that draws the noise of a plan."""
    if mechanism == "laplace":
        return discrete_laplace
    return rounded_gaussian if scale <= ROUNDED_UP_TO else discrete_gaussian


def added(exact: Whole, shift: int, noise: NDArray[np.generic]) -> Whole:
    """The exact integers times 2^shift (rounded to nearest for negative shifts), plus the noise, in integers.

    In 64 bits where everything fits, which takes a tenth of the time, and in Python's integers where it does not.
    """
    words = _words(exact, shift)
    if words is not None and noise.dtype == np.int64 and _small(noise):
        placed = words << shift if shift >= 0 else (words + (1 << (-shift - 1))) >> -shift
        return np.asarray(placed + noise.astype(np.int64))
    return np.asarray(_to_grid(exact.astype(object), shift) + noise.astype(object), dtype=object)


def _words(exact: Whole, shift: int) -> NDArray[np.int64] | None:
    """The integers in 64 bits, if they are also below 2^62 after the shift."""
    if not -62 < shift < 62:
        return None
    try:
        words = exact.astype(np.int64)
    except OverflowError:
        return None
    return words if _small(words, FITS >> max(shift, 0)) else None


def _small(words: NDArray[np.generic], limit: int = FITS) -> bool:
    return len(words) == 0 or bool(-limit < words.min() and words.max() < limit)


def _to_grid(exact: Whole, shift: int) -> Whole:
    if shift >= 0:
        return np.asarray(exact * (1 << shift), dtype=object)
    half = 1 << (-shift - 1)
    return np.asarray((exact + half) // (1 << -shift), dtype=object)
