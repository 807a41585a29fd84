"""Binding of a statement: names and types resolved against the catalog, set operations, the outermost query."""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from hedgerow.catalog.model import Catalog
from hedgerow.catalog.names import fold
from hedgerow.errors import ParseError, Span, UnknownNameError, UnsupportedSQLError
from hedgerow.expressions.facts import may_be_null, range_of
from hedgerow.expressions.nodes import Column, Expr, Literal
from hedgerow.expressions.ranges import hull
from hedgerow.expressions.types import Type
from hedgerow.plan import clauses, coerce
from hedgerow.plan.context import Bounds, Context
from hedgerow.plan.facts import Facts
from hedgerow.plan.literals import Parameters
from hedgerow.plan.nested import Around
from hedgerow.plan.nodes import (
    ContributionLimits,
    Derived,
    LogicalPlan,
    Named,
    Select,
    SetOperation,
    releases_of,
    renamed,
)
from hedgerow.plan.ownership import LARGEST_SIZE, Ownership, Privacy, Table, owner_column, within_size
from hedgerow.plan.relations import constants, derived
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import RowScope
from hedgerow.plan.select import bind_select
from hedgerow.plan.syntax import span_of
from hedgerow.plan.tables import OWNER, Environment, whole
from hedgerow.plan.windows import order_term
from hedgerow.schema import Schema
from hedgerow.sql.remedies import replaced

OPERATORS = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}


def combine(node: exp.SetOperation, left: Table, right: Table, context: Context) -> Table:
    """Combine both queries with a set operation."""
    if len(left.columns) != len(right.columns):
        raise UnsupportedSQLError(
            f"The two sides have {len(left.columns)} and {len(right.columns)} columns.",
            code="set-operation",
            hint="Show the same number on both sides.",
            span=span_of(node),
        )
    if node.args.get("by_name") or type(node) not in OPERATORS:
        raise UnsupportedSQLError(
            "UNION BY NAME is not available.",
            code="set-operation",
            hint="Show the columns of both sides in the same order.",
            span=span_of(node),
        )
    size = within_size(whole(left, node).size + whole(right, node).size)
    standings = {left.privacy, right.privacy}
    if Privacy.OWNED in standings:
        return replace(_private_union(node, left, right, context), size=size)
    privacy = Privacy.RELEASED if Privacy.RELEASED in standings else Privacy.PUBLIC
    one, other = _aligned(left, right, context, node)
    query = SetOperation(OPERATORS[type(node)], not node.args.get("distinct"), one, other)
    return Table(query, privacy, left.names, _columns(one, other), size=size)


def _private_union(node: exp.SetOperation, left: Table, right: Table, context: Context) -> Table:
    if left.ownership is None or right.ownership is None or not isinstance(node, exp.Union):
        raise UnsupportedSQLError(
            f"{OPERATORS[type(node)]} would compare private rows with those of others.",
            code="set-operation",
            hint="UNION ALL of private queries is available; for the rest use EXISTS on the unit.",
            span=span_of(node),
        )
    every = not node.args.get("distinct")
    at = left.owner_at & right.owner_at
    if not every and not at:
        raise UnsupportedSQLError(
            "UNION would merge equal rows of different people.",
            code="set-operation",
            hint="Use UNION ALL, or put the unit at the same position in both SELECT lists.",
            span=span_of(node),
        )
    if not _same_kind(left.ownership.owner, right.ownership.owner):
        raise UnsupportedSQLError(
            "The units of both sides have different types, so a person of one cannot be found in the other.",
            code="set-operation",
            hint="Ask the two sides in statements of their own.",
            span=span_of(node),
        )
    one, other = _aligned(left, right, context, node)
    alias = context.alias()
    owner = owner_column(alias, left.ownership.owner)
    columns = _columns(one, other)
    shown = tuple(
        Named(c.name, replace(c, table=alias, name=OWNER if i in at else c.name)) for i, c in enumerate(columns)
    )
    query = Select(Derived(SetOperation("UNION", every, one, other), alias), (), (*shown, Named(OWNER, owner)))
    ours, theirs = left.ownership.limits, right.ownership.limits  # a unit counts in both, so the limits add up
    rows = None if ours.max_rows is None or theirs.max_rows is None else ours.max_rows + theirs.max_rows
    size = min(ours.size + theirs.size, LARGEST_SIZE)
    limits = ContributionLimits(rows, None, None, size, one_row=False, inferred=True)
    ownership = Ownership(owner, limits, frozenset(), Facts((), (), frozenset({alias})))
    return Table(query, Privacy.OWNED, left.names, columns, ownership, at)


