"""Tails and quantiles of sums of independent symmetric noises, by inverting the characteristic function.

The characteristic function phi is real because all noises are symmetric. With u_k = (k + 1/2) D,

    P(|X| > t) = 1 - 2 * sum over k >= 0 of phi(u_k) sin(u_k t) / (pi (k + 1/2))

up to the mass of |X| beyond 2 pi / D - t (Davies 1973). That mass, the terms left out and the rounding are bounded and
added, so that no tail is below the true one. Many sums are inverted at once, each with scales of its own.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals.interval import Floats

Indices = NDArray[np.int64]

ROUNDING = 1e-13
ALIAS = 1e-14
MAXIMUM_TERMS = 1 << 17
MAXIMUM_CELLS = 1 << 18
"""Maximum number of terms that are computed at once, over all sums."""

MINIMUM_BETA = 1e-11
"""Below it the errors of inversion would dominate, and only the exponential bound is used."""

RATES = np.arange(1, 256) / 256.0


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of a normal noise and of Laplace noises, one sum per row.

    Attributes:
        sigma: Standard deviation of the normal noise of each sum.
        scales: Scales of the Laplace noises: a row for each sum, a column for each kind of noise.
        counts: Number of independent noises of each kind.
        steps: Steps of the lattices that the kinds live on; zero for continuous noise.
    """

    sigma: Floats
    scales: Floats
    counts: Floats
    steps: Floats

    @classmethod
    def of(cls, sigma: float, scales: tuple[tuple[float, int], ...]) -> "Sums":
        """One sum of continuous noises, given as pairs of a scale and its number of occurrences."""
        sizes = np.array([[scale for scale, _ in scales]])
        counts = np.array([float(count) for _, count in scales])
        return cls(np.array([sigma]), sizes, counts, np.zeros_like(sizes))

    def at(self, rows: Indices) -> "Sums":
        """A selection of the sums."""
        return Sums(self.sigma[rows], self.scales[rows], self.counts, self.steps[rows])

    def reach(self, mass: float) -> Floats:
        """A distance that is exceeded with probability at most `mass`, by Chernoff's bound."""
        rates, moments = self._moments()
        distances = ((moments + math.log(2 / mass)) / rates).min(axis=1)
        return np.asarray(np.where(self.largest > 0, distances, 0.0))

    def exponential_tails(self, distance: Floats) -> Floats:
        """Chernoff's bound on P(|X| > distance): the minimum of 2 E[exp(s X)] exp(-s distance) over a grid of s."""
        rates, moments = self._moments()
        exponents: Floats = (moments - rates * distance[:, None]).min(axis=1)
        bounds: Floats = np.minimum(2 * np.exp(np.minimum(exponents, 0.0)), 1.0)
        return bounds

    @property
    def largest(self) -> Floats:
        """The largest scale in each sum; for normal noise, the scale at which its tail falls equally fast."""
        return np.asarray(np.maximum(self.scales.max(axis=1, initial=0.0), self.sigma / 12))

    def _moments(self) -> tuple[Floats, Floats]:
        """A grid of s for each sum, and an upper bound on ln E[exp(s X)]: noise on a lattice has smaller moments.

        On a lattice of step h, E[exp(s X)] = 1 / (1 - (cosh(s h) - 1) / (cosh(h / b) - 1)), and (cosh x - 1) / x^2
        rises with x, so that the fraction is at most (s b)^2, which is what it is without the lattice.
        """
        rates = RATES / np.where(self.largest > 0, self.largest, 1.0)[:, None]
        moments = np.square(self.sigma[:, None] * rates) / 2
        for kind, count in enumerate(self.counts):
            moments = moments - count * np.log1p(-np.square(rates * self.scales[:, kind, None]))
        return rates, moments

    def log_characteristic(self, at: Floats) -> Floats:
        """The logarithm of phi, at frequencies of each sum."""
        result = -np.square(self.sigma[:, None] * at) / 2
        for kind, count in enumerate(self.counts):
            scale, step = self.scales[:, kind, None], self.steps[:, kind, None]
            square = np.square(scale * at)
            if np.any(step > 0):
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                    square = np.where(
                        step > 0,
                        np.square(np.sin(step * at / 2) / np.sinh(np.minimum(step / scale / 2, 300.0))),
                        square,
                    )
            result = result - count * np.log1p(square)
        return result

    def left_out(self, spacing: Floats, terms: int) -> Floats:
        """A bound on the terms from number `terms` on.

        Without a lattice phi(u) falls at least like 1 / (1 + b^2 u^2), b the largest scale, so the terms fall like
        those of sum (k + 1/2)^-3, which is below 1 / (2 terms^2). With one, only the normal part is known to fall: like
        a geometric sequence from there on.
        """
        first = (terms + 0.5) * spacing
        if np.any(self.steps > 0):
            fall = np.square(self.sigma) * spacing * first
            with np.errstate(divide="ignore", over="ignore"):
                return np.exp(-np.square(self.sigma * first) / 2) / (-np.expm1(-fall) * math.pi * terms)
        size = np.exp(self.log_characteristic(first[:, None])[:, 0])
        square = np.square(self.largest * spacing)
        return np.asarray(size * (1 + square * (terms + 0.5) ** 2) / (2 * math.pi * square * terms**2))


