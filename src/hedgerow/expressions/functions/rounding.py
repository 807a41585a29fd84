"""Cutting numbers to digits and sorting them into bins."""

from collections.abc import Sequence

from hedgerow.expressions import ranges
from hedgerow.expressions.functions.registry import INTEGERS, NUMBERS, Function, register, takes
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type

DOUBLE = "CAST({0} AS DOUBLE)"


def _towards_zero(arguments: Sequence[Range]) -> Range:
    return Range(min(arguments[0].lower, 0.0), max(arguments[0].upper, 0.0))


register(
    Function(
        # Places are held between -300 and 300, so that reading them as a small integer cannot fail.
        "trunc_places",
        takes(NUMBERS, INTEGERS, gives=Type.FLOAT),
        "CASE WHEN {1} IS NOT NULL "
        f"THEN TRY(trunc({DOUBLE}, CAST(LEAST(GREATEST({{1}}, -300), 300) AS INTEGER))) END",
        range=_towards_zero,
        arity=(2, 2),
    )
)


def _fixed(arguments: Sequence[Range]) -> Range:
    slack = 10.0 ** -arguments[2].lower / 2
    most = 10.0 ** (arguments[1].lower - arguments[2].lower)
    return ranges.meet(Range(arguments[0].lower - slack, arguments[0].upper + slack), Range(-most, most))


register(
    Function(
        # DECIMAL(p, s): p and s are constants, 0 <= s <= p <= 38.
        "fixed",
        takes(NUMBERS, INTEGERS, INTEGERS, gives=Type.FLOAT),
        f"CASE WHEN abs(round({DOUBLE}, {{2}})) < pow(CAST(10 AS DOUBLE), {{1}} - {{2}}) "
        f"THEN round({DOUBLE}, {{2}}) END",
        range=_fixed,
        arity=(3, 3),
    )
)
register(
    Function(
        # Bounds and number of bins are constants; 0 is below the first bin, one more than their number above the last.
        "width_bucket",
        takes(NUMBERS, NUMBERS, NUMBERS, INTEGERS, gives=Type.INTEGER),
        f"CASE WHEN isnan({DOUBLE}) OR {{0}} IS NULL THEN NULL "
        f"WHEN {DOUBLE} < {{1}} THEN 0 WHEN {DOUBLE} >= {{2}} THEN {{3}} + 1 "
        f"ELSE TRY_CAST(LEAST(floor(({DOUBLE} - {{1}}) / ({{2}} - {{1}}) * {{3}}), {{3}} - 1) AS BIGINT) + 1 END",
        range=lambda r: Range(0.0, r[3].upper + 1),
        arity=(4, 4),
    )
)

for _name, _condition in (("is_nan", "isnan"), ("is_infinite", "isinf"), ("is_finite", "isfinite")):
    register(
        Function(
            _name,
            takes(NUMBERS, gives=Type.BOOLEAN),
            f"{_condition}({DOUBLE})",
            range=lambda _: Range(0.0, 1.0),
            partial=False,
        )
    )
for _name, _symbol in (("bit_and", "&"), ("bit_or", "|")):
    register(
        Function(
            _name,
            takes(INTEGERS, INTEGERS, gives=Type.INTEGER),
            f"(CAST({{0}} AS BIGINT) {_symbol} CAST({{1}} AS BIGINT))",
            partial=False,
            arity=(2, 2),
        )
    )
register(
    Function(
        "bit_xor",
        takes(INTEGERS, INTEGERS, gives=Type.INTEGER),
        "xor(CAST({0} AS BIGINT), CAST({1} AS BIGINT))",
        partial=False,
        arity=(2, 2),
    )
)
