"""Weights and the choice of keys, in SQL. The proofs are in `privacy.bounding`."""

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


def owner_cap(plan: PrivatePlan, dialect: Dialect) -> str:
    """U from q, the sum over the owner's keys of a_g (l1) or of a_g squared (l2).

    The root is taken in floating point, which is off by less than one at 2^30; one is taken away where
    it came out too large, so that U^2 q <= T^2 4^b holds in integers.
    """
    one = 1 << plan.weight_bits
    if plan.mechanism == "laplace":
        most = plan.bounding.l1
        return f"CASE WHEN q <= {most} THEN {one} ELSE CAST({most * one} // q AS {dialect.whole}) END"
    most = plan.bounding.l2_squared
    squared = f"CAST('{most * one * one}' AS {dialect.huge})"
    root = f"CAST(floor(sqrt({dialect.real(float(most * one * one))} / q)) AS {dialect.whole})"
    exact = f"{root} - CAST(CAST({root} AS {dialect.huge}) * {root} * q > {squared} AS INTEGER)"
    return f"CASE WHEN q <= {most} THEN {one} ELSE {exact} END"


def owner_size(plan: PrivatePlan) -> str:
    """What an owner adds to q in one key."""
    rows = f"LEAST(n, {plan.bounding.rows_per_group})"
    return rows if plan.mechanism == "laplace" else f"{rows} * {rows}"


def bounded_keys(names: tuple[str, ...], groups: int, nonce: str, source: str, dialect: Dialect) -> str:
    """At most `groups` keys of each owner, chosen by a hash of (nonce, owner, key).

    Privacy: the choice depends on the owner's own keys alone, so that one unit changes at most
    `groups` counts by one each. Only owners with more keys than that are ranked.
    """
    fields = ", ".join(f"COALESCE(CAST({name} AS VARCHAR), '\\')" for name in ("o", *names))
    order = dialect.hashed.format(f"concat_ws('|', '{nonce}', {fields})")
    keys = ", ".join(names)
    counted = f"SELECT {keys}, o, COUNT(*) OVER (PARTITION BY o) AS touched FROM {source}"
    few = f"SELECT {keys} FROM owners WHERE touched <= {groups}"
    place = f"ROW_NUMBER() OVER (PARTITION BY o ORDER BY {order}, {keys}) AS place"
    ranked = f"SELECT {keys}, {place} FROM owners WHERE touched > {groups}"
    many = f"SELECT {keys} FROM ({ranked}) AS ranked WHERE place <= {groups}"
    return f"WITH owners AS MATERIALIZED ({counted}) {few} UNION ALL {many}"
