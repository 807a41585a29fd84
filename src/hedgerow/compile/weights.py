"""Weighted sums and the choice of keys, in SQL. The proofs are in `privacy.bounding`.

Most owners are within all limits and have the full weight 2^b. So the sums are taken over rows as they
are, and what pairs of (owner, key) below the full weight have too much is taken away again: with
W the weight of a pair and s its partial sum, sum of W s = 2^b sum of s - sum over such pairs of (2^b - W) s. The
integers are the same, and only the number of rows is kept for each pair.
"""

from collections.abc import Sequence

from hedgerow.compile.scalars import present, term
from hedgerow.compiled import BUCKET, PLACE, WEIGHT
from hedgerow.dialects import Dialect
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import ExactSum, SumKind

Names = tuple[str, ...]


def row_terms(plan: PrivatePlan, dialect: Dialect) -> list[str]:
    """What each row adds to each exact sum, as columns `x0`, `x1`, …; NULL where it does not count."""
    texts = []
    for i, total in enumerate(plan.sums):
        condition = present(total, dialect)
        if total.grid is not None:
            value = term(total, dialect)
            texts.append(f"{value if condition is None else f'CASE WHEN {condition} THEN {value} END'} AS x{i}")
        elif condition is not None:
            texts.append(f"CASE WHEN {condition} THEN 1 END AS x{i}")
    return texts


def weighing(plan: PrivatePlan, dialect: Dialect, rows: str, names: Names) -> list[str]:
    """The steps from `rows` to `weighted`: keys, the number of owners, and the exact sums over all keys of `rows`."""
    keys = "".join(f"{name}, " for name in names)
    kept = "" if not names and not _counts_people(plan) else "MATERIALIZED "
    parts = f"parts AS {kept}(SELECT {keys}o, COUNT(*) AS n FROM {rows}{grouped(len(names) + 1)})"
    return [parts, *_caps(plan, dialect, names), *_counted(plan, dialect, names), *_sums(plan, dialect, rows, names)]


def bucket_weights(plan: PrivatePlan, dialect: Dialect, rows: str) -> list[str]:
    """The steps from `rows` (owner, bucket, place) to `bucketed`: the weight of each bucket of each place.

    The weights are those of all rows of a pair of owner and place, whatever their buckets.
    """
    there = f"FROM {rows} WHERE {BUCKET} IS NOT NULL GROUP BY 1, 2"
    if not plan.bounding.weighted:
        return [f"bucketed AS (SELECT {PLACE}, {BUCKET}, COUNT(*) AS {WEIGHT} {there})"]
    counts = f"SELECT {PLACE}, {BUCKET}, CAST(COUNT(*) AS {dialect.huge}) AS t {there}"
    one = 1 << plan.weight_bits
    names: Names = () if not plan.bounding.grouped else (PLACE,)
    keys = "".join(f"{name}, " for name in names)
    parts = f"parts AS MATERIALIZED (SELECT {keys}o, COUNT(*) AS n FROM {rows}{grouped(len(names) + 1)})"
    pairs = f"{rows} JOIN light ON {rows}.o = light.o AND {same(rows, 'light', names)}"
    lost = f"SELECT {rows}.{PLACE}, {BUCKET}, SUM(CAST(gap AS {dialect.huge})) AS m FROM {pairs}"
    left = f"t * {one} - COALESCE(m, 0) AS {WEIGHT}"
    joined = f"whole LEFT JOIN surplus ON {same('whole', 'surplus', (PLACE, BUCKET))}"
    return [
        parts,
        *_caps(plan, dialect, names),
        f"whole AS ({counts})",
        f"surplus AS ({lost} WHERE {BUCKET} IS NOT NULL GROUP BY 1, 2)",
        f"bucketed AS (SELECT whole.{PLACE}, whole.{BUCKET}, {left} FROM {joined})",
    ]


