"""Which coordinates a statement needs, before anything is known about their noise.

Equal measures over the same rows are measured once. A SUM next to a count of the same rows is made
from that count and a centred sum. With Laplace noise a count and a sum of the same rows are
released as the pair (sum of y, sum of 1 - y), y in [0, 1], whose l1 norm is exactly one per row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hedgerow.aggregates import Kind, Need
from hedgerow.expressions.facts import may_be_null
from hedgerow.expressions.nodes import Expr

Item = TypeVar("Item")

Support = tuple[Expr | None, Expr | None]
"""The rows a measure reads: those where the value is not NULL and the filter holds."""


@dataclass
class Shape:
    """The measures of a statement: counts by support, centred and plain sums, people.

    `reuse_selection` says that the count which selects keys is also the answer to COUNT(DISTINCT unit).
    """

    counts: list[Support] = field(default_factory=list)
    centred: list[tuple[Expr, Support]] = field(default_factory=list)
    plain: list[tuple[Expr, Support]] = field(default_factory=list)
    units: bool = False
    reuse_selection: bool = False

    @property
    def blocks(self) -> int:
        """How many measures share the budget, where a count and its sums are one each."""
        return len(self.counts) + len(self.centred) + len(self.plain) + self.units


def support_of(need: Need) -> Support:
    """The rows that `need` reads; a value that cannot be missing does not narrow them."""
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
    made = Shape()
    for need in needs:
        if need.kind is Kind.MEAN and need.value is not None:
            _once(made.counts, support_of(need))
            _once(made.centred, (need.value, support_of(need)))
        elif need.kind is Kind.ROWS and not (one_row and counts_people(need)):
            _once(made.counts, support_of(need))
    for need in needs:
        if need.kind is Kind.SUM and need.value is not None:
            together = support_of(need) in made.counts
            _once(made.centred if together else made.plain, (need.value, support_of(need)))
    _people(made, needs, one_row=one_row, selects=selects, alone=alone)
    return made


def counts_people(need: Need) -> bool:
    """Whether it counts all rows, which are people where each has one."""
    return need.kind is Kind.UNITS or (need.kind is Kind.ROWS and need.value is None and need.filter is None)


def _people(made: Shape, needs: Sequence[Need], *, one_row: bool, selects: bool, alone: Sequence[bool]) -> None:
    """Count people: with a count of all rows where rows are people, by the selection, or anew."""
    asked = [index for index, need in enumerate(needs) if need.kind is Kind.UNITS or (one_row and counts_people(need))]
    if not asked or (one_row and (None, None) in made.counts):
        return
    if selects and all(alone[index] for index in asked):
        made.reuse_selection = True
    else:
        made.units = True


def _once(items: list[Item], item: Item) -> None:
    if item not in items:
        items.append(item)
