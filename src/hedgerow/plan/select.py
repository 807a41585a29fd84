"""Binding of one SELECT, in stages: rows, then groups, then the SELECT list and the clauses after it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from hedgerow.catalog.names import fold
from hedgerow.errors import UnknownNameError, UnsupportedSQLError
from hedgerow.expressions.nodes import Column, Expr, Nested, Order, Window, walk
from hedgerow.plan.aggregate_calls import has_aggregate, histograms_as_bins
from hedgerow.plan.aggregated import AggregatedScope, Mode
from hedgerow.plan.clauses import Shown, check_clauses, semi_joins_as_conditions, shown_columns, whole_number
from hedgerow.plan.context import Context
from hedgerow.plan.facts import Equality, Facts, term
from hedgerow.plan.groups import GroupBinder, Relation, is_grouped
from hedgerow.plan.nested import Around, Nester, Specials, has_nested
from hedgerow.plan.nodes import Derived, From, Join, Named, Select, rewrite
from hedgerow.plan.ownership import (
    JoinedRows,
    Ownership,
    Privacy,
    Table,
    determines_owner,
    exactly,
    one_row_each,
    same_owner,
    settle,
    within_size,
)
from hedgerow.plan.relations import FromBinder, Joiner
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import RowScope, Scope
from hedgerow.plan.sources import without_detours
from hedgerow.plan.syntax import span_of
from hedgerow.plan.tables import Environment, described, owned_table, unique_names, with_owner
from hedgerow.plan.windows import Windows, order_term, with_ties_broken


@dataclass(frozen=True)
class Ending:
    """The SELECT list and the clauses after it, all bound."""

    names: tuple[str, ...]
    exprs: tuple[Expr, ...]
    qualify: Expr | None
    order: tuple[Order, ...]
    limit: int | None
    offset: int
    distinct: bool


def finish(relation: Relation, ending: Ending, context: Context) -> Table:
    """Return the whole SELECT as a table."""
    if relation.ownership is not None:
        return _finish_private(relation, ending, relation.ownership, context)
    exprs, qualify = (ending.exprs, ending.qualify) if relation.privacy is Privacy.RELEASED else _tied(ending)
    named = tuple(Named(f"c{i}", expr) for i, expr in enumerate(exprs))
    order = ending.order
    if ending.limit is not None or ending.offset:
        order = (*order, *(Order(expr, descending=False, nulls_first=False) for expr in exprs))
    select = Select(relation.source, relation.where, named, order=order, limit=ending.limit, offset=ending.offset)
    select, _ = _windows_first(select, qualify, context)
    if ending.distinct:
        select = _distinct(select, context)
    columns = tuple(described(f"c{i}", expr) for i, expr in enumerate(ending.exprs))
    return Table(select, relation.privacy, ending.names, columns)


def _finish_private(relation: Relation, ending: Ending, ownership: Ownership, context: Context) -> Table:
    """Return rows of people; they have no order and no limit before the noise."""
    exprs, qualify = _tied(ending)
    named = tuple(Named(f"c{i}", expr) for i, expr in enumerate(exprs))
    select = with_owner(Select(relation.source, relation.where, named, distinct=ending.distinct), ownership.owner)
    select, alias = _windows_first(select, qualify, context)
    shown = ownership
    if alias:
        owner = select.columns[-1].expr
        same = Equality(term(owner), term(ownership.owner), strict=False)
        shown = replace(ownership, owner=owner, facts=ownership.facts.plus(Facts((), (), frozenset({alias})), [same]))
    table = owned_table(select, ending.names, exprs, shown, context)
    alone = ending.distinct and table.owner_at == frozenset(range(len(exprs)))
    if alone:
        table = replace(table, ownership=replace(shown, limits=one_row_each(shown.limits, shown.owner)))
    return replace(table, cut_off=ending.limit is not None or ending.offset > 0)


def _tied(ending: Ending) -> tuple[tuple[Expr, ...], Expr | None]:
    """Return the SELECT list and QUALIFY, with windows whose result does not depend on the order of equal rows."""
    looked_at = [*ending.exprs, *([] if ending.qualify is None else [ending.qualify])]
    broken = with_ties_broken(looked_at)
    return tuple(broken[: len(ending.exprs)]), None if ending.qualify is None else broken[-1]


def _windows_first(select: Select, condition: Expr | None, context: Context) -> tuple[Select, str]:
    """Turn windows inside other functions, and in QUALIFY, into columns of an inner query.

    Some engines have no QUALIFY, and none allows a window inside TRY. The alias of the inner query is returned, too, or
    "".
    """
    exprs = [*(column.expr for column in select.columns), *(order.expr for order in select.order)]
    if condition is None and all(isinstance(expr, Window) or not has_window(expr) for expr in exprs):
        return select, ""
    alias = context.alias()
    inner: dict[Expr, Column] = {}
    here = _aliases(select.source)

    def columns(node: object) -> object | None:
        return moved(node) if isinstance(node, Column) and node.table in here else None

    def moved(node: Column | Window) -> Column:
        return inner.setdefault(node, replace(described(f"q{len(inner)}", node), table=alias))

    def swap(node: object) -> object | None:
        if isinstance(node, Nested):
            inside = replace(node, query=rewrite(node.query, columns), outer=rewrite(node.outer, columns))
            return replace(inside, arguments=rewrite(node.arguments, swap))
        return moved(node) if isinstance(node, Window) else columns(node)

    outer = tuple(Named(column.name, rewrite(column.expr, swap)) for column in select.columns)
    order, where = rewrite(select.order, swap), () if condition is None else (rewrite(condition, swap),)
    below = tuple(Named(column.name, expr) for expr, column in inner.items())
    source = Derived(Select(select.source, select.where, below), alias)
    return Select(source, where, outer, select.distinct, order, select.limit, select.offset), alias


def has_window(expr: Expr) -> bool:
    """Return True if the expression contains a window function."""
    return any(isinstance(part, Window) for part in walk(expr))


def _aliases(source: From | None) -> frozenset[str]:
    """Return the relations that the columns of a SELECT can belong to."""
    if isinstance(source, Join):
        return _aliases(source.left) | _aliases(source.right)
    return frozenset() if source is None else frozenset({source.alias})


def _distinct(select: Select, context: Context) -> Select:
    """Bind SELECT DISTINCT; ORDER BY and LIMIT apply to its result, so they go around it."""
    if not select.order and select.limit is None and not select.offset:
        return replace(select, distinct=True)
    alias = context.alias()
    shown = tuple(Named(c.name, replace(described(c.name, c.expr), table=alias)) for c in select.columns)
    by_expr = {c.expr: s.expr for c, s in zip(select.columns, shown, strict=True)}
    if any(term.expr not in by_expr for term in select.order):
        raise UnsupportedSQLError(
            "With DISTINCT, ORDER BY can only use columns of the SELECT list.",
            code="order",
            hint="Add the column to the SELECT list.",
        )
    order = tuple(replace(term, expr=by_expr[term.expr]) for term in select.order)
    below = replace(select, distinct=True, order=(), limit=None, offset=0)
    return Select(Derived(below, alias), (), shown, order=order, limit=select.limit, offset=select.offset)


Bind = Callable[[exp.Query, Environment, Around | None], Table]


def bind_select(
    select: exp.Select, context: Context, environment: Environment, around: Around | None, bind: Bind
) -> Table:
    """Bind one SELECT: the rows of FROM and WHERE, then groups, then the output columns."""
    check_clauses(select)
    plain = histograms_as_bins(semi_joins_as_conditions(select))
    return _SelectBinder(plain, context, environment, around, bind).bind()


@dataclass(frozen=True)
class _SelectBinder:
    """The stages of one SELECT. Each stage returns what the next ones need, and changes nothing later."""

    select: exp.Select
    context: Context
    environment: Environment
    around: Around | None
    bind_query: Bind

    def bind(self) -> Table:
        """Return the table that the SELECT computes."""
        rows, scope = self._from()
        below, nester = self._where(rows, scope)
        shown = shown_columns(self.select, scope)
        scope = replace(scope, special_=Specials(nester, self._windows(below.ownership)))
        distinct = self._shows_keys(shown, below.ownership, self._binder(scope))
        if distinct or is_grouped(self.select, shown):
            public = frozenset(alias for alias, _ in rows.public) if rows is not None else frozenset()
            groups = GroupBinder(self.context, scope, self._binder(scope), below, public)
            table, nesters = self._grouped(groups, below, shown, distinct=distinct)
        else:
            ending = self._ending(shown, self._binder(scope), scope.aliases)
            table, nesters = finish(below, ending, self.context), []
            single = below.source is None or (ending.limit is not None and ending.limit <= 1)
            table = replace(table, one_row=single and table.ownership is None)
        nesters = [nester, *nesters]
        if table.privacy is Privacy.PUBLIC and any(nester.released for nester in nesters):
            table = replace(table, privacy=Privacy.RELEASED)
        size = (rows.size if rows is not None else 1) + sum(nester.size for nester in nesters)
        return replace(table, outer=tuple(scope.outer), size=within_size(size))

    def _from(self) -> tuple[JoinedRows | None, RowScope]:
        """Bind the rows of FROM, and the names in them. Nested queries and windows are refused in its conditions."""
        parent = self.around.scope if self.around else None
        scope = RowScope((), parent=parent, special_=Specials(Nester(self.context, self._nest)))
        origin = self.select.args.get("from_")
        if origin is None:
            return None, scope
        joiner = Joiner(self.context, scope)
        binder = FromBinder(
            self.context, self.environment, lambda query, names: self.bind_query(query, names, None), joiner
        )
        rows = binder.rows(origin.this, self.select.args.get("joins") or [])
        return rows, replace(scope, items=rows.items, merged=rows.merged)

    def _where(self, rows: JoinedRows | None, scope: RowScope) -> tuple[Relation, Nester]:
        """Bind the rows that satisfy WHERE, and their owner. Nested queries come last because they need the owner."""
        where = self.select.args.get("where")
        nodes = [] if where is None else list(where.this.flatten() if isinstance(where.this, exp.And) else [where.this])
        if where is not None and has_aggregate(where.this):
            raise UnsupportedSQLError(
                "Aggregates are not allowed in WHERE, which is applied to rows.",
                code="aggregate-in-where",
                hint="Use HAVING.",
                span=span_of(where),
            )
        units = [private.owner for private in rows.private_sources] if rows is not None else []

        def conditions(scope: RowScope, *, nested: bool) -> list[Expr]:
            binder = self._binder(scope)
            return [exactly(binder.boolean(n, "WHERE"), units) for n in nodes if has_nested(n) is nested]

        plain = conditions(scope, nested=False)
        ownership, source = None, None if rows is None else rows.source
        if rows is not None and rows.owners:
            ownership, added = settle(rows, plain, self.context)
            if not self.context.keep_paths:
                source, ownership, added = without_detours(rows, ownership, added, self.context)
            plain += added
            if self.around is not None and self.around.ownership is not None:
                plain, ownership = self._pinned(plain, ownership, self.around.ownership, scope)
        privacy = rows.privacy if rows is not None else Privacy.PUBLIC
        nester = Nester(self.context, self._nest, privacy, Around(scope, ownership))
        nested = conditions(replace(scope, special_=Specials(nester)), nested=True)
        return Relation(source, (*plain, *nested), ownership, privacy), nester

    def _pinned(
        self, conditions: list[Expr], ownership: Ownership, outer: Ownership, scope: RowScope
    ) -> tuple[list[Expr], Ownership]:
        """Add the condition that a nested query reads only rows of the outer row's owner, where it does."""
        facts = outer.facts.plus(ownership.facts)
        if not self.context.supposed(facts).same(term(ownership.owner), term(outer.owner)):
            return conditions, ownership
        scope.outer.extend(part for part in walk(outer.owner) if isinstance(part, Column))
        same = same_owner(ownership.owner, outer.owner)
        return [*conditions, same], replace(ownership, owner=outer.owner, facts=facts, pinned=True)

    def _shows_keys(self, shown: Sequence[Shown], ownership: Ownership | None, binder: ScalarBinder) -> bool:
        """Return True if SELECT DISTINCT over several people's rows is GROUP BY without aggregates."""
        distinct = self.select.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise UnsupportedSQLError(
                "DISTINCT ON is not available.",
                code="distinct",
                hint="QUALIFY ROW_NUMBER() OVER (PARTITION BY …) = 1 chooses a row.",
                span=span_of(distinct),
            )
        if distinct is None or ownership is None or is_grouped(self.select, shown):
            return False
        plain = [binder.bind(column.node) for column in shown if column.node.find(exp.Window) is None]
        return not determines_owner(plain, ownership, self.context)

    def _grouped(
        self, binder: GroupBinder, below: Relation, shown: Sequence[Shown], *, distinct: bool
    ) -> tuple[Table, list[Nester]]:
        """Bind the table of the groups, and the nested queries above them. HAVING comes last, and has no windows."""
        groups = binder.groups(self.select, shown, distinct=distinct)
        privacy = Privacy.RELEASED if groups.mode is Mode.RELEASE else below.privacy
        person = binder.person(groups, below.ownership) if groups.mode is Mode.PERSON and below.ownership else None

        def nester(scope: AggregatedScope) -> Nester:
            around = None if groups.mode is Mode.PERSON else Around(scope, None)
            return Nester(self.context, self._nest, privacy, around)

        names = binder.scope(groups)
        in_select = nester(names)
        post_context = replace(names, special_=Specials(in_select, self._windows(person)))
        ending = self._ending(shown, self._binder(post_context), names.aliases)
        plain = {name: expr for name, expr in names.aliases.items() if not has_window(expr)}
        without_windows = replace(names, aliases=plain)
        in_having = nester(without_windows)
        having = self.select.args.get("having")
        last = self._binder(replace(without_windows, special_=Specials(in_having)))
        conditions = () if having is None else (last.boolean(having.this, "HAVING"),)
        table = finish(binder.relation(groups, names, conditions), ending, self.context)
        return replace(table, one_row=table.one_row or not groups.keys), [in_select, in_having]

    def _ending(self, shown: Sequence[Shown], binder: ScalarBinder, aliases: dict[str, Expr]) -> Ending:
        """Bind everything above the rows or groups."""
        exprs: list[Expr] = []
        for column in shown:
            exprs.append(binder.bind(column.node))
            aliases.setdefault(fold(column.name), exprs[-1])
        qualify, order = self.select.args.get("qualify"), self.select.args.get("order")
        return Ending(
            unique_names([column.name for column in shown]),
            tuple(exprs),
            None if qualify is None else binder.boolean(qualify.this, "QUALIFY"),
            tuple(_order(node, shown, exprs, binder) for node in (order.expressions if order else [])),
            whole_number(self.select, "limit", binder),
            whole_number(self.select, "offset", binder) or 0,
            bool(self.select.args.get("distinct")),
        )

    def _binder(self, scope: Scope) -> ScalarBinder:
        return ScalarBinder(scope, self.context.params, self.context.catalog.timezone)

    def _windows(self, ownership: Ownership | None) -> Windows:
        named = {fold(window.this.name): window for window in self.select.args.get("windows") or []}
        return Windows(self.context, ownership, named)

    def _nest(self, query: exp.Query, around: Around) -> Table:
        return self.bind_query(query, self.environment, around)


