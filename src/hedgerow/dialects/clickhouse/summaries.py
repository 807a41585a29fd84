"""Exact summaries of one person's rows, and window functions.

Doubles are added up in order of size, one after the other, as in DuckDB: ClickHouse's own sums add in several lanes.
"""

from collections.abc import Callable, Mapping

from hedgerow.dialects.base import SummaryCall
from hedgerow.dialects.clickhouse.spelling import bits, double, let, sortable
from hedgerow.expressions.types import Type

Written = Callable[[SummaryCall], str | None]
NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
MEAN = "a.2 + (v - a.2) / (a.1 + 1)"
WELFORD = f"(a, v) -> (a.1 + 1, {MEAN}, a.3 + (v - ({MEAN})) * (v - a.2))"
"""Count, mean, and sum of squares around it."""


def _call(call: SummaryCall, text: str) -> str:
    """With FILTER and OVER."""
    where = "" if call.filter is None else f" FILTER (WHERE {call.filter})"
    return f"{text}{where}" if call.over is None else f"{text}{where} {call.over}"


def _double(call: SummaryCall) -> str:
    """The first argument as a double."""
    known = call.arguments
    if known:
        return double(call.texts[0], known[0])
    return (
        f"toFloat64OrZero(toString({call.texts[0]}))"
        if call.kinds[0] is Type.DECIMAL
        else f"toFloat64({call.texts[0]})"
    )


def _sorted(call: SummaryCall, body: str) -> str:
    """`body` over the list `l` of all doubles in order of size; NULL where there is none."""
    return let(f"if(empty(l), NULL, {body})", l=f"arraySort({_call(call, f'groupArray({_double(call)})')})")


def _count(call: SummaryCall) -> str:
    if not call.texts:
        return f"CAST({_call(call, 'count()')} AS Int64)"
    if not call.distinct:
        return f"CAST({_call(call, f'count({call.texts[0]})')} AS Int64)"
    value = bits(f"toFloat64({call.texts[0]})") if call.kinds[0] is Type.FLOAT else call.texts[0]
    return f"CAST({_call(call, f'uniqExact({value})')} AS Int64)"


def _sum(call: SummaryCall) -> str:
    if call.kinds[0] is Type.INTEGER:
        return f"accurateCastOrNull({_call(call, f'sumOrNull(toInt128({call.texts[0]}))')}, 'Int64')"
    return _sorted(call, "arrayFold((a, v) -> a + v, l, 0e0)")


def _average(call: SummaryCall) -> str:
    return _sorted(call, "arrayFold((a, v) -> a + v, l, 0e0) / length(l)")


def _spread(body: str) -> Written:
    """From the triple `w` of Welford's algorithm."""
    return lambda call: _sorted(call, let(body, w=f"arrayFold({WELFORD}, l, (0e0, 0e0, 0e0))"))


def _quantile(call: SummaryCall) -> str:
    return _at(call, call.texts[1])


def _at(call: SummaryCall, share: str) -> str:
    """Between the two values next to a place."""
    ends = {"b": "l[toUInt64(floor(p)) + 1]", "e": "l[toUInt64(ceil(p)) + 1]", "k": "p - floor(p)"}
    between = let("if(k = 0, b, b * (1 - k) + e * k)", **ends)
    return _sorted(call, let(between, l="l", p=f"(length(l) - 1) * toFloat64({share})"))


def _least(call: SummaryCall) -> str:
    text = call.texts[0]
    if call.kinds[0] is not Type.FLOAT:
        return _call(call, f"minOrNull({text})")
    numbers = _call(call, f"minOrNull(if(isNaN({text}), NULL, {text}))")
    return f"coalesce({numbers}, {_call(call, f'anyOrNull({text})')})"


def _greatest(call: SummaryCall) -> str:
    text = call.texts[0]
    top = _call(call, f"maxOrNull({text})")
    if call.kinds[0] is not Type.FLOAT:
        return top
    return f"if({_call(call, f'maxOrNull(isNaN({text}))')} = 1, nan, {top})"


def _truth(name: str) -> Written:
    return lambda call: f"CAST({_call(call, f'{name}(toUInt8({call.texts[0]}))')} AS Bool)"


