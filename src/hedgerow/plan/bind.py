"""Names and types resolved against the catalog; anything outside the subset refused."""

from dataclasses import replace

from sqlglot import exp

from hedgerow.catalog.model import Catalog
from hedgerow.errors import ParseError, Span, UnknownNameError, UnsupportedSQLError
from hedgerow.expressions.nodes import Column, Order
from hedgerow.plan import clauses
from hedgerow.plan.context import Bounds, Context
from hedgerow.plan.environment import Environment
from hedgerow.plan.literals import Parameters
from hedgerow.plan.nested import Around
from hedgerow.plan.nodes import Derived, From, LogicalPlan, Named, Select, releases_of
from hedgerow.plan.relations import constants, derived
from hedgerow.plan.rows import Standing, Table
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import RowScope, fold
from hedgerow.plan.select import SelectBinder
from hedgerow.plan.sets import combine
from hedgerow.plan.syntax import span_of
from hedgerow.plan.windows import order_term
from hedgerow.schema import Schema

MAX_NESTING = 40
AROUND = frozenset({"this", "expression", "distinct", "by_name", "with_", "order", "limit", "offset", "alias"})


def bind(
    query: exp.Query,
    catalog: Catalog,
    schema: Schema,
    *,
    params: Parameters = None,
    bounds: Bounds | None = None,
    keep_paths: bool = False,
) -> LogicalPlan:
    """The plan that `query` stands for.

    Privacy: only what is bound here can reach a database, and only through our own nodes. Names
    resolve against the catalog alone; syntax that has no node is refused.
    """
    context = Context(catalog, schema, params, bounds or {}, keep_paths)
    table = _Binder(context).bind(query, Environment(), None)
    _check_bounds(context)
    if table.standing is Standing.OWNED:
        raise _rows_shown(query)
    root = table.query
    if not isinstance(root, Select):
        alias = context.alias()
        root = Select(Derived(root, alias), (), tuple(Named(c.name, replace(c, table=alias)) for c in table.columns))
    return LogicalPlan(root, releases_of(root), table.names)


class _Binder:
    """Binds queries of all shapes, each inside the one before."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._depth = 0

    def bind(self, query: exp.Query, environment: Environment, around: Around | None) -> Table:
        """The table that a query gives."""
        if self._depth >= MAX_NESTING:
            raise ParseError(
                f"Queries are nested more than {MAX_NESTING} levels deep.",
                code="too-deep",
                hint="Name the inner queries with WITH, one after the other.",
                span=span_of(query),
            )
        self._depth += 1
        try:
            here = environment.extended(query.args.get("with_"), lambda inner, env: self.bind(inner, env, None))
            return self._shaped(query, here, around)
        except UnsupportedSQLError as error:
            error.span = error.span or span_of(query)
            raise
        finally:
            self._depth -= 1

    def _shaped(self, query: exp.Query, environment: Environment, around: Around | None) -> Table:
        if isinstance(query, exp.Select):
            return SelectBinder(query, self._context, environment, around, self.bind).bind()
        if isinstance(query, exp.SetOperation):
            clauses.check_clauses(query, AROUND)
            left = self.bind(query.this, environment, around)
            right = self.bind(query.expression, environment, around)
            joined = replace(combine(query, left, right, self._context), outer=left.outer + right.outer)
            return self._ended(query, joined)
        if isinstance(query, exp.Subquery):
            clauses.check_clauses(query, AROUND)
            return self._ended(query, self.bind(query.this, environment, around))
        if isinstance(query, exp.Values):
            return constants(query, self._context)
        raise UnsupportedSQLError(
            f"{type(query).__name__.upper()} is not available here.",
            code="set-operation",
            hint="Write a SELECT.",
            span=span_of(query),
        )

    def _ended(self, query: exp.Expr, table: Table) -> Table:
        """ORDER BY and LIMIT around a whole query."""
        order = query.args.get("order")
        binder = ScalarBinder(RowScope(()), self._context.params, self._context.catalog.timezone)
        limit = clauses.whole_number(query, "limit", binder)
        offset = clauses.whole_number(query, "offset", binder) or 0
        if order is None and limit is None and not offset:
            return table
        if table.standing is Standing.OWNED:
            return replace(table, cut_off=table.cut_off or limit is not None or offset > 0)
        rows = derived(replace(table, outer=()), "result", self._context, query)
        scope = ScalarBinder(RowScope(rows.items), self._context.params, self._context.catalog.timezone)
        columns = [replace(column, table=_alias(rows.source)) for column in table.columns]
        terms = tuple(self._term(node, columns, table, scope) for node in (order.expressions if order else []))
        named = tuple(Named(f"c{i}", column) for i, column in enumerate(columns))
        return replace(table, query=Select(rows.source, (), named, False, terms, limit, offset))  # noqa: FBT003

    def _term(self, node: exp.Expr, columns: list[Column], table: Table, binder: ScalarBinder) -> Order:
        inner = node.this if isinstance(node, exp.Ordered) else node
        if isinstance(inner, exp.Literal) and inner.this.isdigit() and 1 <= int(inner.this) <= len(columns):
            node = node.copy()
            node.set("this", exp.column(table.names[int(inner.this) - 1], quoted=True))
        return order_term(node, binder)


def _alias(source: From) -> str:
    return source.alias if isinstance(source, Derived) else ""


def _check_bounds(context: Context) -> None:
    unknown = {fold(name) for name in context.bounds} - context.bounded
    if unknown:
        raise UnknownNameError(
            f"bounds= names {min(unknown)!r}, which is no column here.",
            code="unknown-column",
            hint="Name columns of the tables in FROM.",
        )


def _rows_shown(query: exp.Expr) -> UnsupportedSQLError:
    """The refusal of a query whose result is rows of single people."""
    star = isinstance(query, exp.Select) and query.find(exp.Star) is not None and not query.find(exp.Count)
    grouped = isinstance(query, exp.Select) and query.args.get("group") is not None
    if grouped:
        return UnsupportedSQLError(
            "Every group of this query is one person's, so it would show the people themselves.",
            code="unit-shown",
            hint="Put it into a CTE and aggregate over people: WITH t AS (…) SELECT AVG(x) FROM t.",
            span=span_of(query.args["group"]),
        )
    if star:
        return UnsupportedSQLError(
            "SELECT * would show single rows of private data.",
            code="star",
            hint="Ask for aggregates, for instance COUNT(*).",
            span=_span_of_star(query),
        )
    first = query.expressions[0] if isinstance(query, exp.Select) and query.expressions else query
    return UnsupportedSQLError(
        "The query has no aggregate, so it would show single rows of private data.",
        code="no-aggregate",
        hint="Ask for COUNT, SUM or AVG, for instance SELECT COUNT(*) FROM …",
        span=span_of(first),
    )


def _span_of_star(query: exp.Expr) -> Span | None:
    star = query.find(exp.Star)
    shown = star.parent if star is not None and isinstance(star.parent, exp.Column) else star
    return span_of(query) if shown is None or span_of(shown) is None else span_of(shown)