def _position(node: exp.Literal, columns: int) -> int:
    """The column at a position of ORDER BY; a wrong position is refused, since as a constant it would order nothing."""
    if not 1 <= int(node.this) <= columns:
        raise UnknownNameError(
            f"ORDER BY {node.this} names a column by its position, but the SELECT list has {columns}.",
            code="unknown-column",
            hint=f"Write a position from 1 to {columns}, or a name.",
            span=span_of(node),
        )
    return int(node.this) - 1


def _order(node: exp.Expr, shown: Sequence[Shown], exprs: Sequence[Expr], binder: ScalarBinder) -> Order:
    """A term of ORDER BY: a position, a name of SELECT, or an expression."""
    inner = node.this if isinstance(node, exp.Ordered) else node
    at = None
    if isinstance(inner, exp.Literal) and not inner.is_string and inner.this.isdigit():
        at = _position(inner, len(shown))
    elif isinstance(inner, exp.Column) and not inner.table:
        at = next((i for i, s in enumerate(shown) if fold(s.name) == fold(inner.name)), None)
    if at is None:
        return order_term(node, binder)
    if node.args.get("with_fill"):
        raise UnsupportedSQLError(
            "This form of ORDER BY is not available.",
            code="order",
            hint="Order by columns, positions or expressions, with ASC or DESC and NULLS FIRST or LAST.",
            span=span_of(node),
        )
    return Order(exprs[at], bool(node.args.get("desc")), bool(node.args.get("nulls_first")))
