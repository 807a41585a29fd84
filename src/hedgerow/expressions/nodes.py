"""Expressions over the columns of a relation: a column, a literal, a call, a window function, a nested query.

Operators, CASE, CAST and IN are calls like any other, so that there is one allow-list
(`hedgerow.expressions.functions`) and nothing beside it.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from hedgerow.expressions.ranges import EVERYTHING, Range
from hedgerow.expressions.types import Type

Constant = bool | int | float | Decimal | str | date | datetime | time | timedelta | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of one of the relations that the expression is evaluated on.

    `table` is the alias of that relation in the text we generate. `range` is what the owner declared;
    `values` the declared key domain; `native` the database's own name of the type; `collated` is False
    only where comparison is guaranteed bytewise.
    """

    name: str
    type: Type
    nullable: bool = True
    range: Range = EVERYTHING
    values: tuple[str | int | float | bool, ...] | None = None
    native: str = ""
    collated: bool = True
    table: str = ""

    @property
    def id(self) -> "ColumnId":
        """Relation and name, which identify the column."""
        return self.table, self.name


ColumnId = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant from the query text, rendered again by us.

    Privacy: two are equal only if they are written alike. 1.0 and 1.00, or zero and minus zero, are equal numbers, but
    functions distinguish them, so facts about one must not be applied to the other.
    """

    value: Constant
    type: Type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._written == other._written

    def __hash__(self) -> int:
        return hash(self._written)

    @property
    def _written(self) -> tuple[str, Type]:
        return repr(self.value), self.type


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the allow-list, by its name there."""

    function: str
    arguments: tuple["Expr", ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Order:
    """One ORDER BY term."""

    expr: "Expr"
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, repr=False)
class WindowFrame:
    """Frame of a window: ROWS, RANGE or GROUPS, from `start` to `end`; `unit` is empty if there is no frame clause.

    Edges are offsets from the current row: negative before it, infinite if unbounded.
    """

    unit: str = ""
    start: float = 0
    end: float = 0

    def __str__(self) -> str:
        return f"{self.unit} BETWEEN {_edge(self.start)} AND {_edge(self.end)}" if self.unit else ""

    def __repr__(self) -> str:
        """Text of the frame: fingerprints of stored releases contain it."""
        return repr(str(self))


NO_FRAME = WindowFrame()


def _edge(offset: float) -> str:
    if offset == 0:
        return "CURRENT ROW"
    side = "PRECEDING" if offset < 0 else "FOLLOWING"
    return f"UNBOUNDED {side}" if math.isinf(offset) else f"{abs(offset):.0f} {side}"


@dataclass(frozen=True, slots=True)
class Window:
    """A function over other rows of the same relation."""

    function: str
    arguments: tuple["Expr", ...]
    partition: tuple["Expr", ...]
    order: tuple[Order, ...]
    frame: WindowFrame
    filter: "Expr | None"
    distinct: bool
    type: Type
    range: Range = EVERYTHING


@dataclass(frozen=True, slots=True)
class Nested:
    """A query inside an expression: `exists`, `in` or `scalar`.

    `query` is a plan of its own (`hedgerow.plan.nodes`), `arguments` the operands left of IN, `outer` the columns
    of the surrounding relation that the query refers to.
    """

    kind: str
    query: Hashable
    arguments: tuple["Expr", ...]
    outer: tuple[Column, ...]
    type: Type
    range: Range = EVERYTHING


Expr = Column | Literal | Call | Window | Nested


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside `expr`."""
    if isinstance(expr, Call):
        return expr.arguments
    if isinstance(expr, Window):
        condition = () if expr.filter is None else (expr.filter,)
        return (*expr.arguments, *expr.partition, *(term.expr for term in expr.order), *condition)
    return (*expr.arguments, *expr.outer) if isinstance(expr, Nested) else ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything inside it."""
    yield expr
    for part in parts_of(expr):
        yield from walk(part)


