"""Origin of each number of an answer: the released cells that it depends on, and the function, through any SQL.

A query is rewritten so that each row it shows also has the numbers of the released rows it was computed from
(`with_provenance`). An origin is an expression over those numbers, and a `Frame` has them as columns. Numbers that
cannot be traced are `Untraced`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.compiled import ROW
from hedgerow.error_bars.intervals.interval import Floats
from hedgerow.error_bars.provenance.columns import is_noisy
from hedgerow.expressions.nodes import Call, Column, Expr, Literal, Nested
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Release

ELEMENT = "element"


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


@dataclass(frozen=True)
class Frame:
    """Numbers by the columns that origins name: of the rows shown, or of the elements of their lists."""

    columns: Mapping[str, pa.Array]
    rows: int

    def has(self, expr: Expr) -> bool:
        """Return True for origins that `numbers` can evaluate: constants and columns of numbers or booleans."""
        if isinstance(expr, Literal):
            return expr.value is None or isinstance(expr.value, int | float | Decimal)
        is_number = expr.type.is_numeric or expr.type is Type.BOOLEAN
        return isinstance(expr, Column) and expr.table in {"", ELEMENT} and expr.name in self.columns and is_number

    def numbers(self, expr: Expr) -> Floats:
        """A column or a constant as doubles, NaN where it is NULL."""
        if isinstance(expr, Literal):
            return np.full(self.rows, np.nan if expr.value is None else float(expr.value))  # type: ignore[arg-type]
        if not isinstance(expr, Column) or expr.name not in self.columns:
            return np.full(self.rows, np.nan)
        column = self.columns[expr.name]
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=float)

    def elements(self, expr: Expr) -> tuple["Frame", NDArray[np.int64]]:
        """The elements of a column of lists, and the row that each belongs to."""
        column = self.columns[expr.name] if isinstance(expr, Column) else pa.nulls(self.rows)
        import pyarrow.compute as pc  # noqa: PLC0415 - a twentieth of a second to load, and seldom needed

        sizes = np.nan_to_num(np.asarray(pc.list_value_length(column).to_numpy(zero_copy_only=False), float))
        flat = pc.list_flatten(column)
        width = len(flat[0]) if len(flat) else 0
        values = pc.list_flatten(flat)
        inner = {str(i): values.take(pa.array(np.arange(i, len(values), width))) for i in range(width)}
        return Frame(inner, len(flat)), np.repeat(np.arange(self.rows), sizes.astype(np.int64))
