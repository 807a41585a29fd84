"""Which errors a priced statement would make, for groups of known size. Reads no data.

A column's error is the longer side of the interval that would be reported if the noise were zero. For linear forms and
their quotients that is exactly the error that is exceeded with the probability the interval is made for
(docs/explanation/accuracy-first.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.answer import Answer, Summary
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.error_bars.propagation import bounds_of, values_of
from hedgerow.error_bars.provenance.noisy_columns import Traced, noisy_columns, trace
from hedgerow.execution.build_answer import _level, rows_shown, tell
from hedgerow.execution.request import Asked
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.release import AfterEngine, Estimator, carried, extreme
from hedgerow.release.imagine import corners, forms_of, most_rows

Floats = NDArray[np.float64]
Errors = Mapping[str, tuple[Floats, Floats]]
"""By column: how large the value is at least, and how wrong it would be."""

ESTIMATE_SHARE = 0.02
"""Of the failure probability, for the estimate of sizes where one is used."""


@dataclass(frozen=True)
class Foresight:
    """A statement whose budget is still open."""

    logical: LogicalPlan
    request: Asked
    engine: AfterEngine
    public: Mapping[str, pa.Table]

    @property
    def beta(self) -> float:
        """How often an answer may be further off than was asked."""
        return 1.0 - self.request.confidence

    @property
    def grouped(self) -> bool:
        """Whether there may be several rows."""
        return any(release.keys for release in self.logical.releases)

    def of_sizes(self, statement: PrivateStatement, sizes: Floats, beta: float) -> Errors | None:
        """The errors in groups of these sizes, whatever their values; None where they depend on other groups too."""
        origin = trace(self.logical.root)
        if origin is None:
            return None
        plan = self.part(statement, origin)
        return self.errors(origin, extreme(plan, sizes), beta)

    def seen(self, known: Sequence[Estimator], side: int) -> "Seen":
        """The groups of an earlier release.

        Counts and values are taken as they were released (`side` 0), or at the less (-1) or more (1) favourable ends
        of their intervals.
        """
        return Seen(self, known, side)

    def level(self, beta: float, *, of: int, shown: int) -> float:
        """How often the interval of one of the numbers shown may fail, where the answer may with `beta`."""
        return _level(replace(self.request, confidence=1.0 - beta), self.logical, of=of, shown=shown)

    def noisy(self) -> dict[str, bool]:
        """Which columns are numbers that rest on noise."""
        pairs = zip(self.logical.names, self.logical.root.columns, noisy_columns(self.logical.root), strict=True)
        return {name: rests and column.expr.type.is_numeric for name, column, rests in pairs}

    def part(self, statement: PrivateStatement, origin: Traced) -> PrivatePlan:
        """The release that every number comes from."""
        return statement.parts[self.logical.releases.index(origin.release)]

    def errors(self, origin: Traced, estimator: Estimator, beta: float) -> dict[str, tuple[Floats, Floats]]:
        """The errors of every released row, as it is."""
        released = estimator.table()
        found = {}
        for name, expr in zip(self.logical.names, origin.columns, strict=True):
            bounds = bounds_of(expr, estimator, released, beta) if expr.type.is_numeric else None
            if bounds is not None:
                values = values_of(expr, estimator, released)
                errors = np.maximum(bounds.upper - values, values - bounds.lower)
                found[name] = np.abs(values), np.where(np.isnan(errors), np.inf, errors)
        return found

    def sizes(self, origin: Traced, estimator: Estimator, beta: float, side: int) -> dict[str, Floats]:
        """How large each value is at least, or at most, by its own interval."""
        released = estimator.table()
        found = {}
        for name, expr in zip(self.logical.names, origin.columns, strict=True):
            bounds = bounds_of(expr, estimator, released, beta) if expr.type.is_numeric else None
            if bounds is not None:
                found[name] = _size(bounds.lower, bounds.upper, side)
        return found

    def tell(self, estimators: Sequence[Estimator], beta: float) -> Answer:
        """The answer that releases would give."""
        request = replace(self.request, confidence=1.0 - beta)
        return tell(self.engine, self.logical, estimators, self.public, request, Summary(None, ""))


@dataclass(frozen=True)
class Seen:
    """The groups of an earlier release, at one end of what its noise leaves open."""

    foresight: Foresight
    known: Sequence[Estimator]
    side: int

    def errors(self, statement: PrivateStatement) -> Errors:
        """The errors in the same groups, with the noise of `statement`."""
        if self._simple is None:
            return self._told(statement)
        plan, rows = self.foresight.part(statement, self._simple), self._rows
        beta = self._level(1 - ESTIMATE_SHARE)
        cases = [self.foresight.errors(self._simple, release, beta) for release in self._releases(plan)]
        worst = np.minimum.reduce if self.side > 0 else np.maximum.reduce
        found = {name: worst([case[name][1] for case in cases])[rows] for name in cases[0]}
        least = self._least or {name: pair[0] for name, pair in cases[0].items()}
        return {name: (least[name][rows], errors) for name, errors in found.items()}

    @cached_property
    def _simple(self) -> Traced | None:
        """Where every number comes from one group and has an interval: from which release."""
        origin = trace(self.foresight.logical.root)
        if origin is None:
            return None
        found = self.foresight.errors(origin, self._old(origin), 0.5)
        wanted = sum(self.foresight.noisy().values())
        return origin if len(found) == wanted and all(np.isfinite(e).any() for _, e in found.values()) else None

    def _old(self, origin: Traced) -> Estimator:
        return self.known[self.foresight.logical.releases.index(origin.release)]

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """The groups that an answer would show; of these, those that may be as large as the target says."""
        seeing, origin = self.foresight, self._simple
        if origin is None:
            return np.zeros(0, dtype=np.int64)
        place = seeing.logical.releases.index(origin.release)
        rows = rows_shown(seeing.engine, seeing.logical, self.known, seeing.public, place)
        size = 0 if seeing.request.within is None else seeing.request.within.size or 0
        worth = rows[most_rows(self._old(origin), seeing.beta * ESTIMATE_SHARE)[rows] >= size]
        return worth if len(worth) else rows

    def _level(self, share: float) -> float:
        of = len(self._old(self._simple).noisy.shown) if self._simple is not None else 1
        return self.foresight.level(self.foresight.beta * share, of=of, shown=len(self._rows))

    def _releases(self, plan: PrivatePlan) -> list[Estimator]:
        """What was released, as if `plan` had done so; at the ends, every combination of them."""
        old = self._old(self._simple) if self._simple is not None else self.known[0]
        if not self.side:
            return [carried(old, plan)]
        together = forms_of(plan)
        level = self._level(ESTIMATE_SHARE) / (together + (together > 1))
        return [carried(old, plan, (self.side, level), corner) for corner in corners(plan)]

    @cached_property
    def _least(self) -> dict[str, Floats] | None:
        """How large each value is at least, or at most, by its own interval."""
        if not self.side or self._simple is None:
            return None
        old = self._old(self._simple)
        together = forms_of(old.plan)
        level = self._level(ESTIMATE_SHARE) / (together + (together > 1))
        return self.foresight.sizes(self._simple, old, level, self.side)

    def _told(self, statement: PrivateStatement) -> Errors:
        """The same for numbers that are made of several groups, by the answers that both releases would give."""
        before, after = self._before, self._after(statement)
        if len(before) != len(after):
            return {}
        found = {}
        for name in after.noisy:
            values = np.array([np.nan if v is None else float(v) for v in after[name]])
            lower, upper = _ends(after, name)
            errors = np.maximum(upper - values, values - lower)
            least = _size(*_ends(before, name), self.side) if self.side else np.abs(values)
            found[name] = least, np.where(np.isnan(errors), np.inf, errors)
        return found

    @cached_property
    def _before(self) -> Answer:
        return self.foresight.tell(self.known, self.foresight.beta * ESTIMATE_SHARE)

    def _after(self, statement: PrivateStatement) -> Answer:
        pairs = zip(self.known, statement.parts, strict=True)
        beta = self.foresight.beta * (1 - ESTIMATE_SHARE)
        return self.foresight.tell([carried(old, part) for old, part in pairs], beta)


def _size(lower: Floats, upper: Floats, side: int) -> Floats:
    """The smallest (`side` -1) or largest absolute value between two ends."""
    if side > 0:
        return np.maximum(np.abs(lower), np.abs(upper))
    return np.where((lower <= 0) & (upper >= 0), 0.0, np.minimum(np.abs(lower), np.abs(upper)))


def _ends(answer: Answer, name: str) -> tuple[Floats, Floats]:
    bars = [row.get(name, Interval()) for row in answer.intervals]
    return np.array([bar.lower for bar in bars]), np.array([bar.upper for bar in bars])
