"""Contribution limits of one unit.

An owner's rows in a key are not sampled but *weighted*: one integer weight out of 2^b per (owner, key),
rounded down, multiplies the integer sums of all measures (docs/proofs/weights.md).

Privacy: let an owner have n_g rows in key g, a_g = min(n_g, r). The weight is
W_g = floor(U a_g / n_g), with U^2 sum a_g^2 <= T^2 4^b (l2) or U sum a_g <= A 2^b (l1). Each row's vector
has norm at most 1, so the sum over n_g rows, times W_g / 2^b, has norm at most U a_g / 2^b, and over
all keys at most T, respectively A. Nothing is rounded or clamped after the weight, so this holds to
the last bit, for several coordinates together.
"""

from dataclasses import dataclass, replace

from hedgerow.errors import ParameterError, PolicyError
from hedgerow.plan.nodes import ContributionLimits

ROWS_AT_LEAST = 10**12
"""Sums have room for at least this many rows, even if the catalog declares fewer."""

LARGEST = 2**30
"""No limit may exceed this: T^2 4^b must fit the engine's 128-bit integers."""


@dataclass(frozen=True, slots=True)
class Bounding:
    """The limits of a statement: R rows in all, r in one key, C keys.

    `weighted` is False where the database enforces one row per unit: every weight is then one.
    `size` is the number of rows that the catalog declares. `grouped` is False where there is one group.
    """

    rows: int
    rows_per_group: int
    groups: int
    weighted: bool
    size: int
    grouped: bool = True

    @property
    def l2_squared(self) -> int:
        """T^2: the largest squared l2 norm of an owner within all three limits."""
        full = min(self.groups, self.rows // self.rows_per_group)
        rest = self.rows - full * self.rows_per_group
        return full * self.rows_per_group**2 + (rest**2 if full < self.groups else 0)

    @property
    def l1(self) -> int:
        """A: the most rows an owner within all three limits can have."""
        return min(self.rows, self.rows_per_group * self.groups)

    @property
    def row_capacity(self) -> int:
        """Number of rows that a sum can add up without an overflow.

        Privacy: the declared size may be false. A sum that overflowed would fail for some rows and not for others, and
        an owner in more keys than declared would move more cells. So a small declared size is raised to
        `ROWS_AT_LEAST`; trusting it would save less than a thousandth of the noise.
        """
        return max(self.size, ROWS_AT_LEAST)

    @property
    def keys_touched(self) -> int:
        """Number of keys in which one owner can have a weight: every key in which it has a row."""
        return self.row_capacity if self.weighted and self.grouped else 1

    def keys_weighed(self, weight_bits: int) -> int:
        """Number of keys in which one owner can have a weight above zero under the l1 cap.

        Privacy: U is whole and U sum a_g <= A 2^b with every a_g >= 1. In more than A 2^b keys U is zero, and with it
        every weight of the owner.
        """
        return min(self.keys_touched, self.l1 << weight_bits)


def bound(limits: ContributionLimits, *, grouped: bool, max_rows: int | None, max_groups: int | None) -> Bounding:
    """Return the limits of one statement: the owner's, tightened by the query."""
    rows = _tighten("max_rows", limits.max_rows, max_rows, inferred=limits.inferred)
    if rows is None:
        raise ParameterError(
            "The table has no limit on the rows of one person, so the sensitivity of a sum is unknown.",
            code="missing-max-rows",
            hint="Declare max_rows (or unit_unique) for the table in the catalog, or pass max_rows=.",
        )
    groups = _tighten("max_groups", limits.max_groups, max_groups, inferred=limits.inferred)
    weighted = not limits.one_row
    if not grouped:
        return Bounding(rows, rows, 1, weighted, limits.size, grouped=False)
    per_group = min(limits.max_rows_per_group or rows, rows)
    return Bounding(rows, per_group, min(groups or rows, rows), weighted, limits.size)


def units_only(bounding: Bounding) -> Bounding:
    """Return the limits where only people are counted: each person counts once in a key."""
    return replace(bounding, rows=bounding.groups, rows_per_group=1)


def counts_people(bounding: Bounding) -> bool:
    """Return True if ranks weigh people instead of rows: by group, where a person may have several rows in one."""
    return bounding.weighted and bounding.grouped and bounding.rows_per_group > 1


def person_weights(bounding: Bounding) -> Bounding:
    """Return the limits under which each person has the same weight, however many rows it has.

    A person's rows in a group share its weight there: 1 in each of up to R / r groups, and less in more of them. Added
    up over its groups and compared with the noise, no owner weighs less than under the limits on rows, where only an
    owner with r rows in each of R / r groups has the full weight (docs/proofs/quantiles.md).
    """
    groups = max(1, min(bounding.groups, bounding.rows // bounding.rows_per_group))
    return replace(bounding, rows=groups, rows_per_group=1, groups=groups)


def _tighten(name: str, owners: int | None, requested: int | None, *, inferred: bool) -> int | None:
    if requested is None:
        return owners
    if not 1 <= requested <= LARGEST:
        raise ParameterError(
            f"{name} must be a whole number from 1 to {LARGEST:,}.", code=f"bad-{name.replace('_', '-')}"
        )
    if owners is not None and requested > owners and inferred:
        return owners
    if owners is not None and requested > owners:
        raise PolicyError(
            f"{name}={requested} is looser than the owner's {owners}.",
            code="looser-limit",
            hint=f"Ask for {owners} or less.",
        )
    return requested
