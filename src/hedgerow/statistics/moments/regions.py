"""Regions that hold the exact moments all at once: boxes under Laplace noise, ellipses under Gaussian noise.

Which variances fit noisy moments under Laplace noise: the extremes over a box.

The three Bernstein sums b of one column are non-negative, and with shares p = b / (b0 + b1 + b2) the variance in
units of the range is p2 - (p1 / 2 + p2)^2. It is concave in p, and a box of b becomes a polytope of p whose corners
come from corners of the box. So its least value is at a corner. The greatest is, for every m, at most the greatest
mean square distance from m, which is a linear form in p and again largest at a corner; the best m is searched for, and
any m is sound.

Which variances fit noisy moments under Gaussian noise: the extremes over an ellipse.

All exact moments (N, S, Q) that lie within a Mahalanobis distance of the noisy ones form an ellipsoid. Seen from the
origin, as (p, q) = (S / N, Q / N), it is an ellipse, and the variance is q - p^2 on it. It has no stationary point, so
its extremes lie on the rim, where it is a trigonometric polynomial of second degree in the angle, or where the
range of the data cuts the ellipse off: q <= 1. On a fine grid of angles the error of such a polynomial is bounded by
its second derivative, and that bound is added: the result can only be too wide, by a few millionths of the ellipse.
"""

from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from hedgerow.distributions import Gaussian
from hedgerow.error_bars.intervals import half_width, normal_quotient_bounds
from hedgerow.statistics.moments.families import BERNSTEIN, MOMENTS, Floats
from hedgerow.statistics.moments.noisy import FIRST, Form, Moments, around

NARROWINGS = 60


def box_bounds(moments: Moments, beta: float) -> tuple[Floats, Floats]:
    """The least and greatest variance of the first column over a box that holds the exact sums all at once.

    Args:
        moments: With the count, the sum and the sum of squares of the first column.
        beta: How often the box may miss; each of its three sides misses a third as often.
    """
    corners = _corners(*_sides(moments, beta))
    total = corners.sum(axis=1)
    some = total > 0
    shares = corners / np.where(some, total, 1.0)[:, None, :]
    values = shares[:, 2] - (shares[:, 1] / 2 + shares[:, 2]) ** 2
    least = np.min(np.where(some, values, np.inf), axis=0)
    greatest = _greatest(shares, some)
    known = some.any(axis=0)
    return (
        np.where(known, np.clip(4 * least, 0.0, 1.0), 0.0),
        np.where(known, np.clip(4 * greatest, 0.0, 1.0), 1.0),
    )


def _sides(moments: Moments, beta: float) -> tuple[Floats, Floats]:
    """Where the three Bernstein sums lie, none of which is negative."""
    places = [MOMENTS.index(each) for each in FIRST]
    to_bernstein = np.array([[float(each) for each in row] for row in BERNSTEIN.matrix])
    seen = to_bernstein @ moments.sums[places]
    coefficients = to_bernstein @ moments.mixing[places]
    half = [half_width([(c, moments.noise) for c in row.tolist() if abs(c) > 1e-12], beta / 3) for row in coefficients]
    reach = np.array(half)[:, None]
    return np.maximum(seen - reach, 0.0), np.maximum(seen + reach, 0.0)


def _corners(lower: Floats, upper: Floats) -> Floats:
    """The eight corners: corner, coordinate, group."""
    return np.stack(
        [np.stack([(lower, upper)[side][k] for k, side in enumerate(corner)]) for corner in product((0, 1), repeat=3)]
    )


def _greatest(shares: Floats, some: NDArray[np.bool_]) -> Floats:
    """The least over m of the greatest mean square distance from m, which is convex in m."""

    def distance(m: Floats) -> Floats:
        spread = shares[:, 0] * m**2 - shares[:, 1] * m * (1 - m) + shares[:, 2] * (1 - m) ** 2
        return np.asarray(np.max(np.where(some, spread, -np.inf), axis=0))

    low, high = np.zeros(shares.shape[2]), np.ones(shares.shape[2])
    for _ in range(NARROWINGS):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        falling = distance(first) > distance(second)
        low, high = np.where(falling, first, low), np.where(falling, high, second)
    return distance((low + high) / 2)


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


Range = tuple[Floats, Floats]


class Region(Protocol):
    """A set of moments, one per group, that holds the exact ones with a stated probability."""

    @property
    def moments(self) -> Moments:
        """The noisy moments around which it lies."""

    def quotient(self, coefficients: Floats) -> Range:
        """The extremes of coefficients times moments over the count; infinite where the count may be zero."""

    def least_count(self) -> Floats:
        """The least number of rows."""


