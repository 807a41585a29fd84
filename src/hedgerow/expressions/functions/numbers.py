"""Operators, conditionals, casts and functions of numbers."""

import math
from collections.abc import Sequence

from hedgerow.expressions import ranges
from hedgerow.expressions.functions.function import (
    ANYTHING,
    BOOLEANS,
    DOUBLE,
    DOUBLE_1,
    INTEGERS,
    NUMBERS,
    TEXTS,
    TRUTH,
    TWO_NUMBERS,
    TWO_WHOLE,
    Function,
    binary,
    first,
    increasing,
    row,
    unary,
    whole_around,
    within,
)
from hedgerow.expressions.ranges import EVERYTHING, NON_NEGATIVE, Range
from hedgerow.expressions.types import Type

# --- Arithmetic, comparison and logic
#
# Numbers that are not both whole are computed in double precision, which has no errors: what overflows is infinite,
# what is undefined is NaN, and both are dealt with when the value is clamped. Whole numbers stay whole and are NULL
# where they overflow.

MANY = 1_000
_ARITHMETIC = {
    "add": ("+", binary(ranges.add)),
    "subtract": ("-", binary(ranges.subtract)),
    "multiply": ("*", binary(ranges.multiply)),
}
COMPARISONS = {
    "equal": "=",
    "unequal": "<>",
    "less": "<",
    "less_or_equal": "<=",
    "greater": ">",
    "greater_or_equal": ">=",
    "is_distinct": "IS DISTINCT FROM",
    "is_not_distinct": "IS NOT DISTINCT FROM",
}

OPERATORS = (
    *(
        row(f"{name}_whole", TWO_WHOLE, Type.INTEGER, f"TRY(CAST({{0}} AS BIGINT) {sign} CAST({{1}} AS BIGINT))", rule)
        for name, (sign, rule) in _ARITHMETIC.items()
    ),
    *(
        row(name, TWO_NUMBERS, Type.FLOAT, f"({DOUBLE} {sign} {DOUBLE_1})", rule, partial=False)
        for name, (sign, rule) in _ARITHMETIC.items()
    ),
    row("divide", TWO_NUMBERS, Type.FLOAT, f"({DOUBLE} / NULLIF({DOUBLE_1}, 0))", binary(ranges.divide)),
    row(
        "divide_whole",
        TWO_WHOLE,
        Type.INTEGER,
        "TRY(CAST({0} AS BIGINT) // NULLIF(CAST({1} AS BIGINT), 0))",
        lambda r: whole_around(ranges.divide(r[0], r[1])),
    ),
    row(
        "remainder_whole",
        TWO_WHOLE,
        Type.INTEGER,
        "TRY(CAST({0} AS BIGINT) % NULLIF(CAST({1} AS BIGINT), 0))",
        binary(ranges.remainder),
    ),
    row("remainder", TWO_NUMBERS, Type.FLOAT, f"({DOUBLE} % NULLIF({DOUBLE_1}, 0))", binary(ranges.remainder)),
    row("negate", (NUMBERS,), Type.FLOAT, f"(-{DOUBLE})", unary(ranges.negate), partial=False),
    row("negate_whole", (INTEGERS,), Type.INTEGER, "TRY(-CAST({0} AS BIGINT))", unary(ranges.negate)),
    *(
        row(name, (ANYTHING, ANYTHING), Type.BOOLEAN, f"({{0}} {sign} {{1}})", TRUTH, partial=False)
        for name, sign in COMPARISONS.items()
    ),
    row("and", (BOOLEANS, BOOLEANS), Type.BOOLEAN, lambda a: f"({' AND '.join(a)})", partial=False),
    row("or", (BOOLEANS, BOOLEANS), Type.BOOLEAN, lambda a: f"({' OR '.join(a)})", partial=False),
    row("not", (BOOLEANS,), Type.BOOLEAN, "(NOT {0})", partial=False),
    row("is_there", (NUMBERS,), Type.BOOLEAN, f"COALESCE(NOT isnan({DOUBLE}), FALSE)", partial=False),
    row("is_null", (ANYTHING,), Type.BOOLEAN, "({0} IS NULL)", partial=False),
    # Units are told apart by their bytes.
    row(
        "same_text",
        (TEXTS, TEXTS),
        Type.BOOLEAN,
        '(({0} COLLATE "binary") = ({1} COLLATE "binary"))',
        TRUTH,
        partial=False,
    ),
    # Zero has a sign, and so has NaN: equal numbers, of which an engine may keep either.
    row(
        "one_spelling",
        (frozenset({Type.FLOAT}),),
        Type.FLOAT,
        "CASE WHEN isnan({0}) THEN CAST('nan' AS DOUBLE) ELSE {0} + 0.0e0 END",
        first,
        partial=False,
    ),
    row("bit_and", TWO_WHOLE, Type.INTEGER, "(CAST({0} AS BIGINT) & CAST({1} AS BIGINT))", partial=False),
    row("bit_or", TWO_WHOLE, Type.INTEGER, "(CAST({0} AS BIGINT) | CAST({1} AS BIGINT))", partial=False),
    row("bit_xor", TWO_WHOLE, Type.INTEGER, "xor(CAST({0} AS BIGINT), CAST({1} AS BIGINT))", partial=False),
)


