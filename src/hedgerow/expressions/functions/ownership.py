"""What keeps a result from depending on more than the values: units told apart by bytes, doubles in one spelling."""

from hedgerow.expressions.functions.registry import TEXTS, Function, register, takes
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type

register(
    Function(
        "same_text",
        takes(TEXTS, TEXTS, gives=Type.BOOLEAN),
        '(({0} COLLATE "binary") = ({1} COLLATE "binary"))',
        range=lambda _: Range(0.0, 1.0),
        partial=False,
        arity=(2, 2),
    )
)
register(
    Function(
        # Zero has a sign, and so has NaN: equal numbers, of which an engine may keep either.
        "one_spelling",
        takes(frozenset({Type.FLOAT}), gives=Type.FLOAT),
        "CASE WHEN isnan({0}) THEN CAST('nan' AS DOUBLE) ELSE {0} + 0.0e0 END",
        range=lambda r: r[0],
        partial=False,
    )
)
