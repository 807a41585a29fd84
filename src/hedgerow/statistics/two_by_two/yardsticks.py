"""Intervals for comparison: the estimate plus and minus a deviation, and the parametric bootstrap.

Estimate plus and minus a multiple of its deviation: the classic interval and those of Shoham and Ligett (2025).

Each gives bounds and a p-value for two arms. They are kept as yardsticks; benchmarks/ratios.py measures how often they
hold.

The parametric bootstrap: how the studentised statistic is distributed where the rates are those that were seen.

The draws are not random: they are the quantiles of binomials and noises at the points of one fixed lattice, so that
the same counts have the same interval. Nothing here is a release.
"""

import numpy as np

from hedgerow.arguments import Floats
from hedgerow.distributions import Gaussian, Noise
from hedgerow.error_bars.intervals import Bounds, normal_quotient_bounds
from hedgerow.error_bars.intervals.interval import ZERO_DENOMINATOR, Reason, Status
from hedgerow.error_bars.intervals.quotients import fieller_hull
from hedgerow.special import ndtr, ndtri
from hedgerow.statistics.two_by_two.arms import Arm
from hedgerow.statistics.two_by_two.curves import Curve, OddsRatioCurve, RelativeRiskCurve, RiskDifferenceCurve

BoundsAndP = tuple[Bounds, Floats]
NO_LOGARITHM = Status(
    reason=Reason.UNDEFINED, note="unbounded: a noisy count is not above zero, so it has no logarithm"
)
NO_DEVIATION = Status(reason=Reason.UNDEFINED, note="unbounded: at these noisy counts the formula has no deviation")


