"""Binding one SELECT: rows first, then groups, then what is shown."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from hedgerow.errors import UnknownNameError, UnsupportedSQLError
from hedgerow.expressions.nodes import Column, Expr, Order, walk
from hedgerow.plan.aggregated import Mode
from hedgerow.plan.bins import histograms_as_bins
from hedgerow.plan.clauses import check_clauses, whole_number
from hedgerow.plan.context import Context
from hedgerow.plan.desugar import semi_joins_as_conditions
from hedgerow.plan.environment import Environment
from hedgerow.plan.facts import term
from hedgerow.plan.finish import Ending, finish, has_window
from hedgerow.plan.groups import GroupBinder, Relation, is_grouped
from hedgerow.plan.joins import Joiner
from hedgerow.plan.nested import Around, Nester, has_nested
from hedgerow.plan.ownership import determines_owner, exactly, same_owner, settle
from hedgerow.plan.paths import without_detours
from hedgerow.plan.relations import FromBinder
from hedgerow.plan.rows import Owned, Rows, Standing, Table
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import RowScope, fold
from hedgerow.plan.shown import Shown, shown_columns
from hedgerow.plan.sizes import within_size
from hedgerow.plan.specials import Specials
from hedgerow.plan.summarised import has_aggregate
from hedgerow.plan.syntax import span_of
from hedgerow.plan.tables import unique_names
from hedgerow.plan.windows import Windows, order_term

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
