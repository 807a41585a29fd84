"""Pairs of person and value, bounded for COUNT(DISTINCT x). The proofs are in docs/proofs/distinct.md."""

from collections.abc import Sequence

from hedgerow.compile.weights import hashed
from hedgerow.compiled import PLACE
from hedgerow.dialects import Dialect
from hedgerow.privacy.distinct import MOST_PAIRS, Distinct
from hedgerow.privacy.plan import PrivatePlan


def value_pairs(plan: PrivatePlan, counted: Distinct, dialect: Dialect, rows: str, nonce: str) -> list[str]:
    """The steps from `rows` (owner, value, place) to `chosen`: at most C places of an owner, and d values in each.

    Privacy: which places and values of an owner count depends on that owner's own rows alone.
    """
    pairs = f"pairs AS MATERIALIZED (SELECT DISTINCT o, {PLACE}, v FROM {rows} WHERE v IS NOT NULL)"
    if not plan.bounding.weighted:
        return [pairs, f"chosen AS (SELECT o, {PLACE}, v FROM pairs)"]
    most = MOST_PAIRS if counted.flow else counted.per_owner
    values = _first(most, ("o", PLACE), (hashed(nonce, ("o", PLACE, "v"), dialect), "v"))
    if not plan.bounding.grouped:
        return [pairs, f"chosen AS (SELECT o, {PLACE}, v FROM pairs QUALIFY {values})"]
    places = _first(counted.groups, ("o",), (hashed(nonce, ("o", PLACE), dialect), PLACE))
    return [
        pairs,
        f"places AS (SELECT o, {PLACE} FROM (SELECT DISTINCT o, {PLACE} FROM pairs) AS touched QUALIFY {places})",
        f"chosen AS (SELECT o, {PLACE}, v FROM pairs JOIN places USING (o, {PLACE}) QUALIFY {values})",
    ]


def _first(most: int, within: Sequence[str], order: Sequence[str]) -> str:
    return f"ROW_NUMBER() OVER (PARTITION BY {', '.join(within)} ORDER BY {', '.join(order)}) <= {most}"
