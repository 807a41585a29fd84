"""Exact aggregates of public rows and of one person's rows.

Doubles are collected, sorted and added in ascending order, as in DuckDB.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from hedgerow.dialects.base import Dialect, ExactAggregateCall, Over
from hedgerow.dialects.spark.spelling import bigint, double
from hedgerow.expressions.nodes import NO_FRAME
from hedgerow.expressions.types import Type

Written = Callable[[ExactAggregateCall], str]
WORD, PIECE = 63, 21
"""Bits of an integer without its sign, and of the pieces in which large integers are added.

2^41 integers of up to 22 bits can be added in 64 bits, and the first piece has one more than the others.
"""


def total(text: str, tail: str = "", *, reach: int = 1 << WORD) -> str:
    """The sum of 64-bit integers that are at most `reach` in absolute value.

    They are added in as few pieces of 64 bits as cannot overflow; several are put together as a decimal of 38 digits.
    """
    value = bigint(text)
    if reach >> PIECE == 0:
        return f"SUM({value}){tail}"
    first = PIECE if reach >> (2 * PIECE) == 0 else 2 * PIECE
    pieces = [(f"shiftright({value}, {first})", first)]
    pieces += [(f"(shiftright({value}, {PIECE}) & {(1 << PIECE) - 1}L)", PIECE)] if first > PIECE else []
    pieces += [(f"({value} & {(1 << PIECE) - 1}L)", 0)]
    sums = [f"CAST(SUM({piece}){tail} AS DECIMAL(38, 0)) * {1 << weight}BD" for piece, weight in pieces]
    return f"CAST({' + '.join(sums)} AS DECIMAL(38, 0))"


def exact_aggregates(dialect: Dialect) -> Mapping[str, Written]:
    """Return the writers of exact aggregates. FILTER becomes CASE: Spark does not allow it over windows."""

    def prepared(writer: Written) -> Written:
        def written(call: ExactAggregateCall) -> str:
            if call.over is not None and call.over.frame.unit == "GROUPS":
                raise dialect.lacks("GROUPS in a window")
            return writer(_filtered(call))

        return written

    return {name: prepared(writer) for name, writer in WRITERS.items()}


def _filtered(call: ExactAggregateCall) -> ExactAggregateCall:
    if call.filter is None:
        return call
    values = call.texts or ("1",)
    return replace(call, texts=tuple(f"CASE WHEN {call.filter} THEN {text} END" for text in values), filter=None)


def _tail(call: ExactAggregateCall) -> str:
    return "" if call.over is None else f" {call.over}"


def _without_frame(call: ExactAggregateCall) -> Over:
    return replace(call.over or Over(), frame=NO_FRAME)


def _plain(name: str) -> Written:
    return lambda call: f"{name}({', '.join(call.texts)}){_tail(call)}"


def _ranked(name: str) -> Written:
    """A rank: it allows no frame and requires ORDER BY."""

    def written(call: ExactAggregateCall) -> str:
        over = _without_frame(call)
        return f"{name}({', '.join(call.texts)}) {replace(over, order=over.order or ('NULL',))}"

    return written


def _count(call: ExactAggregateCall) -> str:
    if not call.texts:
        return f"COUNT(*){_tail(call)}"
    if call.distinct and call.over is not None:
        return f"CAST(size(array_distinct(collect_list({call.texts[0]}){_tail(call)})) AS BIGINT)"
    return f"COUNT({'DISTINCT ' * call.distinct}{call.texts[0]}){_tail(call)}"


def _sorted(call: ExactAggregateCall) -> str:
    """The sorted array of all values, as doubles."""
    return f"array_sort(collect_list({double(call.texts[0])}){_tail(call)})"


def _if_at_least(call: ExactAggregateCall, text: str, minimum: int = 1) -> str:
    return f"CASE WHEN COUNT({call.texts[0]}){_tail(call)} >= {minimum} THEN {text} END"


def _added(call: ExactAggregateCall) -> str:
    return f"aggregate({_sorted(call)}, 0D, (t, x) -> t + x)"


def _sum(call: ExactAggregateCall) -> str:
    if call.kinds[0] is Type.INTEGER:
        return f"try_cast({total(call.texts[0], _tail(call))} AS BIGINT)"
    return _if_at_least(call, _added(call))


def _avg(call: ExactAggregateCall) -> str:
    return _if_at_least(call, f"{_added(call)} / {double(f'COUNT({call.texts[0]}){_tail(call)}')}")


def _quantile(call: ExactAggregateCall, share: str) -> str:
    """Quantile, interpolated between two neighbouring values."""
    position = f"({double(f'(COUNT({call.texts[0]}){_tail(call)} - 1)')} * {double(share)})"
    low, high = (f"get({_sorted(call)}, CAST({end}({position}) AS INT))" for end in ("floor", "ceil"))
    between = f"{low} + ({high} - {low}) * ({position} - floor({position}))"
    return _if_at_least(call, f"CASE WHEN floor({position}) = ceil({position}) THEN {low} ELSE {between} END")


ZERO = "named_struct('n', 0D, 'm', 0D, 'q', 0D)"
MEAN = "(t.m + (x - t.m) / (t.n + 1D))"
STEP = f"named_struct('n', t.n + 1D, 'm', {MEAN}, 'q', t.q + (x - {MEAN}) * (x - t.m))"


def _variance(result: str, minimum: int) -> Written:
    """Variance or standard deviation: Welford's algorithm over the sorted values."""
    return lambda call: _if_at_least(
        call, f"aggregate({_sorted(call)}, {ZERO}, (t, x) -> {STEP}, t -> {result})", minimum
    )


