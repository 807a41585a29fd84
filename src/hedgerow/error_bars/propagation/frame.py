"""The columns that origins name, as numbers: of the rows shown, or of the elements of their lists."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.error_bars.intervals.bounds import Floats
from hedgerow.error_bars.provenance.origins import ELEMENT
from hedgerow.expressions.nodes import Column, Expr, Literal
from hedgerow.expressions.types import Type


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
