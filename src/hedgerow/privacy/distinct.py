"""COUNT(DISTINCT x): the number of values one person may add, and the noise for it.

Nobody knows beforehand how many values a person holds that others do not. So a few counts are released, each with its
part of the budget: an owner counts in at most C groups, chosen by a hash of its own keys, and adds at most d values in
each, and the counts differ in d and C. All of them are at most the number of values, and the best of them is shown.
Where values are few and shared by many people, d = 1 finds them all with the noise of one person. The values of an
owner are chosen by a hash, too (the simple bound), or so that as many values as possible are reached (a flow).

Privacy: one owner more or less changes the count of a group by at most d, whichever bound is used
(docs/proofs/distinct.md), and the counts of at most C groups: d sqrt(C) in the l2 norm, d C in the l1 norm. Counts are
whole numbers, and the noise lives on whole numbers or a refinement, so nothing is rounded. Which counts there are
follows from the limits, the declared size and the declared values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.accounting import GaussianEvent, LaplaceEvent
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.expressions.facts import declared_values
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type
from hedgerow.privacy.bounding import ROWS_AT_LEAST, Bounding
from hedgerow.privacy.precision import check_scale, least_scale, up

MAX_LEVELS = 3
"""Maximum number of counts of the distinct values of one column."""

FEW_VALUES = 4
"""Number of values that one person adds to a count between one value and all of them."""

MOST_VALUES = 1024
"""Maximum number of values that one person adds to any count."""

ALL_VALUES_SHARE = 0.2
"""Share of the budget for the count to which people add all of their values, next to others."""

MOST_PAIRS = 64
"""Number of values of one person in a group that a flow chooses from."""

LARGEST_FLOW = 2**20
"""Up to this declared number of rows, the pairs of person and value leave the engine, sealed, for the flow."""


@dataclass(frozen=True, slots=True)
class DistinctLevel:
    """One count: an owner adds at most `per_owner` values in each of at most `groups` groups.

    `complete` says that an owner within the limits of the catalog adds all of its values.
    """

    per_owner: int
    groups: int
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Distinct:
    """One count of distinct values: its expression, its bound and its noise.

    `whole` says that the database enforces one row per person, so that no value is dropped; `ceiling` is the public
    number of values that there are at most.
    """

    value: Expr
    filter: Expr | None
    level: DistinctLevel
    flow: bool
    whole: bool
    noise: Noise
    scale: float
    shift: int
    ceiling: float = math.inf


def levels_of(bounding: Bounding, value: Expr, *, tightened: bool) -> list[DistinctLevel]:
    """Return the counts to release, the least noisy first; with `tightened` limits none of them is complete.

    Where the catalog lists fewer values than there are people, if everybody had as many rows as allowed, one value of
    each person will do.

    Privacy: from public numbers alone.
    """
    if not bounding.weighted:
        return [DistinctLevel(1, 1, complete=True)]
    groups = bounding.groups if bounding.grouped else 1
    domain = domain_size(value)
    held = min(bounding.rows_per_group, domain or bounding.rows_per_group)
    if domain is not None and domain <= bounding.size // bounding.rows:
        depths = {1}
    elif bounding.grouped:
        depths = {1, min(held, FEW_VALUES)}
    else:
        depths = {1, min(held, FEW_VALUES), min(held, MOST_VALUES)}
    bounds = sorted({(1, 1), *((depth, groups) for depth in depths)})
    return [DistinctLevel(d, c, complete=not tightened and (d, c) == (held, groups)) for d, c in bounds]


def shares_of(levels: Sequence[DistinctLevel]) -> list[float]:
    """Return the share of the budget of each count: even, but less for the last of three, which is for rare cases."""
    if len(levels) < MAX_LEVELS or levels[-1].per_owner <= FEW_VALUES:
        return [1 / len(levels)] * len(levels)
    return [(1 - ALL_VALUES_SHARE) / (len(levels) - 1)] * (len(levels) - 1) + [ALL_VALUES_SHARE]


def domain_size(value: Expr) -> int | None:
    """Return how many values the catalog lists for a column; of a condition there are two."""
    if value.type is Type.BOOLEAN:
        return 2
    listed = declared_values(value)
    return None if listed is None else len(listed)


def ceiling_of(value: Expr, bounding: Bounding) -> float:
    """Return the number of distinct values that the catalog allows: as many as it lists, or as many as rows."""
    size = bounding.size if bounding.size < ROWS_AT_LEAST else math.inf
    return min(size, domain_size(value) or math.inf)


def uses_flow(bounding: Bounding, level: DistinctLevel, method: str) -> bool:
    """Return True if pairs leave the engine; this depends on the declared size and the option, never on the data.

    Where an owner within the limits adds all of several values, hardly anything is left to choose.
    """
    if not bounding.weighted or method == "simple" or 1 < level.per_owner >= bounding.rows_per_group:
        return False
    return method == "flow" or bounding.size <= LARGEST_FLOW


def gaussian_distinct(
    value: Expr, condition: Expr | None, level: DistinctLevel, budget: float, bounding: Bounding, method: str
) -> tuple[Distinct, GaussianEvent]:
    """Return a count that spends `budget` of mu squared, and its event."""
    per_owner, groups = level.per_owner, level.groups
    sigma = math.sqrt(per_owner * per_owner * groups / budget)
    shift = max(0, math.ceil(math.log2(least_scale(groups) / sigma)))
    scale = check_scale(up(sigma * 2.0**shift))
    event = GaussianEvent(
        Fraction(per_owner * per_owner * groups << (2 * shift)), Fraction(scale) ** 2, groups, Fraction(scale) ** 2
    )
    return _build(value, condition, level, bounding, method, Gaussian(scale / 2.0**shift), scale, shift), event


def laplace_distinct(
    value: Expr, condition: Expr | None, level: DistinctLevel, budget: float, bounding: Bounding, method: str
) -> tuple[Distinct, LaplaceEvent]:
    """Return a count that spends `budget` of pure epsilon, and its event."""
    moved = level.per_owner * level.groups
    scale = check_scale(up(moved / budget))
    event = LaplaceEvent(Fraction(moved), Fraction(scale))
    return _build(value, condition, level, bounding, method, Laplace(scale, 1.0), scale, 0), event


def _build(
    value: Expr,
    condition: Expr | None,
    level: DistinctLevel,
    bounding: Bounding,
    method: str,
    noise: Noise,
    scale: float,
    shift: int,
) -> Distinct:
    flow = uses_flow(bounding, level, method)
    ceiling = ceiling_of(value, bounding)
    return Distinct(value, condition, level, flow, not bounding.weighted, noise, scale, shift, ceiling)
