"""Bounds found privately: the range of a value, and how many rows and groups one person has.

The first look counts people over octaves, each person once, at the largest absolute value. The octaves are public, so
nothing but noise hides one: there is no threshold of key selection, and no delta. The bounds minimise
the expected error: what they cut off (`tail`), plus the noise of an answer, which grows with their distance. Where
nearly all people are in the last octaves, the range may lie far from zero, or end well before the octave does, and
further looks cut it into equal cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hedgerow.answer import BoundsWarning, FoundBounds
from hedgerow.calibration.buckets import (
    CELLS,
    PARTS,
    CellRange,
    Histogram,
    amounts,
    end_cells,
    is_present,
    largest_octave,
    power_of,
    rows_each,
    whole_below,
)
from hedgerow.calibration.sub_budget import SubBudget
from hedgerow.calibration.tail import GHOSTS, OCTAVES, RUNS, CountedCells, Floats, detectable, total_margin
from hedgerow.distributions import Gaussian, Noise
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Column, Expr, written
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Release
from hedgerow.release import Estimator

BETA = 0.05
"""Probability that more people have values beyond the bounds than stated."""

MANY, TOO_MANY = 0.1, 0.5
"""Shares of people who may have values beyond the bounds: a warning above the first, no bounds above the second."""

ONLY_ZEROS = 0.01
"""Share of people who may have other values where only zeros are seen: above it there are no bounds."""

NOTABLE = 0.7
"""Number of standard deviations of the noise above which a clipped sum is worth a warning."""

CUTS = 2
"""Maximum number of times that a range is divided into cells."""

SHARED = 1e-3
"""Probability that any empty cell of a range counts as occupied. It lies inside of what the first look has shown."""

NEARLY_ALL, MANY_ENOUGH = 0.8, 0.4
"""Shares of people in the last two octaves: cells pay above the first, or above the second if each can be seen."""

NOT_THIN = 0.2
"""Share of people from the last octave on: below it, octaves show the tail better than cells, unless each is seen."""

FINE = 4
"""Number of edges to choose from in each octave."""


@dataclass(frozen=True, slots=True)
class UnboundedValue:
    """A value without bounds: over the rows of a release, where `condition` holds."""

    release: Release
    value: Expr
    condition: Expr | None = None

    @property
    def label(self) -> str:
        """Value in words."""
        return written(self.value)

    def octaves(self) -> Histogram:
        """Return the histogram of people by the octave of their largest value."""
        return largest_octave(self.release, self.value, self._present)

    def cells(self, span: CellRange) -> tuple[Histogram, ...]:
        """Return the histograms of people by their lowest and their highest cell."""
        return end_cells(self.release, self.value, self._present, span)

    @property
    def may_have_both_signs(self) -> bool:
        """Return True if a person may have values of both signs; the octaves show only the larger one."""
        known = range_of(self.value)
        return not self.release.limits.one_row and known.lower < 0 < known.upper

    @property
    def _present(self) -> list[Expr]:
        return [is_present(self.value), *([] if self.condition is None else [self.condition])]


@dataclass(frozen=True, slots=True)
class RangeShares:
    """Shares of the budget to find one range: for the first look, for each later one at one end; and for an answer."""

    first: float
    later: float
    answer: float

    @property
    def largest(self) -> float:
        """Largest share that all looks at one range take: the first, and later ones at both ends."""
        return self.first + 2 * CUTS * self.later

    def among(self, count: int) -> "RangeShares":
        """Return the shares for each of several ranges."""
        return RangeShares(self.first / count, self.later / count, self.answer / count)


OF_A_STATEMENT = RangeShares(0.2, 0.05, 0.75)
"""Shares if the answer is paid from the same budget."""

ALONE = RangeShares(0.48, 0.12, 1.0)
"""Shares if only a range is asked for. Later answers cost as much again."""


@dataclass(frozen=True)
class Counts:
    """Noisy numbers of people by cell, the list of all cells, and the smallest count that makes a cell occupied."""

    cells: tuple[int, ...]
    people: Floats
    noise: Noise
    minimum: int

    @classmethod
    def of(cls, histogram: Histogram, estimators: Sequence[Estimator], minimum: int) -> "Counts":
        """Read a released histogram."""
        (estimator,) = estimators
        (noisy_sum,) = estimator.plan.noisy_sums
        return cls(histogram.cells, estimator.values(0), noisy_sum.noise, minimum)

    def threshold(self, ghosts: float | None = None) -> float:
        """Return the count above which a cell is occupied."""
        beyond_noise = detectable(self.noise, len(self.cells), *([] if ghosts is None else [ghosts]))
        return beyond_noise + self.minimum - 1

    def runs(self, ghosts: float = GHOSTS) -> tuple[tuple[int, float], ...]:
        """Return lengths of runs of cells that are tested together, and the sums above which runs are occupied."""
        tail = ghosts / len(self.cells)
        return tuple((size, total_margin(self.noise, size, tail) + self.minimum - 1) for size in RUNS)

    def at_most(self, chosen: Sequence[int], beta: float = BETA) -> float:
        """Return an upper limit of the number of people in some cells, given by their indices."""
        margin = total_margin(self.noise, len(chosen), beta)
        return max(float(self.people[list(chosen)].sum()) + margin, 0.0) if chosen else 0.0

    def deviation(self) -> float:
        """Return the standard deviation of the noise of one count."""
        return self.noise.size * (1.0 if isinstance(self.noise, Gaussian) else math.sqrt(2.0))


@dataclass(frozen=True)
class Ends:
    """Chosen ends of a range, an upper limit of the share of people beyond them, and of the sum that they cut off."""

    lower: float
    upper: float
    beyond: float
    cut: float


@dataclass(frozen=True)
class Octaves:
    """The first look: people by the octave of their largest value, and the noise of an answer per unit of range."""

    counts: Counts
    noise: float

    def side(self, sign: int) -> CountedCells:
        """Return the octaves above zero (1) or below it (-1), by growing size."""
        indices = [i for i, octave in enumerate(self.counts.cells) if octave * sign > 0]
        indices = indices if sign > 0 else indices[::-1]
        powers = [power_of(abs(self.counts.cells[i])) for i in indices]
        edges = [math.ldexp(1.0, power) for power in (*powers, powers[-1] + 1)] if powers else [1.0]
        people, threshold = self.counts.people[indices], self.counts.threshold()
        return CountedCells(np.array(edges), people, self.counts.noise, threshold, runs=self.counts.runs())

    @property
    def people(self) -> float:
        """Number of people in all cells that are occupied."""
        return float(self.counts.people[self.counts.people > self.counts.threshold()].sum())

    def ends(self) -> Ends | None:
        """Return the best ends; None where too few people are seen, or too many may lie beyond."""
        above, below = self.side(1), self.side(-1)
        if above.last is None and below.last is None:
            return self._zeros()
        uppers, lowers = (_edges(side) for side in (above, below))
        upper, lower, cut = _best(above, below, uppers, lowers, self.noise)
        beyond = self.beyond(-lower, upper)
        return None if beyond > TOO_MANY else Ends(0.0 - lower, upper, beyond, cut)

    def symmetric(self, ends: Ends) -> Ends:
        """Return symmetric ends: if they contain a person's largest absolute value, they contain all values."""
        size = max(-ends.lower, ends.upper)
        return Ends(-size, size, self.beyond(-size, size), ends.cut)

    def whole(self, ends: Ends) -> Ends:
        """Return ends around the whole of the last occupied octaves, to be divided into cells."""
        above, below = self.side(1), self.side(-1)
        upper, lower = (
            end if side.last is None else max(end, float(side.edges[side.last + 1]))
            for end, side in ((ends.upper, above), (-ends.lower, below))
        )
        cut = above.clipped_at_most(upper, 0.5) + below.clipped_at_most(lower, 0.5)
        return Ends(0.0 - lower, upper, self.beyond(-lower, upper), cut)

    def beyond(self, lower: float, upper: float) -> float:
        """Return an upper limit of the share of people with values beyond these ends."""
        outside = [
            i
            for i, octave in enumerate(self.counts.cells)
            if octave and math.ldexp(1.0, power_of(abs(octave)) + 1) > (upper if octave > 0 else -lower)
        ]
        return min(self.counts.at_most(outside) / max(self.people, 1.0), 1.0)

    def _zeros(self) -> Ends | None:
        """Return ends if only zeros are seen and hardly anybody can have other values."""
        zero = self.counts.cells.index(0)
        others = [i for i in range(len(self.counts.cells)) if i != zero]
        if self.people <= 0 or self.counts.at_most(others, GHOSTS) > ONLY_ZEROS * self.people:
            return None
        return Ends(0.0, 1.0, self.beyond(0.0, 0.0), 0.0)

    def pays_to_cut(self, later: float) -> bool:
        """Return True if a look at cells is worth its price; `later` is its noise scale over that of this look."""
        sides = [side for side in (self.side(1), self.side(-1)) if side.last is not None]
        tops = [side.counts[max(side.last - 1, 0) : side.last + 2] for side in sides if side.last is not None]
        top, outer = (max(float(counts[first:].sum()) for counts in tops) for first in (0, 1))
        visible = detectable(self.counts.noise, CELLS, SHARED) * later + self.counts.minimum
        share, thin = top / max(self.people, 1.0), min(NOT_THIN * self.people, CELLS / 2 * visible)
        many = share >= MANY_ENOUGH and top > CELLS * visible and outer >= thin
        return top > 2 * visible and (share >= NEARLY_ALL or many)


