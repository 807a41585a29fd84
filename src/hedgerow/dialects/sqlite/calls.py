"""Functions, casts and exact aggregates: SQLite's own where they are total and exact, ours elsewhere."""

from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.base import ExactAggregateCall
from hedgerow.dialects.reach import reach
from hedgerow.dialects.sqlite import reading
from hedgerow.dialects.sqlite.reading import NAN, PREFIX, argument, is_certain, number, precision, whole
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.functions.numbers import CAST_NAMES, COMPARISONS, case_text
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type

NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
SAME = {(Type.BOOLEAN, Type.INTEGER), *((kind, kind) for kind in Type)}
"""Casts that leave the stored value unchanged."""

COMPUTED = {
    *((Type.TEXT, kind) for kind in (Type.BOOLEAN, Type.INTEGER, Type.FLOAT, Type.DATE, Type.TIME, Type.TIMESTAMP)),
    *((kind, Type.TEXT) for kind in (Type.FLOAT, Type.DECIMAL, Type.DATE, Type.TIME, Type.TIMESTAMP)),
    *((kind, Type.INTEGER) for kind in (Type.FLOAT, Type.DECIMAL)),
    (Type.DATE, Type.TIMESTAMP),
    (Type.TIMESTAMP, Type.DATE),
    (Type.TIMESTAMP, Type.TIME),
}
"""Casts for which we register a function."""


def cast(text: str, expr: Expr, kind: Type) -> str:
    """A value cast to another type; NULL if it cannot be converted."""
    source = expr.type
    if source in {Type.OTHER, Type.NULL}:
        whole = _known(text, Type.INTEGER, kind, certain=True)
        real = _known(text, Type.FLOAT, kind, certain=True)
        return "NULL" if source is Type.NULL else reading.untyped(text, kind, (whole, real))
    if source is Type.DECIMAL and kind is Type.TEXT:
        return f"{PREFIX}decimal_as_text({argument(text, source, certain=is_certain(expr))}, {precision(expr)[1]})"
    if source is Type.INTEGER and kind in {Type.FLOAT, Type.TEXT}:
        return f"CAST({number(text, expr)} AS {'REAL' if kind is Type.FLOAT else 'TEXT'})"
    if source is Type.DECIMAL and kind is Type.FLOAT:
        return f"CAST({number(text, expr)} AS REAL)"
    return _known(text, source, kind, certain=is_certain(expr))


def _known(text: str, source: Type, kind: Type, *, certain: bool) -> str:
    if (source, kind) in SAME:
        return text
    if (source, kind) in COMPUTED:
        return f"{PREFIX}{source.value}_as_{kind.value}({argument(text, source, certain=certain)})"
    if source in NUMBERS and kind is Type.BOOLEAN:
        return f"({text} <> 0)"
    if source is Type.BOOLEAN and kind is Type.TEXT:
        return f"CASE {text} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
    if source in {Type.BOOLEAN, Type.INTEGER} and kind in {Type.FLOAT, Type.TEXT}:
        return f"CAST({text} AS {'REAL' if kind is Type.FLOAT else 'TEXT'})"
    return "NULL"


Written = Callable[[Call, Sequence[str]], str]

MAX_ARGUMENTS = 100
"""Maximum number of arguments of a function; SQLite's own limit is 127."""

SYMBOLS = {**COMPARISONS, "is_distinct": "IS NOT", "is_not_distinct": "IS", "and": "AND", "or": "OR"}
SIGNS = {"add": "+", "subtract": "-", "multiply": "*"}
SUMS = frozenset({"add", "subtract"})
WHOLE_SIGNS = {f"{name}_whole": sign for name, sign in SIGNS.items()}


def double(text: str, expr: Expr) -> str:
    """A number as a double."""
    return text if expr.type is Type.FLOAT else f"CAST({number(text, expr)} AS REAL)"


def operands(expr: Call) -> tuple[Expr, ...]:
    """Return the operands of a call; a chain of calls from left to right, or of CASE in ELSE, is written as one."""
    if expr.function == "case":
        *branches, last = expr.arguments
        while isinstance(last, Call) and last.function == "case":
            branches, last = [*branches, *last.arguments[:-1]], last.arguments[-1]
        return (*branches, last)
    links = _links(expr)
    return (
        (links[-1].arguments[0], *(link.arguments[1] for link in reversed(links))) if len(links) > 1 else expr.arguments
    )


def _links(expr: Call) -> list[Call]:
    """Return the calls of a chain, from the last to the first: `a + b - c` is `subtract` and `add`."""
    links, names, maximum = [expr], frozenset({expr.function}), None
    if expr.function in {*SIGNS, *WHOLE_SIGNS} and _is_ours(expr):
        maximum = MAX_ARGUMENTS - 1
    elif expr.function in SUMS:
        names = SUMS
    elif expr.function not in {"multiply", "and", "or"}:
        return links
    first = expr.arguments[0]
    while isinstance(first, Call) and first.function in names and _is_ours(first) == (maximum is not None):
        if first.type is not expr.type or len(links) == maximum:
            break
        links.append(first)
        first = first.arguments[0]
    return links