def columns_read(expr: Expr) -> Iterator[Column]:
    """Return the columns from which the value is computed, without those inside nested queries."""
    if isinstance(expr, Column):
        yield expr
    parts = expr.arguments if isinstance(expr, Nested) else parts_of(expr)
    for part in parts:
        yield from columns_read(part)


def columns_of(expr: Expr) -> frozenset[ColumnId]:
    """The columns that the expression reads."""
    return frozenset(node.id for node in walk(expr) if isinstance(node, Column))


_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "equal": "=",
    "unequal": "<>",
    "less": "<",
    "less_or_equal": "<=",
    "greater": ">",
    "greater_or_equal": ">=",
    "and": "AND",
    "or": "OR",
    "like": "LIKE",
}
_OF_UNITS = {
    "extract": "extract({} from {})",
    "clock": "extract({} from {})",
    "trunc": "date_trunc('{}', {})",
    "difference": "date_diff('{}', {})",
    "elapsed": "date_sub('{}', {})",
}
IMPOSED, CAST = "imposed_", "cast_"
"""Prefixes of functions that read a column by the catalog's type, or by the query's."""
_LONGEST_DESCRIPTION = 80


def describe(expr: Expr) -> str:
    """The expression as short text.

    Example:
        >>> from hedgerow.expressions.types import Type
        >>> describe(Column("income", Type.FLOAT))
        'income'
        >>> describe(Call("cast_integer", (Column("income", Type.FLOAT),), Type.INTEGER))
        'CAST(income AS INTEGER)'
    """
    text = _text(expr)
    return text if len(text) <= _LONGEST_DESCRIPTION else text[: _LONGEST_DESCRIPTION - 1] + "…"


def written(expr: Expr) -> str:
    """The expression as short text in the words of SQL, for notes.

    `describe` is part of the names under which releases are stored, so its text stays as it is.

    Example:
        >>> from hedgerow.expressions.types import Type
        >>> day = Column("day", Type.DATE)
        >>> written(Call("extract_year", (day,), Type.INTEGER))
        'extract(year from day)'
        >>> written(Call("difference_day", (day, day), Type.INTEGER))
        "date_diff('day', day, day)"
    """
    text = _text(expr, _sql)
    return text if len(text) <= _LONGEST_DESCRIPTION else text[: _LONGEST_DESCRIPTION - 1] + "…"


def _sql(name: str, arguments: Sequence[str]) -> str | None:
    """Return a call in the words of SQL; None where name and arguments are those words."""
    family, _, unit = name.partition("_")
    if family in _OF_UNITS and unit and name != "trunc_places":
        return _OF_UNITS[family].format(unit, ", ".join(arguments))
    if name == "case":
        pairs = zip(arguments[::2], arguments[1::2], strict=False)
        chosen = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
        otherwise = f" ELSE {arguments[-1]}" if len(arguments) % 2 else ""
        return f"CASE {chosen}{otherwise} END"
    if name == "negate":
        return f"-{arguments[0]}"
    return f"({arguments[0]} % {arguments[1]})" if name == "remainder" else None


def _text(expr: Expr, spell: Callable[[str, Sequence[str]], str | None] | None = None) -> str:
    if isinstance(expr, Column):
        return expr.name
    if isinstance(expr, Literal):
        return "NULL" if expr.value is None else str(expr.value)
    if isinstance(expr, Nested):
        return f"{expr.kind}(…)"
    name = expr.function.removesuffix("_whole")
    arguments = [_text(argument, spell) for argument in expr.arguments]
    spelled = None if spell is None else spell(name, arguments)
    if spelled is not None:
        return spelled
    if name.startswith(IMPOSED):
        return arguments[0]
    if name.startswith(CAST):
        return f"CAST({arguments[0]} AS {expr.type.name})"
    if name in _INFIX and len(arguments) == 2:
        return f"({arguments[0]} {_INFIX[name]} {arguments[1]})"
    return f"{name}({', '.join(arguments)})"
