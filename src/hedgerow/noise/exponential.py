"""The exponential mechanism: one choice out of many, with weights length * exp(-rate * score), drawn exactly."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from hedgerow.errors import InternalError
from hedgerow.noise import source
from hedgerow.noise.ball_precision import ball_precision

Whole = NDArray[Any]
"""Whole numbers: 64-bit ones, or Python's own in an array of objects."""
Floats = NDArray[np.float64]

BLOCK = 1 << 17
"""Number of cells that are weighed at once, so that they stay in the processor's cache."""
FARTHEST = 700.0
PIECES = 64
WORD = 64
CLOSE = 2.0**-40
"""Bound on the relative error of a float weight; `_weights` has the proof."""
LEFT_OUT = 2.0**-900
"""Upper bound on the sum of all weights beyond `FARTHEST`: below 2^93 lengths times exp(-699)."""

_LN_2 = Fraction("0.693147180559945309417232121458176568075500134360255254120680009")
_UPPER_PART = math.floor(_LN_2 / PIECES * 2**42) / 2.0**42
_LOWER_PART = float(_LN_2 / PIECES - Fraction(_UPPER_PART))
_PIECES_PER_UNIT = float(PIECES / _LN_2)
_SERIES = [(-1) ** n / math.factorial(n) for n in range(7)]


def choose(scores: ArrayLike, lengths: ArrayLike, rate: Fraction) -> int:
    """Draw an index i with probability proportional to lengths[i] * exp(-rate * scores[i]), exactly.

    Args:
        scores: Whole numbers.
        lengths: Public whole numbers; a choice of length 0 is none.
        rate: Above 0.

    Privacy: if a unit moves every score by at most s, the loss ln P(i) / P'(i) has a range of at most 2 s rate over i,
    so the choice is (2 s rate)-bounded range. The law is exact: see `choose_many`.

    Example:
        >>> choose([0, 10_000], [1, 1], Fraction(1))
        0
    """
    return int(choose_many([np.asarray(scores)], lengths, rate)[0])


