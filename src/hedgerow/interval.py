"""An error bar."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the exact answer over the bounded data lies, at the stated confidence.

    Either end may be infinite. `note` says how the interval was made where that is not plain (for
    instance `approximate`), why nothing can be said, or that a value was held back.
    """

    lower: float = -math.inf
    upper: float = math.inf
    note: str | None = None
