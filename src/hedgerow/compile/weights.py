"""Weighted sums and key selection, in SQL. The proofs are in `privacy.bounding`.

Most owners are within all limits and have the full weight 2^b. So the sums are first taken over unweighted rows, and
then the surplus of pairs (owner, key) below the full weight is subtracted: with W the weight of a pair and s its
partial sum, sum of W s = 2^b sum of s - sum over such pairs of (2^b - W) s. The integers are the same, and only the
number of rows is kept for each pair, or its sums, too, if rows are not read again (`rows.RowForm`).
"""

from hedgerow.compile.caps import (
    Names,
    by_hash,
    hashed,
    most_size,
    owner_cap,
    owner_size,
    pair_gap,
    people,
    same,
    together,
)
from hedgerow.compile.crowded import crowded_steps, separates_crowded
from hedgerow.compile.rows import RowForm, form_of, partial_sums, summed
from hedgerow.compile.scalars import present
from hedgerow.compile.windows import window_steps
from hedgerow.compiled import UNITS
from hedgerow.dialects import Dialect
from hedgerow.dialects.statement import Step
from hedgerow.expressions.nodes import Column
from hedgerow.plan.nodes import Scan
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import ExactSum

WEIGHTED = "weighted"


def weighing(
    plan: PrivatePlan, dialect: Dialect, rows: str, names: Names, nonce: str | None = None, *, result: str = WEIGHTED
) -> list[Step]:
    """Steps from `rows` to `result`: keys, the number of owners, and the exact sums over all keys of `rows`.

    With a nonce, the result also has the bounded number of owners, in which each owner counts in at most C keys.
    """
    form, one_key = form_of(plan, dialect), plan.release.one_key
    keys = "".join(f"{name}, " for name in names)
    paired = form is RowForm.GATHERED and bool(names) and not one_key
    source = dialect.by_owner(rows) if paired and not _is_bucketed(plan, dialect) else rows
    pairs = f"SELECT {keys}o, {_pair(plan, dialect, form)} FROM {source}{dialect.group_by([*names, 'o'])}"
    if separates_crowded(plan, dialect):
        return crowded_steps(plan, dialect, rows, names, nonce, result)
    if one_key and form is RowForm.EARLY:
        pairs = f"SELECT {keys}o, n{''.join(f', p{i}' for i, _ in summed(plan))} FROM {rows}"
    if (dialect.windows or one_key) and form is not RowForm.SINGLE:
        return [dialect.step("parts", pairs, once=False), *window_steps(plan, dialect, names, nonce, result)]
    once = bool(names) or _counts_people(plan) or form is not RowForm.SINGLE
    source = rows if form is RowForm.SINGLE else "parts"
    return [
        dialect.step("parts", pairs, once=once),
        *cap_steps(plan, dialect, names),
        *_counted(plan, dialect, names, nonce),
        *_sums(plan, dialect, source, names, result, bounded=nonce is not None),
    ]


def _is_bucketed(plan: PrivatePlan, dialect: Dialect) -> bool:
    """Return True if the engine stores the rows of an owner together."""
    scan, owner = plan.release.source, plan.release.owner
    return isinstance(scan, Scan) and isinstance(owner, Column) and dialect.bucketed.get(scan.table) == owner.name


def _pair(plan: PrivatePlan, dialect: Dialect, form: RowForm) -> str:
    """Columns kept for a pair of owner and key: its number of rows and, unless rows are read again, their sums."""
    if form is RowForm.SINGLE:
        return f"{dialect.count()} AS n"
    if form is RowForm.GATHERED:
        return f"{dialect.count()} AS n{partial_sums(plan, dialect)}"
    sums = "".join(f", {dialect.wide_total(f'p{i}')} AS p{i}" for i, _ in summed(plan))
    return f"CAST({dialect.total('n')} AS {dialect.whole}) AS n{sums}"


