"""The default interval: all values that the noisy counts do not reject.

The default interval: every value that the noisy counts do not reject, by a test that knows sampling and noise.

A supposed value makes one rate a function of the other. The rates on that curve that are nearest to the noisy ones
give the variances, of sampling and of noise; the distance of the noisy rates from the curve is then compared with
the law of a normal variable (sampling, and Gaussian noise) plus the Laplace noises as they are. Without noise this is
the score interval (Koopman 1984; Miettinen and Nurminen 1985).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.arguments import Floats
from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.interval import OUTSIDE, ZERO_DENOMINATOR
from hedgerow.special import erfcx, ndtr
from hedgerow.statistics.two_by_two.arms import Arm
from hedgerow.statistics.two_by_two.curves import FARTHEST, Curve

LEAST = 1e-5
"""A normal part or a second Laplace part that is smaller than this share of the largest part is taken as this share:
it moves the variance by one part in 10^10, and saves a case of its own."""

APART = 1e-3
"""Minimum relative distance of two scales; closer ones are moved apart at equal variance."""


def mixed_tail(distance: ArrayLike, sigma: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
    """P(N + L + M > distance) for distances from 0, N normal, L and M Laplace with the scales `first` and `second`.

    The characteristic function of two Laplace variables with scales b and c is the weighted difference of those of one
    each, with the weights b^2 / (b^2 - c^2) and c^2 / (b^2 - c^2), and so is every tail. The relative error is about
    10^-7 where the two scales are within a thousandth of each other, and below 10^-9 elsewhere.

    Example:
        >>> round(float(mixed_tail(1.96, 1.0, 0.0, 0.0)), 4), round(float(mixed_tail(3.0, 0.0, 1.0, 0.0)), 4)
        (0.025, 0.0249)
    """
    at, normal, one, two = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (distance, sigma, first, second)))
    larger, smaller = np.maximum(one, two), np.minimum(one, two)
    noisy = larger > LEAST * normal
    larger = np.where(noisy, larger, 1.0)
    larger, smaller = _apart(larger, np.maximum(smaller, LEAST * larger))
    deviation = np.maximum(normal, LEAST * larger)
    with np.errstate(under="ignore", divide="ignore", invalid="ignore"):
        weight = 1.0 / ((larger - smaller) * (larger + smaller))
        mixed = weight * (larger**2 * _one(at, deviation, larger) - smaller**2 * _one(at, deviation, smaller))
        alone = ndtr(-at / np.where(normal > 0, normal, np.where(at > 0, np.finfo(float).tiny, 1.0)))
    return np.asarray(np.clip(np.where(noisy, mixed, alone), 0.0, 1.0), dtype=np.float64)


def _apart(larger: Floats, smaller: Floats) -> tuple[Floats, Floats]:
    close = smaller > (1 - APART) * larger
    middle = np.sqrt((larger**2 + smaller**2) / 2)
    return np.where(close, middle * np.sqrt(1 + APART), larger), np.where(close, middle * np.sqrt(1 - APART), smaller)


def _one(at: Floats, sigma: Floats, scale: Floats) -> Floats:
    """P(N + L > at), written so that nothing overflows: the growing exponential appears only where it is small."""
    u, k = at / sigma, sigma / scale
    bell = np.exp(-u * u / 2)
    beyond = u > k
    gap = np.abs(k - u) / np.sqrt(2)
    exponential = np.exp(np.where(beyond, k * (k / 2 - u), -np.inf))
    near = np.where(beyond, 2 * exponential - bell * erfcx(gap), bell * erfcx(gap))
    return np.asarray(ndtr(-u) + (near - bell * erfcx((k + u) / np.sqrt(2))) / 4, dtype=np.float64)


TILT = 2.0
"""Speed at which the error moves to the far end as the weaker rate's deviation grows (benchmarks/ratios.py)."""

LEAST_VARIANCE = 1e-300
LEAST_SHARE = 1e-12


