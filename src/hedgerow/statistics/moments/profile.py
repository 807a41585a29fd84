"""Which variances fit noisy moments under Gaussian noise: the extremes over an ellipse.

All exact moments (N, S, Q) that lie within a Mahalanobis distance of the noisy ones form an ellipsoid. Seen from the
origin, as (p, q) = (S / N, Q / N), it is an ellipse, and the variance is q - p^2 on it. It has no stationary point, so
its extremes lie on the rim, where it is a trigonometric polynomial of second degree in the angle, or where the
range of the data cuts the ellipse off: q <= 1. On a fine grid of angles the error of such a polynomial is bounded by
its second derivative, and that bound is added: the result can only be too wide, by a few millionths of the ellipse.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.statistics.moments.family import Floats
from hedgerow.statistics.moments.noisy import Moments

ANGLES = 512
STEP = 2 * np.pi / ANGLES
COSINES, SINES = np.cos(STEP * np.arange(ANGLES)), np.sin(STEP * np.arange(ANGLES))
AT_ONCE = 4096
"""How many groups are computed together, which bounds the memory."""


@dataclass(frozen=True, slots=True)
class Ellipse:
    """p = mean + width cos, q = square + tilt cos + height sin, for all angles; one per group."""

    mean: Floats
    square: Floats
    width: Floats
    tilt: Floats
    height: Floats

    def part(self, groups: slice) -> "Ellipse":
        """Some of the groups, as columns."""
        return Ellipse(*(each[groups, None] for each in (self.mean, self.square, self.width, self.tilt, self.height)))


def profile_bounds(moments: Moments, level: float) -> tuple[Floats, Floats]:
    """The least and greatest variance among exact moments within `level` of the noisy ones.

    Args:
        moments: With the count, the sum and the sum of squares of the first column.
        level: The square of the Mahalanobis distance. The chi-square quantile with three degrees of freedom makes the
            bounds rigorous; with one degree they hold about as often as stated.

    Where the count may be zero, that is the whole range [0, 1].
    """
    ellipse, seen = _ellipse(moments, level)
    pieces = [_extremes(ellipse.part(slice(k, k + AT_ONCE))) for k in range(0, max(len(ellipse.mean), 1), AT_ONCE)]
    lower, upper = (np.concatenate(ends) for ends in zip(*pieces, strict=True))
    return np.where(seen, lower, 0.0), np.where(seen, upper, 1.0)


def _ellipse(moments: Moments, level: float) -> tuple[Ellipse, NDArray[np.bool_]]:
    """The ellipse, and where there is one: where the count is surely positive.

    A line a + b p + c q = 0 touches it if (a, b, c) (y y' - level Sigma) (a, b, c)' = 0, with y the noisy
    moments and Sigma the covariance of their noise. Centre and shape are read off, with what cancels left out.
    """
    count = moments.count
    seen = (count > 0) & (count**2 > level * moments.covariance[0, 0])
    safe = np.where(seen, count, 1.0)
    shares = np.where(seen, level / safe**2, 0.0)
    places = (1, 3)
    noise = moments.covariance
    points = [np.where(seen, moments.sums[k] / safe, 0.0) for k in places]
    left = 1.0 - shares * noise[0, 0]
    moved = [(x * noise[0, 0] - noise[0, k]) * shares / left for x, k in zip(points, places, strict=True)]
    mean, square = (x + e for x, e in zip(points, moved, strict=True))

    def shape(i: int, j: int) -> Floats:
        k, m = places[i], places[j]
        first = noise[k, m] - points[i] * noise[0, m] - points[j] * noise[0, k] + points[i] * points[j] * noise[0, 0]
        return np.asarray(shares * first / left + moved[i] * moved[j])

    width = np.sqrt(np.maximum(shape(0, 0), 0.0))
    tilt = np.divide(shape(0, 1), width, out=np.zeros_like(width), where=width > 0)
    height = np.sqrt(np.maximum(shape(1, 1) - tilt**2, 0.0))
    return Ellipse(mean, square, width, tilt, height), seen


def _extremes(ellipse: Ellipse) -> tuple[Floats, Floats]:
    """The extremes over what is possible in the ellipse; over all of it where nothing is."""
    first = ellipse.mean + ellipse.width * COSINES
    second = ellipse.square + ellipse.tilt * COSINES + ellipse.height * SINES
    values = second - first**2
    slack = (_slope(ellipse) + 2 * ellipse.width**2) * STEP**2 / 8
    possible = second <= 1.0 + np.hypot(ellipse.tilt, ellipse.height) * STEP
    chord = _chord(ellipse)
    possible |= ~possible.any(axis=1, keepdims=True) & np.isnan(chord[0])[:, None]
    least = np.min(np.where(possible, values, np.inf), axis=1) - slack[:, 0]
    greatest = np.max(np.where(possible, values, -np.inf), axis=1) + slack[:, 0]
    return np.clip(np.fmin(least, chord[0]), 0.0, 1.0), np.clip(np.fmax(greatest, chord[1]), 0.0, 1.0)


def _slope(ellipse: Ellipse) -> Floats:
    """The size of the first harmonic of the variance along the rim."""
    return np.hypot(ellipse.tilt - 2 * ellipse.mean * ellipse.width, ellipse.height)


def _chord(ellipse: Ellipse) -> tuple[Floats, Floats]:
    """The extremes of 1 - p^2 where the ellipse meets q = 1; nan where it does not."""
    mean, square, width, tilt, height = (
        each[:, 0] for each in (ellipse.mean, ellipse.square, ellipse.width, ellipse.tilt, ellipse.height)
    )
    reach = np.hypot(tilt, height)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = (1.0 - square) / reach
        middle = mean + width * tilt / reach * up
        half = width * height / reach * np.sqrt(1.0 - up**2)
    lower, upper = middle - half, middle + half
    farthest = np.minimum(np.maximum(np.abs(lower), np.abs(upper)), 1.0)
    nearest = np.where(lower * upper <= 0, 0.0, np.minimum(np.abs(lower), np.abs(upper)))
    missed = np.isnan(half) | (nearest > 1.0)
    return np.where(missed, np.nan, 1.0 - farthest**2), np.where(missed, np.nan, 1.0 - nearest**2)