def cap_steps(plan: PrivatePlan, dialect: Dialect, names: Names) -> list[Step]:
    """Return the steps `heavy` (owners beyond a limit, with their cap U) and `light` (pairs below the full weight).

    An owner is beyond a limit in more than C keys, or with a vector longer than the cap. With a single key, only the
    number of rows can put it there.
    """
    one, maximum = 1 << plan.weight_bits, plan.bounding.rows_per_group
    if not names:
        gap = f"{pair_gap(plan, dialect, str(one))} AS gap"
        return [dialect.step("light", f"SELECT o, {gap} FROM parts WHERE n > {maximum}", once=True)]
    keys = "".join(f"parts.{name} AS {name}, " for name in names)
    gap = f"{pair_gap(plan, dialect, f'COALESCE(u, {one})')} AS gap"
    joined = "parts LEFT JOIN heavy ON parts.o = heavy.o"
    light = f"SELECT {keys}parts.o AS o, {gap} FROM {joined} WHERE n > {maximum} OR u < {one}"
    sized = f"SELECT o, {dialect.count()} AS touched, {dialect.total(owner_size(plan))} AS q FROM parts"
    heavy = f"SELECT o, touched, {owner_cap(plan, dialect)} AS u FROM sized"
    return [
        dialect.step("sized", f"{sized}{dialect.group_by(['o'])}", once=False),
        dialect.step("heavy", f"{heavy} WHERE touched > {plan.bounding.groups} OR q > {most_size(plan)}", once=True),
        dialect.step("light", light, once=True),
    ]


def _counted(plan: PrivatePlan, dialect: Dialect, names: Names, nonce: str | None) -> list[Step]:
    """Return the step `counted`: owners per key, and the weighted number of people if it is needed.

    An owner adds its cap U (of the proof) in each of its keys.
    """
    one = 1 << plan.weight_bits
    if not names and not _counts_people(plan):
        return [dialect.step("counted", "SELECT 0 AS owners", once=False)]
    listed = [f"parts.{name}" for name in names]
    keys = "".join(f"parts.{name} AS {name}, " for name in names)
    if not people(plan) or not names:
        weighted = "".join(f", CAST({dialect.count()} AS {dialect.huge}) * {one} AS s{i}" for i in people(plan))
        owners = f"SELECT {keys}{dialect.count()} AS owners{weighted} FROM parts"
    else:
        weighted = "".join(f", COALESCE({dialect.total(f'COALESCE(u, {one})')}, 0) AS s{i}" for i in people(plan))
        owners = f"SELECT {keys}{dialect.count()} AS owners{weighted} FROM parts LEFT JOIN heavy ON parts.o = heavy.o"
    counted = dialect.step("counted", f"{owners}{dialect.group_by(listed)}", once=False)
    return (
        [counted]
        if nonce is None
        else [counted, dialect.step("dropped", _dropped(plan, names, nonce, dialect), once=False)]
    )


def _dropped(plan: PrivatePlan, names: Names, nonce: str, dialect: Dialect) -> str:
    """Number of owners that do not count in a key because they chose C others, by a hash of (nonce, owner, key).

    Privacy: the choice depends on the owner's own keys alone, so one unit changes at most C counts by one each.
    """
    keys, maximum = ", ".join(names), plan.bounding.groups
    listed = ", ".join(f"parts.{name} AS {name}" for name in names)
    touching = f"SELECT parts.o AS o, {listed} FROM parts JOIN heavy ON parts.o = heavy.o WHERE touched > {maximum}"
    order = by_hash(hashed(nonce, {"o": plan.release.owner.type, **names}, dialect), names, dialect)
    place = f"ROW_NUMBER() OVER (PARTITION BY o ORDER BY {order}) AS place"
    ranked = f"SELECT {keys}, {place} FROM ({touching}) AS touching"
    chosen = f"FROM ({ranked}) AS ranked WHERE place > {maximum}"
    return f"SELECT {keys}, {dialect.count()} AS lost {chosen}{dialect.group_by(list(names))}"


