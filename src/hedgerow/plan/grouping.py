"""GROUP BY: expressions, positions, aliases, ALL, ROLLUP, CUBE and GROUPING SETS."""

import itertools
import math
from collections.abc import Callable, Sequence

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.plan.syntax import span_of

MAX_SETS = 64

Resolve = Callable[[exp.Expr], exp.Expr]
Sets = list[list[exp.Expr]]


def grouping_sets(group: exp.Group | None, resolve: Resolve) -> Sets:
    """The sets of expressions that are grouped by; plain GROUP BY is one set.

    Several parts (`GROUP BY a, ROLLUP (b, c)`) are combined as SQL says: every choice of one set from each.
    """
    if group is None:
        return [[]]
    extra = [name for name, value in group.args.items() if name not in {"expressions", "all", *_KINDS} and value]
    if extra:
        raise UnsupportedSQLError(
            f"GROUP BY {extra[0].upper()} is not available.",
            code="grouping-sets",
            hint="GROUP BY takes expressions, ROLLUP, CUBE, GROUPING SETS and ALL.",
            span=span_of(group),
        )
    nodes = _with_all(_parts(group))
    if math.prod(_count(node) for node in nodes) > MAX_SETS:
        raise UnsupportedSQLError(
            f"GROUP BY makes more than {MAX_SETS} grouping sets.",
            code="grouping-sets",
            hint="Name the sets you need: GROUPING SETS ((a, b), (a), ()).",
            span=span_of(group),
        )
    parts: list[Sets] = [_sets(node, resolve) for node in nodes]
    return [[node for part in choice for node in part] for choice in itertools.product(*parts)]


def _count(node: exp.Expr) -> int:
    """How many sets a part stands for."""
    size = len(node.expressions)
    if isinstance(node, exp.Rollup):
        return size + 1
    if isinstance(node, exp.Cube):
        return 1 << min(size, MAX_SETS)
    return sum(_count(part) for part in node.expressions) if isinstance(node, exp.GroupingSets) else 1


_KINDS = ("rollup", "cube", "grouping_sets")


def _with_all(nodes: list[exp.Expr]) -> list[exp.Expr]:
    """GROUP BY a, b WITH ROLLUP (or CUBE): over all that is grouped by."""
    bare = [node for node in nodes if isinstance(node, exp.Rollup | exp.Cube) and not node.expressions]
    if not bare:
        return nodes
    rest = [node for node in nodes if node is not bare[0]]
    if any(isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets) for node in rest) or not rest:
        raise UnsupportedSQLError(
            "WITH ROLLUP and WITH CUBE stand alone, behind what is grouped by.",
            code="grouping-sets",
            hint="Write GROUP BY ROLLUP (a, b).",
            span=span_of(bare[0]) or span_of(rest[0]) if rest else None,
        )
    return [type(bare[0])(expressions=rest)]


def _parts(group: exp.Group) -> list[exp.Expr]:
    found = list(group.expressions)
    for kind in _KINDS:
        value = group.args.get(kind)
        found += value if isinstance(value, list) else ([value] if isinstance(value, exp.Expr) else [])
    return found


def _sets(node: exp.Expr, resolve: Resolve) -> Sets:
    if isinstance(node, exp.Rollup):
        units = [_unit(part, resolve) for part in node.expressions]
        return [_flat(units[:size]) for size in range(len(units), -1, -1)]
    if isinstance(node, exp.Cube):
        units = [_unit(part, resolve) for part in node.expressions]
        sizes = range(len(units), -1, -1)
        return [_flat(choice) for size in sizes for choice in itertools.combinations(units, size)]
    if isinstance(node, exp.GroupingSets):
        return [inner for part in node.expressions for inner in _one_set(part, resolve)]
    return [_unit(node, resolve)]


def _one_set(node: exp.Expr, resolve: Resolve) -> Sets:
    if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
        return _sets(node, resolve)
    return [_unit(node, resolve)]


def _unit(node: exp.Expr, resolve: Resolve) -> list[exp.Expr]:
    if isinstance(node, exp.Tuple):
        return [resolve(part) for part in node.expressions]
    return [resolve(node.this if isinstance(node, exp.Paren) else node)]


def _flat(units: Sequence[list[exp.Expr]]) -> list[exp.Expr]:
    return [node for unit in units for node in unit]
