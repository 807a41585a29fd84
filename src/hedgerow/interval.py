"""An error bar."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the exact answer over the bounded data lies, at the stated confidence.

    Either end may be infinite. `note` says how the interval was made where that is not plain (for
    instance `approximate`), why nothing can be said, or that a value was held back.

    Statistics that compare groups of people also say something about the population these were drawn from:
    `population` is where the statistic lies there (sampling and noise together), and `p_value` how likely groups as
    different as these are where there is no difference.
    """

    lower: float = -math.inf
    upper: float = math.inf
    note: str | None = None
    population: tuple[float, float] | None = None
    p_value: float | None = None
