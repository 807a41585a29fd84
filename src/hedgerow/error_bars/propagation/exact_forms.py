"""Quotients of linear forms in released cells, and the arithmetic that stays among them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.propagation.forms import Floats, Sparse

EVERYWHERE, NOT_NEGATIVE = (-np.inf, np.inf), (0.0, np.inf)


@dataclass(frozen=True)
class Exact:
    """A quotient of two forms (or one form), with where it is publicly known to lie."""

    above: Sparse
    below: Sparse | None = None
    support: tuple[float, float] = EVERYWHERE


def inverse(numbers: NDArray[np.generic]) -> Floats:
    """One over each number; NaN for zero."""
    with np.errstate(divide="ignore"):
        return np.where(numbers != 0, 1.0 / np.asarray(numbers, float), np.nan)


def scaled(exact: Exact, factors: Floats) -> Exact:
    """Each row times its own factor."""
    return Exact(exact.above.times(factors), exact.below)


def added(left: Exact, right: Exact) -> Exact | None:
    """Over one denominator; a part without noise joins any."""
    for one, other in ((left, right), (right, left)):
        if one.below is not None and other.below is None and other.above.is_known:
            return Exact(one.above.plus(one.below.times(other.above.values)), one.below)
    if left.below is None and right.below is None:
        return Exact(left.above.plus(right.above))
    if left.below is not None and right.below is not None and left.below.same(right.below):
        return Exact(left.above.plus(right.above), left.below)
    return None


def multiplied(left: Exact, right: Exact) -> Exact | None:
    """A product, where one side has no noise."""
    for one, other in ((left, right), (right, left)):
        if other.below is None and other.above.is_known:
            return scaled(one, other.above.values)
    return None


def divided(above: Exact, below: Exact) -> Exact | None:
    """A quotient of forms, or of quotients over one denominator."""
    if below.below is None and below.above.is_known:
        return scaled(above, inverse(below.above.values))
    if above.below is None and below.below is None:
        positive = above.support[0] >= 0 and below.support[0] >= 0
        return Exact(above.above, below.above, NOT_NEGATIVE if positive else EVERYWHERE)
    if above.below is not None and below.below is not None and above.below.same(below.below):
        return Exact(above.above, below.above)
    return None
