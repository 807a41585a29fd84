"""Why a number is missing, in words that follow from the plan alone."""

from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan

HELD_BACK = "held back"
NO_VALUE = "no value"
"""How notes about a missing number begin."""

NULL = f"{NO_VALUE}: the expression is NULL in this row"
UNTRACED = f"{NO_VALUE}: it was held back, or the expression is NULL in this row"
STANDS_IN = "the value shown stands in for it"

MOSTLY = 1.25
"""Below this multiple of the minimum frequency, the noise adds little to the number of people that are needed."""


def fewest_people(plan: PrivatePlan) -> str | None:
    """The size below which groups are usually not shown, such as "about 470 people"; None where all are shown.

    A group is shown if it has at least `minimum` people and its noisy count reaches the threshold, which is larger.
    Both are public: they follow from the query, the catalog and the budget.
    """
    if plan.selection is None:
        return None
    return f"about {float(f'{float(plan.selection.threshold):.2g}'):,.0f} people"


def held_back(plan: PrivatePlan) -> str:
    """The note of a number that is missing because its group may be too small."""
    return f"{HELD_BACK}: fewer than {fewest_people(plan)} may be behind it; {_remedy(plan)}"


def no_row(plan: PrivatePlan) -> str:
    """The note of a number that would come from another row (LAG, an outer join) where there is none."""
    missing = f"{NO_VALUE}: there is no such row"
    if plan.selection is None or plan.keys.rule is not KeyRule.SELECTED:
        return missing
    return f"{missing}, or its group is not shown (fewer than {fewest_people(plan)})"


def is_held_back(note: str | None) -> bool:
    """Whether the note says that a number is missing because its group may be too small."""
    return note is not None and note.startswith(HELD_BACK)


def is_absent(note: str | None) -> bool:
    """Whether the note says that there is no number."""
    return note is not None and note.startswith((HELD_BACK, NO_VALUE))


def _remedy(plan: PrivatePlan) -> str:
    """What makes the number smaller: the noise, unless the minimum frequency is most of it."""
    if plan.selection is None or float(plan.selection.threshold) < MOSTLY * plan.minimum:
        return f"min_frequency asks for {plan.minimum:,}"
    if plan.bounding.groups > 1:
        return "a larger epsilon or a smaller max_groups lowers that number"
    return "a larger epsilon lowers that number"
