"""Binding one SELECT: rows first, then groups, then what is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from hedgerow.errors import UnknownNameError, UnsupportedSQLError
from hedgerow.expressions.nodes import Column, Expr, Nested, Order, Window, walk
from hedgerow.plan.aggregate_calls import has_aggregate, histograms_as_bins
from hedgerow.plan.aggregated import Mode
from hedgerow.plan.clauses import Shown, check_clauses, semi_joins_as_conditions, shown_columns, whole_number
from hedgerow.plan.context import Context
from hedgerow.plan.facts import Equality, Facts, term
from hedgerow.plan.groups import GroupBinder, Relation, is_grouped
from hedgerow.plan.joins import Joiner
from hedgerow.plan.nested import Around, Nester, has_nested
from hedgerow.plan.nodes import Derived, From, Join, Named, Select, rewrite
from hedgerow.plan.ownership import determines_owner, exactly, one_row_each, same_owner, settle
from hedgerow.plan.relations import FromBinder
from hedgerow.plan.rows import Owned, Rows, Standing, Table, within_size
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import RowScope, fold
from hedgerow.plan.sources import without_detours
from hedgerow.plan.specials import Specials
from hedgerow.plan.syntax import span_of
from hedgerow.plan.tables import Environment, described, owned_table, unique_names, with_owner
from hedgerow.plan.windows import Windows, order_term, with_ties_broken


@dataclass(frozen=True)
class Ending:
    """What is shown of a relation, all bound."""

    names: tuple[str, ...]
    exprs: tuple[Expr, ...]
    qualify: Expr | None
    order: tuple[Order, ...]
    limit: int | None
    offset: int
    distinct: bool


def finish(below: Relation, ending: Ending, context: Context) -> Table:
    """The whole SELECT as a table."""
    if below.owned is not None:
        return _owned(below, ending, below.owned, context)
    exprs, qualify = (ending.exprs, ending.qualify) if below.standing is Standing.RELEASED else _tied(ending)
    named = tuple(Named(f"c{i}", expr) for i, expr in enumerate(exprs))
    order = ending.order
    if ending.limit is not None or ending.offset:
        order = (*order, *(Order(expr, descending=False, nulls_first=False) for expr in exprs))
    select = Select(below.source, below.where, named, order=order, limit=ending.limit, offset=ending.offset)
    select, _ = _windows_first(select, qualify, context)
    if ending.distinct:
        select = _distinct(select, context)
    columns = tuple(described(f"c{i}", expr) for i, expr in enumerate(ending.exprs))
    return Table(select, below.standing, ending.names, columns)


def _owned(below: Relation, ending: Ending, owned: Owned, context: Context) -> Table:
    """Rows of people: they have no order, and no end before the noise."""
    exprs, qualify = _tied(ending)
    named = tuple(Named(f"c{i}", expr) for i, expr in enumerate(exprs))
    select = with_owner(Select(below.source, below.where, named, distinct=ending.distinct), owned.owner)
    select, alias = _windows_first(select, qualify, context)
    shown = owned
    if alias:
        owner = select.columns[-1].expr
        same = Equality(term(owner), term(owned.owner), strict=False)
        shown = replace(owned, owner=owner, facts=owned.facts.plus(Facts((), (), frozenset({alias})), [same]))
    table = owned_table(select, ending.names, exprs, shown, context)
    alone = ending.distinct and table.owner_at == frozenset(range(len(exprs)))
    if alone:
        table = replace(table, owned=replace(shown, limits=one_row_each(shown.limits, shown.owner)))
    return replace(table, cut_off=ending.limit is not None or ending.offset > 0)


def _tied(ending: Ending) -> tuple[tuple[Expr, ...], Expr | None]:
    """What is shown, and QUALIFY, with windows that give one result for the same rows in any order."""
    looked_at = [*ending.exprs, *([] if ending.qualify is None else [ending.qualify])]
    broken = with_ties_broken(looked_at)
    return tuple(broken[: len(ending.exprs)]), None if ending.qualify is None else broken[-1]


def _windows_first(select: Select, condition: Expr | None, context: Context) -> tuple[Select, str]:
    """Windows inside other functions, and QUALIFY: the windows become columns of an inner query.

    Some engines know no QUALIFY, and none a window inside TRY. The alias of the inner query comes along, or "".
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
    """Whether a window function stands anywhere in the expression."""
    return any(isinstance(part, Window) for part in walk(expr))


