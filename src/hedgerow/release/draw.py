"""Adding noise to exact integers: the one place where the two meet."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.budget import Receipt
from hedgerow.errors import InternalError
from hedgerow.noise import discrete_gaussian, discrete_laplace
from hedgerow.privacy.plan import PrivatePlan

Whole = NDArray[np.object_]


def require(receipt: Receipt, plan: PrivatePlan) -> None:
    """No receipt for this very charge, no noise, no answer."""
    if not isinstance(receipt, Receipt) or receipt.charge != plan.charge:
        raise InternalError("A release was asked for without a receipt for it.")


def add_noise(exact: Whole, shift: int, scale: float, mechanism: str) -> Whole:
    """The exact integers times 2^shift (rounded to the nearest, below zero), plus integer noise of that scale."""
    sample = {"gaussian": discrete_gaussian, "laplace": discrete_laplace}[mechanism]
    noise = sample(scale, len(exact)).astype(object)
    return np.asarray(_to_grid(exact.astype(object), shift) + noise, dtype=object)


def _to_grid(exact: Whole, shift: int) -> Whole:
    if shift >= 0:
        return np.asarray(exact * (1 << shift), dtype=object)
    half = 1 << (-shift - 1)
    return np.asarray((exact + half) // (1 << -shift), dtype=object)
