"""The interval of one quotient whose noisy numerator and denominator are known."""

import math
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.arguments import Floats, chosen, probability, reals
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.error_bars.intervals import Bounds, arithmetic, half_width, quotient_bounds
from hedgerow.error_bars.intervals.interval import ZERO_DENOMINATOR, Interval, IntervalKind, Reason, Status
from hedgerow.errors import ParameterError

IntervalMethod = Literal["exact", "fractional", "basic"]
CONSERVATIVE = Status(
    IntervalKind.CONSERVATIVE, Reason.SIMULTANEOUS, "conservative: it allows for the worst of both noises at once"
)


@overload
def quotient_interval(
    numerator: float,
    denominator: float,
    *,
    numerator_noise: Noise,
    denominator_noise: Noise,
    confidence: float = ...,
    method: IntervalMethod = ...,
    support: tuple[float, float] = ...,
) -> Interval: ...


@overload
def quotient_interval(
    numerator: Floats,
    denominator: Floats,
    *,
    numerator_noise: Noise,
    denominator_noise: Noise,
    confidence: float = ...,
    method: IntervalMethod = ...,
    support: tuple[float, float] = ...,
) -> Bounds: ...


def quotient_interval(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    numerator_noise: Noise,
    denominator_noise: Noise,
    confidence: float = 0.95,
    method: IntervalMethod = "exact",
    support: tuple[float, float] = (-math.inf, math.inf),
) -> Interval | Bounds:
    """Return the interval of the quotient of two exact quantities, given their noisy values and the law of each noise.

    `exact` inverts the distribution of the noise (Fieller's interval for Gaussian noise, its counterpart for others):
    it has the stated coverage, with no condition on signs or sizes. `basic` divides the intervals of both, at half of
    1 - confidence each. `fractional` is the noisy quotient plus and minus

        |quotient| (a / |numerator| + b / |denominator|) / (1 - b / |denominator|)

    with a and b the quantiles of the two noises: the formula of Russo et al. (2025) with the last factor, without
    which it fails too often. Both are longer than the exact one and unbounded where the denominator may be zero. All of
    them hold if the quotient exists: an exact denominator of zero has none.

    Single numbers give an `Interval`; arrays give `Bounds`, with arrays `lower` and `upper`.

    Args:
        numerator: The noisy numerator, neither clipped nor corrected.
        denominator: The noisy denominator, likewise.
        numerator_noise: The law of its noise, independent of the other.
        denominator_noise: Likewise.
        confidence: Coverage of the interval.
        method: `exact`, `fractional` or `basic`.
        support: The publicly known range of the quotient.

    Example:
        >>> age = quotient_interval(41500.0, 998.0, numerator_noise=Laplace(65.0), denominator_noise=Laplace(10.0))
        >>> round(age.lower, 2), round(age.upper, 2)
        (40.36, 42.88)
    """
    chosen("method", method, ("exact", "fractional", "basic"))
    values = np.broadcast_arrays(reals("numerator", numerator), reals("denominator", denominator))
    top, bottom = (value.ravel() for value in values)
    noises = _checked(numerator_noise), _checked(denominator_noise)
    beta = 1.0 - probability("confidence", confidence)
    bounds = _bounds(method, top, bottom, noises, beta, _range(support))
    return bounds.shaped(values[0].shape) if values[0].ndim else bounds.intervals()[0]


def _bounds(
    method: IntervalMethod,
    top: Floats,
    bottom: Floats,
    noises: tuple[Noise, Noise],
    beta: float,
    support: tuple[float, float],
) -> Bounds:
    if method == "exact":
        return quotient_bounds(top, bottom, [(1.0, 0.0, noises[0]), (0.0, 1.0, noises[1])], beta, support)
    errors = [half_width([(1.0, noise)], beta / 2) for noise in noises]
    if method == "basic":
        whole = arithmetic.divide(Bounds.around(top, errors[0]), Bounds.around(bottom, errors[1]))
    else:
        whole = _fractional(top, bottom, errors[0], errors[1])
    cut = Bounds.of(whole.lower, whole.upper).within(*support)
    return cut.with_status(np.isinf(cut.lower) | np.isinf(cut.upper), ZERO_DENOMINATOR).weakened(CONSERVATIVE)


def _fractional(top: Floats, bottom: Floats, of_top: float, of_bottom: float) -> Bounds:
    """The noisy quotient plus and minus (a + |quotient| b) / (|denominator| - b), which is the same."""
    rest = np.abs(bottom) - of_bottom
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        estimate = top / bottom
        error = (of_top + np.abs(estimate) * of_bottom) / rest
        ends = estimate - error, estimate + error
    known = rest > 0
    return Bounds.of(np.where(known, ends[0], -np.inf), np.where(known, ends[1], np.inf))


def _checked(noise: Noise) -> Noise:
    if not isinstance(noise, (Gaussian, Laplace)):
        raise ParameterError("A noise must be Gaussian(sigma) or Laplace(scale).", code="parameter-noise")
    return noise


def _range(support: tuple[float, float]) -> tuple[float, float]:
    if not isinstance(support, (tuple, list)) or len(support) != 2 or not support[0] <= support[1]:
        raise ParameterError(
            "support must be a pair of numbers, the first not above the second; either may be infinite.",
            code="parameter-support",
        )
    return float(support[0]), float(support[1])
