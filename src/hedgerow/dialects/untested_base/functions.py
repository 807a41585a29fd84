"""Comparisons, logic, text, dates and exact aggregates.

NaN equals NaN and is greater than every number; text is compared byte by byte. Engines with IEEE 754 comparisons or
collations get explicit conditions.

Lengths and positions count characters. Patterns and positions must be constants, because each engine writes them
differently. Differences of dates count unit boundaries: from December to January is one year.

Exact aggregates of one person's rows are those that every engine computes alike, in any order of the rows. Sums of
doubles depend on that order, and engines differ in how they sort NaN: both are refused.
"""

from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.base import ExactAggregateCall
from hedgerow.dialects.reach import reach
from hedgerow.dialects.untested_base.fragments import Fragments
from hedgerow.expressions.functions.numbers import COMPARISONS, case_text
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

Writer = Callable[[Fragments, Call, Sequence[str]], str]
SYMBOLS = {name: symbol for name, symbol in COMPARISONS.items() if name not in {"is_distinct", "is_not_distinct"}}
MIRRORED = {"greater": "less", "greater_or_equal": "less_or_equal"}


def compared(dialect: Fragments, name: str, exprs: Sequence[Expr], texts: Sequence[str]) -> str:
    """A comparison of two values of one type, as a condition."""
    if name in MIRRORED:
        return compared(dialect, MIRRORED[name], exprs[::-1], texts[::-1])
    left, right = (comparable_text(dialect, expr, text) for expr, text in zip(exprs, texts, strict=True))
    plain = f"({left} {SYMBOLS[name]} {right})"
    if not dialect.strict_nan:
        return plain
    one, other = (may_be_nan(expr) for expr in exprs)
    if name == "unequal" and one and other:
        return f"(NOT {compared(dialect, 'equal', exprs, texts)})"
    if name == "equal" and one and other:
        return f"({left} = {right} OR ({dialect.is_nan(left)} AND {dialect.is_nan(right)}))"
    if name == "less" and other:
        lower = f"NOT {dialect.is_nan(left)}" if one else f"{left} IS NOT NULL"
        return f"({left} < {right} OR ({lower} AND {dialect.is_nan(right)}))"
    if name == "less_or_equal" and other:
        return f"({left} <= {right} OR ({left} IS NOT NULL AND {dialect.is_nan(right)}))"
    return plain


def may_be_nan(expr: Expr) -> bool:
    """Return True if a value can be NaN."""
    return expr.type is Type.FLOAT and reach(expr) == float("inf")


def comparable_text(dialect: Fragments, expr: Expr, text: str) -> str:
    """A value to compare; text is compared byte by byte."""
    return dialect.binary(text) if expr.type is Type.TEXT and not isinstance(expr, Literal) else text