def _first_by(better: str) -> Written:
    """The value in the row with the smallest or largest key; of several, the smallest value."""
    ties = "WHEN l.v < r.v THEN -1 WHEN l.v > r.v THEN 1 ELSE 0"
    order = f"CASE WHEN l.k {better} r.k THEN -1 WHEN r.k {better} l.k THEN 1 {ties} END"

    def written(call: ExactAggregateCall) -> str:
        value, key = call.texts
        pair = f"CASE WHEN {value} IS NOT NULL AND {key} IS NOT NULL THEN named_struct('k', {key}, 'v', {value}) END"
        return f"get(array_sort(collect_list({pair}){_tail(call)}, (l, r) -> {order}), 0).v"

    return written


def _string_agg(call: ExactAggregateCall) -> str:
    return _if_at_least(call, f"array_join(array_sort(collect_list({call.texts[0]}){_tail(call)}), {call.texts[1]})")


def _shifted(name: str) -> Written:
    """LAG and LEAD; a number and its default are cast to one type."""

    def written(call: ExactAggregateCall) -> str:
        texts, kinds = list(call.texts), call.kinds
        if len(texts) == 3 and kinds[0] in {Type.INTEGER, Type.DECIMAL, Type.FLOAT}:
            wide = bigint if kinds[0] is kinds[2] is Type.INTEGER else double
            texts = [wide(texts[0]), texts[1], wide(texts[2])]
        return f"{name}({', '.join(texts)}) {_without_frame(call)}"

    return written


WRITERS: Mapping[str, Written] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _avg,
    "MEDIAN": lambda call: _quantile(call, "0.5D"),
    "QUANTILE_CONT": lambda call: _quantile(call, call.texts[1]),
    "MIN": _plain("MIN"),
    "MAX": _plain("MAX"),
    "ANY_VALUE": _plain("MIN"),
    "VAR_POP": _variance("CASE WHEN t.n > 1D THEN t.q / t.n ELSE 0D END", 1),
    "VAR_SAMP": _variance("t.q / (t.n - 1D)", 2),
    "STDDEV_POP": _variance("sqrt(CASE WHEN t.n > 1D THEN t.q / t.n ELSE 0D END)", 1),
    "STDDEV_SAMP": _variance("sqrt(t.q / (t.n - 1D))", 2),
    "BOOL_AND": _plain("bool_and"),
    "BOOL_OR": _plain("bool_or"),
    "STRING_AGG": _string_agg,
    "ARG_MIN": _first_by("<"),
    "ARG_MAX": _first_by(">"),
    **{name: _ranked(name) for name in ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE")},
    "LAG": _shifted("LAG"),
    "LEAD": _shifted("LEAD"),
    "FIRST_VALUE": _plain("FIRST_VALUE"),
    "LAST_VALUE": _plain("LAST_VALUE"),
    "NTH_VALUE": _plain("NTH_VALUE"),
}
