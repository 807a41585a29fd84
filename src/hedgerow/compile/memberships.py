"""IN and NOT IN over one person's rows, written as joins.

Many engines evaluate a subquery that names the owner of the outer row once for each row, and without an index they scan
the whole subquery each time. As an outer join with the pairs of owner and value it is read once, by hash or by index.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from hedgerow.dialects import is_bytewise
from hedgerow.errors import InternalError
from hedgerow.expressions.facts import may_be_null
from hedgerow.expressions.nodes import Call, Column, Expr, Literal, Nested, Window, columns_of
from hedgerow.expressions.types import Type
from hedgerow.plan.facts import conjuncts
from hedgerow.plan.nested import OWN
from hedgerow.plan.nodes import ALIASED, Derived, From, Grouped, Join, Named, Select, inside, rewrite
from hedgerow.plan.ownership import same_owner

COMPARED_AS_GROUPED = frozenset({Type.INTEGER, Type.DATE, Type.TIMESTAMP})
"""Types for which DISTINCT keeps one of all equal values on every engine. Text is compared bytewise."""


def with_memberships_joined(source: From, where: tuple[Expr, ...]) -> tuple[From, tuple[Expr, ...]]:
    """Return FROM and WHERE in which IN over one person's rows is a join, where possible.

    The meaning of NULL is kept: `x IN S` is NULL where x is NULL, or where S contains a NULL and not x.

    Privacy: pairs of owner and value are joined on the owner, like the original subquery, and DISTINCT leaves at most
    one pair that equals those of a row. So each row meets the same values as before, and remains one row.
    """
    here = frozenset(_aliases(source))
    memberships = dict.fromkeys(
        part for clause in where for part in _outside_queries(clause) if isinstance(part, Nested) and part.kind == OWN
    )
    conditions = [part for clause in where for part in (conjuncts(clause) if memberships else [clause])]
    for nested in memberships:
        membership = _membership(nested) if isinstance(nested, Nested) else None
        if membership is not None and membership.reads_only(here):
            if all(part != nested for clause in conditions if clause != nested for part in _outside_queries(clause)):
                membership = replace(membership, unknown=None)
            source = membership.joined(source)
            conditions = [membership.exchanged(condition) for condition in conditions]
    return source, tuple(conditions)


def _aliases(source: From) -> Iterator[str]:
    """Yield the relations that conditions next to this FROM can name."""
    if isinstance(source, Join):
        yield from _aliases(source.left)
        yield from _aliases(source.right)
    else:
        yield source.alias


def _outside_queries(expr: Expr) -> Iterator[Expr]:
    """Yield the expression and its parts, except those inside subqueries and windows."""
    yield expr
    if isinstance(expr, Call):
        for argument in expr.arguments:
            yield from _outside_queries(argument)


@dataclass(frozen=True)
class _Membership:
    """`value IN query`: the values with their ties to a row, and the ties of a NULL, if there can be one.

    `around` lists the expressions of the outer row, including the owner, that the first columns of both sides equal.
    """

    nested: Nested
    around: tuple[Expr, ...]
    pairs: Derived
    unknown: Derived | None

    @property
    def value(self) -> Expr:
        """Expression to the left of IN."""
        return self.nested.arguments[0]

    def reads_only(self, aliases: frozenset[str]) -> bool:
        """Return True if the outer expressions read only these relations."""
        return all(table in aliases for expr in (*self.around, self.value) for table, _ in columns_of(expr))

    def joined(self, source: From) -> From:
        """Return the rows joined with the matching pair and the matching NULL."""
        source = Join("left", source, self.pairs, _matching((*self.around, self.value), self.pairs))
        return (
            source if self.unknown is None else Join("left", source, self.unknown, _matching(self.around, self.unknown))
        )

    def exchanged(self, condition: Expr) -> Expr:
        """Return the condition with the joined rows in place of the subquery."""
        if condition == self.nested:
            return _is_there(self.pairs)
        if condition == _not(self.nested):
            absent = [_is_null(_column(side, 0)) for side in (self.pairs, self.unknown) if side is not None]
            return _all([_not(_is_null(self.value)), *absent])
        return self._within(condition)

    def _within(self, expr: Expr) -> Expr:
        """Replace the subquery inside another condition, where FALSE and NULL must be distinguished."""
        if isinstance(expr, Call):
            return replace(expr, arguments=tuple(self._within(argument) for argument in expr.arguments))
        if expr != self.nested:
            return expr
        yes, no, null = (Literal(value, Type.BOOLEAN) for value in (True, False, None))
        branches: list[Expr] = [_is_there(self.pairs), yes, _is_null(self.value), null]
        if self.unknown is not None:
            branches += [_is_there(self.unknown), null]
        return Call("case", (*branches, no), Type.BOOLEAN)


def _membership(nested: Nested) -> _Membership | None:
    """Return the parts of a subquery after IN that is tied to the outer row only by equalities, or None."""
    free = _untied(nested.query) if isinstance(nested.query, Select) else None
    if free is None:
        return None
    query, ties = free
    what = query.columns[0].expr
    if not ties or not _compares_as_grouped(what, nested.arguments[0]):
        return None
    columns = tuple(Named(f"w{i}", inner) for i, inner in enumerate([*(inner for inner, _ in ties), what]))
    alias = next(str(getattr(node, ALIASED)) for node in inside(query.source) if hasattr(node, ALIASED))
    pairs = Derived(replace(query, columns=columns, distinct=True), f"{alias}_pairs")
    unknown = None
    if may_be_null(what) and what not in [inner for inner, _ in ties]:
        missing = replace(query, columns=columns[:-1], where=(*query.where, _is_null(what)), distinct=True)
        unknown = Derived(missing, f"{alias}_unknown")
    return _Membership(nested, tuple(outer for _, outer in ties), pairs, unknown)


Ties = tuple[tuple[Expr, Expr], ...]
"""Equal expressions: one of the subquery, one of the outer row."""


def _untied(query: Select) -> tuple[Select, Ties] | None:
    """Return the query without the conditions that tie it to the outer row, and those ties, or None.

    None if it depends on the outer row in another way. A subquery further inside that names the outer row names its
    equal here instead. Windows may depend on the conditions, and an aggregation without keys returns a row even for
    empty input, so neither qualifies.
    """
    grouped = query.source if isinstance(query.source, Grouped) else None
    if grouped is not None and (not grouped.keys or grouped.sets is not None):
        return None
    if query.limit is not None or query.offset or any(isinstance(node, Window) for node in inside(query.columns)):
        return None
    names = frozenset(str(getattr(node, ALIASED)) for node in inside(query) if hasattr(node, ALIASED))
    ties, where = _parted(query.where, names)
    instead = {outer: inner for inner, outer in ties}
    free = rewrite(replace(query, where=where), lambda node: instead.get(node) if isinstance(node, Column) else None)
    if grouped is not None and free.source != grouped:
        return None
    if grouped is not None:
        inner_ties, others = _parted(grouped.where, names)
        keys = tuple(Named(f"w{i}", inner) for i, (inner, _) in enumerate(inner_ties))
        free = replace(free, source=replace(grouped, where=others, keys=(*grouped.keys, *keys)))
        ties += tuple((_shown(key, grouped.alias), outer) for key, (_, outer) in zip(keys, inner_ties, strict=True))
    strangers = [node for node in inside(free) if isinstance(node, Column) and node.table not in names]
    return None if strangers else (free, ties)


def _parted(where: tuple[Expr, ...], names: frozenset[str]) -> tuple[Ties, tuple[Expr, ...]]:
    """Split conditions into ties and other conditions."""
    parts = [part for clause in where for part in conjuncts(clause)]
    ties_found = [_tie(part, names) for part in parts]
    ties = tuple(dict.fromkeys(tie for tie in ties_found if tie is not None))
    return ties, tuple(part for part, tie in zip(parts, ties_found, strict=True) if tie is None)


def _tie(condition: Expr, names: frozenset[str]) -> tuple[Expr, Expr] | None:
    """Return the inner and the outer side of an equality."""
    if not isinstance(condition, Call) or condition.function not in {"equal", "same_text"}:
        return None
    left, right = condition.arguments
    if condition.function == "equal" and not _compares_as_grouped(left, right):
        return None
    for inner, outer in ((left, right), (right, left)):
        mine, theirs = ({table for table, _ in columns_of(side)} for side in (inner, outer))
        if mine and theirs and mine <= names and not theirs & names:
            return inner, outer
    return None


def _compares_as_grouped(inner: Expr, outer: Expr) -> bool:
    """Return True if DISTINCT keeps one of all equal values, and comparison as text gives the same result."""
    if inner.type is not outer.type:
        return False
    if inner.type is Type.TEXT:
        return is_bytewise(inner) and is_bytewise(outer)
    return inner.type in COMPARED_AS_GROUPED


def _matching(around: tuple[Expr, ...], side: Derived) -> Expr:
    """Return the condition that the first columns of the side equal these expressions."""
    return _all([same_owner(expr, _column(side, index)) for index, expr in enumerate(around)])


def _column(side: Derived, index: int) -> Column:
    if not isinstance(side.query, Select):
        raise InternalError("A membership is joined as a SELECT.")
    return _shown(side.query.columns[index], side.alias)


def _shown(named: Named, alias: str) -> Column:
    native = named.expr.native if isinstance(named.expr, Column) else ""
    return Column(named.name, named.expr.type, table=alias, native=native, collated=False)


def _is_there(side: Derived) -> Expr:
    return _not(_is_null(_column(side, 0)))


def _is_null(expr: Expr) -> Expr:
    return Call("is_null", (expr,), Type.BOOLEAN)


def _not(expr: Expr) -> Expr:
    return Call("not", (expr,), Type.BOOLEAN)


def _all(conditions: Sequence[Expr]) -> Expr:
    return reduce(lambda one, other: Call("and", (one, other), Type.BOOLEAN), conditions)
