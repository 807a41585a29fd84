"""Central moments of second order: a Var z + b Cov(z, w) + c Var w, their first-order noise and second-order bias."""

from collections.abc import Sequence

import numpy as np

from hedgerow.statistics.moments.family import Floats
from hedgerow.statistics.moments.noisy import Moments

Form = Sequence[float | Floats]
"""The three coefficients, each for all groups or one per group."""

VAR_FIRST: Form = (1.0, 0.0, 0.0)
COVARIANCE: Form = (0.0, 1.0, 0.0)
VAR_SECOND: Form = (0.0, 0.0, 1.0)


def central(moments: Moments, form: Form) -> Floats:
    """The form at the noisy moments: neither corrected nor cut."""
    seconds = _seconds(moments, form) / moments.rows
    return np.asarray(seconds - quadratic(form, *moments.means))


def gradient(moments: Moments, form: Form, value: Floats) -> Floats:
    """How the form changes with each of the six moments, where it has the given value: a column per group."""
    coefficients = around(form, *moments.means)
    coefficients[0] -= value
    return np.asarray(coefficients / moments.rows)


def bias(moments: Moments, form: Form) -> Floats:
    """By how much the noise shifts `central` on average, to second order.

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
