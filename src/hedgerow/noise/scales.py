"""Scales that the samplers accept."""

import math

from hedgerow.errors import InternalError

MAX_SCALE = 2.0**58
"""Above it a 64-bit integer might not hold a draw: at this scale, 32 standard deviations fit."""


def check_draw(scale: float, count: int) -> None:
    """Refuse a scale or a count for which no noise can be drawn."""
    if not (math.isfinite(scale) and 0 < scale <= MAX_SCALE):
        raise InternalError("A noise scale is not a number above 0 and up to 2^58. The grid of this release is wrong.")
    if count < 0:
        raise InternalError("A negative number of noise values was asked for.")
