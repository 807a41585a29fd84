"""Ratios that are released alone: with noise on their logarithm, on themselves, or scaled to what the data allows.

They are baselines: noisy counts are nearly always more accurate, and can be used again.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.accounting import ApproximateEvent, LaplaceEvent
from hedgerow.accounting.budget import Receipt
from hedgerow.accounting.parameters import probability
from hedgerow.accuracy.parameters import chosen
from hedgerow.distributions import Laplace
from hedgerow.errors import ParameterError
from hedgerow.noise import discrete_laplace
from hedgerow.noise.scales import MAX_SCALE
from hedgerow.ratio.local import distance_to, smooth_bound
from hedgerow.ratio.paying import (
    NEIGHBOURS,
    Ledger,
    Neighbours,
    Purchase,
    budget,
    declared,
    exact_count,
    grid_for,
    scale_for,
)

ROUNDING = 1 + 2.0**-30
"""Covers what floats lose in computing a sensitivity; everything is rounded towards more noise."""

LOG_STEP = Fraction(1, 2**30)
LARGEST_LOGARITHM = 700.0


@dataclass(frozen=True, slots=True)
class NoisyRatio:
    """A released ratio.

    Attributes:
        value: The noisy ratio; None where a test failed and nothing but that was released.
        noise: The law of its noise (of its logarithm, for `noisy_log`); None where it depends on the data.
        receipt: What was paid.
    """

    value: float | None
    noise: Laplace | None
    receipt: Receipt


def noisy_log(
    ledger: Ledger,
    x: int,
    y: int,
    *,
    epsilon: float,
    neighbours: Neighbours = "add-remove",
    analyst: str | None = None,
) -> NoisyRatio:
    """Release x/y with noise on its logarithm; counts of 0 are taken as 1. `debias` corrects its mean.

    Its relative error is the same for all counts: it does not improve with more data.

    Args:
        ledger: Where it is paid.
        x: The exact numerator.
        y: The exact denominator.
        epsilon: What it costs.
        neighbours: "add-remove" if no person can be in both counts, or move between them; otherwise "replace".
        analyst: Who asks.

    Privacy: from 1 on, one person moves the logarithm of a count by at most ln 2 (Claim B.3 there), and under
    "replace" both by as much. The logarithm is rounded to multiples of 2^-30; two rounded values are at most the exact
    distance and one step apart, and a second step covers the rounding of the logarithm itself. Discrete Laplace noise
    for that many steps is epsilon-DP.
    """
    counts = max(exact_count("x", x), 1), max(exact_count("y", y), 1)
    moved = 1 if chosen("neighbours", neighbours, NEIGHBOURS) == "add-remove" else 2
    steps = math.ceil(moved * math.log(2) / LOG_STEP * Fraction(ROUNDING)) + 2
    purchase = Purchase(ledger, analyst, "noisy_log", budget(epsilon))
    scale = scale_for(steps, epsilon)
    receipt = purchase.pay(LaplaceEvent(Fraction(steps), Fraction(scale)))
    value = _noisy_exponential(math.log(counts[0]) - math.log(counts[1]), scale)
    purchase.close(receipt, {"value": value})
    return NoisyRatio(value, Laplace(scale * float(LOG_STEP), float(LOG_STEP)), receipt)


def naive(
    ledger: Ledger,
    x: int,
    y: int,
    *,
    epsilon: float,
    n_x: int,
    bound: int = 1,
    neighbours: Neighbours = "add-remove",
    analyst: str | None = None,
) -> NoisyRatio:
    """Release x/y with noise for the worst case: x as large, and y as small, as declared.

    Args:
        ledger: Where it is paid.
        x: The exact numerator; more than `n_x` is taken as `n_x`.
        y: The exact denominator; less than `bound` is taken as `bound`.
        epsilon: What it costs.
        n_x: The most that x can be: declared, not counted.
        bound: The least that y can be, likewise.
        neighbours: "add-remove" if no person can be in both counts, or move between them; otherwise "replace".
        analyst: Who asks.

    Privacy: with x cut to n_x and y to C or more, one person moves x/y by at most n_x / (C^2 + C) through y and by 1/C
    through x (Claim B.1, which has C = 1), under "replace" by both. The exact quotient is rounded once to a public
    grid, which adds at most a step; discrete Laplace noise for that is epsilon-DP.
    """
    counts = min(exact_count("x", x), declared("n_x", n_x)), max(exact_count("y", y), declared("bound", bound))
    through_y, through_x = Fraction(n_x, bound * (bound + 1)), Fraction(1, bound)
    both = chosen("neighbours", neighbours, NEIGHBOURS) == "replace"
    sensitivity = through_y + through_x if both else max(through_y, through_x)
    grid = grid_for(sensitivity)
    steps = math.ceil(sensitivity / grid) + 1
    purchase = Purchase(ledger, analyst, "naive", budget(epsilon))
    scale = scale_for(steps, epsilon)
    receipt = purchase.pay(LaplaceEvent(Fraction(steps), Fraction(scale)))
    value = _noisy_quotient(counts, grid, scale)
    purchase.close(receipt, {"value": value})
    return NoisyRatio(value, Laplace(scale * float(grid), float(grid)), receipt)


def smooth(
    ledger: Ledger,
    x: int,
    y: int,
    *,
    epsilon: float,
    delta: float,
    n_x: int,
    n_y: int,
    analyst: str | None = None,
) -> NoisyRatio:
    """Release x/y with noise for its smooth sensitivity; charged to pure epsilon and to the mass of the ledger.

    Args:
        ledger: Where it is paid.
        x: The exact numerator, taken as 1 to `n_x`.
        y: The exact denominator, taken as 1 to `n_y`.
        epsilon: What it costs.
        delta: Likewise.
        n_x: The most that x can be: declared, not counted.
        n_y: The most that y can be, likewise.
        analyst: Who asks.

    Privacy: for data with and without one person, who is in at most one of the counts. With S the smooth sensitivity at
    t = ln(1 + (epsilon/2) / ln(2/delta)), and g the public step of the grid, the noise is discrete Laplace of scale
    b = 2 (S + g) / epsilon on the multiples of g. Neighbours have rounded quotients at most S + g apart, which changes
    probabilities by exp(epsilon/2) at most, and scales within a factor exp(t). A larger scale has probabilities at most
    exp(t) <= exp(epsilon/2) times smaller. A smaller one has them at most exp((|k| g / b)(exp(t) - 1)) times
    smaller, above exp(epsilon/2) only where |k| g / b > ln(2/delta), which has probability 2 / (1 + exp(-g/b)) times
    delta/2 at most, below delta. So the whole is (epsilon, delta)-DP (Nissim, Raskhodnikova and Smith 2007, made
    discrete). The scale depends on the data and is not told.
    """
    domain = declared("n_x", n_x), declared("n_y", n_y)
    counts = _inside(exact_count("x", x), domain[0]), _inside(exact_count("y", y), domain[1])
    purchase = Purchase(ledger, analyst, "smooth", budget(epsilon), probability("delta", delta))
    if delta > 0.5:
        raise ParameterError("delta must be at most 1/2: above it the proof has a gap.", code="parameter-delta")
    grid = _smooth_grid(epsilon, n_y)
    if Fraction(n_x + 2) / Fraction(epsilon) / grid > MAX_SCALE:
        raise ParameterError(
            "n_x and n_y are too large for this epsilon.", code="parameter-range", hint="Use noisy_counts."
        )
    receipt = purchase.pay(ApproximateEvent(Fraction(epsilon), Fraction(delta)))
    value = _noisy_quotient(counts, grid, _smooth_scale(counts, n_x, epsilon, delta, grid))
    purchase.close(receipt, {"value": value})
    return NoisyRatio(value, None, receipt)


def propose_test_release(
    ledger: Ledger,
    x: int,
    y: int,
    *,
    epsilon: float,
    delta: float,
    bound: float,
    n_x: int,
    n_y: int,
    test_share: float = 0.5,
    analyst: str | None = None,
) -> NoisyRatio:
    """Release x/y with noise for a proposed sensitivity, if the data is likely to be far from any that exceeds it.

    Args:
        ledger: Where it is paid.
        x: The exact numerator, taken as 1 to `n_x`.
        y: The exact denominator, taken as 1 to `n_y`.
        epsilon: What it costs, answered or not.
        delta: Likewise.
        bound: The proposed bound on the local sensitivity: a guess, not computed from the counts.
        n_x: The most that x can be: declared, not counted.
        n_y: The most that y can be, likewise.
        test_share: The part of epsilon that the test gets.
        analyst: Who asks.

    Privacy: for data with and without one person, who is in at most one of the counts. The distance to the nearest data
    with a local sensitivity of `bound` or more moves by at most one, so the test with discrete Laplace noise is
    epsilon_1-DP. Data at distance 0 passes with probability below delta; any other has neighbours whose quotients
    differ by less than `bound`, rounded to the public grid by one step more, and discrete Laplace noise for that is
    epsilon_2-DP (Dwork and Lei 2009). In all (epsilon_1 + epsilon_2, delta)-DP.
    """
    domain = declared("n_x", n_x), declared("n_y", n_y)
    counts = _inside(exact_count("x", x), domain[0]), _inside(exact_count("y", y), domain[1])
    share = Fraction(probability("test_share", test_share))
    purchase = Purchase(ledger, analyst, "propose_test_release", budget(epsilon), probability("delta", delta))
    proposed = Fraction(budget(bound))
    grid = grid_for(proposed)
    steps = math.ceil(proposed / grid) + 1
    for_test, for_value = Fraction(epsilon) * share, Fraction(epsilon) * (1 - share)
    scales = scale_for(1, for_test), scale_for(steps, for_value)
    receipt = purchase.pay(ApproximateEvent(Fraction(epsilon), Fraction(delta)))
    passed = _passes(distance_to(float(proposed) / ROUNDING, counts[0], counts[1], n_x), delta, scales[0])
    noisy = _noisy_quotient(counts, grid, scales[1])
    value = noisy if passed else None
    purchase.close(receipt, {"value": value})
    return NoisyRatio(value, Laplace(scales[1] * float(grid), float(grid)), receipt)


def _inside(count: int, most: int) -> int:
    return min(max(count, 1), most)


def _noisy_exponential(logarithm: float, scale: float) -> float:
    place = round(logarithm / LOG_STEP) + _laplace(scale)
    return math.exp(max(min(float(place * LOG_STEP), LARGEST_LOGARITHM), -LARGEST_LOGARITHM))


def _noisy_quotient(counts: tuple[int, int], grid: Fraction, scale: float) -> float:
    """The exact quotient, rounded once to the grid, with noise of so many steps."""
    return float((round(Fraction(*counts) / grid) + _laplace(scale)) * grid)


def _smooth_grid(epsilon: float, n_y: int) -> Fraction:
    """At most 2^-10 of the least noise there can be: the smooth sensitivity is at least 1 / n_y."""
    return Fraction(2) ** math.floor(math.log2(2 / (epsilon * n_y)) - 10)


def _smooth_scale(counts: tuple[int, int], n_x: int, epsilon: float, delta: float, grid: Fraction) -> float:
    smoothness = math.log1p(epsilon / 2 / math.log(2 / delta)) / ROUNDING
    bound = Fraction(smooth_bound(counts[0], counts[1], n_x, smoothness) * ROUNDING)
    return scale_for(2 * (bound + grid) / grid, epsilon)


def _passes(distance: int, delta: float, scale: float) -> bool:
    """Whether a noisy distance is so large that at most a share delta of those at 0 would be."""
    return distance + _laplace(scale) > math.log(1 / delta) * scale * ROUNDING


def _laplace(scale: float) -> int:
    return int(discrete_laplace(scale, 1)[0])
