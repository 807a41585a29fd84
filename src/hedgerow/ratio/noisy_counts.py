"""Two noisy counts, whose ratio is free."""

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.accounting import GaussianEvent, LaplaceEvent, gaussian_mu
from hedgerow.accounting.budget import Event, Receipt
from hedgerow.accounting.parameters import probability
from hedgerow.accuracy.parameters import chosen
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.errors import ParameterError
from hedgerow.noise import discrete_laplace, rounded_gaussian
from hedgerow.ratio.paying import NEIGHBOURS, Ledger, Neighbours, Purchase, budget, exact_count, scale_for


@dataclass(frozen=True, slots=True)
class NoisyCounts:
    """What was released: two whole numbers, which may be negative, and the law of the noise of each."""

    x: int
    y: int
    noise: tuple[Noise, Noise]
    receipt: Receipt

    @property
    def ratio(self) -> float:
        """The quotient; nan where y is 0."""
        return self.x / self.y if self.y else math.nan


def noisy_counts(
    ledger: Ledger,
    x: int,
    y: int,
    *,
    epsilon: float,
    delta: float | None = None,
    split: float | None = None,
    neighbours: Neighbours = "add-remove",
    analyst: str | None = None,
) -> NoisyCounts:
    """Release two counts of people; their ratio, `relative_risk` and its kin are then free.

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
        ...         found = noisy_counts(ledger, 61, 38, epsilon=1.0)
        >>> found.noise[0]
        Laplace(scale=1.0, step=1.0)
    """
    counts = exact_count("x", x), exact_count("y", y)
    chosen("neighbours", neighbours, NEIGHBOURS)
    parts = _shares(split, neighbours)
    purchase = Purchase(ledger, analyst, "noisy_counts", budget(epsilon), 0.0 if delta is None else delta)
    events, laws = _laplace(epsilon, parts) if delta is None else _gaussian(epsilon, delta, parts)
    receipt = purchase.pay(*events)
    noisy = [count + _drawn(law) for count, law in zip(counts, laws, strict=True)]
    purchase.close(receipt, {"x": noisy[0], "y": noisy[1]})
    return NoisyCounts(noisy[0], noisy[1], laws, receipt)


def _shares(split: float | None, neighbours: Neighbours) -> tuple[Fraction, Fraction] | None:
    """What each count gets; None where each gets all."""
    if neighbours == "add-remove":
        if split is not None:
            raise ParameterError(
                "There is nothing to split: counts of different people have the whole epsilon each.",
                code="parameter-choice",
                hint='Leave split out, or say neighbours="replace" if a person may be in both counts.',
            )
        return None
    first = Fraction(1, 2) if split is None else Fraction(probability("split", split))
    return first, 1 - first


def _laplace(epsilon: float, shares: tuple[Fraction, Fraction] | None) -> tuple[list[Event], tuple[Noise, Noise]]:
    if shares is None:
        scale = scale_for(1, epsilon)
        return [LaplaceEvent(Fraction(1), Fraction(scale))], (Laplace(scale, 1.0), Laplace(scale, 1.0))
    first, second = (scale_for(1, Fraction(epsilon) * share) for share in shares)
    events: list[Event] = [LaplaceEvent(Fraction(1), Fraction(scale)) for scale in (first, second)]
    return events, (Laplace(first, 1.0), Laplace(second, 1.0))


def _gaussian(
    epsilon: float, delta: float, shares: tuple[Fraction, Fraction] | None
) -> tuple[list[Event], tuple[Noise, Noise]]:
    mu = gaussian_mu(epsilon, delta)
    if shares is None:
        sigma = math.nextafter(1 / mu, math.inf)
        return [_event(sigma)], (Gaussian(sigma), Gaussian(sigma))
    first, second = (1 / (mu * math.sqrt(share)) * (1 + 1e-12) for share in shares)
    return [_event(first), _event(second)], (Gaussian(first), Gaussian(second))


def _event(sigma: float) -> GaussianEvent:
    """The rounded sampler owes nothing for being discrete."""
    variance = Fraction(sigma) ** 2
    return GaussianEvent(Fraction(1), variance, 0, variance)


def _drawn(law: Noise) -> int:
    drawn = rounded_gaussian(law.sigma, 1) if isinstance(law, Gaussian) else discrete_laplace(law.scale, 1)
    return int(drawn[0])
