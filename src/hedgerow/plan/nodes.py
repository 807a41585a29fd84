"""What is asked, as frozen relational nodes.

A plan is a tree. Below the border (`Release`) stand private rows, each owned by exactly one unit;
above it stands ordinary SQL over released numbers. A tree without a border reads public tables only.
"""

from dataclasses import dataclass

from hedgerow.expressions.nodes import Column, Expr
from hedgerow.expressions.types import Type


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one unit may count, as the owner declared it. None: not declared.

    `one_row` says that the *database enforces* at most one row per unit, so that no weights are
    needed. A mere declaration never sets it.
    """

    max_rows: int | None
    max_rows_per_group: int | None
    max_groups: int | None
    size: int
    one_row: bool


@dataclass(frozen=True, slots=True)
class Scan:
    """All rows of one declared table. `owner` is the unit's column, or None for a public table."""

    table: str
    owner: Column | None
    limits: Limits | None


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows of `source` for which `predicate` holds. Ownership is unchanged."""

    source: "Relation"
    predicate: Expr


@dataclass(frozen=True, slots=True)
class Named:
    """An expression and the name of the column it becomes."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate asked for, with the name of the column it becomes.

    `filter` is the FILTER clause; `distinct` is set for COUNT(DISTINCT unit), whose argument is dropped.
    """

    name: str
    function: str
    arguments: tuple[Expr, ...]
    filter: Expr | None
    distinct: bool
    type: Type


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Groups of public rows: exact, free."""

    source: "Relation"
    keys: tuple[Named, ...]
    calls: tuple[AggregateCall, ...]


@dataclass(frozen=True, slots=True)
class Release:
    """The border: groups that mix several units. The only place where privacy is spent."""

    source: "Relation"
    keys: tuple[Named, ...]
    calls: tuple[AggregateCall, ...]


@dataclass(frozen=True, slots=True)
class Released:
    """The released table, as a leaf of the *after* part."""

    release: Release


@dataclass(frozen=True, slots=True)
class Order:
    """One ORDER BY term."""

    expr: Expr
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Sort:
    """Rows in order."""

    source: "Relation"
    terms: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` rows (None: all), after the first `offset`."""

    source: "Relation"
    count: int | None
    offset: int


@dataclass(frozen=True, slots=True)
class Project:
    """The columns shown, in order."""

    source: "Relation"
    columns: tuple[Named, ...]


Relation = Scan | Filter | Aggregate | Released | Sort | Limit | Project


@dataclass(frozen=True, slots=True)
class LogicalPlan:
    """A bound query: the tree, the border in it (None: public tables only) and the names to show."""

    root: Project
    release: Release | None
    names: tuple[str, ...]


def owner_of(relation: Relation) -> Column | None:
    """The column that names the unit of each row; None where no unit owns them."""
    while isinstance(relation, Filter):
        relation = relation.source
    return relation.owner if isinstance(relation, Scan) else None


def scan_of(relation: Relation) -> Scan | None:
    """The table at the bottom of a chain of nodes that keep ownership."""
    while isinstance(relation, Filter):
        relation = relation.source
    return relation if isinstance(relation, Scan) else None
