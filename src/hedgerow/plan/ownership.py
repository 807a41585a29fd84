"""Rows of a FROM clause while it is bound: the names in them, their owners, and the number of rows of one unit.

Privacy: a row must have exactly one owner. Rows of several private relations are joined only where the conditions
imply that their owners are equal (docs/proofs/ownership.md). Limits decide accuracy, never privacy: weights enforce
them, whatever they are.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Call, Column, Expr, Nested, Window, columns_of, walk
from hedgerow.expressions.types import Type
from hedgerow.plan.context import Context
from hedgerow.plan.facts import COLUMN, FAITHFUL, Classes, Facts, columns_in, conjuncts, equalities, key_term, term
from hedgerow.plan.nodes import ContributionLimits, From, Join, Query
from hedgerow.plan.scope import Item
from hedgerow.plan.syntax import span_of

MAX_RELATIONS = 100


LARGEST_SIZE = 10**15
"""Number of rows that no engine adds up in the time limit of a query."""


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


def settle(rows: JoinedRows, conditions: Sequence[Expr], context: Context) -> tuple[Ownership, tuple[Expr, ...]]:
    """Return the one owner of each row, and the conditions to add to WHERE; or refuse the join with the reason.

    Privacy: all owners of a row are equal because of keys that the database enforces, or because of such a condition.
    """
    facts = rows.facts.plus(Facts(), equalities(conditions))
    first = rows.owners[0]
    added, strangers = unproved(rows.owners, facts, context)
    if strangers:
        raise not_on_the_unit(rows, first, strangers[0])
    facts = facts.plus(Facts(), equalities(added))
    measured = _Sizes(rows, context, context.supposed(facts, rows.aliases), context.classes(facts, present_with(first)))
    return Ownership(first, measured.limits(), measured.fixed(), facts, enforced=measured.enforced()), added


def unproved(owners: Sequence[Expr], facts: Facts, context: Context) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """For the owners after the first: equalities that only declared paths imply, and those that nothing implies.

    Privacy: only keys that the database enforces make two owners equal without an added condition.
    """
    first, added, strangers = owners[0], list[Expr](), list[Expr]()
    for other in owners[1:]:
        known = facts.plus(Facts(), equalities(added))
        if context.classes(known, present_with(first)).same(term(first), term(other)):
            continue
        if context.supposed(known, present_with(first)).same(term(first), term(other)):
            added.append(same_owner(first, other))
        else:
            strangers.append(other)
    return tuple(added), tuple(strangers)


def present_with(owner: Expr) -> frozenset[str]:
    """Return the relations that are present in every row that has an owner; other rows never count."""
    columns = columns_of(owner)
    return frozenset(table for table, _ in columns) if len(columns) == 1 else frozenset()


def not_on_the_unit(rows: JoinedRows, first: Expr, other: Expr) -> UnsupportedSQLError:
    """Return the refusal of a join in which rows of different people could meet."""
    names = {term(private.owner): private for private in rows.private_sources}
    left, right = names.get(term(first)), names.get(term(other))
    what = f"{_named(left)} and {_named(right)}" if left and right else "Private tables"
    return UnsupportedSQLError(
        f"{what} are joined, but no condition says that both rows belong to the same person.",
        code="join-not-on-unit",
        hint=f"Join them on the unit{_suggested(left, right)}, or along the declared path.",
        span=None if rows.node is None else span_of(rows.node),
    )


def _named(private: PrivateSource) -> str:
    return repr(private.name)


def _suggested(left: PrivateSource | None, right: PrivateSource | None) -> str:
    if left is None or right is None or left.path or right.path or None in {left.row, right.row}:
        return ""
    names = [f"{private.name}.{next(iter(columns_of(private.owner)))[1]}" for private in (left, right)]
    return f" ({' = '.join(names)})"


@dataclass(frozen=True)
class _Sizes:
    """The number of rows of one unit in a join.

    `matched` holds what follows, under the declarations, where every relation is present; `always` what is certain in
    every row. Only limits that weights enforce may depend on `matched`.
    """

    rows: JoinedRows
    context: Context
    matched: Classes
    always: Classes

    def limits(self) -> ContributionLimits:
        """Return the limits: those of the finest table along a path, and the product where tables meet on the unit."""
        counted = [private for private in self.rows.private_sources if not self._absorbed(private)]
        unique = self._determined(frozenset(a for private in self.rows.private_sources for a in private.aliases))
        single = all(alias in unique for alias, _ in self.rows.public)
        every = sum(private.limits.size for private in self.rows.private_sources)
        size = max(every, math.prod(private.limits.size for private in counted)) if single else LARGEST_SIZE
        parts = [private.limits for private in counted]
        if len(parts) == 1:
            only = parts[0]
            return ContributionLimits(
                only.max_rows,
                only.max_rows_per_group,
                only.max_groups,
                max(only.size, min(size, LARGEST_SIZE)),
                only.one_row and single,
                only.inferred,
            )
        together = self._together
        return ContributionLimits(
            together([p.max_rows for p in parts]),
            together([p.max_rows_per_group or p.max_rows for p in parts]),
            together([p.max_groups or p.max_rows for p in parts]),
            max(min(size, LARGEST_SIZE), *(p.size for p in parts)),
            single and all(p.one_row for p in parts) and not self.rows.either,
            inferred=True,
        )

    def _together(self, numbers: Sequence[int | None]) -> int | None:
        """Return the limits of joined rows: the product, or the sum, if larger, where each side may be missing."""
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers):
            return None
        return max(math.prod(known), sum(known)) if self.rows.either else math.prod(known)

    def fixed(self) -> frozenset[str]:
        """Return the relations that have one row for all rows of a unit."""
        if self.rows.either:
            return frozenset()
        single = [private.aliases for private in self.rows.private_sources if private.limits.max_rows == 1]
        return self._determined(frozenset(alias for aliases in single for alias in aliases))

    def enforced(self) -> frozenset[str]:
        """Return the relations that have one row for all rows of a unit because the database enforces it.

        Units are compared as whole numbers alone: other types may have values that are equal to several others.
        """
        owners = [private.owner for private in self.rows.private_sources]
        if self.rows.either or not all(isinstance(o, Column) and o.type is Type.INTEGER for o in owners):
            return frozenset()
        single = [private.aliases for private in self.rows.private_sources if private.limits.one_row]
        return self._determined(frozenset(alias for aliases in single for alias in aliases))

    def _absorbed(self, private: PrivateSource) -> bool:
        """Return True if another relation has this one on its path, so that each of its rows meets one row here."""
        return private.row is not None and any(
            self.matched.one_row(private.row[0], alias)
            for other in self.rows.private_sources
            if other is not private
            for alias, _ in other.path
        )

    def _determined(self, known: frozenset[str]) -> frozenset[str]:
        """Return `known`, and the public tables that are looked up by a key that the database enforces."""
        reached = set(known)
        while True:
            new = [a for a, t in self.rows.public if a not in reached and t and self._looked_up(a, t, reached)]
            if not new:
                return frozenset(reached)
            reached |= set(new)

    def _looked_up(self, alias: str, table: str, reached: set[str]) -> bool:
        sides = [side for e in self.matched.facts.equalities for side in (e.left, e.right) if isinstance(side, tuple)]
        candidates = [side for side in sides if all(part in reached for part in columns_in(side))]
        keys = self.context.schema.tables[table].unique
        present = frozenset({alias}) | present_with(self.rows.owners[0])
        classes = self.context.classes(self.always.facts, present)

        def is_known(name: str) -> bool:
            own = (COLUMN, alias, name)
            return classes.certain(own) and any(classes.same(own, other) for other in candidates)

        return any(all(is_known(name) for name in key) for key in keys)


def exactly(condition: Expr, owners: Iterable[Expr]) -> Expr:
    """Return the condition with a bytewise comparison of the units' text, whatever the columns' collations."""
    wanted = {term(owner) for owner in owners}
    return all_of([_exactly(part, wanted) for part in conjuncts(condition)]) or condition


def all_of(conditions: Iterable[Expr | None]) -> Expr | None:
    """Return the conjunction of conditions; None stands for a condition that is always true."""
    result: Expr | None = None
    for part in conditions:
        if part is not None:
            result = part if result is None else Call("and", (result, part), Type.BOOLEAN)
    return result


def _exactly(part: Expr, owners: set[object]) -> Expr:
    if not isinstance(part, Call) or part.function != "equal" or any(a.type is not Type.TEXT for a in part.arguments):
        return part
    named = any(term(argument) in owners for argument in part.arguments)
    return Call("same_text", part.arguments, Type.BOOLEAN) if named else part


def same_owner(left: Expr, right: Expr) -> Expr:
    """The condition that both name the same unit."""
    return Call("same_text" if left.type is Type.TEXT else "equal", (left, right), Type.BOOLEAN)


def is_owner(expr: Expr, ownership: Ownership, context: Context) -> bool:
    """Return True if the expression equals the owner in every row, whatever the owner declared."""
    classes = context.classes(ownership.facts, present_with(ownership.owner))
    return expr == ownership.owner or classes.same(term(expr), term(ownership.owner))


def determines_owner(exprs: Sequence[Expr], ownership: Ownership, context: Context) -> bool:
    """Return True if rows that agree on all of `exprs` belong to one unit.

    They contain the owner itself, or a key that identifies one row of a table with a unit column.

    Privacy: this may rest on the owner's declaration. The caller adds the owner to `exprs`, so that it holds in any
    case.
    """
    if ownership.pinned:
        return True
    classes = context.supposed(ownership.facts, present_with(ownership.owner))
    terms, owner = [term(e) for e in exprs], term(ownership.owner)
    if any(classes.same(t, owner) for t in terms):
        return True
    return any(_names_owner(alias, table, terms, owner, classes, context) for alias, table in ownership.facts.rows)


def _names_owner(
    alias: str, table: str, terms: Sequence[object], owner: object, classes: Classes, context: Context
) -> bool:
    unit = context.unit_term(table, alias)
    if unit is None or not classes.same(unit, owner):
        return False
    keys = context.declared.get(table, frozenset())
    return any(all(any(classes.same(key_term(alias, part), t) for t in terms) for part in key) for key in keys)


def in_fixed(expr: Expr, ownership: Ownership) -> bool:
    """Return True if the expression has one value for all rows of a unit, as far as the owner's declarations go."""
    return all(table in ownership.fixed for table, _ in columns_of(expr))


