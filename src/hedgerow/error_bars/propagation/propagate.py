"""Error bars of numbers that are made of several released groups: shares, totals, changes, ranks, maxima.

First rule that applies (docs/explanation/error-bars.md): linear forms and their quotients are exact; maxima, minima
and ranks have conservative rules of their own; everything else that is built from such numbers by known functions is
evaluated on their simultaneous intervals. What cannot be followed is unbounded, and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hedgerow.error_bars.intervals import Bounds, normal_quotient_bounds
from hedgerow.error_bars.intervals import conditions as verdict_of
from hedgerow.error_bars.intervals.arithmetic import divide
from hedgerow.error_bars.intervals.interval import CONSERVATIVE, IntervalKind, Reason, Status
from hedgerow.error_bars.propagation.exact_forms import (
    EVERYWHERE,
    NOT_NEGATIVE,
    Exact,
    added,
    divided,
    inverse,
    multiplied,
    scaled,
)
from hedgerow.error_bars.propagation.forms import Cells, Floats, Sparse, known
from hedgerow.error_bars.propagation.frame import Frame
from hedgerow.error_bars.propagation.spread import NO_RULE, RULES, first_present, present
from hedgerow.error_bars.provenance.origins import Applied, Cell, Gathered, Known, Origin, Ranked, Untraced
from hedgerow.release.absent import NULL, UNTRACED, held_back, no_row
from hedgerow.release.estimate import Estimator

MOST_ELEMENTS = 2_000_000
MOST_COMPARED = 20_000
CHOSEN = Status(IntervalKind.NONE, Reason.CHOSEN_BY_NOISE, "unbounded: which groups there are is a choice of the noise")

Codes = NDArray[np.int64]
"""Why numbers are missing: an odd number for each release that holds back, an even one for each that lacks a row."""

_NONE, _UNTRACED = 0, -1


@dataclass(frozen=True)
class Follower:
    """Follows the origins of one answer."""

    estimators: Sequence[Estimator]
    orders: Sequence[NDArray[np.int64]]
    cells: Cells = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", Cells(self.estimators))

    def bounds(self, origin: Origin, frame: Frame, beta: float) -> Bounds | None:
        """The error bars of one column; None where no noise is in it."""
        if isinstance(origin, Known):
            return None
        if isinstance(origin, Gathered) and origin.function == "COUNT":
            return Bounds.of(np.full(frame.rows, -np.inf), np.full(frame.rows, np.inf), CHOSEN)
        return _honest(self._bounds(origin, frame, beta))

    def _bounds(self, origin: Origin, frame: Frame, beta: float) -> Bounds:
        exact = self._exact(origin, frame)
        if exact is not None:
            return self._of_exact(exact, beta)
        if isinstance(origin, Cell):
            return self._of_cell(origin, frame, beta)
        if isinstance(origin, Gathered):
            return self._of_gathered(origin, frame, beta)
        if isinstance(origin, Ranked):
            return self._of_rank(origin, frame, beta)
        if isinstance(origin, Applied):
            return self._of_function(origin, frame, beta / max(1, self._measures(origin, frame)))
        return _unknown(frame.rows)

    def _exact(self, origin: Origin, frame: Frame) -> Exact | None:
        """The origin as a quotient of linear forms, if it is one."""
        if isinstance(origin, Known):
            return Exact(known(frame.numbers(origin.value), self.cells))
        if isinstance(origin, Cell):
            return None if origin.chosen else self._cell(origin, frame)
        if isinstance(origin, Gathered):
            return None if origin.chosen and origin.function != "COUNT" else self._sum(origin, frame)
        if isinstance(origin, Applied):
            return self._applied(origin, frame)
        return None

    def _cell(self, cell: Cell, frame: Frame) -> Exact | None:
        estimator = self.estimators[cell.release]
        rows, there = self._rows(cell, frame)
        found = estimator.ratio(_index(estimator, cell.call))
        if found is None:
            return None
        above = self.cells.form(cell.release, found.numerator, rows, there)
        below = None if found.denominator is None else self.cells.form(cell.release, found.denominator, rows, there)
        return Exact(above, below, found.support)

    def reasons(self, origin: Origin, frame: Frame) -> list[Status | None]:
        """For each row, why a number that this one rests on is missing; None where none is, or its lack is no reason.

        It follows from which released rows a number is made of, not from what it is. A total of several rows is there
        as long as one of them is.
        """
        words: dict[int, Status | None] = {_NONE: None, _UNTRACED: UNTRACED if self._hides() else NULL}
        for release, estimator in enumerate(self.estimators):
            if estimator.plan.selection is not None:
                words[_held(release)] = held_back(estimator.plan)
            words[_without_row(release)] = no_row(estimator.plan)
        return [words[code] for code in self._codes(origin, frame).tolist()]

    def _hides(self) -> bool:
        return any(not estimator.noisy.shown.all() for estimator in self.estimators)

    def _codes(self, origin: Origin, frame: Frame) -> Codes:
        if isinstance(origin, Cell):
            _, there = self._rows(origin, frame)
            has_row = np.isfinite(frame.numbers(origin.row)) & (len(self.orders[origin.release]) > 0)
            absent = np.where(has_row, _held(origin.release), _without_row(origin.release))
            return np.where(there, _NONE, absent)
        if isinstance(origin, Gathered):
            return self._gathered_codes(origin, frame)
        if isinstance(origin, Ranked):
            return self._codes(origin.own, frame)
        if isinstance(origin, Untraced):
            return np.full(frame.rows, _UNTRACED)
        if isinstance(origin, Applied) and origin.function == "case":
            return self._case_codes(origin, frame)
        if isinstance(origin, Applied):
            parts = [self._codes(argument, frame) for argument in origin.arguments]
            return reduce(_first_there if origin.function == "coalesce" else _either, parts)
        return _nothing(frame)

    def _gathered_codes(self, origin: Gathered, frame: Frame) -> Codes:
        inner, owner = frame.elements(origin.rows)
        if not inner.rows or inner.rows > MOST_ELEMENTS:
            return _nothing(frame)
        codes = self._codes(origin.inner, inner)
        found = _nothing(frame)
        np.maximum.at(found, owner, np.where(_is_held(codes), codes, _NONE))
        some = np.bincount(owner[codes == _NONE], minlength=frame.rows) > 0
        return np.where(some, _NONE, found)

    def _case_codes(self, origin: Applied, frame: Frame) -> Codes:
        """Of the branch that is taken where no noise decides that; else of all that decide or may be taken."""
        found, still_open = _nothing(frame), np.ones(frame.rows, bool)
        for condition, value in zip(origin.arguments[:-1:2], origin.arguments[1:-1:2], strict=True):
            known = isinstance(condition, Known)
            verdict = frame.numbers(condition.value) == 1 if isinstance(condition, Known) else np.ones(frame.rows, bool)
            codes = _either(self._codes(condition, frame), self._codes(value, frame))
            found = np.where(still_open & verdict, _either(found, codes), found)
            still_open = still_open & ~(verdict & known)
        rest = self._codes(origin.arguments[-1], frame)
        return np.where(still_open, _either(found, rest), found)

    def _rows(self, cell: Cell, frame: Frame) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The groups a cell is read at, and where there is one that is not held back."""
        numbers = frame.numbers(cell.row)
        known_row = np.isfinite(numbers)
        order, shown = self.orders[cell.release], self.estimators[cell.release].noisy.shown
        if not len(order):
            return np.zeros(frame.rows, np.int64), np.zeros(frame.rows, bool)
        rows = order[np.where(known_row, numbers, 0).astype(np.int64)]
        return rows, known_row & shown[rows]

    def _sum(self, origin: Gathered, frame: Frame) -> Exact | None:
        """A sum, mean or count of linear forms over several rows is one."""
        if origin.function not in {"SUM", "AVG", "COUNT"}:
            return None
        inner, owner = frame.elements(origin.rows)
        if inner.rows > MOST_ELEMENTS:
            return None
        part = self._exact(origin.inner, inner)
        if part is None or part.below is not None:
            return None
        there = np.isfinite(part.above.values)
        adds = csr_array((there.astype(float), (owner, np.arange(inner.rows))), shape=(frame.rows, inner.rows))
        count = np.asarray(adds.sum(axis=1), dtype=float).ravel()
        if origin.function == "COUNT":
            return Exact(known(count, self.cells))
        total = Sparse(np.where(count > 0, adds @ np.nan_to_num(part.above.values), np.nan), adds @ part.above.matrix)
        if origin.function == "AVG":
            return Exact(total.times(inverse(count)), None, part.support)
        return Exact(total, None, NOT_NEGATIVE if part.support[0] >= 0 else EVERYWHERE)

    def _applied(self, origin: Applied, frame: Frame) -> Exact | None:
        parts = [self._exact(argument, frame) for argument in origin.arguments]
        sides = [part for part in parts if part is not None]
        if len(sides) < len(parts):
            return None
        name = origin.function.removesuffix("_whole")
        if name in {"cast_float", "nullif"}:
            return sides[0]
        if name == "negate":
            return scaled(sides[0], np.full(frame.rows, -1.0))
        if name in {"add", "subtract"}:
            sign = np.full(frame.rows, -1.0 if name == "subtract" else 1.0)
            return added(sides[0], scaled(sides[1], sign))
        if name == "multiply":
            return multiplied(*sides)
        return divided(*sides) if origin.function == "divide" else None

    def _of_exact(self, exact: Exact, beta: float) -> Bounds:
        above, below = exact.above, exact.below
        missing = ~np.isfinite(above.values) | (False if below is None else ~np.isfinite(below.values))
        if below is None:
            found = above.bounds(self.cells, beta).within(*exact.support)
        else:
            found = self._quotient(above, below, exact.support, beta)
        return _absent(found, missing)

    def _quotient(self, above: Sparse, below: Sparse, support: tuple[float, float], beta: float) -> Bounds:
        variances = self.cells.variances()
        if variances is None:
            boxed = divide(above.bounds(self.cells, beta / 2), below.bounds(self.cells, beta / 2)).within(*support)
            return boxed.weakened(CONSERVATIVE)
        spread = above.covariance(above, variances), below.covariance(below, variances)
        values = np.nan_to_num(above.values), np.nan_to_num(below.values)
        return normal_quotient_bounds(*values, (*spread, above.covariance(below, variances)), beta, support)

    def _of_cell(self, cell: Cell, frame: Frame, beta: float) -> Bounds:
        """A count that was seen because it was large, and whatever else has an interval of its own."""
        estimator = self.estimators[cell.release]
        rows, there = self._rows(cell, frame)
        if not len(estimator.noisy.shown):
            return _absent(_unknown(frame.rows), ~there)
        found = estimator.estimate(_index(estimator, cell.call), self._any(beta) if cell.chosen else beta)
        bounds = Bounds(found.lower[rows], found.upper[rows], [found.statuses[row] for row in rows])
        return _absent(bounds.weakened(CONSERVATIVE) if cell.chosen else bounds, ~there)

    def _any(self, beta: float) -> float:
        """The level at which the intervals of all groups hold at once, whichever of them noise may choose."""
        return beta / max(1, self.cells.groups)

    def _of_gathered(self, origin: Gathered, frame: Frame, beta: float) -> Bounds:
        inner, owner = frame.elements(origin.rows)
        if not inner.rows or inner.rows > MOST_ELEMENTS:
            return _unknown(frame.rows)
        sizes = np.bincount(owner, minlength=frame.rows)
        most = max(1, int(sizes.max()), self.cells.groups if origin.chosen else 0)
        if origin.function in {"MIN", "MAX"}:
            return self._extreme(origin, inner, owner, frame.rows, beta, most)
        each = self._bounds(origin.inner, inner, beta / most)
        there = present(each)
        count = np.bincount(owner[there], minlength=frame.rows)
        share = inverse(count) if origin.function == "AVG" else np.ones(frame.rows)
        lower, upper = (_totals(owner[there], end[there], frame.rows) * share for end in (each.lower, each.upper))
        return Bounds.of(lower, upper, CONSERVATIVE)

    def _extreme(
        self, origin: Gathered, inner: Frame, owner: NDArray[np.int64], rows: int, beta: float, most: int
    ) -> Bounds:
        """Of a maximum: the upper end of the true one alone matters, but no lower end may be too high."""
        every = self._bounds(origin.inner, inner, beta / most)
        one = every if origin.chosen else self._bounds(origin.inner, inner, beta)
        there, largest = present(one), origin.function == "MAX"
        choose, start = (np.maximum, -np.inf) if largest else (np.minimum, np.inf)
        near, far = np.full(rows, start), np.full(rows, start)
        choose.at(near, owner[there], (every.lower if largest else every.upper)[there])
        choose.at(far, owner[there], (one.upper if largest else one.lower)[there])
        lower, upper = (near, far) if largest else (far, near)
        return Bounds.of(lower, upper, CONSERVATIVE)

    def _of_rank(self, origin: Ranked, frame: Frame, beta: float) -> Bounds:
        """One more than those that are surely ahead, to all but those that are surely behind."""
        own = self._exact(origin.own, frame)
        inner, owner = frame.elements(origin.others.rows)
        others = self._exact(origin.others.inner, inner) if inner.rows <= MOST_ELEMENTS else None
        if own is None or others is None or own.below or others.below or not inner.rows:
            return _unknown(frame.rows)
        if self.cells.variances() is None and inner.rows > MOST_COMPARED:
            return _unknown(frame.rows)
        sizes = np.bincount(owner, minlength=frame.rows)
        between = Sparse(others.above.values - own.above.values[owner], others.above.matrix - own.above.matrix[owner])
        reach = between.widths(self.cells, beta / max(1, int(sizes.max()) - 1))
        ahead = between.values * (1.0 if origin.descending else -1.0)
        first = 1.0 + _totals(owner, (ahead > reach).astype(float), frame.rows)
        last = sizes - _totals(owner, (-ahead > reach).astype(float), frame.rows)
        return Bounds.of(first, np.maximum(first, last), CONSERVATIVE)

    def _measures(self, origin: Origin, frame: Frame) -> int:
        """How many numbers with intervals of their own an expression is built from."""
        if isinstance(origin, Known):
            return 0
        if not isinstance(origin, Applied) or self._exact(origin, frame) is not None:
            return 1
        return sum(self._measures(argument, frame) for argument in origin.arguments)

    def _of_function(self, origin: Origin, frame: Frame, beta: float) -> Bounds:
        """Interval arithmetic on intervals that hold together."""
        if isinstance(origin, Known):
            values = frame.numbers(origin.value)
            return Bounds.of(values, values)
        if not isinstance(origin, Applied) or self._exact(origin, frame) is not None:
            return self._bounds(origin, frame, beta)
        if origin.function == "case":
            return self._of_case(origin, frame, beta)
        parts = [self._of_function(argument, frame, beta) for argument in origin.arguments]
        if origin.function == "coalesce":
            whole = first_present(parts)
        elif origin.function in RULES:
            whole = RULES[origin.function](*parts)
        else:
            return _unknown(frame.rows)
        return whole.weakened(CONSERVATIVE)

    def _of_case(self, origin: Applied, frame: Frame, beta: float) -> Bounds:
        """The branches that the intervals of its conditions leave open."""
        verdicts = [self._verdict(condition, frame, beta) for condition in origin.arguments[:-1:2]]
        values = (*origin.arguments[1:-1:2], origin.arguments[-1])
        lower, upper = verdict_of.chosen(verdicts, [self._of_function(value, frame, beta) for value in values])
        return Bounds.of(lower, upper, CONSERVATIVE)

    def _verdict(self, origin: Origin, frame: Frame, beta: float) -> verdict_of.Verdict:
        if isinstance(origin, Known):
            values = frame.numbers(origin.value)
            return verdict_of.Verdict(values == 1, values == 0, np.isnan(values))
        if not isinstance(origin, Applied):
            return verdict_of.undecided(frame.rows)
        if origin.function == "not":
            return self._verdict(origin.arguments[0], frame, beta).inverted()
        if origin.function in {"and", "or"}:
            join = verdict_of.both if origin.function == "and" else verdict_of.either
            return join(*(self._verdict(argument, frame, beta) for argument in origin.arguments))
        if origin.function not in verdict_of.COMPARISONS:
            return verdict_of.undecided(frame.rows)
        left, right = (self._of_function(argument, frame, beta) for argument in origin.arguments)
        missing = _missing(left) | _missing(right)
        return verdict_of.compared(origin.function, left, right, missing)


