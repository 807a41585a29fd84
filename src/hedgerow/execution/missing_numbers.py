"""Notes on numbers that are missing, and on those that stand in for a missing one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from hedgerow.interval import Interval
from hedgerow.release.absent import NULL, STANDS_IN, is_absent, is_held_back
from hedgerow.release.spread import CONSERVATIVE, UNKNOWN
from hedgerow.statistics.quantiles import EXTREME_NOTE

Bars = list[dict[str, Interval]]
Reasons = Mapping[str, Sequence[str | None]]
"""By column and row, why a released number behind the one shown is missing; None where none is."""


def explain_missing(bars: Bars, shown: pa.Table, reasons: Reasons) -> Bars:
    """The error bars with true notes wherever a number is missing.

    A number that was put in the place of one held back (by COALESCE, say) may be off by any amount.
    """
    values = {name: shown.column(name).to_pylist() for name in reasons}
    return [
        {name: _explained(bar, values[name][row], reasons[name][row]) for name, bar in by_name.items()}
        for row, by_name in enumerate(bars)
    ]


def _explained(bar: Interval, value: object, reason: str | None) -> Interval:
    if value is None:
        lower, upper = (
            (-math.inf, math.inf) if is_held_back(reason) or math.isnan(bar.lower) else (bar.lower, bar.upper)
        )
        return replace(bar, lower=lower, upper=upper, note=reason or _cause(bar.note))
    if is_held_back(reason):
        return Interval(note=f"{reason}; {STANDS_IN}")
    if is_absent(bar.note):
        return replace(bar, note=CONSERVATIVE)
    return bar


def _cause(note: str | None) -> str:
    """A note that says why there is no number, such as a denominator that may be zero; else that it is NULL."""
    said = note is not None and (note == EXTREME_NOTE or (note.startswith("unbounded") and note != UNKNOWN))
    return str(note) if said else NULL
