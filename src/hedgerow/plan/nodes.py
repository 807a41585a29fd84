"""The query as frozen relational nodes that mirror SQL.

A query is a `Select` (or a set operation) over a FROM tree. Below a `Release` are private rows, each owned by exactly
one unit; above it is ordinary SQL over released numbers. A tree without a `Released` leaf reads public tables only.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import TypeVar, cast

from hedgerow.errors import InternalError
from hedgerow.expressions.nodes import Column, Expr, Literal, Order
from hedgerow.expressions.types import Type
from hedgerow.recently_used import once_per_plan


@dataclass(frozen=True, slots=True)
class ContributionLimits:
    """The declared limits on the contribution of one unit. None: not declared.

    `one_row` says that the *database enforces* (or a GROUP BY of ours guarantees) at most one row per unit, so that no
    weights are needed. A mere declaration never sets it. `inferred` limits follow from the shape of the query: a query
    option beyond them has no effect and is not refused.
    """

    max_rows: int | None
    max_rows_per_group: int | None
    max_groups: int | None
    size: int
    one_row: bool
    inferred: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """All rows of one declared table. `added` marks a scan that we added to reach the unit along a declared path."""

    table: str
    alias: str
    added: bool = False


@dataclass(frozen=True, slots=True)
class Values:
    """Rows of constants; the columns are `c0`, `c1` and so on."""

    rows: tuple[tuple[Literal, ...], ...]
    alias: str


@dataclass(frozen=True, slots=True)
class Derived:
    """A query in FROM."""

    query: "Query"
    alias: str


@dataclass(frozen=True, slots=True)
class Repartitioned(Derived):
    """A query in FROM whose rows are shuffled, so that a task that joins them can be cancelled at each row."""


@dataclass(frozen=True, slots=True)
class Join:
    """Two relations side by side: `inner`, `cross`, `left`, `right` or `full`."""

    kind: str
    left: "From"
    right: "From"
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Named:
    """An expression and the name of its output column."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate call and the name of its output column.

    `filter` is the FILTER clause; `distinct` is set for COUNT(DISTINCT unit), whose argument is dropped.
    """

    name: str
    function: str
    arguments: tuple[Expr, ...]
    filter: Expr | None
    distinct: bool
    type: Type


@dataclass(frozen=True, slots=True)
class Grouped:
    """Exact groups: of public rows, of released rows, or of one person's rows (the owner is then among the keys).

    `sets` holds the grouping sets, as positions of keys; None where all keys group together.
    """

    source: "From"
    where: tuple[Expr, ...]
    keys: tuple[Named, ...]
    calls: tuple[AggregateCall, ...]
    alias: str
    sets: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """The privacy border: groups that mix several units. The only place where privacy is spent.

    `owner` names the unit of each row of `source`. `domain` is a public query for all keys, where the private rows are
    joined to public ones (`public LEFT JOIN private … GROUP BY public column`): every such group is then shown.
    `settled` are keys that have one value for all rows of a unit because the database enforces it.
    """

    source: "From"
    where: tuple[Expr, ...]
    owner: Expr
    limits: ContributionLimits
    keys: tuple[Named, ...]
    calls: tuple[AggregateCall, ...]
    domain: "Select | None" = None
    settled: tuple[Expr, ...] = ()

    @property
    def one_key(self) -> bool:
        """True if the database enforces that all rows of a unit have the same keys."""
        return bool(self.keys) and all(key.expr in self.settled for key in self.keys)


@dataclass(frozen=True, slots=True)
class Released:
    """The released table, as a leaf of the post-processing."""

    release: Release
    alias: str


From = Scan | Values | Derived | Join | Grouped | Released


@dataclass(frozen=True, slots=True)
class Select:
    """Rows of `source` (None: one row without columns) that satisfy `where`, with output columns, order and limit."""

    source: From | None
    where: tuple[Expr, ...]
    columns: tuple[Named, ...]
    distinct: bool = False
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class SetOperation:
    """UNION, INTERSECT or EXCEPT of two queries whose columns have the same names."""

    operator: str
    every: bool
    left: "Query"
    right: "Query"


Query = Select | SetOperation


@dataclass(frozen=True, slots=True)
class LogicalPlan:
    """A bound query: the tree, every release in it (none: public tables only) and the output names."""

    root: Select
    releases: tuple[Release, ...]
    names: tuple[str, ...]


def inside(node: object) -> Iterator[object]:
    """Yield every node of a tree, expressions and nested queries included, from the outside in."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, tuple):
            waiting.extend(reversed(part))
        elif not isinstance(part, Column | Literal):
            names = _fields_from_last(type(part))  # type: ignore[arg-type]
            waiting.extend(getattr(part, name) for name in names)


@cache
def _fields_from_last(kind: type[object]) -> tuple[str, ...]:
    """Names of the fields of a dataclass, the last one first; none of any other type."""
    return tuple(field.name for field in reversed(fields(kind))) if is_dataclass(kind) else ()


def releases_of(query: Query) -> tuple[Release, ...]:
    """Return the releases of a query, without duplicates, in the order of the text."""
    releases = [node.release for node in inside(query) if isinstance(node, Released)]
    return tuple(dict.fromkeys(releases))


@once_per_plan
@once_per_plan
def scans_of(node: object) -> tuple[Scan, ...]:
    """Return the tables that a relation reads."""
    return tuple(part for part in inside(node) if isinstance(part, Scan))


Node = TypeVar("Node")

ALIASED = "alias"


def rewrite(node: Node, swap: Callable[[object], object | None]) -> Node:
    """Return the tree in which every node for which `swap` returns another is replaced, outermost first.

    The tree below a released table is not changed: its aliases are its own.
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
    """Return the tree with other aliases."""

    def swap(part: object) -> object | None:
        if isinstance(part, Column) and part.table in names:
            return replace(part, table=names[part.table])
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
    """Return the release with its aliases numbered in the order of its own tree.

    So the same question in another position of another statement is the same release.
    """
    aliases = [getattr(node, ALIASED) for node in inside(release) if hasattr(node, ALIASED)]
    names = {alias: f"{prefix}{i}" for i, alias in enumerate(dict.fromkeys(aliases))}
    strangers = {node.table for node in inside(release) if isinstance(node, Column)} - set(names)
    if strangers:
        raise InternalError("A release reads a column from outside of it.")
    return renamed(release, names)


def with_releases(plan: LogicalPlan, changed: Mapping[Release, Release]) -> LogicalPlan:
    """Return the plan with its releases replaced."""

    def swap(node: object) -> object | None:
        return Released(changed[node.release], node.alias) if isinstance(node, Released) else None

    return replace(plan, root=rewrite(plan.root, swap), releases=tuple(changed[r] for r in plan.releases))


def first_free(tree: object, prefix: str) -> int:
    """Return the smallest number from which on no alias of the tree is `prefix` and a number."""
    aliases = [str(getattr(node, "alias", "")) for node in inside(tree)]
    numbers = [alias.removeprefix(prefix) for alias in aliases if alias.startswith(prefix)]
    return max((int(number) for number in numbers if number.isdigit()), default=-1) + 1


def columns_used(tree: object) -> dict[str, dict[str, Column]]:
    """Return the columns that are read anywhere in a tree, by alias and name."""
    used: dict[str, dict[str, Column]] = {}
    for node in inside(tree):
        if isinstance(node, Column):
            used.setdefault(node.table, {})[node.name] = node
    return used