def _missing(bounds: Bounds) -> NDArray[np.bool_]:
    """Where there is surely no number: held back, or NULL."""
    return ~present(bounds) | np.isnan(bounds.lower)


def _honest(bounds: Bounds) -> Bounds:
    """Say that there is no rule, where both ends are open for no other reason."""
    nothing = np.isinf(bounds.lower) & np.isinf(bounds.upper)
    pairs = zip(bounds.statuses, nothing, strict=True)
    return Bounds(bounds.lower, bounds.upper, [NO_RULE if no and s.reason is None else s for s, no in pairs])


def _totals(owner: NDArray[np.int64], numbers: Floats, rows: int) -> Floats:
    """The sum of the numbers of each row."""
    return np.asarray(np.bincount(owner, numbers, rows), dtype=np.float64)


def _index(estimator: Estimator, call: str) -> int:
    return [c.name for c in estimator.plan.release.calls].index(call)


def _absent(bounds: Bounds, missing: NDArray[np.bool_]) -> Bounds:
    """The bounds, open where there is no number. Why there is none is told by `Follower.reasons`."""
    statuses = [NULL if gone else status for status, gone in zip(bounds.statuses, missing, strict=True)]
    return Bounds(np.where(missing, -np.inf, bounds.lower), np.where(missing, np.inf, bounds.upper), statuses)


def _held(release: int) -> int:
    return 2 * release + 1


def _without_row(release: int) -> int:
    return 2 * release + 2


def _is_held(codes: Codes) -> NDArray[np.bool_]:
    return np.asarray((codes > _NONE) & (codes % 2 == 1), dtype=bool)


def _either(left: Codes, right: Codes) -> Codes:
    """What is held back outweighs a row that is not there."""
    return np.where(_is_held(left), left, np.where(_is_held(right) | (left == _NONE), right, left))


def _first_there(left: Codes, right: Codes) -> Codes:
    """COALESCE: the next value counts only where the one before has no row."""
    return np.where((left > _NONE) & ~_is_held(left), right, left)


def _nothing(frame: Frame) -> Codes:
    return np.full(frame.rows, _NONE)


def _unknown(rows: int) -> Bounds:
    return Bounds.of(np.full(rows, -np.inf), np.full(rows, np.inf), NO_RULE)
