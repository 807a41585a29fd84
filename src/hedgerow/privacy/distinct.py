"""COUNT(DISTINCT x): the number of values one person may add, and the noise for it.

An owner counts in at most C groups, chosen by a hash of its own keys, and adds at most d values in each. The
values are chosen by a hash, too (the simple bound), or so that as many values as possible are reached (a flow).

Privacy: one owner more or less changes the count of a group by at most d, whichever bound is used
(docs/proofs/distinct.md), and the counts of at most C groups: d sqrt(C) in the l2 norm, d C in the l1 norm. Counts are
whole numbers, and the noise lives on whole numbers or a refinement, so nothing is rounded.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.accounting import GaussianEvent, LaplaceEvent
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.expressions.nodes import Expr
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.precision import check_scale, least_scale, up

MOST_VALUES = 4
"""Maximum number of values that one person adds in a group; fewer where max_rows_per_group is lower."""

MOST_PAIRS = 64
"""Number of values of one person in a group that a flow chooses from."""

LARGEST_FLOW = 2**20
"""Up to this declared number of rows, the pairs of person and value leave the engine, sealed, for the flow."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """One count of distinct values: its expression, its bound and its noise.

    `whole` says that the database enforces one row per person, so that no value is dropped.
    """

    value: Expr
    filter: Expr | None
    per_owner: int
    groups: int
    flow: bool
    whole: bool
    noise: Noise
    scale: float
    shift: int


def values_each(bounding: Bounding) -> int:
    """Return d, the number of values one person adds in a group."""
    return min(bounding.rows_per_group, MOST_VALUES) if bounding.weighted else 1


def uses_flow(bounding: Bounding, method: str) -> bool:
    """Return whether pairs leave the engine; this depends on the declared size and the option, never on the data."""
    if not bounding.weighted or method == "simple":
        return False
    return method == "flow" or bounding.size <= LARGEST_FLOW


def gaussian_distinct(
    value: Expr, condition: Expr | None, budget: float, bounding: Bounding, method: str
) -> tuple[Distinct, GaussianEvent]:
    """Return a count that spends `budget` of mu squared, and its event."""
    per_owner, groups = values_each(bounding), _groups(bounding)
    sigma = math.sqrt(per_owner * per_owner * groups / budget)
    shift = max(0, math.ceil(math.log2(least_scale(groups) / sigma)))
    scale = check_scale(up(sigma * 2.0**shift))
    event = GaussianEvent(
        Fraction(per_owner * per_owner * groups << (2 * shift)), Fraction(scale) ** 2, groups, Fraction(scale) ** 2
    )
    return _build(value, condition, bounding, method, Gaussian(scale / 2.0**shift), scale, shift), event


def laplace_distinct(
    value: Expr, condition: Expr | None, budget: float, bounding: Bounding, method: str
) -> tuple[Distinct, LaplaceEvent]:
    """Return a count that spends `budget` of pure epsilon, and its event."""
    moved = values_each(bounding) * _groups(bounding)
    scale = check_scale(up(moved / budget))
    event = LaplaceEvent(Fraction(moved), Fraction(scale))
    return _build(value, condition, bounding, method, Laplace(scale, 1.0), scale, 0), event


def _groups(bounding: Bounding) -> int:
    return bounding.groups if bounding.weighted and bounding.grouped else 1


def _build(
    value: Expr, condition: Expr | None, bounding: Bounding, method: str, noise: Noise, scale: float, shift: int
) -> Distinct:
    per_owner, flow = values_each(bounding), uses_flow(bounding, method)
    return Distinct(value, condition, per_owner, _groups(bounding), flow, not bounding.weighted, noise, scale, shift)
