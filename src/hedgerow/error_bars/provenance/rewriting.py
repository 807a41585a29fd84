"""Rewrite a query so that it also gives the origins of the numbers it shows. See `origins`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from hedgerow.compiled import ROW
from hedgerow.error_bars.provenance.columns import is_noisy, noisy_columns
from hedgerow.error_bars.provenance.origins import ELEMENT, Applied, Cell, Gathered, Known, Origin, Ranked, Untraced
from hedgerow.expressions.exact_aggregates import ROWS, TOTAL
from hedgerow.expressions.nodes import (
    NO_FRAME,
    Call,
    Column,
    ColumnId,
    Expr,
    Literal,
    Nested,
    Window,
    walk,
)
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import (
    AggregateCall,
    Derived,
    From,
    Grouped,
    Join,
    Named,
    Query,
    Release,
    Released,
    Select,
    SetOperation,
)

PICKED = frozenset({"LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"})
SUMMED = {"SUM": "SUM", TOTAL: "SUM"} | {
    name: name for name in ("AVG", "MIN", "MAX", "COUNT", "VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")
}

HOLDS = "row_holds"
"""Flag column: True where a condition held."""

Meaning = Mapping[ColumnId, Origin]
Source = tuple[From, dict[ColumnId, Origin], bool]


@dataclass(frozen=True)
class WithProvenance:
    """A query with more columns than it shows, and the origin of each column that it shows.

    Origins refer to the further columns by name, under the table "". `chosen` is True if noisy numbers decide which
    rows there are.
    """

    query: Query
    origins: tuple[Origin, ...]
    chosen: bool = False


def with_provenance(query: Query, releases: Sequence[Release]) -> WithProvenance:
    """Return the query with the columns that the origins of its numbers refer to."""
    if isinstance(query, SetOperation) or query.distinct:
        pairs = zip(noisy_columns(query), _shown(query), strict=True)
        return WithProvenance(
            query, tuple(Untraced() if noisy else Known(column) for noisy, column in pairs), chosen=True
        )
    reader = _OriginReader(releases)
    source, meaning, chosen = (None, {}, False) if query.source is None else reader.source(query.source)
    chosen = chosen or reader.is_noisy(query.where, meaning)
    inner = [reader.origin(column.expr, meaning, chosen=chosen) for column in query.columns]
    cut = bool(meaning) and (query.limit is not None or query.offset > 0)
    exports = _Exports("x")
    origins = tuple(exports.of(origin) for origin in inner)
    whole = replace(query, source=source, columns=(*query.columns, *exports.columns))
    return WithProvenance(whole, origins, chosen=chosen or cut)


def _shown(query: Query) -> list[Column]:
    while isinstance(query, SetOperation):
        query = query.left
    return [Column(column.name, column.expr.type) for column in query.columns]


@dataclass
class _Exports:
    """Columns that a query must export so that its origins can be traced from outside."""

    prefix: str
    columns: list[Named] = field(default_factory=list)

    def of(self, origin: Origin, table: str = "") -> Origin:
        """The origin in terms of the exported columns."""
        return _references(origin, lambda expr: self._column(expr, table))

    def _column(self, expr: Expr, table: str) -> Expr:
        if isinstance(expr, Literal):
            return expr
        known = next((column for column in self.columns if column.expr == expr), None)
        if known is None:
            known = Named(f"{self.prefix}{len(self.columns)}", expr)
            self.columns.append(known)
        return Column(known.name, expr.type, table=table)


def _references(origin: Origin, change: Callable[[Expr], Expr]) -> Origin:
    """Apply a function to each expression of an origin, except inside lists."""
    if isinstance(origin, Cell):
        return replace(origin, row=change(origin.row))
    if isinstance(origin, Known):
        return Known(change(origin.value))
    if isinstance(origin, Applied):
        return replace(origin, arguments=tuple(_references(a, change) for a in origin.arguments))
    if isinstance(origin, Gathered):
        return replace(origin, rows=change(origin.rows))
    if isinstance(origin, Ranked):
        others = replace(origin.others, rows=change(origin.others.rows))
        return replace(origin, own=_references(origin.own, change), others=others)
    return origin


@dataclass(frozen=True)
class _OriginReader:
    releases: Sequence[Release]

    def source(self, source: From) -> "Source":
        """The tree with the further columns, the origin of each column, and True if noise chose its rows."""
        if isinstance(source, Released):
            index = self.releases.index(source.release)
            row = Column(ROW, Type.INTEGER, table=source.alias)
            return source, {(source.alias, c.name): Cell(index, c.name, row) for c in source.release.calls}, False
        if isinstance(source, Derived):
            return self._derived(source)
        if isinstance(source, Join):
            left, right = self.source(source.left), self.source(source.right)
            meaning = {**left[1], **right[1]}
            conditions = () if source.condition is None else (source.condition,)
            chosen = left[2] or right[2] or self.is_noisy(conditions, meaning)
            return replace(source, left=left[0], right=right[0]), meaning, chosen
        if isinstance(source, Grouped):
            return self._grouped(source)
        return source, {}, False

    def is_noisy(self, conditions: Sequence[Expr], meaning: Meaning) -> bool:
        """Return True if the result of a condition depends on noise."""
        return any(_rests_on(part, meaning) for condition in conditions for part in walk(condition))

    def _derived(self, source: Derived) -> "Source":
        inner = with_provenance(source.query, self.releases)
        names = [column.name for column in _shown(source.query)]

        def outside(expr: Expr) -> Expr:
            return replace(expr, table=source.alias) if isinstance(expr, Column) else expr

        pairs = zip(names, inner.origins, strict=True)
        meaning = {(source.alias, name): _references(origin, outside) for name, origin in pairs}
        return Derived(inner.query, source.alias), meaning, inner.chosen

    def _grouped(self, source: Grouped) -> "Source":
        source = _conditions_as_filters(source)
        inner, meaning, chosen = self.source(source.source)
        chosen = chosen or self.is_noisy([*source.where, *(key.expr for key in source.keys)], meaning)
        calls: list[AggregateCall] = []
        origins: dict[ColumnId, Origin] = {}
        for key in source.keys:
            noisy = not isinstance(self.origin(key.expr, meaning), Known)
            column = Column(key.name, key.expr.type, table=source.alias)
            origins[source.alias, key.name] = Untraced() if noisy else Known(column)
        for call in source.calls:
            origin, gathering = self._call(call, meaning, source.alias, len(calls), chosen=chosen)
            origins[source.alias, call.name] = origin
            calls += gathering
        return replace(source, source=inner, calls=(*source.calls, *calls)), origins, chosen

    def _call(
        self, call: AggregateCall, meaning: Meaning, alias: str, count: int, *, chosen: bool
    ) -> tuple[Origin, list[AggregateCall]]:
        shown = Known(Column(call.name, call.type, table=alias))
        if not meaning or call.function == "GROUPING":
            return shown, []
        if call.function not in SUMMED or call.distinct:
            return Untraced(), []
        if call.function == "COUNT" and call.filter is not None and not call.arguments and not chosen:
            call = _as_sum(call)
        inner = self.origin(call.arguments[0], meaning) if call.arguments else Known(Literal(1, Type.INTEGER))
        captured = _Exports("")
        inside = captured.of(inner, ELEMENT)
        if not _is_flat(inside):
            return Untraced(), []
        name = f"g{count}"
        arguments = tuple(column.expr for column in captured.columns) or (Literal(1, Type.INTEGER),)
        gathering = AggregateCall(name, ROWS, arguments, call.filter, distinct=False, type=Type.OTHER)
        chosen = chosen or self.is_noisy([] if call.filter is None else [call.filter], meaning)
        rows = Column(name, Type.OTHER, table=alias)
        return Gathered(SUMMED[call.function], inside, rows, chosen), [gathering]

    def origin(self, expr: Expr, meaning: Meaning, *, chosen: bool = False) -> Origin:
        """The origin of an expression."""
        if not any(_rests_on(part, meaning) for part in walk(expr)):
            return Known(expr)
        if isinstance(expr, Column):
            return meaning[expr.id]
        if isinstance(expr, Window):
            return self._window(expr, meaning, chosen=chosen)
        if isinstance(expr, Nested):
            return self._nested(expr)
        if isinstance(expr, Call):
            parts = tuple(self.origin(argument, meaning, chosen=chosen) for argument in expr.arguments)
            return Applied(expr.function, parts, expr.type)
        return Untraced()

    def _window(self, window: Window, meaning: Meaning, *, chosen: bool) -> Origin:
        if window.function in {"RANK", "ROW_NUMBER"} and window.order:
            return self._ranked(window, meaning)
        looked_at = [*window.partition, *(term.expr for term in window.order)]
        chosen = chosen or self.is_noisy([*looked_at, *([window.filter] if window.filter else [])], meaning)
        if window.function in PICKED:
            return self._picked(window, meaning, chosen=chosen)
        if window.function in SUMMED and not window.distinct:
            return self._over(window, meaning, chosen=chosen)
        return Untraced()

    def _picked(self, window: Window, meaning: Meaning, *, chosen: bool) -> Origin:
        """Return the origin of a value of another row: the origin in that row."""
        if len(window.arguments) > 2:
            return Untraced()
        inner = self.origin(window.arguments[0], meaning)

        def pick(expr: Expr) -> Expr:
            return replace(window, arguments=(expr, *window.arguments[1:]), type=expr.type)

        if isinstance(inner, Cell):
            return _references(replace(inner, chosen=inner.chosen or chosen), pick)
        return _references(inner, pick) if isinstance(inner, Known) and not chosen else Untraced()

    def _over(self, window: Window, meaning: Meaning, *, chosen: bool = False) -> Origin:
        argument = window.arguments[0] if window.arguments else Literal(1, Type.INTEGER)
        captured = _Exports("")
        inside = captured.of(self.origin(argument, meaning), ELEMENT)
        if not _is_flat(inside):
            return Untraced()
        arguments = tuple(column.expr for column in captured.columns) or (Literal(1, Type.INTEGER),)
        rows = replace(window, function=ROWS, arguments=arguments, type=Type.OTHER)
        return Gathered(SUMMED[window.function], inside, rows, chosen)

    def _ranked(self, window: Window, meaning: Meaning) -> Origin:
        first = window.order[0]
        own = self.origin(first.expr, meaning)
        everyone = replace(window, function="MAX", arguments=(first.expr,), order=(), frame=NO_FRAME)
        others = self._over(everyone, meaning)
        if isinstance(own, Known) or not isinstance(others, Gathered):
            return Untraced()
        return Ranked(own, others, first.descending)

    def _nested(self, expr: Nested) -> Origin:
        """Return the origin of a scalar subquery: each column that it refers to becomes its own nested query."""
        if expr.kind != "scalar" or not isinstance(expr.query, Select):
            return Untraced()
        inner = with_provenance(expr.query, self.releases)
        query = inner.query

        def nested(part: Expr) -> Expr:
            if not isinstance(part, Column) or not isinstance(query, Select):
                return part
            column = next(column for column in query.columns if column.name == part.name)
            return replace(expr, query=replace(query, columns=(column,)), type=part.type)

        return _references(inner.origins[0], nested)


def _as_sum(call: AggregateCall) -> AggregateCall:
    """COUNT(*) FILTER (WHERE c) as a sum of ones and zeros, which can be traced cell by cell."""
    one, zero = (Literal(number, Type.INTEGER) for number in (1, 0))
    condition = call.filter or Literal(value=True, type=Type.BOOLEAN)
    return replace(call, function="SUM", arguments=(Call("case", (condition, one, zero), Type.INTEGER),), filter=None)


def _is_flat(origin: Origin) -> bool:
    """Return True if the origin reads numbers of one row and no lists: lists of lists are not traced."""
    if isinstance(origin, Applied):
        return all(_is_flat(argument) for argument in origin.arguments)
    return isinstance(origin, Cell | Known)


def _rests_on(part: Expr, meaning: Meaning) -> bool:
    if isinstance(part, Column):
        return not isinstance(meaning.get(part.id, Known(part)), Known)
    if isinstance(part, Nested):
        return is_noisy(part.query)
    return isinstance(part, Window) and bool(meaning) and part.function not in PICKED


def _conditions_as_filters(grouped: Grouped) -> Grouped:
    """Move the conditions on the rows of a single group into the FILTER clauses of its aggregates.

    `SELECT COUNT(*) FROM (… HAVING c)` is the same as `SELECT COUNT(*) FILTER (WHERE c) FROM (…)`; the second form
    keeps all rows, including those that noise dropped, and so has an error bar.
    """
    if grouped.keys or grouped.sets is not None or any(call.function == "GROUPING" for call in grouped.calls):
        return grouped
    unfiltered = _unfiltered(grouped)
    conditions = grouped.where if unfiltered is None else (*grouped.where, unfiltered[1])
    if not conditions:
        return grouped
    source = grouped.source if unfiltered is None else unfiltered[0]
    calls = tuple(
        replace(call, filter=_all((*conditions, *([] if call.filter is None else [call.filter]))))
        for call in grouped.calls
    )
    return replace(grouped, source=source, where=(), calls=calls)


def _unfiltered(grouped: Grouped) -> tuple[Derived, Expr] | None:
    """Return the derived table without its WHERE, and a column that is True where the condition held."""
    source = grouped.source
    if not isinstance(source, Derived) or not isinstance(source.query, Select):
        return None
    query = source.query
    if not query.where or query.distinct or query.limit is not None or query.offset:
        return None
    if any(isinstance(part, Window) for column in query.columns for part in walk(column.expr)):
        return None
    holds = Named(HOLDS, _all(query.where))
    whole = replace(query, where=(), order=(), columns=(*query.columns, holds))
    return Derived(whole, source.alias), Column(HOLDS, Type.BOOLEAN, table=source.alias)


def _all(conditions: tuple[Expr, ...]) -> Expr:
    return reduce(lambda left, right: Call("and", (left, right), Type.BOOLEAN), conditions)
