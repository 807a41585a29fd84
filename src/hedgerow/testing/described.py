"""Which noise is in a number, by its receipt, one of the receipt's mechanisms, or a description."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import SupportsFloat

from hedgerow.answer import Mechanism, Summary
from hedgerow.arguments import chosen
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.testing import complementary, noise

Source = Summary | Mechanism | Noise


@dataclass(frozen=True, slots=True)
class Described:
    """A noise, and how much likelier anything is with it, because the number was shown at all.

    A count that selected its own group is seen where it reached a threshold. From an exact count of that much on it
    is seen half of the time or more, which makes everything twice as likely at most: one more log10(2) in k.
    """

    noise: Noise
    more: float = 0.0

    def tolerance(self, k: float, grid: float) -> float:
        """What the noise exceeds with probability 10^-k; on a grid, in whole steps of it."""
        if isinstance(self.noise, Gaussian):
            found = float(noise.gaussian(self.noise.sigma, k + self.more))
        else:
            found = float(noise.laplace(self.noise.scale, 1.0, k + self.more))
        return grid * float(noise.integer(found / grid)) if grid else found

    def complementary(self, k: float, grid: float) -> float:
        """What the noise falls short of with probability 10^-k."""
        if isinstance(self.noise, Gaussian):
            return float(complementary.complementary_gaussian(self.noise.sigma, k + self.more, step=grid))
        return float(complementary.complementary_laplace(self.noise.scale, 1.0, k + self.more, step=grid))

    def grid(self, numbers: Sequence[SupportsFloat], expected: float) -> float:
        """The grid that noisy numbers are on; 0 where it is too fine to matter.

        A receipt does not say it. Whole numbers around a whole one are on the grid of whole numbers: they were rounded
        to it, as counts are, or the noise lives there, as that of a sum of whole numbers may.
        """
        rounded = all(isinstance(number, Integral) for number in numbers)
        if isinstance(self.noise, Laplace) and self.noise.step:
            return max(self.noise.step, 1.0) if rounded else self.noise.step
        whole = expected.is_integer() and all(float(number).is_integer() for number in numbers)
        return 1.0 if rounded or whole else 0.0


def described(source: Source, expected: float, measure: str | None = None) -> Described:
    """The noise that `source` describes, of the number whose exact value is `expected`."""
    if isinstance(source, Gaussian | Laplace):
        return Described(source)
    if isinstance(source, Summary):
        source = _mechanism(source, measure)
    if not isinstance(source, Mechanism):
        raise ParameterError(
            "The noise must be that of a receipt, a mechanism of one, or Gaussian(sigma) or Laplace(scale).",
            code="parameter-choice",
        )
    return Described(noise_of(source), _seen(source, expected))


def noise_of(mechanism: Mechanism) -> Noise:
    """The noise of one measure."""
    if mechanism.kind == "gaussian":
        return Gaussian(mechanism.scale)
    if mechanism.kind == "laplace":
        return Laplace(mechanism.scale)
    raise ConditionNotMet(
        f"{mechanism.measure!r} was drawn by the {mechanism.kind} mechanism: its error is one of rank, not of value.",
        condition="noise that is added",
        hint="Hand in the answer, asked for with a confidence as high as the flakiness is low.",
    )


def _mechanism(receipt: Summary, measure: str | None) -> Mechanism:
    """The measure of that name; without one, the only measure there is beside the count that selects groups."""
    found = {each.measure: each for each in receipt.mechanisms}
    if not found:
        raise ConditionNotMet(
            "The receipt names no noise: public data is exact.", condition="noise", hint="Compare with ==."
        )
    if measure is not None:
        return found[chosen("measure", measure, tuple(found))]
    measures = [each for each in receipt.mechanisms if each.threshold is None] or list(receipt.mechanisms)
    if len(measures) > 1:
        listed = ", ".join(repr(each.measure) for each in measures)
        raise ConditionNotMet(
            f"The receipt names several measures: {listed}.",
            condition="one measure",
            hint="Say measure=, where the number is one of them. Where it is made of several, hand in the answer.",
        )
    return measures[0]


def _seen(mechanism: Mechanism, expected: float) -> float:
    if mechanism.threshold is None:
        return 0.0
    if expected < mechanism.threshold:
        raise ConditionNotMet(
            "The group is shown only because its noise came out large, so nothing can be said about that noise.",
            condition="expected reaches the threshold of the receipt",
            hint="Test with a larger group, or hand in the answer.",
        )
    return math.log10(2.0)