def choose_many(
    scores: Whole | Sequence[Whole], lengths: ArrayLike, rates: Fraction | Sequence[Fraction]
) -> NDArray[np.int64]:
    """Draw one independent `choose` for each row of `scores`.

    With W(i) the cumulative sum of the exact weights up to i, the draw is the i for which W(i - 1) <= u W(last) < W(i),
    with u uniform on [0, 1). 64 bits place u in an interval. The sums are computed in floats; the only assumption is
    that IEEE additions and products are correct to half a unit in the last place, and both sides are widened by a bound
    on their error. If both inequalities hold after widening, i is the choice of the exact weights for *every* u in the
    interval. If not, about once in 10^8 draws, `_settle` compares in ball arithmetic and draws further bits of u until
    it is certain. So the law is that of the exact weights (docs/proofs/quantiles.md).

    Args:
        scores: Whole numbers below 2^62, or Python's own in an array of objects: one row per draw.
        lengths: Public whole numbers below 2^63, the same for all rows or one row each; 0 excludes a choice.
        rates: One for all rows, or one for each.

    Example:
        >>> choose_many(np.array([[0, 9_999], [9_999, 0]]), [1, 1], Fraction(1)).tolist()
        [0, 1]
    """
    table = np.asarray(scores)
    row_rates = [rates] * len(table) if isinstance(rates, Fraction) else list(rates)
    sizes = np.broadcast_to(np.asarray(lengths), table.shape)
    _check(table, sizes, row_rates)
    drawn = np.empty(len(table), dtype=np.int64)
    rows = max(1, BLOCK // max(1, table.shape[1]))
    for start in range(0, len(table), rows):
        part = slice(start, start + rows)
        drawn[part] = _draw(table[part], sizes[part], row_rates[part], source.words(len(table[part])))
    return drawn


def uniform_below(limits: Sequence[int]) -> list[int]:
    """Draw one independent whole number for each limit, uniform from 0 to the limit, which is excluded.

    Example:
        >>> uniform_below([1, 1])
        [0, 0]
    """
    return [_below(limit) for limit in limits]


def _below(limit: int) -> int:
    size = (limit - 1).bit_length()
    while (drawn := source.bits(size) if size else 0) >= limit:
        pass
    return drawn


def _check(scores: Whole, lengths: Whole, rates: list[Fraction]) -> None:
    """Refuse input without a law. Shapes, lengths and rates are public, so this reveals nothing about scores."""
    if scores.ndim != 2 or len(rates) != len(scores):
        raise InternalError("Choices need one row of scores and one rate for each draw.")
    if scores.dtype.kind not in "iuO" or lengths.dtype.kind not in "iuO":
        raise InternalError("Choices need whole numbers for scores and lengths.")
    if not all(isinstance(rate, Fraction) and Fraction(1, 2**900) < rate < 2**900 for rate in rates):
        raise InternalError("A choice needs an exact rate above 0.")
    if np.any(lengths < 0) or np.any(lengths >= 2**63) or not np.all(np.any(lengths > 0, axis=1)):
        raise InternalError("A choice needs lengths that are not negative, and one that is not 0.")


def _draw(scores: Whole, lengths: Whole, rates: list[Fraction], words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return one choice for each row, from the 64 bits of each word, and from further bits if these do not decide."""
    distances = _distances(scores, lengths)
    picked, certain = _decide(_sums(distances, lengths, rates), words)
    for i in np.flatnonzero(~certain):
        picked[i] = _settle(distances[i].tolist(), lengths[i].tolist(), rates[i], int(words[i]))
    return picked


def _distances(scores: Whole, lengths: Whole) -> Whole:
    """Return scores minus the minimum of their row, exactly; a common factor of the weights does not change the law."""
    if not np.all(lengths):
        highest = np.max(scores, axis=1, keepdims=True)
        scores = np.where(lengths > 0, scores, highest)
    return np.asarray(scores - np.min(scores, axis=1, keepdims=True))


def _sums(distances: Whole, lengths: Whole, rates: list[Fraction]) -> Floats:
    """Return the cumulative sums of the weights of each row, in floats."""
    steps = np.array([float(rate) for rate in rates])[:, None]
    with np.errstate(over="ignore"):
        weights = _weights(distances.astype(np.float64) * steps)
    weights *= lengths.astype(np.float64)
    return np.asarray(np.cumsum(weights, axis=1))


def _weights(distances: Floats) -> Floats:
    """exp(-distance) within a relative 2^-41 up to `FARTHEST`, and 0 beyond.

    A distance is a product of two rounded factors, so it is off by at most 3.01 u relatively (u = 2^-53), which
    is 2^-41.9 at 700; that is also the relative error of the weight. With n = round(64 distance / ln 2) the rest is
    below 0.006: n is below 2^16 and the upper part of ln 2 / 64 has 36 bits, so their product is exact. What is left
    out of the series is below 10^-19; each further operation adds u. Powers of two are exact, far from underflow.
    """
    near = np.minimum(distances, FARTHEST)
    pieces = np.rint(near * _PIECES_PER_UNIT)
    rest = (near - pieces * _UPPER_PART) - pieces * _LOWER_PART
    series = np.full_like(rest, _SERIES[-1])
    for coefficient in _SERIES[-2::-1]:
        series *= rest
        series += coefficient
    steps = pieces.astype(np.int32)
    series *= _ROOTS[steps % PIECES]
    return np.asarray(np.where(distances <= FARTHEST, np.ldexp(series, -(steps // PIECES)), 0.0))


def _root(piece: int) -> float:
    """2^(-piece / 64), to half a unit in the last place: six square roots of a whole number, rounded down each."""
    power = 2 ** (PIECES * 120 - piece)
    for _ in range(6):
        power = math.isqrt(power)
    return float(Fraction(power, 2**120))


_ROOTS = np.array([_root(piece) for piece in range(PIECES)])


def _decide(sums: Floats, words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the choice by the float sums, and whether the exact sums certainly give the same.

    `slack` bounds the relative error of a weight times its length and of adding up: each of fewer than m additions of
    numbers that are not negative adds u. The few operations here are covered by doubling it.
    """
    slack = CLOSE + (sums.shape[1] + 8) * 2.0**-52
    share, total = words.astype(np.float64) * 2.0**-WORD, sums[:, -1]
    picked = np.minimum(np.count_nonzero(sums <= (share * total)[:, None], axis=1), sums.shape[1] - 1)
    rows = np.arange(len(sums))
    previous = np.where(picked > 0, sums[rows, picked - 1] * (1 + 2 * slack) + LEFT_OUT, 0.0)
    lowest = share * total * (1 - 4 * slack)
    highest = (share + 2.0**-WORD) * total * (1 + 4 * slack)
    certain = (previous <= lowest) & (highest <= sums[rows, picked] * (1 - 2 * slack))
    return picked.astype(np.int64), certain


def _settle(distances: list[int], lengths: list[int], rate: Fraction, head: int, length: int = WORD) -> int:
    """Return the choice for a u in [head, head + 1) / 2^length; further bits are drawn until it is certain."""
    while True:
        with ball_precision(length + 2 * WORD):
            index = _position(_balls(distances, lengths, rate), head, length)
        if index is not None:
            return index
        head, length = (head << WORD) | source.bits(WORD), length + WORD


def _balls(distances: list[int], lengths: list[int], rate: Fraction) -> list[arb]:
    """Return the cumulative sums as balls that contain the exact ones."""
    total, sums = arb(0), []
    for distance, size in zip(distances, lengths, strict=True):
        total += size * (-arb(fmpq(distance * rate.numerator, rate.denominator))).exp()
        sums.append(total)
    return sums


def _position(sums: list[arb], head: int, length: int) -> int | None:
    """Return the choice, if it is the same for every u of the interval and all exact sums in their balls."""
    unit = sums[-1] / arb(2) ** length
    low, high = head * unit, (head + 1) * unit
    for i, upto in enumerate(sums):
        if high <= upto:
            return i if i == 0 or sums[i - 1] <= low else None
    return None
