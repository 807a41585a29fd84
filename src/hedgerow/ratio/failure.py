"""Probability that a ratio of counts is wrong by more than alpha, and the split of epsilon that minimises it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import exprel, ndtr, owens_t

from hedgerow.accuracy import gaussian_sigma
from hedgerow.arguments import Floats, Number, chosen, plain, positive, positives, probability, reals
from hedgerow.error_bars.intervals.noise_sums import pair_tail
from hedgerow.errors import ParameterError
from hedgerow.statistics.ratio_sensitivity import distance_to, largest_within, smooth_bound, within


def laplace_failure(x: Floats, y: Floats, alpha: Floats, first: Floats, second: Floats) -> Floats:
    """P(|X~/Y~ - x/y| > alpha) for Laplace noise of the scales `first` on x and `second` on y, both above zero.

    Claim 3.2 of Shoham and Ligett (2025) gives the probability of X~ < a Y~, dividing by zero if a = 1. Here a negative
    denominator is accounted for, so it is exact, and alpha may exceed the quotient.
    """
    quotient = x / y
    low, high = quotient - alpha, quotient + alpha
    return np.asarray(_laplace_below(x, y, low, first, second) + _laplace_above(x, y, high, first, second))


def gaussian_failure(x: Floats, y: Floats, alpha: Floats, first: Floats, second: Floats) -> Floats:
    """The same for Gaussian noise with the deviations `first` and `second`, by Owen's function."""
    quotient = x / y
    low, high = quotient - alpha, quotient + alpha
    lower_tail = _gaussian_below(x, y, low, first, second)
    return np.asarray(lower_tail + 1.0 - _gaussian_below(x, y, high, first, second))


