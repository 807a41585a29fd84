"""Rewriting whole trees: other aliases, other columns."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from hedgerow.errors import InternalError
from hedgerow.expressions.nodes import Column, Literal
from hedgerow.plan.nodes import Release, Released, inside

Node = TypeVar("Node")

ALIASED = "alias"


def rewrite(node: Node, swap: Callable[[object], object | None]) -> Node:
    """The tree with every node exchanged for which `swap` gives another, outermost first.

    What lies behind a released table is left alone: its aliases are its own.
    """
    other = swap(node)
    if other is not None or isinstance(node, Released):
        return cast("Node", other or node)
    if isinstance(node, tuple):
        return cast("Node", tuple(rewrite(item, swap) for item in node))
    if not is_dataclass(node) or isinstance(node, Column | Literal):
        return node
    changed = {f.name: rewrite(getattr(node, f.name), swap) for f in fields(node)}
    return cast("Node", replace(node, **changed))  # type: ignore[type-var]


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """The tree under other aliases."""

    def swap(found: object) -> object | None:
        if isinstance(found, Column) and found.table in names:
            return replace(found, table=names[found.table])
        return None

    moved = rewrite(node, swap)
    return _realiased(moved, names)


def _realiased(node: Node, names: Mapping[str, str]) -> Node:
    if isinstance(node, tuple):
        return cast("Node", tuple(_realiased(item, names) for item in node))
    if not is_dataclass(node) or isinstance(node, Column | Literal):
        return node
    changed = {f.name: _realiased(getattr(node, f.name), names) for f in fields(node)}
    if changed.get(ALIASED) in names:
        changed[ALIASED] = names[changed[ALIASED]]
    return cast("Node", replace(node, **changed))  # type: ignore[type-var]


def canonical(release: Release, prefix: str) -> Release:
    """The release with its aliases numbered in the order of its own tree.

    So the same question asked in another place of another statement is the same question.
    """
    found = [getattr(node, ALIASED) for node in inside(release) if hasattr(node, ALIASED)]
    names = {alias: f"{prefix}{i}" for i, alias in enumerate(dict.fromkeys(found))}
    strangers = {node.table for node in inside(release) if isinstance(node, Column)} - set(names)
    if strangers:
        raise InternalError("A release reads a column from outside of it.")
    return renamed(release, names)
