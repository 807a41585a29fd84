"""What the first two modes of the tuner say."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.arguments import Number

Budget = Number | tuple[Number, Number]
"""One epsilon; for a quotient that of the sum above and that of the sum below."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """How many rows it takes, and how much of the budget each sum needs.

    `min_count` is the number of rows from which the noisy count is likely (with probability 1 - beta) to be precise
    enough. `epsilon_sum` is a pair for quotients. `delta_sum` and `beta_sum` are those of each sum.
    """

    min_count: int | NDArray[np.int64]
    epsilon_sum: Budget
    delta_sum: Number
    beta_sum: Number
