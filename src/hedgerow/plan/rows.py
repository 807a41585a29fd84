"""A FROM clause while it is bound: a tree, the names in it, and the owners of its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Column, Expr
from hedgerow.plan.facts import Facts
from hedgerow.plan.nodes import ContributionLimits, From, Query
from hedgerow.plan.scope import Item

MAX_RELATIONS = 100


def within_size(size: int) -> int:
    """Refuse a statement that reads too many relations; each use counts."""
    if size > MAX_RELATIONS:
        raise UnsupportedSQLError(
            f"The statement reads more than {MAX_RELATIONS} relations, counting each use of a CTE.",
            code="too-large",
            hint="Ask in several statements.",
        )
    return size


class Privacy(Enum):
    """Owner of the rows: nobody, one person each, or already released."""

    PUBLIC = "public"
    OWNED = "owned"
    RELEASED = "released"


@dataclass(frozen=True)
class PrivateSource:
    """One private relation in FROM: its owner, its limits, and the path that was added to find the owner.

    `row` is its alias and table, if it is a table; `path` those of the scans that were added for it.
    """

    owner: Expr
    limits: ContributionLimits
    name: str
    row: tuple[str, str] | None = None
    path: tuple[tuple[str, str], ...] = ()
    aliases: frozenset[str] = frozenset()


@dataclass(frozen=True)
class JoinedRows:
    """A FROM clause, or a part of one.

    `owners` are the expressions that name the unit; they must be proved equal before the rows are used. `public` holds
    alias and table (None: no table) of each public relation in it, `size` the number of relations. `either` says that a
    FULL JOIN has private rows on both sides, so that a person may have rows with one side missing.
    """

    source: From
    privacy: Privacy
    items: tuple[Item, ...]
    facts: Facts = field(default_factory=Facts)
    owners: tuple[Expr, ...] = ()
    private_sources: tuple[PrivateSource, ...] = ()
    public: tuple[tuple[str, str | None], ...] = ()
    merged: Mapping[str, Expr] = field(default_factory=dict)
    node: exp.Expr | None = None
    size: int = 1
    either: bool = False

    @property
    def aliases(self) -> frozenset[str]:
        """Return all aliases of a row."""
        return self.facts.aliases


@dataclass(frozen=True)
class Ownership:
    """Ownership of rows: the owner's expression, its limits, and the parts that are the same for all rows of a unit.

    `fixed` are aliases of which a unit has one row; `enforced` are those of which it has one because the database
    enforces it; `units` are columns that always equal the owner; `pinned` says that a nested query reads only rows of
    the outer row's owner.
    """

    owner: Expr
    limits: ContributionLimits
    fixed: frozenset[str] = frozenset()
    facts: Facts = field(default_factory=Facts)
    pinned: bool = False
    enforced: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Table:
    """A bound query: the tree and its columns, called `c0`, `c1`, … (and `o`, the owner's, where rows are owned).

    `columns` describe the results: types, ranges, NULLs. `owner_at` are indices of columns that are the owner itself.
    `facts` are about `c0`, `c1`, … under the alias "". `cut_off` says that LIMIT applies to rows of people, so that no
    query may read it. `size` is the number of relations in it; each use counts.
    """

    query: Query
    privacy: Privacy
    names: tuple[str, ...]
    columns: tuple[Column, ...]
    ownership: Ownership | None = None
    owner_at: frozenset[int] = frozenset()
    facts: Facts = field(default_factory=Facts)
    outer: tuple[Column, ...] = ()
    one_row: bool = False
    cut_off: bool = False
    size: int = 1
