"""Exact aggregates of one person's rows, and window functions.

Doubles are added one by one in ascending order, as in DuckDB; ClickHouse's own sum adds in several lanes.
"""

from collections.abc import Callable, Mapping

from hedgerow.dialects.base import ExactAggregateCall
from hedgerow.dialects.clickhouse.spelling import bits, double, let, sortable
from hedgerow.expressions.types import Type

Written = Callable[[ExactAggregateCall], str | None]
NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
MEAN = "a.2 + (v - a.2) / (a.1 + 1)"
WELFORD = f"(a, v) -> (a.1 + 1, {MEAN}, a.3 + (v - ({MEAN})) * (v - a.2))"
"""One step of Welford's algorithm: count, mean, and sum of squared deviations."""


def _call(call: ExactAggregateCall, text: str) -> str:
    """An aggregate with FILTER and OVER."""
    where = "" if call.filter is None else f" FILTER (WHERE {call.filter})"
    return f"{text}{where}" if call.over is None else f"{text}{where} {call.over}"


def _double(call: ExactAggregateCall) -> str:
    """The first argument as a double."""
    arguments = call.arguments
    if arguments:
        return double(call.texts[0], arguments[0])
    return (
        f"toFloat64OrZero(toString({call.texts[0]}))"
        if call.kinds[0] is Type.DECIMAL
        else f"toFloat64({call.texts[0]})"
    )


def _sorted(call: ExactAggregateCall, body: str) -> str:
    """`body` over the sorted array `l` of all doubles; NULL if there is none."""
    return let(f"if(empty(l), NULL, {body})", l=f"arraySort({_call(call, f'groupArray({_double(call)})')})")


def _count(call: ExactAggregateCall) -> str:
    if not call.texts:
        return f"CAST({_call(call, 'count()')} AS Int64)"
    if not call.distinct:
        return f"CAST({_call(call, f'count({call.texts[0]})')} AS Int64)"
    value = bits(f"toFloat64({call.texts[0]})") if call.kinds[0] is Type.FLOAT else call.texts[0]
    return f"CAST({_call(call, f'uniqExact({value})')} AS Int64)"


def _sum(call: ExactAggregateCall) -> str:
    if call.kinds[0] is Type.INTEGER:
        return f"accurateCastOrNull({_call(call, f'sumOrNull(toInt128({call.texts[0]}))')}, 'Int64')"
    return _sorted(call, "arrayFold((a, v) -> a + v, l, 0e0)")


def _average(call: ExactAggregateCall) -> str:
    return _sorted(call, "arrayFold((a, v) -> a + v, l, 0e0) / length(l)")


def _variance(body: str) -> Written:
    """A function of the triple `w` of Welford's algorithm."""
    return lambda call: _sorted(call, let(body, w=f"arrayFold({WELFORD}, l, (0e0, 0e0, 0e0))"))


def _quantile(call: ExactAggregateCall, share: str) -> str:
    """Quantile, interpolated between two neighbouring values."""
    ends = {"b": "l[toUInt64(floor(p)) + 1]", "e": "l[toUInt64(ceil(p)) + 1]", "k": "p - floor(p)"}
    between = let("if(k = 0, b, b * (1 - k) + e * k)", **ends)
    return _sorted(call, let(between, l="l", p=f"(length(l) - 1) * toFloat64({share})"))


def _minimum(call: ExactAggregateCall) -> str:
    text = call.texts[0]
    if call.kinds[0] is not Type.FLOAT:
        return _call(call, f"minOrNull({text})")
    numbers = _call(call, f"minOrNull(if(isNaN({text}), NULL, {text}))")
    return f"coalesce({numbers}, {_call(call, f'anyOrNull({text})')})"


def _maximum(call: ExactAggregateCall) -> str:
    text = call.texts[0]
    top = _call(call, f"maxOrNull({text})")
    if call.kinds[0] is not Type.FLOAT:
        return top
    return f"if({_call(call, f'maxOrNull(isNaN({text}))')} = 1, nan, {top})"


def _boolean(name: str) -> Written:
    return lambda call: f"CAST({_call(call, f'{name}(toUInt8({call.texts[0]}))')} AS Bool)"


