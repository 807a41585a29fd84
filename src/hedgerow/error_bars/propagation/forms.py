"""Linear forms in released numbers, and their quotients: the noises of each number and their coefficients.

A cell is one coordinate of one group of one release; its noise is independent of that of every other cell. A form has
a value for each row that is shown, and a sparse row of coefficients over the cells. Sums, differences, multiples and
quotients of counts, sums and averages stay in this class, within one group or across several, and their intervals lose
nothing: Fieller's pivot under normal noise, its counterpart under Laplace noise and mixtures.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.aggregates import Form
from hedgerow.distributions import Gaussian, Noise
from hedgerow.error_bars.intervals import (
    Bounds,
    counted_half_width,
    half_width,
    normal_quotient_bounds,
    quotient_bounds,
)
from hedgerow.error_bars.intervals.interval import EXACT, Flags, Floats, Status
from hedgerow.error_bars.propagation.known_ranges import quotient_range
from hedgerow.error_bars.provenance.origins import Cell, Frame
from hedgerow.late import csr_array
from hedgerow.release import Estimator

Indices = NDArray[np.int64]
Support = tuple[float, float]
QuotientTerm = tuple[float, float, Noise, int]
"""Coefficients in numerator and denominator, the law of the noise, and the number of such independent noises."""

EVERYWHERE: Support = (-np.inf, np.inf)
NOT_NEGATIVE: Support = (0.0, np.inf)


MAXIMUM_COEFFICIENTS = 200_000
"""Maximum number of coefficients for which a range of their quotient is computed."""

FEW = 50
"""Maximum number of different sums for which those without a common lattice are computed more precisely."""


@dataclass(frozen=True)
class Releases:
    """The releases of a statement, with all their cells in one sequence.

    The cells are ordered release by release, coordinate by coordinate, group by group. `orders` has, for each release,
    its groups in the order in which the SQL after the noise numbers them.
    """

    estimators: Sequence[Estimator]
    orders: Sequence[Indices]

    @cached_property
    def noises(self) -> list[Noise]:
        """The noise of each cell; standard normal ones where totals were measured (`Estimator.noise_of`)."""
        return [
            Gaussian(1.0) if estimator.has_levels else noisy_sum.noise
            for estimator in self.estimators
            for noisy_sum in estimator.plan.noisy_sums
            for _ in range(len(estimator.noisy.shown))
        ]

    @cached_property
    def laws(self) -> list[Noise]:
        """The different noises."""
        return list(dict.fromkeys(self.noises))

    @cached_property
    def kinds(self) -> Indices:
        """Index of each cell's noise among the different noises."""
        index = {noise: number for number, noise in enumerate(self.laws)}
        return np.array([index[noise] for noise in self.noises], dtype=np.int64)

    @cached_property
    def is_normal(self) -> Flags:
        """True for the cells with Gaussian noise."""
        return np.array([isinstance(noise, Gaussian) for noise in self.noises], dtype=bool)

    @cached_property
    def variances(self) -> Floats:
        """The variance of each Gaussian noise; zero for the others."""
        return np.array([noise.sigma**2 if isinstance(noise, Gaussian) else 0.0 for noise in self.noises])

    @property
    def groups(self) -> int:
        """Number of released groups, of all releases together."""
        return sum(len(estimator.noisy.shown) for estimator in self.estimators)

    def groups_of(self, cell: Cell, frame: Frame) -> tuple[Indices, Flags]:
        """The groups that a cell is read at, and a flag for those that exist and are not held back."""
        numbers = frame.numbers(cell.row)
        order, shown = self.orders[cell.release], self.estimators[cell.release].noisy.shown
        if not len(order):
            return np.zeros(frame.rows, np.int64), np.zeros(frame.rows, bool)
        has_row = np.isfinite(numbers)
        groups = order[np.where(has_row, numbers, 0).astype(np.int64)]
        return groups, has_row & shown[groups]

    def quotient(self, cell: Cell, frame: Frame) -> "Quotient | None":
        """The aggregate behind a cell as a quotient of forms, if it is one."""
        estimator = self.estimators[cell.release]
        ratio = estimator.ratio(estimator.index(cell.call))
        if ratio is None:
            return None
        groups, not_null = self.groups_of(cell, frame)
        numerator = self._form(cell.release, ratio.numerator, groups, not_null)
        if ratio.denominator is None:
            return Quotient(numerator, None, ratio.support)
        return Quotient(numerator, self._form(cell.release, ratio.denominator, groups, not_null), ratio.support)

    def noises_behind(self, release: int, call: str) -> frozenset[int] | None:
        """The noises of one group in an aggregate, by number; None if it is not a quotient of linear forms.

        The noise of key selection, where it is the answer, has the number -1.
        """
        estimator = self.estimators[release]
        index = estimator.index(call)
        if estimator.plan.sum_forms[index].from_selection:
            return frozenset({-1})
        ratio = estimator.ratio(index)
        if ratio is None:
            return None
        forms = [ratio.numerator] if ratio.denominator is None else [ratio.numerator, ratio.denominator]
        return frozenset(number for form in forms for number, coefficient, _ in form.terms if coefficient)

    def range_of_quotient(self, top: "LinearForm", bottom: "LinearForm") -> Support:
        """The range of the exact quotient of two forms, if the plans prove one (see `known_ranges`)."""
        both = (top.matrix + 1j * bottom.matrix).tocoo()
        ends, first = [], 0
        for estimator in self.estimators:
            coordinates, groups = len(estimator.plan.noisy_sums), len(estimator.noisy.shown)
            here = (both.col >= first) & (both.col < first + coordinates * groups) & (both.data != 0)
            pairs = _distinct_pairs(both.row[here], both.col[here] - first, both.data[here], (coordinates, groups))
            first += coordinates * groups
            if pairs is None:
                return EVERYWHERE
            if pairs:
                ends.append(quotient_range(estimator.plan, pairs))
        return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else EVERYWHERE

    def constant(self, values: Floats) -> "Quotient":
        """Numbers without noise."""
        finite = values[np.isfinite(values)]
        support = (float(finite.min()), float(finite.max())) if len(finite) else EVERYWHERE
        return Quotient(LinearForm(values, csr_array((len(values), len(self.noises)))), None, support)

    def _form(self, release: int, form: Form, groups: Indices, not_null: Flags) -> "LinearForm":
        """A form of single groups, read at `groups`; NaN and without noise where the flag is not set."""
        cells = len(self.noises)
        if not len(form.values) or not form.terms:
            values = form.values[groups] if len(form.values) else np.full(len(groups), np.nan)
            return LinearForm(np.where(not_null, values, np.nan), csr_array((len(groups), cells)))
        before = sum(len(e.plan.noisy_sums) * len(e.noisy.shown) for e in self.estimators[:release])
        size, rows = len(self.estimators[release].noisy.shown), np.flatnonzero(not_null)
        values = np.where(not_null, form.values[groups], np.nan)
        if self.estimators[release].has_levels:
            return LinearForm(values, self._beside_totals(release, form, np.where(not_null, groups, -1), before))
        columns = [before + coordinate * size + groups[rows] for coordinate, _, _ in form.terms]
        numbers = [np.full(len(rows), coefficient) for _, coefficient, _ in form.terms]
        entries = np.tile(rows, len(columns)), np.concatenate(columns)
        matrix = csr_array((np.concatenate(numbers), entries), shape=(len(groups), cells))
        return LinearForm(values, matrix)

    def _beside_totals(self, release: int, form: Form, groups: Indices, before: int) -> Any:  # noqa: ANN401 - SciPy's sparse arrays have no types
        """The coefficients of a form in the noise that measured totals leave; none where the group is -1."""
        size = len(self.estimators[release].noisy.shown)
        rows = np.flatnonzero(groups >= 0)
        matrix = csr_array((len(groups), len(self.noises)))
        for coordinate, coefficient, _ in form.terms:
            part = self.estimators[release].noise_of(coordinate)[groups[rows]].tocoo()
            entries = rows[part.coords[0]], before + coordinate * size + part.coords[1]
            matrix = matrix + csr_array((coefficient * part.data, entries), shape=matrix.shape)
        return matrix.tocsr()


