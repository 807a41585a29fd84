"""Pairs of person and value, bounded for COUNT(DISTINCT x). The proofs are in docs/proofs/distinct.md."""

from collections.abc import Sequence

from hedgerow.compile.caps import by_hash, hashed
from hedgerow.compiled import KEY_INDEX
from hedgerow.dialects import Dialect
from hedgerow.expressions.types import Type
from hedgerow.privacy.distinct import MOST_PAIRS, Distinct
from hedgerow.privacy.plan import PrivatePlan


def value_pairs(plan: PrivatePlan, counted: Distinct, dialect: Dialect, rows: str, nonce: str) -> list[str]:
    """Steps from `rows` (owner, value, key index) to `chosen`: at most C keys of an owner, and d values in each.

    Privacy: the keys and values of an owner that count depend on that owner's own rows alone.
    """
    kinds = {"o": plan.release.owner.type, KEY_INDEX: Type.INTEGER, "v": counted.value.type}
    pairs = dialect.step("pairs", f"SELECT DISTINCT o, {KEY_INDEX}, v FROM {rows} WHERE v IS NOT NULL", once=True)
    if not plan.bounding.weighted:
        return [pairs, dialect.step("chosen", f"SELECT o, {KEY_INDEX}, v FROM pairs", once=False)]
    maximum = MOST_PAIRS if counted.flow else counted.per_owner
    order = by_hash(hashed(nonce, kinds, dialect), ["v"], dialect)
    if not plan.bounding.grouped:
        return [
            pairs,
            dialect.step("chosen", _first(maximum, "pairs", tuple(kinds), ("o", KEY_INDEX), order), once=False),
        ]
    touched = f"(SELECT DISTINCT o, {KEY_INDEX} FROM pairs) AS touched"
    where = by_hash(hashed(nonce, {"o": kinds["o"], KEY_INDEX: Type.INTEGER}, dialect), [KEY_INDEX], dialect)
    placed_pairs = f"pairs JOIN places ON pairs.o = places.o AND pairs.{KEY_INDEX} = places.{KEY_INDEX}"
    within = f"(SELECT pairs.o AS o, pairs.{KEY_INDEX} AS {KEY_INDEX}, v FROM {placed_pairs}) AS inside"
    return [
        pairs,
        dialect.step("places", _first(counted.groups, touched, ("o", KEY_INDEX), ("o",), where), once=False),
        dialect.step("chosen", _first(maximum, within, tuple(kinds), ("o", KEY_INDEX), order), once=False),
    ]


def _first(maximum: int, rows: str, names: Sequence[str], within: Sequence[str], order: str) -> str:
    """Return the first rows, in an order, of those that agree on `within`."""
    listed = ", ".join(names)
    turn = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(within)} ORDER BY {order}) AS turn"
    return f"SELECT {listed} FROM (SELECT {listed}, {turn} FROM {rows}) AS turns WHERE turn <= {maximum}"