def _caps(plan: PrivatePlan, dialect: Dialect, names: Names) -> list[str]:
    """The steps `heavy` (owners beyond a limit, with their cap) and `light` (pairs below the full weight).

    With one key for everybody no owner is beyond a limit but by its rows there.
    """
    keys = "".join(f"{name}, " for name in names)
    one, most = 1 << plan.weight_bits, plan.bounding.rows_per_group
    if not names:
        gap = f"{one} - {one} * LEAST(n, {most}) // n AS gap"
        return [f"light AS MATERIALIZED (SELECT o, {gap} FROM parts WHERE n > {most})"]
    gap = f"{one} - COALESCE(u, {one}) * LEAST(n, {most}) // n AS gap"
    light = f"SELECT {keys}o, {gap} FROM parts LEFT JOIN heavy USING (o) WHERE n > {most} OR u < {one}"
    return [
        f"sized AS (SELECT o, COUNT(*) AS touched, SUM({_owner_size(plan)}) AS q FROM parts GROUP BY o)",
        f"heavy AS MATERIALIZED ({_heavy_owners(plan, dialect)})",
        f"light AS MATERIALIZED ({light})",
    ]


def _counted(plan: PrivatePlan, dialect: Dialect, names: Names) -> list[str]:
    """The step `counted`: owners per key, and the weighted number of people where it is asked for.

    An owner adds its cap U (of the proof) in each of its keys.
    """
    keys = "".join(f"{name}, " for name in names)
    one = 1 << plan.weight_bits
    people = [i for i, total in enumerate(plan.sums) if total.kind is SumKind.UNITS]
    if not names and not _counts_people(plan):
        return ["counted AS (SELECT 0 AS owners)"]
    if not people or not names:
        weighted = "".join(f", CAST(COUNT(*) AS {dialect.huge}) * {one} AS s{i}" for i in people)
        return [f"counted AS (SELECT {keys}COUNT(*) AS owners{weighted} FROM parts{grouped(len(names))})"]
    weighted = "".join(f", COALESCE(SUM(CAST(COALESCE(u, {one}) AS {dialect.huge})), 0) AS s{i}" for i in people)
    owners = f"SELECT {keys}COUNT(*) AS owners{weighted} FROM parts LEFT JOIN heavy USING (o)"
    return [f"counted AS ({owners}{grouped(len(names))})"]


def dropped_keys(plan: PrivatePlan, names: Names, nonce: str, dialect: Dialect) -> str:
    """How many owners do not count in a key, because they chose C others, by a hash of (nonce, owner, key).

    Privacy: the choice depends on the owner's own keys alone, so that one unit changes at most
    C counts by one each.
    """
    keys = ", ".join(names)
    order = hashed(nonce, ("o", *names), dialect)
    place = f"ROW_NUMBER() OVER (PARTITION BY o ORDER BY {order}, {keys}) AS place"
    ranked = f"SELECT {keys}, {place} FROM parts JOIN heavy USING (o) WHERE touched > {plan.bounding.groups}"
    chosen = f"FROM ({ranked}) AS ranked WHERE place > {plan.bounding.groups}"
    return f"SELECT {keys}, COUNT(*) AS lost {chosen}{grouped(len(names))}"


def hashed(nonce: str, names: Sequence[str], dialect: Dialect) -> str:
    """A hash of columns under a nonce. Each is read byte by byte: engines do not join texts of different collations."""
    texts = (dialect.binary_text.format(f"CAST({name} AS VARCHAR)") for name in names)
    fields = ", ".join(f"COALESCE({text}, '\\')" for text in texts)
    return dialect.hashed.format(f"concat_ws('|', '{nonce}', {fields})")


def grouped(count: int) -> str:
    """GROUP BY the first `count` columns."""
    return f" GROUP BY {', '.join(str(i + 1) for i in range(count))}" if count else ""


def same(left: str, right: str, names: Names) -> str:
    """Equality of keys, in which NULL equals NULL."""
    return " AND ".join(f"{left}.{name} IS NOT DISTINCT FROM {right}.{name}" for name in names) or "TRUE"


def _counts_people(plan: PrivatePlan) -> bool:
    """Whether the number of owners is needed: to test it, or as a measure."""
    return plan.selection is not None or any(total.kind is SumKind.UNITS for total in plan.sums)