def _same_kind(left: Expr, right: Expr) -> bool:
    """Return True if units of both sides fit one column without any conversion, which could fail on a row."""
    if left.type is not right.type or left.type is not Type.DECIMAL:
        return left.type is right.type
    natives = {owner.native if isinstance(owner, Column) else "" for owner in (left, right)}
    return len(natives) == 1 and "" not in natives


def _aligned(left: Table, right: Table, context: Context, node: exp.Expr) -> tuple[Select, Select]:
    """Return both sides with columns of the same types."""
    pairs = [coerce.unify([a, b], span_of(node)) for a, b in zip(_read(left, "l"), _read(right, "r"), strict=True)]
    return (
        _projected(left, [pair[0] for pair in pairs], context),
        _projected(right, [pair[1] for pair in pairs], context),
    )


def _read(table: Table, alias: str) -> list[Expr]:
    return [Literal(None, Type.NULL) if c.type is Type.NULL else replace(c, table=alias) for c in table.columns]


def _projected(table: Table, exprs: Sequence[Expr], context: Context) -> Select:
    alias = context.alias()
    moved = [renamed(expr, {"l": alias, "r": alias}) for expr in exprs]
    columns = [Named(f"c{i}", expr) for i, expr in enumerate(moved)]
    if table.ownership is not None:
        columns.append(Named(OWNER, owner_column(alias, table.ownership.owner)))
    return Select(Derived(table.query, alias), (), tuple(columns))


def _columns(left: Select, right: Select) -> tuple[Column, ...]:
    pairs = [(a.expr, b.expr) for a, b in zip(left.columns, right.columns, strict=True) if a.name != OWNER]
    return tuple(
        Column(
            f"c{i}",
            b.type if a.type is Type.NULL else a.type,
            nullable=may_be_null(a) or may_be_null(b),
            range=hull([range_of(a), range_of(b)]),
        )
        for i, (a, b) in enumerate(pairs)
    )


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
    """Return the plan of `query`.

    Privacy: only what is bound here can reach a database, and only through our own nodes. Names resolve against the
    catalog alone; syntax without a node is refused.
    """
    context = Context(catalog, schema, params, bounds or {}, keep_paths)
    table = _Binder(context).bind(query, Environment(), None)
    _check_bounds(context)
    if table.privacy is Privacy.OWNED:
        raise _rows_shown(query)
    root = table.query
    if not isinstance(root, Select):
        alias = context.alias()
        root = Select(Derived(root, alias), (), tuple(Named(c.name, replace(c, table=alias)) for c in table.columns))
    return LogicalPlan(root, releases_of(root), table.names)


class _Binder:
    """Binds queries of all shapes, nested ones included."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._depth = 0

    def bind(self, query: exp.Query, environment: Environment, around: Around | None) -> Table:
        """Return the table that a query computes."""
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
            return bind_select(query, self._context, environment, around, self.bind)
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
        """Bind ORDER BY and LIMIT around a whole query."""
        order = query.args.get("order")
        binder = ScalarBinder(RowScope(()), self._context.params, self._context.catalog.timezone)
        limit = clauses.whole_number(query, "limit", binder)
        offset = clauses.whole_number(query, "offset", binder) or 0
        if order is None and limit is None and not offset:
            return table
        if table.privacy is Privacy.OWNED:
            return replace(table, cut_off=table.cut_off or limit is not None or offset > 0)
        rows = derived(replace(table, outer=()), "result", self._context, query)
        scope = ScalarBinder(RowScope(rows.items), self._context.params, self._context.catalog.timezone)
        columns = [
            replace(column, table=rows.source.alias if isinstance(rows.source, Derived) else "")
            for column in table.columns
        ]
        terms = []
        for node in order.expressions if order else []:
            term, inner = node, node.this if isinstance(node, exp.Ordered) else node
            if isinstance(inner, exp.Literal) and inner.this.isdigit() and 1 <= int(inner.this) <= len(columns):
                term = node.copy()
                term.set("this", exp.column(table.names[int(inner.this) - 1], quoted=True))
            terms.append(order_term(term, scope))
        named = tuple(Named(f"c{i}", column) for i, column in enumerate(columns))
        return replace(table, query=Select(rows.source, (), named, order=tuple(terms), limit=limit, offset=offset))


def _check_bounds(context: Context) -> None:
    unknown = {fold(name) for name in context.bounds} - context.bounded
    if unknown:
        raise UnknownNameError(
            f"bounds= names {min(unknown)!r}, but no table in FROM has that column.",
            code="unknown-column",
            hint="Name columns of the tables in FROM.",
        )


def _rows_shown(query: exp.Expr) -> UnsupportedSQLError:
    """Return the refusal of a query whose result is rows of single people."""
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
            remedy=replaced(_span_of_star(query), "COUNT(*)"),
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
