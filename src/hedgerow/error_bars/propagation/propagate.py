"""Error bars of every shown number, from the noise of the released numbers that it contains.

The first rule that applies gives the interval (docs/explanation/error-bars.md): an aggregate has its own; linear forms
and their quotients are exact; maxima, minima and ranks have conservative rules; everything else that known functions
make of such numbers is evaluated on their simultaneous intervals. What cannot be followed is unbounded, and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.compiled import ROW
from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.interval import CONSERVATIVE, EXACT, Flags, Floats, IntervalKind, Reason, Status
from hedgerow.error_bars.intervals.variances import box_squares_range, squares_range
from hedgerow.error_bars.propagation.forms import (
    EVERYWHERE,
    NOT_NEGATIVE,
    Indices,
    LinearForm,
    Quotient,
    Releases,
    inverse,
)
from hedgerow.error_bars.propagation.functions import NO_RULE, Evaluation, not_null, product_bounds, unbounded
from hedgerow.error_bars.propagation.sums_of_quotients import sum_of_quotients
from hedgerow.error_bars.provenance.origins import Applied, Cell, Frame, Gathered, Known, Origin, Ranked, row_origin
from hedgerow.expressions.nodes import Column, Expr, Nested, walk
from hedgerow.late import csr_array
from hedgerow.release import Estimator, Population
from hedgerow.release.estimate import NULL

MOST_ELEMENTS = 2_000_000
VARIANCES = frozenset({"VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP"})
MOST_COMPARED = 20_000
CHOSEN = Status(IntervalKind.NONE, Reason.CHOSEN_BY_NOISE, "unbounded: noise decides which groups there are")


@dataclass(frozen=True)
class Propagation:
    """Propagates the noise of several releases to numbers that are computed from them."""

    releases: Releases

    def bounds(self, origin: Origin, frame: Frame, beta: float) -> Bounds | None:
        """The error bars of one column; None if it has no noise."""
        if not _is_noisy(origin):
            return None
        if isinstance(origin, Gathered) and origin.function == "COUNT":
            return Bounds.of(np.full(frame.rows, -np.inf), np.full(frame.rows, np.inf), CHOSEN)
        own = self._bounds(origin, frame, beta)
        nothing = np.isinf(own.lower) & np.isinf(own.upper)
        pairs = zip(own.statuses, nothing, strict=True)
        return Bounds(own.lower, own.upper, [NO_RULE if no and s.reason is None else s for s, no in pairs])

    def has_other_noise(self, origin: Origin, conditions: Sequence[Expr] | None, release: int) -> bool:
        """Return True if a number of one released row shares no noise with the conditions that picked the row.

        The noises of different sums are independent. So whatever the conditions make of theirs, in this group and in
        all others, the noise in the number has the law it had before, and its interval holds as often as if the row
        had not been picked.
        """
        if conditions is None or any(isinstance(part, Nested) for expr in conditions for part in walk(expr)):
            return False
        calls = {call.name for call in self.releases.estimators[release].plan.release.calls}
        read = {part.name for expr in conditions for part in walk(expr) if isinstance(part, Column)}
        picking = [self.releases.noises_behind(release, name) for name in sorted(read & calls)]
        shown = [self.releases.noises_behind(cell.release, cell.call) for cell in _cells(origin)]
        if not shown or any(numbers is None for numbers in (*picking, *shown)):
            return False
        return not any(one & other for one in picking for other in shown if one is not None and other is not None)

    def clipped(self, origin: Origin, frame: Frame, values: Floats) -> Floats:
        """The values of a quotient of one released row, cut to the range that the plan proves for the exact one."""
        if not isinstance(origin, Applied) or not _divides(origin):
            return values
        quotient = self._quotient(origin, frame)
        return values if quotient is None or quotient.denominator is None else np.clip(values, *quotient.support)

    def population(self, origin: Origin, frame: Frame, beta: float) -> list[Population] | None:
        """Interval about a population and p-value, row by row, of a statistic that compares people; None for others."""
        if not isinstance(origin, Cell) or origin.chosen:
            return None
        populations = self.releases.estimators[origin.release].about_population(origin.call, beta)
        groups, has_number = self.releases.groups_of(origin, frame)
        pairs = zip(groups.tolist(), has_number.tolist(), strict=True)
        return None if populations is None else [populations[group] if has else (None, None) for group, has in pairs]

    def values(self, origin: Origin, frame: Frame) -> Floats:
        """The number itself in each row where a rule applies; NaN elsewhere."""

        def leaf(part: Origin) -> Bounds | None:
            if not isinstance(part, Cell):
                return None
            estimator = self.releases.estimators[part.release]
            groups, has_number = self.releases.groups_of(part, frame)
            values = np.where(has_number, estimator.values(estimator.index(part.call))[groups], np.nan)
            return Bounds.of(values, values)

        ranges = Evaluation(frame, leaf).bounds(origin)
        with np.errstate(invalid="ignore"):
            middle = (ranges.lower + ranges.upper) / 2
        known = np.where(np.isfinite(ranges.lower) & np.isfinite(ranges.upper), middle, np.nan)
        return self.clipped(origin, frame, known)

    def _bounds(self, origin: Origin, frame: Frame, beta: float) -> Bounds:
        if isinstance(origin, Cell):
            return self._of_cell(origin, frame, beta)
        quotient = self._quotient(origin, frame)
        if quotient is not None:
            return _null(quotient.bounds(self.releases, beta), ~quotient.not_null)
        if isinstance(origin, Gathered):
            return self._of_gathered(origin, frame, beta)
        if isinstance(origin, Ranked):
            return self._of_rank(origin, frame, beta)
        if isinstance(origin, Applied):
            return self._of_function(origin, frame, beta)
        return unbounded(frame.rows)

    def _quotient(self, origin: Origin, frame: Frame) -> Quotient | None:
        """The origin as a quotient of linear forms, if it is one."""
        if isinstance(origin, Known):
            return self.releases.constant(frame.numbers(origin.value)) if frame.has(origin.value) else None
        if isinstance(origin, Cell):
            return None if origin.chosen else self.releases.quotient(origin, frame)
        if isinstance(origin, Gathered):
            return None if origin.chosen and origin.function != "COUNT" else self._total(origin, frame)
        if not isinstance(origin, Applied):
            return None
        parts = [self._quotient(argument, frame) for argument in origin.arguments]
        sides = [part for part in parts if part is not None]
        if len(sides) < len(parts):
            return None
        name = origin.function.removesuffix("_whole")
        if name in {"cast_float", "nullif"}:
            return sides[0]
        if name == "negate":
            return sides[0].scaled(np.full(frame.rows, -1.0))
        if name in {"add", "subtract"}:
            return sides[0].plus(sides[1].scaled(np.full(frame.rows, -1.0)) if name == "subtract" else sides[1])
        if name == "multiply":
            return sides[0].times(sides[1])
        return sides[0].over(sides[1], self.releases) if origin.function == "divide" else None

    def _total(self, origin: Gathered, frame: Frame) -> Quotient | None:
        """A sum, mean or count of linear forms over several rows, which is a linear form."""
        if origin.function not in {"SUM", "AVG", "COUNT"}:
            return None
        inner, owner = frame.elements(origin.rows)
        part = self._quotient(origin.inner, inner) if inner.rows <= MOST_ELEMENTS else None
        if part is None or part.denominator is not None:
            return None
        has_number = part.not_null
        adds = csr_array((has_number.astype(float), (owner, np.arange(inner.rows))), shape=(frame.rows, inner.rows))
        count = np.asarray(adds.sum(axis=1), dtype=float).ravel()
        if origin.function == "COUNT":
            return self.releases.constant(count)
        values = np.where(count > 0, adds @ np.nan_to_num(part.numerator.values), np.nan)
        total = LinearForm(values, adds @ part.numerator.matrix)
        if origin.function == "AVG":
            return Quotient(total.times(inverse(count)), None, part.support)
        return Quotient(total, None, NOT_NEGATIVE if part.support[0] >= 0 else EVERYWHERE)

    def _of_cell(self, cell: Cell, frame: Frame, beta: float) -> Bounds:
        """The aggregate's own interval; a simultaneous one for all groups where noise selected among them."""
        estimator = self.releases.estimators[cell.release]
        groups, has_number = self.releases.groups_of(cell, frame)
        if not len(estimator.noisy.shown):
            return _null(unbounded(frame.rows), ~has_number)
        level = beta / max(1, self.releases.groups) if cell.chosen else beta
        quotient = self.releases.quotient(cell, frame) if estimator.has_levels else None
        if quotient is not None:
            own = quotient.bounds(self.releases, level)
            return _null(own.weakened(CONSERVATIVE) if cell.chosen else own, ~has_number)
        estimate = estimator.estimate(estimator.index(cell.call), level)
        bounds = Bounds(estimate.lower[groups], estimate.upper[groups], [estimate.statuses[group] for group in groups])
        return _null(bounds.weakened(CONSERVATIVE) if cell.chosen else bounds, ~has_number)

    def _of_gathered(self, origin: Gathered, frame: Frame, beta: float) -> Bounds:
        """The sum or mean of simultaneous intervals; for a maximum or minimum, see `_of_extreme`."""
        inner, owner = frame.elements(origin.rows)
        if not inner.rows or inner.rows > MOST_ELEMENTS:
            return unbounded(frame.rows)
        part = self._quotient(origin.inner, inner)
        if (
            part is not None
            and part.denominator is not None
            and not origin.chosen
            and origin.function in {"SUM", "AVG"}
        ):
            return sum_of_quotients(part, _weights(part.not_null, owner, frame.rows, origin), self.releases, beta)
        maximum = max(1, int(np.bincount(owner).max()), self.releases.groups if origin.chosen else 0)
        every = self._bounds(origin.inner, inner, beta / maximum)
        if origin.function in {"MIN", "MAX"}:
            one = every if origin.chosen else self._bounds(origin.inner, inner, beta)
            return _of_extreme(every, one, owner, frame.rows, largest=origin.function == "MAX")
        if origin.function in VARIANCES:
            return self._of_variance(origin, frame, every, beta)
        has_number = not_null(every)
        count = np.bincount(owner[has_number], minlength=frame.rows)
        share = inverse(count) if origin.function == "AVG" else np.ones(frame.rows)
        some = owner[has_number]
        lower, upper = (_sums(some, end[has_number], frame.rows) * share for end in (every.lower, every.upper))
        return Bounds.of(lower, upper, CONSERVATIVE)

    def _of_variance(self, origin: Gathered, frame: Frame, every: Bounds, beta: float) -> Bounds:
        """A variance: exact for numbers with equal and independent Gaussian noise, else from simultaneous intervals."""
        inner, owner = frame.elements(origin.rows)
        part = None if origin.chosen else self._quotient(origin.inner, inner)
        form = part.numerator if part is not None and part.denominator is None else None
        has_number = not_null(every)
        result = unbounded(frame.rows)
        lower, upper, statuses = result.lower, result.upper, result.statuses
        for elements in np.split(np.arange(len(owner)), np.flatnonzero(np.diff(owner)) + 1):
            kept = elements[has_number[elements]]
            count = len(kept) - origin.function.endswith("_SAMP")
            sigma = None if form is None else form.at(kept).common_sigma(self.releases)
            if sigma is not None and form is not None:
                values = form.values[kept]
                ends = squares_range(np.square(values - values.mean()).sum(), len(kept), sigma, beta)
            else:
                ends = box_squares_range(every.lower[kept], every.upper[kept])
            if count > 0 and np.isfinite(ends[1]):
                root = np.sqrt if origin.function.startswith("STDDEV") else np.asarray
                row = owner[elements[0]]
                lower[row], upper[row] = root(ends[0] / count), root(ends[1] / count)
                statuses[row] = CONSERVATIVE if sigma is None else EXACT
        return result

    def _of_rank(self, origin: Ranked, frame: Frame, beta: float) -> Bounds:
        """A rank: from one more than the rows certainly ahead to all rows except those certainly behind."""
        own = self._quotient(origin.own, frame)
        inner, owner = frame.elements(origin.others.rows)
        others = self._quotient(origin.others.inner, inner) if inner.rows <= MOST_ELEMENTS else None
        if own is None or others is None or own.denominator or others.denominator or not inner.rows:
            return unbounded(frame.rows)
        if not self.releases.is_normal.all() and inner.rows > MOST_COMPARED:
            return unbounded(frame.rows)
        sizes = np.bincount(owner, minlength=frame.rows)
        between = LinearForm(
            others.numerator.values - own.numerator.values[owner],
            others.numerator.matrix - own.numerator.matrix[owner],
        )
        reach = between.half_widths(self.releases, beta / max(1, int(sizes.max()) - 1))
        ahead = between.values * (1.0 if origin.descending else -1.0)
        first = 1.0 + _sums(owner, (ahead > reach).astype(float), frame.rows)
        last = sizes - _sums(owner, (-ahead > reach).astype(float), frame.rows)
        return Bounds.of(first, np.maximum(first, last), CONSERVATIVE)

    def _of_function(self, origin: Applied, frame: Frame, beta: float) -> Bounds:
        """Interval arithmetic on simultaneous intervals: each fails with its share of `beta`."""
        if origin.function in {"multiply", "multiply_whole"}:
            left, right = (self._quotient(argument, frame) for argument in origin.arguments)
            if left is not None and right is not None and left.denominator is None and right.denominator is None:
                product = product_bounds(left.numerator, right.numerator, self.releases, beta)
                lowest, highest = NOT_NEGATIVE if left.support[0] >= 0 and right.support[0] >= 0 else EVERYWHERE
                return _null(product.within(lowest, highest), ~(left.not_null & right.not_null))
        parts = self._parts(origin, frame)
        level = beta / max(1, len(parts))
        known = {part: self._bounds(part, frame, level) for part in parts}
        return Evaluation(frame, known.get).bounds(origin).weakened(CONSERVATIVE)

    def _parts(self, origin: Origin, frame: Frame) -> set[Origin]:
        """The distinct numbers with intervals of their own in an expression."""
        if not _is_noisy(origin):
            return set()
        if not isinstance(origin, Applied) or self._quotient(origin, frame) is not None:
            return {origin}
        return {part for argument in origin.arguments for part in self._parts(argument, frame)}