def _edges(side: CountedCells) -> Floats:
    """Return the edges to choose from: zero where nothing is seen, else those of the last octaves and some beyond."""
    if side.last is None:
        return np.zeros(1)
    octaves = side.edges[max(side.last - 5, 0)] * np.exp2(np.arange(min(side.last, 5) + OCTAVES))
    return np.outer(octaves, 1 + np.arange(FINE) / FINE).ravel()


def _best(
    above: CountedCells, below: CountedCells, uppers: Floats, lowers: Floats, noise: float
) -> tuple[float, float, float]:
    """Return the ends with the smallest expected error, and an upper limit of the sum that they cut off.

    The error is the sum cut off at both ends (the two need not cancel), plus noise in proportion to the width.
    """
    widths = uppers[:, None] + lowers[None, :]
    cut = above.clipped(uppers)[:, None] + below.clipped(lowers)[None, :]
    error = np.where(widths > 0, np.hypot(cut, noise * widths), np.inf)
    i, j = np.unravel_index(int(np.argmin(error)), error.shape)
    upper, lower = float(uppers[i]), float(lowers[j])
    return upper, lower, above.clipped_at_most(upper, BETA) + below.clipped_at_most(lower, BETA)


def find_range(sub_budget: SubBudget, value: UnboundedValue, shares: RangeShares) -> FoundBounds | None:
    """Find the range of a value; None where too few people share an octave, or too many may lie beyond the bounds."""
    started, subject = len(sub_budget.payments), f"bounds of {value.label}"
    histogram = value.octaves()
    counts = _look(sub_budget, histogram, shares.first, subject)
    octaves = Octaves(counts, counts.deviation() * sub_budget.noise_factor(shares.first, shares.answer))
    ends = octaves.ends()
    if ends is not None and (octaves.side(1).last is not None or octaves.side(-1).last is not None):
        mixed = value.may_have_both_signs
        if octaves.pays_to_cut(sub_budget.noise_factor(shares.first, shares.later)):
            ends = octaves.whole(ends)
            ends = _cut(sub_budget, value, octaves, octaves.symmetric(ends) if mixed else ends, shares, subject)
        elif mixed:
            ends = _other_end(sub_budget, value, octaves, octaves.symmetric(ends), shares, subject)
    if ends is None:
        return None
    return _bounds_of(value, ends, octaves.noise, free=len(sub_budget.payments) == started)


