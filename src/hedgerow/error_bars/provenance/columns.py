"""Columns of a query that depend on noise, and queries in which each row comes from one released row.

`shown_alone` and `used_together` find out if post-processing uses an aggregate alone or in arithmetic with others.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from hedgerow.expressions.exact_aggregates import TOTAL
from hedgerow.expressions.nodes import Column, ColumnId, Expr, Nested, Window, columns_of, walk
from hedgerow.plan.nodes import (
    Derived,
    From,
    Grouped,
    Join,
    LogicalPlan,
    Query,
    Release,
    Released,
    Select,
    SetOperation,
    inside,
    rewrite,
)
from hedgerow.recently_used import once_per_plan

TOTALS = frozenset({"SUM", TOTAL})


@dataclass(frozen=True)
class SingleRow:
    """An answer in which every row comes from one released row.

    `columns` and `others` (conditions, orders) are expressions over the released columns (whose `table` is ""), and
    perhaps columns of public tables. `picks` is True if rows are chosen by their contents.
    """

    release: Release
    columns: tuple[Expr, ...]
    others: tuple[Expr, ...]
    picks: bool


@once_per_plan
def single_row(query: Query) -> SingleRow | None:
    """Return the query over the one release that its rows come from; None if a row may have several sources."""
    if not isinstance(query, Select) or query.distinct or query.source is None:
        return None
    origin = _origin(query.source)
    if origin is None:
        return None
    release, meaning, others, picks = origin
    columns = tuple(_replaced(column.expr, meaning) for column in query.columns)
    here = [_replaced(expr, meaning) for expr in (*query.where, *(term.expr for term in query.order))]
    return SingleRow(
        release, columns, (*others, *here), picks or bool(query.where) or query.limit is not None or query.offset > 0
    )


def totalled_row(query: Query) -> tuple[SingleRow, tuple[tuple[int, ...], ...]] | None:
    """Return a query with grouping sets as if each total were a group of the release; and the grouping sets.

    None if the query is not totals of one release. A column that is not a sum of released numbers does not change.
    """
    source = query.source if isinstance(query, Select) else None
    if not isinstance(query, Select) or query.distinct or not isinstance(source, Grouped) or source.sets is None:
        return None
    if not isinstance(source.source, Released) or source.where:
        return None
    released = _released(source.source)
    meaning = {(source.alias, key.name): _replaced(key.expr, released) for key in source.keys}
    for call in source.calls:
        if call.function in TOTALS and call.filter is None and not call.distinct and len(call.arguments) == 1:
            meaning[source.alias, call.name] = _replaced(call.arguments[0], released)
    columns = tuple(_replaced(column.expr, meaning) for column in query.columns)
    return SingleRow(source.source.release, columns, (), picks=False), source.sets


Origin = tuple[Release, Mapping[ColumnId, Expr], tuple[Expr, ...], bool]


def _origin(source: From) -> Origin | None:
    if isinstance(source, Released):
        return source.release, _released(source), (), False
    if isinstance(source, Derived):
        inner = single_row(source.query)
        if inner is None:
            return None
        names = [column.name for column in source.query.columns] if isinstance(source.query, Select) else []
        meaning = {(source.alias, name): expr for name, expr in zip(names, inner.columns, strict=True)}
        return inner.release, meaning, inner.others, inner.picks
    if isinstance(source, Join):
        left_noisy, right_noisy = is_noisy(source.left), is_noisy(source.right)
        if left_noisy and not right_noisy and source.kind in {"inner", "cross", "left"}:
            return _picked(_origin(source.left))
        if right_noisy and not left_noisy and source.kind in {"inner", "cross"}:
            return _picked(_origin(source.right))
    return None


def _picked(origin: Origin | None) -> Origin | None:
    return None if origin is None else (*origin[:3], True)


def _released(source: Released) -> dict[ColumnId, Expr]:
    keys = [Column(k.name, k.expr.type) for k in source.release.keys]
    calls = [Column(c.name, c.type) for c in source.release.calls]
    return {(source.alias, column.name): column for column in (*keys, *calls)}


def _replaced(expr: Expr, meaning: Mapping[ColumnId, Expr]) -> Expr:
    def swap(node: object) -> object | None:
        return meaning.get(node.id) if isinstance(node, Column) else None

    return rewrite(expr, swap)


def deciding(query: Query) -> tuple[Expr, ...] | None:
    """Return the expressions over released columns that decide which rows are shown; None if they are unknown."""
    row = single_row(query)
    if row is None or not isinstance(query, Select):
        return None
    inner: tuple[Expr, ...] | None = ()
    if isinstance(query.source, Derived):
        inner = deciding(query.source.query)
    elif not isinstance(query.source, Released):
        return None
    if inner is None or query.source is None:
        return None
    origin = _origin(query.source)
    meaning = {} if origin is None else origin[1]
    cut = query.limit is not None or query.offset > 0
    orders = [_replaced(term.expr, meaning) for term in query.order if cut]
    keys = {key.name for key in row.release.keys}
    return (*inner, *(_replaced(expr, meaning) for expr in query.where), *_until_unique(orders, keys))


def _until_unique(orders: list[Expr], keys: set[str]) -> list[Expr]:
    """The terms of ORDER BY up to the first that makes all rows distinct: these terms include all keys."""
    known: set[str] = set()
    for number, expr in enumerate(orders):
        known |= {expr.name} if isinstance(expr, Column) else set()
        if keys <= known:
            return orders[: number + 1]
    return orders


@once_per_plan
def picks_rows(query: Query) -> bool:
    """Return True if rows are chosen by their contents: a condition or a limit over released rows, at any level."""
    return any(
        isinstance(node, Select)
        and is_noisy(node.source)
        and (bool(node.where) or node.limit is not None or node.offset)
        for node in inside(query)
    )


def is_noisy(source: object) -> bool:
    """Return True if an expression contains released numbers."""
    return any(isinstance(node, Released) for node in inside(source))


@once_per_plan
def noisy_columns(query: Query) -> list[bool]:
    """A flag for each column shown: True if it depends on noise."""
    if isinstance(query, SetOperation):
        return [a or b for a, b in zip(noisy_columns(query.left), noisy_columns(query.right), strict=True)]
    known = {} if query.source is None else _noisy(query.source)
    mixes = query.source is not None and is_noisy(query.source)
    return [_rests_on_noise(column.expr, known, mixes=mixes) for column in query.columns]


def _rests_on_noise(expr: Expr, known: Mapping[ColumnId, bool], *, mixes: bool) -> bool:
    """Return True if an expression depends on noise. A window does: it depends on which rows were released."""
    return any(
        (isinstance(node, Column) and known.get(node.id, False))
        or (isinstance(node, Window) and mixes)
        or (isinstance(node, Nested) and is_noisy(node.query))
        for node in walk(expr)
    )


def _noisy(source: From) -> dict[ColumnId, bool]:
    if isinstance(source, Released):
        return {(source.alias, call.name): True for call in source.release.calls}
    if isinstance(source, Derived):
        names = _names(source.query)
        return {(source.alias, n): noisy for n, noisy in zip(names, noisy_columns(source.query), strict=True)}
    if isinstance(source, Join):
        return {**_noisy(source.left), **_noisy(source.right)}
    if isinstance(source, Grouped):
        inner, mixes = _noisy(source.source), is_noisy(source.source)
        keys = {(source.alias, k.name): _rests_on_noise(k.expr, inner, mixes=mixes) for k in source.keys}
        return {**keys, **{(source.alias, call.name): mixes and call.function != "GROUPING" for call in source.calls}}
    return {}


def _names(query: Query) -> list[str]:
    return [column.name for column in query.columns] if isinstance(query, Select) else _names(query.left)


def shown_alone(plan: LogicalPlan, release: Release) -> list[bool]:
    """Return, for each aggregate, True if no expression combines it with another aggregate or with other groups."""
    output = single_row(plan.root)
    if output is None or output.release != release:
        return [False] * len(release.calls)
    names = {("", call.name) for call in release.calls}
    mixed = set[tuple[str, str]]()
    for expr in (*output.columns, *output.others):
        used = columns_of(expr) & names
        if len(used) > 1 or any(isinstance(part, Window | Nested) for part in walk(expr)):
            mixed |= used
    return [("", call.name) not in mixed for call in release.calls]


@once_per_plan
def used_together(plan: LogicalPlan, release: Release) -> int:
    """Return the largest number of aggregates in one expression; all of them where that is unknown."""
    output = single_row(plan.root)
    if output is None or output.release != release:
        return max(1, len(release.calls))
    names = {("", call.name) for call in release.calls}
    return max((len(columns_of(expr) & names) for expr in output.columns), default=1) or 1
