"""Conditions on rows below a single group, as conditions of its aggregates.

`SELECT COUNT(*) FROM (… HAVING c)` says the same as `SELECT COUNT(*) FILTER (WHERE c) FROM (…)`; the second form keeps
all rows in sight, also those that noise left out, and so has an error bar.
"""

from dataclasses import replace
from functools import reduce

from hedgerow.expressions.nodes import Call, Column, Expr, Window, walk
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import AggregateCall, Derived, Grouped, Named, Select

HOLDS = "row_holds"


def lifted(grouped: Grouped) -> Grouped:
    """The same group, with the conditions on its rows in the FILTER clauses of its aggregates."""
    if grouped.keys or grouped.sets is not None or not all(_takes_filter(call) for call in grouped.calls):
        return grouped
    below = _unfiltered(grouped)
    conditions = grouped.where if below is None else (*grouped.where, below[1])
    if not conditions:
        return grouped
    source = grouped.source if below is None else below[0]
    calls = tuple(replace(call, filter=_all((*conditions, *_own(call)))) for call in grouped.calls)
    return replace(grouped, source=source, where=(), calls=calls)


def _takes_filter(call: AggregateCall) -> bool:
    return call.function != "GROUPING"


def _own(call: AggregateCall) -> tuple[Expr, ...]:
    return () if call.filter is None else (call.filter,)


def _unfiltered(grouped: Grouped) -> tuple[Derived, Expr] | None:
    """The derived table without its WHERE, and a column that says where it held."""
    source = grouped.source
    if not isinstance(source, Derived) or not isinstance(source.query, Select):
        return None
    query = source.query
    if not query.where or query.distinct or query.limit is not None or query.offset or _has_window(query):
        return None
    holds = Named(HOLDS, _all(query.where))
    whole = replace(query, where=(), order=(), columns=(*query.columns, holds))
    return Derived(whole, source.alias), Column(HOLDS, Type.BOOLEAN, table=source.alias)


def _all(conditions: tuple[Expr, ...]) -> Expr:
    return reduce(lambda left, right: Call("and", (left, right), Type.BOOLEAN), conditions)


def _has_window(query: Select) -> bool:
    return any(isinstance(part, Window) for column in query.columns for part in walk(column.expr))