def _is_ours(expr: Call) -> bool:
    """Return True for arithmetic that SQLite computes differently: it has no NaN and no integer overflow."""
    if expr.function in WHOLE_SIGNS:
        return not all(isinstance(a, Column | Literal) for a in expr.arguments)
    return expr.function in SIGNS and not _is_finite(expr)


def called(expr: Call, texts: Sequence[str]) -> str:
    """A call of a function that we register, by its name on the allow-list."""
    arguments = [
        text if isinstance(a, Literal) else argument(text, a.type, certain=is_certain(a))
        for text, a in zip(texts, operands(expr), strict=True)
    ]
    return f"{PREFIX}{expr.function}({', '.join(arguments)})"


def _logic(expr: Call, texts: Sequence[str]) -> str:
    return f"({f' {SYMBOLS[expr.function]} '.join(texts)})"


def _bytes(expr: Call, texts: Sequence[str]) -> list[str]:
    """Values to compare; text is compared byte by byte, whatever its column's collation."""
    return [
        f"{text} COLLATE BINARY" if isinstance(a, Column) and a.type is Type.TEXT and a.collated else text
        for text, a in zip(texts, expr.arguments, strict=True)
    ]


def _infix(expr: Call, texts: Sequence[str]) -> str:
    left, right = _bytes(expr, texts)
    return f"({left} {SYMBOLS[expr.function]} {right})"


def _nullif(expr: Call, texts: Sequence[str]) -> str:
    return f"NULLIF({', '.join(_bytes(expr, texts))})"


def _is_finite(expr: Expr) -> bool:
    """Return True if a value, read as a double, is certain to be finite."""
    return reach(expr) < float("inf")


def _arithmetic(expr: Call, texts: Sequence[str]) -> str:
    """Use SQLite's own arithmetic only if the result is finite: it has no NaN."""
    if _is_ours(expr):
        return called(expr, texts)
    first, *others = (double(text, a) for text, a in zip(texts, operands(expr), strict=True))
    signs = [SIGNS[link.function] for link in reversed(_links(expr))]
    return f"({first}{''.join(f' {sign} {text}' for sign, text in zip(signs, others, strict=True))})"


def _whole_arithmetic(expr: Call, texts: Sequence[str]) -> str:
    """SQLite converts integers to doubles on overflow. For columns and constants, testing the type is fastest."""
    if _is_ours(expr):
        return called(expr, texts)
    stored = [text for text, a in zip(texts, expr.arguments, strict=True) if isinstance(a, Column)]
    computed = f"{texts[0]} {WHOLE_SIGNS[expr.function]} {texts[1]}"
    tests = " AND ".join(f"typeof({text}) = 'integer'" for text in (*stored, computed))
    return f"CASE WHEN {tests} THEN {computed} END"


def _divide(expr: Call, texts: Sequence[str]) -> str:
    if not all(_is_finite(a) for a in expr.arguments):
        return called(expr, texts)
    left, right = (double(text, a) for text, a in zip(texts, expr.arguments, strict=True))
    return f"({left} / NULLIF({right}, 0.0))"


def _negate(expr: Call, texts: Sequence[str]) -> str:
    return f"(-{double(texts[0], expr.arguments[0])})" if _is_finite(expr.arguments[0]) else called(expr, texts)


