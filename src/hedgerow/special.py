"""Special functions: those of the normal law for single numbers, and SciPy's, which is imported with the first call.

Pricing a question needs the first alone, and importing `scipy.special` takes longer than answering.
"""

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

from hedgerow.late import late

_ROOT = math.sqrt(2.0)
_SPLIT = 2.0**27 + 1.0
_FAR = 25.0
_TERMS = 8
_STANDARD = NormalDist()


def scaled_erfc(x: float) -> float:
    """erfc(x) exp(x^2), with a relative error below 2e-15.

    Up to 25 the two factors are in range. The rounding error of x^2 is computed exactly (Dekker 1971) and corrected
    by a factor. Beyond 25, eight terms of the asymptotic series are used; the error is below the ninth, 3e-19.

    Example:
        >>> round(scaled_erfc(1.0), 12)
        0.427583576156
    """
    if x > _FAR:
        total, term = 0.0, 1.0
        for n in range(_TERMS):
            total += term
            term *= -(2 * n + 1) / (2.0 * x * x)
        return total / (x * math.sqrt(math.pi))
    square = x * x
    if square > 700.0:
        return math.inf
    high = _SPLIT * x - (_SPLIT * x - x)
    low = x - high
    rest = ((high * high - square) + 2.0 * high * low) + low * low
    return math.erfc(x) * math.exp(square) * (1.0 + rest)


def log_normal_cdf(x: float) -> float:
    """The logarithm of the probability that a standard normal number is below x.

    Its relative error is below 4e-15 + 3e-16 x^2.

    Example:
        >>> round(log_normal_cdf(-40.0), 6)
        -804.608442
    """
    if x > 0.0:
        return math.log1p(-math.erfc(x / _ROOT) / 2.0)
    if x > -1.0:
        return math.log(math.erfc(-x / _ROOT) / 2.0)
    return math.log(scaled_erfc(-x / _ROOT) / 2.0) - x * x / 2.0 if x > -math.inf else -math.inf


def normal_quantile(probability: float) -> float:
    """The number below which a standard normal one lies with this probability (Wichura 1988); minus infinity at 0.

    Example:
        >>> round(normal_quantile(0.975), 6)
        1.959964
    """
    if 0.0 < probability < 1.0:
        return _STANDARD.inv_cdf(probability)
    return math.inf if probability else -math.inf


if TYPE_CHECKING:
    from scipy.special import (
        chdtri,
        chndtr,
        erfcx,
        expit,
        exprel,
        log_expit,
        log_ndtr,
        logit,
        ndtr,
        ndtri,
        ndtri_exp,
        zeta,
    )
else:
    chdtri = late("scipy.special", "chdtri")
    chndtr = late("scipy.special", "chndtr")
    erfcx = late("scipy.special", "erfcx")
    expit = late("scipy.special", "expit")
    exprel = late("scipy.special", "exprel")
    log_expit = late("scipy.special", "log_expit")
    log_ndtr = late("scipy.special", "log_ndtr")
    logit = late("scipy.special", "logit")
    ndtr = late("scipy.special", "ndtr")
    ndtri = late("scipy.special", "ndtri")
    ndtri_exp = late("scipy.special", "ndtri_exp")
    zeta = late("scipy.special", "zeta")

__all__ = [
    "chdtri",
    "chndtr",
    "erfcx",
    "expit",
    "exprel",
    "log_expit",
    "log_ndtr",
    "log_normal_cdf",
    "logit",
    "ndtr",
    "ndtri",
    "ndtri_exp",
    "normal_quantile",
    "scaled_erfc",
    "zeta",
]