def log_deviation(arm: Arm, curve: Curve, *, noise: bool) -> Floats:
    """Deviation of the logarithm of a rate, or of its odds, estimated from noisy counts (Shoham and Ligett 2025)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(curve, OddsRatioCurve):
            rate = arm.smooth_rate if noise else arm.rate
            inner = arm.sampling(rate) + (arm.noise(rate) if noise else 0.0)
            return np.sqrt(inner) / (rate * (1 - rate))
        inner = 1 / arm.count - 1 / arm.size + (arm.noise(arm.rate) / arm.rate**2 if noise else 0.0)
        return np.sqrt(inner)


def on_plain_scale(x: Arm, y: Arm, curve: Curve, beta: float, *, noise: bool) -> BoundsAndP:
    """Theorem 4.2, and with `noise` Theorem 4.5: the estimate plus and minus its own size times a deviation."""
    value = curve.value(x.rate, y.rate)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if isinstance(curve, RiskDifferenceCurve):
            deviation = np.sqrt(_plain_variance(x, noise=noise) + _plain_variance(y, noise=noise))
        else:
            parts = [log_deviation(arm, curve, noise=noise) for arm in (x, y)]
            deviation = np.abs(value) * np.hypot(*parts)
        half = -float(ndtri(beta / 2)) * deviation
        p_value = 2 * ndtr(-np.abs(value - curve.null) / deviation)
    return _symmetric(value, half, curve), p_value


def on_log_scale(x: Arm, y: Arm, curve: Curve, beta: float, *, noise: bool) -> BoundsAndP:
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
    return Bounds.of(lower, upper).with_status(~possible, NO_LOGARITHM), p_value


def fieller(x: Arm, y: Arm, curve: Curve, beta: float) -> BoundsAndP:
    """Fieller's interval with sampling and noise, variances taken at the noisy rates; for differences the plain one."""
    vx, vy = (arm.sampling(arm.smooth_rate) + arm.noise(arm.smooth_rate) for arm in (x, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt(vx + vy)
        p_value = 2 * ndtr(-np.abs(x.rate - y.rate) / deviation)
    if isinstance(curve, RelativeRiskCurve):
        bounds = normal_quotient_bounds(x.rate, y.rate, (vx, vy, np.zeros_like(vx)), beta, (0.0, np.inf))
        return bounds, p_value
    return _symmetric(x.rate - y.rate, -float(ndtri(beta / 2)) * deviation, curve), p_value


def _plain_variance(arm: Arm, *, noise: bool) -> Floats:
    rate = arm.rate
    return rate * (1 - rate) / arm.size + (arm.noise(rate) if noise else 0.0)


def _symmetric(value: Floats, half: Floats, curve: Curve) -> Bounds:
    """A value plus and minus a deviation; not cut to the possible range, because the paper does not cut it."""
    known = np.isfinite(value) & np.isfinite(half)
    with np.errstate(invalid="ignore"):
        lower, upper = np.where(known, value - half, curve.lowest), np.where(known, value + half, curve.highest)
    return Bounds.of(lower, upper).with_status(~known, NO_DEVIATION).with_status(np.isinf(upper), ZERO_DENOMINATOR)


DRAWS = 2039
GENERATOR = 1.1127756842787055
"""The root of t^7 = t + 1: the powers of its inverse fill six dimensions evenly, two binomials and four noises."""


def bootstrap(x: Arm, y: Arm, curve: Curve, beta: float) -> BoundsAndP:
    """Bounds whose two ends fail half of beta each, among counts drawn at the rates that were seen, noise added."""
    ends = np.array([_one(x, y, curve, beta, i) for i in range(len(x.count))]).reshape(-1, 3)
    lower, upper, p_value = ends.T
    return Bounds.of(lower, upper).with_status(np.isinf(upper), ZERO_DENOMINATOR), p_value


def _one(x: Arm, y: Arm, curve: Curve, beta: float, i: int) -> tuple[float, float, float]:
    one = slice(i, i + 1)
    arms = x.at(one), y.at(one)
    drawn = _redrawn(arms[0], 0), _redrawn(arms[1], 1)
    rates = tuple(arm.smooth_rate for arm in arms)
    value = curve.value(*rates)
    sorted_draws = np.sort(_studentised(*drawn, curve, value))
    low, high = np.quantile(sorted_draws, [beta / 2, 1 - beta / 2])
    seen = float(_studentised(*arms, curve, np.array([curve.null]))[0])
    beyond = min(float(np.mean(sorted_draws <= seen)), float(np.mean(sorted_draws >= seen)))
    lower, upper = _inverted(*arms, curve, float(low), float(high))
    return lower, upper, float(min(1.0, 2 * max(beyond, 1 / DRAWS)))


def _studentised(x: Arm, y: Arm, curve: Curve, value: Floats) -> Floats:
    """The distance from a supposed value, in standard deviations."""
    vx, vy = (arm.sampling(arm.smooth_rate) + arm.noise(arm.smooth_rate) for arm in (x, y))
    if isinstance(curve, OddsRatioCurve):
        px, py = x.smooth_rate, y.smooth_rate
        deviation = np.sqrt(vx / (px * (1 - px)) ** 2 + vy / (py * (1 - py)) ** 2)
        return np.asarray((np.log(curve.value(px, py)) - np.log(value)) / deviation)
    slope = value if isinstance(curve, RelativeRiskCurve) else np.ones_like(value)
    shift = 0.0 if isinstance(curve, RelativeRiskCurve) else value
    return np.asarray((x.rate - slope * y.rate - shift) / np.sqrt(vx + slope**2 * vy))


def _inverted(x: Arm, y: Arm, curve: Curve, low: float, high: float) -> tuple[float, float]:
    """Return the values whose studentised distance is between `low` and `high`."""
    vx, vy = (arm.sampling(arm.smooth_rate) + arm.noise(arm.smooth_rate) for arm in (x, y))
    if isinstance(curve, RelativeRiskCurve):
        directions = [(np.sqrt(vx), 0 * vx, 1.0), (0 * vy, np.sqrt(vy), 1.0)]
        hulls = [fieller_hull(x.rate, y.rate, directions, 2 * _level(z), (0.0, np.inf)) for z in (high, -low)]
        return float(np.nan_to_num(hulls[0][0][0])), float(np.nan_to_num(hulls[1][1][0], posinf=np.inf))
    if isinstance(curve, OddsRatioCurve):
        px, py = x.smooth_rate, y.smooth_rate
        deviation = np.sqrt(vx / (px * (1 - px)) ** 2 + vy / (py * (1 - py)) ** 2)
        centre = np.log(curve.value(px, py))
        return float(np.exp(centre - high * deviation)[0]), float(np.exp(centre - low * deviation)[0])
    deviation = np.sqrt(vx + vy)
    return float((x.rate - y.rate - high * deviation)[0]), float((x.rate - y.rate - low * deviation)[0])


def _level(z: float) -> float:
    """The normal tail beyond z, clamped away from 0 and 1."""
    return float(np.clip(ndtr(-z), 1e-12, 0.499))


def _redrawn(arm: Arm, first: int) -> Arm:
    """Counts at the smoothed rate, with noise, at the points of the lattice."""
    people = np.maximum(np.round(arm.size), 1.0)
    from scipy.stats import binom  # noqa: PLC0415 - slow to import, and seldom needed

    count = np.asarray(binom.ppf(_column(first), people, arm.smooth_rate), dtype=np.float64)
    total = np.zeros(DRAWS)
    for j, term in enumerate(arm.terms):
        total = total + term.weight(arm.smooth_rate) * _quantiles(term.noise, _column(2 + 2 * first + j))
    return Arm(count + total, np.broadcast_to(arm.size, count.shape), arm.terms)


def _column(index: int) -> Floats:
    steps = np.arange(1, DRAWS + 1) * GENERATOR ** -(index + 1.0)
    return np.asarray((steps + 0.5) % 1.0, dtype=np.float64)


def _quantiles(noise: Noise, at: Floats) -> Floats:
    if isinstance(noise, Gaussian):
        return np.asarray(noise.sigma * ndtri(at), dtype=np.float64)
    return np.asarray(-noise.size * np.sign(at - 0.5) * np.log1p(-2 * np.abs(at - 0.5)), dtype=np.float64)
