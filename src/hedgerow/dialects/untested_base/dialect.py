"""Base class of dialects without a test server: the writers of its functions and exact aggregates.

Each engine adds its constants, arithmetic, dates and text. The allow-list is small on purpose: it has only functions
that are certain to mean the same as in DuckDB and certain not to fail on any row.
"""

from collections.abc import Mapping, Sequence

from hedgerow.dialects.base import ExactAggregateCall
from hedgerow.dialects.untested_base.fragments import Fragments
from hedgerow.dialects.untested_base.functions import EXACT_AGGREGATES, LOGIC, SYMBOLS, TEXTS, TIMES, Writer
from hedgerow.dialects.untested_base.numbers import CONVERSIONS, NUMBERS
from hedgerow.expressions.nodes import Call

WRITERS: Mapping[str, Writer] = {**LOGIC, **NUMBERS, **CONVERSIONS, **TEXTS, **TIMES}
CONDITIONS = frozenset(
    {
        *SYMBOLS,
        *("is_distinct", "is_not_distinct", "and", "or", "not", "is_null", "is_there", "in", "same_text"),
        *("like", "like_escape", "starts_with", "ends_with", "contains"),
    }
)
"""Functions whose writer returns a condition."""


class UntestedBase(Fragments):
    """Writes functions without a template in `functions` by their entry in `WRITERS`, except those in `without`."""

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """A function of the allow-list, written by a template or by its entry in `WRITERS`."""
        writer = WRITERS.get(expr.function)
        if expr.function in self.functions or writer is None or expr.function in self.without:
            return super().call(expr, texts)
        text = writer(self, expr, texts)
        return self.predicate(text) if expr.function in CONDITIONS else text

    def exact_aggregate(self, call: ExactAggregateCall) -> str:
        """An exact aggregate, written by its entry in `EXACT_AGGREGATES`."""
        writer = EXACT_AGGREGATES.get(call.function)
        if writer is None or call.function in self.without:
            return super().exact_aggregate(call)
        return writer(self, call)
