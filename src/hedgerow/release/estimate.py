"""From noisy sums to numbers with error bars, and the reasons why a number is missing. Floats begin here."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.aggregates import DistinctCount, Drawn, Estimate, Form, MeasuredSums, Ratio, Selected, lookup
from hedgerow.compiled import ROW
from hedgerow.distributions import Gaussian
from hedgerow.error_bars.intervals.interval import IntervalKind, Reason, Status
from hedgerow.errors import InternalError
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.types import Type
from hedgerow.late import csr_array
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.marginals import covariance
from hedgerow.privacy.plan import MarginalTable, PrivatePlan, SumForms, Terms
from hedgerow.release.noisy_table import NoisyTable
from hedgerow.release.totals import Measured, adjusted, cells_of, noise
from hedgerow.statistics.moments import Moments, ScaledColumn
from hedgerow.statistics.moments.families import Monomial
from hedgerow.statistics.quantiles import QuantilePoints, extreme_is_safe, value_bounds, values_of

NULL = Status(IntervalKind.NONE, Reason.NULL, "no value: the expression is NULL in this row")
UNTRACED = Status(
    IntervalKind.NONE,
    Reason.HELD_BACK_OR_NULL,
    "no value: it was held back, or the expression is NULL in this row",
)

MOSTLY = 1.25
"""Below this multiple of the minimum frequency, the noise adds little to the number of people that are needed."""


Floats = NDArray[np.float64]

SAME = 6
"""Decimals to which running sums of two tables that are equal agree, in spite of floating-point rounding."""

Population = tuple[tuple[float, float] | None, float | None]
"""An interval about a population, and a p-value."""


def fewest_people(plan: PrivatePlan) -> str | None:
    """The size below which groups are usually not shown, such as "about 470 people"; None where all are shown.

    A group is shown if it has at least `minimum` people and its noisy count reaches the threshold, which is larger.
    Both are public: they follow from the query, the catalog and the budget.
    """
    if plan.selection is None:
        return None
    return f"about {rounded(float(plan.selection.threshold))} people"


def rounded(people: float) -> str:
    """Format a number of people to two digits.

    Example:
        >>> rounded(981.4), rounded(12.6)
        ('980', '13')
    """
    return f"{float(f'{people:.2g}'):,.0f}"


def held_back(plan: PrivatePlan, *, total: bool = False) -> Status:
    """Status of a number that is missing because its group may be too small.

    A `total`, and a number of a table that is made of the groups by more keys, adds up several groups: many people may
    be behind it, but too few behind each of its groups.
    """
    behind = "each group that it adds up" if total or plan.made_of is not None else "it"
    note = f"held back: fewer than {fewest_people(plan)} may be behind {behind}"
    if plan.selection is None or float(plan.selection.threshold) < MOSTLY * plan.minimum:
        return Status(IntervalKind.NONE, Reason.HELD_BACK, f"{note}; min_frequency asks for {plan.minimum:,}")
    remedy = "a larger epsilon or a smaller max_groups" if plan.bounding.groups > 1 else "a larger epsilon"
    return Status(IntervalKind.NONE, Reason.HELD_BACK, f"{note}; {remedy} lowers that number", note)


def stands_in(held: Status) -> Status:
    """Return the status of a value that replaces a withheld one, such as the 0 of COALESCE(n, 0)."""
    note, for_readers = (text and f"{text}; the value shown stands in for it" for text in (held.note, held.for_readers))
    return Status(IntervalKind.NONE, Reason.STANDS_IN, note, for_readers)


def no_row(plan: PrivatePlan) -> Status:
    """Return the status of a number that would come from another row (LAG, an outer join) if there is none."""
    note = "no value: there is no such row"
    if plan.selection is not None and plan.keys.rule is KeyRule.SELECTED:
        note = f"{note}, or its group is not shown (fewer than {fewest_people(plan)})"
    return Status(IntervalKind.NONE, Reason.NO_ROW, note)


@dataclass(frozen=True)
class Estimator:
    """Turns one released table into estimates, at any confidence.

    Where totals were measured beside their groups, the noisy sums of the groups are adjusted to them (`totals`).
    """

    noisy: NoisyTable
    plan: PrivatePlan

    @cached_property
    def noisy_sums(self) -> tuple[Floats, ...]:
        """The noisy sums of all groups, adjusted to their measured totals; NaN where a group is held back."""
        if not self.noisy.levels or not self.has_levels:
            return self.noisy.noisy_sums
        shown, columns = self.noisy.shown, []
        for index, values in enumerate(self.noisy.noisy_sums):
            column = np.full(len(shown), np.nan)
            column[shown] = adjusted(values[shown], self._sigma(index), self._levels(index))
            columns.append(column)
        return tuple(columns)

    @property
    def has_levels(self) -> bool:
        """True if totals, or other tables, were measured together with the groups that are shown."""
        together = bool(self.noisy.levels) or bool(self.noisy.noises) or self._has_all_cells
        return together and bool(self.noisy.shown.any())

    @property
    def _has_all_cells(self) -> bool:
        """True for a table that was measured together with others; not for groups that are only imagined."""
        table = self.plan.marginal
        return table is not None and bool(table.sizes) and math.prod(table.sizes) == len(self.noisy.shown)

    def noise_of(self, index: int) -> Any:  # noqa: ANN401 - SciPy's sparse arrays have no types
        """Return the noise of noisy sum number `index`: a row for each group, over one standard normal noise per group.

        It is there where totals were measured, and replaces the one noise that each group has otherwise.
        """
        if self.noisy.noises:
            return self.noisy.noises[index]
        if self.plan.marginal is not None:
            return self._marginal_noise(self.plan.marginal, index)
        sigmas = self._sigma(index), *(self._sigma(index, level) for level in range(len(self.noisy.levels)))
        if sigmas not in self._noises:
            shown = np.flatnonzero(self.noisy.shown)
            matrix = noise(len(shown), sigmas[0], self._levels(index)).tocoo()
            size, entries = len(self.noisy.shown), (shown[matrix.coords[0]], matrix.coords[1])
            self._noises[sigmas] = csr_array((matrix.data, entries), shape=(size, size))
        return self._noises[sigmas]

    def _marginal_noise(self, table: MarginalTable, index: int) -> Any:  # noqa: ANN401 - SciPy's sparse arrays have no types
        """The noise of a table that was measured together with others: any noises with its covariances."""
        shown, variances = np.flatnonzero(self.noisy.shown), tuple(s for _, s in table.variances[index])
        if variances not in self._noises:
            cells = np.array(np.unravel_index(shown, table.sizes)).T
            root = csr_array(np.linalg.cholesky(covariance(table, index, cells))).tocoo()
            size, entries = len(self.noisy.shown), (shown[root.coords[0]], root.coords[1])
            self._noises[variances] = csr_array((root.data, entries), shape=(size, size))
        return self._noises[variances]

    @cached_property
    def _noises(self) -> dict[tuple[float, ...], Any]:
        return {}

    def _sigma(self, index: int, level: int | None = None) -> float:
        noisy_sums = self.plan.noisy_sums if level is None else self.plan.levels[level].noisy_sums
        law = noisy_sums[index].noise
        if not isinstance(law, Gaussian):
            raise InternalError("Totals were measured without Gaussian noise.")
        return law.sigma

    def _levels(self, index: int) -> list[Measured]:
        """The measured totals of noisy sum number `index`, the finest level first."""
        levels = []
        for number, cells in enumerate(self._cells):
            values = np.zeros(int(cells.max()) + 1)
            values[cells] = self.noisy.levels[number][index][self.noisy.shown]
            levels.append(Measured(cells, values, self._sigma(index, number)))
        return levels

    @cached_property
    def _cells(self) -> list[NDArray[np.int64]]:
        """Return the cell of every shown group, for each level."""
        keys = self.noisy.keys.take(pa.array(np.flatnonzero(self.noisy.shown)))
        names = [key.name for key in self.plan.release.keys]
        return [cells_of(keys, [names[i] for i in level.keys]) for level in self.plan.levels]

    @property
    def held_back(self) -> Status:
        """The status of numbers that are held back."""
        return held_back(self.plan)

    def index(self, name: str) -> int:
        """Position of the aggregate with this name."""
        return [call.name for call in self.plan.release.calls].index(name)

    def sums_of(self, name: str) -> SumForms:
        """Return the sums of an aggregate: equal for statistics of one comparison."""
        return self.plan.sum_forms[self.index(name)]

    def estimate(self, index: int, beta: float) -> Estimate:
        """Aggregate number `index` for every group, with intervals that fail with probability `beta` each."""
        call = self.plan.release.calls[index]
        known = lookup(call.function)
        if known is None:
            raise InternalError(f"{call.function} was bound but is not an aggregate.")
        shown = self.noisy.shown
        own = known.estimate(self.measured(index), beta)
        held = self.held_back
        statuses = [status if ok else held for status, ok in zip(own.statuses, shown, strict=True)]
        return Estimate(
            np.where(shown, own.values, np.nan),
            np.where(shown, own.lower, -np.inf),
            np.where(shown, own.upper, np.inf),
            statuses,
            own.population,
            own.p_values,
        )

    def about_population(self, name: str, beta: float) -> list[Population] | None:
        """For an aggregate that compares people: by group, an interval about a population and a p-value.

        None where a person may have several rows: these are no independent draws, and an interval as if they were
        would be too short.
        """
        names = [call.name for call in self.plan.release.calls]
        parts = self.plan.sum_forms[names.index(name)] if name in names else None
        if parts is None or not (parts.cells or parts.arms) or self.plan.bounding.weighted:
            return None
        estimate = self.estimate(names.index(name), beta)
        if estimate.population is None or estimate.p_values is None:
            return None
        ends = zip(estimate.population.lower.tolist(), estimate.population.upper.tolist(), strict=True)
        rows = zip(ends, estimate.p_values.tolist(), self.noisy.shown.tolist(), strict=True)
        return [(pair, p_value) if shown else (None, None) for pair, p_value, shown in rows]

    def values(self, index: int) -> NDArray[np.float64]:
        """Aggregate number `index` for every group, NaN where it is held back; sums of values as they are shown."""
        function, total = self.plan.release.calls[index].function, self.plan.sum_forms[index].total
        if function == "SUM" and total in self.noisy.totals:
            return self.noisy.totals[total]
        known = lookup(function)
        if known is None:
            raise InternalError(f"{function} was bound but is not an aggregate.")
        measured = self.measured(index)
        if self.has_levels and known.result is Type.INTEGER and measured.count is not None:
            if self.noisy.whole:
                terms = self.plan.sum_forms[index].count
                return np.asarray(sum(coefficient * self.noisy.whole[number] for number, coefficient in terms))
            return self.rounded(measured.count.values)
        return np.where(self.noisy.shown, known.values(measured), np.nan)

    def rounded(self, values: Floats) -> Floats:
        """Integers for groups that are totalled: running sums are rounded, and their differences shown.

        In a table that was measured with others, the running sums are along all keys at once: they have the same ends
        in all tables, so that the integers of all tables add up. Where a group is held back, there are no such sums.

        Each is less than one away from its value, and so is the total of all, and of all below a cell of nested levels.
        """
        if self.plan.marginal is not None:
            return self._rounded_with_others(values, self.plan.marginal)
        shown = np.flatnonzero(self.noisy.shown)
        order = shown[np.lexsort(self._cells)] if self._cells else shown
        rounded = np.full(len(values), np.nan)
        rounded[order] = np.diff(np.round(np.cumsum(values[order])), prepend=0.0)
        return rounded

    def _rounded_with_others(self, values: Floats, table: MarginalTable) -> Floats:
        if not self.noisy.shown.all():
            return np.where(self.noisy.shown, np.round(values), np.nan)
        running = values.reshape(table.sizes)
        for axis in range(running.ndim):
            running = running.cumsum(axis=axis)
        running = np.round(np.round(running, SAME))
        for axis in range(running.ndim):
            running = np.diff(running, axis=axis, prepend=0.0)
        return np.asarray(running.reshape(-1))

    def ratio(self, index: int) -> Ratio | None:
        """Aggregate number `index` as a quotient of linear forms, if it is one."""
        known = lookup(self.plan.release.calls[index].function)
        return None if known is None else known.ratio(self.measured(index))

    def table(self, read: Collection[str] | None = None) -> pa.Table:
        """The released table that the post-processing reads: keys, one column per aggregate, the row's number.

        Args:
            read: The aggregates that are wanted, where not all are.
        """
        columns = {name: self.noisy.keys.column(name) for name in self.noisy.keys.column_names}
        for index, call in enumerate(self.plan.release.calls):
            if read is not None and call.name not in read:
                continue
            values = self.values(index)
            columns[call.name] = _column(values, call.type)
        columns[ROW] = pa.array(np.arange(len(self.noisy.shown)))
        return pa.table(columns)

    def measured(self, index: int) -> MeasuredSums:
        """Numbers released for aggregate number `index`."""
        parts = self.plan.sum_forms[index]
        if parts.from_selection:
            return self._from_selection()
        return MeasuredSums(
            count=self._form(parts.count),
            total=self._form(parts.total),
            centred=self._form(parts.centred),
            middle=parts.middle,
            half=parts.half,
            ends=parts.ends,
            moments=self._moments(parts.moments),
            arms=tuple(moments for moments in map(self._moments, parts.arms) if moments is not None),
            column=ScaledColumn(parts.middle, parts.half) if parts.moments or parts.arms else None,
            other=ScaledColumn(parts.other_middle, parts.other_half) if parts.moments else None,
            drawn=self._drawn(parts),
            groups=len(self.noisy.shown),
            distinct=self._distinct(parts),
            cells=tuple(form for form in map(self._form, parts.cells) if form is not None),
        )

    def _distinct(self, parts: SumForms) -> tuple[DistinctCount, ...]:
        """Return the released counts of distinct values; releases of earlier versions hold one.

        Where a release is only imagined nothing is known about the values, and nothing is said about an upper limit.
        """
        if parts.distinct is None:
            return ()
        zeros, released = np.zeros(len(self.noisy.shown)), bool(self.noisy.distinct)
        counts = []
        for index in parts.distinct_levels or (parts.distinct,):
            counted = self.plan.distinct[index]
            values = np.nan_to_num(self.noisy.distinct[index]) if released else zeros
            form = Form(values, ((index, 1.0, counted.noise),))
            ceiling = counted.ceiling if released else np.inf
            counts.append(DistinctCount(form, released and counted.level.complete, counted.whole, ceiling))
        return tuple(counts)

    def _drawn(self, parts: SumForms) -> Drawn | None:
        """The values that were drawn, in the analyst's units; none for a hypothetical release."""
        if parts.draw is None or parts.draw >= len(self.noisy.ranks):
            return None
        draw, column = self.plan.draws[parts.draw], self.noisy.ranks[parts.draw]
        bucketing = self.plan.bucketings[draw.bucketing]
        grid, values = bucketing.grid, range_of(bucketing.value)
        ends = float(values.lower), float(values.upper)
        points = [np.nan_to_num(part).astype(np.int64) for part in (column.points, column.lower, column.upper)]
        whole = bucketing.value.type is Type.INTEGER and grid.exponent == 0
        bounds = value_bounds(
            QuantilePoints(*points), offset=grid.offset, step=grid.step, on_grid=whole, lowest=ends[0], highest=ends[1]
        )
        values_drawn = np.clip(values_of(points[0], offset=grid.offset, step=grid.step), *ends)
        safe, many = np.ones(len(values_drawn), bool), bucketing.buckets.count
        counted = self._form(parts.count)
        if draw.rank.extreme and counted is not None:
            safe = np.array([extreme_is_safe(n, draw.epsilon, draw.reach, many) for n in counted.values.tolist()], bool)
        return Drawn(values_drawn, bounds, draw.beta, *ends, safe)

    def _moments(self, moments: tuple[tuple[Monomial, Terms], ...]) -> Moments | None:
        """Moments of all groups; the noise of their noisy sums has one law."""
        if not moments:
            return None
        used = sorted({index for _, terms in moments for index, _ in terms})
        mixing = np.zeros((len(moments), len(used)))
        for row, (_, terms) in enumerate(moments):
            for index, coefficient in terms:
                mixing[row, used.index(index)] = coefficient
        noisy = np.array([np.nan_to_num(self.noisy_sums[index]) for index in used])
        noise = self.plan.noisy_sums[used[0]].noise
        return Moments.from_sums([monomial for monomial, _ in moments], mixing @ noisy, mixing, noise)

    def _from_selection(self) -> MeasuredSums:
        selection, counts = self.plan.selection, self.noisy.counts
        if selection is None or counts is None:
            raise InternalError("A count was read from a selection of keys, but no keys were selected.")
        form = Form(np.nan_to_num(counts), ((0, 1.0, selection.noise),))
        return MeasuredSums(count=form, selected=Selected(float(selection.threshold), selection.minimum))

    def _form(self, terms: Terms) -> Form | None:
        if not terms:
            return None
        noises = tuple((index, c, self.plan.noisy_sums[index].noise) for index, c in terms)
        return Form(self.form_values(terms), noises)

    def form_values(self, terms: Terms) -> Floats:
        """Return a linear form of the noisy sums for every group, not rounded; 0 where a group is held back."""
        values = np.zeros(len(self.noisy.shown))
        for index, coefficient in terms:
            values = values + coefficient * np.nan_to_num(self.noisy_sums[index])
        return values


def _column(values: "np.ndarray[tuple[int], np.dtype[np.float64]]", kind: Type) -> pa.Array:
    """Values as Arrow, NaN as NULL; counts as whole numbers."""
    missing = np.isnan(values)
    if kind is Type.INTEGER:
        return pa.array(np.nan_to_num(values).astype(np.int64), mask=missing)
    return pa.array(values, mask=missing)
