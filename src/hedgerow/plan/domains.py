"""Keys that are public because the rows hang on a public table: `public LEFT JOIN private`."""

from collections.abc import Sequence

from hedgerow.expressions.nodes import Column, Expr, Nested, Window, walk
from hedgerow.plan.nodes import From, Join, Named, Select


def public_keys(source: From, where: Sequence[Expr], keys: Sequence[Named], public: frozenset[str]) -> Select | None:
    """The query for all groups that the public side makes, whoever is in them; None where keys are not public.

    Plain SQL shows a group for each row of the side that is always there. If keys and conditions read that side alone,
    and it is public, those groups are known to everybody.
    """
    side = _kept(source, public)
    if side is None or not keys:
        return None
    aliases = _aliases(side)
    if not all(_reads_only(expr, aliases) for expr in (*where, *(key.expr for key in keys))):
        return None
    return Select(side, tuple(where), tuple(keys), distinct=True)


def _kept(source: From, public: frozenset[str]) -> From | None:
    """The part of the tree that outer joins always keep, if it is public."""
    if not isinstance(source, Join) or source.kind != "left":
        return None
    return _kept(source.left, public) or (source.left if _aliases(source.left) <= public else None)


def _aliases(source: From) -> frozenset[str]:
    if isinstance(source, Join):
        return _aliases(source.left) | _aliases(source.right)
    return frozenset({source.alias})


def _reads_only(expr: Expr, aliases: frozenset[str]) -> bool:
    parts = list(walk(expr))
    if any(isinstance(part, Nested | Window) for part in parts):
        return False
    return all(part.table in aliases for part in parts if isinstance(part, Column))