@dataclass(frozen=True, slots=True)
class Series:
    """Terms of the series above for several sums, valid for t up to `limit`, and their error."""

    frequencies: Floats
    weights: Floats
    error: Floats

    @classmethod
    def of(cls, sums: Sums, limit: Floats, terms: int) -> "Series":
        """The first terms, up to a number."""
        spacing = _spacing(sums, limit)
        order = np.arange(terms) + 0.5
        frequencies = spacing[:, None] * order
        weights = np.exp(sums.log_characteristic(frequencies)) / (math.pi * order)
        return cls(frequencies, weights, 2 * (sums.left_out(spacing, terms) + ALIAS) + ROUNDING)

    def tails(self, distance: Floats) -> Floats:
        """Upper bounds on P(|X| > distance), which exceed the exact values by at most the error."""
        waves = np.sin(self.frequencies * distance[:, None])
        return np.asarray(1.0 - 2.0 * np.einsum("ij,ij->i", self.weights, waves) + self.error)

    def densities(self, distance: Floats) -> Floats:
        """The density of |X|, up to the omitted terms."""
        waves = np.cos(self.frequencies * distance[:, None])
        return np.asarray(2.0 * np.einsum("ij,ij->i", self.weights * self.frequencies, waves))


def tails(sums: Sums, distance: Floats) -> Floats:
    """P(|X| > distance) for each sum, never below the exact value."""
    exponential = sums.exponential_tails(distance)
    if exponential.max() < MINIMUM_BETA:
        return exponential
    terms = int(_terms_needed(sums, distance, ROUNDING).max())
    return np.minimum(exponential, Series.of(sums, distance, terms).tails(distance))


def half_widths(sums: Sums, beta: float, precision: float = ROUNDING) -> Floats:
    """The smallest t with P(|X| > t) at most `beta` for each sum, or slightly more.

    Args:
        sums: The sums.
        beta: How often a sum may lie farther from zero.
        precision: The part of `beta` that the terms left out may take.
    """
    widths = sums.reach(beta)
    if beta < MINIMUM_BETA:
        return widths
    used = np.flatnonzero(widths > 0)
    needed = _terms_needed(sums.at(used), widths[used], max(ROUNDING, precision * beta))
    for terms in np.unique(needed).tolist():
        alike, some = used[needed == terms], max(1, MAXIMUM_CELLS // terms)
        for rows in (alike[start : start + some] for start in range(0, len(alike), some)):
            widths[rows] = _descend(Series.of(sums.at(rows), widths[rows], terms), widths[rows], beta)
    return widths


def _spacing(sums: Sums, limit: Floats) -> Floats:
    return np.asarray(2 * math.pi / (limit + sums.reach(ALIAS)))


def _terms_needed(sums: Sums, limit: Floats, precision: float) -> Indices:
    """Number of terms of each sum for which the omitted terms are below `precision`, up to a maximum."""
    spacing, terms = _spacing(sums, limit), 128
    needed = np.full(len(spacing), terms)
    wanting = np.arange(len(spacing))
    while len(wanting) and terms < MAXIMUM_TERMS:
        needed[wanting] = terms
        wanting = wanting[sums.at(wanting).left_out(spacing[wanting], terms) > precision]
        terms *= 2
    needed[wanting] = terms
    return needed


def _descend(series: Series, distance: Floats, beta: float) -> Floats:
    """Come down to the quantile by Newton's method on the logarithm of the tail.

    The tail of log-concave noise is log-concave, so the tangent lies above it and no step goes too far. Steps are
    checked all the same: where one does go too far (on a lattice, or in the last digits), half of it is tried.
    """
    tail, step = series.tails(distance), np.ones_like(distance)
    good = tail <= beta
    for _ in range(60):
        with np.errstate(divide="ignore", invalid="ignore"):
            density = series.densities(distance)
            move = np.log(beta / np.maximum(tail, beta * 1e-6)) * np.maximum(tail, 0.0) / density
        move = np.where(good & np.isfinite(move) & (move > 0), np.minimum(move, distance / 2), 0.0) * step
        if np.all(move <= 1e-10 * distance):
            break
        lower = series.tails(distance - move)
        inside = lower <= beta
        distance, tail = np.where(inside, distance - move, distance), np.where(inside, lower, tail)
        step = np.where(inside, 1.0, step / 2)
    return distance
