"""CAST and TRY_CAST: both are total here. What cannot be read is NULL."""

from hedgerow.expressions.functions.registry import ANYTHING, Function, register, takes
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
    register(
        Function(
            f"cast_{_type.value}",
            takes(ANYTHING, gives=_type),
            f"TRY_CAST({{0}} AS {_name})",
            range=lambda r: r[0],
        )
    )
