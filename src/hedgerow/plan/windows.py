"""Window functions.

Privacy: over private rows every window stays within one person's rows: its partition contains the owner, which is added
to it. Ties in ORDER BY are broken by all columns that the query reads, so that the result of a window depends on that
person's rows alone, and not on the order in which the engine reads them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from hedgerow.catalog.names import fold
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.exact_aggregates import ExactAggregate, lookup, names
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import NO_FRAME, Column, Expr, Literal, Order, Window, WindowFrame, walk
from hedgerow.plan import coerce
from hedgerow.plan.aggregate_calls import arguments_of_summary, name_of, unwrap
from hedgerow.plan.context import Context
from hedgerow.plan.handlers import Binder
from hedgerow.plan.ownership import Ownership, determines_owner
from hedgerow.plan.syntax import span_of, text_of

UNITS = frozenset({"ROWS", "RANGE", "GROUPS"})
SIDES = {"PRECEDING": -1, "FOLLOWING": 1}
LONGEST_FRAME = 10**6
SHARE = "RATIO_TO_REPORT"


@dataclass(frozen=True)
class Windows:
    """Binds the window functions of one SELECT; `named` are those of its WINDOW clause."""

    context: Context
    ownership: Ownership | None
    named: Mapping[str, exp.Window]

    def bind(self, node: exp.Window, binder: Binder) -> Expr:
        """Return the window function that `node` is."""
        call, where = unwrap(node.this)
        if isinstance(call, exp.Anonymous) and str(call.this).upper() == SHARE and len(call.expressions) == 1:
            # Bind RATIO_TO_REPORT(x) OVER (…): x as a share of its sum.
            part = call.expressions[0]
            total = node.copy()
            total.set("this", exp.Sum(this=part.copy()))
            return coerce.call("divide", [binder.bind(part), self.bind(total, binder)], span_of(node))
        name = name_of(call)
        summary = lookup(name) if name else None
        if summary is None or summary.windowed is False:
            raise UnsupportedSQLError(
                f"{text_of(call)} cannot be used as a window function.",
                code="unsupported-window",
                hint=f"Available: {', '.join(names(windowed=True))}.",
                span=span_of(node),
            )
        partition, order, frame = self._over(node, binder)
        distinct, arguments = arguments_of_summary(summary, call, binder)
        condition = None if where is None else binder.boolean(where, "FILTER")
        looked_at = [*partition, *(term.expr for term in order), *arguments, *([condition] if condition else [])]
        _check_plain(looked_at, node)
        result = summary.signature([a.type for a in arguments])
        if result is None or (self.ownership is not None and summary.grows):
            raise _bad_arguments(summary, node)
        rows = self.ownership.limits.max_rows if self.ownership is not None else None
        return Window(
            summary.name,
            tuple(arguments),
            self._partition(partition, node),
            tuple(order),
            frame,
            condition,
            distinct,
            result,
            summary.range([range_of(a) for a in arguments], float(rows or "inf")),
        )

    def _over(self, node: exp.Window, binder: Binder) -> tuple[list[Expr], list[Order], WindowFrame]:
        """Return partition, order and frame, including those of a named window."""
        base = node.args.get("alias")
        partition, order, frame = list[Expr](), list[Order](), NO_FRAME
        if base is not None:
            base_window = self.named.get(fold(base.name))
            if base_window is None:
                raise UnsupportedSQLError(
                    f"There is no window {base.name!r}.",
                    code="unknown-window",
                    hint=f"Define it after HAVING: WINDOW {base.name} AS (PARTITION BY … ORDER BY …).",
                    span=span_of(node),
                )
            partition, order, frame = self._over(base_window, binder)
        partition = partition + [binder.bind(part) for part in node.args.get("partition_by") or []]
        terms = node.args.get("order")
        order = order + [order_term(term, binder) for term in (terms.expressions if terms else [])]
        spec = node.args.get("spec")
        return partition, order, _frame(spec) if spec is not None else frame

    def _partition(self, partition: Sequence[Expr], node: exp.Expr) -> tuple[Expr, ...]:
        if self.ownership is None:
            return tuple(partition)
        if not determines_owner(partition, self.ownership, self.context):
            raise UnsupportedSQLError(
                "This window over private rows would read rows of several people.",
                code="window-across-people",
                hint="Put the unit into PARTITION BY, or aggregate first and use the window on the result.",
                span=span_of(node),
            )
        return tuple(partition) if self.ownership.pinned else (*partition, self.ownership.owner)


def order_term(node: exp.Expr, binder: Binder) -> Order:
    """Return a term of ORDER BY."""
    if not isinstance(node, exp.Ordered) or node.args.get("with_fill"):
        raise UnsupportedSQLError(
            "This form of ORDER BY is not available.",
            code="order",
            hint="Order by columns, positions or expressions, with ASC or DESC and NULLS FIRST or LAST.",
            span=span_of(node),
        )
    return Order(binder.bind(node.this), bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def _frame(spec: exp.WindowSpec) -> WindowFrame:
    if spec.args.get("exclude"):
        raise UnsupportedSQLError(
            "EXCLUDE in a window is not available.",
            code="window-frame",
            hint="Leave it out, and subtract the row itself: SUM(x) OVER (…) - x.",
            span=span_of(spec),
        )
    unit = str(spec.args.get("kind") or "ROWS").upper()
    start = _edge(spec, "start")
    end = _edge(spec, "end") if spec.args.get("end") else 0
    counts_values = unit == "RANGE" and any(isinstance(spec.args.get(edge), exp.Literal) for edge in ("start", "end"))
    if start > end or counts_values or unit not in UNITS:
        raise _bad_frame(spec)
    return WindowFrame(unit, start, end)


def _edge(spec: exp.WindowSpec, which: str) -> float:
    """Return an edge of the frame as an offset from the current row."""
    value, side = spec.args.get(which), str(spec.args.get(f"{which}_side") or "").upper()
    if isinstance(value, str) and value.upper() == "CURRENT ROW":
        return 0
    sign = SIDES.get(side)
    if sign is not None and isinstance(value, str) and value.upper() == "UNBOUNDED":
        return sign * math.inf
    if sign is not None and isinstance(value, exp.Literal) and value.this.isdigit():
        return sign * min(int(value.this), LONGEST_FRAME)
    raise _bad_frame(spec)


def _bad_frame(spec: exp.WindowSpec) -> UnsupportedSQLError:
    return UnsupportedSQLError(
        "This window frame is not available.",
        code="window-frame",
        hint="Write ROWS BETWEEN 3 PRECEDING AND CURRENT ROW, with whole numbers.",
        span=span_of(spec),
    )


def _check_plain(exprs: Sequence[Expr], node: exp.Expr) -> None:
    """Refuse a window inside a window, which can be hidden behind an alias."""
    if any(isinstance(part, Window) for expr in exprs for part in walk(expr)):
        raise UnsupportedSQLError(
            f"{text_of(node)} has a window function inside a window function.",
            code="misplaced-window",
            hint="Compute the inner one in a CTE first.",
            span=span_of(node),
        )


def _bad_arguments(summary: ExactAggregate, node: exp.Expr) -> UnsupportedSQLError:
    return UnsupportedSQLError(
        f"{summary.name} cannot be applied to these arguments.",
        code="type-mismatch",
        hint="Convert with CAST, for instance CAST(x AS DOUBLE).",
        span=span_of(node),
    )


def with_ties_broken(exprs: Sequence[Expr]) -> list[Expr]:
    """Return the expressions, with every window that depends on ties ordered by all columns that they read."""
    seen: dict[tuple[str, str], Column] = {}
    for expr in exprs:
        seen |= {node.id: node for node in walk(expr) if isinstance(node, Column)}
    ties = tuple(Order(column, descending=False, nulls_first=False) for _, column in sorted(seen.items()))
    return [_tied(expr, ties) for expr in exprs]


def _tied(expr: Expr, ties: tuple[Order, ...]) -> Expr:
    if isinstance(expr, Window):
        known = lookup(expr.function)
        needs = (known is not None and known.ordered) or expr.frame.unit == "ROWS"
        return replace(expr, order=(*expr.order, *ties)) if needs else expr
    if isinstance(expr, Column | Literal) or not hasattr(expr, "arguments"):
        return expr
    return replace(expr, arguments=tuple(_tied(argument, ties) for argument in expr.arguments))
