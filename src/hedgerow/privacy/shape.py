"""Which coordinates a statement needs, before anything is known about their noise.

Equal measures over the same rows are measured once. A SUM next to a count of the same rows is made
from that count and a centred sum. With Laplace noise a count and a sum of the same rows are
released as the pair (sum of y, sum of 1 - y), y in [0, 1], whose l1 norm is exactly one per row.
A count of some rows next to the count of all is released as those rows and the others, which costs one count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeVar

from hedgerow.aggregates import Kind, Need, Rank
from hedgerow.expressions.facts import may_be_nan, may_be_null
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

Item = TypeVar("Item")

Support = tuple[Expr | None, Expr | None]
"""The rows a measure reads: those where the value is not NULL and the filter holds."""

MOST_COORDINATES = 6
"""Of a joint release."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Moments that are released together: of one column, or of two; `squares` says whether two have theirs, too."""

    values: tuple[Expr, ...]
    support: Support
    squares: bool = True

    def covers(self, other: "Joint") -> bool:
        """Whether it holds all that `other` holds."""
        enough = self.squares or len(self.values) == 1 or not other.squares
        return self.support == other.support and set(other.values) <= set(self.values) and enough


@dataclass
class Shape:
    """The measures of a statement: counts by support, centred and plain sums, people.

    `reuse_selection` says that the count which selects keys is also the answer to COUNT(DISTINCT unit). `share` is one
    of the partitions: the rows where a condition holds and all others, which together are the count of all rows.
    """

    joints: list[Joint] = field(default_factory=list)
    counts: list[Support] = field(default_factory=list)
    centred: list[tuple[Expr, Support]] = field(default_factory=list)
    plain: list[tuple[Expr, Support]] = field(default_factory=list)
    ranks: list[tuple[Expr, Support, Rank]] = field(default_factory=list)
    distinct: list[tuple[Expr, Expr | None]] = field(default_factory=list)
    partitions: list[tuple[tuple[Expr, ...], Expr | None]] = field(default_factory=list)
    share: tuple[Expr, Expr] | None = None
    units: bool = False
    reuse_selection: bool = False

    @property
    def blocks(self) -> int:
        """How many measures share the budget, where a count and its sums are one each."""
        several = len(self.joints) + len(self.ranks) + len(self.partitions) + len(self.distinct)
        return several + len(self.counts) + len(self.centred) + len(self.plain) + self.units

    @property
    def cells(self) -> int:
        """At most how many coordinates there are."""
        return self.blocks + MOST_COORDINATES * len(self.joints) + sum(len(bins) for bins, _ in self.partitions)

    def has_count(self, support: Support) -> bool:
        """Whether the rows of `support` are counted, alone or as part of something."""
        return support in self.counts or any(joint.support == support for joint in self.joints)

    def has_sum(self, value: Expr, support: Support) -> bool:
        """Whether the values are summed as part of something."""
        return any(joint.support == support and value in joint.values for joint in self.joints)

    def joint_of(self, wanted: Joint) -> Joint:
        """The joint release that holds what is wanted."""
        return next(joint for joint in self.joints if joint.covers(wanted))


def joint_of(need: Need) -> Joint | None:
    """What `need` wants released together, if anything."""
    if need.kind not in {Kind.SPREAD, Kind.PAIR, Kind.PAIRS} or need.value is None:
        return None
    values = (need.value,) if need.other is None else tuple(dict.fromkeys((need.value, need.other)))
    return Joint(values, support_of(need), need.kind is not Kind.PAIR or len(values) == 1)


def support_of(need: Need) -> Support:
    """The rows that `need` reads; a value that cannot be missing does not narrow them."""
    if need.other is not None and need.value is not None and need.other != need.value:
        return None, _all_there((need.value, need.other), need.filter)
    value = need.value if need.value is not None and may_be_null(need.value) else None
    return value, need.filter


