"""Noisy moments of many groups, the law of their noise, and central moments of second order made from them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributions import Gaussian, Noise
from hedgerow.errors import InternalError
from hedgerow.statistics.moments.families import MOMENTS, Family, Floats, Monomial, mixing

FIRST: tuple[Monomial, ...] = ((0, 0), (1, 0), (2, 0))
SECOND: tuple[Monomial, ...] = ((0, 0), (0, 1), (0, 2))
PRODUCT: tuple[Monomial, ...] = ((0, 0), (1, 0), (0, 1), (1, 1))


@dataclass(frozen=True)
class Moments:
    """Sums of z^i w^j over the rows of each group, with noise.

    `sums` and `mixing` have one row for each of `MOMENTS` (zeros for what is not in `known`); `sums` has one column per
    group. What was added to the exact sums is `mixing` times independent draws of `noise`, fresh in each group.
    """

    known: tuple[Monomial, ...]
    sums: Floats
    mixing: Floats
    noise: Noise

    @classmethod
    def of(cls, family: Family, coordinates: Floats, noise: Noise) -> "Moments":
        """The moments in a noisy release.

        Args:
            family: What was released.
            coordinates: Its noisy coordinates: a row for each, a column for each group.
            noise: The law of the noise in every one of them.

        Example:
            >>> from hedgerow.statistics.moments.families import BERNSTEIN
            >>> seen = Moments.of(BERNSTEIN, np.array([[20.0], [50.0], [30.0]]), Gaussian(5.0))
            >>> seen.count.tolist(), seen.moment((1, 0)).tolist(), seen.moment((2, 0)).tolist()
            ([100.0], [10.0], [0.0])
        """
        back = mixing(family)
        return cls.from_sums(family.moments, back @ np.asarray(coordinates, dtype=float), back, noise)

    @classmethod
    def from_sums(cls, monomials: Sequence[Monomial], sums: Floats, mixing: Floats, noise: Noise) -> "Moments":
        """Moments that are known as such.

        Args:
            monomials: Which they are.
            sums: A row for each of them, a column for each group.
            mixing: A row for each of them, a column for each independent noise: its coefficient.
            noise: The law of each noise.
        """
        places = [MOMENTS.index(moment) for moment in monomials]
        whole = [np.zeros((len(MOMENTS), np.shape(matrix)[1])) for matrix in (sums, mixing)]
        whole[0][places], whole[1][places] = sums, mixing
        return cls(tuple(moment for moment in MOMENTS if moment in monomials), whole[0], whole[1], noise)

    def groups(self, which: NDArray[np.bool_] | slice) -> "Moments":
        """The moments of some of the groups."""
        return Moments(self.known, self.sums[:, which], self.mixing, self.noise)

    def only(self, monomials: Iterable[Monomial]) -> "Moments":
        """A selection of the moments."""
        kept = tuple(moment for moment in MOMENTS if moment in set(monomials))
        self.require(kept)
        keep = np.array([[float(moment in kept)] for moment in MOMENTS])
        return Moments(kept, self.sums * keep, self.mixing * keep, self.noise)

    def exchanged(self) -> "Moments":
        """The moments with both columns exchanged."""
        order = [MOMENTS.index((j, i)) for i, j in MOMENTS]
        known = tuple(moment for moment in MOMENTS if moment[::-1] in self.known)
        return Moments(known, self.sums[order], self.mixing[order], self.noise)

    def require(self, monomials: Iterable[Monomial]) -> None:
        """Raise an error if any of these is missing."""
        if not set(monomials) <= set(self.known):
            raise InternalError("A statistic was asked for whose moments were not released.")

    def moment(self, monomial: Monomial) -> Floats:
        """The noisy sums of one monomial."""
        self.require([monomial])
        return np.asarray(self.sums[MOMENTS.index(monomial)])

    @property
    def count(self) -> Floats:
        """Noisy numbers of rows."""
        return np.asarray(self.sums[0])

    @property
    def rows(self) -> Floats:
        """Noisy numbers of rows, at least one, for division."""
        return np.maximum(self.count, 1.0)

    @property
    def means(self) -> tuple[Floats, Floats]:
        """Means of both columns, clipped to the range; zero for a missing one."""
        first, second = (np.clip(self.sums[k] / self.rows, -1.0, 1.0) for k in (1, 2))
        return first, second

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise in one coordinate (on a lattice it is a little smaller)."""
        return self.noise.sigma if isinstance(self.noise, Gaussian) else math.sqrt(2) * self.noise.scale

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the noise in the moments."""
        return np.asarray(self.sigma**2 * (self.mixing @ self.mixing.T))

    def noise_stddev(self, gradient: Floats) -> Floats:
        """The standard deviation of the noise in `gradient` times the moments, for a gradient per group."""
        return np.asarray(np.sqrt(np.maximum(np.einsum("ig,ij,jg->g", gradient, self.covariance, gradient), 0.0)))


Form = Sequence[float | Floats]
"""The three coefficients, each for all groups or one per group."""

VAR_FIRST: Form = (1.0, 0.0, 0.0)
COVARIANCE: Form = (0.0, 1.0, 0.0)
VAR_SECOND: Form = (0.0, 0.0, 1.0)


def central(moments: Moments, form: Form) -> Floats:
    """The form at the noisy moments: neither corrected nor clipped."""
    seconds = _seconds(moments, form) / moments.rows
    return np.asarray(seconds - quadratic(form, *moments.means))


def gradient(moments: Moments, form: Form, value: Floats) -> Floats:
    """Derivatives of the form by each of the six moments, where it has the given value: a column per group."""
    coefficients = around(form, *moments.means)
    coefficients[0] -= value
    return np.asarray(coefficients / moments.rows)


def bias(moments: Moments, form: Form) -> Floats:
    """Mean shift of `central` by the noise, to second order.

    Half of the second derivatives times the covariances of the noise. For a variance it is
    ((q - 3 p^2) Var N - Var S - Cov(N, Q) + 4 p Cov(N, S)) / n^2 with p = S / n and q = Q / n.
    """
    noise, rows = moments.covariance, moments.rows
    first, second = moments.means
    a, b, c = form
    seconds = _seconds(moments, form) / rows
    with_count = a * noise[0, 3] + b * noise[0, 4] + c * noise[0, 5]
    slopes = (2 * a * first + b * second) * noise[0, 1] + (b * first + 2 * c * second) * noise[0, 2]
    squares = a * noise[1, 1] + b * noise[1, 2] + c * noise[2, 2]
    curved = (seconds - 3 * quadratic(form, first, second)) * noise[0, 0]
    return np.asarray((curved - with_count + 2 * slopes - squares) / rows**2)


def quadratic(form: Form, first: Floats, second: Floats) -> Floats:
    """A z^2 + b z w + c w^2."""
    a, b, c = form
    return np.asarray(a * first**2 + b * first * second + c * second**2)


def around(form: Form, first: Floats, second: Floats) -> Floats:
    """The coefficients of sum a (z - first)^2 + b (z - first)(w - second) + c (w - second)^2 in the six moments."""
    a, b, c = form
    constant = np.zeros_like(first)
    return np.stack(
        [
            quadratic(form, first, second),
            -(2 * a * first + b * second),
            -(b * first + 2 * c * second),
            a + constant,
            b + constant,
            c + constant,
        ]
    )


def _seconds(moments: Moments, form: Form) -> Floats:
    a, b, c = form
    return np.asarray(a * moments.sums[3] + b * moments.sums[4] + c * moments.sums[5])