def _aliases(source: From | None) -> frozenset[str]:
    """The relations that the columns of a SELECT can belong to."""
    if isinstance(source, Join):
        return _aliases(source.left) | _aliases(source.right)
    return frozenset() if source is None else frozenset({source.alias})


def _distinct(select: Select, context: Context) -> Select:
    """SELECT DISTINCT; ORDER BY and LIMIT apply to what it leaves, so they go around it."""
    if not select.order and select.limit is None and not select.offset:
        return replace(select, distinct=True)
    alias = context.alias()
    shown = tuple(Named(c.name, replace(described(c.name, c.expr), table=alias)) for c in select.columns)
    by_expr = {c.expr: s.expr for c, s in zip(select.columns, shown, strict=True)}
    if any(term.expr not in by_expr for term in select.order):
        raise UnsupportedSQLError(
            "With DISTINCT, ORDER BY can only use columns that are shown.", code="order", hint="Show the column, too."
        )
    order = tuple(replace(term, expr=by_expr[term.expr]) for term in select.order)
    below = replace(select, distinct=True, order=(), limit=None, offset=0)
    return Select(Derived(below, alias), (), shown, False, order, select.limit, select.offset)  # noqa: FBT003


Bind = Callable[[exp.Query, Environment, Around | None], Table]