def shape(needs: Sequence[Need], *, one_row: bool, selects: bool, alone: Sequence[bool]) -> Shape:
    """Merge the needs of all aggregates.

    Args:
        needs: What each aggregate is made of.
        one_row: Whether each unit has one row, so that rows are people.
        selects: Whether people are counted for key selection anyway.
        alone: For each need, whether it is shown on its own, outside arithmetic with others.
    """
    made = Shape(joints=_joints(needs))
    for need in needs:
        support = support_of(need)
        mean = need.kind is Kind.MEAN and need.value is not None
        if (mean or (need.kind is Kind.ROWS and not (one_row and counts_people(need)))) and not made.has_count(support):
            made.counts.append(support)
        if need.kind is Kind.DISTINCT and need.value is not None:
            _once(made.distinct, (need.value, need.filter))
        if need.kind in {Kind.BIN, Kind.CELLS}:
            _once(made.partitions, (need.bins, need.filter))
        if need.kind is Kind.RANK and need.value is not None and need.rank is not None:
            _once(made.ranks, (need.value, support, need.rank))
            if need.rank.extreme and not made.has_count(support):
                made.counts.append(support)
        if mean and need.value is not None and not made.has_sum(need.value, support):
            _once(made.centred, (need.value, support))
    for need in needs:
        support = support_of(need)
        if need.kind is Kind.SUM and need.value is not None and not made.has_sum(need.value, support):
            _once(made.centred if made.has_count(support) else made.plain, (need.value, support))
    _people(made, needs, one_row=one_row, selects=selects, alone=alone)
    _share(made, one_row=one_row)
    return made


def _joints(needs: Sequence[Need]) -> list[Joint]:
    """Joint releases, the largest first, none of which is part of another."""
    wanted = [joint for joint in map(joint_of, needs) if joint is not None]
    made: list[Joint] = []
    for joint in sorted(wanted, key=lambda one: (not one.squares, -len(one.values))):
        if not any(other.covers(joint) for other in made):
            made.append(joint)
    return made


def _all_there(values: tuple[Expr, Expr], condition: Expr | None) -> Expr | None:
    """The filter under which both values are there."""
    parts = [] if condition is None else [condition]
    parts += [_there(value) for value in sorted(values, key=repr) if may_be_null(value)]
    return reduce(lambda left, right: Call("and", (left, right), Type.BOOLEAN), parts) if parts else None


def _there(value: Expr) -> Expr:
    if may_be_nan(value):
        return Call("is_there", (value,), Type.BOOLEAN)
    return Call("not", (Call("is_null", (value,), Type.BOOLEAN),), Type.BOOLEAN)


def counts_people(need: Need) -> bool:
    """Whether it counts all rows, which are people where each has one."""
    return need.kind is Kind.UNITS or (need.kind is Kind.ROWS and need.value is None and need.filter is None)


def _people(made: Shape, needs: Sequence[Need], *, one_row: bool, selects: bool, alone: Sequence[bool]) -> None:
    """Count people: with a count of all rows where rows are people, by the selection, or anew."""
    asked = [index for index, need in enumerate(needs) if need.kind is Kind.UNITS or (one_row and counts_people(need))]
    if not asked or (one_row and made.has_count((None, None))):
        return
    if selects and all(alone[index] for index in asked):
        made.reuse_selection = True
    else:
        made.units = True


def _share(made: Shape, *, one_row: bool) -> None:
    """Where some rows and all rows are all that is counted: a row is among the former or among the others.

    With more measures than these two, the count of all would be noisier as a sum than it is by itself.
    """
    some = [condition for value, condition in made.counts if value is None and condition is not None]
    whole = (None, None) in made.counts or (one_row and made.units)
    if len(some) == 1 and whole and made.blocks == 2:
        made.share = some[0], _not_true(some[0])
        made.partitions.append((made.share, None))
        made.counts, made.units = [], False


def _not_true(condition: Expr) -> Expr:
    """Whether a condition is false or unknown: true for exactly the rows that FILTER skips."""
    holds = Call("coalesce", (condition, Literal(False, Type.BOOLEAN)), Type.BOOLEAN)  # noqa: FBT003 - a value
    return Call("not", (holds,), Type.BOOLEAN)


def _once(items: list[Item], item: Item) -> None:
    if item not in items:
        items.append(item)
