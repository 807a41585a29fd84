"""Products of two linear forms in released numbers.

Let x = m + e and y = v + f be the noisy factors and m, v the exact ones. Then v e + m f, which is noise alone, is
x y - m v - e f. So the exact product lies within h + k of x y, where h is the quantile of |v e + m f|, and |e f| <= k.

h is a norm of (v, m), hence largest in a corner of the box in which m and v are confined at a small share of beta. And
with scales s and t, |e f| = s t |(e / s) (f / t)| <= s t max(|e / s + f / t|, |e / s - f / t|)^2 / 4, whose two terms
are linear forms, too. While everything is confined the product also lies in the product of both intervals; the interval
is what both allow.
"""

import numpy as np

from hedgerow.distributions import Gaussian
from hedgerow.error_bars.intervals import Bounds, arithmetic, half_width
from hedgerow.error_bars.intervals.bounds import Floats
from hedgerow.error_bars.intervals.interval import CONSERVATIVE
from hedgerow.error_bars.intervals.pivots import pivot_reach
from hedgerow.error_bars.propagation.forms import LinearForm, Releases, inverse, rows_alike

CONFINED = 1 / 20
"""Share of beta for each factor to be confined, and for the product of their noises."""


def product_bounds(left: LinearForm, right: LinearForm, releases: Releases, beta: float) -> Bounds:
    """Return the interval of the product of two exact forms, row by row."""
    one, other = (form.half_widths(releases, CONFINED * beta) for form in (left, right))
    confined = arithmetic.multiply(left.bounds(releases, CONFINED * beta), right.bounds(releases, CONFINED * beta))
    corners = [
        (x, y) for x in (left.values - one, left.values + one) for y in (right.values - other, right.values + other)
    ]
    level = beta * (1 - 3 * CONFINED)
    linear = np.maximum.reduce([_norms(left, right, (y, x), releases, level) for x, y in corners])
    scales = [(inverse(one), sign * inverse(other)) for sign in (1.0, -1.0)]
    farthest = np.maximum.reduce([_norms(left, right, scale, releases, CONFINED * beta / 2) for scale in scales])
    error = linear + one * other * farthest**2 / 4
    middle = left.values * right.values
    lower, upper = np.fmax(confined.lower, middle - error), np.fmin(confined.upper, middle + error)
    return Bounds.of(lower, upper, CONSERVATIVE)


def _norms(
    left: LinearForm, right: LinearForm, factors: tuple[Floats, Floats], releases: Releases, beta: float
) -> Floats:
    """The quantile of |a left + b right|, row by row, as a norm of the factors (a, b)."""
    a, b = (np.nan_to_num(factor) for factor in factors)
    variance = a**2 * left.covariance(left, releases) + b**2 * right.covariance(right, releases)
    variance = variance + 2 * a * b * left.covariance(right, releases)
    widths = half_width([(1.0, Gaussian(1.0))], beta) * np.sqrt(np.maximum(variance, 0.0))
    laplaces = (abs(left.matrix) + abs(right.matrix)) @ (~releases.is_normal).astype(float)
    for rows, terms in rows_alike(left.matrix, right.matrix, np.flatnonzero(laplaces), releases):
        widths[rows] = pivot_reach(a[rows], -b[rows], terms, beta)
    return np.asarray(widths)
