"""Error bars as pure mathematics: from noisy values and the law of their noise to bounds. No data, no randomness."""

from hedgerow.error_bars.intervals import arithmetic
from hedgerow.error_bars.intervals.interval import Bounds
from hedgerow.error_bars.intervals.noise_sums import counted_half_width, half_width, tail
from hedgerow.error_bars.intervals.quotients import box_bounds, normal_quotient_bounds, quotient_bounds
from hedgerow.error_bars.intervals.selected_counts import selected_count_bounds

__all__ = [
    "Bounds",
    "arithmetic",
    "box_bounds",
    "counted_half_width",
    "half_width",
    "normal_quotient_bounds",
    "quotient_bounds",
    "selected_count_bounds",
    "tail",
]
