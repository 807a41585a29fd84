"""The default interval: every value that the noisy counts do not reject, by a test that knows sampling and noise.

A supposed value makes one rate a function of the other. The rates on that curve that are nearest to the noisy ones
give the variances, of sampling and of noise; the distance of the noisy rates from the curve is then compared with
the law of a normal variable (sampling, and Gaussian noise) plus the Laplace noises as they are. Without noise this is
the score interval (Koopman 1984; Miettinen and Nurminen 1985).
"""

from dataclasses import dataclass

import numpy as np

from hedgerow.arguments import Floats
from hedgerow.statistics.two_by_two.arms import Arm
from hedgerow.statistics.two_by_two.curves import Curve
from hedgerow.statistics.two_by_two.mixture import mixed_tail

TILT = 2.0
"""How fast the error moves to the far end as the weaker rate's deviation grows; measured in benchmarks/ratios.py."""

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
        """How likely noisy counts at least as far from the curve of `value` are, on either side.

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
    """The two largest Laplace scales; of any others the variance, which joins the normal part."""
    if len(scales) <= 2:
        first, second = (*scales, 0 * like, 0 * like)[:2]
        return first, second, 0 * like
    ordered = np.sort(np.stack(np.broadcast_arrays(*scales)), axis=0)
    return ordered[-1], ordered[-2], 2 * np.sum(ordered[:-2] ** 2, axis=0)
