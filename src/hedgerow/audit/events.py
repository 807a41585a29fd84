"""Events that are chosen on one half of the runs and counted on the other, and the lower bounds that follow.

The bounds are exact, at a stated confidence. An event is a set of outcomes that was fixed before these runs were made.
If it happens with probability p on one database and q on its neighbour, a statement that is (epsilon, delta)-DP has
p <= e^epsilon q + delta, and one that is mu-GDP (with a little pure epsilon and mass besides) has
Phi^-1((p - mass) e^-pure) <= Phi^-1(q) + mu. Both are solved for epsilon and for mu, with p at its lower and q at its
upper limit (Clopper and Pearson), so that each result is too large with probability at most twice the level of one
limit.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv, ndtri

from hedgerow.audit.record import Sample, Trait, lowest_bits
from hedgerow.distributions import Gaussian, Noise


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of an event: `likely` on the database where it is more likely, `rare` on the neighbour.

    Attributes:
        likely: Count on the one database.
        rare: Count on the other.
        runs: Number of runs on each.
    """

    likely: int
    rare: int
    runs: int


def least_chance(count: int, runs: int, level: float) -> float:
    """Return a lower limit of the probability of an event that fails with probability `level`.

    Example:
        >>> least_chance(0, 100, 0.01), round(least_chance(100, 100, 0.01), 4)
        (0.0, 0.955)
    """
    return float(betaincinv(count, runs - count + 1, level)) if count > 0 else 0.0


def greatest_chance(count: int, runs: int, level: float) -> float:
    """Return an upper limit of the probability of an event that fails with probability `level`.

    Example:
        >>> round(greatest_chance(0, 100, 0.01), 4)
        0.045
    """
    return float(betainccinv(count + 1, runs - count, level)) if count < runs else 1.0


def epsilon_bound(tally: Tally, delta: float, level: float) -> float:
    """Return a lower bound on epsilon at this delta, which fails with twice `level`; 0 if nothing is shown.

    Example:
        >>> round(epsilon_bound(Tally(500, 10, 1000), delta=0.0, level=1e-3), 2)
        2.93
    """
    lowest = least_chance(tally.likely, tally.runs, level) - delta
    return max(0.0, math.log(lowest / greatest_chance(tally.rare, tally.runs, level))) if lowest > 0.0 else 0.0


def mu_bound(tally: Tally, level: float, *, pure: float = 0.0, mass: float = 0.0) -> float:
    """Return a lower bound on mu, besides `pure` epsilon and `mass`, which fails with twice `level`.

    Example:
        >>> round(mu_bound(Tally(900, 100, 1000), level=1e-3), 2)
        2.23
    """
    lowest = (least_chance(tally.likely, tally.runs, level) - mass) * math.exp(-pure)
    highest = greatest_chance(tally.rare, tally.runs, level)
    return max(0.0, float(ndtri(lowest) - ndtri(highest))) if lowest > 0.0 and highest < 1.0 else 0.0


def furthest(runs: int, delta: float, level: float) -> float:
    """The largest epsilon that this many runs can show: of an event that always happens here, and never there."""
    return epsilon_bound(Tally(runs, 0, runs), delta, level)


def blur(runs: int, level: float) -> float:
    """Return the typical distance of a bound on mu below its true value, for this many runs.

    Example:
        >>> round(blur(1000, level=1e-3), 2)
        0.25
    """
    half = runs // 2
    return float(ndtri(greatest_chance(half, runs, level)) - ndtri(least_chance(half, runs, level)))


Floats = NDArray[np.float64]

BINS = 16
CLEAR = 1.5
"""Number of standard errors from which a difference of centres is considered real."""


Phrase = Callable[[float], str]
"""Phrases for a score at or beyond a threshold."""


@dataclass(frozen=True)
class AuditScore:
    """A number for each run, NaN if there is none; and phrases for the events that it is large or small."""

    of: Callable[[Floats], Floats]
    large: Phrase
    small: Phrase


def scores(without: Sample, joined: Sample) -> Iterator[AuditScore]:
    """Yield every score to try, learned from runs on both databases."""
    for i, trait in enumerate(without.traits):
        if trait.fact:
            yield AuditScore(_presence(i), _said(trait.words), _said(f"it is not so that {trait.words}"))
            continue
        yield AuditScore(
            _column(i), _said(f"{trait.words} is at least ", "{:.10g}"), _said(f"{trait.words} is at most ", "{:.10g}")
        )
        if trait.step is not None:
            yield _lowest_bit(i, trait)
        if trait.noise is None:
            yield _in_bins(i, trait, without.values[:, i], joined.values[:, i])
    yield _together(without, joined)