def _laplace_above(x: Floats, y: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """Return P(X~/Y~ > a) for a above x/y: the linear event, minus the part with a negative denominator."""
    with np.errstate(under="ignore"):
        linear = pair_tail(b, a * c, a * y - x) / 2
        both = np.exp(-x / b - y / c) / (2 * (1 + a * c / b))
        return linear - np.exp(-y / c) / 2 + both


def _laplace_below(x: Floats, y: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """P(X~/Y~ < a) for a below x/y, also where a is negative."""
    size = np.abs(a)
    with np.errstate(under="ignore"):
        negative = np.exp(-y / c) / 2
        linear = pair_tail(b, size * c, x - a * y) / 2
        both = np.exp(-x / b) * negative / (1 + size * c / b)
        return np.where(a >= 0, linear + negative - both, 2 * _opposite(x, y, size, b, c) + negative - linear)


def _opposite(x: Floats, y: Floats, size: Floats, b: Floats, c: Floats) -> Floats:
    """Return P(Y~ > 0 and X~ < -size Y~): the numerator is far below zero, the denominator is not."""
    with np.errstate(under="ignore", over="ignore"):
        gap = y * (1 / c - size / b)
        lower = (
            y
            / c
            * np.where(gap > 0, np.exp(-size * y / b) * exprel(-np.abs(gap)), np.exp(-y / c) * exprel(-np.abs(gap)))
        )
        upper = np.exp(-size * y / b) / (1 + size * c / b)
        return np.exp(-x / b) * (lower + upper) / 4


def _gaussian_below(x: Floats, y: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """P(X~/Y~ < a): one of X~ - a Y~ < 0 and Y~ < 0 holds, not both."""
    stddev = np.hypot(b, a * c)
    h, k = (a * y - x) / stddev, -y / c
    correlation = -a * c / stddev
    return np.asarray(ndtr(h) + ndtr(k) - 2 * _both_below(h, k, correlation))


def _both_below(h: Floats, k: Floats, correlation: Floats) -> Floats:
    """P(U < h and V < k) for standard normal variables (Owen 1956); k is below zero here."""
    rest = np.sqrt((1 - correlation) * (1 + correlation))
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(h != 0, (k / h - correlation) / rest, np.sign(k) * np.inf)
        second = (h / k - correlation) / rest
    crossed = np.where(h * k > 0, 0.0, np.where((h == 0) & (k >= 0), 0.0, 0.5))
    total = (ndtr(h) + ndtr(k)) / 2 - owens_t(h, first) - owens_t(k, second) - crossed
    return np.asarray(np.maximum(total, 0.0), dtype=np.float64)


Estimator = Literal["noisy_counts", "noisy_log", "naive", "smooth", "propose_test_release"]
ESTIMATORS: tuple[Estimator, ...] = ("noisy_counts", "noisy_log", "naive", "smooth", "propose_test_release")
Scale = ArrayLike | tuple[ArrayLike, ArrayLike] | None


def sample_accuracy(
    x: ArrayLike,
    y: ArrayLike,
    *,
    epsilon: ArrayLike,
    alpha: ArrayLike,
    estimator: Estimator = "noisy_counts",
    scale: Scale = None,
    n_x: int | None = None,
    n_y: int | None = None,
    delta: float | None = None,
    bound: float | None = None,
) -> Number:
    """The probability that an estimate of x/y misses it by more than `alpha` (Shoham and Ligett 2025, Definition 2.2).

    | estimator | noise, unless `scale` says otherwise |
    |---|---|
    | `noisy_counts` | Laplace noise of 2/epsilon on each count; with a `delta` Gaussian noise for half of both |
    | `noisy_log` | Laplace noise of ln 2/epsilon on the logarithm |
    | `naive` | Laplace noise on the ratio, for a denominator of at least `bound` (or 1) |
    | `smooth` | Laplace noise of 2 S/epsilon, S the smooth sensitivity at epsilon / (2 ln(2/delta)) |
    | `propose_test_release` | Laplace noise of 2 bound/epsilon, or no answer, which counts as a miss |

    The defaults are those of Shoham and Ligett (2025), for people who may move between the counts. Where nobody can,
    as in two disjoint groups under add or remove, give `scale=1/epsilon`.

    Args:
        x: The exact numerator, above 0; for the last two estimators a whole number.
        y: The exact denominator, likewise.
        epsilon: What the estimate costs.
        alpha: How wrong it may be.
        estimator: See above.
        scale: The scale of the noise (Gaussian: its deviation); for noisy counts also a pair of them.
        n_x: The most that x can be; needed by the last three estimators.
        n_y: The most that y can be; needed by the last two.
        delta: As above.
        bound: Of `naive`, the least that the denominator can be; of `propose_test_release`, the proposed bound on the
            local sensitivity (the best one where it is left out).

    Example:
        >>> round(sample_accuracy(100, 100, epsilon=1.0, alpha=0.1), 7)
        0.0240305
        >>> round(sample_accuracy(110, 100, epsilon=1.0, alpha=0.1), 7)
        0.0295046
    """
    chosen("estimator", estimator, ESTIMATORS)
    first, second, spent, wrong = np.broadcast_arrays(
        positives("x", x), positives("y", y), positives("epsilon", epsilon), positives("alpha", alpha)
    )
    question = _ComparedMethods(first, second, spent, wrong, scale, n_x, n_y, delta, bound)
    formulas: dict[str, Callable[[], Floats]] = {
        "noisy_counts": question.noisy_counts,
        "noisy_log": question.noisy_log,
        "naive": question.naive,
        "smooth": question.smooth,
        "propose_test_release": question.propose_test_release,
    }
    return plain(np.clip(formulas[estimator](), 0.0, 1.0))


class _ComparedMethods:
    """The arguments, checked as each estimator requires."""

    def __init__(
        self,
        x: Floats,
        y: Floats,
        epsilon: Floats,
        alpha: Floats,
        scale: Scale,
        n_x: int | None,
        n_y: int | None,
        delta: float | None,
        bound: float | None,
    ) -> None:
        self.x, self.y, self.epsilon, self.alpha = x, y, epsilon, alpha
        self._scale, self._n_x, self._n_y, self._delta, self._bound = scale, n_x, n_y, delta, bound

    def noisy_counts(self) -> Floats:
        """Claim 3.2, exact; for Gaussian noise the same by Owen's function."""
        if self._delta is None:
            first, second = self._scales(2 / self.epsilon)
            return laplace_failure(self.x, self.y, self.alpha, first, second)
        delta = probability("delta", self._delta)
        sigma = reals("sigma", gaussian_sigma(self.epsilon / 2, delta / 2)) if self._scale is None else self.epsilon
        return gaussian_failure(self.x, self.y, self.alpha, *self._scales(sigma))

    def noisy_log(self) -> Floats:
        """Claim B.4; where alpha exceeds the ratio, only one side can miss."""
        scale = self._scales(math.log(2) / self.epsilon)[0]
        relative = self.alpha * self.y / self.x
        with np.errstate(divide="ignore", under="ignore"):
            below = np.where(relative < 1, np.exp(np.log1p(-np.minimum(relative, 1.0)) / scale), 0.0)
            return np.asarray((np.exp(-np.log1p(relative) / scale) + below) / 2)

    def naive(self) -> Floats:
        """Claim B.2."""
        sensitivity = naive_sensitivity(self._maximum("n_x", self._n_x), self._bound)
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(-self.alpha / self._scales(sensitivity / self.epsilon)[0]))

    def smooth(self) -> Floats:
        """Return the failure probability with the noise that the smooth sensitivity requires."""
        n_x, delta = self._domain()
        smoothness = self.epsilon / (2 * math.log(2 / delta))
        sensitivities = _elementwise(lambda x, y, rate: smooth_bound(x, y, n_x, rate), self.x, self.y, smoothness)
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(-self.alpha / self._scales(2 * sensitivities / self.epsilon)[0]))

    def propose_test_release(self) -> Floats:
        """The failure probability: no answer, or a large error; half of epsilon for the test, half for the answer."""
        n_x, delta = self._domain()

        def missed(x: float, y: float, epsilon: float, alpha: float) -> float:
            return _tested(x, y, epsilon, alpha, n_x, delta, self._bound)

        return _elementwise(missed, self.x, self.y, self.epsilon, self.alpha)

    def _scales(self, default: ArrayLike) -> tuple[Floats, Floats]:
        given = default if self._scale is None else self._scale
        pair = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, given)
        first, second = (np.broadcast_to(positives("scale", one), self.x.shape) for one in pair)
        return first, second

    def _domain(self) -> tuple[int, float]:
        n_x, n_y = self._maximum("n_x", self._n_x), self._maximum("n_y", self._n_y)
        within("x", self.x, n_x)
        within("y", self.y, n_y)
        if self._delta is None:
            raise ParameterError("This estimator needs a delta.", code="parameter-delta")
        return n_x, probability("delta", self._delta)

    def _maximum(self, name: str, value: int | None) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ParameterError(
                f"This estimator needs {name}, the most that the count can be.", code="parameter-whole"
            )
        return value


