"""Gaussian noise for one statement.

Privacy: with noise sigma_i on coordinate i, whose rows have size at most 1 after division, a unit moves the whole
vector by at most T in each coordinate's norm, so mu^2 <= T^2 sum 1/sigma_i^2 (docs/proofs/weights.md, blocks that every
row may fill at once). All coordinates get equal noise, which is minimax for an average. Key selection counts each owner
in at most C keys: mu^2 = C / sigma^2. The two stages compose to the mu of the statement's own (epsilon, delta); the
threshold is the smallest that keeps the exact profile (docs/proofs/selection.md) within delta.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from hedgerow.accounting import (
    GaussianEvent,
    ThresholdEvent,
    gaussian_mu,
    selection_delta,
    selection_mass,
    statement_threshold,
    threshold,
)
from hedgerow.accounting.budget import Cost, RemainingBudget
from hedgerow.accounting.events import STRAY_MASS
from hedgerow.distributions import Gaussian
from hedgerow.errors import ParameterError
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.precision import check_scale, least_scale, root_up, shift_for, up
from hedgerow.privacy.sums import NoisySum, Selection

HEADROOM = 1e-9
"""Epsilon reserved for the cost of discreteness: at most 1e-12 a coordinate, of fewer than 1 000 coordinates."""

QUICK_SCALE = 2.0**44
"""Wider noise gets a coarser lattice: the charge stays exact, and the sampler is fast up to this width."""

ROUNDING = 1 - 1e-7
"""Factor on delta that covers the floating-point error of the formulas."""

EXACT_PROFILE = 64
"""The exact profile is evaluated up to this many keys per unit; above it, the deltas are added up."""

ADDED_SHARE = 0.1
"""Share of delta for the threshold where the deltas are added up; the rest is for the noise."""


def statement_mu(epsilon: float, delta: float) -> float:
    """Return the mu that one statement may spend."""
    return gaussian_mu(epsilon - HEADROOM, delta)


def own_delta(delta: float, moved: int) -> float:
    """Return a statement's delta minus the stray mass of `moved` cells of noise (docs/proofs/noise.md)."""
    left = delta * ROUNDING - float(STRAY_MASS * moved)
    if left < delta / 2:
        raise ParameterError(
            "delta is too small for the number of cells that one person can change.",
            code="bad-delta",
            hint="Raise delta.",
        )
    return left


def noisy_sum(
    label: str,
    combination: tuple[tuple[int, int], ...],
    denominator: int,
    sigma: float,
    bounding: Bounding,
    weight_bits: int,
) -> tuple[NoisySum, GaussianEvent]:
    """Return a sum with noise `sigma` (in units of one row), and its event."""
    (total,), event = block([(label, combination)], denominator, sigma, bounding, weight_bits)
    return total, event


def block(
    parts: Sequence[tuple[str, tuple[tuple[int, int], ...]]],
    denominator: int,
    sigma: float,
    bounding: Bounding,
    weight_bits: int,
) -> tuple[list[NoisySum], GaussianEvent]:
    """Return coordinates with noise `sigma` (in units of one row) each, and their event.

    Each row has l2 norm at most 1 over all coordinates together.

    The exact integers are multiples of 1 / (denominator 2^weight_bits); see `precision` for the lattice.
    """
    touched = bounding.keys_touched * len(parts)
    lattice = denominator << weight_bits
    shift = shift_for(sigma * lattice, least_scale(touched), QUICK_SCALE)
    step = Fraction(lattice) * Fraction(2) ** shift
    reach = root_up(bounding.l2_squared) * step
    rounding = root_up(touched) if shift < 0 else Fraction(0)
    scale = check_scale(up(sigma * float(step) * float(1 + rounding / reach)))
    moved = Fraction(bounding.l2_squared) * step * step + 2 * reach * rounding + rounding * rounding
    event = GaussianEvent(moved, Fraction(scale) ** 2, touched, Fraction(scale) ** 2)
    noise, norm = Gaussian(scale / float(step)), math.sqrt(bounding.l2_squared)
    noisy_sums = [NoisySum(label, combination, denominator, noise, scale, shift, norm) for label, combination in parts]
    return noisy_sums, event


def selection(
    epsilon: float,
    delta: float,
    minimum: int,
    groups: int,
    mu: float,
    stage2: float,
    remaining: RemainingBudget,
    *,
    added: bool,
) -> tuple[Selection, tuple[GaussianEvent, ThresholdEvent]]:
    """Return the threshold test that spends `mu`, next to measures that spend `stage2`, and its events.

    `added` adds the mass of the threshold to the rest of delta. Otherwise the exact profile is evaluated, and the
    threshold is raised until the statement stays within its own delta.
    """
    sigma = math.sqrt(groups) / mu
    shift = max(0, math.ceil(math.log2(least_scale(groups) / sigma)))
    scale = up(sigma * 2.0**shift)
    sigma = scale / 2.0**shift
    largest = Fraction(delta) * Fraction(ADDED_SHARE if added else 0.5) * (1 - Fraction(1, 10**9))
    fair = remaining.fair_mass(Cost(gaussian=Fraction(mu * mu + stage2 * stage2)))
    wanted = float(min(largest, fair)) or float(largest)
    tau = threshold(minimum, sigma, wanted, groups)
    own = epsilon - HEADROOM
    if not (added or selection_delta(own, sigma, minimum, tau, groups, stage2=stage2) * (1 + 1e-9) <= delta):
        tau = max(tau, statement_threshold(own, delta, sigma, minimum, groups, stage2=stage2))
    on_grid = Fraction(math.ceil(Fraction(tau) * 2**shift) + 1, 2**shift)
    mass = selection_mass(sigma, minimum, float(on_grid - Fraction(1, 2 ** (shift + 1))), groups)
    event = GaussianEvent(Fraction(groups << (2 * shift)), Fraction(scale) ** 2, groups, Fraction(scale) ** 2)
    test = Selection(Gaussian(sigma), scale, shift, on_grid, minimum, mass)
    return test, (event, ThresholdEvent(mass))
