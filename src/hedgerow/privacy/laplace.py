"""Laplace noise for one statement, charged to the ledger's pure part.

Privacy: a block's rows have l1 norm at most 1 after division, so noise of scale b_i on block i costs
A / b_i, and the blocks add up (docs/proofs/weights.md). The noise is discrete, on the lattice of the exact sums (or a
coarser one, at the price in `precision`), where the ratio of neighbouring probabilities is exact: discreteness
costs nothing. Key selection counts whole people on the unit grid, at most C keys each: C / b, and the mass of (2.5)
with the discrete tail.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from hedgerow.accounting import LaplaceEvent, PureAsGaussianEvent, ThresholdEvent
from hedgerow.accounting.budget import Event
from hedgerow.distributions import Laplace
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.precision import check_scale, shift_for, up
from hedgerow.privacy.sums import NoisySum, Selection

Combination = tuple[tuple[int, int], ...]

FINE = 2.0**-20
"""Error bars ignore a lattice that is finer than this fraction of the scale."""


def block(
    parts: Sequence[tuple[str, Combination]], denominator: int, scale: float, bounding: Bounding, weight_bits: int
) -> tuple[list[NoisySum], LaplaceEvent]:
    """Return coordinates with one noise scale (in units of one row), and their event.

    Each row has l1 norm at most 1 over all coordinates together.
    """
    lattice = denominator << weight_bits
    shift = shift_for(scale * lattice, 0.0)
    step = Fraction(lattice) * Fraction(2) ** shift
    rounding = len(parts) * bounding.keys_weighed(weight_bits) if shift < 0 else 0
    moved = bounding.l1 * step + rounding
    drawn = check_scale(up(scale * float(step) * float(moved / (bounding.l1 * step))))
    wide = drawn / float(step)
    noise = Laplace(wide, 0.0 if 1.0 / float(step) < FINE * wide else 1.0 / float(step))
    noisy_sums = [
        NoisySum(label, combination, denominator, noise, drawn, shift, float(bounding.l1))
        for label, combination in parts
    ]
    return noisy_sums, LaplaceEvent(Fraction(moved), Fraction(drawn))


def selection(
    epsilon: float, minimum: int, groups: int, mass: Fraction
) -> tuple[Selection, tuple[LaplaceEvent, ThresholdEvent]]:
    """Return the threshold test that spends `epsilon` and at most `mass`, and its events.

    The noise reaches the threshold's distance from the minimum in any of the groups with probability at most `mass`;
    the distance is the smallest such whole number.
    """
    scale = up(groups / epsilon)
    allowed = min(float(mass), -math.expm1(-1.0 / scale))
    in_one_group = -math.expm1(math.log1p(-allowed) / groups)
    distance = max(1, math.ceil(-scale * (math.log(in_one_group) + math.log1p(math.exp(-1.0 / scale)))))
    while _tail(scale, distance) > in_one_group:
        distance += 1
    silent = _tail(scale, distance)
    spent = Fraction(-math.expm1(groups * math.log1p(-silent)) * (1 + 1e-9))
    test = Selection(Laplace(scale, 1.0), scale, 0, Fraction(minimum + distance), minimum, spent)
    return test, (LaplaceEvent(Fraction(groups), Fraction(scale)), ThresholdEvent(spent))


def as_gaussian(events: Sequence[Event]) -> list[Event]:
    """Return the events with every pure step charged as Gaussian noise that dominates it.

    Privacy: each step is charged alone, which is less than all of them together as one: mu squared of n equal steps is
    a little above an n-th of what it is for their sum (docs/proofs/ledger.md).
    """
    return [
        PureAsGaussianEvent(event.cost.pure) if event.cost.pure and not event.cost.mass else event for event in events
    ]


def _tail(scale: float, distance: int) -> float:
    """Return P(X >= distance) of discrete Laplace noise; the distance is at least 1."""
    return math.exp(-distance / scale) / (1.0 + math.exp(-1.0 / scale))
