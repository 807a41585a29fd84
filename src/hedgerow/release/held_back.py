"""Reasons why a number is missing; they follow from the plan alone."""

from hedgerow.error_bars.intervals.interval import IntervalKind, Reason, Status
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan

NULL = Status(IntervalKind.NONE, Reason.NULL, "no value: the expression is NULL in this row")
UNTRACED = Status(
    IntervalKind.NONE,
    Reason.HELD_BACK_OR_NULL,
    "no value: it was held back, or the expression is NULL in this row",
)

MOSTLY = 1.25
"""Below this multiple of the minimum frequency, the noise adds little to the number of people that are needed."""


def fewest_people(plan: PrivatePlan) -> str | None:
    """The size below which groups are usually not shown, such as "about 470 people"; None where all are shown.

    A group is shown if it has at least `minimum` people and its noisy count reaches the threshold, which is larger.
    Both are public: they follow from the query, the catalog and the budget.
    """
    if plan.selection is None:
        return None
    return f"about {rounded(float(plan.selection.threshold))} people"


def rounded(people: float) -> str:
    """Format a number of people to two digits.

    Example:
        >>> rounded(981.4), rounded(12.6)
        ('980', '13')
    """
    return f"{float(f'{people:.2g}'):,.0f}"


def held_back(plan: PrivatePlan, *, total: bool = False) -> Status:
    """Status of a number that is missing because its group may be too small.

    A `total`, and a number of a table that is made of the groups by more keys, adds up several groups: many people may
    be behind it, but too few behind each of its groups.
    """
    behind = "each group that it adds up" if total or plan.made_of is not None else "it"
    note = f"held back: fewer than {fewest_people(plan)} may be behind {behind}"
    if plan.selection is None or float(plan.selection.threshold) < MOSTLY * plan.minimum:
        return Status(IntervalKind.NONE, Reason.HELD_BACK, f"{note}; min_frequency asks for {plan.minimum:,}")
    remedy = "a larger epsilon or a smaller max_groups" if plan.bounding.groups > 1 else "a larger epsilon"
    return Status(IntervalKind.NONE, Reason.HELD_BACK, f"{note}; {remedy} lowers that number", note)


def stands_in(held: Status) -> Status:
    """Return the status of a value that replaces a withheld one, such as the 0 of COALESCE(n, 0)."""
    note, for_readers = (text and f"{text}; the value shown stands in for it" for text in (held.note, held.for_readers))
    return Status(IntervalKind.NONE, Reason.STANDS_IN, note, for_readers)


def no_row(plan: PrivatePlan) -> Status:
    """Return the status of a number that would come from another row (LAG, an outer join) if there is none."""
    note = "no value: there is no such row"
    if plan.selection is not None and plan.keys.rule is KeyRule.SELECTED:
        note = f"{note}, or its group is not shown (fewer than {fewest_people(plan)})"
    return Status(IntervalKind.NONE, Reason.NO_ROW, note)
