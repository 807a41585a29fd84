"""Integer sums that the database computes, and the noisy sums that are released."""

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from hedgerow.distributions import Noise
from hedgerow.expressions.nodes import Expr
from hedgerow.privacy.precision import Grid


class SumKind(Enum):
    """Contribution of one row (of one owner, for UNITS)."""

    UNITS = "units"
    ROWS = "rows"
    VALUES = "values"
    PRODUCTS = "products"


@dataclass(frozen=True, slots=True)
class ExactSum:
    """One integer sum: over owners, over rows, of the grid integers of a value, or of their products with `other`'s.

    A row counts where `filter` holds and `value` is not NULL; where they are None, every row counts.
    """

    kind: SumKind
    value: Expr | None = None
    filter: Expr | None = None
    grid: Grid | None = None
    other: Expr | None = None
    other_grid: Grid | None = None

    @property
    def reach(self) -> int:
        """Largest change of the sum by one row."""
        return math.prod(grid.reach for grid in (self.grid, self.other_grid) if grid is not None)


@dataclass(frozen=True, slots=True)
class NoisySum:
    """One released number: an integer combination of exact sums, plus noise.

    Attributes:
        label: Description for receipts.
        combination: Indices of the exact sums, with integer factors.
        denominator: Divisor after which each row contributes at most 1 in absolute value.
        noise: The noise after that division; error bars are computed from it.
        scale: Scale of the same noise as the sampler draws it, on integers.
        shift: The exact integer is multiplied by 2^shift before the noise is added.
        sensitivity: Largest change by one unit over all groups, after the division (l2 norm for Gaussian noise, l1
            for Laplace), as a float for display.
        unit: Size, in the analyst's units, of a contribution of 1; noise and sensitivity are displayed in it.
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
class LevelSums:
    """The noisy sums of one level of totals, one for each of the groups' own; `keys` are the positions of its keys."""

    keys: tuple[int, ...]
    noisy_sums: tuple[NoisySum, ...]


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
