"""Test that many draws follow a stated law."""

import math
from collections.abc import Iterable

import numpy as np
from scipy.optimize import brentq

from hedgerow.answer import Mechanism
from hedgerow.arguments import Floats, probability, real, reals
from hedgerow.distributions import Noise
from hedgerow.errors import ConditionNotMet
from hedgerow.testing.laws import Law, law_of

FALSE_ALARM = 1e-9
"""Default probability that draws of the right law are rejected."""

OFF = 1.3
"""A scale that is too large or too small by this factor is rejected, nearly always."""

CELLS = 12
SURE = 3.0
"""Factor by which the mean evidence against a scale that is `OFF` exceeds the rejection threshold."""

ON_GRID = 1e-6


def assert_distribution(
    draws: Iterable[float],
    law: str | Noise | Mechanism,
    scale: float | None = None,
    *,
    centre: float = 0.0,
    step: float = 1.0,
    false_alarm: float = FALSE_ALARM,
) -> None:
    """Fail if independent draws do not follow `law`: another scale, another shape, another centre.

    It is a likelihood-ratio test over a dozen cells. `false_alarm` is a proved bound at any number of draws, not
    asymptotic: n times the relative entropy of n draws has at most the exponential moments of a Gamma law, and exceeds
    x with probability at most exp(-x) (e x / d)^d, with d + 1 cells (Agrawal 2020).

    Args:
        draws: The noise, or noisy numbers of one exact number, `centre`; enough to detect a scale that is 30 % off.
        law: "gaussian", "laplace"; "rounded gaussian", "rounded laplace": rounded to multiples of `step`, as counts
            are; "discrete gaussian", "discrete laplace": on these multiples; or a noise, or a mechanism of a receipt.
        scale: Standard deviation, or scale; for a law by name.
        centre: Subtracted from each draw.
        step: The grid of a rounded or discrete law.
        false_alarm: Probability that draws of this law are rejected.

    Example:
        >>> from hedgerow.noise import discrete_laplace
        >>> assert_distribution(discrete_laplace(5.0, 6000), "discrete laplace", 5.0)
        >>> assert_distribution(discrete_laplace(6.5, 6000), "discrete laplace", 5.0)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        AssertionError: 6000 draws do not follow the discrete laplace of scale 5 on multiples of 1...
    """
    named = law_of(law, scale, step)
    numbers = reals("draws", np.asarray(list(draws))) - real("centre", centre)
    alarm = probability("false_alarm", false_alarm)
    if len(numbers) < (minimum := _minimum_draws(named, alarm)):
        raise ConditionNotMet(
            f"{len(numbers)} draws are too few to distinguish the {named} from one that is 30 % off.",
            condition=f"at least {minimum} draws",
            hint="Draw more, or allow for a higher false_alarm.",
        )
    points = _on_grid(numbers, named)
    edges = named.edges(CELLS)
    seen = np.bincount(np.searchsorted(edges, points), minlength=len(edges) + 1).astype(np.float64)
    evidence = _evidence(seen / len(points), named.chances(edges)) * len(points)
    if evidence > _needed(len(edges), alarm):
        raise AssertionError(_failure(named, numbers, seen, edges))


def draws_needed(
    law: str | Noise | Mechanism, scale: float | None = None, *, step: float = 1.0, false_alarm: float = FALSE_ALARM
) -> int:
    """Return the number of draws that `assert_distribution` needs to detect a scale that is 30 % off.

    Example:
        >>> 1000 < draws_needed("gaussian", 1.0) < draws_needed("laplace", 1.0) < 6000
        True
    """
    return _minimum_draws(law_of(law, scale, step), probability("false_alarm", false_alarm))


def _minimum_draws(law: Law, false_alarm: float) -> int:
    edges = law.edges(CELLS)
    right = law.chances(edges)
    weakest = min(_evidence(law.times(factor).chances(edges), right) for factor in (OFF, 1.0 / OFF))
    return math.ceil(min(SURE * _needed(len(edges), false_alarm) / max(weakest, 1e-300), 1e300))


def _on_grid(numbers: Floats, law: Law) -> Floats:
    """Return the draws in steps of the grid; they must be multiples of it."""
    if not law.step:
        return numbers
    points = np.rint(numbers / law.step)
    if np.any(np.abs(numbers / law.step - points) > ON_GRID):
        raise AssertionError(f"Some of {len(numbers)} draws are not multiples of {law.step:g}.")
    return points


def _evidence(shares: Floats, chances: Floats) -> float:
    """Return the relative entropy of the observed to the expected frequencies."""
    positive = shares > 0.0
    with np.errstate(divide="ignore"):
        return float(np.sum(shares[positive] * np.log(shares[positive] / chances[positive])))


def _needed(freedom: int, false_alarm: float) -> float:
    """The x with exp(-x) (e x / d)^d = false_alarm."""

    def excess(x: float) -> float:
        return freedom * (1.0 + math.log(x / freedom)) - x - math.log(false_alarm)

    high = 2.0 * freedom
    while excess(high) > 0.0:
        high *= 2.0
    return float(brentq(excess, freedom, high))


def _failure(law: Law, numbers: Floats, seen: Floats, edges: Floats) -> str:
    expected = len(numbers) * law.chances(edges)
    rows = [f"  up to {edge * (law.step or 1.0):g}" for edge in edges]
    rows.append("  beyond")
    cells = "\n".join(f"{row}: {n:.0f} ({m:.1f})" for row, n, m in zip(rows, seen, expected, strict=True))
    summary = f"median {np.median(numbers):g}, deviation {np.std(numbers):g}, mean size {np.mean(np.abs(numbers)):g}"
    return f"{len(numbers)} draws do not follow the {law}: {summary}. Draws in each cell (and what should be):\n{cells}"
