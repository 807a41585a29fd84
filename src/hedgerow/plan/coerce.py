"""Implicit conversions, made explicit, so that the database performs none of its own, which could fail on a row."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from hedgerow.errors import Span, UnsupportedSQLError
from hedgerow.expressions.functions import allowed, lookup
from hedgerow.expressions.nodes import Call, Column, Constant, Expr, Literal, Nested, walk
from hedgerow.expressions.types import Type, decimal_size
from hedgerow.plan import literals

LONGEST_DECIMAL = 37
NULLS_WELCOME = frozenset(
    {"case", "coalesce", "nullif", "in", "is_null", "least", "greatest", "and", "or", "not", "is_distinct"}
    | {
        "concat_present",
        "concat_joined",
        "is_not_distinct",
        "equal",
        "unequal",
        "less",
        "less_or_equal",
        "greater",
        "greater_or_equal",
    }
)
"""Functions for which the constant NULL makes sense; elsewhere it would hide its type from the engine."""


_HINTS = {
    ("add", "text, text"): "Join texts with ||.",
    ("bit_and", "text, text"): "Join texts with ||.",
    ("is_null", "text, text"): "Write COALESCE(x, y) for a value in the place of NULL.",
    ("trunc_places", "date, text"): "Write DATE_TRUNC('month', d).",
    ("trunc_places", "timestamp, text"): "Write DATE_TRUNC('month', d).",
}
"""Hints for functions applied to types that only another dialect allows."""


_OTHERWISE = {
    "add": "+",
    "subtract": "-",
    "negate": "-",
    "multiply": "*",
    "divide": "/",
    "remainder": "%",
    "bit_and": "&",
    "bit_or": "|",
    "bit_xor": "XOR",
    "concat": "||",
    "trunc_places": "TRUNC",
    "code_point": "ASCII",
    "character": "CHR",
    "format_time": "STRFTIME",
    "read_time": "STRPTIME",
    "from_epoch": "TO_TIMESTAMP",
    "days_between": "-",
    "week_from_sunday": "WEEK",
    "age_in_years": "AGE",
    "month_name": "MONTHNAME",
    "day_name": "DAYNAME",
    "like_escape": "LIKE",
    "in_zone": "AT TIME ZONE",
}
"""Functions that queries write otherwise."""

_OF_UNITS = {
    "extract": "EXTRACT({} FROM …)",
    "clock": "EXTRACT({} FROM …)",
    "trunc": "DATE_TRUNC('{}', …)",
    "difference": "DATE_DIFF('{}', …)",
    "elapsed": "DATE_SUB('{}', …)",
    "bucket": "TIME_BUCKET(INTERVAL 1 {}, …)",
    "shift": "INTERVAL 1 {}",
}
"""Functions of dates that exist for several units, each with a name of its own."""

_OF_DATES = ("extract_", "trunc_", "difference_", "elapsed_", "bucket_", "shift_", "format_", "last_day", "days_")
_OF_TEXTS = (
    *("lower", "upper", "reverse", "trim", "ltrim", "rtrim", "lpad", "rpad", "length", "substring", "left", "right"),
    *("split_part", "replace", "translate", "repeat", "position", "code_point", "concat", "contains", "starts_with"),
    *("ends_with", "like", "ilike", "regexp_"),
)

TELLS_SIGNS = frozenset({"cast_text", "imposed_text", "atan2", "power"})
"""Functions that distinguish -0.0 from 0.0, or one NaN from another; the engine may choose which of them a row has."""


def call(name: str, arguments: Sequence[Expr], span: Span | None = None) -> Call:
    """Return a call of `name`, and refuse arguments that its signature does not admit."""
    name = _around_queries(name, arguments, span)
    if name in TELLS_SIGNS:
        arguments = [Call("one_spelling", (a,), a.type) if a.type is Type.FLOAT else a for a in arguments]
    function = lookup(name)
    if name not in NULLS_WELCOME and not name.startswith("cast_") and any(a.type is Type.NULL for a in arguments):
        raise UnsupportedSQLError(
            f"{_written(name)} of the constant NULL is always NULL.",
            code="null-argument",
            hint="Leave it out, or give NULL a type: CAST(NULL AS DOUBLE).",
            span=span,
        )
    low, high = function.arity
    result = function.signature([a.type for a in arguments]) if low <= len(arguments) <= high else None
    if result is None:
        kinds = ", ".join(a.type.value for a in arguments)
        raise UnsupportedSQLError(
            f"{_written(name)} cannot be applied to ({kinds}).",
            code="type-mismatch",
            hint=_HINTS.get((name, kinds)) or _conversion(name),
            span=span,
        )
    return Call(name, tuple(arguments), result)


def _conversion(name: str) -> str:
    kind = "DOUBLE"
    if name.startswith(_OF_DATES):
        kind = "DATE"
    elif name.startswith(_OF_TEXTS):
        kind = "VARCHAR"
    return f"Convert with CAST, for instance CAST(x AS {kind})."


def _written(name: str) -> str:
    """The function as a query writes it.

    Example:
        >>> _written("trunc_month"), _written("add_whole"), _written("split_part")
        ("DATE_TRUNC('month', …)", '+', 'SPLIT_PART')
    """
    name = name.removesuffix("_whole")
    family, _, unit = name.partition("_")
    if name in _OTHERWISE:
        return _OTHERWISE[name]
    return _OF_UNITS[family].format(unit) if unit and family in _OF_UNITS else name.upper()


def to_number(expr: Expr) -> Expr:
    """Return a condition as 0 or 1, for arithmetic; any other value is unchanged."""
    return call("indicator", [expr]) if expr.type is Type.BOOLEAN else expr


def _around_queries(name: str, arguments: Sequence[Expr], span: Span | None) -> str:
    """Handle a call around a query, which engines cannot wrap in TRY: use doubles for arithmetic, refuse the rest."""
    if not any(isinstance(part, Nested) for argument in arguments for part in walk(argument)):
        return name
    if "TRY(" not in lookup(name).render(["x"] * max(len(arguments), 3)):
        return name
    if name.endswith("_whole") and name.removesuffix("_whole") in allowed():
        return name.removesuffix("_whole")
    raise UnsupportedSQLError(
        f"{_written(name)} cannot be applied to a query.",
        code="nested-query",
        hint="Let the query compute it, or join with the query in FROM.",
        span=span,
    )


def to_float(expr: Expr) -> Expr:
    """Return the value as a double."""
    if expr.type is Type.FLOAT:
        return expr
    if isinstance(expr, Literal) and isinstance(expr.value, int | Decimal):
        return literals.real(float(expr.value))
    return call("cast_float", [expr])


def unify(exprs: Sequence[Expr], span: Span | None = None) -> list[Expr]:
    """Convert all expressions to one type: numbers to doubles, constants to dates; or refuse them."""
    kinds = {e.type for e in exprs if e.type is not Type.NULL}
    if len(kinds) <= 1 and Type.DECIMAL not in kinds:
        return list(exprs)
    if all(kind.is_numeric for kind in kinds):
        return [e if e.type is Type.NULL else to_float(e) for e in exprs]
    if kinds == {Type.DATE, Type.TIMESTAMP}:
        return [e if e.type is Type.TIMESTAMP else call("cast_timestamp", [e]) for e in exprs]
    if Type.BOOLEAN in kinds and all(kind.is_numeric or kind is Type.BOOLEAN for kind in kinds):
        return unify([to_number(e) for e in exprs], span)
    if Type.TEXT in kinds and len(kinds) == 2:
        target = (kinds - {Type.TEXT}).pop()
        zone = next((_zone(e) for e in exprs if _zone(e)), None)
        read = [_read_text(e, target, span, zone) if e.type is Type.TEXT else e for e in exprs]
        return unify(read, span) if target.is_numeric else read
    raise _mismatch(kinds, span)


def comparable(exprs: Sequence[Expr], span: Span | None = None) -> list[Expr]:
    """Unify types, but keep a decimal column next to short constants, so that indexes and zone maps work."""
    if len({(e.type, e.native) if isinstance(e, Column) and e.native else id(e) for e in exprs}) == 1:
        return list(exprs)
    numbers = [e for e in exprs if e.type.is_numeric]
    columns = [e for e in numbers if isinstance(e, Column)]
    if len(numbers) == len(exprs) and len(columns) == 1 and columns[0].native.upper().startswith("DECIMAL"):
        rest = [e for e in numbers if e is not columns[0]]
        if all(isinstance(e, Literal) and _fits(e.value, columns[0].native) for e in rest):
            return list(exprs)
    return unify(exprs, span)


def _fits(value: Constant, native: str) -> bool:
    """Return True if a constant can be compared with a DECIMAL(p, s) column without any row failing a cast.

    The engine brings both sides to one decimal type of at most 38 digits; there must be room for the
    digits of either before and after the point.
    """
    size = decimal_size(native)
    if size is None or not isinstance(value, int | Decimal):
        return False
    precision, scale = size
    exact = Decimal(value).as_tuple()
    fractional = max(0, -int(exact.exponent))
    before = max(0, len(exact.digits) - fractional)
    return max(precision - scale, before) + max(scale, fractional) <= LONGEST_DECIMAL


def _zone(expr: Expr) -> str | None:
    """Return the time zone in which a point in time is displayed; None for other values."""
    zone = expr.arguments[-1] if isinstance(expr, Call) and expr.function == "in_zone" else None
    return str(zone.value) if isinstance(zone, Literal) else None


def _read_text(expr: Expr, target: Type, span: Span | None, zone: str | None) -> Expr:
    if isinstance(expr, Literal) and isinstance(expr.value, str):
        if target in {Type.DATE, Type.TIMESTAMP}:
            kind = Type.TIMESTAMP if target is Type.TIMESTAMP else Type.DATE
            return literals.timestamp(expr.value, kind, zone)
        if target is Type.TIME:
            return literals.clock(expr.value)
        if target.is_numeric and expr.value.isascii() and expr.value.removeprefix("-").replace(".", "", 1).isdigit():
            return literals.signed(expr.value)
    refusal = _mismatch({Type.TEXT, target}, span)
    if target.is_numeric and not isinstance(expr, Literal):
        refusal.hint = "Write text in quotes, such as '1', or convert the text: CAST(s AS DOUBLE)."
    raise refusal


def _mismatch(kinds: Iterable[Type], span: Span | None) -> UnsupportedSQLError:
    names = " and ".join(sorted(kind.value for kind in kinds))
    return UnsupportedSQLError(
        f"Values of type {names} cannot be mixed.",
        code="type-mismatch",
        hint=_mixed_hint(set(kinds)),
        span=span,
    )


def _mixed_hint(kinds: set[Type]) -> str:
    """Hint for values of two types that cannot be combined."""
    if Type.TEXT in kinds and Type.BOOLEAN in kinds:
        return "A condition is TRUE or FALSE: write the column alone, or NOT and the column."
    if Type.TEXT in kinds and any(kind.is_numeric for kind in kinds):
        return "Write numbers without quotes, or convert one of them with CAST."
    if kinds & {Type.DATE, Type.TIMESTAMP} and any(kind.is_numeric for kind in kinds):
        return "Write a date in quotes, DATE '2026-01-31', or compare a part of it: YEAR(d) = 2026."
    return "Convert one of them with CAST."