def row_bounds(expr: Expr, estimator: Estimator, beta: float) -> Bounds | None:
    """The error bars of an expression over the columns of one release, in every released row.

    None where no noise is in it.
    """
    return _of_one(estimator).bounds(row_origin(expr, estimator.plan.release, 0), _row_frame(estimator), beta)


def row_values(expr: Expr, estimator: Estimator) -> Floats:
    """The value of the same expression where a rule applies; NaN elsewhere."""
    return _of_one(estimator).values(row_origin(expr, estimator.plan.release, 0), _row_frame(estimator))


def _of_one(estimator: Estimator) -> Propagation:
    return Propagation(Releases([estimator], [np.arange(len(estimator.noisy.shown))]))


def _row_frame(estimator: Estimator) -> Frame:
    """Keys and numbers of the released rows."""
    keys, rows = estimator.noisy.keys, len(estimator.noisy.shown)
    columns = {name: keys.column(name).combine_chunks() for name in keys.column_names}
    return Frame({**columns, ROW: pa.array(np.arange(rows))}, rows)


def _weights(has_number: Flags, owner: Indices, rows: int, origin: Gathered) -> csr_array:
    """The weight of each element in each row: one for a sum, and one over the number of elements for a mean."""
    elements = np.flatnonzero(has_number)
    count = np.bincount(owner[elements], minlength=rows)
    share = inverse(count) if origin.function == "AVG" else np.ones(rows)
    return csr_array((share[owner[elements]], (owner[elements], elements)), shape=(rows, len(owner)))


