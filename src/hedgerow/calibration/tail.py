"""Estimates, from noisy numbers of people in cells, of how much an edge cuts off. All of it is post-processing.

A cell is occupied if its count exceeds what noise alone reaches once in a million looks, or if it is the last one of a
run of cells whose counts together do. Between the last occupied cell
and the largest value may lie people whom the noise hides, and a few of them matter: noise of scale 1 / epsilon on a sum
is as large as what 1.4 / epsilon people add to it. So the counts are continued: their ratio from octave to octave, and
the ratio of these ratios, are weighed by how well they explain the counts that were seen, below the threshold, too.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.error_bars.intervals import half_width
from hedgerow.special import ndtri

Floats = NDArray[np.float64]

GHOSTS = 1e-6
"""Probability that any empty cell of a look counts as occupied. Such a cell may lie anywhere, far above all values."""

RUNS = (2, 4)
"""Numbers of neighbouring cells whose counts are also judged together: a thin tail may hide in each of them alone."""

RATIOS = np.array([0, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.06, *np.arange(0.1, 0.6, 0.05), 0.6, 0.7, 0.8, 0.9])
"""Ratios of the number of people in an octave, or in a cell, to that in the one before."""

BENDS = {True: np.array([0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 1.0]), False: np.array([0.85, 0.93, 1.0])}
"""Ratios of ratios, of octaves (True) and of equal cells. At 1 counts fall like those of a Pareto distribution, below
like those of a log-normal, gamma or normal one."""

ENDS_HERE = {True: 10.0, False: 30.0}
"""Prior weight of the ratio 0, where that of each other one is 1: values often end with a cell that is well filled."""

PERSISTENCE, SURPRISE = 0.35, 0.02
"""Standard deviation of the logarithm of the next ratio around the one before; and the prior weight of any other."""

OCTAVES, CELLS = 6, 30
"""Number of octaves, or of equal cells, by which counts are continued at most."""

NEAR, EVIDENT = 2, 2.5
"""Octaves after the last occupied one in which a count is believed, and the number of noise scales it needs."""

AFTER_A_BUMP = 0.3
"""Ratio of the people who may be in the octave after such a count to those in the octave of the count."""

NOBODY = 0.2
"""An expected number of people below this is none."""


def detectable(noise: Noise, cells: int, ghosts: float = GHOSTS) -> float:
    """Return the count that noise exceeds in any of a number of empty cells with probability at most `ghosts`.

    Example:
        >>> round(detectable(Laplace(5.0), 357), 1)
        95.0
        >>> round(detectable(Gaussian(20.0), 357), 1)
        116.6
    """
    if isinstance(noise, Gaussian):
        return float(-ndtri(ghosts / cells)) * noise.sigma
    return noise.scale * math.log(cells / (2 * ghosts))


def total_margin(noise: Noise, cells: int, beta: float) -> float:
    """Return the amount that the summed noise of a number of cells exceeds with probability at most `beta`."""
    smooth = Laplace(noise.scale) if isinstance(noise, Laplace) else noise
    return half_width([(1.0, smooth)] * cells, 2 * beta) if cells else 0.0


@dataclass(frozen=True)
class CountedCells:
    """Neighbouring cells with a noisy number of people in each, in the direction in which values leave the range.

    Attributes:
        edges: Where the cells begin, and where the last one ends.
        counts: Noisy numbers of people.
        noise: The noise of each of them.
        threshold: The count above which a cell is occupied.
        parts: Number of cells to an octave, for cells that grow; 0 for equal ones.
        runs: For each length of run that is tested together, the sum above which the run is occupied.
    """

    edges: Floats
    counts: Floats
    noise: Noise
    threshold: float
    parts: int = 1
    runs: tuple[tuple[int, float], ...] = ()

    def mirrored(self) -> "CountedCells":
        """Return equal cells in descending order."""
        return replace(self, edges=-self.edges[::-1], counts=self.counts[::-1])

    @cached_property
    def last(self) -> int | None:
        """Index of the last occupied cell; None if no cell is occupied.

        Runs are judged after the last cell that is occupied by itself. In an occupied run, it is the last cell
        that has at least half of the run's mean and is unlikely to be noise.
        """
        occupied = np.flatnonzero(self.counts > self.threshold)
        start = int(occupied[-1]) + 1 if len(occupied) else 0
        last = start - 1
        for size, threshold in self.runs:
            totals = np.cumsum(np.append(0.0, self.counts[start:]))
            sums = totals[size:] - totals[:-size]
            for first in np.flatnonzero(sums > threshold) + start:
                minimum = max(sums[first - start] / (2 * size), self.threshold / 3)
                notable = np.flatnonzero(self.counts[first : first + size] >= minimum)
                last = max([last, *(int(first + index) for index in notable)])
        return None if last < 0 else last

    def clipped(self, edges: Floats) -> Floats:
        """Return the expected total by which values exceed each edge."""
        seen, beyond = self._excesses(edges)
        return np.asarray(seen + self._expected @ beyond)

    def clipped_at_most(self, edge: float, beta: float) -> float:
        """Return an upper limit of the total excess over an edge, over continuations of weight 1 - `beta`."""
        weights, tail = self._continued
        seen, beyond = self._excesses(np.array([edge]))
        bumps = np.where(self._surplus > 0, self._surplus + (EVIDENT + 1) * self.noise.size, 0.0)
        for step in range(1, len(bumps)):
            bumps[step] = max(bumps[step], AFTER_A_BUMP * bumps[step - 1])
        amounts = (np.maximum(tail, bumps) @ beyond).ravel()
        order = np.argsort(amounts)
        index = int(np.searchsorted(np.cumsum(weights[order]), 1 - beta))
        return float(seen[0] + amounts[order[min(index, len(order) - 1)]])

    def _excesses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the excess over each edge: of all cells before the last occupied one, and per person after it."""
        if self.last is None:
            return np.zeros(len(edges)), np.zeros((1, len(edges)))
        certain = [i for i in range(self.last) if self.counts[i] > self.threshold / 3]
        seen = sum((self.counts[i] * self._excess(edges, i) for i in certain), np.zeros(len(edges)))
        steps = self._continued[1].shape[1]
        return np.asarray(seen), np.stack([self._excess(edges, self.last + step) for step in range(steps)])

    def people_above(self, index: int) -> float:
        """Return the expected number of people in the cells above that of `index`."""
        if self.last is None:
            return 0.0
        seen = [self.counts[i] for i in range(index + 1, self.last) if self.counts[i] > self.threshold / 3]
        return float(sum(seen) + self._expected[max(0, index + 1 - self.last) :].sum())

    @property
    def _expected(self) -> Floats:
        """Expected number of people in the last occupied cell and in each one after it."""
        weights, tail = self._continued
        return np.maximum(weights @ tail, self._surplus)

    @property
    def _surplus(self) -> Floats:
        """Number of people certainly in the next octaves, by their counts: no continuation has to explain them."""
        steps = np.arange(self._continued[1].shape[1])
        after = np.append(self.counts, np.zeros(len(steps)))[self.last or 0 :][: len(steps)]
        near = (steps > 0) & (steps <= NEAR * self.parts)
        return np.where(near, np.maximum(after - EVIDENT * self.noise.size, 0.0), 0.0)

    @cached_property
    def _continued(self) -> tuple[Floats, Floats]:
        """Weights of all continuations, and the people of each from the last occupied cell on; zero without one."""
        if self.last is None:
            return np.ones(1), np.zeros((1, 1))
        last, scale, grows = self.last, self.noise.size, self.parts > 0
        steps = np.arange((OCTAVES * self.parts if grows else min(CELLS, len(self.counts) - 1 - last)) + 1)
        octaves = steps / max(self.parts, 1)
        top = np.maximum(self.counts[last] + scale * np.linspace(-2, 2, 5), 1.0)
        top, ratio, bend = (grid.reshape(-1, 1) for grid in np.meshgrid(top, RATIOS, BENDS[grows], indexing="ij"))
        people = top * np.where(octaves > 0, ratio**octaves, 1.0) * bend ** np.maximum(octaves * (octaves - 1) / 2, 0.0)
        observed = np.append(self.counts, np.zeros(len(steps)))[last : last + len(steps)]
        distance = (observed - people) / scale
        fit = -(distance**2) / 2 if isinstance(self.noise, Gaussian) else -np.abs(distance)
        log_weights = fit.sum(axis=1) + self._prior(ratio, bend).ravel()
        weights = np.exp(log_weights - log_weights.max()) * np.where(ratio.ravel() == 0, ENDS_HERE[grows], 1.0)
        return weights / weights.sum(), np.where(people < NOBODY, 0.0, people)

    def _prior(self, ratio: Floats, bend: Floats) -> Floats:
        """Return the logarithm of the prior weight: while counts fall, the next ratio is close to the previous one."""
        here, before, earlier = (self._octave(back) for back in range(3))
        seen = self.threshold / 4
        if before <= seen or here >= before:
            return np.zeros(np.broadcast_shapes(ratio.shape, bend.shape))
        fall = here / before
        width = PERSISTENCE + 1.5 * self.noise.size / max(here, 1e-300)
        distance = (np.log(np.maximum(ratio, 1e-5)) - np.log(fall * bend)) / width
        prior = np.log(np.exp(-(distance**2) / 2) + SURPRISE)
        if self.parts and earlier > seen:
            usual = min(max(fall * earlier / before, BENDS[True][0]), 1.0)
            prior = prior - (np.log(bend / usual) / width) ** 2 / 2
        return np.asarray(prior)

    def _octave(self, back: int) -> float:
        """Return the people in an octave (or equal cell), counted backwards from the last occupied one."""
        size, end = max(self.parts, 1), (self.last or 0) + 1 - back * max(self.parts, 1)
        return float(self.counts[max(end - size, 0) : end].sum()) if end > 0 else 0.0

    def _excess(self, edges: Floats, index: int) -> Floats:
        """Return the mean excess of a value in a cell over each edge; values are taken as (log-)uniform."""
        low, high = self._edge(index), self._edge(index + 1)
        inside = np.clip(edges, low, high)
        if self.parts:
            partly = (high - inside - inside * np.log(high / inside)) / math.log(high / low)
            mean = (high - low) / math.log(high / low)
        else:
            partly, mean = (high - inside) ** 2 / (2 * (high - low)), (low + high) / 2
        return np.maximum(np.where(edges <= low, mean - edges, partly), 0.0)

    def _edge(self, index: int) -> float:
        last = len(self.edges) - 1
        beyond = max(index - last, 0)
        return float(self.edges[min(index, last)]) * (2.0 ** (beyond / self.parts) if self.parts else 1.0)
