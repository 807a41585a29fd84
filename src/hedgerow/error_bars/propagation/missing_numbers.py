"""Status of numbers that are missing, and of those that stand in for a missing one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from hedgerow.error_bars.intervals.interval import CONSERVATIVE, MAKES_NULL, Interval, Reason, Status
from hedgerow.release.absent import NULL, stands_in

Bars = list[dict[str, Interval]]
Reasons = Mapping[str, Sequence[Status | None]]
"""By column and row, why a released number behind the one shown is missing; None where none is."""


def explain_missing(bars: Bars, shown: pa.Table, reasons: Reasons) -> Bars:
    """Return the error bars with a true status wherever a number is missing.

    A number that was put in the place of one held back (by COALESCE, say) may be off by any amount.
    """
    values = {name: shown.column(name).to_pylist() for name in reasons}
    return [
        {name: _explained(bar, values[name][row], reasons[name][row]) for name, bar in by_name.items()}
        for row, by_name in enumerate(bars)
    ]


def _explained(bar: Interval, value: object, missing: Status | None) -> Interval:
    held = missing is not None and missing.reason is Reason.HELD_BACK
    if value is None:
        lower, upper = (-math.inf, math.inf) if held or math.isnan(bar.lower) else (bar.lower, bar.upper)
        status = missing or (bar.status if bar.reason in MAKES_NULL else NULL)
        return replace(bar, lower=lower, upper=upper, note=status.note, kind=status.kind, reason=status.reason)
    if missing is not None and held:
        return Interval.of(-math.inf, math.inf, stands_in(missing))
    if bar.has_number:
        return bar
    return replace(bar, note=CONSERVATIVE.note, kind=CONSERVATIVE.kind, reason=None)
