"""Queries inside expressions: EXISTS, IN (SELECT …), and scalar subqueries.

Privacy: every subquery is allowed over public tables, and over released numbers next to released numbers. A subquery
over private rows is allowed next to private rows if it reads only rows of the same owner; the condition that says so is
always added, even if the text implies it. Everything else would let rows of one person depend on another person.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Column, Expr, Nested
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.clauses import is_bare
from hedgerow.plan.context import Context
from hedgerow.plan.facts import COLUMN, Equality, term
from hedgerow.plan.handlers import Binder
from hedgerow.plan.nodes import Derived, Named, Query, Select
from hedgerow.plan.ownership import Ownership, Privacy, Table, owner_column, same_owner, within_size
from hedgerow.plan.scope import Scope
from hedgerow.plan.syntax import span_of
from hedgerow.plan.tables import whole
from hedgerow.plan.windows import Windows

OWN = "in own"
"""IN over one person's rows: the list may be empty where plain SQL would see rows of others, so NULL stays NULL."""


@dataclass(frozen=True)
class Around:
    """The context of a nested query: names, and the owner of the row that it is evaluated for."""

    scope: Scope
    ownership: Ownership | None


def is_nested(node: exp.Expr) -> bool:
    """Return True if the node is a query inside an expression."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
        return isinstance(node.expression.this, exp.Query)
    return isinstance(node, exp.Exists | exp.Subquery)


def has_nested(node: exp.Expr) -> bool:
    """Return True if the node contains a query."""
    return any(is_nested(part) for part in node.walk())


class Nester:
    """Binds the nested queries of one outer query.

    `privacy` is that of the outer rows. Without `around` nested queries are refused. `released` is set once a nested
    query reads released numbers, and `size` counts the relations that nested queries read.
    """

    def __init__(
        self,
        context: Context,
        bind: Callable[[exp.Query, Around], Table],
        privacy: Privacy = Privacy.PUBLIC,
        around: Around | None = None,
    ) -> None:
        self._context = context
        self._bind = bind
        self._privacy = privacy
        self._around = around
        self.released = False
        self.size = 0

    def nested(self, node: exp.Expr, scalar: Callable[[exp.Expr], Expr]) -> Expr:
        """Bind a nested query; `scalar` binds the operand left of IN."""
        if isinstance(node, exp.Exists):
            table = self._table(node.this, node)
            return self._subquery_call("exists", table, (), node, Type.BOOLEAN, Range(0.0, 1.0))
        if isinstance(node, exp.In):
            return self._in(node.this, node.args["query"], node, scalar)
        if isinstance(node, exp.EQ):
            return self._in(node.this, node.expression.this, node, scalar)
        return self._one_value(node)

    def _one_value(self, node: exp.Expr) -> Expr:
        table = self._table(node, node)
        if not table.one_row or len(table.columns) != 1:
            raise UnsupportedSQLError(
                "A subquery that is used as a value must return one column and one row.",
                code="not-one-value",
                hint="Write one aggregate without GROUP BY, for instance (SELECT MAX(x) FROM …).",
                span=span_of(node),
            )
        column = table.columns[0]
        return self._subquery_call("scalar", table, (), node, column.type, column.range)

    def _in(self, left: exp.Expr, query: exp.Expr, node: exp.Expr, scalar: Callable[[exp.Expr], Expr]) -> Expr:
        if isinstance(left, exp.Tuple):
            raise UnsupportedSQLError(
                "IN with several columns is not available.",
                code="nested-query",
                hint="Write EXISTS (SELECT 1 FROM … WHERE x = a AND y = b).",
                span=span_of(node),
            )
        values = [scalar(left)]
        table = self._table(query, node)
        if len(values) != len(table.columns):
            raise UnsupportedSQLError(
                f"IN compares {len(values)} with {len(table.columns)} columns.",
                code="type-mismatch",
                hint="Select one column in the subquery.",
                span=span_of(node),
            )
        select = as_select(table, self._context)
        pairs = [
            coerce.comparable([value, column.expr], span_of(node))
            for value, column in zip(values, select.columns, strict=False)
        ]
        columns = tuple(Named(f"c{i}", pair[1]) for i, pair in enumerate(pairs))
        matched = replace(table, query=replace(select, columns=(*columns, *select.columns[len(columns) :])))
        return self._subquery_call(
            "in", matched, [pair[0] for pair in pairs], node, Type.BOOLEAN, Range(0.0, 1.0), values
        )

    def _table(self, query: exp.Expr, node: exp.Expr) -> Table:
        while isinstance(query, exp.Subquery | exp.Paren) and is_bare(query):
            query = query.this
        if not isinstance(query, exp.Query) or self._around is None:
            raise UnsupportedSQLError(
                "A subquery is allowed in SELECT, WHERE, HAVING, QUALIFY and ORDER BY, not here.",
                code="nested-query",
                hint="Move the condition into WHERE, or name the query with WITH and join it.",
                span=span_of(node),
            )
        return self._bind(query, self._around)

    def _subquery_call(
        self,
        kind: str,
        table: Table,
        arguments: Sequence[Expr],
        node: exp.Expr,
        result: Type,
        bounds: Range,
        values: Sequence[Expr] = (),
    ) -> Expr:
        self.size = within_size(self.size + whole(table, node).size)
        if table.privacy is Privacy.OWNED:
            table, kind = self._same_owner(table, values, node), OWN if kind == "in" else kind
        elif table.privacy is Privacy.RELEASED:
            self.released = True
            if self._privacy is Privacy.OWNED:
                raise UnsupportedSQLError(
                    "A noisy number is compared with private rows, so the noise of one result would decide which rows "
                    "another one counts.",
                    code="released-with-private",
                    hint="Ask for the number first, and write it into the next query: WHERE income > 1000.",
                    span=span_of(node),
                )
        shown = table.query
        if isinstance(shown, Select):
            shown = replace(shown, columns=shown.columns[: len(table.columns)])
        return Nested(kind, shown, tuple(arguments), table.outer, result, bounds)

    def _same_owner(self, table: Table, values: Sequence[Expr], node: exp.Expr) -> Table:
        ownership = self._around.ownership if self._around is not None else None
        if self._privacy is not Privacy.OWNED or ownership is None or table.ownership is None:
            raise _not_correlated(node)
        if table.ownership.pinned:
            return table
        equal = [Equality((COLUMN, "n", f"c{i}"), term(value)) for i, value in enumerate(values)]
        facts = ownership.facts.plus(table.facts.under("n:", "n"), equal)
        if not self._context.supposed(facts).same((COLUMN, "n", "o"), term(ownership.owner)):
            raise _not_correlated(node)
        select = as_select(table, self._context)
        inner = select.columns[-1].expr
        outer = tuple(c for c in (ownership.owner,) if isinstance(c, Column))
        return replace(
            table,
            query=replace(select, where=(*select.where, same_owner(inner, ownership.owner))),
            outer=(*table.outer, *outer),
        )


def as_select(table: Table, context: Context) -> Select:
    """Return the query as a SELECT to which conditions can be added; its last column is the owner's, if it has one."""
    query: Query = table.query
    if isinstance(query, Select) and not (query.distinct or query.limit is not None or query.offset):
        return query
    alias = context.alias()
    columns: list[Named] = [Named(c.name, replace(c, table=alias)) for c in table.columns]
    if table.ownership is not None:
        columns.append(Named("o", owner_column(alias, table.ownership.owner)))
    return Select(Derived(query, alias), (), tuple(columns))


def _not_correlated(node: exp.Expr) -> UnsupportedSQLError:
    return UnsupportedSQLError(
        "The subquery reads private rows, but no condition says that they belong to the person of the outer row.",
        code="subquery-not-correlated",
        hint="Compare the units of both: WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id …).",
        span=span_of(node),
    )


@dataclass(frozen=True)
class Specials:
    """Binds nested queries and window functions. Without `windows`, window functions are refused."""

    nester: Nester
    windows: Windows | None = None

    def __call__(self, node: exp.Expr, binder: Binder) -> Expr | None:
        """Bind the nested query or the window function; None if the node is neither."""
        if is_nested(node):
            return self.nester.nested(node, binder.bind)
        if not isinstance(node, exp.Window):
            return None
        if self.windows is None:
            raise UnsupportedSQLError(
                "Window functions are not allowed in WHERE, ON, GROUP BY or HAVING.",
                code="misplaced-window",
                hint="Use QUALIFY, or compute it in a CTE.",
                span=span_of(node),
            )
        return self.windows.bind(node, binder)
