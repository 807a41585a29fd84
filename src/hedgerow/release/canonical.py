"""Public keys as tables, and the index of a database key among them."""

from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.expressions.types import Type
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan

ARROW: dict[Type, pa.DataType] = {
    Type.BOOLEAN: pa.bool_(),
    Type.INTEGER: pa.int64(),
    Type.DECIMAL: pa.float64(),
    Type.FLOAT: pa.float64(),
    Type.TEXT: pa.string(),
}


def declared_table(plan: PrivatePlan) -> pa.Table:
    """The declared keys, in the owner's order; one row without columns where there is no GROUP BY."""
    if plan.keys.rule is KeyRule.ONE:
        return pa.table({"hedgerow_one": [0]}).select([])
    columns = zip(*plan.keys.domain, strict=True)
    named = zip(plan.release.keys, columns, strict=True)
    return pa.table({k.name: pa.array(list(v), type=ARROW.get(k.expr.type)) for k, v in named})


def in_key_order(keys: pa.Table) -> NDArray[np.int64]:
    """The rows of a table of keys in the order of the keys."""
    by = [(name, "ascending", "at_end") for name in keys.column_names]
    return np.asarray(pc.sort_indices(keys, sort_keys=by).to_numpy(), dtype=np.int64)


def places_of(keys: pa.Table, plan: PrivatePlan) -> NDArray[np.int64]:
    """For each public key, the row of `keys` that holds it, or -1."""
    if plan.keys.rule is KeyRule.ONE:
        return np.zeros(1, dtype=np.int64)
    columns = [column.to_pylist() for column in keys.columns]
    rows = {tuple(map(_plain, key)): row for row, key in enumerate(zip(*columns, strict=True))}
    return np.array([rows.get(tuple(map(_plain, key)), -1) for key in plan.keys.domain], dtype=np.int64)


def _plain(value: object) -> object:
    """Return one form for numbers that are equal."""
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, date) else value
