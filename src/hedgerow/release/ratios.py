"""Charged estimators of a ratio of two exact counts: pay first, then draw.

`noisy_counts` releases both counts, whose ratio is then free. The others release only the ratio, with noise on its
logarithm, on itself, or scaled to the data; they are baselines: noisy counts are nearly always more accurate, and can
be used again.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

from hedgerow.accounting import ApproximateEvent, GaussianEvent, LaplaceEvent, gaussian_mu
from hedgerow.accounting.budget import Charge, Event, Receipt
from hedgerow.arguments import chosen, positive, probability
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.errors import ParameterError
from hedgerow.noise import discrete_laplace, rounded_gaussian
from hedgerow.noise.discrete import MAX_SCALE
from hedgerow.statistics.ratio_sensitivity import distance_to, smooth_bound

Neighbours = Literal["add-remove", "replace"]
NEIGHBOURS: tuple[Neighbours, ...] = ("add-remove", "replace")
"""Data with and without one person, who is in at most one of the two counts; or two data sets that differ in one
person, who may then move from one count to the other, or be in both."""

FINENESS = 30
"""A grid is at least 2^30 times as fine as the sensitivity."""


class ChargeLedger(Protocol):
    """The methods that a ledger must have: `hedgerow.ledger.Ledger` has them."""

    def charge(
        self, charge: Charge, *, analyst: str | None = None, question: Mapping[str, Any], queries: int = 1
    ) -> Receipt:
        """Write a charge durably, or refuse it."""

    def finish(self, receipt: Receipt, release: bytes | None) -> None:
        """Record how a charge ended."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """A charge to be made: ledger, analyst and price."""

    ledger: ChargeLedger
    analyst: str | None
    estimator: str
    epsilon: float
    delta: float = 0.0

    def pay(self, *events: Event) -> Receipt:
        """Return the receipt, without which no noise is drawn."""
        text = f"hedgerow.ratio.{self.estimator}"
        charge = Charge(tuple(events), self.epsilon, self.delta)
        return self.ledger.charge(charge, analyst=self.analyst, question={"text": text}, queries=1)

    def close(self, receipt: Receipt, released: Mapping[str, float | None]) -> None:
        """Record the release in the ledger."""
        self.ledger.finish(receipt, json.dumps(dict(released)).encode())


def exact_count(name: str, value: object) -> int:
    """Return an exact count; the error message does not show it."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ParameterError(f"{name} must be an exact count: a whole number, not below 0.", code="parameter-whole")
    return value


def declared(name: str, value: object, minimum: int = 1) -> int:
    """Return a public bound."""
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise ParameterError(f"{name} must be a whole number of at least {minimum}.", code="parameter-whole")
    return value


def scale_for(sensitivity: int | Fraction, epsilon: float | Fraction) -> float:
    """Return the smallest scale with which integers that move by `sensitivity` cost at most `epsilon`."""
    exact = Fraction(sensitivity) / Fraction(epsilon)
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def grid_for(sensitivity: Fraction) -> Fraction:
    """Return a power of two that is at most 2^-30 of the sensitivity: public, because the sensitivity is."""
    return Fraction(2) ** (math.floor(math.log2(sensitivity)) - FINENESS)


def budget(epsilon: object) -> float:
    """An epsilon above zero."""
    return positive("epsilon", epsilon)


@dataclass(frozen=True, slots=True)
class NoisyCounts:
    """Two released whole numbers, which may be negative, and the law of the noise of each."""

    x: int
    y: int
    noise: tuple[Noise, Noise]
    receipt: Receipt

    @property
    def ratio(self) -> float:
        """The quotient; nan if y is 0."""
        return self.x / self.y if self.y else math.nan


def noisy_counts(
    ledger: ChargeLedger,
    x: int,
    y: int,
    *,
    epsilon: float,
    delta: float | None = None,
    split: float | None = None,
    neighbours: Neighbours = "add-remove",
    analyst: str | None = None,
) -> NoisyCounts:
    """Release two counts of people; their ratio, `relative_risk` and similar statistics are then free.

    Args:
        ledger: Where it is paid.
        x: An exact count of people.
        y: Another; of other people, unless `neighbours` is "replace".
        epsilon: What both cost together.
        delta: With one, Gaussian noise; without, Laplace noise.
        split: The share of x in what is spent (for Gaussian noise, of mu squared); "replace" only, 1/2 if left out.
        neighbours: "add-remove" if no person can be in both counts, or move between them; otherwise "replace".
        analyst: Who asks.

    Privacy: under "add-remove" one person moves one of the two counts by one, so discrete Laplace noise of scale
    1/epsilon on each is epsilon-DP for the pair (Ghosh, Roughgarden and Sundararajan 2012), and rounded Gaussian noise
    of deviation 1/mu is mu-GDP. Under "replace" one person moves both by one: the two shares of epsilon, or of mu
    squared, add up. Noise is drawn after the charge is durable, as integers on bits of the operating system.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from hedgerow.catalog.model import BudgetPolicy
        >>> from hedgerow.ledger import open_ledger
        >>> policy = BudgetPolicy(epsilon=3.0, delta=1e-6, pure_epsilon=2.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open_ledger(Path(folder) / "clinic.ledger", dataset="clinic", policy=policy) as ledger:
        ...         counts = noisy_counts(ledger, 61, 38, epsilon=1.0)
        >>> counts.noise[0]
        Laplace(scale=1.0, step=1.0)
    """
    counts = exact_count("x", x), exact_count("y", y)
    chosen("neighbours", neighbours, NEIGHBOURS)
    parts = _shares(split, neighbours)
    purchase = Purchase(ledger, analyst, "noisy_counts", budget(epsilon), 0.0 if delta is None else delta)
    events, laws = _laplace_laws(epsilon, parts) if delta is None else _gaussian_laws(epsilon, delta, parts)
    receipt = purchase.pay(*events)
    noisy = [count + _drawn(law) for count, law in zip(counts, laws, strict=True)]
    purchase.close(receipt, {"x": noisy[0], "y": noisy[1]})
    return NoisyCounts(noisy[0], noisy[1], laws, receipt)


