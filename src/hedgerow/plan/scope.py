"""Names and their meaning in a row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from hedgerow.catalog.names import fold
from hedgerow.errors import HedgerowError, ParameterError, PolicyError, Span, UnknownNameError
from hedgerow.expressions.nodes import Column, Expr, Literal, walk
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.handlers import Binder
from hedgerow.plan.syntax import column_hint, probably_meant, span_of
from hedgerow.sql.remedies import identifier, replaced

SMALLEST_BOUND, LARGEST_BOUND = 1e-30, 1e30
UNNAMED = "subquery "
"""Prefix of the names of unnamed subqueries; no name without quotes contains a space."""


Special = Callable[[exp.Expr, Binder], Expr | None]
"""Binds a node that is not a plain function of its parts (a nested query, a window); None for any other node."""


class Scope(Protocol):
    """The context of an expression: special syntax, columns, CLIP."""

    def special(self, node: exp.Expr, binder: Binder) -> Expr | None:
        """Return the meaning of a whole node, where it has one; `binder` binds its parts."""

    def column(self, node: exp.Column) -> Expr:
        """The column of that name."""

    def clip(self, arguments: Sequence[Expr], span: Span | None) -> Expr:
        """CLIP(x, lower, upper)."""


@dataclass(frozen=True)
class Item:
    """One name in FROM: its columns by folded name, and the names of those that may not be used.

    `shown` keeps the spelling of the names, in order, for `*`. `path` is the folded full name of a table that has no
    other name in FROM.
    """

    name: str
    columns: Mapping[str, Expr]
    hidden: frozenset[str] = frozenset()
    shown: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """Return the name for messages; an unnamed subquery has a generated name, which is not shown."""
        return "the subquery" if self.name.startswith(UNNAMED) else repr(self.name)


@dataclass(frozen=True)
class RowScope:
    """The columns of all items in FROM; `merged` are those that USING merged.

    `special_` handles nodes first (nested queries, windows). `parent` is the scope around a nested query; columns that
    are resolved there are recorded in `outer`. `aliases` are names given in SELECT, used where no column has that name.
    """

    items: tuple[Item, ...]
    merged: Mapping[str, Expr] = field(default_factory=dict)
    parent: "Scope | None" = None
    special_: Special = lambda _node, _binder: None
    aliases: dict[str, Expr] = field(default_factory=dict)
    outer: list[Column] = field(default_factory=list)

    def special(self, node: exp.Expr, binder: Binder) -> Expr | None:
        """Bind a nested query or a window function."""
        return self.special_(node, binder)

    def column(self, node: exp.Column) -> Expr:
        """Return the column, of this query or of an outer one."""
        if node.args.get("join_mark") or not isinstance(node.this, exp.Identifier):
            raise self._unknown(node)
        bound = self._qualified(node) if node.args.get("table") else self._bare(node)
        if bound is not None:
            return bound
        if self.parent is not None:
            return self._around(self.parent, node)
        raise self._unknown(node)

    def has(self, name: str) -> bool:
        """Return True if some item has a column of that folded name."""
        return name in self.merged or any(name in item.columns for item in self.items)

    def clip(self, arguments: Sequence[Expr], span: Span | None) -> Expr:
        """Bind the bounds of CLIP in a query. A declared column may only be clipped to a narrower range."""
        return clip(arguments, span)

    def _qualified(self, node: exp.Column) -> Expr | None:
        *around, name = [fold(part.name) for part in node.parts[:-1]]
        for item in self.items:
            beside = item.path[:-1][-len(around) :] if around else ()
            if fold(item.name) == name and beside == tuple(around):
                return self._in(item, node)
        return None

    def _in(self, item: Item, node: exp.Column) -> Expr:
        name = fold(node.name)
        if name in item.hidden:
            raise UnknownNameError(
                f"Column {node.name!r} is hidden by the owner, or of a type that cannot be used.",
                code="hidden-column",
                hint="Use another column, or ask the owner to declare it.",
                span=span_of(node),
            )
        if name not in item.columns:
            raise self._unknown(node)
        return item.columns[name]

    def _bare(self, node: exp.Column) -> Expr | None:
        name = fold(node.name)
        if name in self.merged:
            return self.merged[name]
        items = [item for item in self.items if name in item.columns or name in item.hidden]
        if len(items) > 1:
            raise UnknownNameError(
                f"Column {node.name!r} is in {items[0].name!r} and in {items[1].name!r}.",
                code="ambiguous-column",
                hint=f"Write {items[0].name}.{node.name} or {items[1].name}.{node.name}.",
                span=span_of(node),
            )
        if items:
            return self._in(items[0], node)
        return self.aliases.get(name)

    def _around(self, parent: "Scope", node: exp.Column) -> Expr:
        try:
            bound = parent.column(node)
        except UnknownNameError as error:
            raise (self._unknown(node) if error.code == "unknown-column" else error) from None
        self.outer.extend(column for column in walk(bound) if isinstance(column, Column))
        return bound

    def _unknown(self, node: exp.Column) -> HedgerowError:
        if node.args.get("table") and all(fold(item.name) != fold(node.table) for item in self.items):
            names = ", ".join(item.name for item in self.items)
            dotted = f"{node.table}.{node.name}"
            spelled = [item.shown.get(fold(dotted), dotted) for item in self.items if fold(dotted) in item.columns]
            hint = f"FROM names {names}." if names else "Name it in FROM."
            return UnknownNameError(
                f"There is no table {node.table!r} in this query.",
                code="unknown-table",
                hint=f"Write a name with a dot in double quotes: {identifier(spelled[0])}." if spelled else hint,
                span=span_of(node),
                remedy=replaced(span_of(node), identifier(spelled[0])) if spelled else None,
            )
        of_table = [item for item in self.items if node.args.get("table") and fold(item.name) == fold(node.table)]
        items = of_table or self.items
        where = " or ".join(item.described for item in items) or "this query, which has no FROM"
        known = [item.shown.get(name, name) for item in items for name in item.columns]
        meant = probably_meant(node.name, known)
        return UnknownNameError(
            f"There is no column {node.name!r} in {where}.",
            code="unknown-column",
            hint=column_hint(node, known),
            span=span_of(node),
            remedy=None if meant is None else replaced(span_of(node.this), identifier(meant)),
        )


def clip(arguments: Sequence[Expr], span: Span | None) -> Expr:
    """Bind CLIP(x, lower, upper); bounds wider than declared are refused."""
    low, high = clip_bounds(arguments, span)
    value = arguments[0]
    if isinstance(value, Column) and value.native and (low < value.range.lower or high > value.range.upper):
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
    """Refuse bounds that are in the wrong order, too large, or too close to zero for a double's precision."""
    sizes = [abs(end) for end in (low, high) if end]
    if not low < high or any(not SMALLEST_BOUND <= size <= LARGEST_BOUND for size in sizes):
        raise ParameterError(
            f"{what} must be two numbers in order, each 0 or of size {SMALLEST_BOUND:g} to {LARGEST_BOUND:g}.",
            code="bad-bounds",
            hint="Write the lower one first, for instance 0 and 100.",
            span=span,
        )