# --- CASE, COALESCE, NULLIF, LEAST, GREATEST, IN, CLIP
#
# The binder has already brought all branches to one type, so none of them needs an implicit cast.


def _one_type(types: Sequence[Type]) -> Type | None:
    kinds = {t for t in types if t is not Type.NULL}
    return kinds.pop() if len(kinds) == 1 else (Type.NULL if not kinds else None)


def _case_type(types: Sequence[Type]) -> Type | None:
    if any(t not in {Type.BOOLEAN, Type.NULL} for t in types[:-1:2]):
        return None
    return _one_type([*types[1::2], types[-1]])


def case_text(arguments: Sequence[str]) -> str:
    """CASE; the arguments are conditions and results in turn, and the result of ELSE."""
    branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(arguments[:-1:2], arguments[1::2], strict=True))
    return f"CASE {branches} ELSE {arguments[-1]} END"


def _clip_range(arguments: Sequence[Range]) -> Range:
    return ranges.meet(Range(arguments[1].lower, arguments[2].upper), arguments[0])


def _least_range(arguments: Sequence[Range]) -> Range:
    """Return the range of LEAST, which skips NULL: only arguments that are certainly not NULL limit it from above."""
    constants = [r.upper for r in arguments if r.lower == r.upper]
    top = max(r.upper for r in arguments)
    return Range(min(r.lower for r in arguments), min([top, *constants]))


def _greatest_range(arguments: Sequence[Range]) -> Range:
    return ranges.negate(_least_range([ranges.negate(r) for r in arguments]))


CONDITIONALS = (
    Function("case", _case_type, case_text, lambda r: ranges.hull([*r[1::2], r[-1]]), arity=(3, MANY)),
    Function("coalesce", _one_type, lambda a: f"COALESCE({', '.join(a)})", ranges.hull, arity=(1, MANY)),
    Function("nullif", lambda t: t[0] if _one_type(t) else None, "NULLIF({0}, {1})", first, arity=(2, 2)),
    Function("least", _one_type, lambda a: f"LEAST({', '.join(a)})", _least_range, partial=False, arity=(1, MANY)),
    Function(
        "greatest", _one_type, lambda a: f"GREATEST({', '.join(a)})", _greatest_range, partial=False, arity=(1, MANY)
    ),
    Function(
        "in",
        lambda types: Type.BOOLEAN if _one_type(types) else None,
        lambda a: f"({a[0]} IN ({', '.join(a[1:])}))",
        TRUTH,
        arity=(2, 10 * MANY),
    ),
    row(
        "clip",
        (NUMBERS, NUMBERS, NUMBERS),
        Type.FLOAT,
        f"CASE WHEN NOT isnan({DOUBLE}) THEN LEAST(GREATEST({DOUBLE}, {{1}}), {{2}}) END",
        _clip_range,
    ),
    row(
        "clip_whole",
        (INTEGERS, INTEGERS, INTEGERS),
        Type.INTEGER,
        "CASE WHEN {0} IS NOT NULL THEN LEAST(GREATEST(CAST({0} AS BIGINT), {1}), {2}) END",
        _clip_range,
        partial=False,
    ),
    row("indicator", (BOOLEANS,), Type.INTEGER, "CAST({0} AS INTEGER)", TRUTH, partial=False),
)