def _shares(split: float | None, neighbours: Neighbours) -> tuple[Fraction, Fraction] | None:
    """Return the share of each count; None if each gets everything."""
    if neighbours == "add-remove":
        if split is not None:
            raise ParameterError(
                "split does not apply: counts of different people have the whole epsilon each.",
                code="parameter-choice",
                hint='Leave split out, or say neighbours="replace" if a person may be in both counts.',
            )
        return None
    first = Fraction(1, 2) if split is None else Fraction(probability("split", split))
    return first, 1 - first


def _laplace_laws(epsilon: float, shares: tuple[Fraction, Fraction] | None) -> tuple[list[Event], tuple[Noise, Noise]]:
    if shares is None:
        scale = scale_for(1, epsilon)
        return [LaplaceEvent(Fraction(1), Fraction(scale))], (Laplace(scale, 1.0), Laplace(scale, 1.0))
    first, second = (scale_for(1, Fraction(epsilon) * share) for share in shares)
    events: list[Event] = [LaplaceEvent(Fraction(1), Fraction(scale)) for scale in (first, second)]
    return events, (Laplace(first, 1.0), Laplace(second, 1.0))


def _gaussian_laws(
    epsilon: float, delta: float, shares: tuple[Fraction, Fraction] | None
) -> tuple[list[Event], tuple[Noise, Noise]]:
    mu = gaussian_mu(epsilon, delta)
    if shares is None:
        sigma = math.nextafter(1 / mu, math.inf)
        return [_event(sigma)], (Gaussian(sigma), Gaussian(sigma))
    first, second = (1 / (mu * math.sqrt(share)) * (1 + 1e-12) for share in shares)
    return [_event(first), _event(second)], (Gaussian(first), Gaussian(second))


def _event(sigma: float) -> GaussianEvent:
    """Return the event; the rounded sampler costs nothing for being discrete."""
    variance = Fraction(sigma) ** 2
    return GaussianEvent(Fraction(1), variance, 0, variance)


def _drawn(law: Noise) -> int:
    drawn = rounded_gaussian(law.sigma, 1) if isinstance(law, Gaussian) else discrete_laplace(law.scale, 1)
    return int(drawn[0])


ROUNDING = 1 + 2.0**-30
"""Covers the floating-point error of a sensitivity; everything is rounded towards more noise."""

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
    ledger: ChargeLedger,
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
    ledger: ChargeLedger,
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
    ledger: ChargeLedger,
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
    ledger: ChargeLedger,
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


def _inside(count: int, maximum: int) -> int:
    return min(max(count, 1), maximum)


def _noisy_exponential(logarithm: float, scale: float) -> float:
    steps = round(logarithm / LOG_STEP) + _draw_laplace(scale)
    return math.exp(max(min(float(steps * LOG_STEP), LARGEST_LOGARITHM), -LARGEST_LOGARITHM))


def _noisy_quotient(counts: tuple[int, int], grid: Fraction, scale: float) -> float:
    """Return the exact quotient, rounded once to the grid, with noise of this many steps."""
    return float((round(Fraction(*counts) / grid) + _draw_laplace(scale)) * grid)


def _smooth_grid(epsilon: float, n_y: int) -> Fraction:
    """Return at most 2^-10 of the smallest possible noise: the smooth sensitivity is at least 1 / n_y."""
    return Fraction(2) ** math.floor(math.log2(2 / (epsilon * n_y)) - 10)


def _smooth_scale(counts: tuple[int, int], n_x: int, epsilon: float, delta: float, grid: Fraction) -> float:
    smoothness = math.log1p(epsilon / 2 / math.log(2 / delta)) / ROUNDING
    bound = Fraction(smooth_bound(counts[0], counts[1], n_x, smoothness) * ROUNDING)
    return scale_for(2 * (bound + grid) / grid, epsilon)


def _passes(distance: int, delta: float, scale: float) -> bool:
    """Return True if a noisy distance is so large that data at distance 0 exceeds it with probability at most delta."""
    return distance + _draw_laplace(scale) > math.log(1 / delta) * scale * ROUNDING


def _draw_laplace(scale: float) -> int:
    return int(discrete_laplace(scale, 1)[0])