def _look(sub_budget: SubBudget, histogram: Histogram, share: float, subject: str) -> Counts:
    estimators = sub_budget.ask(histogram.plan, share, subject, histogram.cells)
    return Counts.of(histogram, estimators, sub_budget.request.min_frequency)


def _cut(
    sub_budget: SubBudget, value: UnboundedValue, octaves: Octaves, ends: Ends, shares: RangeShares, subject: str
) -> Ends:
    """Cut a range into equal cells, and again as long as few of them hold everybody.

    Cells at the end of a range also hold the people beyond it, so the octaves' estimate of these people is added.
    """
    beyond = ends.cut
    for _ in range(CUTS):
        span = CellRange(ends.lower, ends.upper)
        histograms = value.cells(span)
        looks = [_look(sub_budget, histogram, shares.later, subject) for histogram in histograms]
        edges = span.lower + span.width * np.arange(CELLS + 1.0)
        lowest, highest = (
            CountedCells(edges, counts.people, counts.noise, counts.threshold(SHARED), 0, counts.runs(SHARED))
            for counts in (looks[0], looks[-1])
        )
        first, last = lowest.mirrored().last, highest.last
        if first is None or last is None:
            break
        inner = _ends_of(lowest, highest, looks, octaves)
        ends = replace(inner, cut=beyond + inner.cut)
        if CELLS - 1 - first > last or last - (CELLS - 1 - first) >= CELLS // 8 or _is_fine(value.value, ends):
            break
    return ends


