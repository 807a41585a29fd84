"""UNION, INTERSECT and EXCEPT.

Privacy: over private rows only unions of rows with owners: all rows (UNION ALL), or each once where the owner is among
the columns, so that no row disappears because another person has an equal one.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.facts import may_be_null, range_of
from hedgerow.expressions.nodes import Column, Expr, Literal
from hedgerow.expressions.ranges import hull
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.context import Context
from hedgerow.plan.facts import Facts
from hedgerow.plan.nodes import Derived, Limits, Named, Select, SetOperation
from hedgerow.plan.ownership import LARGEST_SIZE, owner_column
from hedgerow.plan.rewrite import renamed
from hedgerow.plan.rows import Owned, Standing, Table
from hedgerow.plan.sizes import within_size
from hedgerow.plan.syntax import span_of
from hedgerow.plan.tables import OWNER, whole

OPERATORS = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}


def combine(node: exp.SetOperation, left: Table, right: Table, context: Context) -> Table:
    """Both queries as one."""
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
    standings = {left.standing, right.standing}
    if Standing.OWNED in standings:
        return replace(_owned(node, left, right, context), size=size)
    standing = Standing.RELEASED if Standing.RELEASED in standings else Standing.PUBLIC
    one, other = _aligned(left, right, context, node)
    query = SetOperation(OPERATORS[type(node)], not node.args.get("distinct"), one, other)
    return Table(query, standing, left.names, _columns(one, other), size=size)


def _owned(node: exp.SetOperation, left: Table, right: Table, context: Context) -> Table:
    if left.owned is None or right.owned is None or not isinstance(node, exp.Union):
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
            hint="Use UNION ALL, or put the unit in the same place of both queries.",
            span=span_of(node),
        )
    if not _same_kind(left.owned.owner, right.owned.owner):
        raise UnsupportedSQLError(
            "The units of both sides have different types, so a person of one cannot be found in the other.",
            code="set-operation",
            hint="Ask the two sides in statements of their own.",
            span=span_of(node),
        )
    one, other = _aligned(left, right, context, node)
    alias = context.alias()
    owner = owner_column(alias, left.owned.owner)
    columns = _columns(one, other)
    shown = tuple(
        Named(c.name, replace(c, table=alias, name=OWNER if i in at else c.name)) for i, c in enumerate(columns)
    )
    query = Select(Derived(SetOperation("UNION", every, one, other), alias), (), (*shown, Named(OWNER, owner)))
    owned = Owned(owner, _sum(left.owned.limits, right.owned.limits), frozenset(), Facts((), (), frozenset({alias})))
    return Table(query, Standing.OWNED, left.names, columns, owned, at)


def _same_kind(left: Expr, right: Expr) -> bool:
    """Whether units of both sides stand in one column without any conversion, which could fail on a row."""
    if left.type is not right.type or left.type is not Type.DECIMAL:
        return left.type is right.type
    natives = {owner.native if isinstance(owner, Column) else "" for owner in (left, right)}
    return len(natives) == 1 and "" not in natives


def _aligned(left: Table, right: Table, context: Context, node: exp.Expr) -> tuple[Select, Select]:
    """Both sides with columns of the same types."""
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
    if table.owned is not None:
        columns.append(Named(OWNER, owner_column(alias, table.owned.owner)))
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


def _sum(left: Limits, right: Limits) -> Limits:
    """A unit counts in both."""
    rows = None if left.max_rows is None or right.max_rows is None else left.max_rows + right.max_rows
    return Limits(rows, None, None, min(left.size + right.size, LARGEST_SIZE), one_row=False, inferred=True)
