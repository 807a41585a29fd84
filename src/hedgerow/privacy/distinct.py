"""COUNT(DISTINCT x): how many values one person may add, and the noise for it.

An owner counts in at most C groups, chosen by a hash of its own keys, and adds at most d values in each. Either they
are chosen by a hash, too (the simple bound), or so that as many values are reached as possible (a flow).

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
"""How many values one person adds in a group, at most; fewer where it has fewer rows."""

MOST_PAIRS = 64
"""How many values of one person in a group a flow chooses from."""

LARGEST_FLOW = 2**20
"""Up to this declared number of rows the pairs of person and value leave the engine, sealed, for the flow."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """One count of different values: what is counted, how it is bounded, and its noise.

    `whole` says that the database enforces one row per person, so that nothing is left out.
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
    """d: how many values one person adds in a group."""
    return min(bounding.rows_per_group, MOST_VALUES) if bounding.weighted else 1


def uses_flow(bounding: Bounding, method: str) -> bool:
    """Return whether pairs leave the engine: by the declared size and what was asked, never by a look at the data."""
    if not bounding.weighted or method == "simple":
        return False
    return method == "flow" or bounding.size <= LARGEST_FLOW


def gaussian_distinct(
    value: Expr, condition: Expr | None, budget: float, bounding: Bounding, method: str
) -> tuple[Distinct, GaussianEvent]:
    """A count that spends `budget` of mu squared."""
    each, groups = values_each(bounding), _groups(bounding)
    sigma = math.sqrt(each * each * groups / budget)
    shift = max(0, math.ceil(math.log2(least_scale(groups) / sigma)))
    scale = check_scale(up(sigma * 2.0**shift))
    event = GaussianEvent(
        Fraction(each * each * groups << (2 * shift)), Fraction(scale) ** 2, groups, Fraction(scale) ** 2
    )
    return _made(value, condition, bounding, method, Gaussian(scale / 2.0**shift), scale, shift), event


def laplace_distinct(
    value: Expr, condition: Expr | None, budget: float, bounding: Bounding, method: str
) -> tuple[Distinct, LaplaceEvent]:
    """A count that spends `budget` of pure epsilon."""
    moved = values_each(bounding) * _groups(bounding)
    scale = check_scale(up(moved / budget))
    event = LaplaceEvent(Fraction(moved), Fraction(scale))
    return _made(value, condition, bounding, method, Laplace(scale, 1.0), scale, 0), event


def _groups(bounding: Bounding) -> int:
    return bounding.groups if bounding.weighted and bounding.grouped else 1


def _made(
    value: Expr, condition: Expr | None, bounding: Bounding, method: str, noise: Noise, scale: float, shift: int
) -> Distinct:
    each, flow = values_each(bounding), uses_flow(bounding, method)
    return Distinct(value, condition, each, _groups(bounding), flow, not bounding.weighted, noise, scale, shift)