def _other_end(
    sub_budget: SubBudget, value: UnboundedValue, octaves: Octaves, ends: Ends, shares: RangeShares, subject: str
) -> Ends:
    """Find the end on the side where fewer people have their largest absolute value, and keep the other one."""
    below = octaves.side(1).people_above(-1) >= octaves.side(-1).people_above(-1)
    span = CellRange(ends.lower, ends.upper)
    histogram = value.cells(span)[0 if below else -1]
    counts = _look(sub_budget, histogram, shares.later, subject)
    edges = span.lower + span.width * np.arange(CELLS + 1.0)
    cells = CountedCells(edges, counts.people, counts.noise, counts.threshold(SHARED), 0, counts.runs(SHARED))
    cells = cells.mirrored() if below else cells
    if cells.last is None:
        return ends
    clipped, sizes = cells.clipped(cells.edges[1:]), cells.edges[1:] - cells.edges[0]
    index = int(np.argmin(np.hypot(clipped, octaves.noise * sizes)))
    outside = range(CELLS - 1 - index) if below else range(index + 1, CELLS)
    beyond = min(ends.beyond + counts.at_most(list(outside)) / max(octaves.people, 1.0), 1.0)
    end = float(cells.edges[index + 1])
    cut = ends.cut + cells.clipped_at_most(end, BETA)
    return Ends(0.0 - end, ends.upper, beyond, cut) if below else Ends(ends.lower, end, beyond, cut)


def _ends_of(lowest: CountedCells, highest: CountedCells, looks: Sequence[Counts], octaves: Octaves) -> Ends:
    """Return the best ends among the edges of equal cells."""
    edges = highest.edges
    uppers, lowers = edges[1:], -edges[:-1]
    upper, lower, cut = _best(highest, lowest.mirrored(), uppers, lowers, octaves.noise)
    below, above = ([i for i in range(CELLS) if outside[i]] for outside in (edges[1:] <= -lower, edges[:-1] >= upper))
    if len(looks) == 1:
        people = looks[0].at_most([*below, *above])
    else:
        people = looks[0].at_most(below) + looks[1].at_most(above)
    return Ends(0.0 - lower, upper, min(people / max(octaves.people, 1.0), 1.0), cut)


