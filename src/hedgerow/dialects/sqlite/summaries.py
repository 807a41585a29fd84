"""Exact summaries of rows, as SQL: SQLite's own where they are exact, ours elsewhere."""

from collections.abc import Callable, Mapping

from hedgerow.dialects.base import SummaryCall
from hedgerow.dialects.sqlite.reading import NAN, PREFIX, argument
from hedgerow.expressions.types import Type

Written = Callable[[SummaryCall], str]


def _tail(call: SummaryCall) -> str:
    where = "" if call.filter is None else f" FILTER (WHERE {call.filter})"
    return where if call.over is None else f"{where} {call.over}"


def _ours(name: str) -> Written:
    """A summary that we have registered."""

    def written(call: SummaryCall) -> str:
        pairs = zip(call.texts, call.kinds, strict=True)
        listed = ", ".join(argument(text, kind, certain=False) for text, kind in pairs)
        return f"{PREFIX}{name}({listed}){_tail(call)}"

    return written


def _native(name: str) -> Written:
    """A summary of SQLite."""
    return lambda call: f"{name}({', '.join(call.texts)}){_tail(call)}"


def _extreme(name: str) -> Written:
    """MIN and MAX; text byte by byte."""

    def written(call: SummaryCall) -> str:
        collation = " COLLATE BINARY" if call.kinds[0] is Type.TEXT else ""
        return f"{name}({call.texts[0]}{collation}){_tail(call)}"

    return written


def _count(call: SummaryCall) -> str:
    return f"COUNT({'DISTINCT ' if call.distinct else ''}{', '.join(call.texts) or '*'}){_tail(call)}"


def _sum(call: SummaryCall) -> str:
    return _ours("sum_whole" if call.kinds[0] is Type.INTEGER else "sum")(call)


def _shifted(name: str) -> Written:
    """LAG and LEAD; a number and what stands in for it are both doubles, or both whole."""

    def written(call: SummaryCall) -> str:
        texts = list(call.texts)
        if len(texts) == 3 and {Type.FLOAT, Type.DECIMAL} & {*call.kinds}:
            for place in (0, 2):
                texts[place] = _double(texts[place], call.kinds[place])
        return f"{name}({', '.join(texts)}){_tail(call)}"

    return written


def _double(text: str, kind: Type) -> str:
    return f"CAST(NULLIF(min({text}, {NAN}), {NAN}) AS REAL)" if kind in {Type.INTEGER, Type.DECIMAL} else text


SUMMARIES: Mapping[str, Written] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _ours("avg"),
    "MEDIAN": _ours("median"),
    "QUANTILE_CONT": _ours("quantile"),
    "MIN": _extreme("MIN"),
    "MAX": _extreme("MAX"),
    "ANY_VALUE": _extreme("MIN"),
    **{name: _ours(name.lower()) for name in ("STDDEV_SAMP", "STDDEV_POP", "VAR_SAMP", "VAR_POP")},
    "BOOL_AND": _extreme("MIN"),
    "BOOL_OR": _extreme("MAX"),
    **{name: _ours(name.lower()) for name in ("STRING_AGG", "ARG_MIN", "ARG_MAX")},
    **{name: _native(name) for name in ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE")},
    "LAG": _shifted("LAG"),
    "LEAD": _shifted("LEAD"),
    **{name: _native(name) for name in ("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")},
}
"""Allow-list: all other summaries are refused."""
