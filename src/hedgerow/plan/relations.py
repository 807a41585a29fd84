"""One item of FROM: a declared table, a query of WITH, a query in parentheses, constants, or joins in parentheses."""

import itertools
from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from hedgerow.catalog.names import fold
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.clauses import check_clauses, is_bare
from hedgerow.plan.context import Context
from hedgerow.plan.joins import Joiner
from hedgerow.plan.nodes import Derived, Values
from hedgerow.plan.ownership import owner_column
from hedgerow.plan.rows import JoinedRows, Privacy, PrivateSource, Table
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import UNNAMED, Item, RowScope
from hedgerow.plan.sources import declared_table
from hedgerow.plan.syntax import span_of
from hedgerow.plan.tables import Environment, plain_table, whole, with_names

MAX_CONSTANT_ROWS = 1_000

Bind = Callable[[exp.Query, Environment], Table]


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