def _sums(plan: PrivatePlan, dialect: Dialect, rows: str, names: Names) -> list[str]:
    """The steps `totals`, `surplus` and `weighted`."""
    one = 1 << plan.weight_bits
    summed = [(i, total) for i, total in enumerate(plan.sums) if total.kind is not SumKind.UNITS]
    people = [f", s{i}" for i, total in enumerate(plan.sums) if total.kind is SumKind.UNITS]
    listed = ", ".join(f"counted.{name}" for name in names)
    head = f"SELECT {listed}{', ' if listed else ''}owners{''.join(people)}"
    if not summed:
        return [f"weighted AS ({head} FROM counted)"]
    keys = "".join(f"{name}, " for name in names)
    qualified = "".join(f"{rows}.{name}, " for name in names)
    totals = ", ".join(f"{_total(i, t, dialect)} AS t{i}" for i, t in summed)
    surplus = ", ".join(f"{_surplus(i, t, dialect)} AS m{i}" for i, t in summed)
    results = "".join(f", COALESCE(t{i}, 0) * {one} - COALESCE(m{i}, 0) AS s{i}" for i, _ in summed)
    pairs = f"{rows} JOIN light ON {rows}.o = light.o AND {same(rows, 'light', names)}"
    joined = f"counted JOIN totals ON {same('counted', 'totals', names)}"
    return [
        f"totals AS (SELECT {keys}{totals} FROM {rows}{grouped(len(names))})",
        f"surplus AS (SELECT {qualified}{surplus} FROM {pairs}{grouped(len(names))})",
        f"weighted AS ({head}{results} FROM {joined} LEFT JOIN surplus ON {same('counted', 'surplus', names)})",
    ]


def _total(index: int, total: ExactSum, dialect: Dialect) -> str:
    """A sum over rows as they are."""
    if total.grid is not None:
        return f"CAST(SUM(x{index}) AS {dialect.huge})"
    counted = "*" if present(total, dialect) is None else f"x{index}"
    return f"CAST(COUNT({counted}) AS {dialect.huge})"


def _surplus(index: int, total: ExactSum, dialect: Dialect) -> str:
    """What rows of pairs below the full weight have too much, in units of 2^-b."""
    if total.grid is not None:
        return f"SUM(CAST(gap AS {dialect.huge}) * x{index})"
    counts = "gap" if present(total, dialect) is None else f"CASE WHEN x{index} IS NOT NULL THEN gap END"
    return f"SUM(CAST({counts} AS {dialect.huge}))"


def _owner_size(plan: PrivatePlan) -> str:
    """What an owner adds to q in one key: a_g (l1), or its square (l2)."""
    rows = f"LEAST(n, {plan.bounding.rows_per_group})"
    return rows if plan.mechanism == "laplace" else f"{rows} * {rows}"


def _heavy_owners(plan: PrivatePlan, dialect: Dialect) -> str:
    """Owners beyond a limit: in more than C keys, or with a vector longer than the cap; with their U."""
    most = plan.bounding.l1 if plan.mechanism == "laplace" else plan.bounding.l2_squared
    beyond = f"touched > {plan.bounding.groups} OR q > {most}"
    return f"SELECT o, touched, {_owner_cap(plan, dialect, most)} AS u FROM sized WHERE {beyond}"


def _owner_cap(plan: PrivatePlan, dialect: Dialect, most: int) -> str:
    """U from q, the sum over the owner's keys of `_owner_size`.

    The root is taken in floating point, which is off by less than one at 2^30; one is taken away where
    it came out too large, so that U^2 q <= T^2 4^b holds in integers.
    """
    one = 1 << plan.weight_bits
    if plan.mechanism == "laplace":
        return f"CASE WHEN q <= {most} THEN {one} ELSE CAST({most * one} // q AS {dialect.whole}) END"
    squared = f"CAST('{most * one * one}' AS {dialect.huge})"
    root = f"CAST(floor(sqrt({dialect.real(float(most * one * one))} / q)) AS {dialect.whole})"
    exact = f"{root} - CAST(CAST({root} AS {dialect.huge}) * {root} * q > {squared} AS INTEGER)"
    return f"CASE WHEN q <= {most} THEN {one} ELSE {exact} END"
