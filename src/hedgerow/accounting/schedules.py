"""Shares of a budget for an unknown number of queries: they add up to one, so there is always a next."""

import math
from collections.abc import Callable, Mapping

from scipy.special import zeta

from hedgerow.arguments import whole

LOGARITHMIC_SUM = 2.109742801236892
"""The sum of 1 / (n ln^2 n) over n >= 2."""

OPEN_POWER = 1.1
_DENOMINATOR = 2**60


def power_share(index: int, power: float = OPEN_POWER) -> float:
    """The share of query `index` (from 1), falling like index^-power.

    Example:
        >>> round(power_share(1), 6)
        0.094478
    """
    return float(whole("index", index) ** -power / zeta(power, 1))


def logarithmic_share(index: int) -> float:
    """The share of query `index`, 1 / (n ln^2 n) for n = index + 1."""
    n = whole("index", index) + 1
    return 1.0 / (n * math.log(n) ** 2 * LOGARITHMIC_SUM)


def doubling_share(index: int) -> float:
    """The share of query `index` where epochs of 1, 2, 4, ... queries share 6 / (pi j)^2 evenly."""
    epoch = whole("index", index).bit_length() - 1
    return 6.0 / (math.pi * (epoch + 1)) ** 2 * 2.0**-epoch


SHARES: Mapping[str, Callable[[int], float]] = {
    "power": power_share,
    "logarithmic": logarithmic_share,
    "doubling": doubling_share,
}
"""Each rule for the share of query `index`."""


def open_share(index: int) -> tuple[int, int]:
    """What the first `index` queries of an open schedule may take together, as an exact quotient below one.

    What an early query did not take is there for the later ones.

    Example:
        >>> numerator, denominator = open_share(1)
        >>> round(numerator / denominator, 6)
        0.094478
    """
    rest = float(zeta(OPEN_POWER, whole("index", index) + 1) / zeta(OPEN_POWER, 1))
    return _DENOMINATOR - math.ceil(rest * _DENOMINATOR), _DENOMINATOR
