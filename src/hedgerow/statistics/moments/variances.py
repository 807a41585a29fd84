"""Error bars of variances and standard deviations, in centred units."""

import numpy as np
from scipy.special import chdtri

from hedgerow.distributions import Gaussian
from hedgerow.error_bars.intervals import Bounds, half_width
from hedgerow.error_bars.intervals.noise_sums import check_beta
from hedgerow.errors import InternalError
from hedgerow.statistics.moments import delta
from hedgerow.statistics.moments.delta import ALL_MOMENTS, PROFILE, Method, delta_bounds, is_large, labelled, spliced
from hedgerow.statistics.moments.estimates import sample_factor
from hedgerow.statistics.moments.families import Floats
from hedgerow.statistics.moments.noisy import FIRST, Moments
from hedgerow.statistics.moments.regions import box_bounds, profile_bounds

WHOLE = (0.0, 1.0)
SAMPLE = (0.0, 2.0)
"""Two rows at both ends have a sample variance of two."""


def variance_bounds(moments: Moments, beta: float, *, sample: bool = False, method: Method = "auto") -> Bounds:
    """Where the exact variance of the first column lies, for all groups at once.

    Args:
        moments: With the count, the sum and the sum of squares of the first column.
        beta: How often the exact variance may lie outside.
        sample: Whether it is the variance with n - 1 below the line.
        method: `delta` for the first-order interval; `profile` for all variances that fit the noisy moments at the
            level of one degree of freedom (Gaussian noise only); `rigorous` for all that fit at a level that holds for
            all moments at once; `auto` for `delta` in groups above 30 standard deviations of noise, else `rigorous`.

    Each is approximate or conservative.

    Example:
        >>> from hedgerow.statistics.moments.families import BERNSTEIN
        >>> seen = Moments.of(BERNSTEIN, np.array([[350.0, 20], [300.0, 30], [350.0, 30]]), Gaussian(5.0))
        >>> found = variance_bounds(seen, beta=0.05)
        >>> found.lower.round(2).tolist(), found.upper.round(2).tolist()
        ([0.38, 0.0], [0.42, 0.53])
        >>> [status.kind.value for status in found.statuses]
        ['approximate', 'conservative']
    """
    check_beta(beta)
    own = moments.only(FIRST)
    if method == "delta":
        return _delta(own, beta, sample=sample)
    if method == "profile":
        return _profile(own, beta, sample=sample)
    if method == "rigorous":
        return _rigorous(own, beta, sample=sample)
    large = is_large(own)
    return spliced(
        large, _delta(own.groups(large), beta, sample=sample), _rigorous(own.groups(~large), beta, sample=sample)
    )


def stddev_bounds(moments: Moments, beta: float, *, sample: bool = False, method: Method = "auto") -> Bounds:
    """Where the exact standard deviation lies: the roots of the ends of `variance_bounds`."""
    found = variance_bounds(moments, beta, sample=sample, method=method)
    return Bounds(np.sqrt(found.lower), np.sqrt(found.upper), found.statuses)


def _delta(moments: Moments, beta: float, *, sample: bool) -> Bounds:
    return delta_bounds(delta.variance(moments, sample=sample), moments, beta, SAMPLE if sample else WHOLE)


def _profile(moments: Moments, beta: float, *, sample: bool) -> Bounds:
    if not isinstance(moments.noise, Gaussian):
        raise InternalError("The profile interval of a variance is for Gaussian noise. Ask for the rigorous one.")
    lower, upper = profile_bounds(moments, float(chdtri(1, beta)))
    factor = sample_factor(moments) if sample else 1.0
    return labelled(lower, upper * factor, PROFILE, SAMPLE if sample else WHOLE)


def _rigorous(moments: Moments, beta: float, *, sample: bool) -> Bounds:
    if isinstance(moments.noise, Gaussian):
        level = float(chdtri(3, beta))
        lower, upper = profile_bounds(moments, level)
        reach = np.sqrt(level * moments.covariance[0, 0])
    else:
        share = beta / 4 if sample else 0.0
        lower, upper = box_bounds(moments, beta - share)
        reach = _count_reach(moments, share) if sample else 0.0
    if sample:
        upper = upper * largest_sample_factor(moments.count - reach)
    return labelled(lower, upper, ALL_MOMENTS, SAMPLE if sample else WHOLE)


def _count_reach(moments: Moments, beta: float) -> float:
    terms = [(c, moments.noise) for c in moments.mixing[0].tolist() if abs(c) > 1e-12]
    return half_width(terms, beta)


def largest_sample_factor(least_count: Floats) -> Floats:
    """The greatest n / (n - 1) for an n that is no less; a sample variance needs two rows."""
    rows = np.maximum(least_count, 2.0)
    return np.asarray(rows / (rows - 1.0))