def _said(before: str, number: str = "", after: str = "") -> Phrase:
    """Return a phrase with a threshold; only `number` is a format field, so the phrase may contain anything."""
    return lambda threshold: f"{before}{number.format(threshold)}{after}"


def _lowest_bit(i: int, trait: Trait) -> AuditScore:
    """Return the score of a number's roundness: floating-point noise reveals by it what it was added to."""
    words = f"the lowest bit of {trait.words} is 2^"
    return AuditScore(
        lambda values: lowest_bits(values[:, i]),
        lambda threshold: f"{words}{math.ceil(threshold)} or above",
        lambda threshold: f"{words}{math.floor(threshold)} or below",
    )


def _column(i: int) -> Callable[[Floats], Floats]:
    return lambda values: values[:, i]


def _presence(i: int) -> Callable[[Floats], Floats]:
    return lambda values: np.isfinite(values[:, i]).astype(float)


def _in_bins(i: int, trait: Trait, without: Floats, joined: Floats) -> AuditScore:
    """Return the log ratio of a number's bin frequencies with and without the newcomer, learned from runs."""
    pooled = np.concatenate([without, joined])
    pooled = pooled[np.isfinite(pooled)]
    distinct = np.unique(pooled)
    edges = distinct[1:] if len(distinct) <= 2 * BINS else np.unique(np.quantile(pooled, np.arange(1, BINS) / BINS))
    ratio = _log_ratio(_binned(without, edges), _binned(joined, edges), len(edges) + 2)
    words = f"{trait.words} is among values that are e^", "{:.2f}"
    return AuditScore(
        lambda values: ratio[_binned(values[:, i], edges)],
        _said(*words, " times as frequent with the newcomer, or more"),
        _said(*words, " times as frequent with the newcomer, or less"),
    )


def _binned(values: Floats, edges: Floats) -> NDArray[np.intp]:
    """Return the number of the bin; the last is for missing numbers."""
    return np.where(np.isfinite(values), np.searchsorted(edges, values, side="right"), len(edges) + 1)


def _log_ratio(without: NDArray[np.intp], joined: NDArray[np.intp], size: int) -> Floats:
    counts = [np.bincount(places, minlength=size) + 0.5 for places in (without, joined)]
    return np.asarray(np.log(counts[1] / len(joined)) - np.log(counts[0] / len(without)))


def _together(without: Sample, joined: Sample) -> AuditScore:
    """Return the likelihood ratio of everything that was seen, with estimated centres and the noise that was paid for.

    Noise is independent from number to number, so the logarithms add up. A number whose centres do not clearly differ
    is left out.
    """
    parts = [
        part
        for i, trait in enumerate(without.traits)
        if (part := _part(i, trait, without.values[:, i], joined.values[:, i])) is not None
    ]

    def total(values: Floats) -> Floats:
        return np.asarray(sum((part(values) for part in parts), np.zeros(len(values))))

    words = "all numbers together are e^", "{:.2f}"
    return AuditScore(
        total,
        _said(*words, " times as likely with the newcomer, or more"),
        _said(*words, " times as likely with the newcomer, or less"),
    )


def _part(i: int, trait: Trait, without: Floats, joined: Floats) -> Callable[[Floats], Floats] | None:
    """Return the contribution of one column to the logarithm: of a fact by its presence, of a number by its value."""
    if trait.shown:
        return None
    present = [np.isfinite(numbers) for numbers in (without, joined)]
    if trait.fact:
        seen, missed = _smoothed_chances(present[0], present[1])
        return lambda values: np.where(np.isfinite(values[:, i]), seen, missed)
    move = _moved(trait.noise, without[present[0]], joined[present[1]])
    if move is None:
        return None
    return lambda values: np.where(np.isfinite(values[:, i]), move(np.nan_to_num(values[:, i])), 0.0)


