"""Weighted sums and the choice of keys, in SQL. The proofs are in `privacy.bounding`.

Most owners are within all limits and have the full weight 2^b. So the sums are taken over rows as they
are, and what pairs of (owner, key) below the full weight have too much is taken away again: with
W the weight of a pair and s its partial sum, sum of W s = 2^b sum of s - sum over such pairs of (2^b - W) s. The
integers are the same, and only the number of rows is kept for each pair; or its sums, too, where rows are not read
again (`rows.Form`).
"""

from collections.abc import Mapping

from hedgerow.compile.rows import Form, form_of, partial_sums, summed
from hedgerow.compile.scalars import present
from hedgerow.compiled import BUCKET, PLACE, WEIGHT
from hedgerow.dialects import Dialect
from hedgerow.expressions.types import Type
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import ExactSum, SumKind

Names = Mapping[str, Type]
"""Columns by name, with the type of each."""


def weighing(plan: PrivatePlan, dialect: Dialect, rows: str, names: Names) -> list[str]:
    """The steps from `rows` to `weighted`: keys, the number of owners, and the exact sums over all keys of `rows`."""
    form = form_of(plan, dialect)
    keys = "".join(f"{name}, " for name in names)
    pairs = f"SELECT {keys}o, {_pair(plan, dialect, form)} FROM {rows}{dialect.group_by([*names, 'o'])}"
    once = bool(names) or _counts_people(plan) or form is not Form.SINGLE
    source = rows if form is Form.SINGLE else "parts"
    return [
        dialect.step("parts", pairs, once=once),
        *_caps(plan, dialect, names),
        *_counted(plan, dialect, names),
        *_sums(plan, dialect, source, names),
    ]


def _pair(plan: PrivatePlan, dialect: Dialect, form: Form) -> str:
    """What is kept for a pair of owner and key: how many rows, and, unless the rows are read again, their sums."""
    if form is Form.SINGLE:
        return f"{dialect.count()} AS n"
    if form is Form.GATHERED:
        return f"{dialect.count()} AS n{partial_sums(plan, dialect)}"
    sums = "".join(f", {dialect.wide_total(f'p{i}')} AS p{i}" for i, _ in summed(plan))
    return f"CAST({dialect.total('n')} AS {dialect.whole}) AS n{sums}"


def bucket_weights(plan: PrivatePlan, dialect: Dialect, rows: str) -> list[str]:
    """The steps from `rows` (owner, bucket, place) to `bucketed`: the weight of each bucket of each place.

    The weights are those of all rows of a pair of owner and place, whatever their buckets.
    """
    there = f"FROM {rows} WHERE {BUCKET} IS NOT NULL{dialect.group_by([PLACE, BUCKET])}"
    if not plan.bounding.weighted:
        return [
            dialect.step("bucketed", f"SELECT {PLACE}, {BUCKET}, {dialect.count()} AS {WEIGHT} {there}", once=False)
        ]
    counts = f"SELECT {PLACE}, {BUCKET}, CAST({dialect.count()} AS {dialect.huge}) AS t {there}"
    one = 1 << plan.weight_bits
    names: Names = {PLACE: Type.INTEGER} if plan.bounding.grouped else {}
    keys = "".join(f"{name}, " for name in names)
    parts = f"SELECT {keys}o, {dialect.count()} AS n FROM {rows}{dialect.group_by([*names, 'o'])}"
    pairs = f"{rows} JOIN light ON {together(rows, 'light', names, dialect)}"
    lost = f"SELECT {rows}.{PLACE} AS {PLACE}, {BUCKET}, {dialect.total('gap')} AS m"
    lost += f" FROM {pairs} WHERE {BUCKET} IS NOT NULL"
    left = f"{dialect.weighed('t', one, 'COALESCE(m, 0)')} AS {WEIGHT}"
    joined = f"whole LEFT JOIN surplus ON whole.{PLACE} = surplus.{PLACE} AND whole.{BUCKET} = surplus.{BUCKET}"
    return [
        dialect.step("parts", parts, once=True),
        *_caps(plan, dialect, names),
        dialect.step("whole", counts, once=False),
        dialect.step("surplus", f"{lost}{dialect.group_by([f'{rows}.{PLACE}', BUCKET])}", once=False),
        dialect.step(
            "bucketed", f"SELECT whole.{PLACE} AS {PLACE}, whole.{BUCKET} AS {BUCKET}, {left} FROM {joined}", once=False
        ),
    ]


