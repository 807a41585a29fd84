"""The scope above an aggregation: group keys, aggregates, and nothing of a single row."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from sqlglot import exp

from hedgerow.aggregates import lookup as noisy
from hedgerow.catalog.names import fold
from hedgerow.errors import HedgerowError, Span, UnsupportedSQLError
from hedgerow.expressions import exact_aggregates
from hedgerow.expressions.facts import declared_values, range_of
from hedgerow.expressions.nodes import Column, Expr, Literal, columns_of, columns_read
from hedgerow.expressions.ranges import EVERYTHING, Range
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.aggregate_calls import (
    argument_nodes,
    arguments_of_summary,
    constant_of,
    has_aggregate,
    is_aggregate,
    mode_of,
    name_of,
    unwrap,
)
from hedgerow.plan.context import Context
from hedgerow.plan.handlers import Binder, unsupported
from hedgerow.plan.nodes import AggregateCall, Named
from hedgerow.plan.ownership import Ownership, is_owner
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import RowScope, Special, clip
from hedgerow.plan.syntax import AGGREGATES, function_hint, function_name, function_remedy, span_of, text_of
from hedgerow.sql.remedies import clipped, grouped_by

MAX_AGGREGATES = 400


class Mode(Enum):
    """The result of a group: exact numbers, exact numbers of one person, or a release."""

    EXACT = "exact"
    PERSON = "person"
    RELEASE = "release"


@dataclass(frozen=True)
class Groups:
    """The groups of a SELECT: their mode, their keys, and the owner of their rows."""

    alias: str
    keys: tuple[Named, ...]
    mode: Mode
    ownership: Ownership | None
    sets: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True)
class AggregatedScope:
    """Binds the expressions in SELECT, HAVING and ORDER BY of a grouped query.

    An aggregate becomes a column `a0`, `a1`, … of the aggregated relation (equal aggregates the same
    one); an expression equal to a group key becomes that key's column. `calls` and `ranges` collect the aggregates,
    `aliases` the names that SELECT gives.
    """

    _rows: ScalarBinder
    _scope: RowScope
    _groups: Groups
    _context: Context
    special_: Special = lambda _node, _binder: None
    calls: list[AggregateCall] = field(default_factory=list)
    ranges: dict[str, Range] = field(default_factory=dict)
    aliases: dict[str, Expr] = field(default_factory=dict)

    def special(self, node: exp.Expr, binder: Binder) -> Expr | None:
        """An aggregate, an expression that is grouped by, a window over groups, or a nested query."""
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return self._grouping(node)
        if is_aggregate(node):
            name = name_of(node)
            return self._aggregate(name or "", node)
        return self._key(node) or self.special_(node, binder)

    def column(self, node: exp.Column) -> Expr:
        """Refuse a bare column that is neither a key nor inside an aggregate: it would be one person's value."""
        alias = self.aliases.get(fold(node.name))
        if alias is not None and not node.args.get("table"):
            return alias
        bound = self._scope.column(node)
        if all(column in {c.id for c in self._scope.outer} for column in columns_of(bound)):
            return bound
        example = f"AVG({node.name})" if bound.type.is_numeric else f"COUNT(DISTINCT {node.name})"
        raise UnsupportedSQLError(
            f"Column {node.name!r} is neither grouped by nor inside an aggregate, so it would show single rows.",
            code="raw-column",
            hint=f"Add {node.name} to GROUP BY, or aggregate it, for instance {example}.",
            span=span_of(node),
            remedy=grouped_by(span_of(node), node.sql()),
        )

    def clip(self, arguments: Sequence[Expr], span: Span | None) -> Expr:
        """Bind CLIP, which is ordinary arithmetic on noisy numbers."""
        return clip(arguments, span)

    def key_column(self, index: int) -> Column:
        """The key's column in the aggregated relation."""
        key = self._groups.keys[index]
        shown = Column(key.name, key.expr.type, range=range_of(key.expr), table=self._groups.alias)
        return replace(shown, collated=False) if key.expr.type is Type.TEXT else shown

    def _key(self, node: exp.Expr) -> Expr | None:
        if not self._groups.keys or isinstance(node, exp.Literal | exp.Boolean | exp.Null) or has_aggregate(node):
            return None
        if isinstance(node, exp.Window):
            return None
        try:
            bound = self._rows.bind(node)
        except HedgerowError:
            return None
        for index, key in enumerate(self._groups.keys):
            if key.expr == bound:
                return self.key_column(index)
        ownership = self._groups.ownership
        if self._groups.mode is Mode.PERSON and ownership is not None and is_owner(bound, ownership, self._context):
            return ownership.owner if ownership.pinned else Column("o", bound.type, table=self._groups.alias)
        return None

    def _grouping(self, node: exp.Grouping | exp.GroupingId) -> Expr:
        """Bind GROUPING(key, …), which tells the keys that a total runs over."""
        bound = [self._rows.bind(part) for part in node.expressions]
        at = [i for b in bound for i, key in enumerate(self._groups.keys) if key.expr == b]
        if len(at) != len(bound) or not at:
            raise UnsupportedSQLError(
                "GROUPING takes expressions of GROUP BY.",
                code="grouping",
                hint="Name a key of GROUP BY, for instance GROUPING(region).",
                span=span_of(node),
            )
        keys = tuple(self._groups.keys[i].expr for i in at)
        return self._column_of(
            AggregateCall("", "GROUPING", keys, None, distinct=False, type=Type.INTEGER), Range(0, 2 ** len(at))
        )

    def _aggregate(self, function: str, node: exp.Expr) -> Expr:
        inner, where = unwrap(node)
        if any(has_aggregate(part) for part in inner.iter_expressions()):
            raise UnsupportedSQLError(
                f"{text_of(node)} has an aggregate inside an aggregate.",
                code="nested-aggregate",
                hint="Aggregate in a CTE first, and aggregate its result; or use a window: SUM(COUNT(*)) OVER ().",
                span=span_of(node),
            )
        if any(part.find(exp.Window) is not None for part in inner.iter_expressions()):
            raise UnsupportedSQLError(
                f"{text_of(node)} has a window function inside an aggregate.",
                code="misplaced-window",
                hint="Compute the window in a CTE, and aggregate over that.",
                span=span_of(node),
            )
        condition = None if where is None else self._rows.boolean(where, "FILTER")
        if function == "RATIO":
            return self._quotient(inner, condition, node)
        if function == "MODE" and self._groups.mode is Mode.RELEASE:
            return self._mode(inner, condition, node)
        if self._groups.mode is Mode.RELEASE:
            return self._noisy(function, inner, condition, node)
        return self._exact(function, inner, condition, node)

    def _exact(self, function: str, inner: exp.Expr, condition: Expr | None, node: exp.Expr) -> Expr:
        known = exact_aggregates.lookup(function)
        if known is None or known.windowed or (known.grows and self._groups.mode is Mode.PERSON):
            raise UnsupportedSQLError(
                f"{text_of(node)} is not available.",
                code="unsupported-aggregate",
                hint=f"Available here: {', '.join(exact_aggregates.names(windowed=False))}.",
                span=span_of(node),
            )
        distinct, arguments = arguments_of_summary(known, inner, self._rows)
        result = known.signature([a.type for a in arguments])
        if result is None:
            raise UnsupportedSQLError(
                f"{function} cannot be applied to these arguments.",
                code="type-mismatch",
                hint="Convert with CAST, for instance CAST(x AS DOUBLE).",
                span=span_of(node),
            )
        rows = self._groups.ownership.limits.max_rows if self._groups.ownership is not None else None
        values = known.range([range_of(a) for a in arguments], float(rows or "inf"))
        return self._column_of(AggregateCall("", known.name, tuple(arguments), condition, distinct, result), values)

    def _quotient(self, inner: exp.Expr, condition: Expr | None, node: exp.Expr) -> Expr:
        """RATIO(a, b): a quotient of two sums."""
        nodes = inner.expressions if isinstance(inner, exp.Anonymous) else []
        if len(nodes) != 2:
            raise unsupported(node, hint="RATIO takes two values: RATIO(a, b) is SUM(a) / SUM(b).")
        sums = [exp.Sum(this=part.copy()) for part in nodes]
        for total, part in zip(sums, nodes, strict=True):
            total.meta.update(part.meta or node.meta)
        bind = self._noisy if self._groups.mode is Mode.RELEASE else self._exact
        return coerce.call("divide", [bind("SUM", total, condition, node) for total in sums])

    def _mode(self, inner: exp.Expr, condition: Expr | None, node: exp.Expr) -> Expr:
        """MODE(x), or MODE() WITHIN GROUP (ORDER BY x)."""
        _, nodes = argument_nodes(inner)
        if len(nodes) != 1:
            raise unsupported(node, hint="MODE takes one value.")
        value = self._rows.bind(nodes[0])
        values = declared_values(value)
        self._private("MODE", [value], condition, node, distinct=False)

        def count(number: int) -> Expr:
            constants = (Literal(number, Type.INTEGER), *(constant_of(constant) for constant in values or ()))
            call = AggregateCall("", "VALUE_BIN", (value, *constants), condition, distinct=False, type=Type.INTEGER)
            return self._column_of(call)

        return mode_of(value, values, count, node)

    def _noisy(self, function: str, inner: exp.Expr, condition: Expr | None, node: exp.Expr) -> Expr:
        known = noisy(function)
        if known is None:
            raise UnsupportedSQLError(
                f"{function_name(inner) or function} is not available on private tables.",
                code="unsupported-aggregate",
                hint=function_hint(inner)
                or f"Available: {', '.join(AGGREGATES)}. In a CTE grouped by the unit, others are, too.",
                span=span_of(node),
                remedy=function_remedy(inner),
            )
        distinct, nodes = argument_nodes(inner)
        if len(nodes) > known.max_arguments:
            raise unsupported(node, hint=f"{function} takes {'one value' if known.max_arguments == 1 else 'two'}.")
        arguments = tuple(
            self._private(function, [self._rows.bind(n) for n in nodes], condition, node, distinct=distinct)
        )
        adds_up = function in {"SUM", "HISTOGRAM_BIN"} or (function == "COUNT" and not (distinct and arguments))
        if self._groups.sets is None or adds_up:
            return self._column_of(AggregateCall("", function, arguments, condition, distinct, known.result))
        if function != "AVG":
            raise UnsupportedSQLError(
                f"{function} is not available with ROLLUP, CUBE or GROUPING SETS.",
                code="rollup-aggregate",
                hint="COUNT, SUM and AVG are. Ask for the totals of other aggregates in a query of their own.",
                span=span_of(node),
            )
        parts = [
            self._column_of(AggregateCall("", name, arguments, condition, distinct=False, type=result))
            for name, result in (("SUM", Type.FLOAT), ("COUNT", Type.INTEGER))
        ]
        return coerce.call("divide", parts)

    def _private(
        self, function: str, arguments: list[Expr], where: Expr | None, node: exp.Expr, *, distinct: bool
    ) -> list[Expr]:
        """Check an aggregate over private rows, so that a refusal names its clause and costs nothing."""
        ownership = self._groups.ownership
        if ownership is None:
            return arguments
        counts_units = distinct and len(arguments) == 1 and is_owner(arguments[0], ownership, self._context)
        if distinct and not counts_units and function not in {"COUNT", "MIN", "MAX"}:
            raise UnsupportedSQLError(
                f"{text_of(node)}: only COUNT, MIN and MAX take DISTINCT.",
                code="distinct-column",
                hint="COUNT(DISTINCT unit) counts people, COUNT(DISTINCT x) different values.",
                span=span_of(node),
            )
        if (
            (not distinct or function in {"MIN", "MAX"})
            and function != "COUNT"
            and any(
                column.id in columns_of(ownership.owner) for argument in arguments for column in columns_read(argument)
            )
        ):
            raise unit_shown(ownership.owner, node)
        try:
            known = noisy(function)
            if known is not None:
                known.sums([] if counts_units else arguments, where=where, distinct=distinct)
        except HedgerowError as error:
            error.span = error.span or span_of(node)
            error.remedy = clipped(error.span) if error.code == "missing-bounds" else None
            error.hint = (
                error.hint or f"Numbers with bounds are accepted, for instance {function}({_bounded(arguments)})."
            )
            raise
        return [] if counts_units else arguments

    def _check_inside(self, call: AggregateCall) -> None:
        """Refuse an aggregate that reads only columns of the outer query: engines compute it in that query."""
        parts = (*call.arguments, *([] if call.filter is None else [call.filter]))
        read = {column for part in parts for column in columns_of(part)}
        if read and read <= {column.id for column in self._scope.outer}:
            raise UnsupportedSQLError(
                f"{call.function} in a subquery reads only columns of the outer query.",
                code="nested-query",
                hint="Aggregate a column of the subquery's own tables.",
            )

    def _column_of(self, aggregate: AggregateCall, values: Range = EVERYTHING) -> Column:
        self._check_inside(aggregate)
        same = [call.name for call in self.calls if replace(call, name="") == aggregate]
        name = same[0] if same else f"a{len(self.calls)}"
        if not same:
            if len(self.calls) >= MAX_AGGREGATES:
                raise UnsupportedSQLError(
                    f"A statement can have at most {MAX_AGGREGATES} aggregates.",
                    code="too-many-aggregates",
                    hint="Split it into several statements.",
                )
            self.calls.append(replace(aggregate, name=name))
            self.ranges[name] = values
        nullable = aggregate.function not in {"COUNT", "GROUPING"} or self._groups.mode is Mode.RELEASE
        return Column(name, aggregate.type, nullable=nullable, range=self.ranges[name], table=self._groups.alias)