def _string_agg(call: SummaryCall) -> str:
    joined = f"arrayStringConcat(l, {call.texts[1]})"
    return let(f"if(empty(l), NULL, {joined})", l=f"arraySort({_call(call, f'groupArray({call.texts[0]})')})")


def _extreme(least: bool) -> Written:  # noqa: FBT001 - it says which
    """The argument where a value is least or greatest; of several, the least argument."""

    def write(call: SummaryCall) -> str:
        (first, second), kinds = call.texts, call.kinds
        there = f"{first} IS NOT NULL AND {second} IS NOT NULL"
        condition = there if call.filter is None else f"({there}) AND ({call.filter})"
        row = f"tuple({_order(second, kinds[1])}, {_order(first, kinds[0])}, {first})"
        rows = f"groupArrayIf({row}, {condition}){'' if call.over is None else f' {call.over}'}"
        best = f"array{'Min' if least else 'Max'}(t -> t.1, l)"
        found = let("arraySort(t -> t.2, arrayFilter(t -> t.1 = b, l))[1].3", b=best, l="l")
        return let(f"if(empty(l), NULL, toNullable({found}))", l=rows)

    return write


def _order(text: str, kind: Type) -> str:
    """A value that sorts as in DuckDB."""
    there = f"assumeNotNull({text})"
    return sortable(there) if kind is Type.FLOAT else there


def _window(name: str) -> Written:
    return lambda call: _call(call, f"{name}()")


def _whole_window(name: str) -> Written:
    return lambda call: f"CAST({_call(call, f'{name}()')} AS Int64)"


def _shifted(name: str) -> Written:
    """LAG and LEAD. What is not there must be NULL, which needs a type that can be."""

    def write(call: SummaryCall) -> str:
        first = call.texts[0]
        if len(call.texts) > 2 and call.kinds[0] in NUMBERS:
            wide = "Int64" if call.kinds[0] is call.kinds[2] is Type.INTEGER else "Float64"
            listed = [f"CAST({first} AS Nullable({wide}))", call.texts[1], f"CAST({call.texts[2]} AS Nullable({wide}))"]
        else:
            listed = [f"toNullable({first})", *call.texts[1:]]
        return _call(call, f"{name}({', '.join(listed)})")

    return write


def _placed(name: str) -> Written:
    def write(call: SummaryCall) -> str | None:
        listed = ", ".join([f"toNullable({call.texts[0]})", *call.texts[1:]])
        respects = "" if name == "nth_value" else " RESPECT NULLS"
        return None if call.filter is not None else _call(call, f"{name}({listed}){respects}")

    return write


def _ntile(call: SummaryCall) -> str:
    return f"CAST({_call(call, f'ntile({call.texts[0]})')} AS Int64)"


SUMMARIES: Mapping[str, Written] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _average,
    "MEDIAN": lambda call: _at(call, "0.5e0"),
    "QUANTILE_CONT": _quantile,
    "MIN": _least,
    "MAX": _greatest,
    "ANY_VALUE": _least,
    "VAR_SAMP": _spread("if(w.1 > 1, w.3 / (w.1 - 1), NULL)"),
    "VAR_POP": _spread("if(w.1 > 1, w.3 / w.1, 0e0)"),
    "STDDEV_SAMP": _spread("if(w.1 > 1, sqrt(w.3 / (w.1 - 1)), NULL)"),
    "STDDEV_POP": _spread("if(w.1 > 1, sqrt(w.3 / w.1), 0e0)"),
    "BOOL_AND": _truth("minOrNull"),
    "BOOL_OR": _truth("maxOrNull"),
    "STRING_AGG": _string_agg,
    "ARG_MIN": _extreme(least=True),
    "ARG_MAX": _extreme(least=False),
    **{name: _whole_window(name) for name in ("ROW_NUMBER", "RANK", "DENSE_RANK")},
    **{name: _window(name.lower()) for name in ("PERCENT_RANK", "CUME_DIST")},
    "NTILE": _ntile,
    "LAG": _shifted("lag"),
    "LEAD": _shifted("lead"),
    **{name: _placed(name.lower()) for name in ("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")},
}
