"""Dates and times of one time zone in another one. Points in time are kept at UTC.

Every dialect writes the offsets into the text (`Dialect.in_zone`); the zones are constants.
"""

from hedgerow.expressions.functions.registry import TEXTS, Function, register, takes
from hedgerow.expressions.types import Type

register(
    Function(
        "in_zone",
        takes(frozenset({Type.TIMESTAMP}), TEXTS, TEXTS, gives=Type.TIMESTAMP),
        "({0} AT TIME ZONE {1}) AT TIME ZONE {2}",
        partial=False,
        arity=(3, 3),
    )
)