def _string_agg(call: ExactAggregateCall) -> str:
    joined = f"arrayStringConcat(l, {call.texts[1]})"
    return let(f"if(empty(l), NULL, {joined})", l=f"arraySort({_call(call, f'groupArray({call.texts[0]})')})")


def _at_extreme(extreme: str) -> Written:
    """The first argument where the second is smallest or largest (`Min` or `Max`); of several, the smallest."""

    def write(call: ExactAggregateCall) -> str:
        (first, second), kinds = call.texts, call.kinds
        not_null = f"{first} IS NOT NULL AND {second} IS NOT NULL"
        condition = not_null if call.filter is None else f"({not_null}) AND ({call.filter})"
        row = f"tuple({_order(second, kinds[1])}, {_order(first, kinds[0])}, {first})"
        rows = f"groupArrayIf({row}, {condition}){'' if call.over is None else f' {call.over}'}"
        best = f"array{extreme}(t -> t.1, l)"
        value = let("arraySort(t -> t.2, arrayFilter(t -> t.1 = b, l))[1].3", b=best, l="l")
        return let(f"if(empty(l), NULL, toNullable({value}))", l=rows)

    return write


def _order(text: str, kind: Type) -> str:
    """A sort key with DuckDB's order."""
    value = f"assumeNotNull({text})"
    return sortable(value) if kind is Type.FLOAT else value


def _window(name: str) -> Written:
    return lambda call: _call(call, f"{name}()")


def _whole_window(name: str) -> Written:
    return lambda call: f"CAST({_call(call, f'{name}()')} AS Int64)"


def _shifted(name: str) -> Written:
    """LAG and LEAD. Beyond the partition they return NULL, which needs a nullable type."""

    def write(call: ExactAggregateCall) -> str:
        first = call.texts[0]
        if len(call.texts) > 2 and call.kinds[0] in NUMBERS:
            wide = "Int64" if call.kinds[0] is call.kinds[2] is Type.INTEGER else "Float64"
            listed = [f"CAST({first} AS Nullable({wide}))", call.texts[1], f"CAST({call.texts[2]} AS Nullable({wide}))"]
        else:
            listed = [f"toNullable({first})", *call.texts[1:]]
        return _call(call, f"{name}({', '.join(listed)})")

    return write


def _value_at(name: str) -> Written:
    def write(call: ExactAggregateCall) -> str | None:
        listed = ", ".join([f"toNullable({call.texts[0]})", *call.texts[1:]])
        respects = "" if name == "nth_value" else " RESPECT NULLS"
        return None if call.filter is not None else _call(call, f"{name}({listed}){respects}")

    return write


def _ntile(call: ExactAggregateCall) -> str:
    return f"CAST({_call(call, f'ntile({call.texts[0]})')} AS Int64)"


EXACT_AGGREGATES: Mapping[str, Written] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _average,
    "MEDIAN": lambda call: _quantile(call, "0.5e0"),
    "QUANTILE_CONT": lambda call: _quantile(call, call.texts[1]),
    "MIN": _minimum,
    "MAX": _maximum,
    "ANY_VALUE": _minimum,
    "VAR_SAMP": _variance("if(w.1 > 1, w.3 / (w.1 - 1), NULL)"),
    "VAR_POP": _variance("if(w.1 > 1, w.3 / w.1, 0e0)"),
    "STDDEV_SAMP": _variance("if(w.1 > 1, sqrt(w.3 / (w.1 - 1)), NULL)"),
    "STDDEV_POP": _variance("if(w.1 > 1, sqrt(w.3 / w.1), 0e0)"),
    "BOOL_AND": _boolean("minOrNull"),
    "BOOL_OR": _boolean("maxOrNull"),
    "STRING_AGG": _string_agg,
    "ARG_MIN": _at_extreme("Min"),
    "ARG_MAX": _at_extreme("Max"),
    **{name: _whole_window(name) for name in ("ROW_NUMBER", "RANK", "DENSE_RANK")},
    **{name: _window(name.lower()) for name in ("PERCENT_RANK", "CUME_DIST")},
    "NTILE": _ntile,
    "LAG": _shifted("lag"),
    "LEAD": _shifted("lead"),
    **{name: _value_at(name.lower()) for name in ("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")},
}
