"""Functions of numbers, computed in double precision and NULL outside their domain."""

import math
from collections.abc import Callable, Sequence

from hedgerow.expressions import ranges
from hedgerow.expressions.functions.registry import INTEGERS, NUMBERS, Function, RangeRule, register, takes
from hedgerow.expressions.ranges import NON_NEGATIVE, Range
from hedgerow.expressions.types import Type

DOUBLE = "CAST({0} AS DOUBLE)"
WITHIN_ONE = f"CASE WHEN {DOUBLE} BETWEEN -1 AND 1 THEN {DOUBLE} END"
POSITIVE = f"CASE WHEN {DOUBLE} > 0 THEN {DOUBLE} END"


def _rule(function: Callable[[float], float], domain: Range = ranges.EVERYTHING) -> RangeRule:
    rule = ranges.monotone(function, domain)
    return lambda arguments: rule(arguments[0])


def _real(name: str, template: str, rule: RangeRule, *, partial: bool = True) -> None:
    register(Function(name, takes(NUMBERS, gives=Type.FLOAT), template, range=rule, partial=partial))


_real("sqrt", f"sqrt(CASE WHEN {DOUBLE} >= 0 THEN {DOUBLE} END)", _rule(math.sqrt, NON_NEGATIVE))
_real("ln", f"ln({POSITIVE})", _rule(math.log, NON_NEGATIVE))
_real("log10", f"log10({POSITIVE})", _rule(math.log10, NON_NEGATIVE))
_real("log2", f"log2({POSITIVE})", _rule(math.log2, NON_NEGATIVE))
_real("exp", f"exp({DOUBLE})", _rule(math.exp), partial=False)
_real("sin", f"TRY(sin({DOUBLE}))", lambda _: Range(-1.0, 1.0))
_real("cos", f"TRY(cos({DOUBLE}))", lambda _: Range(-1.0, 1.0))
_real("tan", f"TRY(tan({DOUBLE}))", lambda _: ranges.EVERYTHING)
_real("asin", f"asin({WITHIN_ONE})", _rule(math.asin, Range(-1.0, 1.0)))
_real("acos", f"acos({WITHIN_ONE})", lambda _: Range(0.0, math.pi))
_real("atan", f"atan({DOUBLE})", _rule(math.atan), partial=False)
_real("cbrt", f"cbrt({DOUBLE})", _rule(math.cbrt), partial=False)
_real("radians", f"radians({DOUBLE})", _rule(math.radians), partial=False)
_real("degrees", f"degrees({DOUBLE})", _rule(math.degrees), partial=False)

for _name, _apply in (("floor", math.floor), ("ceil", math.ceil), ("trunc", math.trunc)):
    register(
        Function(_name, takes(NUMBERS, gives=Type.FLOAT), f"{_name}({DOUBLE})", range=_rule(_apply), partial=False)
    )

register(
    Function(
        "abs",
        takes(NUMBERS, gives=Type.FLOAT),
        f"abs({DOUBLE})",
        range=lambda r: ranges.absolute(r[0]),
        partial=False,
    )
)
register(
    Function(
        "abs_whole",
        takes(INTEGERS, gives=Type.INTEGER),
        "TRY(abs(CAST({0} AS BIGINT)))",
        range=lambda r: ranges.absolute(r[0]),
    )
)
register(
    Function(
        "sign",
        takes(NUMBERS, gives=Type.INTEGER),
        f"CASE WHEN {DOUBLE} > 0 THEN 1 WHEN {DOUBLE} < 0 THEN -1 WHEN {DOUBLE} = 0 THEN 0 END",
        range=lambda _: Range(-1.0, 1.0),
    )
)


def _round(arguments: Sequence[Range]) -> Range:
    places = arguments[1].lower if len(arguments) > 1 else 0.0
    slack = 10.0 ** -max(-300.0, min(places, 300.0)) / 2 if math.isfinite(places) else math.inf
    return Range(arguments[0].lower - slack, arguments[0].upper + slack)


def _render_round(arguments: Sequence[str]) -> str:
    """Places are held between -300 and 300, so that reading them as a small integer cannot fail."""
    value = f"CAST({arguments[0]} AS DOUBLE)"
    if len(arguments) == 1:
        return f"TRY(round({value}, 0))"
    places = f"CAST(LEAST(GREATEST({arguments[1]}, -300), 300) AS INTEGER)"
    return f"CASE WHEN {arguments[1]} IS NOT NULL THEN TRY(round({value}, {places})) END"


register(Function("round", takes(NUMBERS, INTEGERS, gives=Type.FLOAT), _render_round, range=_round, arity=(1, 2)))


def _power(arguments: Sequence[Range]) -> Range:
    base, exponent = arguments
    if base.lower < 0 or exponent.lower < 0 or not base.is_finite or not exponent.is_finite:
        even = exponent.lower == exponent.upper == 2.0
        return ranges.multiply(ranges.absolute(base), ranges.absolute(base)) if even else ranges.EVERYTHING
    ends = [_raise(b, e) for b in (base.lower, base.upper) for e in (exponent.lower, exponent.upper)]
    return Range(min(ends), max(ends))


def _raise(base: float, exponent: float) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return math.inf


register(
    Function(
        "power",
        takes(NUMBERS, NUMBERS, gives=Type.FLOAT),
        "TRY(pow(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE)))",
        range=_power,
        arity=(2, 2),
    )
)
register(
    Function(
        "atan2",
        takes(NUMBERS, NUMBERS, gives=Type.FLOAT),
        "atan2(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE))",
        range=lambda _: Range(-math.pi, math.pi),
        partial=False,
        arity=(2, 2),
    )
)