def _smoothed_chances(without: NDArray[np.bool_], joined: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the log ratios of a number's presence, and of its absence, with and without the newcomer."""
    here, finite = without.sum() + 0.5, joined.sum() + 0.5
    gone, away = (~without).sum() + 0.5, (~joined).sum() + 0.5
    scale = np.log(len(without) / len(joined))
    return float(np.log(finite / here) + scale), float(np.log(away / gone) + scale)


def _moved(noise: Noise | None, without: Floats, joined: Floats) -> Callable[[Floats], Floats] | None:
    """Return the log likelihood ratio of one number, if the two centres clearly differ."""
    if noise is None or min(len(without), len(joined)) < 10:
        return None
    first, second = float(np.median(without)), float(np.median(joined))
    error = 2.0 * noise.size * np.sqrt(1.0 / len(without) + 1.0 / len(joined))
    if abs(second - first) < CLEAR * error:
        return None
    if isinstance(noise, Gaussian):
        return lambda values: (second - first) * (values - (first + second) / 2) / noise.size**2
    return lambda values: (np.abs(values - first) - np.abs(values - second)) / noise.size


Worth = Callable[[Floats, Floats], Floats]
"""Function from conservative estimates of an event's two probabilities to the bound that it would show."""

STEPS, WIDEST = 60, 5


@dataclass(frozen=True)
class AuditEvent:
    """A score at or beyond a threshold. `with_newcomer` says on which database it is more likely."""

    score: AuditScore
    threshold: float
    large: bool
    with_newcomer: bool

    @property
    def words(self) -> str:
        """Description of the event."""
        return (self.score.large if self.large else self.score.small)(self.threshold)

    def tally(self, without: Sample, joined: Sample) -> Tally:
        """Return the counts of the event in runs by which it was not chosen."""
        counts = [self._count(without), self._count(joined)]
        likely, rare = reversed(counts) if self.with_newcomer else counts
        return Tally(likely, rare, len(without))

    def _count(self, sample: Sample) -> int:
        scores = self.score.of(sample.values)
        return int(np.sum(scores >= self.threshold if self.large else scores <= self.threshold))


def choose(without: Sample, joined: Sample, worth: Worth, margin: float = 3.0) -> AuditEvent | None:
    """Return the event that shows the most, by conservative estimates; None if there is nothing to see.

    `margin` is the number of standard errors by which estimates are lowered: as many as the final judgement takes off,
    so that neither luck nor a rare event is chosen that would show little in the end.

    Scores are learned from one half of these runs and compared on the other; otherwise overfitted scores would look
    best.
    """
    half = len(without) // 2
    learnt = list(scores(without.part(0, half), joined.part(0, half)))
    without, joined = without.part(half, len(without)), joined.part(half, len(joined))
    best, event = -np.inf, None
    for score in learnt:
        for candidate, value in _candidates(score, without, joined, worth, margin):
            if value > best:
                best, event = value, candidate
    return event


def _candidates(
    score: AuditScore, without: Sample, joined: Sample, worth: Worth, margin: float
) -> Iterator[tuple[AuditEvent, float]]:
    """Yield the best threshold for each side and each direction."""
    first, second = score.of(without.values), score.of(joined.values)
    thresholds = _thresholds(np.concatenate([first, second]))
    if not len(thresholds):
        return
    for large in (True, False):
        chances = [_chances(side, thresholds, large=large) for side in (first, second)]
        for with_newcomer in (True, False):
            likely, rare = reversed(chances) if with_newcomer else chances
            values = worth(_wilson(likely, len(first), -margin), _wilson(rare, len(first), margin))
            index = int(np.argmax(values))
            yield AuditEvent(score, float(thresholds[index]), large, with_newcomer), float(values[index])


def _thresholds(pooled: Floats) -> Floats:
    """Return points between the values that occur: evenly by rank, and in the middle of the widest gaps."""
    finite = np.unique(pooled[np.isfinite(pooled)])
    if len(finite) < 2:
        return finite
    between = finite[:-1] + np.diff(finite) / 2
    even = between[np.linspace(0, len(between) - 1, min(STEPS, len(between))).astype(int)]
    return np.unique(np.concatenate([even, between[np.argsort(np.diff(finite))[-WIDEST:]]]))


def _chances(scores: Floats, thresholds: Floats, *, large: bool) -> Floats:
    """Return the frequency of a score at or beyond each threshold; 0 for missing scores."""
    ordered = np.sort(scores[~np.isnan(scores)])
    if large:
        return np.asarray((len(ordered) - np.searchsorted(ordered, thresholds, side="left")) / len(scores))
    return np.asarray(np.searchsorted(ordered, thresholds, side="right") / len(scores))


def _wilson(share: Floats, runs: int, errors: float) -> Floats:
    """Return a share, moved by this many standard errors (Wilson's interval)."""
    square = errors * errors / runs
    middle = (share + square / 2) / (1 + square)
    width = np.abs(errors) / (1 + square) * np.sqrt(share * (1 - share) / runs + square / (4 * runs))
    return np.asarray(np.clip(middle + np.sign(errors) * width, 0.0, 1.0))


def worth_of_epsilon(delta: float) -> Worth:
    """Return the epsilon that the event would show at this delta."""
    return lambda likely, rare: np.log(np.maximum(likely - delta, 1e-300)) - np.log(np.maximum(rare, 1e-300))


def worth_of_mu(likely: Floats, rare: Floats) -> Floats:
    """Return the mu that the event would show."""
    return np.asarray(ndtri(np.maximum(likely, 1e-300)) - ndtri(np.maximum(rare, 1e-300)))
