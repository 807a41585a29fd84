"""Repartitioning of rows with very many join partners, for engines that cancel a statement only between such rows.

Spark checks for cancellation whenever a task takes a row from a shuffle. Between two checks, a task joins that row with
all the others; without a shuffle, it first joins thousands of rows of a file.

Privacy: the rows are the same. The place of repartitioning depends on the query, the catalog and public tables.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from math import prod
from typing import TypeVar

from hedgerow.catalog.model import Catalog
from hedgerow.expressions.nodes import Column, Nested
from hedgerow.plan.context import free_prefix
from hedgerow.plan.nodes import (
    Derived,
    From,
    Grouped,
    Join,
    LogicalPlan,
    Named,
    Release,
    Repartitioned,
    Scan,
    Select,
    columns_used,
    first_free,
    inside,
    rewrite,
    with_releases,
)
from hedgerow.plan.volume import Multiplicity, Volumes, aliases_of
from hedgerow.schema import Schema

MET = 10_000
"""Rows that a row must be joined with before it is repartitioned: that costs as much as some tens of joined rows."""

LONG = 10_000_000
"""Rows of joins that take about a second: below, nothing is repartitioned."""

Block = Select | Grouped | Release
Tree = TypeVar("Tree")


def repartitioned(plan: LogicalPlan, catalog: Catalog, schema: Schema, multiplicity: Multiplicity) -> LogicalPlan:
    """Return the plan with its long joins repartitioned."""
    if not any(isinstance(node, Join | Nested) for node in inside((plan.root, plan.releases))):
        return plan
    if plan.releases:
        changed = {release: _release(release, Volumes(catalog, schema, multiplicity)) for release in plan.releases}
        return with_releases(plan, changed)
    return replace(plan, root=_public(plan.root, Volumes(catalog, schema, multiplicity)))


def _release(release: Release, volumes: Volumes) -> Release:
    """Repartition every relation where each row of a person meets many rows of public tables."""
    long = {
        alias
        for block in _blocks(release)
        if block.source is not None and volumes.block(block).times >= MET
        for alias in aliases_of(block.source)
    }
    return _with_repartitions(release, long) if long else release


def _public(root: Select, volumes: Volumes) -> Select:
    """Repartition the first relations of each long join as one, and each small relation beside them."""
    for block in list(_blocks(root)):
        rows = volumes.block(block).times
        if block.source is None or rows < LONG:
            continue
        sizes = {alias: volumes.rows(relation) for alias, relation in _relations(block.source)}
        if max(sizes.values()) > rows // MET:
            continue
        first = _first(block.source, sizes, rows // MET)
        if isinstance(first, Join):
            prefix = free_prefix(volumes.schema)
            root = _as_one(root, first, f"{prefix}{first_free(root, prefix)}")
            sizes = {alias: size for alias, size in sizes.items() if alias not in aliases_of(first)}
        root = _with_repartitions(root, sizes.keys())
    return root


def _blocks(tree: object) -> Iterator[Block]:
    return (node for node in inside(tree) if isinstance(node, Select | Grouped | Release))


def _relations(source: From) -> Iterator[tuple[str, From]]:
    if isinstance(source, Join):
        yield from _relations(source.left)
        yield from _relations(source.right)
    else:
        yield source.alias, source


def _first(source: From, sizes: dict[str, int], maximum: int) -> From:
    """Return the longest beginning of a chain of joins that has at most `maximum` rows."""
    while isinstance(source, Join) and prod(sizes[alias] for alias in aliases_of(source)) > maximum:
        source = source.left
    return source


def _with_repartitions(tree: Tree, aliases: AbstractSet[str]) -> Tree:
    """Return the tree in which the relations of these aliases are repartitioned, each at its outermost use."""
    used = columns_used(tree)

    def swap(node: object) -> object | None:
        if not isinstance(node, Scan | Derived | Grouped) or node.alias not in aliases:
            return None
        if isinstance(node, Derived):
            return Repartitioned(_with_repartitions(node.query, aliases - {node.alias}), node.alias)
        columns = tuple(Named(name, column) for name, column in sorted(used.get(node.alias, {}).items()))
        inner = node if isinstance(node, Scan) else replace(node, source=_with_repartitions(node.source, aliases))
        return Repartitioned(Select(inner, (), columns), node.alias)

    return rewrite(tree, swap)


def _as_one(root: Select, first: Join, alias: str) -> Select:
    """Return the query in which some relations are joined and repartitioned before all others."""
    used = columns_used(root)
    columns = [column for name in sorted(aliases_of(first)) for _, column in sorted(used.get(name, {}).items())]
    shown = {(column.table, column.name): f"c{index}" for index, column in enumerate(columns)}
    query = Select(first, (), tuple(Named(shown[c.table, c.name], c) for c in columns))

    def swap(node: object) -> object | None:
        if node == first:
            return Repartitioned(query, alias)
        if isinstance(node, Column) and (node.table, node.name) in shown:
            return replace(node, table=alias, name=shown[node.table, node.name])
        return None

    return rewrite(root, swap)