def unit_shown(owner: Expr, node: exp.Expr) -> UnsupportedSQLError:
    """Return the refusal to show the privacy unit, or to compute with it."""
    name = next((name for _, name in sorted(columns_of(owner))), "it")
    return UnsupportedSQLError(
        f"{text_of(node)}: {name!r} names the protected people. It can be counted, filtered by, joined on and, "
        "in a CTE, grouped by, but not shown or computed with.",
        code="unit-shown",
        hint="COUNT(DISTINCT unit) counts them.",
        span=span_of(node),
    )


def _bounded(arguments: Sequence[Expr]) -> str:
    """Return arguments with bounds for an aggregate, made of those of the query."""
    if len(arguments) > 1 and not isinstance(arguments[1], Literal):
        return "x, y"
    example = _NUMBERS.get(arguments[0].type, "CLIP(x, 0, 100)") if arguments else "CLIP(x, 0, 100)"
    return f"{example}, 0.9" if len(arguments) > 1 else example


_DAYS = "CLIP(DATE_DIFF('day', DATE '2000-01-01', d), 0, 10000)"
_NUMBERS = {Type.TEXT: "CLIP(CAST(s AS DOUBLE), 0, 100)", Type.DATE: _DAYS, Type.TIMESTAMP: _DAYS}
"""Numbers with bounds that can be made of values that are no numbers."""