def _caps(plan: PrivatePlan, dialect: Dialect, names: Names) -> list[str]:
    """The steps `heavy` (owners beyond a limit, with their cap) and `light` (pairs below the full weight).

    With one key for everybody no owner is beyond a limit but by its rows there.
    """
    one, most = 1 << plan.weight_bits, plan.bounding.rows_per_group
    counted = least("n", most)
    if not names:
        gap = f"{one} - {dialect.floor_divide(f'{one} * ({counted})', 'n')} AS gap"
        return [dialect.step("light", f"SELECT o, {gap} FROM parts WHERE n > {most}", once=True)]
    keys = "".join(f"parts.{name} AS {name}, " for name in names)
    gap = f"{one} - {dialect.floor_divide(f'COALESCE(u, {one}) * ({counted})', 'n')} AS gap"
    joined = "parts LEFT JOIN heavy ON parts.o = heavy.o"
    light = f"SELECT {keys}parts.o AS o, {gap} FROM {joined} WHERE n > {most} OR u < {one}"
    sized = f"SELECT o, {dialect.count()} AS touched, {dialect.total(_owner_size(plan))} AS q FROM parts"
    return [
        dialect.step("sized", f"{sized}{dialect.group_by(['o'])}", once=False),
        dialect.step("heavy", _heavy_owners(plan, dialect), once=True),
        dialect.step("light", light, once=True),
    ]


def _counted(plan: PrivatePlan, dialect: Dialect, names: Names) -> list[str]:
    """The step `counted`: owners per key, and the weighted number of people where it is asked for.

    An owner adds its cap U (of the proof) in each of its keys.
    """
    one = 1 << plan.weight_bits
    people = [i for i, total in enumerate(plan.sums) if total.kind is SumKind.UNITS]
    if not names and not _counts_people(plan):
        return [dialect.step("counted", "SELECT 0 AS owners", once=False)]
    listed = [f"parts.{name}" for name in names]
    keys = "".join(f"parts.{name} AS {name}, " for name in names)
    if not people or not names:
        weighted = "".join(f", CAST({dialect.count()} AS {dialect.huge}) * {one} AS s{i}" for i in people)
        owners = f"SELECT {keys}{dialect.count()} AS owners{weighted} FROM parts"
    else:
        weighted = "".join(f", COALESCE({dialect.total(f'COALESCE(u, {one})')}, 0) AS s{i}" for i in people)
        owners = f"SELECT {keys}{dialect.count()} AS owners{weighted} FROM parts LEFT JOIN heavy ON parts.o = heavy.o"
    return [dialect.step("counted", f"{owners}{dialect.group_by(listed)}", once=False)]


def dropped_keys(plan: PrivatePlan, names: Names, nonce: str, dialect: Dialect) -> str:
    """How many owners do not count in a key, because they chose C others, by a hash of (nonce, owner, key).

    Privacy: the choice depends on the owner's own keys alone, so that one unit changes at most
    C counts by one each.
    """
    keys, most = ", ".join(names), plan.bounding.groups
    listed = ", ".join(f"parts.{name} AS {name}" for name in names)
    touching = f"SELECT parts.o AS o, {listed} FROM parts JOIN heavy ON parts.o = heavy.o WHERE touched > {most}"
    order = hashed(nonce, {"o": plan.release.owner.type, **names}, dialect)
    place = f"ROW_NUMBER() OVER (PARTITION BY o ORDER BY {order}, {keys}) AS place"
    ranked = f"SELECT {keys}, {place} FROM ({touching}) AS touching"
    chosen = f"FROM ({ranked}) AS ranked WHERE place > {most}"
    return f"SELECT {keys}, {dialect.count()} AS lost {chosen}{dialect.group_by(list(names))}"


def hashed(nonce: str, names: Names, dialect: Dialect) -> str:
    """A hash of columns under a nonce, over the one text that each value has on every engine."""
    missing = dialect.string("~")
    fields = [f"COALESCE({dialect.canonical(name, kind)}, {missing})" for name, kind in names.items()]
    return dialect.hashed([dialect.string(nonce), *fields])


def same(left: str, right: str, names: Names, dialect: Dialect) -> str:
    """Equality of keys, in which NULL equals NULL."""
    return " AND ".join(dialect.same(f"{left}.{name}", f"{right}.{name}", kind) for name, kind in names.items())


def together(left: str, right: str, names: Names, dialect: Dialect) -> str:
    """Equality of owners (nobody is NULL) and of keys."""
    owners = f"{left}.o = {right}.o"
    return f"{owners} AND {same(left, right, names, dialect)}" if names else owners


def least(text: str, most: int) -> str:
    """A whole number, held at `most`."""
    return f"CASE WHEN {text} < {most} THEN {text} ELSE {most} END"