# --- CAST and TRY_CAST
#
# Both are total here: a value that cannot be read is NULL. `imposed_…` is the same, put there by the catalog
# (`type: date`) and not by a query: a column read through it is still that column, with its declared values.

CAST_NAMES = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIME: "TIME",
    Type.TIMESTAMP: "TIMESTAMP",
}
_CAST_RANGES = {Type.BOOLEAN: TRUTH, Type.INTEGER: unary(whole_around)}

CASTS = tuple(
    row(
        f"{origin}_{kind.value}",
        (frozenset(Type),),
        kind,
        f"TRY_CAST({{0}} AS {name})",
        _CAST_RANGES.get(kind, first),
    )
    for kind, name in CAST_NAMES.items()
    for origin in ("cast", "imposed")
)


# --- Numbers, computed in double precision and NULL outside the domain of the function

_WITHIN_ONE = f"CASE WHEN {DOUBLE} BETWEEN -1 AND 1 THEN {DOUBLE} END"
_POSITIVE = f"CASE WHEN {DOUBLE} > 0 THEN {DOUBLE} END"


def _round_range(arguments: Sequence[Range]) -> Range:
    places = arguments[1].lower if len(arguments) > 1 else 0.0
    slack = 10.0 ** -max(-300.0, min(places, 300.0)) / 2 if math.isfinite(places) else math.inf
    return Range(arguments[0].lower - slack, arguments[0].upper + slack)


def _round_text(arguments: Sequence[str]) -> str:
    """Return ROUND with its digits clamped to -300 to 300, so that the cast to a small integer cannot fail."""
    value = f"CAST({arguments[0]} AS DOUBLE)"
    if len(arguments) == 1:
        return f"TRY(round({value}, 0))"
    places = f"CAST(LEAST(GREATEST({arguments[1]}, -300), 300) AS INTEGER)"
    return f"CASE WHEN {arguments[1]} IS NOT NULL THEN TRY(round({value}, {places})) END"


def _power_range(arguments: Sequence[Range]) -> Range:
    base, exponent = arguments
    if base.lower < 0 or exponent.lower < 0 or not base.is_finite or not exponent.is_finite:
        even = exponent.lower == exponent.upper == 2.0
        return ranges.multiply(ranges.absolute(base), ranges.absolute(base)) if even else EVERYTHING
    ends = [_power(b, e) for b in (base.lower, base.upper) for e in (exponent.lower, exponent.upper)]
    return Range(min(ends), max(ends))


def _power(base: float, exponent: float) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return math.inf


def _fixed_range(arguments: Sequence[Range]) -> Range:
    slack = 10.0 ** -arguments[2].lower / 2
    maximum = 10.0 ** (arguments[1].lower - arguments[2].lower)
    return ranges.meet(Range(arguments[0].lower - slack, arguments[0].upper + slack), Range(-maximum, maximum))


_REAL = ((NUMBERS,), Type.FLOAT)

