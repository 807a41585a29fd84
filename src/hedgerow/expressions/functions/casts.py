"""CAST and TRY_CAST: both are total here. What cannot be read is NULL.

`imposed_…` is the same, put there by the catalog (`type: date`) and not by a query: a column read through it
is still that column, with its declared values.
"""

from hedgerow.expressions.functions.registry import Function, RangeRule, register, takes, whole_around
from hedgerow.expressions.ranges import Range
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


def _range(kind: Type) -> RangeRule:
    if kind is Type.BOOLEAN:
        return lambda _: Range(0.0, 1.0)
    return lambda r: whole_around(r[0]) if kind is Type.INTEGER else r[0]


for _type, _name in NAMES.items():
    for _who in ("cast", "imposed"):
        register(
            Function(
                f"{_who}_{_type.value}",
                takes(frozenset(Type), gives=_type),
                f"TRY_CAST({{0}} AS {_name})",
                range=_range(_type),
            )
        )
