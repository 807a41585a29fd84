"""The least epsilon at which something holds that a larger epsilon only makes better."""

import math
from collections.abc import Callable

PRECISION = 1.002
STEP = 1.0003
MOST_STEPS = 80


def cheapest(excess: Callable[[float], float], least: float, most: float) -> float | None:
    """The least epsilon from `least` to `most`, to 0.2 %, where `excess` is at most 1; None where there is none.

    `excess` is about inversely proportional to epsilon: so one step from any epsilon nearly hits the cheapest. The
    epsilon returned has been tried, so the promise does not rest on that.
    """
    low, high, over = least, most, excess(most)
    if over > 1:
        return None
    for _ in range(MOST_STEPS):
        if high <= low * PRECISION:
            break
        guess = _guess(low, high, over)
        found = excess(guess)
        if found <= 1:
            high, over = guess, found
        else:
            low = guess
    return high


def _guess(low: float, high: float, over: float) -> float:
    near = high * over * STEP
    near = min(high / PRECISION, near)
    return near if low * STEP < near else math.sqrt(low * high)
