"""Weights and the choice of keys, in SQL. The proofs are in `privacy.bounding`.

Most owners are within all limits and have the full weight, so only the *heavy* ones are computed.
"""

from hedgerow.compiled import PARTS
from hedgerow.dialects import Dialect
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import SumKind


def weighted_sums(plan: PrivatePlan, dialect: Dialect, *, weight: str, cap: str) -> list[str]:
    """The exact sums over owners, each partial sum times the owner's weight in the key.

    People add the owner's `cap` (U of the proof), rows and values the `weight` (W_g = floor(U a_g / n_g)).
    """
    texts = []
    for i, total in enumerate(plan.sums):
        term = cap if total.kind is SumKind.UNITS else f"CAST({weight} AS {dialect.huge}) * s{i}"
        texts.append(f"COALESCE(SUM({term}), 0) AS s{i}")
    return texts


def owner_size(plan: PrivatePlan) -> str:
    """What an owner adds to q in one key: a_g (l1), or its square (l2)."""
    rows = f"LEAST(n, {plan.bounding.rows_per_group})"
    return rows if plan.mechanism == "laplace" else f"{rows} * {rows}"


def heavy_owners(plan: PrivatePlan, dialect: Dialect, sized: str) -> str:
    """Owners beyond a limit: in more than C keys, or with a vector longer than the cap; with their U."""
    most = plan.bounding.l1 if plan.mechanism == "laplace" else plan.bounding.l2_squared
    beyond = f"touched > {plan.bounding.groups} OR q > {most}"
    return f"SELECT o, touched, {_owner_cap(plan, dialect, most)} AS u FROM {sized} WHERE {beyond}"


def dropped_keys(plan: PrivatePlan, names: tuple[str, ...], nonce: str, dialect: Dialect) -> str:
    """How many owners do not count in a key, because they chose C others, by a hash of (nonce, owner, key).

    Privacy: the choice depends on the owner's own keys alone, so that one unit changes at most
    C counts by one each.
    """
    keys = ", ".join(names)
    fields = ", ".join(f"COALESCE(CAST({name} AS VARCHAR), '\\')" for name in ("o", *names))
    order = dialect.hashed.format(f"concat_ws('|', '{nonce}', {fields})")
    place = f"ROW_NUMBER() OVER (PARTITION BY o ORDER BY {order}, {keys}) AS place"
    ranked = f"SELECT {keys}, {place} FROM {PARTS} JOIN heavy USING (o) WHERE touched > {plan.bounding.groups}"
    groups = ", ".join(str(i + 1) for i in range(len(names)))
    return (
        f"SELECT {keys}, COUNT(*) AS lost FROM ({ranked}) AS ranked "
        f"WHERE place > {plan.bounding.groups} GROUP BY {groups}"
    )


def _owner_cap(plan: PrivatePlan, dialect: Dialect, most: int) -> str:
    """U from q, the sum over the owner's keys of `owner_size`.

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
