"""Sums of pairs of owner and key for the few owners who may exceed a limit, and of all other rows together.

For engines that shuffle rows to group them (`Dialect.crowds_first`). An owner with few rows is within every limit,
whatever the keys of its rows, so its rows have the full weight and need no pair of their own. A first step counts the
rows of each owner, which reads one column; the second step joins the owners with more rows, and aggregates like the
plain query. The integers are those of `weights`.
"""

from math import isqrt

from hedgerow.compile.caps import Names, most_size, people
from hedgerow.compile.rows import RowForm, form_of, partial_sums
from hedgerow.dialects import Dialect
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan

CROWDED = "crowded"
MIN_ROWS = 4
"""Minimum number of rows within every limit: below it, most owners would be counted as possible exceptions."""


def rows_within_limits(plan: PrivatePlan) -> int:
    """Return the largest number of rows with which an owner is within every limit, whatever their keys.

    With N rows an owner is in at most N keys (and in no more than are declared), has at most N rows in each, and q
    (`caps.owner_size`) is at most N, or N^2 where sizes are squared. Without keys, only the rows are limited.
    """
    bounding, declared = plan.bounding, len(plan.keys.domain)
    if plan.keys.rule is KeyRule.ONE:
        return bounding.rows_per_group
    size = most_size(plan) if plan.l1_weights else isqrt(most_size(plan))
    within = min(bounding.rows_per_group, size)
    return within if plan.keys.rule is KeyRule.DECLARED and declared <= bounding.groups else min(within, bounding.groups)


def separates_crowded(plan: PrivatePlan, dialect: Dialect) -> bool:
    """Return whether only the owners of many rows need pairs; it depends on plan and engine, never on the data.

    Where people are counted, every pair is needed.
    """
    counts_people = plan.selection is not None or bool(people(plan))
    gathered = form_of(plan, dialect) is RowForm.GATHERED
    return dialect.crowds_first and gathered and not counts_people and rows_within_limits(plan) >= MIN_ROWS


def crowded_steps(plan: PrivatePlan, dialect: Dialect, rows: str, names: Names) -> list[str]:
    """Return the steps from `rows` to `parts`, in which the rows of all other owners are one pair for each key.

    That pair has no owner and counts as zero rows, so it has the full weight.
    """
    owners = f"SELECT o FROM {rows}{dialect.group_by(['o'])}"
    crowded = f"{owners} HAVING {dialect.count()} > {rows_within_limits(plan)}"
    keys = "".join(f"{name}, " for name in names)
    counted = f"CASE WHEN {CROWDED}.o IS NULL THEN 0 ELSE {dialect.count()} END AS n"
    joined = dialect.join(rows, "left", CROWDED, f"{rows}.o = {CROWDED}.o")
    parts = f"SELECT {keys}{CROWDED}.o AS o, {counted}{partial_sums(plan, dialect)} FROM {joined}"
    return [
        dialect.computed_step(CROWDED, crowded),
        dialect.step("parts", f"{parts}{dialect.group_by([*names, f'{CROWDED}.o'])}", once=False),
    ]
