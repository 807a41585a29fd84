"""Binding one SELECT over one table."""

from collections.abc import Sequence

from sqlglot import exp

from hedgerow.catalog.model import Catalog
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Column, Expr, Literal, columns_of, walk
from hedgerow.expressions.types import Type
from hedgerow.plan import clauses
from hedgerow.plan.aggregated import AggregatedScope, has_aggregate
from hedgerow.plan.literals import Parameters
from hedgerow.plan.nodes import (
    Aggregate,
    Filter,
    Limit,
    LogicalPlan,
    Named,
    Order,
    Project,
    Relation,
    Release,
    Released,
    Sort,
)
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import Scope, fold
from hedgerow.plan.sources import Bounds, Source, bind_source
from hedgerow.plan.syntax import arguments_of, span_of, text_of
from hedgerow.schema import Schema


class SelectBinder:
    """Binds one SELECT: rows first, then groups, then what is shown."""

    def __init__(
        self, select: exp.Select, catalog: Catalog, schema: Schema, params: Parameters, bounds: Bounds
    ) -> None:
        clauses.check_clauses(select)
        clauses.check_group(select.args.get("group"))
        origin = select.args.get("from_")
        if origin is None:
            raise UnsupportedSQLError("The query reads no table.", code="no-from", hint="Write SELECT … FROM table.")
        self._select = select
        self._params = params
        self._source: Source = bind_source(origin.this, catalog, schema, bounds)
        self._rows = ScalarBinder(self._source.scope, params)

    def bind(self) -> LogicalPlan:
        """The plan of the whole statement."""
        shown = self._shown()
        rows = self._filtered()
        if self._is_grouped(shown):
            return self._grouped(rows, shown)
        if self._source.scan.owner is not None:
            raise UnsupportedSQLError(
                "The query has no aggregate, so it would show single rows of private data.",
                code="no-aggregate",
                hint="Ask for COUNT, SUM or AVG, for instance SELECT COUNT(*) FROM …",
                span=span_of(shown[0][1]),
            )
        columns = self._project(shown, self._rows, self._source.scope)
        return self._finish(rows, columns, self._rows, None)

    def _shown(self) -> list[tuple[str, exp.Expr]]:
        """Name and syntax of every column shown; a star stands for all columns of a public table."""
        shown: list[tuple[str, exp.Expr]] = []
        for node in self._select.expressions:
            if isinstance(node, exp.Star) and not any(node.args.values()) and self._source.scan.owner is None:
                shown += [(name, exp.column(name, quoted=True)) for name in self._source.scope.columns]
            else:
                inner = node.this if isinstance(node, exp.Alias) else node
                shown.append((node.alias or inner.output_name or text_of(inner).lower(), inner))
        return shown

    def _filtered(self) -> Relation:
        where = self._select.args.get("where")
        if where is None:
            return self._source.scan
        if has_aggregate(where):
            raise UnsupportedSQLError(
                "WHERE cannot use an aggregate: it is applied to rows.",
                code="aggregate-in-where",
                hint="Use HAVING.",
                span=span_of(where),
            )
        return Filter(self._source.scan, self._rows.boolean(where.this, "WHERE"))

    def _is_grouped(self, shown: Sequence[tuple[str, exp.Expr]]) -> bool:
        select = self._select
        clauses_ = [select.args.get("having"), *(select.args["order"].expressions if select.args.get("order") else [])]
        return bool(select.args.get("group")) or any(
            has_aggregate(node) for node in [*(n for _, n in shown), *clauses_] if node is not None
        )

    def _grouped(self, rows: Relation, shown: Sequence[tuple[str, exp.Expr]]) -> LogicalPlan:
        owner = self._source.scan.owner
        keys = self._keys(shown, owner)
        scope = AggregatedScope(self._rows, self._source.scope, keys, owner)
        binder = ScalarBinder(scope, self._params)
        columns = self._project(shown, binder, scope)
        having = self._select.args.get("having")
        condition = None if having is None else binder.boolean(having.this, "HAVING")
        order = self._order(binder, columns)
        if owner is None:
            grouped: Relation = Aggregate(rows, tuple(keys), tuple(scope.calls))
            return self._finish(_filter(grouped, condition), columns, binder, None, order)
        release = Release(rows, tuple(keys), tuple(scope.calls))
        return self._finish(_filter(Released(release), condition), columns, binder, release, order)

    def _keys(self, shown: Sequence[tuple[str, exp.Expr]], owner: Column | None) -> list[Named]:
        group = self._select.args.get("group")
        keys: list[Named] = []
        for node in group.expressions if group else []:
            bound = self._rows.bind(self._resolve(node, shown))
            if owner is not None and owner.name in columns_of(bound):
                raise UnsupportedSQLError(
                    f"GROUP BY {text_of(node)} would show the people themselves: {owner.name!r} names them.",
                    code="unit-shown",
                    hint=f"COUNT(DISTINCT {owner.name}) counts them.",
                    span=span_of(node),
                )
            if bound.type in {Type.INTERVAL, Type.NULL}:
                raise UnsupportedSQLError(
                    f"GROUP BY cannot use {text_of(node)}.", code="type-mismatch", span=span_of(node)
                )
            if all(key.expr != bound for key in keys) and any(isinstance(e, Column) for e in walk(bound)):
                keys.append(Named(f"k{len(keys)}", bound))
        return keys

    def _resolve(self, node: exp.Expr, shown: Sequence[tuple[str, exp.Expr]]) -> exp.Expr:
        """A GROUP BY or ORDER BY term: a position, an alias of SELECT, or an expression."""
        if isinstance(node, exp.Literal) and not node.is_string:
            if not node.this.isdigit() or not 1 <= int(node.this) <= len(shown):
                raise UnsupportedSQLError(
                    f"There is no column number {node.this}.", code="bad-position", span=span_of(node)
                )
            return shown[int(node.this) - 1][1]
        if isinstance(node, exp.Column) and not node.table and fold(node.name) not in self._source.scope.columns:
            for name, inner in shown:
                if fold(name) == fold(node.name):
                    return inner
        return node

    def _project(self, shown: Sequence[tuple[str, exp.Expr]], binder: ScalarBinder, scope: Scope) -> list[Named]:
        columns = []
        for name, node in shown:
            if isinstance(node, exp.Star):
                raise UnsupportedSQLError(
                    "SELECT * would show single rows of private data.",
                    code="star",
                    hint="Ask for aggregates, for instance COUNT(*).",
                    span=span_of(node),
                )
            bound = binder.bind(node)
            columns.append(Named(name, bound))
            if isinstance(scope, AggregatedScope):
                scope.aliases.setdefault(name.lower(), bound)
        return columns

    def _order(self, binder: ScalarBinder, columns: Sequence[Named]) -> list[Order]:
        order = self._select.args.get("order")
        terms = []
        for node in order.expressions if order else []:
            if not isinstance(node, exp.Ordered) or node.args.get("with_fill"):
                raise UnsupportedSQLError("This form of ORDER BY is not available.", code="order", span=span_of(node))
            terms.append(
                Order(
                    self._term(node.this, binder, columns),
                    bool(node.args.get("desc")),
                    bool(node.args.get("nulls_first")),
                )
            )
        return terms

    def _term(self, node: exp.Expr, binder: ScalarBinder, columns: Sequence[Named]) -> Expr:
        shown = [(c.name, c) for c in columns]
        if (
            isinstance(node, exp.Literal)
            and not node.is_string
            and node.this.isdigit()
            and 1 <= int(node.this) <= len(shown)
        ):
            return columns[int(node.this) - 1].expr
        if isinstance(node, exp.Column) and not node.table:
            for name, column in shown:
                if fold(name) == fold(node.name):
                    return column.expr
        return binder.bind(node)

    def _finish(
        self,
        source: Relation,
        columns: Sequence[Named],
        binder: ScalarBinder,
        release: Release | None,
        order: Sequence[Order] | None = None,
    ) -> LogicalPlan:
        terms = self._order(binder, columns) if order is None else list(order)
        if terms:
            source = Sort(source, tuple(terms))
        count, offset = self._number("limit", binder), self._number("offset", binder) or 0
        if count is not None or offset:
            source = Limit(source, count, offset)
        unique = _unique([c.name for c in columns])
        named = tuple(Named(f"c{i}", c.expr) for i, c in enumerate(columns))
        return LogicalPlan(Project(source, named), release, tuple(unique))

    def _number(self, clause: str, binder: ScalarBinder) -> int | None:
        node = self._select.args.get(clause)
        if node is None:
            return None
        if not isinstance(node, exp.Limit | exp.Offset) or arguments_of(node, ("expression",)) is None:
            raise UnsupportedSQLError(
                f"This form of {clause.upper()} is not available.", code="bad-limit", span=span_of(node)
            )
        bound = binder.bind(node.expression)
        if not isinstance(bound, Literal) or bound.type is not Type.INTEGER or int(bound.value) < 0:  # type: ignore[arg-type]
            raise UnsupportedSQLError(f"{clause.upper()} needs a whole number.", code="bad-limit", span=span_of(node))
        return int(bound.value)  # type: ignore[arg-type]


def _filter(source: Relation, condition: Expr | None) -> Relation:
    return source if condition is None else Filter(source, condition)


def _unique(names: Sequence[str]) -> list[str]:
    """The names with a number behind each repetition, so that every column can be asked for."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        unique.append(name if seen[name] == 0 else f"{name}_{seen[name]}")
    return unique
