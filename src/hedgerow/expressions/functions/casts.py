"""CAST and TRY_CAST: both are total here. What cannot be read is NULL.

`imposed_…` is the same, put there by the catalog (`type: date`) and not by a query: a column read through it
is still that column, with its declared values.
"""

from hedgerow.expressions.functions.registry import Function, register, takes
from hedgerow.expressions.types import Type

NAMES = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIME: "TIME",
    Type.TIMESTAMP: "TIMESTAMP",
}

for _type, _name in NAMES.items():
    for _who in ("cast", "imposed"):
        register(
            Function(
                f"{_who}_{_type.value}",
                takes(frozenset(Type), gives=_type),
                f"TRY_CAST({{0}} AS {_name})",
                range=lambda r: r[0],
            )
        )
