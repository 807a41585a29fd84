"""Exact aggregates of one person's rows: aggregates and window functions.

Doubles are added in ascending order, as in DuckDB. PostgreSQL cannot order an aggregate over a window, so such sums are
refused. Variances are refused, too: PostgreSQL's algorithm differs from DuckDB's in the last bits.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal

from hedgerow.dialects.base import Dialect, ExactAggregateCall
from hedgerow.dialects.postgres.doubles import GUARDED, INFINITE, NAN, power, real
from hedgerow.dialects.postgres.logic import collated
from hedgerow.dialects.postgres.numbers import IN_RANGE
from hedgerow.expressions.nodes import Literal
from hedgerow.expressions.types import Type

ExactAggregateWriter = Callable[[Dialect, ExactAggregateCall], str]
NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
LARGE = real(1e290)
"""Sums of numbers up to this are finite, however many there are."""

SCALE, BEYOND = power(-200), power(824)
FARTHEST = 2**31 - 1


def _tail(call: ExactAggregateCall, condition: str | None = None) -> str:
    """FILTER, with one more condition, and OVER."""
    conditions = [text for text in (call.filter, condition) if text is not None]
    where = f" FILTER (WHERE {' AND '.join(f'({text})' for text in conditions)})" if conditions else ""
    return where if call.over is None else f"{where} {call.over}"


def _text(call: ExactAggregateCall, index: int = 0) -> str:
    """An argument; text is compared byte by byte."""
    return collated(call.texts[index]) if call.kinds[index] is Type.TEXT else call.texts[index]


def _double(dialect: Dialect, call: ExactAggregateCall) -> str:
    """The first argument as a double."""
    return dialect.as_double(call.texts[0], call.arguments[0]) if call.arguments else f"CAST({call.texts[0]} AS FLOAT8)"


def _no_window(dialect: Dialect, call: ExactAggregateCall) -> None:
    """Refuse an exact aggregate over a window."""
    if call.over is not None:
        raise dialect.lacks(f"{call.function} of these values as a window function")


def _count(dialect: Dialect, call: ExactAggregateCall) -> str:
    if call.distinct:
        _no_window(dialect, call)
    inner = f"{'DISTINCT ' if call.distinct else ''}{_text(call)}" if call.texts else "*"
    return f"COUNT({inner}){_tail(call)}"


def _sum(dialect: Dialect, call: ExactAggregateCall) -> str:
    if call.kinds[0] is Type.INTEGER:
        total = f"SUM({'DISTINCT ' if call.distinct else ''}CAST({call.texts[0]} AS BIGINT)){_tail(call)}"
        return f"CASE WHEN {total} {IN_RANGE} THEN CAST({total} AS BIGINT) END"
    return _total(dialect, call)


def _total(dialect: Dialect, call: ExactAggregateCall) -> str:
    """Sum in ascending order: negative numbers come first, so the running sum falls before it rises.

    Numbers so large that their sum could overflow are summed separately and scaled down; beside them the others are
    negligible.
    """
    _no_window(dialect, call)
    value, distinct = _double(dialect, call), "DISTINCT " if call.distinct else ""

    def added(text: str, condition: str) -> str:
        return f"SUM({distinct}{text} ORDER BY {text}){_tail(call, condition)}"

    small = added(value, f"abs({value}) <= {LARGE}")
    large = added(f"{value} * {SCALE}", f"abs({value}) > {LARGE}")
    negative = added(f"{value} * {SCALE}", f"{value} < -{LARGE}")
    return (
        f"CASE WHEN {large} IS NULL THEN {small} WHEN {large} = {NAN} THEN {NAN} WHEN {negative} <= -{BEYOND} "
        f"THEN CASE WHEN {large} = {INFINITE} THEN {NAN} ELSE -{INFINITE} END WHEN {large} >= {BEYOND} THEN {INFINITE} "
        f"ELSE {large} * {power(200)} END"
    )


def _avg(dialect: Dialect, call: ExactAggregateCall) -> str:
    count = f"CAST(COUNT({'DISTINCT ' if call.distinct else ''}{call.texts[0]}){_tail(call)} AS FLOAT8)"
    return GUARDED["divide"].format(f"({_total(dialect, call)})", count)


def _quantile(dialect: Dialect, call: ExactAggregateCall) -> str:
    """Median, minimum or maximum. Other quantiles are refused: DuckDB interpolates with one rounding less."""
    _no_window(dialect, call)
    share = 0.5 if call.function == "MEDIAN" else _constant(call, 1)
    if share not in {0.0, 0.5, 1.0}:
        raise dialect.lacks("QUANTILE_CONT of one person's rows (except 0, 0.5 and 1)")
    value = _double(dialect, call)
    position = f"({real(float(share))} * (COUNT({value}){_tail(call)} - 1))"
    numbers = f"(array_agg({value} ORDER BY {value}){_tail(call, f'{value} IS NOT NULL')})"
    low, high = (f"{numbers}[CAST({cut}({position}) AS INTEGER) + 1]" for cut in ("floor", "ceil"))
    part = f"({position} - floor({position}))"
    weighed = [GUARDED["multiply"].format(one, other) for one, other in ((low, f"(1 - {part})"), (high, part))]
    return f"CASE WHEN {part} = 0 THEN {low} ELSE ({weighed[0]}) + ({weighed[1]}) END"


def _constant(call: ExactAggregateCall, index: int) -> float | Decimal | None:
    """Return the value of an argument that is a constant number."""
    argument = call.arguments[index]
    value = argument.value if isinstance(argument, Literal) else None
    return value if isinstance(value, int | float | Decimal) else None


def _extreme(_dialect: Dialect, call: ExactAggregateCall) -> str:
    is_minimum = call.function in {"MIN", "ANY_VALUE"}
    if call.kinds[0] is Type.BOOLEAN:
        return f"{'bool_and' if is_minimum else 'bool_or'}({call.texts[0]}){_tail(call)}"
    return f"{'MIN' if is_minimum else 'MAX'}({_text(call)}){_tail(call)}"


def _flag(_dialect: Dialect, call: ExactAggregateCall) -> str:
    return f"{call.function.lower()}({call.texts[0]}){_tail(call)}"


def _joined(dialect: Dialect, call: ExactAggregateCall) -> str:
    _no_window(dialect, call)
    return f"string_agg({_text(call)}, {call.texts[1]} ORDER BY {_text(call)}){_tail(call)}"


def _at_extreme(dialect: Dialect, call: ExactAggregateCall) -> str:
    """The first value, ordered by the second argument and then by the value itself."""
    _no_window(dialect, call)
    shown, ordered_by = _text(call), _text(call, 1)
    not_null = f"{call.texts[0]} IS NOT NULL AND {call.texts[1]} IS NOT NULL"
    order = f"{ordered_by} {'ASC' if call.function == 'ARG_MIN' else 'DESC'}, {shown} ASC"
    return f"(array_agg({shown} ORDER BY {order}){_tail(call, not_null)})[1]"


def _ranked(dialect: Dialect, call: ExactAggregateCall) -> str:
    _no_filter(dialect, call)
    return f"{call.function}({', '.join(call.texts)}){_tail(call)}"


def _no_filter(dialect: Dialect, call: ExactAggregateCall) -> None:
    if call.filter is not None:
        raise dialect.lacks(f"{call.function} with FILTER")


def _at_index(dialect: Dialect, call: ExactAggregateCall) -> str:
    """NTILE and NTH_VALUE, with a constant that counts from 1."""
    index = _constant(call, -1)
    if not isinstance(index, int) or not 0 < index <= FARTHEST:
        raise dialect.lacks(f"{call.function} with a number that is not a positive constant")
    _no_filter(dialect, call)
    return f"{call.function}({', '.join(call.texts)}){_tail(call)}"


def _shifted(dialect: Dialect, call: ExactAggregateCall) -> str:
    """LAG and LEAD; a number and its default are cast to one type."""
    _no_filter(dialect, call)
    value, *rest = call.texts
    if rest:
        rows = _constant(call, 1)
        rest[0] = f"CAST({rest[0]} AS INTEGER)" if isinstance(rows, int) and rows <= FARTHEST else str(FARTHEST)
    if len(rest) > 1 and call.kinds[0] in NUMBERS:
        wide = "BIGINT" if call.kinds[0] is call.kinds[2] is Type.INTEGER else "FLOAT8"
        value, rest[1] = f"CAST({value} AS {wide})", f"CAST({rest[1]} AS {wide})"
    return f"{call.function}({', '.join([value, *rest])}){_tail(call)}"


EXACT_AGGREGATES: Mapping[str, ExactAggregateWriter] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _avg,
    **dict.fromkeys(("MEDIAN", "QUANTILE_CONT"), _quantile),
    **dict.fromkeys(("MIN", "MAX", "ANY_VALUE"), _extreme),
    **dict.fromkeys(("BOOL_AND", "BOOL_OR"), _flag),
    "STRING_AGG": _joined,
    **dict.fromkeys(("ARG_MIN", "ARG_MAX"), _at_extreme),
    **dict.fromkeys(("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"), _ranked),
    **dict.fromkeys(("FIRST_VALUE", "LAST_VALUE"), _ranked),
    **dict.fromkeys(("NTILE", "NTH_VALUE"), _at_index),
    **dict.fromkeys(("LAG", "LEAD"), _shifted),
}
