"""What names mean: inside a row, and above an aggregation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

from sqlglot import exp

from hedgerow.errors import ParameterError, PolicyError, Span, UnknownNameError
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.syntax import span_of

SMALLEST_BOUND, LARGEST_BOUND = 1e-30, 1e30


def fold(name: str) -> str:
    """DuckDB's rule for names, quoted or not: ASCII letters lose their case, all else stays."""
    return "".join(c.lower() if c.isascii() else c for c in name)


class Scope(Protocol):
    """What a scalar binder asks of its surroundings."""

    def special(self, node: exp.Expr) -> Expr | None:
        """A meaning that the whole node has here, before its parts are looked at."""

    def column(self, node: exp.Column) -> Expr:
        """The column of that name."""

    def clip(self, arguments: Sequence[Expr], span: Span | None) -> Expr:
        """CLIP(x, lower, upper)."""


@dataclass(frozen=True)
class RowScope:
    """The columns of one table, by folded name, under the name the query gives the table."""

    table: str
    columns: Mapping[str, Expr]
    hidden: frozenset[str] = frozenset()

    def special(self, node: exp.Expr) -> Expr | None:  # noqa: ARG002 - a row knows no aggregates
        """Nothing is special inside a row."""
        return None

    def column(self, node: exp.Column) -> Expr:
        """The column, or who does not exist."""
        name, qualifier = fold(node.name), node.args.get("table")
        elsewhere = qualifier is not None and fold(qualifier.name) != fold(self.table)
        if elsewhere or node.args.get("join_mark") or node.args.get("db"):
            raise UnknownNameError(
                f"There is no table {node.table!r} in this query.",
                code="unknown-table",
                span=span_of(node),
            )
        if name in self.hidden:
            raise UnknownNameError(
                f"Column {node.name!r} is hidden by the owner, or of a type that cannot be used.",
                code="hidden-column",
                span=span_of(node),
            )
        if name not in self.columns or not isinstance(node.this, exp.Identifier):
            raise self._unknown(node)
        return self.columns[name]

    def _unknown(self, node: exp.Column) -> UnknownNameError:
        close = get_close_matches(fold(node.name), self.columns, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "The catalog says which columns there are."
        return UnknownNameError(
            f"There is no column {node.name!r} in {self.table!r}.", code="unknown-column", hint=hint, span=span_of(node)
        )

    def clip(self, arguments: Sequence[Expr], span: Span | None) -> Expr:
        """Bounds inside a query. A declared column may only be clipped to a narrower range."""
        low, high = clip_bounds(arguments, span)
        value = arguments[0]
        if isinstance(value, Column) and (low < value.range.lower or high > value.range.upper):
            raise PolicyError(
                f"CLIP({value.name}, …) is wider than the bounds that the owner declared for {value.name!r}.",
                code="looser-bounds",
                hint="Bounds can only be narrowed.",
                span=span,
            )
        whole = all(a.type is Type.INTEGER for a in arguments)
        return coerce.call("clip_whole" if whole else "clip", arguments, span)


def clip_bounds(arguments: Sequence[Expr], span: Span | None) -> tuple[float, float]:
    """The two constants of CLIP, in order."""
    ends = [
        a.value for a in arguments[1:] if isinstance(a, Literal) and a.type in {Type.INTEGER, Type.DECIMAL, Type.FLOAT}
    ]
    if len(arguments) != 3 or len(ends) != 2:
        raise ParameterError("CLIP takes a value and two constants: CLIP(x, 0, 100).", code="bad-clip", span=span)
    low, high = (float(end) for end in ends)  # type: ignore[arg-type]
    check_bounds(low, high, "The bounds of CLIP", span)
    return low, high


def check_bounds(low: float, high: float, what: str, span: Span | None = None) -> None:
    """Refuse bounds that are the wrong way round, absurdly large, or too close to zero for a double's precision."""
    sizes = [abs(end) for end in (low, high) if end]
    if not low < high or any(not SMALLEST_BOUND <= size <= LARGEST_BOUND for size in sizes):
        raise ParameterError(
            f"{what} must be two numbers in order, each 0 or of size {SMALLEST_BOUND:g} to {LARGEST_BOUND:g}.",
            code="bad-bounds",
            span=span,
        )


def is_column(expr: Expr, name: str) -> bool:
    """Whether the expression is that column, possibly read through a declared type."""
    inner = expr.arguments[0] if isinstance(expr, Call) and expr.function.startswith("imposed_") else expr
    return isinstance(inner, Column) and inner.name == name
