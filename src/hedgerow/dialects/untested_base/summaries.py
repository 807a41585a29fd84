"""Exact summaries of one person's rows: those that every engine computes alike, whatever the order of the rows.

Sums of doubles depend on that order, and how NaN is ordered differs: neither is here.
"""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hedgerow.dialects.base import SummaryCall
from hedgerow.expressions.types import Type

if TYPE_CHECKING:
    from hedgerow.dialects.untested_base.dialect import UntestedBase

Summary = Callable[["UntestedBase", SummaryCall], str]
FRAME = re.compile(r"\b(ROWS|RANGE|GROUPS)\b")


def _filtered(call: SummaryCall, text: str) -> str:
    return text if call.filter is None else f"CASE WHEN {call.filter} THEN {text} END"


def _plain(dialect: "UntestedBase", call: SummaryCall) -> None:
    """Refuse what is not an aggregate over one group."""
    if call.over is not None:
        raise dialect.lacks(f"{call.function} as a window function")


def _value(dialect: "UntestedBase", call: SummaryCall) -> str:
    [kind], [text] = call.kinds, call.texts
    if kind is Type.FLOAT and dialect.has_nan:
        raise dialect.lacks(f"{call.function} of doubles within one person's rows")
    return _filtered(call, dialect.binary(text) if kind is Type.TEXT else text)


def _count(dialect: "UntestedBase", call: SummaryCall) -> str:
    _plain(dialect, call)
    if not call.texts:
        return dialect.counted(call.filter)
    if call.distinct:
        return dialect.count(f"DISTINCT {_value(dialect, call)}")
    return dialect.count(_filtered(call, call.texts[0]))


def _sum(dialect: "UntestedBase", call: SummaryCall) -> str:
    _plain(dialect, call)
    if call.kinds != (Type.INTEGER,) or call.distinct:
        raise dialect.lacks("SUM of one person's rows, where they are not whole numbers")
    return dialect.narrowed(dialect.total_if(call.texts[0], call.filter))


def _extreme(dialect: "UntestedBase", call: SummaryCall) -> str:
    _plain(dialect, call)
    name = "MAX" if call.function in {"MAX", "BOOL_OR"} else "MIN"
    if call.kinds[0] is Type.BOOLEAN:
        return dialect.predicate(f"({name}({_filtered(call, dialect.flag.format(call.texts[0]))}) = 1)")
    return f"{name}({_value(dialect, call)})"


def _ranked(dialect: "UntestedBase", call: SummaryCall) -> str:
    if call.filter is not None or FRAME.search(call.over or ""):
        raise dialect.lacks(f"{call.function} with FILTER or a frame")
    return f"{call.function}({', '.join(call.texts)}) {call.over}"


def _shifted(dialect: "UntestedBase", call: SummaryCall) -> str:
    if len(call.texts) > 2:
        raise dialect.lacks(f"{call.function} with a default")
    return _ranked(dialect, call)


SUMMARIES: Mapping[str, Summary] = {
    "COUNT": _count,
    "SUM": _sum,
    **dict.fromkeys(("MIN", "MAX", "ANY_VALUE", "BOOL_AND", "BOOL_OR"), _extreme),
    **dict.fromkeys(("ROW_NUMBER", "RANK", "DENSE_RANK"), _ranked),
    **dict.fromkeys(("LAG", "LEAD"), _shifted),
}
