"""Adding noise to exact integers: the one place where the two meet."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from hedgerow.budget import Receipt
from hedgerow.errors import InternalError
from hedgerow.noise import discrete_gaussian, discrete_laplace, rounded_gaussian
from hedgerow.privacy.plan import PrivatePlan

Whole = NDArray[np.object_]

MANY_CELLS = 5_000
QUICK = 2.0**46


def require(receipt: Receipt, plan: PrivatePlan) -> None:
    """No receipt that covers this release, no noise, no answer."""
    if not isinstance(receipt, Receipt) or not _covers(receipt, plan):
        raise InternalError("A release was asked for without a receipt for it.")


def _covers(receipt: Receipt, plan: PrivatePlan) -> bool:
    return Counter(plan.charge.events) <= Counter(receipt.charge.events)


def add_noise(exact: Whole, shift: int, scale: float, mechanism: str) -> Whole:
    """The exact integers times 2^shift (rounded to the nearest, below zero), plus integer noise of that scale.

    Privacy: Gaussian noise for many cells is drawn as the rounded Gaussian (docs/proofs/noise.md), which is exactly
    what a Gaussian mechanism gives; what is charged is the discrete one, which owes a little more. Which of the two is
    drawn depends on the number of cells, and shows in nothing but time.
    """
    many = mechanism == "gaussian" and len(exact) >= MANY_CELLS and scale <= QUICK
    sample = rounded_gaussian if many else {"gaussian": discrete_gaussian, "laplace": discrete_laplace}[mechanism]
    noise = sample(scale, len(exact)).astype(object)
    return np.asarray(_to_grid(exact.astype(object), shift) + noise, dtype=object)


def _to_grid(exact: Whole, shift: int) -> Whole:
    if shift >= 0:
        return np.asarray(exact * (1 << shift), dtype=object)
    half = 1 << (-shift - 1)
    return np.asarray((exact + half) // (1 << -shift), dtype=object)