def _counts_people(plan: PrivatePlan) -> bool:
    """Return True if the number of owners is needed, to test it or as a measure."""
    return plan.selection is not None or bool(people(plan))


def _sums(plan: PrivatePlan, dialect: Dialect, rows: str, names: Names, result: str, *, bounded: bool) -> list[Step]:
    """The steps `totals`, `surplus` and the result."""
    units = f", owners - COALESCE(lost, 0) AS {UNITS}" if bounded else ""
    listed = "".join(f"counted.{name} AS {name}, " for name in names)
    head = f"SELECT {listed}owners{units}{''.join(f', s{i}' for i in people(plan))}"
    joined = dialect.join("counted", *_on("counted", "dropped", names, dialect, kind="left")) if bounded else "counted"
    if not summed(plan):
        return [dialect.step(result, f"{head} FROM {joined}", once=False)]
    joined = dialect.join(joined, *_on("counted", "totals", names, dialect))
    joined = dialect.join(joined, *_on("counted", "surplus", names, dialect, kind="left"))
    one = 1 << plan.weight_bits
    results = "".join(
        f", {dialect.weighed(f'COALESCE(t{i}, 0)', one, f'COALESCE(m{i}, 0)')} AS s{i}" for i, _ in summed(plan)
    )
    return [
        *_both(plan, dialect, rows, names),
        dialect.step(result, f"{head}{results} FROM {joined}", once=False),
    ]


def _both(plan: PrivatePlan, dialect: Dialect, rows: str, names: Names) -> list[Step]:
    """Return the steps `totals`, over all rows, and `surplus`, the excess of pairs below the full weight."""
    gathered = rows == "parts"
    keys = "".join(f"{name}, " for name in names)
    named = "".join(f"{rows}.{name} AS {name}, " for name in names)
    totals = ", ".join(f"{_total(i, t, dialect, gathered=gathered)} AS t{i}" for i, t in summed(plan))
    surplus = ", ".join(f"{_surplus(i, t, dialect, gathered=gathered)} AS m{i}" for i, t in summed(plan))
    pairs = f"{rows} JOIN light ON {together(rows, 'light', names, dialect)}"
    qualified = dialect.group_by([f"{rows}.{name}" for name in names])
    return [
        dialect.step("totals", f"SELECT {keys}{totals} FROM {rows}{dialect.group_by(list(names))}", once=False),
        dialect.step("surplus", f"SELECT {named}{surplus} FROM {pairs}{qualified}", once=False),
    ]


def _on(left: str, right: str, names: Names, dialect: Dialect, kind: str = "inner") -> tuple[str, str, str | None]:
    """Return the join condition: on the keys, or none if both sides have one row."""
    return (kind, right, same(left, right, names, dialect)) if names else ("cross", right, None)


def _total(index: int, total: ExactSum, dialect: Dialect, *, gathered: bool) -> str:
    """Return a sum over unweighted rows, or over pairs whose sums are known."""
    if gathered:
        return f"CAST({dialect.wide_total(f'p{index}')} AS {dialect.huge})"
    if total.grid is not None:
        return f"CAST({dialect.total(f'x{index}')} AS {dialect.huge})"
    counted = "*" if present(total, dialect) is None else f"x{index}"
    return f"CAST({dialect.count(counted)} AS {dialect.huge})"


def _surplus(index: int, total: ExactSum, dialect: Dialect, *, gathered: bool) -> str:
    """Return the excess of rows of pairs below the full weight, in units of 2^-b."""
    if gathered:
        return dialect.product_total("gap", f"p{index}")
    if total.grid is not None:
        return dialect.product_total("gap", f"x{index}")
    return dialect.total("gap" if present(total, dialect) is None else f"CASE WHEN x{index} IS NOT NULL THEN gap END")