def naive_sensitivity(n_x: int, bound: float | None) -> float:
    """Sensitivity of x/y for x up to `n_x` and y of at least C, `bound` or 1: n_x / (C^2 + C), at least 1/C."""
    bound_used = 1.0 if bound is None else positive("bound", bound)
    return max(n_x / (bound_used * (bound_used + 1)), 1 / bound_used)


def pass_probability(distance: float, epsilon: float, delta: float) -> float:
    """Return the probability that a distance passes the test of propose-test-release with continuous noise."""
    gap = math.log(1 / delta) - epsilon * distance
    return 1 - math.exp(gap) / 2 if gap < 0 else math.exp(-gap) / 2


def _tested(x: float, y: float, epsilon: float, alpha: float, n_x: int, delta: float, bound: float | None) -> float:
    """Return the probability of a miss at one proposal, or at the best one."""
    half = epsilon / 2
    if bound is not None:
        passes = pass_probability(distance_to(bound, x, y, n_x), half, delta)
        return 1 - passes * -math.expm1(-alpha * half / bound)
    distance = np.arange(1.0, max(y - 2, 0) + max(n_x - x, 0) + 1)
    # At these proposals, a hair above the largest sensitivity one step nearer, the distance is each of 1, 2, ...
    proposals = largest_within(x, y, n_x, distance - 1)
    chances = np.array([pass_probability(float(steps), half, delta) for steps in distance])
    with np.errstate(under="ignore"):
        return float(np.min(1 - chances * -np.expm1(-alpha * half / proposals), initial=1.0))


def _elementwise(formula: Callable[..., float], *arrays: Floats) -> Floats:
    values = [formula(*map(float, one)) for one in zip(*(array.ravel() for array in arrays), strict=True)]
    return np.array(values).reshape(arrays[0].shape)


CLOSE = 1e-10


@dataclass(frozen=True, slots=True)
class Split:
    """Epsilon of each count, and the probability of a miss (None if no alpha was given)."""

    epsilon_x: float
    epsilon_y: float
    failure: float | None = None

    @property
    def share(self) -> float:
        """The numerator's share of epsilon."""
        return self.epsilon_x / (self.epsilon_x + self.epsilon_y)


def split_epsilon(x: float, y: float, *, epsilon: float, alpha: float | None = None) -> Split:
    """The split of epsilon over numerator and denominator that makes their ratio most accurate.

    To first order the ratio r = x/y strays by sqrt(b_x^2 + r^2 b_y^2) / y, least where the denominator gets r^(2/3)
    times as much as the numerator. With an `alpha` the failure probability itself is made as small as it can be.

    Only where one person may be in both counts, or move between them, is there something to split: counts of disjoint
    groups have the whole epsilon each.

    Args:
        x: A guess of the numerator. Not the private count itself: the choice of a split is public.
        y: A guess of the denominator.
        epsilon: What both cost together.
        alpha: How wrong the ratio may be.

    Example:
        >>> split = split_epsilon(400, 50, epsilon=1.0)
        >>> round(split.epsilon_x, 4), round(split.epsilon_y, 4)
        (0.2, 0.8)
    """
    numerator, denominator, total = positive("x", x), positive("y", y), positive("epsilon", epsilon)
    first = total / (1 + (numerator / denominator) ** (2 / 3))
    if alpha is None:
        return Split(first, total - first)
    best = _best_share(numerator, denominator, total, positive("alpha", alpha))
    return Split(best, total - best, _failure(numerator, denominator, total, alpha, np.array([best]))[0])


def _best_share(x: float, y: float, epsilon: float, alpha: float) -> float:
    """Return the best point of a grid, then of a finer one around it, until it no longer changes."""
    low, high = 1e-3 * epsilon, (1 - 1e-3) * epsilon
    while high - low > CLOSE * epsilon:
        parts = np.linspace(low, high, 41)
        best = int(np.argmin(_failure(x, y, epsilon, alpha, parts)))
        low, high = parts[max(best - 1, 0)], parts[min(best + 1, len(parts) - 1)]
    return float((low + high) / 2)


def _failure(x: float, y: float, epsilon: float, alpha: float, parts: Floats) -> list[float]:
    whole = np.full(parts.shape, epsilon)
    probabilities = sample_accuracy(x, y, epsilon=whole, alpha=alpha, scale=(1 / parts, 1 / (epsilon - parts)))
    return [float(one) for one in np.atleast_1d(probabilities)]
