"""Errors that a priced statement would make, for groups of known size. Reads no data.

A column's error is the longer side of the interval that would be reported if the noise were zero. For linear forms and
their quotients that is exactly the error that is exceeded with the probability the interval is made for
(docs/explanation/accuracy-first.md).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.answer import Answer, Summary
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.error_bars.propagation import row_bounds, row_values
from hedgerow.error_bars.provenance.columns import SingleRow, noisy_columns, single_row
from hedgerow.execution.build_answer import build_answer, failure_level, rows_shown
from hedgerow.execution.request import Request
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.release import Estimator, PostprocessEngine, carried, extreme
from hedgerow.release.hypothetical import corners, forms_of, most_rows

Floats = NDArray[np.float64]
Errors = Mapping[str, tuple[Floats, Floats]]
"""By column: the smallest absolute value, and the error."""

ESTIMATE_SHARE = 0.02
"""Share of the failure probability for the estimate of sizes, if one is used."""


@dataclass(frozen=True)
class ErrorForecast:
    """Errors of a statement whose budget is still open."""

    logical: LogicalPlan
    request: Request
    engine: PostprocessEngine
    public: Mapping[str, pa.Table]

    @property
    def beta(self) -> float:
        """The requested failure probability."""
        return 1.0 - self.request.confidence

    @property
    def grouped(self) -> bool:
        """Return True if there may be several rows."""
        return any(release.keys for release in self.logical.releases)

    def of_sizes(self, statement: PrivateStatement, sizes: Floats, beta: float) -> Errors | None:
        """Return the errors in groups of these sizes, whatever their values; None if other groups matter, too."""
        origin = single_row(self.logical.root)
        if origin is None:
            return None
        plan = self.part(statement, origin)
        return self.errors(origin, extreme(plan, sizes), beta)

    def promised(self, statement: PrivateStatement, size: int, *, relative: bool) -> float:
        """Return the smallest target that `statement` reaches in groups of a size, whatever their values.

        It is the inverse of the price of a target with a stated size: infinite where no target can be promised.
        """
        errors = self.of_sizes(statement, np.array([float(size)]), self.beta) or {}
        with np.errstate(divide="ignore", invalid="ignore"):
            reached = [error / smallest if relative else error for smallest, error in errors.values()]
        return max((float(np.nan_to_num(part, nan=np.inf, posinf=np.inf).max()) for part in reached), default=math.inf)

    def from_release(self, known: Sequence[Estimator], side: int) -> "ReleaseForecast":
        """Return the forecast for the groups of an earlier release.

        Counts and values are those released (`side` 0), or the less (-1) or more (1) favourable ends of their
        intervals.
        """
        return ReleaseForecast(self, known, side)

    def level(self, beta: float, *, of: int, shown: int) -> float:
        """Return the failure probability of one interval if that of the answer is `beta`."""
        return failure_level(replace(self.request, confidence=1.0 - beta), self.logical, of=of, shown=shown)

    def noisy(self) -> dict[str, bool]:
        """Map each column to True if it is noisy."""
        pairs = zip(self.logical.names, self.logical.root.columns, noisy_columns(self.logical.root), strict=True)
        return {name: rests and column.expr.type.is_numeric for name, column, rests in pairs}

    def part(self, statement: PrivateStatement, origin: SingleRow) -> PrivatePlan:
        """Return the release that every number comes from."""
        return statement.parts[self.logical.releases.index(origin.release)]

    def errors(self, origin: SingleRow, estimator: Estimator, beta: float) -> dict[str, tuple[Floats, Floats]]:
        """Return the errors of every released row, as it is."""
        by_column = {}
        for name, expr in zip(self.logical.names, origin.columns, strict=True):
            bounds = row_bounds(expr, estimator, beta) if expr.type.is_numeric else None
            if bounds is not None:
                values = row_values(expr, estimator)
                errors = np.maximum(bounds.upper - values, values - bounds.lower)
                by_column[name] = np.abs(values), np.where(np.isnan(errors), np.inf, errors)
        return by_column

    def sizes(self, origin: SingleRow, estimator: Estimator, beta: float, side: int) -> dict[str, Floats]:
        """Return the smallest or largest absolute value in each interval."""
        by_column = {}
        for name, expr in zip(self.logical.names, origin.columns, strict=True):
            bounds = row_bounds(expr, estimator, beta) if expr.type.is_numeric else None
            if bounds is not None:
                by_column[name] = _size(bounds.lower, bounds.upper, side)
        return by_column

    def answer(self, estimators: Sequence[Estimator], beta: float) -> Answer:
        """Build the answer that releases would give."""
        request = replace(self.request, confidence=1.0 - beta)
        return build_answer(self.engine, self.logical, estimators, self.public, request, Summary(None, ""))


@dataclass(frozen=True)
class ReleaseForecast:
    """Errors in the groups of an earlier release, at one end of its intervals."""

    forecast: ErrorForecast
    known: Sequence[Estimator]
    side: int

    def errors(self, statement: PrivateStatement) -> Errors:
        """Return the errors in the same groups, with the noise of `statement`."""
        if self._simple is None:
            return self._from_answers(statement)
        plan, rows = self.forecast.part(statement, self._simple), self._rows
        beta = self._level(1 - ESTIMATE_SHARE)
        cases = [self.forecast.errors(self._simple, release, beta) for release in self._releases(plan)]
        worst = np.minimum.reduce if self.side > 0 else np.maximum.reduce
        by_column = {name: worst([case[name][1] for case in cases])[rows] for name in cases[0]}
        smallest_value = self._smallest_values or {name: pair[0] for name, pair in cases[0].items()}
        return {name: (smallest_value[name][rows], errors) for name, errors in by_column.items()}

    @cached_property
    def _simple(self) -> SingleRow | None:
        """Origin of the numbers, where each comes from one group and has an interval; None elsewhere."""
        origin = single_row(self.forecast.logical.root)
        if origin is None:
            return None
        errors = self.forecast.errors(origin, self._old(origin), 0.5)
        wanted = sum(self.forecast.noisy().values())
        return origin if len(errors) == wanted and all(np.isfinite(e).any() for _, e in errors.values()) else None

    def _old(self, origin: SingleRow) -> Estimator:
        return self.known[self.forecast.logical.releases.index(origin.release)]

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """Return the groups that an answer would show and that may be as large as the target says."""
        forecast, origin = self.forecast, self._simple
        if origin is None:
            return np.zeros(0, dtype=np.int64)
        index = forecast.logical.releases.index(origin.release)
        rows = rows_shown(forecast.engine, forecast.logical, self.known, forecast.public, index)
        size = 0 if forecast.request.within is None else forecast.request.within.size or 0
        worth = rows[most_rows(self._old(origin), forecast.beta * ESTIMATE_SHARE)[rows] >= size]
        return worth if len(worth) else rows

    def _level(self, share: float) -> float:
        of = len(self._old(self._simple).noisy.shown) if self._simple is not None else 1
        return self.forecast.level(self.forecast.beta * share, of=of, shown=len(self._rows))

    def _releases(self, plan: PrivatePlan) -> list[Estimator]:
        """Return what was released, as if `plan` had done so; at the ends, every combination of them."""
        old = self._old(self._simple) if self._simple is not None else self.known[0]
        if not self.side:
            return [carried(old, plan)]
        together = forms_of(plan)
        level = self._level(ESTIMATE_SHARE) / (together + (together > 1))
        return [carried(old, plan, (self.side, level), corner) for corner in corners(plan)]

    @cached_property
    def _smallest_values(self) -> dict[str, Floats] | None:
        """Return the smallest or largest absolute value in each interval."""
        if not self.side or self._simple is None:
            return None
        old = self._old(self._simple)
        together = forms_of(old.plan)
        level = self._level(ESTIMATE_SHARE) / (together + (together > 1))
        return self.forecast.sizes(self._simple, old, level, self.side)

    def _from_answers(self, statement: PrivateStatement) -> Errors:
        """Return the errors of numbers that combine several groups, from the answers that both releases would give."""
        pairs = zip(self.known, statement.parts, strict=True)
        own = self.forecast.beta * (1 - ESTIMATE_SHARE)
        before, after = self._before, self.forecast.answer([carried(old, part) for old, part in pairs], own)
        if len(before) != len(after):
            return {}
        by_column = {}
        for name in after.noisy:
            values = np.array([np.nan if v is None else float(v) for v in after[name]])
            lower, upper = _ends(after, name)
            errors = np.maximum(upper - values, values - lower)
            smallest_value = _size(*_ends(before, name), self.side) if self.side else np.abs(values)
            by_column[name] = smallest_value, np.where(np.isnan(errors), np.inf, errors)
        return by_column

    @cached_property
    def _before(self) -> Answer:
        return self.forecast.answer(self.known, self.forecast.beta * ESTIMATE_SHARE)


def _size(lower: Floats, upper: Floats, side: int) -> Floats:
    """Return the smallest (`side` -1) or largest absolute value between two ends."""
    if side > 0:
        return np.maximum(np.abs(lower), np.abs(upper))
    return np.where((lower <= 0) & (upper >= 0), 0.0, np.minimum(np.abs(lower), np.abs(upper)))


def _ends(answer: Answer, name: str) -> tuple[Floats, Floats]:
    bars = [row.get(name, Interval()) for row in answer.intervals]
    return np.array([bar.lower for bar in bars]), np.array([bar.upper for bar in bars])