def _of_extreme(every: Bounds, one: Bounds, owner: Indices, rows: int, *, largest: bool) -> Bounds:
    """Bounds of a maximum: only the upper end of the true maximum matters, but every lower end must hold."""
    has_number = not_null(one)
    choose, start = (np.maximum, -np.inf) if largest else (np.minimum, np.inf)
    near, far = np.full(rows, start), np.full(rows, start)
    choose.at(near, owner[has_number], (every.lower if largest else every.upper)[has_number])
    choose.at(far, owner[has_number], (one.upper if largest else one.lower)[has_number])
    lower, upper = (near, far) if largest else (far, near)
    return Bounds.of(lower, upper, CONSERVATIVE)


def _cells(origin: Origin) -> list[Cell]:
    """The released numbers from which a number of one row is computed; none if it has other parts."""
    if isinstance(origin, Cell):
        return [] if origin.chosen else [origin]
    if not isinstance(origin, Applied):
        return []
    parts = [(part, _cells(part)) for part in origin.arguments]
    complete = all(cells or isinstance(part, Known) for part, cells in parts)
    return [cell for _, cells in parts for cell in cells] if complete else []


def _divides(origin: Origin) -> bool:
    return isinstance(origin, Applied) and (origin.function == "divide" or any(map(_divides, origin.arguments)))


def _is_noisy(origin: Origin) -> bool:
    if isinstance(origin, Applied):
        return any(_is_noisy(argument) for argument in origin.arguments)
    return not isinstance(origin, Known)


def _sums(owner: Indices, numbers: Floats, rows: int) -> Floats:
    """The sum of the numbers of each row."""
    return np.asarray(np.bincount(owner, numbers, rows), dtype=np.float64)


def _null(bounds: Bounds, missing: NDArray[np.bool_]) -> Bounds:
    """The bounds, open where there is no number; `missing_behind` gives the reason."""
    statuses = [NULL if gone else status for status, gone in zip(bounds.statuses, missing, strict=True)]
    return Bounds(np.where(missing, -np.inf, bounds.lower), np.where(missing, np.inf, bounds.upper), statuses)