class SelectBinder:
    """Binds one SELECT."""

    def __init__(
        self, select: exp.Select, context: Context, environment: Environment, around: Around | None, bind: Bind
    ) -> None:
        check_clauses(select)
        self._select = histograms_as_bins(semi_joins_as_conditions(select))
        self._context = context
        self._around = around
        self._nest = lambda query, inner: bind(query, environment, inner)
        self._nesters = [Nester(context, self._nest)]
        self._specials = Specials(self._nesters[0])
        self._scope = RowScope((), parent=around.scope if around else None, special_=self._specials)
        self._rows = ScalarBinder(self._scope, context.params, context.catalog.timezone)
        self._specials.binder = self._rows
        joiner = Joiner(context, self._scope, self._specials)
        self._table = self._from(FromBinder(context, environment, lambda query, env: bind(query, env, None), joiner))

    def bind(self) -> Table:
        """The query that the SELECT stands for."""
        below = self._filtered()
        shown = shown_columns(self._select, self._scope)
        windows = {fold(window.this.name): window for window in self._select.args.get("windows") or []}
        self._specials.windows = Windows(self._context, below.owned, windows)
        distinct = self._shows_keys(shown, below.owned)
        if distinct or is_grouped(self._select, shown):
            table = self._grouped(below, shown, windows, distinct=distinct)
        else:
            ending = self._ending(shown, self._rows, self._scope.aliases)
            table = self._with_standing(finish(below, ending, self._context), self._specials.nester)
            single = below.source is None or (ending.limit is not None and ending.limit <= 1)
            table = replace(table, one_row=single and table.owned is None)
        size = (self._table.size if self._table is not None else 1) + sum(nester.size for nester in self._nesters)
        return replace(table, outer=tuple(self._scope.outer), size=within_size(size))

    def _from(self, binder: FromBinder) -> Rows | None:
        origin = self._select.args.get("from_")
        if origin is None:
            return None
        rows = binder.rows(origin.this, self._select.args.get("joins") or [])
        self._scope.items = rows.items
        self._scope.merged = rows.merged
        self._specials.nester.standing = rows.standing
        return rows

    def _filtered(self) -> Relation:
        """The rows that WHERE leaves, and to whom they belong. Nested queries come last: they need the owner."""
        where = self._select.args.get("where")
        nodes = [] if where is None else list(where.this.flatten() if isinstance(where.this, exp.And) else [where.this])
        if where is not None and has_aggregate(where.this):
            raise UnsupportedSQLError(
                "WHERE cannot use an aggregate: it is applied to rows.",
                code="aggregate-in-where",
                hint="Use HAVING.",
                span=span_of(where),
            )
        plain = [self._condition(node) for node in nodes if not has_nested(node)]
        owned, source = None, None if self._table is None else self._table.source
        if self._table is not None and self._table.owners:
            owned, added = settle(self._table, plain, self._context)
            if not self._context.keep_paths:
                source, owned, added = without_detours(self._table, owned, added, self._context)
            plain += added
            if self._around is not None and self._around.owned is not None:
                plain, owned = self._pinned(plain, owned, self._around.owned)
        self._specials.nester.around = Around(self._scope, owned)
        conditions = (*plain, *(self._condition(node) for node in nodes if has_nested(node)))
        return Relation(source, conditions, owned, self._specials.nester.standing)

    def _condition(self, node: exp.Expr) -> Expr:
        bound = self._rows.boolean(node, "WHERE")
        leaves = self._table.leaves if self._table is not None else ()
        return exactly(bound, [leaf.owner for leaf in leaves])

    def _pinned(self, conditions: list[Expr], owned: Owned, outer: Owned) -> tuple[list[Expr], Owned]:
        """Whether a nested query reads rows of the surrounding row's owner alone; the condition is then spelled out."""
        facts = outer.facts.plus(owned.facts)
        if not self._context.supposed(facts).same(term(owned.owner), term(outer.owner)):
            return conditions, owned
        self._scope.outer += [part for part in walk(outer.owner) if isinstance(part, Column)]
        same = same_owner(owned.owner, outer.owner)
        return [*conditions, same], replace(owned, owner=outer.owner, facts=facts, pinned=True)

    def _shows_keys(self, shown: Sequence[Shown], owned: Owned | None) -> bool:
        """SELECT DISTINCT over several people's rows is GROUP BY without aggregates."""
        distinct = self._select.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise UnsupportedSQLError(
                "DISTINCT ON is not available.",
                code="distinct",
                hint="QUALIFY ROW_NUMBER() OVER (PARTITION BY …) = 1 chooses a row.",
                span=span_of(distinct),
            )
        if distinct is None or owned is None or is_grouped(self._select, shown):
            return False
        plain = [self._rows.bind(column.node) for column in shown if column.node.find(exp.Window) is None]
        return not determines_owner(plain, owned, self._context)

    def _grouped(
        self, below: Relation, shown: Sequence[Shown], windows: dict[str, exp.Window], *, distinct: bool
    ) -> Table:
        public = frozenset(alias for alias, _ in self._table.public) if self._table is not None else frozenset()
        binder = GroupBinder(self._context, self._scope, self._rows, below, public)
        groups = binder.groups(self._select, shown, distinct=distinct)
        nester = Nester(self._context, self._nest)
        self._nesters.append(nester)
        nester.standing = Standing.RELEASED if groups.mode is Mode.RELEASE else below.standing
        person = binder.person(groups, below.owned) if groups.mode is Mode.PERSON and below.owned else None
        specials = Specials(nester)
        scope = binder.scope(groups, specials)
        above = ScalarBinder(scope, self._context.params, self._context.catalog.timezone)
        specials.binder = above
        if groups.mode is not Mode.PERSON:
            nester.around = Around(scope, None)
        specials.windows = Windows(self._context, person, windows)
        ending = self._ending(shown, above, scope.aliases)
        specials.windows = None
        for name in [name for name, expr in scope.aliases.items() if has_window(expr)]:
            del scope.aliases[name]
        having = self._select.args.get("having")
        conditions = () if having is None else (above.boolean(having.this, "HAVING"),)
        relation = binder.relation(groups, scope, conditions)
        table = self._with_standing(finish(relation, ending, self._context), self._specials.nester, nester)
        return replace(table, one_row=table.one_row or not groups.keys)

    def _with_standing(self, table: Table, *nesters: Nester) -> Table:
        if table.standing is Standing.PUBLIC and any(nester.released for nester in nesters):
            return replace(table, standing=Standing.RELEASED)
        return table

    def _ending(self, shown: Sequence[Shown], binder: ScalarBinder, aliases: dict[str, Expr]) -> Ending:
        """Everything above the rows or groups, bound."""
        exprs: list[Expr] = []
        for column in shown:
            exprs.append(binder.bind(column.node))
            aliases.setdefault(fold(column.name), exprs[-1])
        qualify, order = self._select.args.get("qualify"), self._select.args.get("order")
        return Ending(
            unique_names([column.name for column in shown]),
            tuple(exprs),
            None if qualify is None else binder.boolean(qualify.this, "QUALIFY"),
            tuple(_order(node, shown, exprs, binder) for node in (order.expressions if order else [])),
            whole_number(self._select, "limit", binder),
            whole_number(self._select, "offset", binder) or 0,
            bool(self._select.args.get("distinct")),
        )


def _position(node: exp.Literal, columns: int) -> int:
    """The column at a position of ORDER BY; as a mere constant, a wrong one would order nothing."""
    if not 1 <= int(node.this) <= columns:
        raise UnknownNameError(
            f"ORDER BY {node.this} names a column by its position, but there are {columns}.",
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