NUMERIC = (
    row("sqrt", *_REAL, f"sqrt(CASE WHEN {DOUBLE} >= 0 THEN {DOUBLE} END)", increasing(math.sqrt, NON_NEGATIVE)),
    row("ln", *_REAL, f"ln({_POSITIVE})", increasing(math.log, NON_NEGATIVE)),
    row("log10", *_REAL, f"log10({_POSITIVE})", increasing(math.log10, NON_NEGATIVE)),
    row("log2", *_REAL, f"log2({_POSITIVE})", increasing(math.log2, NON_NEGATIVE)),
    row("exp", *_REAL, f"exp({DOUBLE})", increasing(math.exp), partial=False),
    row("sin", *_REAL, f"TRY(sin({DOUBLE}))", within(-1.0, 1.0)),
    row("cos", *_REAL, f"TRY(cos({DOUBLE}))", within(-1.0, 1.0)),
    row("tan", *_REAL, f"TRY(tan({DOUBLE}))"),
    row("asin", *_REAL, f"asin({_WITHIN_ONE})", increasing(math.asin, Range(-1.0, 1.0))),
    row("acos", *_REAL, f"acos({_WITHIN_ONE})", within(0.0, math.pi)),
    row("atan", *_REAL, f"atan({DOUBLE})", increasing(math.atan), partial=False),
    row("cbrt", *_REAL, f"cbrt({DOUBLE})", increasing(math.cbrt), partial=False),
    row("radians", *_REAL, f"radians({DOUBLE})", increasing(math.radians), partial=False),
    row("degrees", *_REAL, f"degrees({DOUBLE})", increasing(math.degrees), partial=False),
    row("floor", *_REAL, f"floor({DOUBLE})", increasing(math.floor), partial=False),
    row("ceil", *_REAL, f"ceil({DOUBLE})", increasing(math.ceil), partial=False),
    row("trunc", *_REAL, f"trunc({DOUBLE})", increasing(math.trunc), partial=False),
    row("abs", *_REAL, f"abs({DOUBLE})", unary(ranges.absolute), partial=False),
    row("abs_whole", (INTEGERS,), Type.INTEGER, "TRY(abs(CAST({0} AS BIGINT)))", unary(ranges.absolute)),
    row(
        "sign",
        (NUMBERS,),
        Type.INTEGER,
        f"CASE WHEN {DOUBLE} > 0 THEN 1 WHEN {DOUBLE} < 0 THEN -1 WHEN {DOUBLE} = 0 THEN 0 END",
        within(-1.0, 1.0),
    ),
    row("round", (NUMBERS, INTEGERS), Type.FLOAT, _round_text, _round_range, arity=(1, 2)),
    row("power", TWO_NUMBERS, Type.FLOAT, f"TRY(pow({DOUBLE}, {DOUBLE_1}))", _power_range),
    row("atan2", TWO_NUMBERS, Type.FLOAT, f"atan2({DOUBLE}, {DOUBLE_1})", within(-math.pi, math.pi), partial=False),
    # Places are held between -300 and 300, so that reading them as a small integer cannot fail.
    row(
        "trunc_places",
        (NUMBERS, INTEGERS),
        Type.FLOAT,
        "CASE WHEN {1} IS NOT NULL "
        f"THEN TRY(trunc({DOUBLE}, CAST(LEAST(GREATEST({{1}}, -300), 300) AS INTEGER))) END",
        lambda r: Range(min(r[0].lower, 0.0), max(r[0].upper, 0.0)),
    ),
    # DECIMAL(p, s): p and s are constants, 0 <= s <= p <= 38.
    row(
        "fixed",
        (NUMBERS, INTEGERS, INTEGERS),
        Type.FLOAT,
        f"CASE WHEN abs(round({DOUBLE}, {{2}})) < pow(CAST(10 AS DOUBLE), {{1}} - {{2}}) "
        f"THEN round({DOUBLE}, {{2}}) END",
        _fixed_range,
    ),
    # Bounds and number of bins are constants; 0 is below the first bin, one more than their number above the last.
    row(
        "width_bucket",
        (NUMBERS, NUMBERS, NUMBERS, INTEGERS),
        Type.INTEGER,
        f"CASE WHEN isnan({DOUBLE}) OR {{0}} IS NULL THEN NULL "
        f"WHEN {DOUBLE} < {{1}} THEN 0 WHEN {DOUBLE} >= {{2}} THEN {{3}} + 1 "
        f"ELSE TRY_CAST(LEAST(floor(({DOUBLE} - {{1}}) / ({{2}} - {{1}}) * {{3}}), {{3}} - 1) AS BIGINT) + 1 END",
        lambda r: Range(0.0, r[3].upper + 1),
    ),
    row("is_nan", (NUMBERS,), Type.BOOLEAN, f"isnan({DOUBLE})", TRUTH, partial=False),
    row("is_infinite", (NUMBERS,), Type.BOOLEAN, f"isinf({DOUBLE})", TRUTH, partial=False),
    row("is_finite", (NUMBERS,), Type.BOOLEAN, f"isfinite({DOUBLE})", TRUTH, partial=False),
)
