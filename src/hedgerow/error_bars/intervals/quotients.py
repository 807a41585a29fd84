"""Exact intervals for the quotient of two noisy quantities, for all groups at once.

Under normal noise the accepted quotients are the roots of a quadratic (Fieller 1954). Under one or two Laplace noises
a quotient r is rejected when numerator - r denominator lies farther from zero than its noise does with probability
beta. That distance, as a function of r, is the quantile of a linear form of symmetric log-concave noise and therefore
convex in r (Meyer and Reisner 1991; Bobkov 2010). So the r rejected for being too low form an interval, as do those
rejected for being too high, and bisection finds their ends.

For more noises, and for mixtures (`pivot_hull`): at the exact quotient r = N / D the pivot x n - y d, for x = 1 and
y = r, is noise alone: sum (x a_i - y b_i) X_i. Let h(x, y) be the distance from zero that it exceeds with probability
beta. The quotients that are not rejected, those with |x n - y d| <= h(x, y) for r = y / x, hold the exact one with
probability 1 - beta.

h is a norm: it is convex in the form, as above, and it grows in proportion. So between two directions u and v it is at
most linear, h(s u + t v) <= s h(u) + t h(v), and h is worked out in two dozen directions only, the same for all groups.
They are spread evenly where the pivot has variance 1, so that the chord is above h by 0.2 % or so. Between two
directions everything is linear, and the ends of the interval are roots in closed form.

Lattices add a norm of their own, sum |x a_i - y b_i| times the slack of the lattice.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.error_bars.intervals.arithmetic import divide
from hedgerow.error_bars.intervals.interval import CONSERVATIVE, OUTSIDE, ZERO_DENOMINATOR, Bounds, Flags, Floats
from hedgerow.error_bars.intervals.inversion import Sums, half_widths
from hedgerow.error_bars.intervals.noise_sums import check_beta, half_width, lattice_slack, pair_tail
from hedgerow.special import ndtri

QuotientTerms = Sequence[tuple[float, float, Noise]]
COARSE = 4.0
"""Steps of a lattice that are longer than so many scales of the noise: there the exact law of each part is worth more
than their joint law without the lattice."""
Directions = Sequence[tuple[float | Floats, float | Floats, float]]
DOUBLINGS = 200
HALVINGS = 200
TOLERANCE = 1e-13
FARTHEST = 1e100
"""Largest quotient that the search considers."""


DIRECTIONS = 24

RIDGE = 1e-9
"""Part of the variance that is added to separate numerator and denominator where they have the same noise."""

PRECISION = 1e-4

CountedTerms = tuple[tuple[float, float, Noise, int], ...]


def quotient_bounds(
    numerator: Floats, denominator: Floats, terms: QuotientTerms, beta: float, support: tuple[float, float]
) -> Bounds:
    """Return the range of the quotient of two exact quantities, given their noisy values, for all groups at once.

    The numerator is seen with noise sum a_i X_i and the denominator with sum b_i X_i; a noise that enters both
    stands once, with both coefficients. Exact for normal noises (Fieller), for one or two Laplace noises and, up to
    0.2 %, for any number and mixture of both (`pivot_hull`); on a lattice a little longer, and conservative on a coarse
    one. What is said is about the quotient if it exists: an exact denominator of zero has none.

    Args:
        numerator: Noisy values, one per group, neither clipped nor corrected.
        denominator: Likewise.
        terms: For each independent noise, its coefficients in numerator and denominator, and its law.
        beta: How often the exact quotient may lie outside.
        support: Where the quotient is publicly known to lie; either end may be infinite.

    Example:
        >>> noise = Gaussian(20.0)
        >>> seen = quotient_bounds(np.array([300.0]), np.array([1000.0]), [(1, 0, noise), (0, 1, noise)], 0.05, (0, 1))
        >>> round(float(seen.lower[0]), 4), round(float(seen.upper[0]), 4)
        (0.2595, 0.3414)
    """
    check_beta(beta)
    tops, bottoms = np.broadcast_arrays(np.atleast_1d(np.asarray(numerator, float)), np.asarray(denominator, float))
    active = [(float(a), float(b), noise) for a, b, noise in terms if (a or b) and noise.size > 0]
    laplaces = [(a, b, noise) for a, b, noise in active if isinstance(noise, Laplace)]
    if not laplaces:
        hull = fieller_hull(tops, bottoms, _directions(active), beta, support)
    elif any(noise.step > COARSE * noise.scale for _, _, noise in laplaces):
        return _box(tops, bottoms, active, beta, support)
    elif len(active) == len(laplaces) <= 2:
        hull = LaplaceQuotient(tops, bottoms, laplaces, beta).hull(support)
    else:
        hull = pivot_hull(tops, bottoms, [(*term, count) for term, count in Counter(active).items()], beta, support)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _reported(*hull, tops / bottoms, support)


def normal_quotient_bounds(
    numerator: Floats,
    denominator: Floats,
    variances: tuple[Floats, Floats, Floats],
    beta: float,
    support: tuple[float, float],
) -> Bounds:
    """Like `quotient_bounds` under normal noise that differs from group to group.

    Args:
        numerator: Noisy values.
        denominator: Noisy values.
        variances: Of the numerator, of the denominator, and their covariance, one of each per group.
        beta: How often the exact quotient may lie outside.
        support: Where the quotient is publicly known to lie.
    """
    check_beta(beta)
    of_numerator, of_denominator, shared = variances
    root = np.sqrt(of_numerator)
    slope = np.divide(shared, root, out=np.zeros_like(root), where=root > 0)
    own = np.sqrt(np.maximum(of_denominator - slope**2, 0.0))
    hull = fieller_hull(numerator, denominator, [(root, slope, 1.0), (np.zeros_like(own), own, 1.0)], beta, support)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _reported(*hull, numerator / denominator, support)


def _box(
    numerator: Floats, denominator: Floats, terms: QuotientTerms, beta: float, support: tuple[float, float]
) -> Bounds:
    """Divide the intervals of numerator and denominator, each at half of the failure probability."""
    top = Bounds.around(numerator, half_width([(a, noise) for a, _, noise in terms], beta / 2))
    bottom = Bounds.around(denominator, half_width([(b, noise) for _, b, noise in terms], beta / 2))
    return box_bounds(top, bottom, support).weakened(CONSERVATIVE)


def box_bounds(numerator: Bounds, denominator: Bounds, support: tuple[float, float]) -> Bounds:
    """The quotient of two simultaneous intervals, cut to its support."""
    whole = divide(numerator, denominator)
    cut = Bounds.of(whole.lower, whole.upper).within(*support)
    return cut.with_status(_unbounded(cut.lower, cut.upper), ZERO_DENOMINATOR)


def _reported(lower: Floats, upper: Floats, estimate: Floats, support: tuple[float, float]) -> Bounds:
    """The accepted range; if nothing in the support is accepted, the end on the side of the point estimate."""
    empty = np.isnan(lower)
    nearest = np.where(estimate > support[1], support[1], support[0])
    lower, upper = np.where(empty, nearest, lower), np.where(empty, nearest, upper)
    return Bounds.of(lower, upper).with_status(empty, OUTSIDE).with_status(_unbounded(lower, upper), ZERO_DENOMINATOR)


def _directions(terms: QuotientTerms) -> Directions:
    """Normal noises as at most two independent directions: numerator and denominator span no more."""
    directions = [(a, b, noise.sigma) for a, b, noise in terms if isinstance(noise, Gaussian)]
    if len(directions) <= 2:
        return directions
    of_numerator = math.fsum((a * sigma) ** 2 for a, _, sigma in directions)
    of_denominator = math.fsum((b * sigma) ** 2 for _, b, sigma in directions)
    shared = math.fsum(a * b * sigma**2 for a, b, sigma in directions)
    if of_numerator == 0:
        return [(0.0, 1.0, math.sqrt(of_denominator))]
    root, own = math.sqrt(of_numerator), max(of_denominator - shared**2 / of_numerator, 0.0)
    return [(root, shared / root, 1.0), (0.0, math.sqrt(own), 1.0)]


def _unbounded(lower: Floats, upper: Floats) -> NDArray[np.bool_]:
    return np.isinf(lower) | np.isinf(upper)


def fieller_hull(
    numerator: Floats, denominator: Floats, directions: Directions, beta: float, support: tuple[float, float]
) -> tuple[Floats, Floats]:
    """The least and greatest accepted quotient in `support`; nan for both where none is accepted there.

    At the exact quotient r, numerator - r denominator is normal with mean zero. So r is accepted while
    a r^2 - 2 b r + c <= 0, and the accepted set is an interval, the outside of one, or everything.

    Args:
        numerator: Noisy values.
        denominator: Noisy values.
        directions: For each noise its coefficients in numerator and denominator (for all groups, or for each), and its
            standard deviation.
        beta: How often the exact quotient may be rejected.
        support: Where the quotient is known to lie.
    """
    lowest, highest = support
    a, low, high, all_accepted = _roots(numerator, denominator, directions, -float(ndtri(beta / 2)))
    inside = (low <= highest) & (high >= lowest)
    left, right = low >= lowest, high <= highest
    between = np.where(inside, np.maximum(low, lowest), np.nan), np.where(inside, np.minimum(high, highest), np.nan)
    neither = ~(left | right)
    around = (
        np.where(left, lowest, np.where(neither, np.nan, np.maximum(high, lowest))),
        np.where(right, highest, np.where(neither, np.nan, np.minimum(low, highest))),
    )
    lower = np.where(all_accepted, lowest, np.where(a >= 0, between[0], around[0]))
    upper = np.where(all_accepted, highest, np.where(a >= 0, between[1], around[1]))
    return lower, upper


def _roots(
    numerator: Floats, denominator: Floats, directions: Directions, z: float
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """The leading coefficient, both roots in order, and flags of the groups in which every quotient is accepted."""
    top_reach = z * np.sqrt(sum((a * sigma) ** 2 for a, _, sigma in directions))
    bottom_reach = z * np.sqrt(sum((b * sigma) ** 2 for _, b, sigma in directions))
    shared = z * z * sum(a * b * sigma * sigma for a, b, sigma in directions)
    a = (denominator - bottom_reach) * (
        denominator + bottom_reach
    ) + 0.0  # no negative zero: its sign would turn infinite roots
    b = numerator * denominator - shared
    c = (numerator - top_reach) * (numerator + top_reach)
    discriminant = _discriminant(numerator, denominator, directions, z)
    far = b + np.where(b < 0, -1.0, 1.0) * np.sqrt(np.maximum(discriminant, 0.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, second = far / a, c / far
    # Where far is zero so are b and the discriminant: a double root at zero.
    first, second = np.where(np.isnan(first), 0.0, first), np.where(np.isnan(second), 0.0, second)
    everything = ((a < 0) & (discriminant <= 0)) | ((a == 0) & (b == 0))
    return a, np.minimum(first, second), np.maximum(first, second), everything


def _discriminant(numerator: Floats, denominator: Floats, directions: Directions, z: float) -> Floats:
    """b^2 - a c, as a sum of squares minus a constant, to avoid cancellation."""
    squares = sum((sigma * (b * numerator - a * denominator)) ** 2 for a, b, sigma in directions)
    crossed = sum(
        ((a * d - b * c) * sigma * tau) ** 2
        for i, (a, b, sigma) in enumerate(directions)
        for c, d, tau in directions[:i]
    )
    return np.asarray(z * z * (squares - z * z * crossed), dtype=float)


@dataclass(frozen=True, slots=True)
class LaplaceQuotient:
    """Noisy numerators and denominators, and for each noise its coefficient in either, and its law."""

    numerator: Floats
    denominator: Floats
    terms: Sequence[tuple[float, float, Laplace]]
    beta: float

    def hull(self, support: tuple[float, float]) -> tuple[Floats, Floats]:
        """The least and greatest accepted quotient in `support`; nan for both where none is accepted there."""
        lower = self.minimum(*support)
        terms = [(a, -b, noise) for a, b, noise in self.terms]
        upper = -LaplaceQuotient(self.numerator, -self.denominator, terms, self.beta).minimum(-support[1], -support[0])
        return lower, np.where(np.isnan(lower), np.nan, upper)

    def tail(self, quotient: Floats | float) -> Floats:
        """The probability of noise at least as far from zero as numerator - quotient * denominator."""
        distance = np.abs(self.numerator - quotient * self.denominator)
        return self._tail([a - quotient * b for a, b, _ in self.terms], distance)

    def zero_possible(self) -> Flags:
        """Flags of the groups whose denominator may be zero, so that arbitrarily large quotients are accepted."""
        return self._tail([b for _, b, _ in self.terms], np.abs(self.denominator)) >= self.beta

    def _tail(self, coefficients: Sequence[Floats | float], distance: Floats) -> Floats:
        sizes = [np.abs(c) for c in coefficients]
        scales = [size * noise.scale for size, (_, _, noise) in zip(sizes, self.terms, strict=True)]
        slack = sum(size * lattice_slack(noise) for size, (_, _, noise) in zip(sizes, self.terms, strict=True))
        second = scales[1] if len(scales) > 1 else np.zeros(1)
        return pair_tail(np.asarray(scales[0]), np.asarray(second), distance - slack)

    def _side(self, quotient: Floats) -> Floats:
        """The sign of numerator - quotient * denominator where the quotient is rejected; 0 elsewhere."""
        remainder = self.numerator - quotient * self.denominator
        return np.where(self.tail(quotient) < self.beta, np.sign(remainder), 0.0)

    def minimum(self, lowest: float, highest: float) -> Floats:
        """Find the smallest accepted quotient from `lowest` to `highest`; nan where there is none."""
        start = np.full(self.numerator.shape, lowest) if math.isfinite(lowest) else self._far_left()
        finite = np.where(np.isfinite(start), start, 0.0)
        side = np.where(np.isfinite(start), self._side(finite), 0.0)
        stop = np.full(self.numerator.shape, highest) if math.isfinite(highest) else self._leave(finite, side)
        empty = (side != 0) & (self._side(stop) == side)
        centre = self._estimate()
        ends = self._bisect(finite, np.where((centre > finite) & (centre < stop), centre, stop), side)
        return np.where(empty, np.nan, np.where(side == 0, start, ends))

    def _far_left(self) -> Floats:
        """A rejected quotient to the left of all accepted ones; minus infinity where there is none."""
        centre = self._estimate()
        step, rejected = np.maximum(np.abs(centre), 1.0), self.zero_possible()
        position = np.where(rejected, -np.inf, centre)
        for _ in range(DOUBLINGS):
            rejected |= self._side(np.where(rejected, centre, position)) != 0
            if rejected.all():
                return position
            position, step = np.where(rejected, position, position - step), 2 * step
        return np.where(rejected, position, -np.inf)

    def _leave(self, start: Floats, side: Floats) -> Floats:
        """A quotient to the right of `start` that is not rejected on the same side."""
        step, position = np.maximum(np.abs(start), 1.0), start
        for _ in range(DOUBLINGS):
            inside = (self._side(position) == side) & (side != 0)
            if not inside.any():
                break
            position, step = np.where(inside, position + step, position), 2 * step
        return position

    def _bisect(self, rejected: Floats, other: Floats, side: Floats) -> Floats:
        """The boundary of the rejected quotients, approached from the rejected side."""
        for _ in range(HALVINGS):
            middle = rejected + (other - rejected) / 2
            if np.all(np.abs(other - rejected) <= TOLERANCE * np.abs(middle)):
                break
            inside = self._side(middle) == side
            rejected, other = np.where(inside, middle, rejected), np.where(inside, other, middle)
        return rejected

    def _estimate(self) -> Floats:
        zero = self.denominator == 0
        with np.errstate(over="ignore"):
            quotient = np.where(zero, 0.0, self.numerator / np.where(zero, 1.0, self.denominator))
        return np.clip(quotient, -FARTHEST, FARTHEST)


def pivot_hull(
    numerator: Floats,
    denominator: Floats,
    terms: Sequence[tuple[float, float, Noise, int]],
    beta: float,
    support: tuple[float, float],
) -> tuple[Floats, Floats]:
    """The smallest and largest accepted quotient in `support`; nan for both where none is accepted.

    Args:
        numerator: Noisy values.
        denominator: Noisy values.
        terms: For each kind of noise its coefficients in numerator and denominator, its law, and how many there are.
        beta: How often the exact quotient may be rejected.
        support: Where the quotient is known to lie.
    """
    x, y, reach = _norm(tuple(sorted(terms, key=repr)), beta, support)
    pivots = np.outer(numerator, x) - np.outer(denominator, y)
    lower = _first_accepted(pivots, x, y, reach)
    upper = -_first_accepted(pivots[:, ::-1], x[::-1], -y[::-1], reach[::-1])
    return lower, upper


def pivot_reach(x: Floats, y: Floats, terms: Sequence[tuple[float, float, Noise, int]], beta: float) -> Floats:
    """The distance h(x, y) that the noise in x n - y d exceeds with probability `beta`, or slightly more."""
    along, across, reach = _norm(tuple(sorted(terms, key=repr)), beta, (-math.inf, math.inf))
    turned = np.where((x < 0) | ((x == 0) & (y < 0)), -1.0, 1.0)
    x, y = turned * x, turned * y
    with np.errstate(divide="ignore", invalid="ignore"):
        sector = np.clip(np.searchsorted(across / along, np.where(x > 0, y / x, np.inf)) - 1, 0, len(reach) - 2)
    first, second = (along[sector], across[sector]), (along[sector + 1], across[sector + 1])
    area = first[0] * second[1] - first[1] * second[0]
    parts = (x * second[1] - y * second[0]) / area, (first[0] * y - first[1] * x) / area
    return np.asarray(np.abs(parts[0]) * reach[sector] + np.abs(parts[1]) * reach[sector + 1])


def _first_accepted(pivots: Floats, x: Floats, y: Floats, reach: Floats) -> Floats:
    """The smallest accepted quotient, with directions in order; nan where all are rejected.

    Directions rejected on one side form a sector. It ends between the last direction of it and the next, where
    side * pivot - h, which is linear in between, is zero.
    """
    excess = np.abs(pivots) - reach
    side = np.where(excess[:, 0] > 0, np.sign(pivots[:, 0]), 0.0)[:, None]
    signed = side * pivots - reach
    leaves = signed[:, 1:] <= 0
    last = np.argmax(leaves, axis=1)
    rows = np.arange(len(pivots))
    here, there = signed[rows, last], -signed[rows, last + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        root = (there * y[last] + here * y[last + 1]) / (there * x[last] + here * x[last + 1])
        start = y[0] / x[0] if x[0] > 0 else -math.inf
    return np.where(side[:, 0] == 0, start, np.where(leaves.any(axis=1), root, np.nan))


@lru_cache(maxsize=1024)
def _norm(terms: CountedTerms, beta: float, support: tuple[float, float]) -> tuple[Floats, Floats, Floats]:
    """Directions (x, y) with y / x increasing from one end of the support to the other, and h in each."""
    x, y = _pivot_directions(terms, support)
    forms = [(np.abs(a * x - b * y), noise, count) for a, b, noise, count in terms]
    normal = sum(
        (np.square(size * noise.sigma) * n for size, noise, n in forms if isinstance(noise, Gaussian)), 0.0 * x
    )
    laplaces = [(size, noise, count) for size, noise, count in forms if isinstance(noise, Laplace)]
    scales = np.column_stack([size * noise.scale for size, noise, _ in laplaces])
    counts = np.array([float(count) for _, _, count in laplaces])
    continuous = half_widths(Sums(np.sqrt(normal), scales, counts, np.zeros_like(scales)), beta, PRECISION)
    return x, y, continuous + sum(size * lattice_slack(noise) * count for size, noise, count in laplaces)


def _pivot_directions(terms: CountedTerms, support: tuple[float, float]) -> tuple[Floats, Floats]:
    """Directions inside the support and at its ends: for a normal pivot of variance 1, at equal angles."""
    variances = [(a, b, count * noise.variance_bound) for a, b, noise, count in terms]
    of_top = sum(a * a * v for a, _, v in variances) * (1 + RIDGE)
    of_bottom = sum(b * b * v for _, b, v in variances) * (1 + RIDGE)
    shared = sum(a * b * v for a, b, v in variances)
    angles = np.linspace(-math.pi / 2, math.pi / 2, DIRECTIONS + 1)[1:-1]
    # The variance of x n - y d is (x sd of n given d)^2 + (y - x cov / var d)^2 var d, here cos^2 + sin^2.
    alone = math.sqrt(max(of_top - shared**2 / of_bottom, RIDGE * of_top)) if of_bottom > 0 else math.sqrt(of_top)
    x = np.cos(angles) / alone if alone > 0 else np.cos(angles)
    y = x * shared / of_bottom + np.sin(angles) / math.sqrt(of_bottom) if of_bottom > 0 else np.tan(angles) * x
    inside = (y > support[0] * x) & (y < support[1] * x)
    ends = [(1.0, end) if math.isfinite(end) else (0.0, math.copysign(1.0, end)) for end in support]
    (first_x, first_y), (last_x, last_y) = ends
    return np.concatenate([[first_x], x[inside], [last_x]]), np.concatenate([[first_y], y[inside], [last_y]])
