"""Sums and means of quotients over groups: an average per group, then their sum or mean.

Let t_g = N_g / D_g be the exact quotient of group g, n_g and d_g the noisy parts, f_g = d_g - D_g, and
P_g = n_g - t_g d_g, which is noise alone. Then n_g / d_g - t_g = P_g / d_g, exactly, and for public weights w_g

    sum w_g (n_g / d_g - t_g) = L - Q + T,   L = sum w_g P_g / D_g,
    Q = sum w_g P_g f_g / D_g^2,   T = sum w_g P_g f_g^2 / (D_g^2 d_g).

L is a linear form in the noise. Its coefficients are not known, but bounded: all D_g and all t_g are confined at once
by their own intervals, at a small share of beta. The quantile of |L| grows with the size of each coefficient, because
the noises are independent, symmetric and unimodal. So the largest coefficients give a half width that suffices.

Q has a mean that follows from the covariance of P_g and f_g: this is the bias of quotients, and it is taken out. The
rest of Q, and T, are sums of independent terms, which are bounded while all P_g and f_g are confined, with second
moments that follow from variances: the fourth moment of each noise, and of each sum of them, is at most 6 times its
squared variance. Bernstein's inequality bounds them, at a small share of beta each.

While everything is confined, the sum also lies between the sums of the ends of all t_g; the interval is what both
allow.
"""

import math

import numpy as np

from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.interval import CONSERVATIVE, Flags, Floats
from hedgerow.error_bars.intervals.inversion import Sums
from hedgerow.error_bars.intervals.noise_sums import growing_half_width
from hedgerow.error_bars.propagation.forms import Indices, Quotient, Releases
from hedgerow.late import csr_array
from hedgerow.special import ndtri

CONFINED = 1 / 20
"""Share of beta for all f_g to be confined, for all t_g, and for all P_g."""

REMAINDER = 1 / 40
"""Share of beta for the rest of Q, for T, and for the variance of L."""

GRID = 64
"""Coefficients are rounded up to powers of 2^(1/64), so that there are few different ones."""


def sum_of_quotients(part: Quotient, weights: csr_array, releases: Releases, beta: float) -> Bounds:
    """Return the interval of weighted sums of quotients.

    Args:
        part: The quotients, one per element.
        weights: A row for each sum, a column for each element; elements without a number have weight zero.
        releases: The noise in them.
        beta: How often the exact sum may lie outside.
    """
    share = CONFINED * beta / max(1, int(np.diff(weights.indptr).max(initial=1)))
    confined = part.bounds(releases, share)
    positive, negative = weights.maximum(0), (-weights).maximum(0)
    known = np.bincount(weights.indices, minlength=weights.shape[1]) > 0
    low, high = np.where(known, confined.lower, 0.0), np.where(known, confined.upper, 0.0)
    with np.errstate(invalid="ignore"):
        lower, upper = positive @ low - negative @ high, positive @ high - negative @ low
    expansion = _Expansion(part, releases, low, high, share)
    sound, value = expansion.is_sound(weights), weights @ np.where(known, expansion.estimates, 0.0)
    if sound.any():
        error_low, error_high = expansion.errors(weights, beta)
        lower = np.where(sound, np.fmax(lower, value - error_high), lower)
        upper = np.where(sound, np.fmin(upper, value - error_low), upper)
    return Bounds.of(np.minimum(lower, upper), np.maximum(lower, upper), CONSERVATIVE)


