"""Joins that were added to reach the unit, and are not needed because the query makes them itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hedgerow.expressions.nodes import Expr, columns_of
from hedgerow.plan.context import Context
from hedgerow.plan.facts import Classes, conjuncts, equality_of, term
from hedgerow.plan.nodes import From, Join, Scan
from hedgerow.plan.ownership import all_of
from hedgerow.plan.rewrite import renamed, rewrite
from hedgerow.plan.rows import Leaf, Owned, Rows
from hedgerow.plan.sources import on_path


def without_detours(
    rows: Rows, owned: Owned, added: Sequence[Expr], context: Context
) -> tuple[From, Owned, tuple[Expr, ...]]:
    """The tree, its owner and the added conditions without those added scans for which the query has one of its own.

    A scan of the query can stand for an added one if it fulfils the condition of the same step of the path wherever a
    row of the leaf is there. Paths are shortened from their far end: what is nearer may still be needed to get there.

    Privacy: the leaf's row then belongs to whom the query's own scan leads to, by the condition that the catalog
    declares. That holds whether or not the key is unique; where it is, the added join neither adds nor drops a row.
    """
    source, owner, conditions = rows.source, owned.owner, tuple(added)
    for leaf in rows.leaves:
        instead = _stand_ins(leaf, source, owned, context)
        for alias, _ in reversed(leaf.path):
            if alias not in instead or (_names(owner, alias) and not _always(source, leaf)):
                break
            source = _replaced(source, alias, instead[alias])
            owner, conditions = renamed((owner, conditions), {alias: instead[alias]})
    kept = tuple(condition for condition in conditions if not _is_same(condition, owner))
    return _tidy(source, owner), replace(owned, owner=owner), kept


def _names(owner: Expr, alias: str) -> bool:
    return any(table == alias for table, _ in columns_of(owner))


def _always(source: From, leaf: Leaf) -> bool:
    """Whether a row of the leaf is in every row: where it is missing so is its owner, who may not become another's."""
    if isinstance(source, Join) and source.kind in {"inner", "cross"}:
        return _always(source.left, leaf) or _always(source.right, leaf)
    if isinstance(source, Join):
        return source.kind == "left" and _always(source.left, leaf)
    return isinstance(source, Scan) and leaf.row is not None and source.alias == leaf.row[0]


def _stand_ins(leaf: Leaf, source: From, owned: Owned, context: Context) -> Mapping[str, str]:
    """For each added scan of the leaf the scan of the query that makes the same step, from the leaf outwards."""
    if leaf.row is None or not leaf.path:
        return {}
    classes = context.classes(owned.facts, frozenset({leaf.row[0]}))
    own = [scan for scan in _scans(source) if not scan.added]
    found: dict[str, str] = {}
    here, table = [leaf.row[0]], leaf.row[1]
    for alias, target in leaf.path:
        steps = (s.alias for s in own if s.table == target and _makes_step(here, table, s, classes, context))
        other = next(steps, None)
        if other is not None:
            found[alias] = other
        here, table = [alias, *([other] if other else [])], target
    return found


def _makes_step(here: Sequence[str], table: str, scan: Scan, classes: Classes, context: Context) -> bool:
    """Whether a row of `scan` is where the path leads to from `table`, called by any of the names in `here`."""
    tables = context.catalog.tables

    def holds(condition: Expr) -> bool:
        fact = equality_of(condition)
        return fact is not None and classes.same(fact.left, fact.right) and classes.certain(fact.left)

    conditions = [on_path(tables[table], alias, tables[scan.table], scan.alias, context) for alias in here]
    return any(all(holds(part) for part in conjuncts(condition)) for condition in conditions)


def _scans(source: From) -> list[Scan]:
    if isinstance(source, Join):
        return _scans(source.left) + _scans(source.right)
    return [source] if isinstance(source, Scan) else []


def _replaced(source: From, alias: str, other: str) -> From:
    def swap(node: object) -> object | None:
        if isinstance(node, Join) and isinstance(node.right, Scan) and node.right.added and node.right.alias == alias:
            return rewrite(node.left, swap)
        return None

    return renamed(rewrite(source, swap), {alias: other})


def _is_same(condition: Expr, owner: Expr) -> bool:
    """Whether a condition says that the owner equals the owner: two that were compared are now one."""
    fact = equality_of(condition)
    return fact is not None and fact.strict and fact.left == fact.right == term(owner)


def _tidy(source: From, owner: Expr) -> From:
    """The tree without conditions that say nothing; rows without an owner never count."""
    if not isinstance(source, Join):
        return source
    left, right = _tidy(source.left, owner), _tidy(source.right, owner)
    parts = [part for part in conjuncts(source.condition) if not _is_same(part, owner)]
    if not parts:
        return replace(source, left=left, right=right)
    return replace(source, left=left, right=right, condition=all_of(parts))
