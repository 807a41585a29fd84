"""The sums of a statement, before their noise is known: the rows to count and the values to add."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from hedgerow.aggregates import Kind, NeededSums, Rank, lookup
from hedgerow.errors import InternalError
from hedgerow.expressions.facts import may_be_nan, may_be_null, range_of
from hedgerow.expressions.nodes import Call, Expr
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Release
from hedgerow.privacy.distinct import MAX_LEVELS
from hedgerow.statistics.quantiles import MAX_LIMIT_CELLS

Support = tuple[Expr | None, Expr | None]
"""The rows a measure reads: those where the value is not NULL and the filter holds."""

MAX_JOINT_SUMS = 6
"""Maximum number of noisy sums of a joint release."""


COUNT_WEIGHT = 0.25
"""Share of a count beside sums around known means, where each of these has one."""

ASSUMED_DISTANCE = 0.1
"""Distance of a mean from its centre that is planned for, as a part of the largest that there can be."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Moments of one or two columns that are released together.

    `squares` says whether the squares of two columns are included.
    """

    values: tuple[Expr, ...]
    support: Support
    squares: bool = True

    def covers(self, other: "Joint") -> bool:
        """Return True if it includes every moment of `other`."""
        enough = self.squares or len(self.values) == 1 or not other.squares
        return self.support == other.support and set(other.values) <= set(self.values) and enough


@dataclass(frozen=True, slots=True)
class Arms:
    """Moments of one column in disjoint parts of the rows, released together."""

    parts: tuple[Joint, ...]


@dataclass
class StatementSums:
    """The measures of a statement: counts by support, centred and plain sums, people.

    `one_row` says that each unit has one row, so that rows are people. `reuse_selection` says that the count that
    selects keys also answers COUNT(DISTINCT unit). `share` is one of the partitions: the rows where a condition holds
    and all other rows, whose counts add up to the count of all rows. `centres` are known means that values are summed
    around, and `light_counts` the counts beside them, which get `COUNT_WEIGHT` of a sum's share (`use_known_means`).
    """

    joints: list[Joint] = field(default_factory=list)
    counts: list[Support] = field(default_factory=list)
    centred: list[tuple[Expr, Support]] = field(default_factory=list)
    plain: list[tuple[Expr, Support]] = field(default_factory=list)
    ranks: list[tuple[Expr, Support, Rank]] = field(default_factory=list)
    distinct: list[tuple[Expr, Expr | None]] = field(default_factory=list)
    arms: list[Arms] = field(default_factory=list)
    partitions: list[tuple[tuple[Expr, ...], Expr | None]] = field(default_factory=list)
    share: tuple[Expr, Expr] | None = None
    one_row: bool = False
    units: bool = False
    reuse_selection: bool = False
    centres: dict[tuple[Expr, Support], float] = field(default_factory=dict)
    light_counts: list[Support] = field(default_factory=list)

    @property
    def blocks(self) -> int:
        """Number of measures that share the budget; a count and each of its sums are one measure each."""
        several = len(self.joints) + len(self.arms) + len(self.ranks) + len(self.partitions) + len(self.distinct)
        return several + len(self.counts) + len(self.centred) + len(self.plain) + self.units

    @property
    def cells(self) -> int:
        """Upper bound on the number of noisy sums."""
        several = MAX_JOINT_SUMS * (len(self.joints) + len(self.arms)) + MAX_LIMIT_CELLS * len(self.ranks)
        several += MAX_LEVELS * len(self.distinct)
        return self.blocks + several + sum(len(bins) for bins, _ in self.partitions)

    def count(self, support: Support) -> None:
        """Count the rows of `support`, once."""
        if not self.has_count(support):
            self.counts.append(support)

    def has_count(self, support: Support) -> bool:
        """Return True if the rows of `support` are counted, alone or in a joint release."""
        return support in self.counts or any(joint.support == support for joint in self.joints)

    def has_sum(self, value: Expr, support: Support) -> bool:
        """Return True if the values are summed in a joint release."""
        return any(joint.support == support and value in joint.values for joint in self.joints)

    def joint_of(self, wanted: Joint) -> Joint:
        """Return the joint release that covers `wanted`."""
        return next(joint for joint in self.joints if joint.covers(wanted))


def joint_of(need: NeededSums) -> Joint | None:
    """Return the joint release that `need` requires, if any."""
    if not need.kind.value.joint or need.value is None:
        return None
    values = (need.value,) if need.other is None else tuple(dict.fromkeys((need.value, need.other)))
    return Joint(values, support_of(need), need.kind is not Kind.PAIR or len(values) == 1)


def arms_of(need: NeededSums) -> Arms:
    """Return the joint releases of a column in each arm: the rows of the need that are in the arm."""
    if need.value is None:
        raise InternalError("The arms of a comparison need a value.")
    value, condition = support_of(need)
    filters = [arm if condition is None else Call("and", (condition, arm), Type.BOOLEAN) for arm in need.bins]
    return Arms(tuple(Joint((need.value,), (value, arm)) for arm in filters))


def support_of(need: NeededSums) -> Support:
    """Return the rows that `need` reads; a value that cannot be NULL does not restrict them."""
    if need.other is not None and need.value is not None and need.other != need.value:
        return None, _all_not_null((need.value, need.other), need.filter)
    value = need.value if need.value is not None and may_be_null(need.value) else None
    return value, need.filter


def joints_of(needs: Sequence[NeededSums]) -> list[Joint]:
    """Return the joint releases, the largest first, none of which is part of another."""
    wanted = [joint for joint in map(joint_of, needs) if joint is not None]
    joints: list[Joint] = []
    for joint in sorted(wanted, key=lambda one: (not one.squares, -len(one.values))):
        if not any(other.covers(joint) for other in joints):
            joints.append(joint)
    return joints


def _all_not_null(values: tuple[Expr, Expr], condition: Expr | None) -> Expr | None:
    """Return the filter under which neither value is NULL."""
    parts = [] if condition is None else [condition]
    parts += [_not_null(value) for value in sorted(values, key=repr) if may_be_null(value)]
    return reduce(lambda left, right: Call("and", (left, right), Type.BOOLEAN), parts) if parts else None


def _not_null(value: Expr) -> Expr:
    if may_be_nan(value):
        return Call("is_there", (value,), Type.BOOLEAN)
    return Call("not", (Call("is_null", (value,), Type.BOOLEAN),), Type.BOOLEAN)


def needed_sums(release: Release) -> list[NeededSums]:
    """Return the sums that each aggregate needs, in order."""
    needs = []
    for call in release.calls:
        known = lookup(call.function)
        if known is None:
            raise InternalError(f"{call.function} was bound but is not an aggregate.")
        needs.append(known.sums(call.arguments, where=call.filter, distinct=call.distinct))
    return needs


def use_known_means(sums: StatementSums, needs: Sequence[NeededSums], means: Mapping[NeededSums, float]) -> None:
    """Centre the sums of a statement of averages at known means, count by count where all its averages gain.

    AVG is m + h S / N: N counts the rows, S is the sum of (x - m) / h, and h is the largest distance of a value from
    the centre m. With noise of variance v / s on S and v / c on N (s and c are shares of the budget), its mean square
    error is (h / N)^2 v (1 / s + a^2 / c), where a = (mean - m) / h. Around the middle of the range nothing is known
    about a, and s and c are equal. Around a mean that is known, a is near zero and the count hardly matters: it gets
    `COUNT_WEIGHT` of what a sum gets. The price is a larger h: half of the range times 1 + |d|, where d is the distance
    of m from the middle, in halves of the range. So a mean is used where (1 + |d|)^2 (1 + a^2 / w) (k + w) < (1 + d^2)
    (k + 1), for k averages over one count of weight w, with a = `ASSUMED_DISTANCE`: within about a third of the middle.

    Privacy: the centre is a released number, or a function of one, so it is public, like every choice that rests on it.
    One row moves S and N by at most one each, wherever the centre lies, and each is charged for the noise that it gets.
    """
    if not means or any(need.kind is not Kind.MEAN for need in needs):
        return
    for support in sums.counts:
        centres = {
            (need.value, support): means[need]
            for need in needs
            if need.value is not None and support_of(need) == support and need in means
        }
        averaged = [key for key in sums.centred if key[1] == support]
        if all(key in centres and _gains(key[0], centres[key], len(averaged)) for key in averaged):
            sums.centres |= {key: centres[key] for key in averaged}
            sums.light_counts.append(support)


def needs_means(needs: Sequence[NeededSums]) -> bool:
    """Return True if a statement could use known means: it asks for averages alone."""
    return bool(needs) and all(need.kind is Kind.MEAN for need in needs)


def _gains(value: Expr, mean: float, averaged: int) -> bool:
    """Return True if the predicted mean square error around a known mean is the smaller one."""
    lower, upper = float(range_of(value).lower), float(range_of(value).upper)
    if not lower < upper:
        return False
    distance = abs(mean - (lower + upper) / 2) / ((upper - lower) / 2)
    around_mean = (1 + distance) ** 2 * (1 + ASSUMED_DISTANCE**2 / COUNT_WEIGHT) * (averaged + COUNT_WEIGHT)
    return around_mean < (1 + distance**2) * (averaged + 1)
