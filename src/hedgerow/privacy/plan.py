"""The priced plan: everything that follows from query, catalog and budget, and nothing from data."""

from dataclasses import dataclass
from fractions import Fraction

from hedgerow.budget import Charge
from hedgerow.plan.nodes import Release
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.keys import Keys
from hedgerow.privacy.sums import Coordinate, ExactSum, Selection

Terms = tuple[tuple[int, float], ...]
"""A linear form: coordinates by position, with coefficients in the analyst's units."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the numbers of one aggregate are made from coordinates. See `aggregates.base.Measured`."""

    count: Terms = ()
    total: Terms = ()
    centred: Terms = ()
    middle: float = 0.0
    half: float = 1.0
    from_selection: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """What a statement may cost as a guarantee of its own, and with which noise."""

    epsilon: float
    delta: float | None
    mechanism: str = "auto"


@dataclass(frozen=True, slots=True)
class Room:
    """The caps of the ledger and what is left of them: public numbers that steer, and never decide, admission."""

    gaussian_cap: Fraction
    pure_cap: Fraction
    mass_cap: Fraction
    pure_left: Fraction


@dataclass(frozen=True, slots=True)
class PrivatePlan:
    """Bounds, exact sums, noise, key rule, charge."""

    release: Release
    bounding: Bounding
    keys: Keys
    minimum: int
    mechanism: str
    weight_bits: int
    sums: tuple[ExactSum, ...]
    coordinates: tuple[Coordinate, ...]
    selection: Selection | None
    recipes: tuple[Recipe, ...]
    charge: Charge
