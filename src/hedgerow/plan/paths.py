"""Joins that were added to reach the unit, and are not needed because the query makes them itself."""

from dataclasses import replace

from hedgerow.expressions.nodes import Expr, columns_of
from hedgerow.plan.context import Context
from hedgerow.plan.nodes import From, Join, Scan
from hedgerow.plan.rewrite import renamed, rewrite
from hedgerow.plan.rows import Leaf, Owned, Rows


def without_detours(rows: Rows, owned: Owned, context: Context) -> tuple[From, Owned]:
    """The tree without added scans that are the same row as one of the query's own, and the owner read from there.

    Where a row of the leaf is there, the facts say that both scans are one row; so the added join neither adds nor
    drops a row. Paths are shortened from their far end: what is nearer may still be needed to get there.
    """
    source, owner = rows.source, owned.owner
    for leaf in rows.leaves:
        for alias, table in reversed(leaf.path):
            other = _same_row(leaf, alias, table, source, owned, context)
            if other is None or (_names(owner, alias) and not _always(source, leaf)):
                break
            source, owner = _replaced(source, owner, alias, other)
    return source, replace(owned, owner=owner)


def _names(owner: Expr, alias: str) -> bool:
    return any(table == alias for table, _ in columns_of(owner))


def _always(source: From, leaf: Leaf) -> bool:
    """Whether a row of the leaf is in every row: where it is missing so is its owner, who may not become another's."""
    if isinstance(source, Join) and source.kind in {"inner", "cross"}:
        return _always(source.left, leaf) or _always(source.right, leaf)
    if isinstance(source, Join):
        return source.kind == "left" and _always(source.left, leaf)
    return isinstance(source, Scan) and leaf.row is not None and source.alias == leaf.row[0]


def _same_row(leaf: Leaf, alias: str, table: str, source: From, owned: Owned, context: Context) -> str | None:
    if leaf.row is None:
        return None
    classes = context.classes(owned.facts, frozenset({leaf.row[0]}))
    own = [scan.alias for scan in _scans(source) if scan.table == table and not scan.added]
    return next((other for other in own if classes.one_row(alias, other)), None)


def _scans(source: From) -> list[Scan]:
    if isinstance(source, Join):
        return _scans(source.left) + _scans(source.right)
    return [source] if isinstance(source, Scan) else []


def _replaced(source: From, owner: Expr, alias: str, other: str) -> tuple[From, Expr]:
    def swap(node: object) -> object | None:
        if isinstance(node, Join) and isinstance(node.right, Scan) and node.right.added and node.right.alias == alias:
            return rewrite(node.left, swap)
        return None

    return renamed(rewrite(source, swap), {alias: other}), renamed(owner, {alias: other})