@dataclass(frozen=True, slots=True)
class Score:
    """Two arms and the statistic that compares them.

    `sampling` is False where the interval is about the people that were counted, not about a population.
    """

    x: Arm
    y: Arm
    curve: Curve
    sampling: bool = True

    def of(self, index: slice | tuple[slice | None, ...]) -> "Score":
        """Some of the groups, or all of them with other axes."""
        return Score(self.x.at(index), self.y.at(index), self.curve, self.sampling)

    def p_value(self, value: Floats) -> Floats:
        """The probability of noisy counts at least as far from the curve of `value`, on either side.

        The error that one end of an interval may make is shared out unevenly far from the null: the far end takes
        more of it where its group is small beside its noise, because there it costs the most length. At the null
        both ends have half.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            distance, tail, tilt = self._test(value)
            side = np.where(distance < 0, 1 + tilt, 1 - tilt)
            return np.where(tail <= 0, 0.0, np.minimum(2 * tail / np.maximum(side, LEAST_SHARE), 1.0))

    def _test(self, value: Floats) -> tuple[Floats, Floats, Floats]:
        """The signed distance from the curve, its one-sided tail, and the tilt."""
        px, py = self._nearest(value)
        slope = self.curve.slope(value, py)
        distance = self.x.rate - self.curve.above(value, py) - slope * (self.y.rate - py)
        vx, vy = self._variances(px, py)
        tail = self._tail(np.abs(distance), slope, px, py)
        return distance, tail, self._tilt(value, (px, py), vx, slope**2 * vy, vy)

    def _nearest(self, value: Floats) -> tuple[Floats, Floats]:
        """The rates on the curve that are nearest to the noisy ones, measured by their variances there."""
        curve, variances = self.curve, self._variances(self.x.smooth_rate, self.y.smooth_rate)
        py = curve.start(value, self.x.smooth_rate, self.y.smooth_rate)
        px = curve.above(value, py)
        for _ in range(curve.rounds):
            py = curve.step(value, (px, py), (self.x.rate - px, self.y.rate - py), variances)
            px = np.clip(curve.above(value, py), 0.0, 1.0)
            variances = self._variances(px, py)
        return px, py

    def _variances(self, px: Floats, py: Floats) -> tuple[Floats, Floats]:
        vx, vy = self.x.noise(px), self.y.noise(py)
        if self.sampling:
            vx, vy = vx + self.x.sampling(px), vy + self.y.sampling(py)
        return np.maximum(vx, LEAST_VARIANCE), np.maximum(vy, LEAST_VARIANCE)

    def _tail(self, distance: Floats, slope: Floats, px: Floats, py: Floats) -> Floats:
        normal = self.x.normal_noise(px) + slope**2 * self.y.normal_noise(py)
        if self.sampling:
            normal = normal + self.x.sampling(px) + slope**2 * self.y.sampling(py)
        scales = self.x.scales(px) + [np.abs(slope) * scale for scale in self.y.scales(py)]
        first, second, rest = _largest_two(scales, distance)
        return mixed_tail(distance, np.sqrt(normal + rest), first, second)

    def _tilt(self, value: Floats, rates: tuple[Floats, Floats], vx: Floats, scaled: Floats, vy: Floats) -> Floats:
        far = self.curve.far(value)
        if not self.sampling or not np.any(far):
            return 0 * far
        weak_x, weak_y = np.sqrt(vx) / rates[0], np.sqrt(vy) / rates[1]
        share = scaled / (vx + scaled)
        above, below = np.minimum(TILT * weak_y * share, 1.0), np.minimum(TILT * weak_x * (1 - share), 1.0)
        return np.asarray(np.nan_to_num(far * np.where(far > 0, above, below), nan=0.0), dtype=np.float64)


def _largest_two(scales: list[Floats], like: Floats) -> tuple[Floats, Floats, Floats]:
    """The two largest Laplace scales, and the variance of all others, which is added to the normal part."""
    if len(scales) <= 2:
        first, second = (*scales, 0 * like, 0 * like)[:2]
        return first, second, 0 * like
    ordered = np.sort(np.stack(np.broadcast_arrays(*scales)), axis=0)
    return ordered[-1], ordered[-2], 2 * np.sum(ordered[:-2] ** 2, axis=0)


Flags = NDArray[np.bool_]
POINTS = 33
ZOOMS = 8
BLOCK = 256
STEPS: Floats = np.linspace(0.0, 1.0, POINTS)


def accepted_bounds(score: Score, beta: float) -> Bounds:
    """The hull of the values with a p-value of at least `beta`.

    Looked for on the bounded scale of the curve, outwards from the point estimate: 33 places on either side, then 33
    between the outermost accepted one and its neighbour, and so on, down to 2^-40 of the scale. What is reported is
    the rejected side. Where everything is rejected, the point nearest to the noisy counts is shown, with a note.
    """
    groups = len(score.x.count)
    blocks = [_block(score.of(slice(start, start + BLOCK)), beta) for start in range(0, groups, BLOCK)]
    lower, upper = (np.concatenate([getattr(block, end) for block in blocks] or [np.zeros(0)]) for end in _ENDS)
    return Bounds(lower, upper, [status for block in blocks for status in block.statuses])


def _block(score: Score, beta: float) -> Bounds:
    """The same for a number of groups whose arrays fit into the processor's cache."""
    middle = _middle(score)
    many = score.of(_BROADCAST_ARMS)
    inner, outer = np.stack([middle, middle]), np.stack([np.zeros_like(middle), np.ones_like(middle)])
    any_accepted = np.zeros(middle.shape, dtype=bool)
    for _ in range(ZOOMS):
        places = inner[..., None] + (outer - inner)[..., None] * STEPS
        accepted = many.p_value(score.curve.at(places)) >= beta
        any_accepted |= accepted.any(axis=(0, 2))
        inner, outer = _outermost(places, accepted)
    lower, upper = score.curve.at(np.where(any_accepted, outer, middle))
    upper = np.where(upper >= FARTHEST, np.inf, upper)
    lower = np.where(np.isinf(upper) & ~any_accepted, score.curve.lowest, lower)
    return Bounds.of(lower, upper).with_status(np.isinf(upper), ZERO_DENOMINATOR).with_status(~any_accepted, OUTSIDE)


_ENDS = ("lower", "upper")
_BROADCAST_ARMS = (None, slice(None), None)
"""The arms of each group against two directions and many places."""


def _middle(score: Score) -> Floats:
    """The place of the point estimate; of the nearest possible value where a noisy rate is impossible."""
    x, y = score.x.rate, score.y.rate
    lost = (x <= 0) & (y <= 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(lost, score.curve.null, score.curve.value(np.clip(x, 0.0, 1.0), np.clip(y, 0.0, 1.0)))
    return score.curve.place(np.where(np.isnan(value), score.curve.null, value))


def _outermost(places: Floats, accepted: Flags) -> tuple[Floats, Floats]:
    """The last accepted place on the way out (or the first place), and the one after it."""
    reverse = np.argmax(accepted[..., ::-1], axis=-1)
    last = np.where(accepted.any(axis=-1), POINTS - 1 - reverse, 0)
    pair = np.stack([last, np.minimum(last + 1, POINTS - 1)], axis=-1)
    taken = np.take_along_axis(places, pair, axis=-1)
    return taken[..., 0], taken[..., 1]
