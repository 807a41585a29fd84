"""The ends of the set of values that are not rejected, for all groups at once."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.arguments import Floats
from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.bounds import OUTSIDE, ZERO_DENOMINATOR
from hedgerow.statistics.two_by_two.curves import FARTHEST
from hedgerow.statistics.two_by_two.score import Score

Flags = NDArray[np.bool_]
POINTS = 33
ZOOMS = 8
BLOCK = 256
STEPS: Floats = np.linspace(0.0, 1.0, POINTS)


def accepted_bounds(score: Score, beta: float) -> Bounds:
    """The hull of the values with a p-value of at least `beta`.

    Looked for on the bounded scale of the curve, outwards from the point estimate: 33 places on either side, then 33
    between the outermost accepted one and its neighbour, and so on, down to 2^-40 of the scale. What is reported is
    the rejected side. Where everything is rejected, the point nearest to the noisy counts is shown, with a note.
    """
    groups = len(score.x.count)
    blocks = [_block(score.of(slice(start, start + BLOCK)), beta) for start in range(0, groups, BLOCK)]
    lower, upper = (np.concatenate([getattr(block, end) for block in blocks] or [np.zeros(0)]) for end in _ENDS)
    return Bounds(lower, upper, [status for block in blocks for status in block.statuses])


def _block(score: Score, beta: float) -> Bounds:
    """The same for so many groups that all their places fit into the processor's cache."""
    middle = _middle(score)
    many = score.of(_SPREAD)
    inner, outer = np.stack([middle, middle]), np.stack([np.zeros_like(middle), np.ones_like(middle)])
    found = np.zeros(middle.shape, dtype=bool)
    for _ in range(ZOOMS):
        places = inner[..., None] + (outer - inner)[..., None] * STEPS
        accepted = many.p_value(score.curve.at(places)) >= beta
        found |= accepted.any(axis=(0, 2))
        inner, outer = _outermost(places, accepted)
    return _reported(score, np.where(found, outer, middle), found)


_ENDS = ("lower", "upper")
_SPREAD = (None, slice(None), None)
"""The arms of each group against two directions and many places."""


def _middle(score: Score) -> Floats:
    """The place of the point estimate; of the nearest possible value where a noisy rate is impossible."""
    x, y = score.x.rate, score.y.rate
    lost = (x <= 0) & (y <= 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(lost, score.curve.null, score.curve.value(np.clip(x, 0.0, 1.0), np.clip(y, 0.0, 1.0)))
    return score.curve.place(np.where(np.isnan(value), score.curve.null, value))


def _outermost(places: Floats, accepted: Flags) -> tuple[Floats, Floats]:
    """The last accepted place on the way out (or the first place), and the one after it."""
    reverse = np.argmax(accepted[..., ::-1], axis=-1)
    last = np.where(accepted.any(axis=-1), POINTS - 1 - reverse, 0)
    pair = np.stack([last, np.minimum(last + 1, POINTS - 1)], axis=-1)
    taken = np.take_along_axis(places, pair, axis=-1)
    return taken[..., 0], taken[..., 1]


def _reported(score: Score, places: Floats, found: Flags) -> Bounds:
    lower, upper = score.curve.at(places)
    upper = np.where(upper >= FARTHEST, np.inf, upper)
    lower = np.where(np.isinf(upper) & ~found, score.curve.lowest, lower)
    return Bounds.of(lower, upper).marked(np.isinf(upper), ZERO_DENOMINATOR).marked(~found, OUTSIDE)
