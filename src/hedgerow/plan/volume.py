"""The number of rows that joins can produce, from the plan, the schema and public tables, never from private rows.

A volume is `times * N^folds`, where N is the largest number of rows that one person has in a private table without a
limit of one row. For private relations it bounds the rows of one person, for public ones all rows.

Privacy: private tables are joined on the owner alone (docs/proofs/ownership.md), so one row of a private table meets at
most the N rows that its owner has in another, and exactly one where the database enforces the key that is compared.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt

from hedgerow.catalog.model import Catalog, DeclaredTable, Through
from hedgerow.expressions.nodes import Call, Column, Expr, Literal, Nested, walk
from hedgerow.plan.facts import FAITHFUL, conjuncts
from hedgerow.plan.nodes import Derived, From, Grouped, Join, Query, Release, Scan, Select, SetOperation, scans_of
from hedgerow.plan.nodes import Values as Constants
from hedgerow.schema import Schema

EQUAL = frozenset({"equal", "same_text"})
MOST_ROOTS = 12
"""Number of relations of one FROM from which the joins are followed; the smallest of the bounds holds."""

USUAL = 1_000
"""Stands for N where two volumes are compared."""

Multiplicity = Callable[[str, frozenset[str]], int]
"""The largest number of rows of a public table that agree on some columns; all its rows if there are no columns."""


@dataclass(frozen=True)
class Volume:
    """`times * N^folds` rows; `scans` are the aliases of the private tables that contribute one N each."""

    folds: int = 0
    times: int = 1
    scans: frozenset[str] = frozenset()

    def joined(self, other: "Volume") -> "Volume":
        """Return the volume of every row of one with every row of the other."""
        return Volume(self.folds + other.folds, self.times * other.times, self.scans | other.scans)

    def beside(self, other: "Volume") -> "Volume":
        """Return the volume of the rows of both."""
        return Volume(max(self.folds, other.folds), self.times + other.times, self.scans | other.scans)

    @property
    def usual(self) -> int:
        """A number to compare by."""
        return self.times * int(USUAL**self.folds)

    def max_rows_within(self, maximum: int) -> int:
        """The largest N, at least one, at which there are at most `maximum` rows."""
        return max(1, root(maximum // self.times, self.folds))


ONE = Volume()


def root(number: int, degree: int) -> int:
    """The whole part of a root."""
    if degree <= 2:
        return number if degree <= 1 else isqrt(number)
    low, high = 0, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= number else (low, middle - 1)
    return low


@dataclass
class Volumes:
    """The volumes of all joins of one release, or of one query over public tables.

    `largest` collects them, each with its private tables.
    """

    catalog: Catalog
    schema: Schema
    multiplicity: Multiplicity
    largest: list[Volume] = field(default_factory=list)

    def release(self, release: Release) -> None:
        """Add all joins of a release."""
        shown = [*(key.expr for key in release.keys), *_of_calls(release.calls)]
        self._block(release.source, release.where, shown)

    def query(self, query: Query) -> Volume:
        """Return the rows of a query, and add all joins in it."""
        if isinstance(query, SetOperation):
            return self.query(query.left).beside(self.query(query.right))
        shown = [*(column.expr for column in query.columns), *(term.expr for term in query.order)]
        volume = self._block(query.source, query.where, shown) if query.source is not None else ONE
        if query.limit is None or volume.folds:
            return volume
        return Volume(0, max(1, min(volume.times, query.limit)))

    def block(self, block: Select | Grouped | Release) -> Volume:
        """Return the rows that the joins of one FROM can produce, including queries nested in its expressions."""
        if block.source is None:
            return ONE
        if isinstance(block, Select):
            shown = [*(column.expr for column in block.columns), *(term.expr for term in block.order)]
        else:
            shown = [*(key.expr for key in block.keys), *_of_calls(block.calls)]
        self._block(block.source, block.where, shown)
        return self.largest[-1]

    def rows(self, relation: From) -> int:
        """The rows of one relation."""
        return self._joined([relation], []).times

    def _block(self, source: From, where: Sequence[Expr], shown: Iterable[Expr]) -> Volume:
        """Return the rows of one FROM; queries nested in its expressions may run for each of them."""
        relations = list(_relations(source))
        own = self._joined(relations, [*_equal_columns(where), *_equal_in(source)])
        conditions = [*where, *_conditions(source)]
        nested = [part for expr in (*conditions, *shown) for part in walk(expr) if isinstance(part, Nested)]
        before = len(self.largest)
        for part in nested:
            if isinstance(part.query, Select | SetOperation):
                self.query(part.query)
        inner = [own.joined(volume) for volume in self.largest[before:]]
        self.largest.append(max(inner, key=lambda volume: volume.usual, default=own))
        return own

    def _joined(self, relations: Sequence[From], equal: Sequence["_Equal"]) -> Volume:
        """Return the rows of joined relations; if some are private, those of one person."""
        names = {_alias(relation): relation for relation in relations}
        inner = {alias: self._alone(relation) for alias, relation in names.items() if not isinstance(relation, Scan)}
        private = [alias for alias, relation in names.items() if self._is_private(relation)]
        roots = (private or list(names))[:MOST_ROOTS]
        return min((self._from_root(first, names, inner, equal) for first in roots), key=lambda volume: volume.usual)

    def _is_private(self, relation: From) -> bool:
        return any(not self.catalog.tables[scan.table].public for scan in scans_of(relation))

    def _from_root(
        self, first: str, names: Mapping[str, From], inner: Mapping[str, Volume], equal: Sequence["_Equal"]
    ) -> Volume:
        """Join one relation after the other, each time the one that produces the fewest rows.

        Unconnected relations come last: a public table is counted only where that matters.
        """
        left, tables = set(names), set[str]()

        def columns(alias: str) -> frozenset[str]:
            missing = {name for other in left - {alias} for name in aliases_of(names[other])}
            return frozenset(e.name for e in equal if e.alias == alias and not e.others & missing)

        def factor(alias: str) -> Volume:
            relation = names[alias]
            if isinstance(relation, Scan):
                return self._matched(relation, columns(alias), tables)
            return ONE if _are_keys(relation, columns(alias)) else inner[alias]

        volume, alias = ONE, first
        while True:
            volume = volume.joined(factor(alias))
            left.discard(alias)
            here = names[alias]
            tables |= {here.table} if isinstance(here, Scan) else set()
            if not left:
                return volume
            connected = [other for other in sorted(left) if columns(other)]
            alias = min(connected or sorted(left), key=lambda other: factor(other).usual)

    def _alone(self, relation: From) -> Volume:
        """Return the rows of one relation that is not a table."""
        if isinstance(relation, Derived):
            return self.query(relation.query)
        if isinstance(relation, Grouped):
            volume = self._block(
                relation.source, relation.where, [*(k.expr for k in relation.keys), *_of_calls(relation.calls)]
            )
            return volume if relation.keys else ONE
        if isinstance(relation, Join):
            left, right = (self._joined(list(_relations(side)), []) for side in (relation.left, relation.right))
            return left.joined(right).beside(left).beside(right)
        return Volume(0, max(1, len(relation.rows))) if isinstance(relation, Constants) else ONE

    def _matched(self, scan: Scan, columns: frozenset[str], before: set[str]) -> Volume:
        """The rows of a table that agree with one row of others on some columns; for a private table, one person's."""
        table = self.catalog.tables[scan.table]
        if columns and self.schema.tables[scan.table].is_unique(columns):
            return ONE
        if table.public:
            return Volume(0, max(1, self.multiplicity(scan.table, columns)))
        if self._is_one_row(table) or (scan.table not in before and self._identifies(table, columns)):
            return ONE
        return Volume(1, 1, frozenset({scan.alias}))

    def _is_one_row(self, table: DeclaredTable) -> bool:
        return isinstance(table.unit, str) and self.schema.tables[table.name].is_unique(frozenset({table.unit}))

    def _identifies(self, table: DeclaredTable, columns: frozenset[str]) -> bool:
        """True if the owner declares that columns identify one row. The declaration is used once per FROM and table."""
        paths = [t.unit for t in self.catalog.tables.values() if isinstance(t.unit, Through)]
        keys = [frozenset(other for _, other in path.on) for path in paths if path.table == table.name]
        keys += [frozenset({table.unit})] if table.unit_unique and isinstance(table.unit, str) else []
        return any(key <= columns for key in keys)