def _coalesce(_expr: Call, texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    rest = [_coalesce(_expr, texts[MAX_ARGUMENTS:])] if len(texts) > MAX_ARGUMENTS else []
    return f"COALESCE({', '.join([*texts[:MAX_ARGUMENTS], *rest])})"


def _extreme(expr: Call, texts: Sequence[str]) -> str:
    """LEAST and GREATEST, which ignore NULL and, among numbers, values of other types; a hundred at a time."""
    numeric = expr.type in {Type.INTEGER, Type.DECIMAL}
    read = [number(text, a) for text, a in zip(texts, expr.arguments, strict=True)] if numeric else texts
    if len(read) <= MAX_ARGUMENTS:
        return called(expr, read)
    first = Call(expr.function, expr.arguments[:MAX_ARGUMENTS], expr.type)
    rest = Call(expr.function, (first, *expr.arguments[MAX_ARGUMENTS:]), expr.type)
    return _extreme(rest, [called(first, read[:MAX_ARGUMENTS]), *read[MAX_ARGUMENTS:]])


def _in(expr: Call, texts: Sequence[str]) -> str:
    return f"({_bytes(expr, texts)[0]} IN ({', '.join(texts[1:])}))"


def _clip(expr: Call, texts: Sequence[str]) -> str:
    value, low, high = (double(text, a) for text, a in zip(texts, expr.arguments, strict=True))
    present = value if _is_finite(expr.arguments[0]) else f"NULLIF({value}, {NAN})"
    return f"min(max({present}, {low}), {high})"


def _clip_whole(expr: Call, texts: Sequence[str]) -> str:
    return f"min(max({whole(texts[0], expr.arguments[0])}, {texts[1]}), {texts[2]})"


def _is_there(expr: Call, texts: Sequence[str]) -> str:
    return f"(COALESCE({number(texts[0], expr.arguments[0])}, {NAN}) <> {NAN})"


def _same_text(_expr: Call, texts: Sequence[str]) -> str:
    return f"(({texts[0]} COLLATE BINARY) = ({texts[1]} COLLATE BINARY))"


def _cast(kind: Type) -> Written:
    return lambda expr, texts: cast(texts[0], expr.arguments[0], kind)


WRITTEN: Mapping[str, Written] = {
    **dict.fromkeys(SYMBOLS, _infix),
    **dict.fromkeys(("and", "or"), _logic),
    **dict.fromkeys(SIGNS, _arithmetic),
    **dict.fromkeys(WHOLE_SIGNS, _whole_arithmetic),
    "divide": _divide,
    "negate": _negate,
    "not": lambda _, texts: f"(NOT {texts[0]})",
    "is_null": lambda _, texts: f"({texts[0]} IS NULL)",
    "is_there": _is_there,
    "is_nan": lambda expr, texts: f"({number(texts[0], expr.arguments[0])} = {NAN})",
    "case": lambda _, texts: case_text(texts),
    "coalesce": _coalesce,
    "nullif": _nullif,
    "least": _extreme,
    "greatest": _extreme,
    "in": _in,
    "clip": _clip,
    "clip_whole": _clip_whole,
    "indicator": lambda _, texts: texts[0],
    "same_text": _same_text,
    "one_spelling": lambda _, texts: f"CASE WHEN {texts[0]} = 0 THEN 0.0 ELSE {texts[0]} END",
    **{f"{prefix}_{kind.value}": _cast(kind) for kind in CAST_NAMES for prefix in ("cast", "imposed")},
}
"""Functions that are not simply a call of our function of the same name."""

CALLED: frozenset[str] = frozenset(
    {*allowed()} - {*WRITTEN} | {*SIGNS, *WHOLE_SIGNS, "divide", "negate", "least", "greatest"}
)
"""Functions of the allow-list that we register under their own names."""


ExactAggregateWriter = Callable[[ExactAggregateCall], str]


def _tail(call: ExactAggregateCall) -> str:
    where = "" if call.filter is None else f" FILTER (WHERE {call.filter})"
    return where if call.over is None else f"{where} {call.over}"


def _ours(name: str) -> ExactAggregateWriter:
    """An exact aggregate that we register."""

    def written(call: ExactAggregateCall) -> str:
        pairs = zip(call.texts, call.kinds, strict=True)
        listed = ", ".join(argument(text, kind, certain=False) for text, kind in pairs)
        return f"{PREFIX}{name}({listed}){_tail(call)}"

    return written


def _native(name: str) -> ExactAggregateWriter:
    """An exact aggregate of SQLite itself."""
    return lambda call: f"{name}({', '.join(call.texts)}){_tail(call)}"


def _min_or_max(name: str) -> ExactAggregateWriter:
    """MIN and MAX; text is compared byte by byte."""

    def written(call: ExactAggregateCall) -> str:
        collation = " COLLATE BINARY" if call.kinds[0] is Type.TEXT else ""
        return f"{name}({call.texts[0]}{collation}){_tail(call)}"

    return written


def _count(call: ExactAggregateCall) -> str:
    return f"COUNT({'DISTINCT ' if call.distinct else ''}{', '.join(call.texts) or '*'}){_tail(call)}"


def _sum(call: ExactAggregateCall) -> str:
    return _ours("sum_whole" if call.kinds[0] is Type.INTEGER else "sum")(call)


def _shifted(name: str) -> ExactAggregateWriter:
    """LAG and LEAD; a number and its default are both doubles or both integers."""

    def written(call: ExactAggregateCall) -> str:
        texts = list(call.texts)
        if len(texts) == 3 and {Type.FLOAT, Type.DECIMAL} & {*call.kinds}:
            for index in (0, 2):
                texts[index] = _as_double(texts[index], call.kinds[index])
        return f"{name}({', '.join(texts)}){_tail(call)}"

    return written


def _as_double(text: str, kind: Type) -> str:
    return f"CAST(NULLIF(min({text}, {NAN}), {NAN}) AS REAL)" if kind in {Type.INTEGER, Type.DECIMAL} else text


EXACT_AGGREGATES: Mapping[str, ExactAggregateWriter] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _ours("avg"),
    "MEDIAN": _ours("median"),
    "QUANTILE_CONT": _ours("quantile"),
    "MIN": _min_or_max("MIN"),
    "MAX": _min_or_max("MAX"),
    "ANY_VALUE": _min_or_max("MIN"),
    **{name: _ours(name.lower()) for name in ("STDDEV_SAMP", "STDDEV_POP", "VAR_SAMP", "VAR_POP")},
    "BOOL_AND": _min_or_max("MIN"),
    "BOOL_OR": _min_or_max("MAX"),
    **{name: _ours(name.lower()) for name in ("STRING_AGG", "ARG_MIN", "ARG_MAX")},
    **{name: _native(name) for name in ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE")},
    "LAG": _shifted("LAG"),
    "LEAD": _shifted("LEAD"),
    **{name: _native(name) for name in ("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")},
}
"""Allow-list: all other aggregates are refused."""
