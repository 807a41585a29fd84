"""Gains from changing the question: centring the values of an average, inverting a quotient."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from hedgerow.arguments import pair, ranges
from hedgerow.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Advice:
    """Changes to make before anything is bought.

    `shift` is added to every value of an average, and subtracted from the average afterwards. `swap` says that the
    numerator should be the denominator. `scale` is a factor on the numerator's values that makes both sums equally
    large; it changes only units. `gain` is the factor by which the predicted error shrinks, with much data.
    """

    shift: float
    swap: bool
    scale: float
    gain: float
    reasons: tuple[str, ...]


def advise(*, lower: ArrayLike, upper: ArrayLike) -> Advice:
    """Advise on the ranges of an average, or (for pairs) of a quotient of two sums over the same rows.

    Russo et al. (2025) advise to rescale the sums to one size, and to use the sum with the smaller upper bound as the
    numerator. Neither survives a change of units: multiplying all values of one sum multiplies its noise as well, and
    the predicted relative error stays the same. Only upper / lower matters. The formula of Proposition 3.7 takes the
    largest possible numerator and the smallest possible denominator, so the sum with the relatively narrower range
    should be the denominator.

    Args:
        lower: The smallest value of a row; a pair for a quotient.
        upper: The largest, likewise.

    Example:
        >>> advise(lower=18, upper=65).shift
        -41.5
        >>> advise(lower=(1, 1), upper=(2, 100)).swap
        True
    """
    if isinstance(lower, (tuple, list)) or isinstance(upper, (tuple, list)):
        return _quotient(pair("lower", lower), pair("upper", upper))
    low, high = _ends(lower, upper)
    middle, half = (low + high) / 2, (high - low) / 2
    largest = max(abs(low), abs(high))
    if middle == 0:
        return Advice(0.0, swap=False, scale=1.0, gain=1.0, reasons=("The range is centred already.",))
    if half == 0:
        return Advice(
            -middle, swap=False, scale=1.0, gain=1.0, reasons=("All values are the same: ask for the count.",)
        )
    reason = (
        f"Sum x - {middle:g} in place of x: the sum then has a sensitivity of {half:g}, not {largest:g}, and the noise "
        f"of the count weighs less. Add {middle:g} to the average afterwards."
    )
    return Advice(-middle, swap=False, scale=1.0, gain=largest / half, reasons=(reason,))


def _quotient(lower: tuple[ArrayLike, ArrayLike], upper: tuple[ArrayLike, ArrayLike]) -> Advice:
    numerator, denominator = (_ends(lower[i], upper[i]) for i in (0, 1))
    scale = max(map(abs, denominator)) / max(map(abs, numerator))
    ratios = _ratio_of_ends(*numerator), _ratio_of_ends(*denominator)
    known = [ratio for ratio in ratios if ratio is not None]
    if not known:
        return Advice(0.0, swap=False, scale=scale, gain=1.0, reasons=("Both sums may be zero: divide by a count.",))
    units = f"Multiplying the numerator by {scale:.4g} makes both sums equally large; it changes units, not precision."
    if ratios[1] is None:
        reason = "The denominator can be zero, the numerator cannot: invert the quotient."
        return Advice(0.0, swap=True, scale=scale, gain=float("inf"), reasons=(reason, units))
    if ratios[0] is None:
        reason = "The numerator can be zero, the denominator cannot: keep the quotient as it is."
        return Advice(0.0, swap=False, scale=scale, gain=1.0, reasons=(reason, units))
    return _ordered(ratios[0], ratios[1], scale, units)


def _ordered(numerator: float, denominator: float, scale: float, units: str) -> Advice:
    """Advise where neither range contains zero: the one with the smaller upper / lower should be the denominator."""
    swap, gain = numerator < denominator, _relative(numerator, denominator) / _relative(denominator, numerator)
    if swap:
        reason = (
            f"The numerator has the narrower range (its ends differ by a factor of {numerator:.4g}, those of the "
            f"denominator by {denominator:.4g}): invert the quotient. The exact interval stays the same; the predicted "
            "error does not."
        )
    else:
        reason = "The denominator has the narrower range, relative to its size: keep the quotient as it is."
    return Advice(0.0, swap=swap, scale=scale, gain=gain if swap else 1.0, reasons=(reason, units))


def _relative(numerator: float, denominator: float) -> float:
    """Return the relative error of Proposition 3.7, up to symmetric factors, for sums in the middle of their ranges."""
    return numerator * (1 + denominator) / (1 + numerator)


def _ratio_of_ends(low: float, high: float) -> float | None:
    """Return the ratio of the ends; None if zero lies between them."""
    if low > 0 or high < 0:
        return max(abs(low), abs(high)) / min(abs(low), abs(high))
    return None


def _ends(lower: ArrayLike, upper: ArrayLike) -> tuple[float, float]:
    low, high = ranges(lower, upper)
    if low.ndim or high.ndim:
        raise ParameterError("Advice is about one range, or one pair of them.", code="parameter-number")
    return float(low), float(high)
