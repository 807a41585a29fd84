"""FROM: declared tables, queries of WITH and in parentheses, constants, and joins between them.

Ownership: an inner join keeps the owners of both sides, and all its conditions together must prove them equal
(`ownership.settle`); an outer join must prove it by its own ON clause, and its rows belong to the owner of the side
that is always present.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from hedgerow.catalog.names import fold
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.clauses import check_clauses, is_bare
from hedgerow.plan.context import Context
from hedgerow.plan.facts import Equality, Facts, equalities, term
from hedgerow.plan.nodes import Derived, Join, Values
from hedgerow.plan.ownership import (
    JoinedRows,
    Privacy,
    PrivateSource,
    Table,
    all_of,
    exactly,
    not_on_the_unit,
    owner_column,
    same_owner,
    unproved,
    within_size,
)
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import UNNAMED, Item, RowScope, Scope
from hedgerow.plan.sources import declared_table, nullable
from hedgerow.plan.syntax import span_of
from hedgerow.plan.tables import Environment, plain_table, whole, with_names

UNDERSTOOD = frozenset({"this", "on", "using", "side", "kind", "method"})


MAX_CONSTANT_ROWS = 1_000

Bind = Callable[[exp.Query, Environment], Table]


class Joiner:
    """Joins relations one after the other. `scope` is that of the SELECT; it records columns of an outer query."""

    def __init__(self, context: Context, scope: RowScope) -> None:
        self._context = context
        self._scope = scope

    def join(self, left: JoinedRows, right: JoinedRows, node: exp.Join) -> JoinedRows:
        """Join `left` and `right` as `node` says."""
        _check(node)
        _distinct_names(left, right, node)
        if {left.privacy, right.privacy} == {Privacy.OWNED, Privacy.RELEASED}:
            raise released_with_private(node)
        side = str(node.args.get("side") or "").lower()
        using = self._using(left, right, node)
        condition = self._condition(left, right, using, node)
        if side == "":
            joined = self._inner(left, right, condition)
        elif side == "full":
            joined = self._full(left, right, condition, node)
        else:
            joined = self._outer(left, right, condition, node, flipped=side == "right")
        size = within_size(left.size + right.size)
        either = joined.either or left.either or right.either
        return replace(joined, merged=self._merged(left, right, using, side), node=node, size=size, either=either)

    def _using(self, left: JoinedRows, right: JoinedRows, node: exp.Join) -> list[tuple[str, Expr, Expr]]:
        """Return the columns that USING or NATURAL merges: name, left, right."""
        names = [fold(identifier.name) for identifier in node.args.get("using") or []]
        if str(node.args.get("method") or "").upper() == "NATURAL":
            theirs = [name for item in right.items for name in item.columns]
            names = [name for name in theirs if _scope(left, None).has(name)]
            if not names:
                raise UnsupportedSQLError(
                    "NATURAL JOIN: the tables have no column in common.",
                    code="bad-join",
                    hint="Say what to join on: JOIN … ON a.x = b.y.",
                    span=span_of(node),
                )
        return [(name, _find(left, name, node), _find(right, name, node)) for name in names]

    def _condition(
        self, left: JoinedRows, right: JoinedRows, using: Sequence[tuple[str, Expr, Expr]], node: exp.Join
    ) -> Expr | None:
        conditions: list[Expr] = [coerce.call("equal", coerce.comparable([a, b])) for _, a, b in using]
        if node.args.get("on") is not None:
            merged = {**left.merged, **right.merged}
            scope = replace(self._scope, items=left.items + right.items, merged=merged)
            binder = ScalarBinder(scope, self._context.params, self._context.catalog.timezone)
            conditions.append(binder.boolean(node.args["on"], "ON"))
        if not conditions:
            return None
        whole = conditions[0]
        for part in conditions[1:]:
            whole = coerce.call("and", [whole, part])
        owners = [private.owner for rows in (left, right) for private in rows.private_sources]
        return exactly(whole, [*owners, *left.owners, *right.owners])

    def _merged(
        self, left: JoinedRows, right: JoinedRows, using: Sequence[tuple[str, Expr, Expr]], side: str
    ) -> dict[str, Expr]:
        """Return merged columns of USING: that of the side which is never missing, or the first that is not NULL."""
        merged = {**left.merged, **right.merged}
        for name, one, other in using:
            either = coerce.call("coalesce", coerce.unify([one, other])) if side == "full" else one
            merged[name] = other if side == "right" else either
        return nullable(merged) if side else merged

    def _outer(
        self, left: JoinedRows, right: JoinedRows, condition: Expr | None, node: exp.Join, *, flipped: bool
    ) -> JoinedRows:
        """Bind an outer join: `kept` keeps all its rows, `optional` only those that satisfy the condition."""
        kept, optional = (right, left) if flipped else (left, right)
        condition = self._same_owner(kept, optional, condition, node)
        facts = kept.facts.plus(optional.facts.plus(Facts(), _facts(condition)).guarded(optional.aliases))
        missing = tuple(replace(item, columns=nullable(item.columns)) for item in optional.items)
        items = missing + kept.items if flipped else kept.items + missing
        return JoinedRows(
            Join("left", kept.source, optional.source, condition),
            _privacy(left, right),
            items,
            facts,
            kept.owners or optional.owners[:1],
            left.private_sources + right.private_sources,
            left.public + right.public,
        )

    def _full(self, left: JoinedRows, right: JoinedRows, condition: Expr | None, node: exp.Join) -> JoinedRows:
        """Bind a full join: each side may be missing, and rows belong to the owner of the side that is present."""
        condition = self._same_owner(left, right, condition, node)
        condition = self._same_owner(right, left, condition, node)
        both = (left.aliases, right.aliases)
        facts = left.facts.guarded(left.aliases).plus(right.facts.guarded(right.aliases))
        facts = facts.plus(Facts(), (replace(e, guards=(*e.guards, *both)) for e in _facts(condition)))
        owners = (*left.owners[:1], *right.owners[:1])
        if len(owners) == 2:
            whichever: Expr = coerce.call("coalesce", coerce.unify(owners))
            names = zip(owners, both, strict=True)
            facts = facts.plus(
                Facts(), (Equality(term(whichever), term(o), strict=False, guards=(side,)) for o, side in names)
            )
            owners = (whichever,)
        items = tuple(replace(item, columns=nullable(item.columns)) for item in left.items + right.items)
        return JoinedRows(
            Join("full", left.source, right.source, condition),
            _privacy(left, right),
            items,
            facts,
            owners,
            left.private_sources + right.private_sources,
            left.public + right.public,
            either=bool(left.private_sources and right.private_sources),
        )

    def _inner(self, left: JoinedRows, right: JoinedRows, condition: Expr | None) -> JoinedRows:
        """Bind an inner join; all conditions of the query together decide whether both sides belong to one unit.

        Privacy: an equality of owners that follows from this condition and from declared paths is added here. An
        enclosing outer join depends on what is certain in the tree below it, and WHERE would be evaluated too late.
        """
        joined = _side_by_side(left, right, condition)
        if not left.owners or not right.owners:
            return joined
        added, _ = unproved(joined.owners, joined.facts, self._context)
        return _side_by_side(left, right, all_of([condition, *added]))

    def _same_owner(
        self, kept: JoinedRows, optional: JoinedRows, condition: Expr | None, node: exp.Join
    ) -> Expr | None:
        """Return the ON clause of an outer join; it alone must prove that the joined rows belong to one unit.

        Privacy: an equality of owners that only declared paths imply is added to it.
        """
        if not optional.owners:
            return condition
        alone = self._context.classes(optional.facts)
        for other in optional.owners[1:]:
            if not alone.same(term(optional.owners[0]), term(other)):
                raise not_on_the_unit(replace(optional, node=node), optional.owners[0], other)
        facts, wanted = kept.facts.plus(optional.facts, _facts(condition)), term(optional.owners[0])
        certain, supposed = self._context.classes(facts), self._context.supposed(facts)
        if not kept.owners or any(certain.same(term(owner), wanted) for owner in kept.owners):
            return condition
        for owner in kept.owners:
            if supposed.same(term(owner), wanted):
                return all_of([condition, same_owner(owner, optional.owners[0])])
        both = replace(kept, private_sources=kept.private_sources + optional.private_sources, node=node)
        raise not_on_the_unit(both, kept.owners[0], optional.owners[0])


def _side_by_side(left: JoinedRows, right: JoinedRows, condition: Expr | None) -> JoinedRows:
    return JoinedRows(
        Join("cross" if condition is None else "inner", left.source, right.source, condition),
        _privacy(left, right),
        left.items + right.items,
        left.facts.plus(right.facts, _facts(condition)),
        left.owners + right.owners,
        left.private_sources + right.private_sources,
        left.public + right.public,
    )


def _facts(condition: Expr | None) -> tuple[Equality, ...]:
    return () if condition is None else equalities([condition])


def _privacy(left: JoinedRows, right: JoinedRows) -> Privacy:
    both = {left.privacy, right.privacy}
    return next((s for s in (Privacy.OWNED, Privacy.RELEASED) if s in both), Privacy.PUBLIC)


def _scope(rows: JoinedRows, parent: Scope | None) -> RowScope:
    return RowScope(rows.items, rows.merged, parent)


def _find(rows: JoinedRows, name: str, node: exp.Join) -> Expr:
    column = exp.column(name)
    column.this.meta.update(next((n.meta for n in node.walk() if "start" in n.meta), {}))
    return _scope(rows, None).column(column)


def _check(node: exp.Join) -> None:
    """Refuse joins that have no plain meaning here."""
    extra = [name for name, value in node.args.items() if name not in UNDERSTOOD and value]
    kind, method = str(node.args.get("kind") or "").upper(), str(node.args.get("method") or "").upper()
    if extra or kind not in {"", "INNER", "OUTER", "CROSS"} or method not in {"", "NATURAL"}:
        raise UnsupportedSQLError(
            f"This kind of join ({' '.join(filter(None, [method, kind])) or extra[0].upper()}) is not available.",
            code="bad-join",
            hint="INNER, LEFT, RIGHT, FULL, CROSS, NATURAL, SEMI and ANTI joins are.",
            span=span_of(node),
        )
    if str(node.args.get("side") or "") and not (node.args.get("on") or node.args.get("using") or method):
        raise UnsupportedSQLError(
            "An outer join needs a condition.",
            code="bad-join",
            hint="Say what to join on: LEFT JOIN b ON a.x = b.y.",
            span=span_of(node),
        )


def _distinct_names(left: JoinedRows, right: JoinedRows, node: exp.Join) -> None:
    for item in right.items:
        if any(fold(item.name) == fold(other.name) for other in left.items):
            raise UnsupportedSQLError(
                f"Two tables in FROM are called {item.name!r}.",
                code="duplicate-table",
                hint=f"Give one of them another name: {item.name} AS other.",
                span=span_of(node),
            )


def released_with_private(node: exp.Expr) -> UnsupportedSQLError:
    """Return the refusal to use a noisy result next to private rows."""
    return UnsupportedSQLError(
        "A released result is joined with private rows, so its noise would decide which rows another result counts.",
        code="released-with-private",
        hint="Aggregate the private rows in a CTE of their own first, and join the two results.",
        span=span_of(node),
    )


class FromBinder:
    """Binds the items of one FROM clause and joins them."""

    def __init__(self, context: Context, environment: Environment, bind: Bind, joiner: Joiner) -> None:
        self._context = context
        self._environment = environment
        self._bind = bind
        self._joiner = joiner

    def rows(self, first: exp.Expr, joins: list[exp.Join]) -> JoinedRows:
        """The first item, joined with the others one by one; a comma binds more loosely than JOIN."""
        rows, index = self._item(first), 0
        while index < len(joins):
            join, index = joins[index], index + 1
            behind = list(itertools.takewhile(lambda other: not _is_comma(other), joins[index:]))
            if _is_comma(join) and any(other.args.get("side") or other.args.get("method") for other in behind):
                rows = self._joiner.join(rows, self.rows(join.this, behind), join)
                index += len(behind)
            else:
                rows = self._joiner.join(rows, self._item(join.this), join)
        return rows

    def _item(self, node: exp.Expr) -> JoinedRows:
        joins = node.args.get("joins") or []
        if joins:
            alone = node.copy()
            alone.set("joins", None)
            return self.rows(alone, joins)
        if isinstance(node, exp.Subquery | exp.Paren) and isinstance(node.this, exp.Table | exp.Subquery):
            return self._in_parentheses(node)
        if isinstance(node, exp.Subquery):
            return self._query(node)
        if isinstance(node, exp.Values):
            alias = node.args.get("alias")
            name = alias.name if alias is not None and alias.name else f"values {self._context.alias()}"
            names = [identifier.name for identifier in (alias.args.get("columns") if alias else None) or []]
            table = constants(node, self._context)
            return derived(with_names(table, names, node), name, self._context, node)
        if isinstance(node, exp.Table):
            return self._table(node)
        if isinstance(node, exp.Lateral):
            raise _lateral(node)
        raise UnsupportedSQLError(
            "FROM can name a declared table, a query of WITH, or a query in parentheses.",
            code="from-not-a-table",
            hint="Functions and files cannot be read; name a table of the catalog, or write VALUES.",
            span=span_of(node),
        )

    def _in_parentheses(self, node: exp.Expr) -> JoinedRows:
        if node.args.get("alias") is not None:
            if isinstance(node.this, exp.Subquery):
                return self._query(node)
            raise UnsupportedSQLError(
                "A join in parentheses has no name of its own.",
                code="bad-join",
                hint="Name the tables in it; or write (SELECT * FROM a JOIN b ON …) AS t.",
                span=span_of(node),
            )
        return self._item(node.this)

    def _table(self, node: exp.Table) -> JoinedRows:
        alias = node.args.get("alias")
        name = alias.name if alias and alias.name else node.name
        plain = isinstance(node.this, exp.Identifier) and not [
            k for k, v in node.args.items() if k not in {"this", "alias"} and v
        ]
        names = [identifier.name for identifier in (alias.args.get("columns") if alias else None) or []]
        known = self._environment.find(node.name) if plain else None
        if known is not None:
            return derived(with_names(known, names, node), name, self._context, node)
        rows = declared_table(node, name, self._context)
        return replace(rows, items=(_renamed(rows.items[0], names, node),)) if names else rows

    def _query(self, node: exp.Expr) -> JoinedRows:
        check_clauses(node, frozenset({"this", "alias"}))
        inner = node.this
        while isinstance(inner, exp.Subquery) and is_bare(inner):
            inner = inner.this
        table = self._bind(inner, self._environment)
        alias = node.args.get("alias")
        names = [identifier.name for identifier in (alias.args.get("columns") if alias else None) or []]
        name = alias.name if alias is not None and alias.name else f"{UNNAMED}{self._context.alias()}"
        return derived(with_names(table, names, node), name, self._context, node)


def _is_comma(join: exp.Join) -> bool:
    return not any(join.args.get(name) for name in ("on", "using", "side", "kind", "method"))


def derived(table: Table, name: str, context: Context, node: exp.Expr) -> JoinedRows:
    """A query in FROM, with fresh facts about rows of its own."""
    if table.outer:
        raise _lateral(node)
    whole(table, node)
    alias = context.alias()
    facts = table.facts.under(f"{alias}:", alias)
    shown = {fold(n): n for n in table.names}
    columns: dict[str, Expr] = {}
    for index, (spelling, column) in enumerate(zip(table.names, table.columns, strict=True)):
        if fold(spelling) not in columns:
            named = replace(column, name="o" if index in table.owner_at else f"c{index}", table=alias)
            columns[fold(spelling)] = Literal(None, Type.NULL) if column.type is Type.NULL else named
    item = Item(name, columns, frozenset(), shown)
    source = Derived(table.query, alias)
    if table.ownership is None:
        return JoinedRows(source, table.privacy, (item,), facts, public=((alias, None),), node=node, size=table.size)
    owner = owner_column(alias, table.ownership.owner)
    private = PrivateSource(owner, table.ownership.limits, name, None, (), facts.aliases)
    return JoinedRows(source, Privacy.OWNED, (item,), facts, (owner,), (private,), node=node, size=table.size)


def _lateral(node: exp.Expr) -> UnsupportedSQLError:
    return UnsupportedSQLError(
        "A subquery in FROM cannot refer to other tables in FROM or to the outer query.",
        code="lateral",
        hint="Join the tables on a condition, or use a subquery in SELECT or WHERE.",
        span=span_of(node),
    )


def _renamed(item: Item, names: list[str], node: exp.Expr) -> Item:
    """A table whose first columns the query gives other names; hidden columns keep theirs and stay hidden."""
    if len(names) > len(item.columns):
        raise UnsupportedSQLError(
            f"{len(names)} names are given to {len(item.columns)} columns that can be used.",
            code="column-aliases",
            hint="Give at most one name for each column.",
            span=span_of(node),
        )
    if item.hidden:
        raise UnsupportedSQLError(
            f"The columns of {item.name!r} cannot be renamed by position: some are hidden.",
            code="column-aliases",
            hint="Rename them in SELECT.",
            span=span_of(node),
        )
    spelling = [*names, *list(item.shown.values())[len(names) :]]
    columns = dict(zip(map(fold, spelling), item.columns.values(), strict=True))
    return Item(item.name, columns, frozenset(), dict(zip(map(fold, spelling), spelling, strict=True)))


def constants(node: exp.Values, context: Context) -> Table:
    """VALUES: a public table of constants."""
    binder = ScalarBinder(RowScope(()), context.params, context.catalog.timezone)
    rows: list[tuple[Expr, ...]] = []
    for row in node.expressions:
        cells = row.expressions if isinstance(row, exp.Tuple) else [row]
        rows.append(tuple(binder.bind(cell) for cell in cells))
    widths = {len(row) for row in rows}
    constant = all(isinstance(cell, Literal) for row in rows for cell in row)
    if len(widths) != 1 or not constant or len(rows) > MAX_CONSTANT_ROWS:
        raise UnsupportedSQLError(
            f"VALUES takes up to {MAX_CONSTANT_ROWS:,} rows of constants, all of one length.",
            code="bad-values",
            hint="For instance (VALUES (1, 'a'), (2, 'b')) AS t (x, y).",
            span=span_of(node),
        )
    unified = [coerce.unify(list(column), span_of(node)) for column in zip(*rows, strict=True)]
    alias = context.alias()
    columns = tuple(
        Column(f"c{i}", _common(cells), nullable=any(c.type is Type.NULL for c in cells), table=alias, collated=False)
        for i, cells in enumerate(unified)
    )
    values = Values(tuple(tuple(c for c in row if isinstance(c, Literal)) for row in zip(*unified, strict=True)), alias)
    return plain_table(values, columns, tuple(f"col{i}" for i in range(len(columns))))


def _common(cells: list[Expr]) -> Type:
    return next((cell.type for cell in cells if cell.type is not Type.NULL), Type.TEXT)