def is_settled(expr: Expr, source: From, ownership: Ownership) -> bool:
    """Return True if the database enforces that an expression has one value for all rows of a unit.

    Privacy: of the relations that it reads, a unit has one row, and an inner join leaves none of them out. So all rows
    of the unit meet that row, whatever the catalog says. An outer join may leave it out for some of them.
    """
    parts = list(walk(expr))
    if any(isinstance(part, Nested | Window) for part in parts) or not _joins_inner(source):
        return False
    return all(table in ownership.enforced for table, _ in columns_of(expr))


def _joins_inner(source: From) -> bool:
    if not isinstance(source, Join):
        return True
    return source.kind == "inner" and _joins_inner(source.left) and _joins_inner(source.right)


def one_row_each(limits: ContributionLimits, owner: Expr) -> ContributionLimits:
    """Return the limits where each unit has one row because rows were grouped by unit.

    Privacy: text is grouped bytewise, and a collation may treat several spellings as one person; weights, which follow
    the collation, are kept there.
    """
    alike = owner.type is Type.TEXT and not (isinstance(owner, Column) and not owner.collated)
    return replace(
        limits,
        max_rows=1,
        max_rows_per_group=1,
        max_groups=1,
        one_row=not alike or (isinstance(owner, Call) and owner.function == FAITHFUL),
        inferred=True,
    )


def owner_column(alias: str, like: Expr) -> Column:
    """The owner's column of a derived relation."""
    base = like if isinstance(like, Column) else Column("", like.type, collated=False)
    return Column("o", like.type, nullable=True, table=alias, collated=base.collated, native=base.native)