class _Expansion:
    """Bounds of the three parts, for elements whose quotients lie between `low` and `high`."""

    def __init__(self, part: Quotient, releases: Releases, low: Floats, high: Floats, level: float) -> None:
        top, bottom = part.numerator, part.denominator
        self._releases, self._low, self._high, self._level = releases, low, high, level
        self._both = csr_array((len(low), len(releases.noises)), dtype=complex)
        self._both = (top.matrix + 1j * bottom.matrix).tocsr() if bottom is not None else self._both
        self._denominator = np.nan_to_num(bottom.values) if bottom is not None else np.ones_like(low)
        self._reach = bottom.half_widths(releases, level) if bottom is not None else np.zeros_like(low)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.estimates = np.nan_to_num(top.values / self._denominator)

    def is_sound(self, weights: csr_array) -> Flags:
        """Flags of the sums in which no denominator may be near zero and no noise is in two elements."""
        pattern = csr_array((np.ones(self._both.nnz), self._both.indices, self._both.indptr), shape=self._both.shape)
        ones = csr_array((np.ones(weights.nnz), weights.indices, weights.indptr), shape=weights.shape)
        near = (self._denominator <= 2.5 * self._reach) | np.isinf(self._low) | np.isinf(self._high)
        once = np.asarray((ones @ pattern).max(axis=1).todense(), dtype=float).ravel() <= 1
        return np.asarray((ones @ near.astype(float) == 0) & once, dtype=bool)

    def errors(self, weights: csr_array, beta: float) -> tuple[Floats, Floats]:
        """The smallest and largest error of each sum that is sound."""
        size, squares = abs(weights), weights.multiply(weights).tocsr()
        near, nearer = self._denominator - self._reach, self._denominator - 2 * self._reach
        far = self._denominator + self._reach
        deviation, other, (lowest, highest) = self._moments()
        product = deviation * other
        level = beta * (1 - 3 * CONFINED - 3 * REMAINDER)
        linear = self._normal(squares, deviation, other, (level, REMAINDER * beta)) if self._is_normal else None
        linear = self._linear(weights, level) if linear is None else linear
        bend_low, bend_high = (np.minimum(end / near**2, end / far**2) for end in (lowest, -highest))
        shift = math.sqrt(self._kurtosis * 2 * self._level) * (size @ (product / near**2))
        mean_low = weights.maximum(0) @ bend_low + (-weights).maximum(0) @ bend_high - shift
        mean_high = -(weights.maximum(0) @ bend_high + (-weights).maximum(0) @ bend_low) + shift
        farthest, chance = deviation * self._farthest, math.log(2 / (REMAINDER * beta))
        moments = self._kurtosis * (product / near**2) ** 2
        second = _bernstein(squares @ moments, size, farthest * self._reach / near**2, chance)
        third = size @ (math.sqrt(self._kurtosis) * product * other / (near**2 * nearer))
        largest = farthest * self._reach**2 / (near**2 * nearer)
        third = third + _bernstein(squares @ (moments * (self._reach / nearer) ** 2), size, largest, chance)
        rest = linear + second + third
        return -mean_high - rest, -mean_low + rest

    @property
    def _is_normal(self) -> bool:
        return bool(self._releases.is_normal[self._both.indices].all())

    @property
    def _kurtosis(self) -> float:
        return 3.0 if self._is_normal else 6.0

    @property
    def _farthest(self) -> float:
        """The distance to which a sum of noises of variance 1 is confined.

        Of all such sums a single Laplace noise has the largest moments E[exp(u X)], as -ln(1 - x) is convex and zero at
        zero.
        """
        alone = Sums.of(1.0, ()) if self._is_normal else Sums.of(0.0, ((math.sqrt(0.5), 1),))
        return float(alone.reach(self._level)[0])

    def _normal(self, squares: csr_array, deviation: Floats, other: Floats, levels: tuple[float, float]) -> Floats:
        """The half width of L under normal noise, whose variance is V = sum (w s / D)^2, s the deviation of P.

        1 / d^2 >= 1 / D^2 - 2 f / D^3, by convexity. So V <= sum (w s / d)^2 + 2 sum (w s)^2 f / D^3, and the second
        sum is normal noise with a deviation that is known up to D, which is confined.
        """
        near = self._denominator - self._reach
        fourths = squares.multiply(squares) @ (deviation**4 * other**2 / near**6)
        moved = squares @ (deviation / self._denominator) ** 2 - 2 * float(ndtri(levels[1])) * np.sqrt(fourths)
        variance = np.minimum(moved, squares @ (deviation / near) ** 2)
        return np.asarray(-float(ndtri(levels[0] / 2)) * np.sqrt(variance))

    def _moments(self) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
        """Standard deviations of P and f, or more, and the ends of their covariance."""
        upper = np.array([noise.variance_bound for noise in self._releases.laws])[self._releases.kinds]
        exact = np.array([noise.variance for noise in self._releases.laws])[self._releases.kinds]
        numerators, denominators = self._both.real, self._both.imag
        of_top, of_bottom = numerators.multiply(numerators) @ upper, denominators.multiply(denominators) @ upper
        shared = numerators.multiply(denominators) @ upper
        ends = [np.maximum(of_top - 2 * t * shared + t * t * of_bottom, 0.0) for t in (self._low, self._high)]
        own, mixed = denominators.multiply(denominators) @ exact, numerators.multiply(denominators) @ exact
        covariances = [mixed - t * own for t in (self._low, self._high)]
        return np.sqrt(np.maximum(*ends)), np.sqrt(of_bottom), (np.minimum(*covariances), np.maximum(*covariances))

    def _linear(self, weights: csr_array, beta: float) -> Floats:
        """The half width of L with the largest coefficients."""
        element = np.repeat(np.arange(len(self._low)), np.diff(self._both.indptr))
        numerators, denominators = self._both.data.real, self._both.data.imag
        largest = np.maximum(
            np.abs(numerators - self._low[element] * denominators),
            np.abs(numerators - self._high[element] * denominators),
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = largest / (self._denominator - self._reach)[element]
        matrix = csr_array((np.nan_to_num(sizes), self._both.indices, self._both.indptr), shape=self._both.shape)
        total = (abs(weights) @ matrix).tocsr()
        widths = np.zeros(weights.shape[0])
        for row in range(weights.shape[0]):
            entries = slice(total.indptr[row], total.indptr[row + 1])
            widths[row] = self._half_width(total.data[entries], self._releases.kinds[total.indices[entries]], beta)
        return widths

    def _half_width(self, sizes: Floats, kinds: Indices, beta: float) -> float:
        """The half width of a sum with coefficients of at most these sizes."""
        some = sizes > 0
        if not some.any():
            return 0.0
        rounded = np.exp2(np.ceil(np.log2(sizes[some]) * GRID) / GRID)
        pairs, counts = np.unique(np.column_stack([rounded, kinds[some]]), axis=0, return_counts=True)
        noises = [self._releases.laws[int(kind)] for kind in pairs[:, 1]]
        return growing_half_width(list(zip(pairs[:, 0].tolist(), noises, counts.tolist(), strict=True)), beta)


def _bernstein(variance: Floats, size: csr_array, largest: Floats, chance: float) -> Floats:
    """The deviation from its mean that a sum of independent bounded terms exceeds with probability exp(-chance).

    `variance` is the sum of the second moments, and no term is larger than `largest` times its weight.
    """
    maximum = np.asarray(size.multiply(largest[None, :]).max(axis=1).todense(), dtype=float).ravel()
    return np.asarray(np.sqrt(2 * chance * variance) + chance / 3 * maximum)
