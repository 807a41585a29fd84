"""The parametric bootstrap: how the studentised statistic is distributed where the rates are those that were seen.

The draws are not random: they are the quantiles of binomials and noises at the points of one fixed lattice, so that
the same counts have the same interval. Nothing here is a release.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from hedgerow.arguments import Floats
from hedgerow.distributions import Gaussian, Noise
from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.bounds import ZERO_DENOMINATOR
from hedgerow.error_bars.intervals.quotients import fieller_hull
from hedgerow.statistics.two_by_two.arms import Arm
from hedgerow.statistics.two_by_two.curves import Curve, OddsRatio, RelativeRisk
from hedgerow.statistics.two_by_two.laws import size

DRAWS = 2039
GENERATOR = 1.1127756842787055
"""The root of t^7 = t + 1: the powers of its inverse fill six dimensions evenly, two binomials and four noises."""

Found = tuple[Bounds, Floats]


def bootstrap(x: Arm, y: Arm, curve: Curve, beta: float) -> Found:
    """Bounds whose two ends fail half of beta each, among counts drawn at the rates that were seen, noise added."""
    ends = np.array([_one(x, y, curve, beta, i) for i in range(len(x.count))]).reshape(-1, 3)
    lower, upper, p_value = ends.T
    return Bounds.of(lower, upper).marked(np.isinf(upper), ZERO_DENOMINATOR), p_value


def _one(x: Arm, y: Arm, curve: Curve, beta: float, i: int) -> tuple[float, float, float]:
    one = slice(i, i + 1)
    arms = x.at(one), y.at(one)
    drawn = _redrawn(arms[0], 0), _redrawn(arms[1], 1)
    rates = tuple(arm.smooth_rate for arm in arms)
    value = curve.value(*rates)
    spread = np.sort(_studentised(*drawn, curve, value))
    low, high = np.quantile(spread, [beta / 2, 1 - beta / 2])
    seen = float(_studentised(*arms, curve, np.array([curve.null]))[0])
    beyond = min(float(np.mean(spread <= seen)), float(np.mean(spread >= seen)))
    lower, upper = _inverted(*arms, curve, float(low), float(high))
    return lower, upper, float(min(1.0, 2 * max(beyond, 1 / DRAWS)))


def _studentised(x: Arm, y: Arm, curve: Curve, value: Floats) -> Floats:
    """The distance from a supposed value in deviations."""
    vx, vy = (arm.sampling(arm.smooth_rate) + arm.noise(arm.smooth_rate) for arm in (x, y))
    if isinstance(curve, OddsRatio):
        px, py = x.smooth_rate, y.smooth_rate
        deviation = np.sqrt(vx / (px * (1 - px)) ** 2 + vy / (py * (1 - py)) ** 2)
        return np.asarray((np.log(curve.value(px, py)) - np.log(value)) / deviation)
    slope = value if isinstance(curve, RelativeRisk) else np.ones_like(value)
    shift = 0.0 if isinstance(curve, RelativeRisk) else value
    return np.asarray((x.rate - slope * y.rate - shift) / np.sqrt(vx + slope**2 * vy))


def _inverted(x: Arm, y: Arm, curve: Curve, low: float, high: float) -> tuple[float, float]:
    """The values whose studentised distance lies between `low` and `high`."""
    vx, vy = (arm.sampling(arm.smooth_rate) + arm.noise(arm.smooth_rate) for arm in (x, y))
    if isinstance(curve, RelativeRisk):
        directions = [(np.sqrt(vx), 0 * vx, 1.0), (0 * vy, np.sqrt(vy), 1.0)]
        hulls = [fieller_hull(x.rate, y.rate, directions, 2 * _level(z), (0.0, np.inf)) for z in (high, -low)]
        return float(np.nan_to_num(hulls[0][0][0])), float(np.nan_to_num(hulls[1][1][0], posinf=np.inf))
    if isinstance(curve, OddsRatio):
        px, py = x.smooth_rate, y.smooth_rate
        deviation = np.sqrt(vx / (px * (1 - px)) ** 2 + vy / (py * (1 - py)) ** 2)
        centre = np.log(curve.value(px, py))
        return float(np.exp(centre - high * deviation)[0]), float(np.exp(centre - low * deviation)[0])
    deviation = np.sqrt(vx + vy)
    return float((x.rate - y.rate - high * deviation)[0]), float((x.rate - y.rate - low * deviation)[0])


def _level(z: float) -> float:
    """The normal tail beyond z, held away from both ends."""
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
    return np.asarray(-size(noise) * np.sign(at - 0.5) * np.log1p(-2 * np.abs(at - 0.5)), dtype=np.float64)
