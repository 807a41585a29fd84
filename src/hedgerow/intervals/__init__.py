"""Error bars as pure mathematics: noisy values and the law of their noise in, bounds out. No data, no randomness."""

from hedgerow.intervals import arithmetic
from hedgerow.intervals.bounds import Bounds
from hedgerow.intervals.linear import half_width, tail
from hedgerow.intervals.quotient import normal_quotient_bounds, quotient_bounds
from hedgerow.intervals.selected import selected_count_bounds

__all__ = [
    "Bounds",
    "arithmetic",
    "half_width",
    "normal_quotient_bounds",
    "quotient_bounds",
    "selected_count_bounds",
    "tail",
]
