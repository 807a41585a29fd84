"""Choosing an event on one half of the runs, and counting it on the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from hedgerow.audit.bounds import Tally
from hedgerow.audit.record import Sample
from hedgerow.audit.scores import AuditScore, scores

Floats = NDArray[np.float64]
Worth = Callable[[Floats, Floats], Floats]
"""How much an event would show, from careful estimates of its two chances."""

STEPS, WIDEST = 60, 5


@dataclass(frozen=True)
class AuditEvent:
    """A score at or beyond a threshold. `with_newcomer` says on which database it is the more likely one."""

    score: AuditScore
    threshold: float
    large: bool
    with_newcomer: bool

    @property
    def words(self) -> str:
        """What happens."""
        return (self.score.large if self.large else self.score.small)(self.threshold)

    def tally(self, without: Sample, joined: Sample) -> Tally:
        """How often it happened in runs that it was not chosen by."""
        counts = [self._count(without), self._count(joined)]
        likely, rare = reversed(counts) if self.with_newcomer else counts
        return Tally(likely, rare, len(without))

    def _count(self, sample: Sample) -> int:
        found = self.score.of(sample.values)
        return int(np.sum(found >= self.threshold if self.large else found <= self.threshold))


def choose(without: Sample, joined: Sample, worth: Worth, careful: float = 3.0) -> AuditEvent | None:
    """The event that shows the most, by estimates on the careful side; None where there is nothing to see.

    `careful` is by how many standard errors chances are taken to be worse than they look: as many as those who judge
    will take off, so that neither luck nor a rare event is chosen that would show little in the end.

    Scores are learnt from one half of these runs and compared on the other, or those that learn the most by heart
    would look the best.
    """
    half = len(without) // 2
    learnt = list(scores(without.part(0, half), joined.part(0, half)))
    without, joined = without.part(half, len(without)), joined.part(half, len(joined))
    best, event = -np.inf, None
    for score in learnt:
        for found, value in _candidates(score, without, joined, worth, careful):
            if value > best:
                best, event = value, found
    return event


def _candidates(
    score: AuditScore, without: Sample, joined: Sample, worth: Worth, careful: float
) -> Iterator[tuple[AuditEvent, float]]:
    """For each side of the threshold and each direction, the best threshold."""
    first, second = score.of(without.values), score.of(joined.values)
    thresholds = _thresholds(np.concatenate([first, second]))
    if not len(thresholds):
        return
    for large in (True, False):
        chances = [_chances(each, thresholds, large=large) for each in (first, second)]
        for with_newcomer in (True, False):
            likely, rare = reversed(chances) if with_newcomer else chances
            values = worth(_wilson(likely, len(first), -careful), _wilson(rare, len(first), careful))
            place = int(np.argmax(values))
            yield AuditEvent(score, float(thresholds[place]), large, with_newcomer), float(values[place])


def _thresholds(pooled: Floats) -> Floats:
    """Places between the values that occur: evenly by rank, and in the middle of the widest gaps."""
    there = np.unique(pooled[np.isfinite(pooled)])
    if len(there) < 2:
        return there
    between = there[:-1] + np.diff(there) / 2
    even = between[np.linspace(0, len(between) - 1, min(STEPS, len(between))).astype(int)]
    return np.unique(np.concatenate([even, between[np.argsort(np.diff(there))[-WIDEST:]]]))


def _chances(found: Floats, thresholds: Floats, *, large: bool) -> Floats:
    """How often the score is at or beyond each threshold; never where there is none."""
    ordered = np.sort(found[~np.isnan(found)])
    if large:
        return np.asarray((len(ordered) - np.searchsorted(ordered, thresholds, side="left")) / len(found))
    return np.asarray(np.searchsorted(ordered, thresholds, side="right") / len(found))


def _wilson(share: Floats, runs: int, errors: float) -> Floats:
    """A share, moved by so many standard errors (Wilson's interval)."""
    square = errors * errors / runs
    middle = (share + square / 2) / (1 + square)
    width = np.abs(errors) / (1 + square) * np.sqrt(share * (1 - share) / runs + square / (4 * runs))
    return np.asarray(np.clip(middle + np.sign(errors) * width, 0.0, 1.0))


def worth_of_epsilon(delta: float) -> Worth:
    """How large an epsilon the event would show at this delta."""
    return lambda likely, rare: np.log(np.maximum(likely - delta, 1e-300)) - np.log(np.maximum(rare, 1e-300))


def worth_of_mu(likely: Floats, rare: Floats) -> Floats:
    """How large a mu the event would show."""
    return np.asarray(ndtri(np.maximum(likely, 1e-300)) - ndtri(np.maximum(rare, 1e-300)))