@dataclass(frozen=True)
class _Equal:
    """A column of a relation equals an expression of other relations."""

    alias: str
    name: str
    others: frozenset[str]


def _equal_columns(conditions: Iterable[Expr]) -> Iterator[_Equal]:
    for part in (part for condition in conditions for part in conjuncts(condition)):
        if not isinstance(part, Call) or part.function not in EQUAL:
            continue
        sides = [_plain(side) for side in part.arguments]
        for side, other in (sides, sides[::-1]):
            reads = list(walk(other))
            if isinstance(side, Column) and not any(isinstance(part, Nested) for part in reads):
                yield _Equal(side.table, side.name, frozenset(c.table for c in reads if isinstance(c, Column)))


def _equal_in(source: From) -> Iterator[_Equal]:
    """Yield equalities of the ON clauses; the condition of an outer join says nothing about the side it keeps."""
    if isinstance(source, Join) and source.kind != "full":
        yield from _equal_in(source.left)
        yield from _equal_in(source.right)
        equal = _equal_columns([] if source.condition is None else [source.condition])
        yield from (e for e in equal if source.kind != "left" or e.alias in aliases_of(source.right))


def aliases_of(source: From) -> frozenset[str]:
    """The relations of a FROM by their aliases."""
    if isinstance(source, Join):
        return aliases_of(source.left) | aliases_of(source.right)
    return frozenset({source.alias})


