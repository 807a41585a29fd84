"""The scope above an aggregation: group keys, aggregates, and nothing of a single row."""

from collections.abc import Sequence

from sqlglot import exp

from hedgerow.aggregates import lookup, names
from hedgerow.errors import HedgerowError, Span, UnsupportedSQLError
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Column, Expr, columns_of
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import AggregateCall, Named
from hedgerow.plan.scalar import ScalarBinder, unsupported
from hedgerow.plan.scope import RowScope, is_column
from hedgerow.plan.syntax import arguments_of, span_of, text_of

MAX_AGGREGATES = 400

PUBLIC = frozenset({"COUNT", "SUM", "AVG", "MIN", "MAX"})
"""Aggregates over public tables: exact, as the database computes them."""


class AggregatedScope:
    """Binds what stands in SELECT, HAVING and ORDER BY of a grouped query.

    An aggregate becomes a column `a0`, `a1`, … of the aggregated relation (equal aggregates the same
    one); an expression equal to a group key becomes that key's column.
    """

    def __init__(self, rows: ScalarBinder, scope: RowScope, keys: Sequence[Named], owner: Column | None) -> None:
        self._rows = rows
        self._scope = scope
        self._keys = keys
        self._owner = owner
        self.calls: list[AggregateCall] = []
        self.aliases: dict[str, Expr] = {}

    def special(self, node: exp.Expr) -> Expr | None:
        """An aggregate, or an expression that is grouped by."""
        function = aggregate_name(node)
        if function is not None:
            return self._aggregate(function, node)
        if isinstance(node, exp.Window):
            raise unsupported(node, hint="Window functions over groups are not available yet.")
        return self._key(node)

    def column(self, node: exp.Column) -> Expr:
        """A bare column is neither a key nor inside an aggregate: it would be one person's value."""
        alias = self.aliases.get(node.name.lower())
        if alias is not None and not node.args.get("table"):
            return alias
        self._scope.column(node)
        raise UnsupportedSQLError(
            f"Column {node.name!r} is neither grouped by nor inside an aggregate, so it would show single rows.",
            code="raw-column",
            hint=f"Add {node.name} to GROUP BY, or aggregate it, for instance AVG({node.name}).",
            span=span_of(node),
        )

    def clip(self, arguments: Sequence[Expr], span: Span | None) -> Expr:
        """CLIP works on noisy numbers, too: it is ordinary arithmetic there."""
        return RowScope("", {}).clip(arguments, span)

    def _key(self, node: exp.Expr) -> Expr | None:
        if not self._keys or isinstance(node, exp.Literal | exp.Boolean | exp.Null) or has_aggregate(node):
            return None
        try:
            bound = self._rows.bind(node)
        except HedgerowError:
            return None
        for key in self._keys:
            if key.expr == bound:
                return as_column(key)
        return None

    def _aggregate(self, function: str, node: exp.Expr) -> Expr:
        if self._owner is not None and lookup(function) is None:
            raise UnsupportedSQLError(
                f"{function} is not available on private tables.",
                code="unsupported-aggregate",
                hint=f"Available: {', '.join(names())}.",
                span=span_of(node),
            )
        inner, where = unwrap_filter(node)
        condition = None if where is None else self._rows.boolean(where, "FILTER")
        distinct, arguments = self._arguments(function, inner)
        if self._owner is None and function not in PUBLIC:
            raise unsupported(node, hint=f"On public tables: {', '.join(sorted(PUBLIC))}.")
        if self._owner is not None:
            arguments = self._private(function, arguments, condition, distinct=distinct, node=node)
        made = AggregateCall("", function, tuple(arguments), condition, distinct, result_type(function, arguments))
        return self._column_of(made)

    def _column_of(self, made: AggregateCall) -> Column:
        for index, call in enumerate(self.calls):
            if (call.function, call.arguments, call.filter, call.distinct) == (
                made.function,
                made.arguments,
                made.filter,
                made.distinct,
            ):
                return Column(f"a{index}", made.type)
        name = f"a{len(self.calls)}"
        if len(self.calls) >= MAX_AGGREGATES:
            raise UnsupportedSQLError(
                f"A statement can have at most {MAX_AGGREGATES} aggregates.",
                code="too-many-aggregates",
                hint="Split it.",
            )
        self.calls.append(AggregateCall(name, made.function, made.arguments, made.filter, made.distinct, made.type))
        return Column(name, made.type)

    def _arguments(self, function: str, node: exp.Expr) -> tuple[bool, list[Expr]]:
        if not isinstance(node, exp.Anonymous) and arguments_of(node, ("this",)) is None:
            raise unsupported(node, hint=f"{function} takes one value.")
        argument = node.this if not isinstance(node, exp.Anonymous) else None
        if function == "COUNT" and (argument is None or isinstance(argument, exp.Star)):
            if argument is not None and any(argument.args.values()):
                raise unsupported(node, hint="Write COUNT(*).")
            return False, []
        if isinstance(argument, exp.Distinct):
            if argument.args.get("on") or len(argument.expressions) != 1:
                raise unsupported(node, hint="Count one thing at a time.")
            return True, [self._row(argument.expressions[0], node)]
        return False, [self._row(n, node) for n in ([argument] if argument is not None else node.expressions)]

    def _row(self, node: exp.Expr, at: exp.Expr) -> Expr:
        if has_aggregate(node):
            raise UnsupportedSQLError(
                f"{text_of(at)} has an aggregate inside an aggregate.", code="nested-aggregate", span=span_of(at)
            )
        return self._rows.bind(node)

    def _private(
        self, function: str, arguments: list[Expr], where: Expr | None, *, distinct: bool, node: exp.Expr
    ) -> list[Expr]:
        """Check an aggregate over private rows, so that a refusal names its clause and costs nothing."""
        owner = self._owner
        counts_units = distinct and owner is not None and len(arguments) == 1 and is_column(arguments[0], owner.name)
        known = lookup(function)
        if distinct and not counts_units:
            raise UnsupportedSQLError(
                f"{text_of(node)}: only the people themselves can be counted distinctly.",
                code="distinct-column",
                hint=f"COUNT(DISTINCT {owner.name if owner else 'unit'}) counts people.",
                span=span_of(node),
            )
        if (
            owner is not None
            and not distinct
            and function != "COUNT"
            and any(owner.name in columns_of(a) for a in arguments)
        ):
            raise UnsupportedSQLError(
                f"{owner.name!r} names the protected people: it may be counted and filtered by, not computed with.",
                code="unit-shown",
                span=span_of(node),
            )
        try:
            if known is not None:
                known.need(arguments, where=where, distinct=distinct)
        except HedgerowError as error:
            error.span = error.span or span_of(node)
            raise
        return [] if counts_units else arguments


def as_column(key: Named) -> Column:
    """The key's column in the aggregated relation."""
    return Column(key.name, key.expr.type, range=range_of(key.expr))


def aggregate_name(node: exp.Expr) -> str | None:
    """The name of the aggregate, if the node is one."""
    inner = node.this if isinstance(node, exp.Filter | exp.IgnoreNulls | exp.RespectNulls) else node
    if isinstance(inner, exp.AggFunc):
        return type(inner).sql_name()
    if isinstance(inner, exp.Anonymous) and lookup(str(inner.this)) is not None:
        return str(inner.this).upper()
    return None


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an aggregate (not a window) stands anywhere in the node."""
    return any(aggregate_name(n) is not None for n in node.walk())


def unwrap_filter(node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """The aggregate without its FILTER clause, and the condition of that clause."""
    if isinstance(node, exp.Filter):
        return node.this, node.expression.this
    return node, None


def result_type(function: str, arguments: Sequence[Expr]) -> Type:
    """The type of the aggregated column."""
    known = lookup(function)
    if known is None:
        return arguments[0].type if arguments else Type.FLOAT
    return known.result
