"""FROM and WHERE of a private relation, and whole trees of public or released relations."""

from hedgerow.compile.scalars import scalar
from hedgerow.compiled import RELEASED, ROW
from hedgerow.dialects import Dialect
from hedgerow.errors import InternalError
from hedgerow.expressions.nodes import Column, Expr
from hedgerow.plan.nodes import (
    Aggregate,
    AggregateCall,
    Filter,
    Limit,
    Project,
    Relation,
    Released,
    Scan,
    Sort,
    owner_of,
    scan_of,
)
from hedgerow.privacy.keys import declared_values
from hedgerow.privacy.plan import PrivatePlan


def owner_column(plan: PrivatePlan) -> Column:
    """The column that names the unit of each private row."""
    owner = owner_of(plan.release.source)
    if owner is None:
        raise InternalError("A private plan without an owner.")
    return owner


def rows_clause(plan: PrivatePlan, dialect: Dialect) -> str:
    """FROM and WHERE of the private rows: those with an owner, within the declared keys."""
    source = plan.release.source
    scan = scan_of(source)
    if scan is None:
        raise InternalError("A private relation that is not a table.")
    conditions = [f"{scalar(owner_column(plan), dialect)} IS NOT NULL"]
    while isinstance(source, Filter):
        conditions.append(scalar(source.predicate, dialect))
        source = source.source
    for named in plan.release.keys:
        values = declared_values(named.expr)
        if values is not None:
            listed = ", ".join(dialect.constant(value) for value in values)
            conditions.append(f"{scalar(named.expr, dialect)} IN ({listed})")
    return f"FROM {dialect.identifier(scan.table)} WHERE {' AND '.join(conditions)}"


def select(relation: Relation, dialect: Dialect) -> str:
    """A tree of public or released relations as one SELECT, nested as the tree is."""
    if isinstance(relation, Scan):
        return f"SELECT * FROM {dialect.identifier(relation.table)}"
    if isinstance(relation, Released):
        return f"SELECT * FROM {RELEASED}"
    if isinstance(relation, Filter):
        return f"SELECT * FROM {_inner(relation.source, dialect)} WHERE {scalar(relation.predicate, dialect)}"
    if isinstance(relation, Sort):
        return f"SELECT * FROM {_inner(relation.source, dialect)} ORDER BY {order_terms(relation, dialect)}"
    if isinstance(relation, Limit):
        return f"{select(relation.source, dialect)}{_limit(relation)}"
    if isinstance(relation, Aggregate):
        return _aggregate(relation, dialect)
    columns = ", ".join(f"{scalar(c.expr, dialect)} AS {dialect.identifier(c.name)}" for c in relation.columns)
    return f"SELECT {columns} FROM {_inner(relation.source, dialect)}"


def after(root: Project, keys: tuple[str, ...], dialect: Dialect) -> str:
    """The after part: the columns shown, and the number of the released row that each came from.

    Privacy: rows come in an order that depends on released values alone; ties, and everything where
    no order was asked for, are in the order of the keys.
    """
    source = root.source
    tail = ""
    if isinstance(source, Limit):
        tail, source = _limit(source), source.source
    terms = [order_terms(source, dialect)] if isinstance(source, Sort) else []
    source = source.source if isinstance(source, Sort) else source
    order = ", ".join([*terms, *(f"{name} NULLS LAST" for name in keys), ROW])
    columns = "".join(f"{scalar(c.expr, dialect)} AS {dialect.identifier(c.name)}, " for c in root.columns)
    return f"SELECT {columns}{ROW} FROM {_inner(source, dialect)} ORDER BY {order}{tail}"


def order_terms(sort: Sort, dialect: Dialect) -> str:
    """The terms of ORDER BY."""
    return ", ".join(
        f"{scalar(t.expr, dialect)} {'DESC' if t.descending else 'ASC'} NULLS {'FIRST' if t.nulls_first else 'LAST'}"
        for t in sort.terms
    )


def _inner(relation: Relation, dialect: Dialect) -> str:
    if isinstance(relation, Scan):
        return dialect.identifier(relation.table)
    if isinstance(relation, Released):
        return RELEASED
    return f"({select(relation, dialect)}) AS inner_rows"


def _limit(limit: Limit) -> str:
    count = "" if limit.count is None else f" LIMIT {limit.count}"
    return f"{count} OFFSET {limit.offset}" if limit.offset else count


def _aggregate(relation: Aggregate, dialect: Dialect) -> str:
    keys = [f"{scalar(k.expr, dialect)} AS {k.name}" for k in relation.keys]
    calls = [f"{_public_call(call, dialect)} AS {call.name}" for call in relation.calls]
    groups = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
    return f"SELECT {', '.join([*keys, *calls])} FROM {_inner(relation.source, dialect)}{groups}"


def _public_call(call: AggregateCall, dialect: Dialect) -> str:
    arguments: list[Expr] = list(call.arguments)
    inside = ", ".join(scalar(a, dialect) for a in arguments) or "*"
    where = "" if call.filter is None else f" FILTER (WHERE {scalar(call.filter, dialect)})"
    return f"{call.function}({'DISTINCT ' if call.distinct else ''}{inside}){where}"