@dataclass(frozen=True)
class Ellipsoid:
    """All moments within a Mahalanobis distance, for Gaussian noise.

    A quotient of linear forms takes the values that Fieller's inequality accepts at the quantile that belongs to
    the distance (Scheffé): the quotient r is taken where coefficients - r count can be zero.
    """

    moments: Moments
    beta: float

    @property
    def level(self) -> float:
        """The square of the distance."""
        return float(chdtri(len(self.moments.known), self.beta))

    def quotient(self, coefficients: Floats) -> Range:
        """By Fieller's inequality."""
        noise = self.moments.covariance
        values = np.einsum("ig,ig->g", coefficients, self.moments.sums)
        above = np.einsum("ig,ij,jg->g", coefficients, noise, coefficients)
        shared = noise[0] @ coefficients
        variances = np.maximum(above, 0.0), np.full_like(above, noise[0, 0]), shared
        share = max(float(chdtrc(1, self.level)), 1e-300)
        found = normal_quotient_bounds(values, self.moments.count, variances, share, (-np.inf, np.inf))
        positive = self.moments.count > 0
        return np.where(positive, found.lower, -np.inf), np.where(positive, found.upper, np.inf)

    def least_count(self) -> Floats:
        """Along the axis of the count."""
        return np.asarray(self.moments.count - np.sqrt(self.level * self.moments.covariance[0, 0]))


@dataclass(frozen=True)
class Box:
    """All moments whose noise is within its quantile in every coordinate at once, for independent noises."""

    moments: Moments
    beta: float

    @property
    def reach(self) -> float:
        """How far each noise may go: all of them stay within it with probability 1 - beta."""
        share = -np.expm1(np.log1p(-self.beta) / self.moments.mixing.shape[1])
        return half_width([(1.0, self.moments.noise)], float(share))

    def quotient(self, coefficients: Floats) -> Range:
        """A quotient of linear forms is extreme at a corner, if its denominator is positive in all of them."""
        moments, reach = self.moments, self.reach
        values = np.einsum("ig,ig->g", coefficients, moments.sums)
        weights = coefficients.T @ moments.mixing
        lower, upper = np.full_like(values, np.inf), np.full_like(values, -np.inf)
        for corner in product((-reach, reach), repeat=moments.mixing.shape[1]):
            count = moments.count - float(moments.mixing[0] @ corner)
            quotient = (values - weights @ np.array(corner)) / np.where(count > 0, count, 1.0)
            lower = np.minimum(lower, np.where(count > 0, quotient, -np.inf))
            upper = np.maximum(upper, np.where(count > 0, quotient, np.inf))
        return lower, upper

    def least_count(self) -> Floats:
        """In the corner where it is least."""
        return np.asarray(self.moments.count - self.reach * np.abs(self.moments.mixing[0]).sum())


def region_of(moments: Moments, beta: float) -> Region:
    """The region that fits the noise."""
    return Ellipsoid(moments, beta) if isinstance(moments.noise, Gaussian) else Box(moments, beta)


def mean_range(region: Region, first: float | Floats, second: float | Floats) -> Range:
    """The extremes of first times the mean of z plus second times the mean of w."""
    coefficients = np.zeros((len(MOMENTS), len(region.moments.count)))
    coefficients[1], coefficients[2] = first, second
    size = np.abs(first) + np.abs(second)
    lower, upper = region.quotient(coefficients)
    return np.clip(lower, -size, size), np.clip(upper, -size, size)


def central_range(region: Region, form: Form) -> Range:
    """The extremes of a Var z + b Cov(z, w) + c Var w, or a little more.

    For every point (x, y) it is the mean of a (z - x)^2 + b (z - x)(w - y) + c (w - y)^2, a quotient of moments, less
    the same form of the distances of the means from (x, y). With the noisy means as that point the second part is
    small, and it is bounded by the extremes of both means.
    """
    first, second = region.moments.means
    lower, upper = region.quotient(around(form, first, second))
    far = [
        np.maximum(np.abs(mean_range(region, *which)[0] - at), np.abs(mean_range(region, *which)[1] - at))
        for which, at in (((1.0, 0.0), first), ((0.0, 1.0), second))
    ]
    a, b, c = form
    mixed = np.abs(b) * far[0] * far[1]
    least = np.minimum(a, 0.0) * far[0] ** 2 + np.minimum(c, 0.0) * far[1] ** 2 - mixed
    greatest = np.maximum(a, 0.0) * far[0] ** 2 + np.maximum(c, 0.0) * far[1] ** 2 + mixed
    return np.asarray(lower - greatest), np.asarray(upper - least)