def _is_fine(value: Expr, ends: Ends) -> bool:
    """Return True if dividing a range again is useless: its ends are neighbouring integers, or neighbouring doubles."""
    size = max(abs(ends.lower), abs(ends.upper))
    return ends.upper - ends.lower <= (CELLS / 4 if value.type is Type.INTEGER else size * 2.0**-30)


def _bounds_of(value: UnboundedValue, ends: Ends, noise: float, *, free: bool) -> FoundBounds:
    """Return bounds that contain the whole range, or all integers in it; declared bounds are kept."""
    known = range_of(value.value)
    lower, upper = max(ends.lower, known.lower), min(ends.upper, known.upper)
    if value.value.type is Type.INTEGER:
        lower, upper = float(math.ceil(lower)), float(math.ceil(upper) - 1 if upper < known.upper else upper)
    upper = upper if lower < upper else lower + 1.0
    warning = BoundsWarning.MANY_BEYOND if ends.beyond > MANY else None
    is_notable = ends.cut > NOTABLE * noise * (ends.upper - ends.lower)
    warning = warning or (BoundsWarning.HIDDEN_TAIL if is_notable else None)
    clipped = ends.cut if value.release.limits.one_row else None
    basis = "earlier answer" if free else "bought"
    return FoundBounds(value.label, lower, upper, basis, ends.beyond, warning, clipped)


EXCEEDING = 0.01
"""Share of people who may have more than a limit that is found, by the noisy counts."""


@dataclass(frozen=True, slots=True)
class FoundLimit:
    """A limit on the rows or groups of one person, and an upper limit of the share of people who have more."""

    value: int
    beyond: float


def rows_of_people(release: Release) -> Histogram:
    """Return the histogram of people by their rows in a release."""
    return amounts(*rows_each(release))


def find_cap(sub_budget: SubBudget, release: Release, share: float, answer: float) -> FoundLimit | None:
    """Find the row limit with the smallest error; None if there are too few people to tell.

    A sum to which one person adds at most c rows has noise in proportion to c, and loses every further row.
    """
    counts = _look(sub_budget, rows_of_people(release), share, "rows of one person")
    cells = _amount_cells(counts)
    if cells.last is None:
        return None
    limits = np.array([float(whole_below(quarter)) for quarter in counts.cells])
    noise = counts.deviation() * sub_budget.noise_factor(share, answer)
    error = np.hypot(cells.clipped(cells.edges[1:]), noise * limits)
    return _limit(counts, int(np.argmin(error)))


def find_limit(sub_budget: SubBudget, people: Release, amount: Column, share: float, subject: str) -> FoundLimit | None:
    """Find the smallest limit that, by the noisy counts, 1 % of people exceed; None if no cell is occupied."""
    counts = _look(sub_budget, amounts(people, amount), share, subject)
    cells = _amount_cells(counts)
    if cells.last is None:
        return None
    everybody = cells.people_above(-1)
    index = next(i for i in range(len(counts.cells)) if cells.people_above(i) <= EXCEEDING * everybody)
    return _limit(counts, index)


def _amount_cells(counts: Counts) -> CountedCells:
    edges = np.exp2(np.arange(len(counts.cells) + 1) / PARTS)
    return CountedCells(edges, counts.people, counts.noise, counts.threshold(), PARTS)


def _limit(counts: Counts, index: int) -> FoundLimit | None:
    """Return the largest amount in a cell; None where more than half of the people may have more."""
    people = float(counts.people[counts.people > counts.threshold()].sum())
    beyond = min(counts.at_most(range(index + 1, len(counts.cells))) / max(people, 1.0), 1.0)
    return None if beyond > TOO_MANY else FoundLimit(whole_below(counts.cells[index]), beyond)
