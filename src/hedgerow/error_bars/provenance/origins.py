"""Origin of each number of an answer: the released cells that it depends on, and the function, through any SQL.

A query is rewritten so that each row it shows also has the numbers of the released rows it was computed from
(`with_provenance`). An origin is an expression over those numbers. Numbers that cannot be traced are `Untraced`.
"""

from dataclasses import dataclass

from hedgerow.compiled import ROW
from hedgerow.error_bars.provenance.columns import is_noisy
from hedgerow.expressions.nodes import Call, Column, Expr, Literal, Nested
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Release


@dataclass(frozen=True, slots=True)
class Cell:
    """A released number: its release, its aggregate, and the column with the number of its row.

    `chosen` is True if noisy numbers decided which row it is: its noise then differs from that of a fixed row.
    """

    release: int
    call: str
    row: Expr
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """A value without noise: a key, a column of a public table, a constant."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Applied:
    """A function of origins."""

    function: str
    arguments: tuple["Origin", ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Gathered:
    """A summary (SUM, AVG, COUNT, MIN, MAX, a variance or its root) of `inner` over several rows.

    `rows` gives a list for each row shown; every element of it is a list of the numbers that `inner` reads, which names
    them by position: columns "0", "1", … of the table `ELEMENT`. `chosen` is True if noisy numbers chose the rows.
    """

    function: str
    inner: "Origin"
    rows: Expr
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """The rank of `own` among `others`, the largest (or smallest) first."""

    own: "Origin"
    others: Gathered
    descending: bool


@dataclass(frozen=True, slots=True)
class Untraced:
    """A number that depends on noise in a way that is not traced."""


Origin = Cell | Known | Applied | Gathered | Ranked | Untraced

ELEMENT = "element"


def row_origin(expr: Expr, release: Release, index: int) -> Origin:
    """The origin of an expression over the columns of one released row.

    Args:
        expr: An expression over keys and aggregates of `release`, and perhaps columns of public tables.
        release: The release.
        index: Its position among the releases of the statement.
    """
    if isinstance(expr, Column) and not expr.table and any(call.name == expr.name for call in release.calls):
        return Cell(index, expr.name, Column(ROW, Type.INTEGER))
    if isinstance(expr, Column | Literal) or (isinstance(expr, Nested) and not is_noisy(expr.query)):
        return Known(expr)
    if isinstance(expr, Call):
        return Applied(expr.function, tuple(row_origin(part, release, index) for part in expr.arguments), expr.type)
    return Untraced()
