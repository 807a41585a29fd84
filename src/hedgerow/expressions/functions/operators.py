"""Arithmetic, comparison and logic.

Numbers that are not both whole are computed in double precision, which has no errors: what overflows
is infinite, what is undefined is NaN, and both are dealt with when the value is clamped. Whole
numbers stay whole and are NULL where they overflow.
"""

from collections.abc import Callable, Sequence

from hedgerow.expressions import ranges
from hedgerow.expressions.functions.registry import ANYTHING, BOOLEANS, NUMBERS, Function, register, takes, whole_around
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type


def both_whole_or_float(types: Sequence[Type]) -> Type | None:
    """INTEGER for whole numbers, FLOAT for other numbers, nothing else."""
    if not all(t.is_numeric for t in types):
        return None
    return Type.INTEGER if all(t in {Type.INTEGER, Type.NULL} for t in types) else Type.FLOAT


def _arithmetic(name: str, symbol: str, rule: Callable[[Range, Range], Range]) -> None:
    register(
        Function(
            f"{name}_whole",
            takes(frozenset({Type.INTEGER}), frozenset({Type.INTEGER}), gives=Type.INTEGER),
            f"TRY(CAST({{0}} AS BIGINT) {symbol} CAST({{1}} AS BIGINT))",
            range=lambda r: rule(r[0], r[1]),
            arity=(2, 2),
        )
    )
    register(
        Function(
            name,
            takes(NUMBERS, NUMBERS, gives=Type.FLOAT),
            f"(CAST({{0}} AS DOUBLE) {symbol} CAST({{1}} AS DOUBLE))",
            range=lambda r: rule(r[0], r[1]),
            partial=False,
            arity=(2, 2),
        )
    )


_arithmetic("add", "+", ranges.add)
_arithmetic("subtract", "-", ranges.subtract)
_arithmetic("multiply", "*", ranges.multiply)

register(
    Function(
        "divide",
        takes(NUMBERS, NUMBERS, gives=Type.FLOAT),
        "(CAST({0} AS DOUBLE) / NULLIF(CAST({1} AS DOUBLE), 0))",
        range=lambda r: ranges.divide(r[0], r[1]),
        arity=(2, 2),
    )
)
register(
    Function(
        "divide_whole",
        takes(frozenset({Type.INTEGER}), frozenset({Type.INTEGER}), gives=Type.INTEGER),
        "TRY(CAST({0} AS BIGINT) // NULLIF(CAST({1} AS BIGINT), 0))",
        range=lambda r: whole_around(ranges.divide(r[0], r[1])),
        arity=(2, 2),
    )
)
register(
    Function(
        "remainder_whole",
        takes(frozenset({Type.INTEGER}), frozenset({Type.INTEGER}), gives=Type.INTEGER),
        "TRY(CAST({0} AS BIGINT) % NULLIF(CAST({1} AS BIGINT), 0))",
        range=lambda r: ranges.remainder(r[0], r[1]),
        arity=(2, 2),
    )
)
register(
    Function(
        "remainder",
        takes(NUMBERS, NUMBERS, gives=Type.FLOAT),
        "(CAST({0} AS DOUBLE) % NULLIF(CAST({1} AS DOUBLE), 0))",
        range=lambda r: ranges.remainder(r[0], r[1]),
        arity=(2, 2),
    )
)
register(
    Function(
        "negate",
        takes(NUMBERS, gives=Type.FLOAT),
        "(-CAST({0} AS DOUBLE))",
        range=lambda r: ranges.negate(r[0]),
        partial=False,
    )
)
register(
    Function(
        "negate_whole",
        takes(frozenset({Type.INTEGER}), gives=Type.INTEGER),
        "TRY(-CAST({0} AS BIGINT))",
        range=lambda r: ranges.negate(r[0]),
    )
)

for _name, _symbol in (
    ("equal", "="),
    ("unequal", "<>"),
    ("less", "<"),
    ("less_or_equal", "<="),
    ("greater", ">"),
    ("greater_or_equal", ">="),
    ("is_distinct", "IS DISTINCT FROM"),
    ("is_not_distinct", "IS NOT DISTINCT FROM"),
):
    register(
        Function(
            _name,
            takes(ANYTHING, ANYTHING, gives=Type.BOOLEAN),
            f"({{0}} {_symbol} {{1}})",
            range=lambda _: Range(0.0, 1.0),
            partial=False,
            arity=(2, 2),
        )
    )


def _infix(symbol: str) -> Callable[[Sequence[str]], str]:
    return lambda arguments: "(" + f" {symbol} ".join(arguments) + ")"


for _name, _symbol in (("and", "AND"), ("or", "OR")):
    register(
        Function(_name, takes(BOOLEANS, BOOLEANS, gives=Type.BOOLEAN), _infix(_symbol), partial=False, arity=(2, 2))
    )
register(Function("not", takes(BOOLEANS, gives=Type.BOOLEAN), "(NOT {0})", partial=False))
register(
    Function(
        "is_there",
        takes(NUMBERS, gives=Type.BOOLEAN),
        "COALESCE(NOT isnan(CAST({0} AS DOUBLE)), FALSE)",
        partial=False,
    )
)
register(Function("is_null", takes(ANYTHING, gives=Type.BOOLEAN), "({0} IS NULL)", partial=False))
