"""The error bar of a count that is shown only because it passed a threshold."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.error_bars.intervals.interval import Bounds, Floats, Reason, Status
from hedgerow.error_bars.intervals.noise_sums import check_beta, half_width
from hedgerow.special import log_ndtr

SELECTED = Status(
    reason=Reason.SELECTED,
    note="this count selected its group, so it tends to be too high; the lower end allows for that",
)
HALVINGS = 100


def selected_count_bounds(values: Floats, noise: Noise, threshold: float, minimum: int, beta: float) -> Bounds:
    """Return the range of an exact count, given that its noisy value reached `threshold` and was therefore released.

    The lower end is the least count c for which P(noisy >= value | c, released) is still beta / 2, and
    never below `minimum`, which every released group is known to reach. That chance rises with c because the noise
    is log-concave. The upper end is the plain one: given release the noisy count is only larger, so it fails
    less often. Together they hold given release with probability at least 1 - beta, for every exact count.

    Args:
        values: Noisy counts that passed.
        noise: The law of their noise.
        threshold: What they had to reach; for fine integer noise half a grid step less.
        minimum: What the exact counts of released groups reach.
        beta: How often the exact count may lie outside.

    Example:
        >>> seen = selected_count_bounds(np.array([90.0]), Gaussian(10.0), threshold=70.0, minimum=10, beta=0.05)
        >>> round(float(seen.lower[0]), 1), round(float(seen.upper[0]), 1)
        (66.3, 109.6)
    """
    check_beta(beta)
    values = np.atleast_1d(np.asarray(values, dtype=float))
    plain = half_width([(1.0, noise)], beta)
    lower = np.maximum(_lower(values, noise, threshold, minimum, beta), minimum)
    moved = lower < values - 1.02 * plain
    return Bounds.of(lower, np.maximum(values + plain, minimum)).with_status(moved, SELECTED)


def _lower(values: Floats, noise: Noise, threshold: float, minimum: int, beta: float) -> Floats:
    """Bisect the distance below each value between accepted and rejected counts."""
    log_survival = _log_survival(noise)
    step = noise.step if isinstance(noise, Laplace) else 0.0

    def accepted(distance: Floats) -> NDArray[np.bool_]:
        return log_survival(distance) - log_survival(threshold - values + distance) >= math.log(beta / 2)

    near, far = np.zeros_like(values), np.maximum(values - minimum, 0.0)
    far = np.ceil(far / step) * step if step else far
    everything = accepted(far)
    for _ in range(HALVINGS):
        middle = np.floor((near + far) / 2 / step + 1e-9) * step if step else (near + far) / 2
        inside = accepted(middle)
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return np.where(everything, -math.inf, values - (near if step else far))


def _log_survival(noise: Noise) -> Callable[[Floats], Floats]:
    """The logarithm of P(X >= x); Laplace noise on a lattice has P(x) proportional to exp(-ratio |steps|)."""
    if isinstance(noise, Gaussian):
        return lambda x: np.asarray(log_ndtr(-x / noise.sigma))
    scale, step, ratio = noise.scale, noise.step, noise.step / noise.scale

    def continuous(x: Floats) -> Floats:
        return np.where(x >= 0, -math.log(2) - x / scale, np.log1p(-0.5 * np.exp(np.minimum(x / scale, 0.0))))

    def on_lattice(x: Floats) -> Floats:
        steps, share = np.ceil(x / step - 1e-9), 1.0 / (1.0 + math.exp(-ratio))
        upper_tail = math.log(share) - ratio * steps
        return np.where(steps >= 1, upper_tail, np.log1p(-share * np.exp(-ratio * (1 - np.minimum(steps, 0.0)))))

    return on_lattice if step else continuous
