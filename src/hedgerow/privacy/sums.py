"""The integer sums that the database computes, and the noisy sums that are released of them."""

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from hedgerow.distributions import Noise
from hedgerow.expressions.nodes import Expr
from hedgerow.privacy.grid import Grid


class SumKind(Enum):
    """Amount one row (or one owner, for UNITS) adds."""

    UNITS = "units"
    ROWS = "rows"
    VALUES = "values"
    PRODUCTS = "products"


@dataclass(frozen=True, slots=True)
class ExactSum:
    """One integer sum: over owners, over rows, of the grid integers of a value, or of their products with `other`'s.

    A row counts where `filter` holds and `value` is not NULL (None: always there).
    """

    kind: SumKind
    value: Expr | None = None
    filter: Expr | None = None
    grid: Grid | None = None
    other: Expr | None = None
    other_grid: Grid | None = None

    @property
    def reach(self) -> int:
        """How far one row can move the sum."""
        return math.prod(grid.reach for grid in (self.grid, self.other_grid) if grid is not None)


@dataclass(frozen=True, slots=True)
class NoisySum:
    """One released number: an integer combination of exact sums, plus noise.

    Attributes:
        label: What it is, in words, for receipts.
        combination: The exact sums it is made of, by position, with integer factors.
        denominator: The combination divided by this has size at most 1 for each row.
        noise: The noise after that division: what error bars are made from.
        scale: The same noise as the sampler draws it, on integers.
        shift: The exact integer is multiplied by 2^shift before the noise is added.
        sensitivity: What one unit can change it by, all groups together, after the division
            (l2 for Gaussian noise, l1 for Laplace), as a float to show.
        unit: What one row of size 1 means to the analyst, to show noise and sensitivity in.
    """

    label: str
    combination: tuple[tuple[int, int], ...]
    denominator: int
    noise: Noise
    scale: float
    shift: int
    sensitivity: float
    unit: float = 1.0


@dataclass(frozen=True, slots=True)
class Selection:
    """The noisy test of key selection: a key is shown if its noisy count of units reaches `threshold`.

    Counts are whole; noise is drawn on integers with `scale` after multiplying by 2^shift.
    """

    noise: Noise
    scale: float
    shift: int
    threshold: Fraction
    minimum: int
    mass: Fraction
