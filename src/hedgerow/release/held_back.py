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


def held_back(plan: PrivatePlan) -> Status:
    """Status of a number that is missing because its group may be too small."""
    note = f"held back: fewer than {fewest_people(plan)} may be behind it; {_remedy(plan)}"
    return Status(IntervalKind.NONE, Reason.HELD_BACK, note)


def stands_in(held: Status) -> Status:
    """Return the status of a value that replaces a withheld one, such as the 0 of COALESCE(n, 0)."""
    return Status(IntervalKind.NONE, Reason.STANDS_IN, f"{held.note}; the value shown stands in for it")


def no_row(plan: PrivatePlan) -> Status:
    """Return the status of a number that would come from another row (LAG, an outer join) if there is none."""
    note = "no value: there is no such row"
    if plan.selection is not None and plan.keys.rule is KeyRule.SELECTED:
        note = f"{note}, or its group is not shown (fewer than {fewest_people(plan)})"
    return Status(IntervalKind.NONE, Reason.NO_ROW, note)


def _remedy(plan: PrivatePlan) -> str:
    """Return advice that lowers the number: less noise, unless the minimum frequency is most of it."""
    if plan.selection is None or float(plan.selection.threshold) < MOSTLY * plan.minimum:
        return f"min_frequency asks for {plan.minimum:,}"
    if plan.bounding.groups > 1:
        return "a larger epsilon or a smaller max_groups lowers that number"
    return "a larger epsilon lowers that number"
