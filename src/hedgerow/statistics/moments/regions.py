"""Regions that hold the exact moments all at once, and what quotients of moments can be in them."""

from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
from scipy.special import chdtrc, chdtri

from hedgerow.distributions import Gaussian
from hedgerow.error_bars.intervals import half_width, normal_quotient_bounds
from hedgerow.statistics.moments.central import Form, around
from hedgerow.statistics.moments.family import MOMENTS, Floats
from hedgerow.statistics.moments.noisy import Moments

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