@dataclass(frozen=True)
class LinearForm:
    """Linear forms in cells, one for each row."""

    values: Floats
    matrix: Any

    @property
    def is_constant(self) -> bool:
        """True if no noise is in it."""
        return bool(self.matrix.nnz == 0)

    def at(self, rows: Indices) -> "LinearForm":
        """A selection of the rows."""
        return LinearForm(self.values[rows], self.matrix[rows])

    def plus(self, other: "LinearForm") -> "LinearForm":
        """The sum of both, row by row."""
        return LinearForm(self.values + other.values, (self.matrix + other.matrix).tocsr())

    def times(self, factors: Floats) -> "LinearForm":
        """Each row times its own factor."""
        clean = np.where(np.isfinite(factors), factors, 0.0)
        return LinearForm(self.values * factors, self.matrix.multiply(clean[:, None]).tocsr())

    def equals(self, other: "LinearForm") -> bool:
        """Return True if both are the same in every row."""
        return np.array_equal(self.values, other.values, equal_nan=True) and (self.matrix != other.matrix).nnz == 0

    def covariance(self, other: "LinearForm", releases: Releases) -> Floats:
        """The covariance of the Gaussian noise of both, row by row."""
        return np.asarray(self.matrix.multiply(other.matrix) @ releases.variances, dtype=float)

    def common_sigma(self, releases: Releases) -> float | None:
        """The standard deviation of the noise in each row, if it is Gaussian, the same and independent in all rows."""
        cells = self.matrix.indices[self.matrix.data != 0]
        variances = self.covariance(self, releases)
        alike = variances.size > 0 and bool(np.ptp(variances) <= 1e-9 * variances.max()) and variances.max() > 0
        if not alike or len(np.unique(cells)) < len(cells) or not releases.is_normal[cells].all():
            return None
        return float(np.sqrt(variances[0]))

    def half_widths(self, releases: Releases, beta: float) -> Floats:
        """Half width of each row's interval, which fails with probability `beta`; equal noise is computed once."""
        widths = half_width([(1.0, Gaussian(1.0))], beta) * np.sqrt(self.covariance(self, releases))
        rows = np.flatnonzero(abs(self.matrix) @ (~releases.is_normal).astype(float))
        kinds = rows_alike(self.matrix, csr_array(self.matrix.shape), rows, releases)
        for alike, terms in kinds:
            sizes = [(abs(a), noise, count) for a, _, noise, count in terms]
            widths[alike] = counted_half_width(sizes, beta, smooth=len(kinds) <= FEW)
        return widths

    def bounds(self, releases: Releases, beta: float) -> Bounds:
        """Values plus and minus the quantile of their noise."""
        widths = self.half_widths(releases, beta)
        return Bounds.of(self.values - widths, self.values + widths)


