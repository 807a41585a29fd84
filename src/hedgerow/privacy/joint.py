"""Moments of one or two columns as coordinates of one block.

Privacy: the coordinates of a family have norm at most one for every row whose values lie in [-1, 1] (see
`moments.families`, checked in exact arithmetic by `moments.norms`). A grid integer k lies in [-K, K], so z = k / K lies
in [-1, 1], and the coordinates of a row are exact fractions with one denominator. So they form a block like any other:
one unit of norm for each row, times its weight.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hedgerow.aggregates import NeededSums
from hedgerow.expressions.nodes import describe
from hedgerow.privacy.plan import SumForms, Terms
from hedgerow.privacy.precision import Grid
from hedgerow.privacy.statement_sums import Joint
from hedgerow.privacy.sums import ExactSum, SumKind
from hedgerow.statistics.moments import BERNSTEIN, BILINEAR, CORNERS, CORRELATION, lambda_family
from hedgerow.statistics.moments.families import Family, Monomial, mixing

Part = tuple[str, tuple[tuple[int, int], ...]]
Put = Callable[[Sequence[Part], int], int]
MEANS: tuple[Monomial, Monomial] = ((1, 0), (0, 1))


@dataclass(frozen=True)
class JointTerms:
    """Every moment of a joint release as a linear form in its coordinates, and the grids of its columns."""

    joint: Joint
    grids: tuple[Grid, ...]
    terms: Mapping[Monomial, Terms]


def gaussian_family(joint: Joint, *, equal: bool) -> Family:
    """Return the coordinates for Gaussian noise; `equal` selects the plain Bezier basis for one column."""
    if len(joint.values) == 1:
        return BERNSTEIN if equal else lambda_family()
    return CORRELATION if joint.squares else BILINEAR


def laplace_family(joint: Joint) -> Family:
    """Return the coordinates for Laplace noise; their absolute values add up to at most one."""
    if len(joint.values) == 1:
        return BERNSTEIN
    return CORNERS if joint.squares else BILINEAR


def moment_parts(
    joint: Joint, family: Family, grids: Sequence[Grid], index_of: Callable[[ExactSum], int]
) -> tuple[list[Part], int]:
    """Return the coordinates as integer combinations of exact sums, and their common denominator.

    With z = k / K and w = l / L, the sum of z^i w^j is the sum of k^i l^j over K^i L^j; all are expanded to the highest
    powers of K and L that occur.
    """
    reaches = [grid.reach for grid in grids] + [1] * (2 - len(grids))
    top = [max(monomial[axis] for monomial in family.monomials) for axis in (0, 1)]
    sums = [index_of(_sum(joint, grids, monomial)) for monomial in family.monomials]
    powers = [reaches[0] ** (top[0] - i) * reaches[1] ** (top[1] - j) for i, j in family.monomials]
    named = " and ".join(describe(value) for value in joint.values)
    parts: list[Part] = []
    for number, row in enumerate(family.rows):
        combination = tuple((s, c * p) for s, c, p in zip(sums, row, powers, strict=True) if c)
        parts.append((f"moments of {named} ({number + 1} of {len(family.rows)})", combination))
    return parts, family.denominator * reaches[0] ** top[0] * reaches[1] ** top[1]


def joint_terms(joint: Joint, family: Family, grids: tuple[Grid, ...], first: int) -> JointTerms:
    """Return the moments as linear forms in the coordinates, the first of which has index `first`."""
    back = mixing(family)
    terms = {
        monomial: tuple((first + i, float(c)) for i, c in enumerate(row) if c)
        for monomial, row in zip(family.moments, back, strict=True)
    }
    return JointTerms(joint, grids, terms)


def moment_forms(need: NeededSums, joint_moments: JointTerms) -> SumForms:
    """Return the sums that an aggregate of moments reads."""
    joint = joint_moments.joint
    first = joint.values.index(need.value) if need.value is not None else 0
    second = first if need.other is None else joint.values.index(need.other)
    wanted = [(i, j) for i in range(3) for j in range(3) if i + j <= 2 and (need.other is not None or not j)]
    moments = {(i, j): joint_moments.terms.get(_swapped(i, j, first, second)) for i, j in wanted}
    grid, other = joint_moments.grids[first], joint_moments.grids[second]
    return SumForms(
        count=joint_moments.terms[0, 0],
        centred=joint_moments.terms[MEANS[first]],
        middle=grid.offset,
        half=grid.reach * grid.step,
        moments=tuple((monomial, terms) for monomial, terms in moments.items() if terms is not None),
        other_middle=other.offset,
        other_half=other.reach * other.step,
    )


def _swapped(i: int, j: int, first: int, second: int) -> Monomial:
    """Return the release's monomial for an aggregate's z^i w^j, given the indices of its two columns in the release."""
    powers = [0, 0]
    powers[first] += i
    powers[second] += j
    return powers[0], powers[1]


def _sum(joint: Joint, grids: Sequence[Grid], monomial: Monomial) -> ExactSum:
    """Return the exact sum of one monomial."""
    factors = [axis for axis in (0, 1) for _ in range(monomial[axis])]
    value, condition = joint.support
    if not factors:
        return ExactSum(SumKind.ROWS, value, condition)
    one = joint.values[factors[0]]
    if len(factors) == 1:
        return ExactSum(SumKind.VALUES, one, condition, grids[factors[0]])
    return ExactSum(SumKind.PRODUCTS, one, condition, grids[factors[0]], joint.values[factors[1]], grids[factors[1]])
