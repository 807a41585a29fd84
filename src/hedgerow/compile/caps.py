"""SQL texts for the weight of a pair of owner and key: sizes, caps, gaps, and the order in which an owner's keys count.

The proofs are in `privacy.bounding`. Both ways to compute weighted sums (`weights`, `windows`) use these texts.
"""

from collections.abc import Iterable, Mapping

from hedgerow.dialects import Dialect
from hedgerow.expressions.types import Type
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import SumKind

Names = Mapping[str, Type]
"""Columns by name, with the type of each."""


def least(text: str, maximum: int) -> str:
    """Return a whole number, capped at `maximum`."""
    return f"CASE WHEN {text} < {maximum} THEN {text} ELSE {maximum} END"


def owner_size(plan: PrivatePlan) -> str:
    """Amount an owner adds to q in one key: a_g (l1), or its square (l2)."""
    rows = least("n", plan.bounding.rows_per_group)
    return rows if plan.l1_weights else f"({rows}) * ({rows})"


def most_size(plan: PrivatePlan) -> int:
    """The largest q at which an owner has the full weight."""
    return plan.bounding.l1 if plan.l1_weights else plan.bounding.l2_squared


def owner_cap(plan: PrivatePlan, dialect: Dialect) -> str:
    """U from q, the sum over the owner's keys of `owner_size`: U^2 q <= T^2 4^b, or U q <= A 2^b, in integers."""
    one, maximum = 1 << plan.weight_bits, most_size(plan)
    if plan.l1_weights:
        return f"CASE WHEN q <= {maximum} THEN {one} ELSE {dialect.floor_divide(str(maximum * one), 'q')} END"
    return f"CASE WHEN q <= {maximum} THEN {one} ELSE {dialect.root(maximum * one * one, 'q')} END"


def pair_gap(plan: PrivatePlan, dialect: Dialect, cap: str) -> str:
    """Gap between the full weight and the weight of a pair: 2^b - floor(U a_g / n)."""
    counted = least("n", plan.bounding.rows_per_group)
    return f"{1 << plan.weight_bits} - {dialect.floor_divide(f'{cap} * ({counted})', 'n')}"


def people(plan: PrivatePlan) -> list[int]:
    """Return the indices of the sums that count people; these follow from the caps alone."""
    return [i for i, total in enumerate(plan.sums) if total.kind is SumKind.UNITS]


def hashed(nonce: str, names: Names, dialect: Dialect) -> str:
    """A hash of columns under a nonce, over the canonical text of each value, which is the same on every engine."""
    missing = dialect.string("~")
    fields = [f"COALESCE({dialect.canonical(name, kind)}, {missing})" for name, kind in names.items()]
    return dialect.hashed([dialect.string(nonce), *fields])


def by_hash(text: str, names: Iterable[str], dialect: Dialect) -> str:
    """Return the terms of ORDER BY: the hash, and the values themselves to break ties."""
    terms = [term for name in names for term in dialect.order(name, descending=False, nulls_first=False)]
    return ", ".join([text, *(f"{name} {direction}" for name, direction in terms)])


def same(left: str, right: str, names: Names, dialect: Dialect) -> str:
    """Return an equality of keys in which NULL equals NULL."""
    return " AND ".join(dialect.same(f"{left}.{name}", f"{right}.{name}", kind) for name, kind in names.items())


def together(left: str, right: str, names: Names, dialect: Dialect) -> str:
    """Return an equality of owners (never NULL) and of keys."""
    owners = f"{left}.o = {right}.o"
    return f"{owners} AND {same(left, right, names, dialect)}" if names else owners