def _counts_people(plan: PrivatePlan) -> bool:
    """Whether the number of owners is needed: to test it, or as a measure."""
    return plan.selection is not None or any(total.kind is SumKind.UNITS for total in plan.sums)


def _sums(plan: PrivatePlan, dialect: Dialect, rows: str, names: Names) -> list[str]:
    """The steps `totals`, `surplus` and `weighted`."""
    one = 1 << plan.weight_bits
    people = [f", s{i}" for i, total in enumerate(plan.sums) if total.kind is SumKind.UNITS]
    listed = ", ".join(f"counted.{name} AS {name}" for name in names)
    head = f"SELECT {listed}{', ' if listed else ''}owners{''.join(people)}"
    if not summed(plan):
        return [dialect.step("weighted", f"{head} FROM counted", once=False)]
    keys = "".join(f"{name}, " for name in names)
    qualified = [f"{rows}.{name}" for name in names]
    named = "".join(f"{rows}.{name} AS {name}, " for name in names)
    gathered = rows == "parts"
    totals = ", ".join(f"{_total(i, t, dialect, gathered=gathered)} AS t{i}" for i, t in summed(plan))
    surplus = ", ".join(f"{_surplus(i, t, dialect, gathered=gathered)} AS m{i}" for i, t in summed(plan))
    results = "".join(
        f", {dialect.weighed(f'COALESCE(t{i}, 0)', one, f'COALESCE(m{i}, 0)')} AS s{i}" for i, _ in summed(plan)
    )
    pairs = f"{rows} JOIN light ON {together(rows, 'light', names, dialect)}"
    joined = dialect.join("counted", *_on("counted", "totals", names, dialect))
    joined = dialect.join(joined, *_on("counted", "surplus", names, dialect, kind="left"))
    return [
        dialect.step("totals", f"SELECT {keys}{totals} FROM {rows}{dialect.group_by(list(names))}", once=False),
        dialect.step("surplus", f"SELECT {named}{surplus} FROM {pairs}{dialect.group_by(qualified)}", once=False),
        dialect.step("weighted", f"{head}{results} FROM {joined}", once=False),
    ]


def _on(left: str, right: str, names: Names, dialect: Dialect, kind: str = "inner") -> tuple[str, str, str | None]:
    """How `right` is joined: on the keys, or, one row to one row, on nothing."""
    return (kind, right, same(left, right, names, dialect)) if names else ("cross", right, None)


def _total(index: int, total: ExactSum, dialect: Dialect, *, gathered: bool) -> str:
    """A sum over rows as they are, or over pairs whose sums are known."""
    if gathered:
        return f"CAST({dialect.wide_total(f'p{index}')} AS {dialect.huge})"
    if total.grid is not None:
        return f"CAST({dialect.total(f'x{index}')} AS {dialect.huge})"
    counted = "*" if present(total, dialect) is None else f"x{index}"
    return f"CAST({dialect.count(counted)} AS {dialect.huge})"


def _surplus(index: int, total: ExactSum, dialect: Dialect, *, gathered: bool) -> str:
    """What rows of pairs below the full weight have too much, in units of 2^-b."""
    if gathered:
        return dialect.product_total("gap", f"p{index}")
    if total.grid is not None:
        return dialect.product_total("gap", f"x{index}")
    return dialect.total("gap" if present(total, dialect) is None else f"CASE WHEN x{index} IS NOT NULL THEN gap END")


def _owner_size(plan: PrivatePlan) -> str:
    """What an owner adds to q in one key: a_g (l1), or its square (l2)."""
    rows = least("n", plan.bounding.rows_per_group)
    return rows if plan.mechanism == "laplace" else f"({rows}) * ({rows})"


def _heavy_owners(plan: PrivatePlan, dialect: Dialect) -> str:
    """Owners beyond a limit: in more than C keys, or with a vector longer than the cap; with their U."""
    most = plan.bounding.l1 if plan.mechanism == "laplace" else plan.bounding.l2_squared
    beyond = f"touched > {plan.bounding.groups} OR q > {most}"
    return f"SELECT o, touched, {_owner_cap(plan, dialect, most)} AS u FROM sized WHERE {beyond}"


def _owner_cap(plan: PrivatePlan, dialect: Dialect, most: int) -> str:
    """U from q, the sum over the owner's keys of `_owner_size`: U^2 q <= T^2 4^b, or U q <= A 2^b, in integers."""
    one = 1 << plan.weight_bits
    if plan.mechanism == "laplace":
        return f"CASE WHEN q <= {most} THEN {one} ELSE {dialect.floor_divide(str(most * one), 'q')} END"
    return f"CASE WHEN q <= {most} THEN {one} ELSE {dialect.root(most * one * one, 'q')} END"
