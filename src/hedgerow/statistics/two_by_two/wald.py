"""Estimate plus and minus a multiple of its deviation: the classic interval and those of Shoham and Ligett (2025).

Each gives bounds and a p-value for two arms. They are kept as yardsticks; benchmarks/ratios.py measures how often they
hold.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from hedgerow.arguments import Floats
from hedgerow.error_bars.intervals import Bounds, normal_quotient_bounds
from hedgerow.error_bars.intervals.bounds import ZERO_DENOMINATOR
from hedgerow.error_bars.intervals.interval import Reason, Status
from hedgerow.statistics.two_by_two.arms import Arm
from hedgerow.statistics.two_by_two.curves import Curve, OddsRatio, RelativeRisk, RiskDifference

Found = tuple[Bounds, Floats]
NO_LOGARITHM = Status(
    reason=Reason.UNDEFINED, note="unbounded: a noisy count is not above zero, so it has no logarithm"
)
NO_DEVIATION = Status(reason=Reason.UNDEFINED, note="unbounded: at these noisy counts the formula has no deviation")


def log_deviation(arm: Arm, curve: Curve, *, noise: bool) -> Floats:
    """Deviation of the logarithm of a rate, or of its odds, estimated from noisy counts (Shoham and Ligett 2025)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(curve, OddsRatio):
            rate = arm.smooth_rate if noise else arm.rate
            inner = arm.sampling(rate) + (arm.noise(rate) if noise else 0.0)
            return np.sqrt(inner) / (rate * (1 - rate))
        inner = 1 / arm.count - 1 / arm.size + (arm.noise(arm.rate) / arm.rate**2 if noise else 0.0)
        return np.sqrt(inner)


def on_plain_scale(x: Arm, y: Arm, curve: Curve, beta: float, *, noise: bool) -> Found:
    """Theorem 4.2, and with `noise` Theorem 4.5: the estimate plus and minus its own size times a deviation."""
    value = curve.value(x.rate, y.rate)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if isinstance(curve, RiskDifference):
            deviation = np.sqrt(_plain_variance(x, noise=noise) + _plain_variance(y, noise=noise))
        else:
            parts = [log_deviation(arm, curve, noise=noise) for arm in (x, y)]
            deviation = np.abs(value) * np.hypot(*parts)
        half = -float(ndtri(beta / 2)) * deviation
        p_value = 2 * ndtr(-np.abs(value - curve.null) / deviation)
    return _symmetric(value, half, curve), p_value


def on_log_scale(x: Arm, y: Arm, curve: Curve, beta: float, *, noise: bool) -> Found:
    """The same on the scale of logarithms; equation (3) where there is no noise."""
    value = curve.value(x.rate, y.rate)
    possible = (x.rate > 0) & (y.rate > 0) & (value > 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        centre = np.log(np.where(possible, value, 1.0))
        deviation = np.hypot(*(log_deviation(arm, curve, noise=noise) for arm in (x, y)))
        possible &= np.isfinite(deviation)
        half = np.where(possible, -float(ndtri(beta / 2)) * deviation, np.inf)
        p_value = np.where(possible, 2 * ndtr(-np.abs(centre) / deviation), 1.0)
        lower, upper = np.exp(centre - half), np.exp(centre + half)
    return Bounds.of(lower, upper).marked(~possible, NO_LOGARITHM), p_value


def fieller(x: Arm, y: Arm, curve: Curve, beta: float) -> Found:
    """Fieller's interval with sampling and noise, variances taken at the noisy rates; for differences the plain one."""
    vx, vy = (arm.sampling(arm.smooth_rate) + arm.noise(arm.smooth_rate) for arm in (x, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt(vx + vy)
        p_value = 2 * ndtr(-np.abs(x.rate - y.rate) / deviation)
    if isinstance(curve, RelativeRisk):
        found = normal_quotient_bounds(x.rate, y.rate, (vx, vy, np.zeros_like(vx)), beta, (0.0, np.inf))
        return found, p_value
    return _symmetric(x.rate - y.rate, -float(ndtri(beta / 2)) * deviation, curve), p_value


def _plain_variance(arm: Arm, *, noise: bool) -> Floats:
    rate = arm.rate
    return rate * (1 - rate) / arm.size + (arm.noise(rate) if noise else 0.0)


def _symmetric(value: Floats, half: Floats, curve: Curve) -> Bounds:
    """A value plus and minus; not cut to what is possible, because the paper does not."""
    known = np.isfinite(value) & np.isfinite(half)
    with np.errstate(invalid="ignore"):
        lower, upper = np.where(known, value - half, curve.lowest), np.where(known, value + half, curve.highest)
    return Bounds.of(lower, upper).marked(~known, NO_DEVIATION).marked(np.isinf(upper), ZERO_DENOMINATOR)
