"""The table of the kinds of sums: the sums that each kind needs, and its numbers as forms of the noisy sums.

Equal sums over the same rows are measured once. A SUM next to a count of the same rows is computed from that
count and a centred sum. A count of some rows next to the count of all rows is released as two disjoint counts, which
cost as much as one. A new kind is a member of `aggregates.Kind` and a row of `KINDS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hedgerow.aggregates import Kind, NeededSums
from hedgerow.errors import InternalError
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.privacy.assemble import Assembly, combine
from hedgerow.privacy.joint import moment_forms
from hedgerow.privacy.plan import SumForms
from hedgerow.privacy.statement_sums import StatementSums, Support, arms_of, joint_of, joints_of, support_of

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class KindRules:
    """Rules of one kind: the sums it needs, and its numbers once the noisy sums are known.

    Attributes:
        want: Adds the sums that the kind needs to the statement.
        forms: Returns the aggregate's numbers as linear forms of the noisy sums.
        after_counts: Whether `want` depends on the counts of other aggregates and must run after them.
    """

    want: Callable[[StatementSums, NeededSums], None]
    forms: Callable[[Assembly, NeededSums], SumForms]
    after_counts: bool = False


def merge_needs(
    needs: Sequence[NeededSums],
    *,
    one_row: bool,
    selects: bool,
    alone: Sequence[bool],
    beside: Sequence[NeededSums] = (),
) -> StatementSums:
    """Merge the needs of all aggregates.

    Args:
        needs: The sums that each aggregate needs.
        one_row: Whether each unit has one row, so that rows are people.
        selects: Whether people are counted for key selection anyway.
        alone: For each need, whether it is shown on its own, not in arithmetic with others.
        beside: Needs of other tables about the same rows: a number that several tables show is made of the same sums in
            all of them, so that they can add up.
    """
    sums = StatementSums(joints=joints_of(needs), one_row=one_row)
    for need in needs:
        if not KINDS[need.kind].after_counts:
            KINDS[need.kind].want(sums, need)
    _count_as_others_do(sums, needs, beside, selects=selects)
    for need in needs:
        if KINDS[need.kind].after_counts:
            KINDS[need.kind].want(sums, need)
    _count_people(sums, needs, selects=selects, alone=alone)
    if not beside:
        _count_the_others(sums)
    return sums


def sum_forms(assembly: Assembly, needs: Sequence[NeededSums]) -> tuple[SumForms, ...]:
    """Return the numbers of each need as linear forms of the noisy sums."""
    return tuple(KINDS[need.kind].forms(assembly, need) for need in needs)


def _nothing(_sums: StatementSums, _need: NeededSums) -> None:
    """Add nothing: people and joint moments are added for all needs at once."""


def _want_rows(sums: StatementSums, need: NeededSums) -> None:
    if not (sums.one_row and _counts_people(need)):
        sums.count(support_of(need))


def _want_mean(sums: StatementSums, need: NeededSums) -> None:
    value, support = _value(need), support_of(need)
    sums.count(support)
    if not sums.has_sum(value, support):
        _add(sums.centred, (value, support))


def _want_sum(sums: StatementSums, need: NeededSums) -> None:
    value, support = _value(need), support_of(need)
    if not sums.has_sum(value, support):
        _add(sums.centred if sums.has_count(support) else sums.plain, (value, support))


def _want_rank(sums: StatementSums, need: NeededSums) -> None:
    if need.rank is None:
        raise InternalError("A rank needs a quantile.")
    _add(sums.ranks, (_value(need), support_of(need), need.rank))
    if need.rank.extreme:
        sums.count(support_of(need))


def _want_bins(sums: StatementSums, need: NeededSums) -> None:
    _add(sums.partitions, (need.bins, need.filter))


def _want_arms(sums: StatementSums, need: NeededSums) -> None:
    _add(sums.arms, arms_of(need))


def _want_distinct(sums: StatementSums, need: NeededSums) -> None:
    _add(sums.distinct, (_value(need), need.filter))


def _people_forms(assembly: Assembly, _need: NeededSums) -> SumForms:
    terms = (assembly.counts.get((None, None)) if assembly.wanted.one_row else None) or assembly.units
    return SumForms(count=terms, from_selection=not terms)


def _rows_forms(assembly: Assembly, need: NeededSums) -> SumForms:
    if assembly.wanted.one_row and _counts_people(need):
        return _people_forms(assembly, need)
    return SumForms(count=assembly.counts[support_of(need)])


def _value_forms(assembly: Assembly, need: NeededSums) -> SumForms:
    key: tuple[Expr, Support] = _value(need), support_of(need)
    if key in assembly.plain:
        return SumForms(total=assembly.plain[key])
    terms, grid = assembly.centred[key]
    half = grid.reach * grid.step
    count = assembly.counts[key[1]]
    bounds = range_of(key[0])
    ends = (float(bounds.lower), float(bounds.upper)) if key in assembly.around_means else ()
    return SumForms(count, combine((count, grid.offset), (terms, half)), terms, grid.offset, half, ends=ends)


def _moments_forms(assembly: Assembly, need: NeededSums) -> SumForms:
    joint = joint_of(need)
    if joint is None:
        raise InternalError("Moments need a value.")
    return moment_forms(need, assembly.joints[assembly.wanted.joint_of(joint)])


def _rank_forms(assembly: Assembly, need: NeededSums) -> SumForms:
    if need.rank is None:
        raise InternalError("A rank needs a quantile.")
    support = support_of(need)
    draw = assembly.wanted.ranks.index((_value(need), support, need.rank))
    return SumForms(count=assembly.counts.get(support, ()), draw=draw)


def _bin_forms(assembly: Assembly, need: NeededSums) -> SumForms:
    return SumForms(count=((assembly.bins[need.bins, need.filter] + need.bin, 1.0),))


def _cells_forms(assembly: Assembly, need: NeededSums) -> SumForms:
    first = assembly.bins[need.bins, need.filter]
    return SumForms(cells=tuple(((first + i, 1.0),) for i in range(len(need.bins))))


def _arms_forms(assembly: Assembly, need: NeededSums) -> SumForms:
    arms = assembly.arms[arms_of(need)]
    (grid,) = arms[0].grids
    moments = tuple(tuple(arm.terms.items()) for arm in arms)
    return SumForms(middle=grid.offset, half=grid.reach * grid.step, arms=moments)


def _distinct_forms(assembly: Assembly, need: NeededSums) -> SumForms:
    levels = assembly.distinct_levels[assembly.wanted.distinct.index((_value(need), need.filter))]
    return SumForms(distinct=levels[0], distinct_levels=levels)


KINDS = {
    Kind.UNITS: KindRules(_nothing, _people_forms),
    Kind.ROWS: KindRules(_want_rows, _rows_forms),
    Kind.SUM: KindRules(_want_sum, _value_forms, after_counts=True),
    Kind.MEAN: KindRules(_want_mean, _value_forms),
    Kind.SPREAD: KindRules(_nothing, _moments_forms),
    Kind.PAIR: KindRules(_nothing, _moments_forms),
    Kind.PAIRS: KindRules(_nothing, _moments_forms),
    Kind.RANK: KindRules(_want_rank, _rank_forms),
    Kind.BIN: KindRules(_want_bins, _bin_forms),
    Kind.CELLS: KindRules(_want_bins, _cells_forms),
    Kind.ARMS: KindRules(_want_arms, _arms_forms),
    Kind.DISTINCT: KindRules(_want_distinct, _distinct_forms),
}
"""The only place that distinguishes kinds."""


def _value(need: NeededSums) -> Expr:
    if need.value is None:
        raise InternalError("A sum of values needs a value.")
    return need.value


def _counts_people(need: NeededSums) -> bool:
    """Return True if the need counts all rows; these are people where each person has one row."""
    return need.kind is Kind.UNITS or (need.kind is Kind.ROWS and need.value is None and need.filter is None)


def _count_as_others_do(
    sums: StatementSums, needs: Sequence[NeededSums], beside: Sequence[NeededSums], *, selects: bool
) -> None:
    """Count rows that another table counts, where a sum or a count of people is made of their number there."""
    others = StatementSums(one_row=sums.one_row)
    for need in beside:
        if need.kind in {Kind.ROWS, Kind.MEAN}:
            KINDS[need.kind].want(others, need)
    for need in needs:
        if need.kind is Kind.SUM and others.has_count(support_of(need)):
            sums.count(support_of(need))
        if sums.one_row and _counts_people(need) and not selects and others.has_count((None, None)):
            sums.count((None, None))


def _count_people(sums: StatementSums, needs: Sequence[NeededSums], *, selects: bool, alone: Sequence[bool]) -> None:
    """Count people: by the count of all rows where rows are people, by the selection, or with a count of their own."""
    counting = [
        index for index, need in enumerate(needs) if need.kind is Kind.UNITS or (sums.one_row and _counts_people(need))
    ]
    if not counting or (sums.one_row and sums.has_count((None, None))):
        return
    if selects and all(alone[index] for index in counting):
        sums.reuse_selection = True
    else:
        sums.units = True


def _count_the_others(sums: StatementSums) -> None:
    """Replace a count of some rows and a count of all rows by two disjoint counts: those rows, and the other rows.

    With more measures than these two, the count of all rows would be noisier as a sum than on its own.
    """
    some = [condition for value, condition in sums.counts if value is None and condition is not None]
    whole = (None, None) in sums.counts or (sums.one_row and sums.units)
    if len(some) == 1 and whole and sums.blocks == 2:
        sums.share = some[0], not_true(some[0])
        sums.partitions.append((sums.share, None))
        sums.counts, sums.units = [], False


def not_true(condition: Expr) -> Expr:
    """Return a condition that is true for exactly the rows that FILTER skips: where `condition` is false or unknown."""
    holds = Call("coalesce", (condition, Literal(False, Type.BOOLEAN)), Type.BOOLEAN)  # noqa: FBT003 - a value
    return Call("not", (holds,), Type.BOOLEAN)


def _add(items: list[Item], item: Item) -> None:
    if item not in items:
        items.append(item)
