"""Sums of pairs of owner and key for the few owners who may exceed a limit, and of all other rows together.

For engines that shuffle rows to group them (`Dialect.crowds_first`). An owner with few rows is within every limit,
whatever the keys of its rows, so its rows have the full weight and need no pair of their own. A first step counts the
rows of each owner, which reads one column; the second step joins the owners with more rows, and aggregates like the
plain query. Where people are counted, the other owners of each key are counted apart. The integers are those of
`weights`.
"""

from math import isqrt

from hedgerow.compile.caps import Names, most_size, people, same
from hedgerow.compile.rows import RowForm, form_of, partial_sums, summed
from hedgerow.compile.windows import window_steps
from hedgerow.compiled import UNITS
from hedgerow.dialects import Dialect
from hedgerow.dialects.statement import Computed, Step
from hedgerow.plan.nodes import Scan
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan

CROWDED, WEIGHED = "crowded", "weighed"
MIN_ROWS = 4
"""Minimum number of rows within every limit: below it, most owners would be counted as possible exceptions."""


def rows_within_limits(plan: PrivatePlan) -> int:
    """Return the largest number of rows with which an owner is within every limit, whatever their keys.

    With N rows an owner is in at most N keys (and in no more than are declared), has at most N rows in each, and q
    (`caps.owner_size`) is at most N, or N^2 where sizes are squared.
    """
    bounding, declared = plan.bounding, len(plan.keys.domain)
    size = most_size(plan) if plan.l1_weights else isqrt(most_size(plan))
    within = min(bounding.rows_per_group, size)
    return (
        within if plan.keys.rule is KeyRule.DECLARED and declared <= bounding.groups else min(within, bounding.groups)
    )


def separates_crowded(plan: PrivatePlan, dialect: Dialect) -> bool:
    """Return whether only the owners of many rows need pairs; it depends on plan and engine, never on the data.

    Without keys, the sums of each owner need no more than one shuffle. Joins are computed once, and a table is read
    again.

    Privacy: both steps must read the same rows, or an owner could have gained rows after the first; a backend sets
    `crowds_first` only where it can tell (`backends.spark`).
    """
    reads_table = plan.keys.rule is not KeyRule.ONE and isinstance(plan.release.source, Scan)
    if not dialect.crowds_first or not reads_table or form_of(plan, dialect) is not RowForm.GATHERED:
        return False
    return rows_within_limits(plan) >= MIN_ROWS


def crowded_steps(
    plan: PrivatePlan, dialect: Dialect, rows: str, names: Names, nonce: str | None, result: str
) -> list[Step]:
    """Return the steps from `rows` to `result` (see `weights.weighing`).

    In `parts`, the rows of all other owners are one pair for each key, which has no owner. It counts as zero rows, so
    it has the full weight.
    """
    owners = f"SELECT o FROM {rows}{dialect.group_by(['o'])}"
    crowded = f"{owners} HAVING {dialect.count()} > {rows_within_limits(plan)}"
    keys = "".join(f"{name}, " for name in names)
    counted = f"CASE WHEN {CROWDED}.o IS NULL THEN 0 ELSE {dialect.count()} END AS n"
    joined = dialect.join(rows, "left", CROWDED, f"{rows}.o = {CROWDED}.o")
    parts = f"SELECT {keys}{CROWDED}.o AS o, {counted}{partial_sums(plan, dialect)} FROM {joined}"
    steps = [
        Step(CROWDED, crowded, Computed.FIRST),
        dialect.step("parts", f"{parts}{dialect.group_by([*names, f'{CROWDED}.o'])}", once=False),
    ]
    if nonce is None and plan.selection is None and not people(plan):
        return [*steps, *window_steps(plan, dialect, names, nonce, result)]
    touching = f"SELECT DISTINCT {keys}{rows}.o AS o FROM {joined} WHERE {CROWDED}.o IS NULL"
    others = f"SELECT {keys}{dialect.count()} AS others FROM ({touching}) AS touching{dialect.group_by(list(names))}"
    return [
        *steps,
        *window_steps(plan, dialect, names, nonce, WEIGHED, owned="o IS NOT NULL"),
        dialect.step("other_owners", others, once=False),
        dialect.step(result, _with_others(plan, dialect, names, nonce), once=False),
    ]


def _with_others(plan: PrivatePlan, dialect: Dialect, names: Names, nonce: str | None) -> str:
    """Add the other owners, each of which counts in full in all of its keys."""
    others, one = "COALESCE(others, 0)", 1 << plan.weight_bits
    listed = [*(f"{WEIGHED}.{name} AS {name}" for name in names), f"owners + {others} AS owners"]
    listed += [f"s{i} + CAST({others} AS {dialect.huge}) * {one} AS s{i}" for i in people(plan)]
    listed += [f"s{i}" for i, _ in summed(plan)]
    listed += [f"{UNITS} + {others} AS {UNITS}"] if nonce is not None else []
    joined = dialect.join(WEIGHED, "left", "other_owners", same(WEIGHED, "other_owners", names, dialect))
    return f"SELECT {', '.join(listed)} FROM {joined}"
