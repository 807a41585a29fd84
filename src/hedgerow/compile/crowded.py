"""Sums of pairs of owner and key for the few owners who may exceed a limit, and of all other rows together.

For engines that shuffle rows to group them (`Dialect.crowds_first`). An owner with few rows is within every limit,
whatever the keys of its rows, so its rows have the full weight and need no pair of their own. A first step counts the
rows of each owner, which reads one column; the second step joins the owners with more rows, and aggregates like the
plain query. Where people are counted, the other owners of each key are counted apart. The integers are those of
`weights`.

Where the owners beyond a limit are a known fact (`facts`), they take the place of the first step.
"""

from math import isqrt

from hedgerow.compile.caps import Names, most_size, people, same
from hedgerow.compile.rows import RowForm, form_of, partial_sums, summed
from hedgerow.compile.windows import window_steps
from hedgerow.compiled import HEAVY, PEOPLE, UNITS
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
    """Return True if only the owners of many rows need pairs; it depends on plan and engine, never on the data.

    Without keys, the sums of each owner need no more than one shuffle. Joins are computed once, and a table is read
    again.

    Privacy: both steps must read the same rows, or an owner could have gained rows after the first; a backend sets
    `crowds_first` only where it can tell (`backends.spark`).
    """
    reads_table = plan.keys.rule is not KeyRule.ONE and isinstance(plan.release.source, Scan)
    if not dialect.crowds_first or not reads_table or form_of(plan, dialect) is not RowForm.GATHERED:
        return False
    return rows_within_limits(plan) >= MIN_ROWS


def joins_heavy(plan: PrivatePlan, dialect: Dialect) -> bool:
    """Return True if rows are read once and joined with the known owners beyond a limit."""
    return dialect.windows and form_of(plan, dialect) is RowForm.GATHERED


def crowded_steps(
    plan: PrivatePlan, dialect: Dialect, rows: str, names: Names, nonce: str | None, result: str
) -> list[Step]:
    """Return the steps from `rows` to `result` (see `weights.weighing`), which find the owners of many rows first."""
    owners = f"SELECT o FROM {rows}{dialect.group_by(['o'])}"
    crowded = f"{owners} HAVING {dialect.count()} > {rows_within_limits(plan)}"
    steps = _joined_with(CROWDED, plan, dialect, rows, names, nonce, result, counted=nonce is not None)
    return [Step(CROWDED, crowded, Computed.FIRST), *steps]


def heavy_steps(
    plan: PrivatePlan,
    dialect: Dialect,
    rows: str,
    names: Names,
    nonce: str | None,
    result: str,
    *,
    tested: bool,
    known_people: bool,
) -> list[Step]:
    """Return the same steps where the owners beyond a limit are known and, if so, the number of owners of each key."""
    return _joined_with(
        HEAVY, plan, dialect, rows, names, nonce, result, counted=tested, people_from=PEOPLE if known_people else None
    )


def _joined_with(
    special: str,
    plan: PrivatePlan,
    dialect: Dialect,
    rows: str,
    names: Names,
    nonce: str | None,
    result: str,
    *,
    counted: bool,
    people_from: str | None = None,
) -> list[Step]:
    """Return the steps from `rows` and the owners in `special` to `result`.

    In `parts`, the rows of all other owners are one pair for each key, which has no owner. It counts as zero rows, so
    it has the full weight.
    """
    keys = "".join(f"{name}, " for name in names)
    rows_of = f"CASE WHEN {special}.o IS NULL THEN 0 ELSE {dialect.count()} END AS n"
    joined = dialect.join(rows, "left", special, f"{rows}.o = {special}.o")
    parts = f"SELECT {keys}{special}.o AS o, {rows_of}{partial_sums(plan, dialect)} FROM {joined}"
    steps = [dialect.step("parts", f"{parts}{dialect.group_by([*names, f'{special}.o'])}", once=False)]
    if not counted and not people(plan):
        return [*steps, *window_steps(plan, dialect, names, nonce, result)]
    if people_from is None:
        touching = f"SELECT DISTINCT {keys}{rows}.o AS o FROM {joined} WHERE {special}.o IS NULL"
        others = (
            f"SELECT {keys}{dialect.count()} AS others FROM ({touching}) AS touching{dialect.group_by(list(names))}"
        )
    else:
        others = f"SELECT {keys}owners AS others FROM {people_from}"
    return [
        *steps,
        *window_steps(plan, dialect, names, nonce, WEIGHED, owned="o IS NOT NULL"),
        dialect.step("other_owners", others, once=False),
        dialect.step(
            result, _with_others(plan, dialect, names, nonce, all_counted=people_from is not None), once=False
        ),
    ]


def _with_others(plan: PrivatePlan, dialect: Dialect, names: Names, nonce: str | None, *, all_counted: bool) -> str:
    """Add the other owners, each of which counts in full in all of its keys.

    With `all_counted`, `others` counts all owners, and those of `weighed` are subtracted.
    """
    others = f"(COALESCE(others, 0){' - owners' if all_counted else ''})"
    listed = [*(f"{WEIGHED}.{name} AS {name}" for name in names), f"owners + {others} AS owners"]
    listed += [f"s{i} + CAST({others} AS {dialect.huge}) * {1 << plan.weight_bits} AS s{i}" for i in people(plan)]
    listed += [f"s{i}" for i, _ in summed(plan)]
    listed += [f"{UNITS} + {others} AS {UNITS}"] if nonce is not None else []
    kind, match = ("left", same(WEIGHED, "other_owners", names, dialect)) if names else ("cross", None)
    return f"SELECT {', '.join(listed)} FROM {dialect.join(WEIGHED, kind, 'other_owners', match)}"
