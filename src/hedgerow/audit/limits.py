"""What decides how many people a group needs, and how much of one person counts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.distributions import Gaussian, Noise
from hedgerow.privacy.plan import PrivatePlan

FEW = 3
"""People in a group that no threshold is in the way of."""


@dataclass(frozen=True)
class CrowdLimits:
    """What decides how a crowd must look, taken from the priced plans of the statement: the widest of each.

    Attributes:
        rows: As how many rows one person may count, in all and in one group.
        groups: In how many groups one person may help to show.
        several: Whether a person may have several rows at all.
        minimum: Nobody is shown in a group of fewer; 1 is no rule.
        shown: A group of so many people is shown as good as always; None where no group is held back.
        threshold: A group of about so many people is shown every other time.
    """

    rows: int
    groups: int
    several: bool
    minimum: int
    shown: int | None
    threshold: int | None

    @classmethod
    def of(cls, plans: Sequence[PrivatePlan]) -> "CrowdLimits":
        """The limits of a statement."""
        tests = [plan.selection for plan in plans if plan.selection is not None]
        reaches = [float(test.threshold) + _reach(test.noise) for test in tests]
        return cls(
            max(plan.bounding.rows for plan in plans),
            max(plan.bounding.groups for plan in plans),
            any(plan.bounding.weighted for plan in plans),
            max(plan.minimum for plan in plans),
            math.ceil(max(reaches)) + 1 if tests else None,
            math.ceil(max(float(test.threshold) for test in tests)) if tests else None,
        )

    @property
    def settled(self) -> int:
        """How many people make a group that is always shown."""
        return FEW if self.shown is None else self.shown


def _reach(noise: Noise) -> float:
    """Noise below minus this is rare: once in a thousand times, or less."""
    return 4 * noise.sigma if isinstance(noise, Gaussian) else 7 * noise.scale
