"""Reasons for a missing number: its group is held back, there is no such row, or the expression is NULL.

It follows from which released rows a number is made of, not from what it is. A total of several rows is there as long
as one of them is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.error_bars.intervals.interval import CONSERVATIVE, MAKES_NULL, Interval, Reason, Status
from hedgerow.error_bars.propagation.forms import Releases
from hedgerow.error_bars.propagation.propagate import MOST_ELEMENTS
from hedgerow.error_bars.provenance.origins import Applied, Cell, Frame, Gathered, Known, Origin, Ranked, Untraced
from hedgerow.release.estimate import NULL, UNTRACED, held_back, no_row, stands_in

Bars = list[dict[str, Interval]]
Missing = Mapping[str, Sequence[Status | None]]
"""By column and row, the reason why a released number behind the shown one is missing; None where none is."""

Codes = NDArray[np.int64]
"""For each row a number. There are three for each release: it holds back a group, or all groups of a total, or has no
such row."""

PRESENT, UNKNOWN, TOTAL = 0, -1, 1


def missing_behind(origin: Origin, frame: Frame, releases: Releases) -> list[Status | None]:
    """Return for each row the reason why a number that this one depends on is missing; None where none is."""
    hides = any(not estimator.noisy.shown.all() for estimator in releases.estimators)
    statuses: dict[int, Status | None] = {PRESENT: None, UNKNOWN: UNTRACED if hides else NULL}
    for index, estimator in enumerate(releases.estimators):
        if estimator.plan.selection is not None:
            statuses[_held(index)] = held_back(estimator.plan)
            statuses[_held(index) + TOTAL] = held_back(estimator.plan, total=True)
        statuses[_without_row(index)] = no_row(estimator.plan)
    return [statuses[code] for code in _Missing(releases).codes(origin, frame).tolist()]


def explain_missing(bars: Bars, shown: pa.Table, missing: Missing) -> Bars:
    """Return the error bars with a true status wherever a number is missing.

    A number that was put in the place of one held back (by COALESCE, say) may be off by any amount.
    """
    values = {name: shown.column(name).to_pylist() for name in missing}
    return [
        {name: _explained(bar, values[name][row], missing[name][row]) for name, bar in by_name.items()}
        for row, by_name in enumerate(bars)
    ]


def _explained(bar: Interval, value: object, missing: Status | None) -> Interval:
    held = missing is not None and missing.reason is Reason.HELD_BACK
    if value is None:
        lower, upper = (-math.inf, math.inf) if held or math.isnan(bar.lower) else (bar.lower, bar.upper)
        status = missing or (bar.status if bar.reason in MAKES_NULL else NULL)
        return replace(bar, lower=lower, upper=upper).with_status(status)
    if missing is not None and held:
        return Interval.of(-math.inf, math.inf, stands_in(missing))
    if bar.has_number:
        return bar
    return bar.with_status(CONSERVATIVE)


@dataclass(frozen=True)
class _Missing:
    releases: Releases

    def codes(self, origin: Origin, frame: Frame) -> Codes:
        if isinstance(origin, Cell):
            _, not_null = self.releases.groups_of(origin, frame)
            has_row = np.isfinite(frame.numbers(origin.row)) & (len(self.releases.orders[origin.release]) > 0)
            absent = np.where(has_row, _held(origin.release), _without_row(origin.release))
            return np.where(not_null, PRESENT, absent)
        if isinstance(origin, Gathered):
            return self._of_gathered(origin, frame)
        if isinstance(origin, Ranked):
            return self.codes(origin.own, frame)
        if isinstance(origin, Untraced):
            return np.full(frame.rows, UNKNOWN)
        if isinstance(origin, Applied) and origin.function == "case":
            return self._of_case(origin, frame)
        if isinstance(origin, Applied):
            parts = [self.codes(argument, frame) for argument in origin.arguments]
            return reduce(_first_not_null if origin.function == "coalesce" else _either, parts)
        return np.full(frame.rows, PRESENT)

    def _of_gathered(self, origin: Gathered, frame: Frame) -> Codes:
        inner, owner = frame.elements(origin.rows)
        reasons = np.full(frame.rows, PRESENT)
        if not inner.rows or inner.rows > MOST_ELEMENTS:
            return reasons
        codes = self.codes(origin.inner, inner)
        adds_up = np.bincount(owner, minlength=frame.rows)[owner] > 1
        totals = np.where(adds_up & (codes % 3 == _held(0)), codes + TOTAL, codes)
        np.maximum.at(reasons, owner, np.where(_is_held(codes), totals, PRESENT))
        some = np.bincount(owner[codes == PRESENT], minlength=frame.rows) > 0
        return np.where(some, PRESENT, reasons)

    def _of_case(self, origin: Applied, frame: Frame) -> Codes:
        """Reasons of the branch that is taken, if no noise decides it; else of all conditions and branches."""
        reasons, still_open = np.full(frame.rows, PRESENT), np.ones(frame.rows, bool)
        for condition, value in zip(origin.arguments[:-1:2], origin.arguments[1:-1:2], strict=True):
            decides = isinstance(condition, Known) and frame.has(condition.value)
            holds = np.ones(frame.rows, bool)
            if isinstance(condition, Known) and decides:
                holds = frame.numbers(condition.value) == 1
            codes = _either(self.codes(condition, frame), self.codes(value, frame))
            reasons = np.where(still_open & holds, _either(reasons, codes), reasons)
            still_open = still_open & ~(holds & decides)
        return np.where(still_open, _either(reasons, self.codes(origin.arguments[-1], frame)), reasons)


def _held(index: int) -> int:
    return 3 * index + 1


def _without_row(index: int) -> int:
    return 3 * index + 3


def _is_held(codes: Codes) -> NDArray[np.bool_]:
    return np.asarray((codes > PRESENT) & (codes % 3 != 0), dtype=bool)


def _either(left: Codes, right: Codes) -> Codes:
    """Combine reasons: held back takes precedence over a missing row."""
    return np.where(_is_held(left), left, np.where(_is_held(right) | (left == PRESENT), right, left))


def _first_not_null(left: Codes, right: Codes) -> Codes:
    """COALESCE: the next value counts only where the previous one has no row."""
    return np.where((left > PRESENT) & ~_is_held(left), right, left)
