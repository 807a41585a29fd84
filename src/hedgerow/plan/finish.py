"""The end of a SELECT: DISTINCT, QUALIFY, ORDER BY, LIMIT, and what the query offers to the one around it."""

from dataclasses import dataclass, replace

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Column, Expr, Nested, Order, Window, walk
from hedgerow.plan.context import Context
from hedgerow.plan.facts import Equality, Facts, term
from hedgerow.plan.groups import Relation
from hedgerow.plan.nodes import Derived, From, Join, Named, Select
from hedgerow.plan.ownership import one_row_each
from hedgerow.plan.rewrite import rewrite
from hedgerow.plan.rows import Owned, Standing, Table
from hedgerow.plan.tables import described, owned_table, with_owner
from hedgerow.plan.windows import with_ties_broken


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
