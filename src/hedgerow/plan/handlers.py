"""Helpers for the modules that bind one family of functions."""

from collections.abc import Callable
from typing import Any, Protocol

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.syntax import function_hint, function_name, function_remedy, is_available, span_of, text_of


class Binder(Protocol):
    """Binds the parts of a node.

    Attributes:
        zone: The time zone of the catalog.
    """

    zone: str

    def bind(self, node: exp.Expr) -> Expr:
        """Return the expression of `node`."""

    def boolean(self, node: exp.Expr, clause: str) -> Expr:
        """A condition."""

    def compare(self, name: str, nodes: list[exp.Expr], at: exp.Expr) -> Expr:
        """A comparison, with both sides of one type."""


Handler = Callable[[Any, Binder], Expr | None]
"""Returns the expression, or None where the node has no meaning on our list."""

Handlers = dict[type[exp.Expr], tuple[tuple[str, ...], Handler]]
"""For each syntax class, the arguments that are read (a node with others is refused), and its handler."""


def unsupported(node: exp.Expr, hint: str | None = None) -> UnsupportedSQLError:
    """Return the refusal of an expression that is not on the allow-list."""
    called = function_name(node)
    if called is None:
        message = f"{text_of(node)} cannot be used."
    elif hint is not None or is_available(called):
        message = f"{called} cannot be used with these arguments."
        hint = hint or function_hint(node) or "The SQL reference shows which arguments it takes."
    else:
        message = f"{called} cannot be used: it is not on the list of functions that are safe on every row."
    return UnsupportedSQLError(
        message,
        code="unsupported-expression",
        hint=hint or function_hint(node) or f"The SQL reference lists the {len(allowed())} functions that can be used.",
        span=span_of(node),
        remedy=function_remedy(node),
    )


def whole(value: int) -> Literal:
    """Return a whole number of our own as a constant."""
    return Literal(value, Type.INTEGER)


def text(value: str) -> Literal:
    """Return a text of our own as a constant."""
    return Literal(value, Type.TEXT)


def constant_text(expr: Expr, node: exp.Expr, what: str) -> str:
    """The value of a text constant; other expressions are refused, because they could fail or run long on some rows."""
    if not isinstance(expr, Literal) or not isinstance(expr.value, str):
        raise UnsupportedSQLError(
            f"{what} must be a constant text.",
            code="constant-needed",
            hint="Write it out, or pass it as a parameter.",
            span=span_of(node),
        )
    return expr.value


def constant_whole(expr: Expr, node: exp.Expr, what: str, low: int, high: int) -> int:
    """The value of a whole constant from `low` to `high`."""
    value = expr.value if isinstance(expr, Literal) else None
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UnsupportedSQLError(
            f"{what} must be a constant whole number from {low:,} to {high:,}.",
            code="constant-needed",
            hint="Write it out, or pass it as a parameter.",
            span=span_of(node),
        )
    return value


def at_least(expr: Expr, low: int) -> Expr:
    """Return the whole number, raised to `low` where it is smaller and not NULL."""
    if range_of(expr).lower >= low:
        return expr
    return strict([expr], coerce.call("greatest", [expr, whole(low)]))


def strict(arguments: list[Expr], value: Expr) -> Expr:
    """Return the value, or NULL where one of the arguments is NULL."""
    open_ones = [a for a in arguments if not (isinstance(a, Literal) and a.value is not None)]
    if not open_ones:
        return value
    absent = coerce.call("is_null", [open_ones[0]])
    for argument in open_ones[1:]:
        absent = coerce.call("or", [absent, coerce.call("is_null", [argument])])
    return coerce.call("case", [absent, Literal(None, Type.NULL), value])
