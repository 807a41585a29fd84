"""Terms that are known to be equal in every row of a FROM clause; they prove that joined rows have one owner.

A fact is an equality of two terms (columns, or expressions of them). An equality from the ON clause of an outer join
holds where both sides are present; its guards name the sides. Two scans of one table that agree on columns
which identify a row there are the same row, so all their columns are equal (docs/proofs/ownership.md).
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type

Term = Hashable
Key = frozenset[tuple[str, ...]]
"""Columns that identify a row together: each (name,), or (name, cast) where they do so as read through a cast."""

Identifying = Mapping[str, frozenset[Key]]
"""For each table, the keys that identify one row of it."""

FAITHFUL = "imposed_text"
"""The only cast, by the catalog or by us, that never maps two values to one."""

IN_ZONE = "in_zone"
"""The function that reads points in time. At UTC, in which they are stored, it never maps two values to one either."""

COLUMN, LITERAL, OPAQUE = "column", "literal", "opaque"


def term(expr: Expr) -> Term:
    """Return the expression as a value to compare. A window or a nested query equals only itself."""
    if isinstance(expr, Column):
        return COLUMN, expr.table, expr.name
    if isinstance(expr, Call):
        as_stored = expr.function == IN_ZONE and expr.arguments[1] == expr.arguments[2]
        if as_stored or (expr.function == FAITHFUL and expr.arguments[0].type is Type.TEXT):
            return term(expr.arguments[0])
        return expr.function, *(term(argument) for argument in expr.arguments)
    if isinstance(expr, Literal):
        return LITERAL, expr
    return OPAQUE, object()


def key_term(alias: str, part: tuple[str, ...]) -> Term:
    """Return a column of a key, in the row called `alias`."""
    column = (COLUMN, alias, part[0])
    return column if len(part) == 1 else (part[1], column)


def columns_in(item: Term) -> list[str]:
    """Return the aliases of all columns in a term; "?" for opaque parts."""
    if not isinstance(item, tuple):
        return []
    if len(item) == 3 and item[0] == COLUMN:
        return [str(item[1])]
    if item[:1] == (OPAQUE,):
        return ["?"]
    return [alias for part in item for alias in columns_in(part)]


@dataclass(frozen=True, slots=True)
class Equality:
    """`left` equals `right` wherever each of the `guards` is present. `strict`: neither is NULL then."""

    left: Term
    right: Term
    strict: bool = True
    guards: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True)
class Facts:
    """Equalities, and the table of each alias."""

    equalities: tuple[Equality, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    aliases: frozenset[str] = frozenset()

    def plus(self, other: "Facts", more: Iterable[Equality] = ()) -> "Facts":
        """Return the facts of both, and further equalities."""
        return Facts((*self.equalities, *other.equalities, *more), self.rows + other.rows, self.aliases | other.aliases)

    def guarded(self, side: frozenset[str]) -> "Facts":
        """Return the facts of the side of an outer join that may be missing."""
        return replace(self, equalities=tuple(replace(e, guards=(*e.guards, side)) for e in self.equalities))

    def under(self, prefix: str, shown: str) -> "Facts":
        """Return the same facts about other rows: each use of a query reads rows of its own.

        Aliases inside it get `prefix`; its output (alias "") is called `shown`.
        """

        def rename(alias: str) -> str:
            if not alias:
                return shown
            return prefix + alias if alias in self.aliases else alias

        moved = tuple(
            Equality(
                _moved(e.left, rename),
                _moved(e.right, rename),
                e.strict,
                tuple(frozenset(map(rename, guard)) for guard in e.guards),
            )
            for e in self.equalities
        )
        rows = tuple((rename(alias), table) for alias, table in self.rows)
        return Facts(moved, rows, frozenset({shown, *map(rename, self.aliases)}))


def _moved(item: Term, rename: Callable[[str], str]) -> Term:
    if isinstance(item, tuple):
        if len(item) == 3 and item[0] == COLUMN:
            return COLUMN, rename(item[1]), item[2]
        return tuple(_moved(part, rename) for part in item)
    return item


@dataclass
class Classes:
    """Classes of equal terms, after all consequences of the facts are drawn."""

    facts: Facts
    identifying: Identifying
    present: frozenset[str] = frozenset()
    _parent: dict[Term, Term] = field(default_factory=dict)
    _same_row: dict[str, str] = field(default_factory=dict)
    _present: set[str] = field(default_factory=set)
    _known: set[Term] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._present = set(self.present)
        while self._round():
            pass

    def same(self, left: Term, right: Term) -> bool:
        """Return True if both are equal in every row."""
        return self._root(left) == self._root(right)

    def certain(self, item: Term) -> bool:
        """Return True if it is equal to something and not NULL, in every row."""
        return self._root(item) in self._known

    def one_row(self, left: str, right: str) -> bool:
        """Return True if two aliases are the same row of the same table."""
        return self._alias(left) == self._alias(right)

    def _round(self) -> bool:
        """Draw conclusions once; return True if anything new came out."""
        before = len(self._present), len(self._same_row), len(self._parent)
        self._parent = {}
        active = [e for e in self.facts.equalities if all(guard & self._present for guard in e.guards)]
        for equality in active:
            one, other = self._root(equality.left), self._root(equality.right)
            self._parent.setdefault(one, one)
            self._parent.setdefault(other, other)
            if one != other:
                self._parent[one] = other
        self._known = {self._root(side) for e in active if e.strict for side in (e.left, e.right)}
        for side in (side for e in active for side in (e.left, e.right)):
            if isinstance(side, tuple) and side[0] == COLUMN and self._root(side) in self._known:
                self._present.add(str(side[1]))
        rows = self.facts.rows
        for index, (left, table) in enumerate(rows):
            for right, same in rows[index + 1 :]:
                if table == same and not self.one_row(left, right) and self._agree(left, right, table):
                    self._same_row[self._alias(right)] = self._alias(left)
        return before != (len(self._present), len(self._same_row), len(self._parent))

    def _agree(self, left: str, right: str, table: str) -> bool:
        """Return True if two aliases of a table are known to agree on columns that identify its rows."""

        def equal(part: tuple[str, ...]) -> bool:
            root = self._root(key_term(left, part))
            return root == self._root(key_term(right, part)) and root in self._known

        return any(all(equal(part) for part in key) for key in self.identifying.get(table, ()))

    def _alias(self, alias: str) -> str:
        while alias in self._same_row:
            alias = self._same_row[alias]
        return alias

    def _root(self, item: Term) -> Term:
        root = _moved(item, self._alias)
        while self._parent.get(root, root) != root:
            root = self._parent[root]
        return root


def shown_as(alias: str, columns: Iterable[tuple[str, Expr]]) -> list[Equality]:
    """Return the facts that columns of a relation equal the expressions they were computed from.

    Privacy: windows and nested queries are left out. Each use of a query has rows of its own, and only columns carry
    the alias of their row.
    """
    pairs = [((COLUMN, alias, name), term(expr)) for name, expr in columns]
    return [Equality(column, value, strict=False) for column, value in pairs if "?" not in columns_in(value)]


def conjuncts(expr: Expr | None) -> tuple[Expr, ...]:
    """Return the conditions that all hold where `expr` holds."""
    if expr is None:
        return ()
    if isinstance(expr, Call) and expr.function == "and":
        return tuple(part for argument in expr.arguments for part in conjuncts(argument))
    return (expr,)


def equality_of(expr: Expr) -> Equality | None:
    """Return the fact that a condition states, if it states one.

    Privacy: text that an engine may compare by a collation is not known to be equal, only to look alike.
    """
    if not isinstance(expr, Call) or expr.function not in {"equal", "same_text", "is_not_distinct"}:
        return None
    left, right = expr.arguments
    if left.type is not right.type or left.type is Type.FLOAT:
        return None
    if left.type is Type.TEXT and expr.function != "same_text" and (_collated(left) or _collated(right)):
        return None
    sides = term(left), term(right)
    if any("?" in columns_in(side) for side in sides):
        return None
    return Equality(*sides, strict=expr.function != "is_not_distinct")


def _collated(expr: Expr) -> bool:
    if isinstance(expr, Column):
        return expr.collated
    return isinstance(expr, Call) and not expr.function.startswith("imposed_")


def equalities(conditions: Iterable[Expr]) -> tuple[Equality, ...]:
    """The facts in a list of conditions that all hold."""
    facts = [equality_of(part) for condition in conditions for part in conjuncts(condition)]
    return tuple(fact for fact in facts if fact is not None)