@dataclass(frozen=True)
class Quotient:
    """A quotient of two forms; without a denominator, the numerator alone. `support` is its known range."""

    numerator: LinearForm
    denominator: LinearForm | None = None
    support: Support = EVERYWHERE

    @property
    def is_constant(self) -> bool:
        """True if no noise is in it."""
        return self.denominator is None and self.numerator.is_constant

    @property
    def not_null(self) -> Flags:
        """True for the rows that have a number."""
        known = np.isfinite(self.numerator.values)
        return known if self.denominator is None else known & np.isfinite(self.denominator.values)

    def scaled(self, factors: Floats) -> "Quotient":
        """Each row times its own factor."""
        finite = factors[np.isfinite(factors)]
        extremes = (float(finite.min()), float(finite.max())) if len(finite) else EVERYWHERE
        corners = [0.0 if not end or not factor else end * factor for end in self.support for factor in extremes]
        return Quotient(self.numerator.times(factors), self.denominator, (min(corners), max(corners)))

    def plus(self, other: "Quotient") -> "Quotient | None":
        """The sum over a common denominator; a part without noise fits any denominator."""
        support = self.support[0] + other.support[0], self.support[1] + other.support[1]
        for one, constant in ((self, other), (other, self)):
            if one.denominator is not None and constant.is_constant:
                moved = one.denominator.times(constant.numerator.values)
                return Quotient(one.numerator.plus(moved), one.denominator, support)
        if self._shares_denominator(other):
            return Quotient(self.numerator.plus(other.numerator), self.denominator, support)
        return None

    def times(self, other: "Quotient") -> "Quotient | None":
        """The product, if one side has no noise or is the denominator of the other (a count times its average)."""
        for one, factor in ((self, other), (other, self)):
            if one.denominator is not None and factor.denominator is None and one.denominator.equals(factor.numerator):
                return Quotient(one.numerator, None, NOT_NEGATIVE if one.support[0] >= 0 else EVERYWHERE)
        for one, constant in ((self, other), (other, self)):
            if constant.is_constant:
                return one.scaled(constant.numerator.values)
        return None

    def over(self, other: "Quotient", releases: Releases) -> "Quotient | None":
        """The quotient of two forms, or of two quotients with one denominator, with the range that the plan proves."""
        if other.is_constant:
            return self.scaled(inverse(other.numerator.values))
        if not self._shares_denominator(other):
            return None
        lowest, highest = releases.range_of_quotient(self.numerator, other.numerator)
        positive = self.support[0] >= 0 and other.support[0] >= 0
        return Quotient(self.numerator, other.numerator, (max(lowest, 0.0) if positive else lowest, highest))

    def _shares_denominator(self, other: "Quotient") -> bool:
        if self.denominator is None or other.denominator is None:
            return self.denominator is other.denominator
        return self.denominator.equals(other.denominator)

    def bounds(self, releases: Releases, beta: float) -> Bounds:
        """The interval of each row, from the noises in that row, extended to the number that is shown.

        Where all noise is normal it is Fieller's. The shown number is the noisy quotient cut to its support.
        """
        top, bottom = self.numerator, self.denominator
        if bottom is None:
            return top.bounds(releases, beta).within(*self.support)
        noises = abs(top.matrix) + abs(bottom.matrix)
        laplaces = np.asarray(noises @ (~releases.is_normal).astype(float)) > 0
        result, normal = _Assembled(len(top.values)), np.flatnonzero(~laplaces)
        n, d = top.at(normal), bottom.at(normal)
        covariances = n.covariance(n, releases), d.covariance(d, releases), n.covariance(d, releases)
        noisy = np.nan_to_num(n.values), np.nan_to_num(d.values)
        result.put(normal, normal_quotient_bounds(*noisy, covariances, beta, self.support))
        for rows, counted in rows_alike(top.matrix, bottom.matrix, np.flatnonzero(laplaces), releases):
            terms = [(a, b, noise) for a, b, noise, count in counted for _ in range(count)]
            values = np.nan_to_num(top.values[rows]), np.nan_to_num(bottom.values[rows])
            result.put(rows, quotient_bounds(*values, terms, beta, self.support))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            shown = np.clip(top.values / bottom.values, *self.support)
        own = result.bounds()
        return Bounds(np.fmin(own.lower, shown), np.fmax(own.upper, shown), own.statuses)


