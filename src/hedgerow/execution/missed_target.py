"""Flag numbers that miss the error that was asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.execution.request import ErrorTarget

SLACK = 1.1
"""The length of an interval is noisy too where there is a noisy count below the line: a group that was promised the
error may show an interval that is a little longer."""

Intervals = Sequence[Mapping[str, Interval]]


def flag_missed_target(
    intervals: Intervals | Callable[[], Intervals], shown: pa.Table, target: ErrorTarget
) -> Callable[[], list[dict[str, Interval]]]:
    """Note on each interval that is too long for the target, wherever in it the value lies, that it misses it."""

    def flagged() -> list[dict[str, Interval]]:
        bars = intervals() if callable(intervals) else intervals
        columns = {name: shown.column(name).to_pylist() for name in shown.column_names}
        return [
            {name: _flagged(bar, columns[name][row], target) for name, bar in by_name.items()}
            for row, by_name in enumerate(bars)
        ]

    return flagged


def misses(bar: Interval, value: float | None, target: ErrorTarget) -> bool:
    """Return True if the error may be larger than asked even if the value is as large as its interval allows.

    A value beside its interval (a count below zero, whose interval is cut to what is possible) is off by that much.
    """
    if value is None:
        return False
    beside = max(bar.lower - float(value), float(value) - bar.upper)
    error = max((bar.upper - bar.lower) / 2, beside)
    largest = max(abs(bar.lower), abs(bar.upper))
    return not np.isfinite(error) or error > SLACK * float(target.allowed(np.array([largest]))[0])


def _flagged(bar: Interval, value: float | None, target: ErrorTarget) -> Interval:
    if not misses(bar, value, target):
        return bar
    note = f"misses {target}"
    return replace(bar, note=note if bar.note is None else f"{bar.note}; {note}", missed=str(target))
