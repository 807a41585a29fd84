"""Public keys as tables, and the index of a database key among them."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
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

REWRITTEN = frozenset({Type.DECIMAL, Type.DATE, Type.TIMESTAMP})
"""Types of keys that a declaration and a database may write in different ways."""


def declared_table(plan: PrivatePlan) -> pa.Table:
    """The declared keys, in the owner's order; one row without columns where there is no GROUP BY."""
    if plan.keys.rule is KeyRule.ONE:
        return pa.table({"hedgerow_one": [0]}).select([])
    columns = {named.name: [key[i] for key in plan.keys.domain] for i, named in enumerate(plan.release.keys)}
    types = (ARROW.get(named.expr.type) for named in plan.release.keys)
    return pa.table({name: pa.array(c, type=kind) for (name, c), kind in zip(columns.items(), types, strict=True)})


def in_key_order(keys: pa.Table) -> NDArray[np.int64]:
    """The rows of a table of keys in the order of the keys."""
    by = [(name, "ascending") for name in keys.column_names]
    import pyarrow.compute as pc  # noqa: PLC0415 - a twentieth of a second to load, and not needed without keys

    return np.asarray(pc.sort_indices(keys, sort_keys=by).to_numpy(), dtype=np.int64)


def places_of(keys: pa.Table, plan: PrivatePlan) -> NDArray[np.int64]:
    """For each public key, the row of `keys` that holds it, or -1."""
    if plan.keys.rule is KeyRule.ONE:
        return np.zeros(1, dtype=np.int64)
    stored = zip(*(column.to_pylist() for column in keys.columns), strict=True)
    rows = dict(zip(_comparable(stored, plan), range(keys.num_rows), strict=True))
    return np.array([rows.get(key, -1) for key in _comparable(plan.keys.domain, plan)], dtype=np.int64)


def _comparable(keys: Iterable[tuple[object, ...]], plan: PrivatePlan) -> Iterable[tuple[object, ...]]:
    """Return keys in a form in which equal keys are equal in Python."""
    if all(named.expr.type not in REWRITTEN for named in plan.release.keys):
        return keys
    return (tuple(map(_plain, key)) for key in keys)


def _plain(value: object) -> object:
    """Return one form for numbers that are equal, and one for dates."""
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, date) else value