class _Assembled:
    """Bounds that are assembled from the bounds of several sets of rows."""

    def __init__(self, rows: int) -> None:
        self._lower, self._upper = np.full(rows, -np.inf), np.full(rows, np.inf)
        self._statuses: list[Status] = [EXACT] * rows

    def put(self, rows: Indices, bounds: Bounds) -> None:
        """Set the bounds of some rows."""
        self._lower[rows], self._upper[rows] = bounds.lower, bounds.upper
        for row, status in zip(rows.tolist(), bounds.statuses, strict=True):
            self._statuses[row] = status

    def bounds(self) -> Bounds:
        """The assembled bounds."""
        return Bounds(self._lower, self._upper, self._statuses)


def rows_alike(
    top: Any,  # noqa: ANN401 - SciPy's sparse arrays have no types
    bottom: Any,  # noqa: ANN401 - likewise
    rows: Indices,
    releases: Releases,
) -> list[tuple[Indices, list[QuotientTerm]]]:
    """Rows with equal noises and coefficients, and these; equal ones are listed once, with their number."""
    both = (top[rows] + 1j * bottom[rows]).tocsr()
    both.eliminate_zeros()
    owner = np.repeat(np.arange(len(rows)), np.diff(both.indptr))
    numerator, denominator, kind = both.data.real, both.data.imag, releases.kinds[both.indices]
    sign = np.where((numerator < 0) | ((numerator == 0) & (denominator < 0)), -1.0, 1.0)
    numerator, denominator = sign * numerator, sign * denominator
    order = np.lexsort((denominator, numerator, kind, owner))
    table = np.column_stack([owner[order], kind[order], numerator[order], denominator[order]])
    changes = np.any(np.diff(table, axis=0, prepend=np.nan) != 0, axis=1)
    first = np.flatnonzero(changes)
    counts = np.diff(np.append(first, len(table)))
    table = np.column_stack([table[first], counts])
    ends = np.searchsorted(table[:, 0], np.arange(len(rows) + 1))
    by_terms: dict[bytes, list[int]] = defaultdict(list)
    for row, (start, end) in enumerate(pairwise(ends.tolist())):
        by_terms[table[start:end, 1:].tobytes()].append(row)
    result = []
    for alike in by_terms.values():
        part = table[ends[alike[0]] : ends[alike[0] + 1], 1:].tolist()
        terms = [(a, b, releases.laws[int(law)], int(count)) for law, a, b, count in part]
        result.append((rows[alike], terms))
    return result


def _distinct_pairs(
    rows: Indices, columns: Indices, coefficients: NDArray[np.complex128], shape: tuple[int, int]
) -> list[tuple[Floats, Floats]] | None:
    """The distinct coefficients of a release's groups in numerator and denominator; None if there are many."""
    coordinates, groups = shape
    if coordinates == 1 and len(coefficients):
        return [(np.array([pair.real]), np.array([pair.imag])) for pair in np.unique(coefficients)]
    if len(coefficients) > MAXIMUM_COEFFICIENTS:
        return None
    owners, index = np.unique(rows.astype(np.int64) * max(groups, 1) + columns % max(groups, 1), return_inverse=True)
    table = np.zeros((len(owners), coordinates), dtype=complex)
    np.add.at(table, (index, columns // max(groups, 1)), coefficients)
    return [(pair.real, pair.imag) for pair in np.unique(table, axis=0)]


def inverse(numbers: NDArray[np.generic]) -> Floats:
    """Return the reciprocals; NaN for zero."""
    with np.errstate(divide="ignore"):
        return np.where(numbers != 0, 1.0 / np.asarray(numbers, float), np.nan)
