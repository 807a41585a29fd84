"""Error bars of sums: tails and quantiles of a fixed combination of independent noises.

One Laplace noise, two of them, and any number of normal ones have tails in closed form. Laplace noises on one lattice
have a law that one transform gives exactly. The characteristic function of any other sum is inverted
(`inversion`); a lattice in it is bounded: either by the distance between noise on a lattice and without, or by the law
of the sum plus a little normal noise, whichever is less.

The transform: a noise with P(k) proportional to a^|k| on the integers, taken m times, has the characteristic function
(1 - a)^2 / (1 - 2 a cos(m u) + a^2) = 1 / (1 + (sin(m u / 2) / sinh(r / 2))^2) with a = exp(-r). The product over all
noises is that of their sum, which lives on the integers too, and its values at u = 2 pi j / N are the discrete Fourier
transform of its probabilities, those N apart added together. So one fast transform gives the whole law. What lies
beyond N / 2 and the rounding of the transform are bounded and added to every tail.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.error_bars.intervals.interval import Floats
from hedgerow.error_bars.intervals.inversion import ALIAS, MINIMUM_BETA, Sums, half_widths, tails
from hedgerow.errors import InternalError
from hedgerow.special import exprel, ndtr, normal_quantile

MAXIMUM_SIZE = 1 << 20
"""Maximum length of a transform. Sums that need a longer one are on a lattice so fine that it hardly matters."""

MAXIMUM_MULTIPLE = 1 << 12
MAXIMUM_DENOMINATOR = 64
TOLERANCE = 1e-12

Parts = tuple[tuple[int, float, int], ...]
"""Kinds of noise on the integers: their multiple, step over scale, and how many independent ones there are."""


@dataclass(frozen=True, slots=True)
class LatticeLaw:
    """The law of a sum on the multiples of `unit`; `tails[k]` bounds the chance to lie more than k units from zero.

    `blur` is how far, in units, coefficients that are multiples of `unit` only up to rounding may carry the sum.
    """

    unit: float
    tails: Floats
    blur: float

    def half_width(self, beta: float) -> float | None:
        """The smallest multiple of the unit exceeded with probability at most `beta`; None if `beta` is too small."""
        units = int(np.searchsorted(-self.tails, -beta))
        if beta < MINIMUM_BETA or units == len(self.tails):
            return None
        return (units + self.blur * max(units, 1)) * self.unit

    def tail(self, distance: float) -> float | None:
        """An upper bound on the probability to exceed `distance`; None if it is too small."""
        units = math.floor(distance / self.unit * (1 + 1e-12) + 1e-9)
        chance = float(self.tails[units]) if units < len(self.tails) else 0.0
        return chance if chance >= MINIMUM_BETA else None


def lattice_law(noises: Sequence[tuple[Laplace, int]]) -> LatticeLaw | None:
    """The law of a sum of Laplace noises on lattices, each so many times; None where they have no lattice in common.

    Example:
        >>> law = lattice_law([(Laplace(1.0, 1.0), 100)])
        >>> law.half_width(0.05)
        27.0
    """
    if any(noise.step == 0 for noise, _ in noises):
        return None
    steps = np.array([noise.step for noise, _ in noises])
    unit = _unit(steps)
    if unit is None:
        return None
    multiples = np.round(steps / unit).astype(int)
    exact = bool(np.all(multiples * unit == steps))
    parts = [(int(m), noise.step / noise.scale, n) for m, (noise, n) in zip(multiples, noises, strict=True)]
    tails = _tails(tuple(sorted(parts)))
    return None if tails is None else LatticeLaw(unit, tails, 0.0 if exact else 1e-9)


def _unit(steps: Floats) -> float | None:
    """The largest number of which all steps are small multiples."""
    smallest = float(steps.min())
    ratios = np.unique(steps / smallest)
    if ratios[-1] > MAXIMUM_MULTIPLE:
        return None
    for parts in range(1, MAXIMUM_DENOMINATOR + 1):
        multiples = ratios * parts
        if np.all(np.abs(multiples - np.round(multiples)) <= TOLERANCE * multiples):
            return smallest / parts
    return None


@lru_cache(maxsize=32)
def _tails(parts: Parts) -> Floats | None:
    """P(|X| > k) for k from zero on, until it is too small to matter; None where that takes too long a transform.

    The probabilities have error at most c e log2(N) times their Euclidean norm, e the unit of rounding; so their sum
    has at most sqrt(N) times that, which is c e log2(N) times the norm of the transform.
    """
    scales = np.array([[multiple / ratio for multiple, ratio, _ in parts]])
    counts = np.array([float(count) for _, _, count in parts])
    reach = float(Sums(np.zeros(1), scales, counts, np.zeros_like(scales)).reach(ALIAS)[0])
    from scipy.fft import irfft, next_fast_len  # noqa: PLC0415 - a tenth of a second to load, and seldom needed

    size = next_fast_len(2 * math.ceil(reach) + 2, real=True)
    if size > MAXIMUM_SIZE:
        return None
    index = np.arange(size // 2 + 1)
    exponent = np.zeros(len(index))
    for multiple, ratio, count in parts:
        sines = np.sin((multiple * index % size) * (math.pi / size))
        exponent -= count * np.log1p(np.square(sines / math.sinh(min(ratio / 2, 300.0))))
    transform = np.exp(exponent)
    chances = irfft(transform, size)
    half = (size - 1) // 2
    both_sides = 2 * np.maximum(chances[1 : half + 1], 0.0)
    rounding = 16 * np.finfo(float).eps * math.log2(size) * math.sqrt(2 * float(transform @ transform))
    tails = np.append(np.cumsum(both_sides[::-1])[::-1], 0.0) + rounding + ALIAS
    tails = tails[: int(np.searchsorted(-tails, -MINIMUM_BETA / 2)) + 1]
    tails.setflags(write=False)
    return tails


Terms = Sequence[tuple[float, Noise]]
CountedTerms = Sequence[tuple[float, Noise, int]]

BLURRED = 0.01
"""Standard deviation of the noise that smooths a sum without a lattice, as a part of its half width."""

MAXIMUM_KINDS = 1_000
"""Number of different noises on lattices up to which their sum is smoothed."""


@dataclass(frozen=True, slots=True)
class _Mixture:
    """A normal noise plus Laplace noises of several kinds, each with a number of occurrences."""

    sigma: float
    laplaces: tuple[tuple[Laplace, int], ...]

    @property
    def scales(self) -> tuple[tuple[float, int], ...]:
        return tuple((noise.scale, count) for noise, count in self.laplaces)

    @property
    def few_laplaces(self) -> list[Laplace]:
        """The Laplace noises as a list, if there are few."""
        return [noise for noise, count in self.laplaces for _ in range(min(count, 3))]

    @property
    def slack(self) -> float:
        """The largest difference between this sum and the sum of continuous noises."""
        return sum(count * lattice_slack(noise) for noise, count in self.laplaces)

    @property
    def lattice(self) -> LatticeLaw | None:
        return lattice_law(self.laplaces) if self.sigma == 0 and self.slack > 0 else None


def half_width(terms: Terms, beta: float) -> float:
    """The smallest t such that |sum c_i X_i| exceeds t with probability at most `beta`.

    Exact for normal noises, for one or two Laplace noises and for any number of them on one lattice. Any other sum is
    inverted numerically with all errors added, and lattices in it that have no multiple in common are bounded: a
    little more, never less.

    Args:
        terms: Pairs of a coefficient and the law of an independent noise.
        beta: How often the sum may stray farther.

    Example:
        >>> round(half_width([(1.0, Gaussian(10.0))], beta=0.05), 4)
        19.5996
        >>> round(half_width([(1.0, Laplace(1.0)), (-1.0, Laplace(1.0))], beta=0.05), 4)
        4.113
        >>> half_width([(1.0, Laplace(1.0, step=1.0))] * 100, beta=0.05)
        27.0
    """
    return counted_half_width([(abs(c), noise, n) for (c, noise), n in Counter(terms).items()], beta)


def counted_half_width(terms: CountedTerms, beta: float, *, smooth: bool = True) -> float:
    """Like `half_width`, for terms that each stand for a number of independent noises.

    Args:
        terms: Coefficient, law, and number of independent noises.
        beta: How often the sum may stray farther.
        smooth: Work out sums over lattices without a multiple in common more closely, which takes longer.
    """
    check_beta(beta)
    return _half_width(_mixture(terms), beta, smooth=smooth)


def growing_half_width(terms: CountedTerms, beta: float) -> float:
    """A half width that is a norm of the coefficients and increases with each of them.

    That of continuous noises is both: the noises are independent, symmetric and log-concave. What their lattices add to
    it is both as well. The law on a lattice is neither.
    """
    laplaces = [(size, noise, count) for size, noise, count in terms if isinstance(noise, Laplace)]
    normals = [(size, noise, count) for size, noise, count in terms if isinstance(noise, Gaussian)]
    slack = sum(abs(size) * lattice_slack(noise) * count for size, noise, count in laplaces)
    smooth = [(size, Laplace(noise.scale), count) for size, noise, count in laplaces]
    return counted_half_width([*normals, *smooth], beta) + slack


@lru_cache(maxsize=4096)
def _half_width(mixture: _Mixture, beta: float, *, smooth: bool) -> float:
    if not mixture.laplaces:
        return float(-normal_quantile(beta / 2) * mixture.sigma)
    if mixture.sigma == 0 and len(mixture.few_laplaces) == 1:
        return _one_laplace(mixture.few_laplaces[0], beta)
    lattice = mixture.lattice
    on_lattice = None if lattice is None else lattice.half_width(beta)
    if on_lattice is not None:
        return on_lattice
    if mixture.sigma == 0 and len(mixture.few_laplaces) == 2:
        larger, smaller = sorted((noise.scale for noise in mixture.few_laplaces), reverse=True)
        continuous = _two_laplaces(larger, smaller, beta)
    else:
        continuous = sum_half_width(mixture.sigma, mixture.scales, beta)
    slack = mixture.slack
    if not smooth or slack <= 2 * BLURRED * continuous or len(mixture.laplaces) > MAXIMUM_KINDS:
        return continuous + slack
    return min(continuous + slack, _smoothed_half_width(mixture, beta, BLURRED * continuous))


def _smoothed_half_width(mixture: _Mixture, beta: float, blur: float) -> float:
    """A bound by the law of X + V, V normal noise of standard deviation `blur` / 8.

    Where |X| > t, either |X + V| > t - blur or |V| > blur, which happens once in 10^15. The characteristic function of
    X alone does not fall, for lattices without a multiple in common; that of X + V falls as fast as V's.
    """
    sigma = np.array([math.hypot(mixture.sigma, blur / 8)])
    scales = np.array([[noise.scale for noise, _ in mixture.laplaces]])
    steps = np.array([[noise.step for noise, _ in mixture.laplaces]])
    counts = np.array([float(count) for _, count in mixture.laplaces])
    return float(half_widths(Sums(sigma, scales, counts, steps), beta - ALIAS)[0]) + blur


def tail(terms: Terms, distance: float) -> float:
    """The probability that |sum c_i X_i| exceeds `distance`, or an upper bound on it.

    It is exact and bounded in the same cases as `half_width`, without the smoothing.

    Example:
        >>> round(tail([(2.0, Gaussian(5.0))], distance=19.5996), 4)
        0.05
    """
    mixture = _mixture([(abs(c), noise, n) for (c, noise), n in Counter(terms).items()])
    if distance < 0:
        return 1.0
    if not mixture.laplaces:
        return float(2 * ndtr(-distance / mixture.sigma)) if mixture.sigma > 0 else 0.0
    if mixture.sigma == 0 and len(mixture.few_laplaces) == 1:
        return _one_tail(mixture.few_laplaces[0], distance)
    lattice = mixture.lattice
    on_lattice = None if lattice is None else lattice.tail(distance)
    if on_lattice is not None:
        return on_lattice
    left = distance - mixture.slack
    if left <= 0:
        return 1.0
    if mixture.sigma == 0 and len(mixture.few_laplaces) == 2:
        first, second = (np.array(noise.scale) for noise in mixture.few_laplaces)
        return float(pair_tail(first, second, np.array(left)))
    return sum_tail(mixture.sigma, mixture.scales, left)


def sum_half_width(sigma: float, scales: tuple[tuple[float, int], ...], beta: float) -> float:
    """The smallest t with P(|X| > t) at most beta for a normal and continuous Laplace noises, or slightly more."""
    return float(half_widths(Sums.of(sigma, scales), beta)[0])


def sum_tail(sigma: float, scales: tuple[tuple[float, int], ...], distance: float) -> float:
    """P(|X| > distance) for a normal noise plus continuous Laplace noises, never below the exact value."""
    return float(tails(Sums.of(sigma, scales), np.array([distance]))[0])


def lattice_slack(noise: Laplace) -> float:
    """The largest distance between a Laplace noise on a lattice and a continuous one of the same scale.

    Both are taken as functions of one uniform draw. With q = exp(-step/scale) the lattice noise is k steps or more
    with probability 2 q^k / (1 + q), and that is where the continuous one is k step - scale ln(2 / (1 + q)) or more.
    So they differ by at most step - scale ln(2 / (1 + q)), about half a step on a fine lattice.
    """
    if noise.step == 0:
        return 0.0
    ahead = noise.scale * (math.log(2.0) - math.log1p(math.exp(-noise.step / noise.scale)))
    return max(ahead, noise.step - ahead)


def check_beta(beta: float) -> None:
    """Refuse a failure probability that is not between 0 and 1."""
    if not 0 < beta < 1:
        raise InternalError("An interval was asked for with a failure probability that is not between 0 and 1.")


def _mixture(terms: CountedTerms) -> _Mixture:
    sigma, laplaces = 0.0, Counter[Laplace]()
    for size, noise, count in terms:
        if isinstance(noise, Gaussian):
            sigma = math.hypot(sigma, size * noise.sigma * math.sqrt(count))
        elif size * noise.scale > 0:
            laplaces[Laplace(size * noise.scale, size * noise.step)] += count
    return _Mixture(sigma, tuple(sorted(laplaces.items(), key=lambda kind: (kind[0].scale, kind[0].step))))


def _one_laplace(noise: Laplace, beta: float) -> float:
    if noise.step == 0:
        return -noise.scale * math.log(beta)
    ratio = noise.step / noise.scale
    steps = max(0, math.floor(math.log(2 / (beta * (1 + math.exp(-ratio)))) / ratio) - 1)
    while _one_tail(noise, steps * noise.step) > beta:
        steps += 1
    return steps * noise.step


def _one_tail(noise: Laplace, distance: float) -> float:
    if noise.step == 0:
        return math.exp(-distance / noise.scale)
    ratio = noise.step / noise.scale
    # A distance that was computed as a multiple of the step may lie a rounding error below it.
    steps = math.floor(distance / noise.step + 1e-9)
    return 2 * math.exp(-(steps + 1) * ratio) / (1 + math.exp(-ratio))


def _two_laplaces(larger: float, smaller: float, beta: float) -> float:
    low, high = 0.0, 2 * larger * (math.log(2 / beta) + 1)
    pair = np.array(larger), np.array(smaller)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if pair_tail(*pair, np.array(middle)) <= beta else (middle, high)
    return high


def pair_tail(first: Floats, second: Floats, distance: Floats) -> Floats:
    """P(|X + Y| > distance) for Laplace X, Y with the scales `first` and `second`, either of which may be zero.

    With b the larger and c the smaller scale it is (b^2 e^(-t/b) - c^2 e^(-t/c)) / (b^2 - c^2). Written as below
    nothing cancels, and equal scales need no case of their own: exprel is 1 there and leaves (1 + t/2b) e^(-t/b).
    """
    larger, smaller = np.maximum(first, second), np.minimum(first, second)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        reach = distance / larger
        gap = np.where(smaller > 0, reach * (larger - smaller) / smaller, np.inf)
        mixed = np.where(smaller > 0, smaller * reach / (larger + smaller) * exprel(-gap), 0.0)
        result = np.exp(-reach) * (1.0 + mixed)
    result = np.where(larger > 0, result, 0.0)
    return np.where(distance > 0, np.minimum(result, 1.0), 1.0)
