"""Dates and times: what is extracted from them, where they are cut, and how far they lie apart.

Differences count boundaries that lie between: from December to January is one year.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hedgerow.expressions.nodes import Call, Expr
from hedgerow.expressions.types import Type

if TYPE_CHECKING:
    from hedgerow.dialects.untested_base.dialect import UntestedBase, Writer

PARTS = ("year", "quarter", "month", "week", "day", "dayofweek", "isodow", "dayofyear", "hour", "minute", "second")
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


def moment(dialect: "UntestedBase", expr: Expr, text: str) -> str:
    """A date as the timestamp of its midnight; a timestamp as it is."""
    return dialect.midnight.format(text) if expr.type is Type.DATE else text


def _extract(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    part = expr.function.removeprefix("extract_")
    if part not in dialect.parts:
        raise dialect.lacks(f"the function {expr.function}")
    return dialect.parts[part].format(moment(dialect, expr.arguments[0], texts[0]))


def _trunc(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    unit = expr.function.removeprefix("trunc_")
    if unit not in dialect.units:
        raise dialect.lacks(f"the function {expr.function}")
    return dialect.units[unit].format(moment(dialect, expr.arguments[0], texts[0]))


def _months(dialect: "UntestedBase", text: str) -> str:
    return f"({dialect.parts['year'].format(text)} * 12 + {dialect.parts['month'].format(text)})"


def _difference(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    start, end = (moment(dialect, a, text) for a, text in zip(expr.arguments, texts, strict=True))
    if expr.function == "difference_year":
        return f"({dialect.parts['year'].format(end)} - {dialect.parts['year'].format(start)})"
    if expr.function == "difference_month":
        return f"({_months(dialect, end)} - {_months(dialect, start)})"
    return dialect.days.format(start, end)


def _days_between(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    return _difference(dialect, Call("difference_day", expr.arguments[::-1], expr.type), texts[::-1])


def _last_day(dialect: "UntestedBase", _expr: Call, texts: Sequence[str]) -> str:
    return dialect.last_day.format(texts[0])


TIMES: Mapping[str, "Writer"] = {
    **{f"extract_{part}": _extract for part in PARTS},
    **{f"trunc_{unit}": _trunc for unit in UNITS},
    **{f"difference_{unit}": _difference for unit in ("year", "month", "day")},
    "days_between": _days_between,
    "last_day": _last_day,
}