def _plain(expr: Expr) -> Expr:
    return expr.arguments[0] if isinstance(expr, Call) and expr.function == FAITHFUL else expr


def _relations(source: From) -> Iterator[From]:
    """The relations of a FROM; a full join counts as one."""
    if isinstance(source, Join) and source.kind != "full":
        yield from _relations(source.left)
        yield from _relations(source.right)
    else:
        yield source


def _conditions(source: From) -> Iterator[Expr]:
    if isinstance(source, Join) and source.kind != "full":
        yield from _conditions(source.left)
        yield from _conditions(source.right)
        if source.condition is not None:
            yield source.condition


def _alias(relation: From) -> str:
    return f"full {id(relation)}" if isinstance(relation, Join) else relation.alias


def _of_calls(calls: Iterable[object]) -> Iterator[Expr]:
    for call in calls:
        yield from getattr(call, "arguments", ())
        condition = getattr(call, "filter", None)
        if condition is not None:
            yield condition


def _are_keys(relation: From, columns: frozenset[str]) -> bool:
    """Return True if rows of a query that agree on `columns` are one row: its groups, or all its output columns."""
    if isinstance(relation, Grouped):
        equal = {key.expr for key in relation.keys if key.name in columns}
        return relation.sets is None and all(key.expr in equal for key in relation.keys)
    if not isinstance(relation, Derived) or not isinstance(relation.query, Select):
        return False
    shown = relation.query.columns
    if relation.query.distinct and all(c.name in columns or isinstance(c.expr, Literal) for c in shown):
        return True
    inner = relation.query.source
    read = [c.expr for c in shown if c.name in columns]
    named = frozenset(e.name for e in read if isinstance(e, Column))
    return isinstance(inner, Grouped | Derived) and _are_keys(inner, named)
