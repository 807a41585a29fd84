"""What tells two databases apart, in one number for each run: learnt on some runs, used on others."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.audit.lattice import lowest_bits
from hedgerow.audit.record import Sample, Trait
from hedgerow.distributions import Gaussian, Noise

Floats = NDArray[np.float64]

BINS = 16
CLEAR = 1.5
"""From so many standard errors on, a difference of centres is taken for one."""


Phrase = Callable[[float], str]
"""What happens where a score is at or beyond a threshold, in words."""


@dataclass(frozen=True)
class AuditScore:
    """A number for each run, NaN where there is none; and words for the events that it is large, and small."""

    of: Callable[[Floats], Floats]
    large: Phrase
    small: Phrase


def scores(without: Sample, joined: Sample) -> Iterator[AuditScore]:
    """Every score that is tried, learnt from runs on both databases."""
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
    """Words around a threshold; only `number` is a format, the words may hold anything."""
    return lambda threshold: f"{before}{number.format(threshold)}{after}"


def _lowest_bit(i: int, trait: Trait) -> AuditScore:
    """How round a number is: noise in floating point tells by it what it was added to."""
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
    """How much more often a number falls into its bin with the newcomer, by the runs that it was learnt from."""
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
    """The number of the bin; the last is for what is not there."""
    return np.where(np.isfinite(values), np.searchsorted(edges, values, side="right"), len(edges) + 1)


def _log_ratio(without: NDArray[np.intp], joined: NDArray[np.intp], size: int) -> Floats:
    counts = [np.bincount(places, minlength=size) + 0.5 for places in (without, joined)]
    return np.asarray(np.log(counts[1] / len(joined)) - np.log(counts[0] / len(without)))


def _together(without: Sample, joined: Sample) -> AuditScore:
    """The likelihood ratio of everything that was seen, with centres that are estimated and the noise that was paid.

    Noise is independent from number to number, so the logarithms add up. Where the centres do not clearly differ, a
    number says nothing and is left out.
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
    """What one column adds to the logarithm: a fact by being so, a number by where it is."""
    if trait.told:
        return None
    there = [np.isfinite(each) for each in (without, joined)]
    if trait.fact:
        seen, missed = _chances(there[0], there[1])
        return lambda values: np.where(np.isfinite(values[:, i]), seen, missed)
    move = _moved(trait.noise, without[there[0]], joined[there[1]])
    if move is None:
        return None
    return lambda values: np.where(np.isfinite(values[:, i]), move(np.nan_to_num(values[:, i])), 0.0)


def _chances(without: NDArray[np.bool_], joined: NDArray[np.bool_]) -> tuple[float, float]:
    """The logarithms of how much more often a number is there, and is not there, with the newcomer."""
    here, there = without.sum() + 0.5, joined.sum() + 0.5
    gone, away = (~without).sum() + 0.5, (~joined).sum() + 0.5
    scale = np.log(len(without) / len(joined))
    return float(np.log(there / here) + scale), float(np.log(away / gone) + scale)


def _moved(noise: Noise | None, without: Floats, joined: Floats) -> Callable[[Floats], Floats] | None:
    """The log likelihood ratio of one number, if the two centres clearly differ."""
    if noise is None or min(len(without), len(joined)) < 10:
        return None
    first, second = float(np.median(without)), float(np.median(joined))
    size = noise.sigma if isinstance(noise, Gaussian) else noise.scale
    error = 2.0 * size * np.sqrt(1.0 / len(without) + 1.0 / len(joined))
    if abs(second - first) < CLEAR * error:
        return None
    if isinstance(noise, Gaussian):
        return lambda values: (second - first) * (values - (first + second) / 2) / size**2
    return lambda values: (np.abs(values - first) - np.abs(values - second)) / size
