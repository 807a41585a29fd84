"""What a ratio statistic says: a value, an interval, a p-value, and how they were made."""

from dataclasses import dataclass

from hedgerow.arguments import Number
from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.interval import Interval


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """A relative risk, odds ratio or risk difference; for arrays of counts, arrays of them.

    Attributes:
        value: The point estimate from the noisy counts; nan where there is none.
        interval: Where the statistic of the population lies, at the stated confidence.
        p_value: How likely counts as different as these are where there is no difference, noise included.
        method: How interval and p-value were made.
    """

    value: Number
    interval: Interval | Bounds
    p_value: Number
    method: str