def _comparison(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    return compared(dialect, expr.function, expr.arguments, texts)


def _is_same(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    kinds = [a.type for a in expr.arguments if a.type is not Type.NULL]
    if not kinds:
        return dialect.condition(dialect.boolean(expr.function == "is_not_distinct"))
    if any(a.type is Type.NULL for a in expr.arguments):
        value = next(text for a, text in zip(expr.arguments, texts, strict=True) if a.type is not Type.NULL)
        return f"({value} IS {'' if expr.function == 'is_not_distinct' else 'NOT '}NULL)"
    same = f"({dialect.same(texts[0], texts[1], kinds[0])})"
    return same if expr.function == "is_not_distinct" else f"(NOT {same})"


def _and_or(_dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    return f"({f' {expr.function.upper()} '.join(texts)})"


def _not(_dialect: Fragments, _expr: Call, texts: Sequence[str]) -> str:
    return f"(NOT {texts[0]})"


def _is_null(_dialect: Fragments, _expr: Call, texts: Sequence[str]) -> str:
    return f"({texts[0]} IS NULL)"


def _coalesce(_dialect: Fragments, _expr: Call, texts: Sequence[str]) -> str:
    return f"COALESCE({', '.join(texts)})" if len(texts) > 1 else texts[0]


def _nullif(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    equal = compared(dialect, "equal", expr.arguments, texts)
    return f"CASE WHEN {equal} THEN NULL ELSE {texts[0]} END"


def _least_or_greatest(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    """LEAST and GREATEST, which ignore NULL."""
    order = "less_or_equal" if expr.function == "least" else "greater_or_equal"
    chosen, text = expr.arguments[0], texts[0]
    for other, right in zip(expr.arguments[1:], texts[1:], strict=True):
        first = compared(dialect, order, (chosen, other), (text, right))
        text = f"CASE WHEN {right} IS NULL OR {first} THEN {text} ELSE {right} END"
        chosen = Call(expr.function, (chosen, other), expr.type)
    return text


def _among(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    first, *others = expr.arguments
    if dialect.strict_nan and any(may_be_nan(other) for other in others):
        equalities = [
            compared(dialect, "equal", (first, e), (texts[0], t)) for e, t in zip(others, texts[1:], strict=True)
        ]
        return f"({' OR '.join(equalities)})"
    listed = ", ".join(comparable_text(dialect, e, t) for e, t in zip(others, texts[1:], strict=True))
    return f"({comparable_text(dialect, first, texts[0])} IN ({listed}))"


def _indicator(_dialect: Fragments, _expr: Call, texts: Sequence[str]) -> str:
    return f"CASE WHEN {texts[0]} THEN 1 WHEN NOT {texts[0]} THEN 0 END"


def _same_text(dialect: Fragments, _expr: Call, texts: Sequence[str]) -> str:
    return f"({dialect.binary(texts[0])} = {dialect.binary(texts[1])})"


LOGIC: Mapping[str, Writer] = {
    **dict.fromkeys(SYMBOLS, _comparison),
    **dict.fromkeys(("is_distinct", "is_not_distinct"), _is_same),
    **dict.fromkeys(("and", "or"), _and_or),
    **dict.fromkeys(("least", "greatest"), _least_or_greatest),
    "not": _not,
    "is_null": _is_null,
    "case": lambda _dialect, _expr, texts: case_text(texts),
    "coalesce": _coalesce,
    "nullif": _nullif,
    "in": _among,
    "indicator": _indicator,
    "same_text": _same_text,
}


SPACES = "\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""Characters that TRIM removes: the space separators of Unicode, and neither tabs nor line ends."""

LONGEST = 10_000
FARTHEST = 2**31 - 1


def _constant(dialect: Fragments, expr: Expr, what: str) -> str:
    """Return a constant text, or refuse."""
    if not isinstance(expr, Literal) or not isinstance(expr.value, str):
        raise dialect.lacks(f"{what} that is not a constant")
    return expr.value


def _position(dialect: Fragments, expr: Expr, minimum: int) -> int:
    """Return a constant position or length, or refuse."""
    if not isinstance(expr, Literal) or not isinstance(expr.value, int) or not minimum <= expr.value <= FARTHEST:
        raise dialect.lacks(f"a position or length that is not a constant of at least {minimum}")
    return expr.value


def like_items(pattern: str, escape: str) -> list[str]:
    """Return the pattern as wildcards `%`, `_` and literal characters, the latter marked by a leading `=`."""
    items, characters = list[str](), iter(pattern)
    for character in characters:
        if escape and character == escape:
            items.append("=" + next(characters, ""))
        else:
            items.append(character if character in "%_" else "=" + character)
    return items


def _matched(dialect: Fragments, text: str, items: Sequence[str]) -> str:
    return dialect.like(dialect.letters(text), items)


def _like(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    pattern = _constant(dialect, expr.arguments[1], "a pattern")
    escape = _constant(dialect, expr.arguments[2], "an escape character") if len(expr.arguments) > 2 else ""
    return _matched(dialect, texts[0], like_items(pattern, escape))


def _affix(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    """A search for a constant at the start, at the end or anywhere."""
    sought = [f"={character}" for character in _constant(dialect, expr.arguments[1], "a text to search for")]
    before = [] if expr.function == "starts_with" else ["%"]
    after = [] if expr.function == "ends_with" else ["%"]
    return _matched(dialect, texts[0], [*before, *sought, *after])


def _substring(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    start = 1 if expr.function == "left" else _position(dialect, expr.arguments[1], 1)
    length = _position(dialect, expr.arguments[-1], 0) if expr.function == "left" or len(texts) > 2 else FARTHEST
    return dialect.piece(texts[0], start, length)


def _concat(dialect: Fragments, _expr: Call, texts: Sequence[str]) -> str:
    return dialect.piece(dialect.concatenated(texts), 1, LONGEST)


def _trim(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    characters = (
        _constant(dialect, expr.arguments[1], "a set of characters to trim") if len(expr.arguments) > 1 else SPACES
    )
    return dialect.trimmed(expr.function, texts[0], characters)


TEXTS: Mapping[str, Writer] = {
    **dict.fromkeys(("like", "like_escape"), _like),
    **dict.fromkeys(("starts_with", "ends_with", "contains"), _affix),
    **dict.fromkeys(("substring", "left"), _substring),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), _trim),
    "concat": _concat,
}


PARTS = ("year", "quarter", "month", "week", "day", "dayofweek", "isodow", "dayofyear", "hour", "minute", "second")
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


def as_timestamp(dialect: Fragments, expr: Expr, text: str) -> str:
    """Midnight of a date; a timestamp unchanged."""
    return dialect.midnight.format(text) if expr.type is Type.DATE else text


def _extract(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    part = expr.function.removeprefix("extract_")
    if part not in dialect.parts:
        raise dialect.lacks(f"the function {expr.function}")
    return dialect.parts[part].format(as_timestamp(dialect, expr.arguments[0], texts[0]))


def _trunc(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    unit = expr.function.removeprefix("trunc_")
    if unit not in dialect.units:
        raise dialect.lacks(f"the function {expr.function}")
    return dialect.units[unit].format(as_timestamp(dialect, expr.arguments[0], texts[0]))


def _months(dialect: Fragments, text: str) -> str:
    return f"({dialect.parts['year'].format(text)} * 12 + {dialect.parts['month'].format(text)})"


def _difference(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    start, end = (as_timestamp(dialect, a, text) for a, text in zip(expr.arguments, texts, strict=True))
    if expr.function == "difference_year":
        return f"({dialect.parts['year'].format(end)} - {dialect.parts['year'].format(start)})"
    if expr.function == "difference_month":
        return f"({_months(dialect, end)} - {_months(dialect, start)})"
    return dialect.days.format(start, end)


def _days_between(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    return _difference(dialect, Call("difference_day", expr.arguments[::-1], expr.type), texts[::-1])


def _last_day(dialect: Fragments, _expr: Call, texts: Sequence[str]) -> str:
    return dialect.last_day.format(texts[0])


TIMES: Mapping[str, Writer] = {
    **{f"extract_{part}": _extract for part in PARTS},
    **{f"trunc_{unit}": _trunc for unit in UNITS},
    **{f"difference_{unit}": _difference for unit in ("year", "month", "day")},
    "days_between": _days_between,
    "last_day": _last_day,
}


ExactAggregateWriter = Callable[[Fragments, ExactAggregateCall], str]


def _filtered(call: ExactAggregateCall, text: str) -> str:
    return text if call.filter is None else f"CASE WHEN {call.filter} THEN {text} END"


def _no_window(dialect: Fragments, call: ExactAggregateCall) -> None:
    """Refuse an exact aggregate over a window."""
    if call.over is not None:
        raise dialect.lacks(f"{call.function} as a window function")


def _value(dialect: Fragments, call: ExactAggregateCall) -> str:
    [kind], [text] = call.kinds, call.texts
    if kind is Type.FLOAT and dialect.has_nan:
        raise dialect.lacks(f"{call.function} of doubles within one person's rows")
    return _filtered(call, dialect.binary(text) if kind is Type.TEXT else text)


def _count(dialect: Fragments, call: ExactAggregateCall) -> str:
    _no_window(dialect, call)
    if not call.texts:
        return dialect.counted(call.filter)
    if call.distinct:
        return dialect.count(f"DISTINCT {_value(dialect, call)}")
    return dialect.count(_filtered(call, call.texts[0]))


def _sum(dialect: Fragments, call: ExactAggregateCall) -> str:
    _no_window(dialect, call)
    if call.kinds != (Type.INTEGER,) or call.distinct:
        raise dialect.lacks("SUM of one person's rows over values that are not integers")
    return dialect.narrowed(dialect.total_if(call.texts[0], call.filter))


def _min_or_max(dialect: Fragments, call: ExactAggregateCall) -> str:
    _no_window(dialect, call)
    name = "MAX" if call.function in {"MAX", "BOOL_OR"} else "MIN"
    if call.kinds[0] is Type.BOOLEAN:
        return dialect.predicate(f"({name}({_filtered(call, dialect.flag.format(call.texts[0]))}) = 1)")
    return f"{name}({_value(dialect, call)})"


def _ranked(dialect: Fragments, call: ExactAggregateCall) -> str:
    if call.filter is not None or (call.over is not None and call.over.frame.unit):
        raise dialect.lacks(f"{call.function} with FILTER or a frame")
    return f"{call.function}({', '.join(call.texts)}) {call.over}"


def _shifted(dialect: Fragments, call: ExactAggregateCall) -> str:
    if len(call.texts) > 2:
        raise dialect.lacks(f"{call.function} with a default")
    return _ranked(dialect, call)


EXACT_AGGREGATES: Mapping[str, ExactAggregateWriter] = {
    "COUNT": _count,
    "SUM": _sum,
    **dict.fromkeys(("MIN", "MAX", "ANY_VALUE", "BOOL_AND", "BOOL_OR"), _min_or_max),
    **dict.fromkeys(("ROW_NUMBER", "RANK", "DENSE_RANK"), _ranked),
    **dict.fromkeys(("LAG", "LEAD"), _shifted),
}
