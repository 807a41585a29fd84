"""The sums of a statement, before anything is known about their noise: which rows are counted, which values added."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

from hedgerow.aggregates import Kind, NeededSums, Rank, lookup
from hedgerow.errors import InternalError
from hedgerow.expressions.facts import may_be_nan, may_be_null
from hedgerow.expressions.nodes import Call, Expr
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Release

Support = tuple[Expr | None, Expr | None]
"""The rows a measure reads: those where the value is not NULL and the filter holds."""

MOST_JOINT_SUMS = 6
"""Of a joint release."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Moments that are released together: of one column, or of two; `squares` says whether two have theirs, too."""

    values: tuple[Expr, ...]
    support: Support
    squares: bool = True

    def covers(self, other: "Joint") -> bool:
        """Return whether it holds all that `other` holds."""
        enough = self.squares or len(self.values) == 1 or not other.squares
        return self.support == other.support and set(other.values) <= set(self.values) and enough


@dataclass
class StatementSums:
    """The measures of a statement: counts by support, centred and plain sums, people.

    `one_row` says that each unit has one row, so that rows are people; `reuse_selection`, that the count which selects
    keys is also the answer to COUNT(DISTINCT unit). `share` is one of the partitions: the rows where a condition holds
    and all others, which together are the count of all rows.
    """

    joints: list[Joint] = field(default_factory=list)
    counts: list[Support] = field(default_factory=list)
    centred: list[tuple[Expr, Support]] = field(default_factory=list)
    plain: list[tuple[Expr, Support]] = field(default_factory=list)
    ranks: list[tuple[Expr, Support, Rank]] = field(default_factory=list)
    distinct: list[tuple[Expr, Expr | None]] = field(default_factory=list)
    partitions: list[tuple[tuple[Expr, ...], Expr | None]] = field(default_factory=list)
    share: tuple[Expr, Expr] | None = None
    one_row: bool = False
    units: bool = False
    reuse_selection: bool = False

    @property
    def blocks(self) -> int:
        """How many measures share the budget, where a count and its sums are one each."""
        several = len(self.joints) + len(self.ranks) + len(self.partitions) + len(self.distinct)
        return several + len(self.counts) + len(self.centred) + len(self.plain) + self.units

    @property
    def cells(self) -> int:
        """At most how many noisy sums there are."""
        return self.blocks + MOST_JOINT_SUMS * len(self.joints) + sum(len(bins) for bins, _ in self.partitions)

    def count(self, support: Support) -> None:
        """Count the rows of `support`, once."""
        if not self.has_count(support):
            self.counts.append(support)

    def has_count(self, support: Support) -> bool:
        """Return whether the rows of `support` are counted, alone or as part of something."""
        return support in self.counts or any(joint.support == support for joint in self.joints)

    def has_sum(self, value: Expr, support: Support) -> bool:
        """Return whether the values are summed as part of something."""
        return any(joint.support == support and value in joint.values for joint in self.joints)

    def joint_of(self, wanted: Joint) -> Joint:
        """The joint release that holds what is wanted."""
        return next(joint for joint in self.joints if joint.covers(wanted))


def joint_of(need: NeededSums) -> Joint | None:
    """Sums that `need` wants released together, if any."""
    if not need.kind.value.joint or need.value is None:
        return None
    values = (need.value,) if need.other is None else tuple(dict.fromkeys((need.value, need.other)))
    return Joint(values, support_of(need), need.kind is not Kind.PAIR or len(values) == 1)


def support_of(need: NeededSums) -> Support:
    """The rows that `need` reads; a value that cannot be missing does not narrow them."""
    if need.other is not None and need.value is not None and need.other != need.value:
        return None, _all_not_null((need.value, need.other), need.filter)
    value = need.value if need.value is not None and may_be_null(need.value) else None
    return value, need.filter


def joints_of(needs: Sequence[NeededSums]) -> list[Joint]:
    """Joint releases, the largest first, none of which is part of another."""
    wanted = [joint for joint in map(joint_of, needs) if joint is not None]
    made: list[Joint] = []
    for joint in sorted(wanted, key=lambda one: (not one.squares, -len(one.values))):
        if not any(other.covers(joint) for other in made):
            made.append(joint)
    return made


def _all_not_null(values: tuple[Expr, Expr], condition: Expr | None) -> Expr | None:
    """The filter under which neither value is NULL."""
    parts = [] if condition is None else [condition]
    parts += [_not_null(value) for value in sorted(values, key=repr) if may_be_null(value)]
    return reduce(lambda left, right: Call("and", (left, right), Type.BOOLEAN), parts) if parts else None


def _not_null(value: Expr) -> Expr:
    if may_be_nan(value):
        return Call("is_there", (value,), Type.BOOLEAN)
    return Call("not", (Call("is_null", (value,), Type.BOOLEAN),), Type.BOOLEAN)


def needed_sums(release: Release) -> list[NeededSums]:
    """One need for each aggregate, in order."""
    needs = []
    for call in release.calls:
        known = lookup(call.function)
        if known is None:
            raise InternalError(f"{call.function} was bound but is not an aggregate.")
        needs.append(known.sums(call.arguments, where=call.filter, distinct=call.distinct))
    return needs
