"""Building blocks of ClickHouse's SQL: named parts, doubles, and doubles in DuckDB's order.

ClickHouse also evaluates a function on the value *beneath* a NULL, so nothing here may fail on any value.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal

from hedgerow.expressions.nodes import Call, Column, Expr, Literal, walk
from hedgerow.expressions.types import Type, decimal_size

Writer = Callable[[Call, Sequence[str]], str | None]
"""Writes a call, given the texts of its arguments; returns None if these arguments are not supported."""

EXACT = 15
"""Number of decimal digits that always fit into a double."""

EXACT_POWER = 22
"""Largest power of ten that is exactly a double."""

SMALL = 18
"""Number of decimal digits that always fit into 64 bits."""

TWO_TO_53 = 2**53
SPACE = r"[ \t\n\v\f\r]*"
"""Pattern of the white space that DuckDB ignores around a value."""


def quoted(value: str) -> str:
    """A text constant, with backslash escapes."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\x00", "\\0") + "'"


def let(body: str, **parts: str) -> str:
    """`body`, in which each name refers to a part that is computed once."""
    names = ", ".join(parts)
    listed = ", ".join(f"[{text}]" for text in parts.values())
    return f"arrayElement(arrayMap(({names}) -> {body}, {listed}), 1)"


def template(text: str) -> Writer:
    """A writer that fills a template with the arguments."""
    return lambda _, texts: text.format(*texts)


def of_doubles(text: str) -> Writer:
    """A writer that fills a template with the arguments as doubles."""
    return lambda expr, texts: text.format(*doubles(expr, texts))


def doubles(expr: Call, texts: Sequence[str]) -> list[str]:
    """All arguments as doubles."""
    return [double(text, argument) for text, argument in zip(texts, expr.arguments, strict=True)]


def double(text: str, expr: Expr) -> str:
    """A value as the double that DuckDB would give."""
    if isinstance(expr, Literal) and expr.type is Type.FLOAT:
        return text
    if expr.type is Type.DECIMAL:
        return _from_decimal(text, expr)
    return f"toFloat64({text})"


def _from_decimal(text: str, expr: Expr) -> str:
    """The nearest double. Beyond 2^53 units in the last place, the digits are parsed instead of divided."""
    if any(isinstance(part, Column) and part.native.upper() == "HUGEINT" for part in walk(expr)):
        return let(_from_wide("n"), n=f"toInt128({text})")
    precision, scale = digits_of(expr)
    if precision <= EXACT and scale <= EXACT_POWER:
        return f"toFloat64({text})"
    if scale == 0:
        return let(_from_wide("n"), n=f"toInt128({text})") if precision > SMALL else f"toFloat64({text})"
    read = "toFloat64OrZero(toString(x))"
    if scale > EXACT_POWER:
        return let(read, x=text)
    raw = f"reinterpretAs{'Int64' if precision <= SMALL else 'Int128'}(x)"
    near = f"{raw} BETWEEN -{TWO_TO_53} AND {TWO_TO_53}"
    return let(f"if({near}, toFloat64(x), {read})", x=text)


def _from_wide(name: str) -> str:
    """A 128-bit integer as a double, as in DuckDB: both halves are converted, then added."""
    low = f"toUInt64(bitAnd({name}, toInt128('{2**64 - 1}')))"
    high = f"toInt64(bitShiftRight({name}, 64))"
    below = f"-toFloat64(bitNot({low})) - 1"
    return f"if({high} = -1, {below}, toFloat64({low}) + toFloat64({high}) * {float(2**64)!r})"


def digits_of(expr: Expr) -> tuple[int, int]:
    """Return the precision and scale of a decimal; (0, 0) for other types."""
    sizes = [_digits(part) for part in walk(expr)]
    return max((p for p, _ in sizes), default=0), max((s for _, s in sizes), default=0)


def _digits(expr: Expr) -> tuple[int, int]:
    if isinstance(expr, Literal) and isinstance(expr.value, Decimal):
        shape = expr.value.as_tuple()
        return len(shape.digits), max(0, -int(shape.exponent))
    return (decimal_size(expr.native) if isinstance(expr, Column) else None) or (0, 0)


def wholes(texts: Sequence[str]) -> list[str]:
    """Integers in 128 bits, so that no sum or product of two overflows."""
    return [f"toInt128({text})" for text in texts]


def whole(text: str) -> str:
    """A 64-bit integer; NULL where it does not fit."""
    return f"accurateCastOrNull({text}, 'Int64')"


def one_spelling(text: str) -> str:
    """A double with one zero and one NaN."""
    return f"if(isNaN({text}), nan, {text} + 0e0)"


def bits(text: str) -> str:
    """The bits of a double with one zero and one NaN: equal where DuckDB considers two doubles equal."""
    return f"reinterpretAsUInt64({one_spelling(text)})"


def sortable(text: str) -> str:
    """An integer that sorts like a double in DuckDB: NaN after infinity."""
    return sort_key(one_spelling(text))


def sort_key(text: str) -> str:
    """`sortable` of a double that already has one zero and one NaN."""
    key = f"if(b >= {2**63}, bitNot(b), bitOr(b, toUInt64({2**63})))"
    return let(key, b=f"reinterpretAsUInt64({text})")


def can_be_nan(expr: Expr) -> bool:
    """Return True if a double can be NaN; one that was cast from an integer or a decimal cannot."""
    if isinstance(expr, Literal) or expr.type is not Type.FLOAT:
        return False
    if not isinstance(expr, Call) or expr.function not in {"cast_float", "imposed_float"}:
        return True
    return expr.arguments[0].type not in {Type.INTEGER, Type.DECIMAL, Type.BOOLEAN}


def number_of(group: str) -> str:
    """The number of a group of at most nine digits; 0 if it is empty."""
    return f"toInt64OrZero({group})"
