"""Equality with a tolerance that follows from the noise, and a check that there is noise at all."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Integral, Real

import numpy as np

from hedgerow.answer import Answer
from hedgerow.arguments import chosen, non_negative, real, reals
from hedgerow.error_bars.intervals.interval import Interval, IntervalKind
from hedgerow.errors import ConditionNotMet
from hedgerow.testing.laws import Described, Source, described
from hedgerow.testing.tolerance import k_of, partitions

FLAKINESS = 1e-9
"""Default probability that an assertion fails although nothing is wrong."""

ROUNDED = 1.001
"""Floating-point error of 1 - confidence: less than this for every confidence that can be stated."""


class ApproxPrivate(ABC):
    """Object that equals a noisy number if its noise explains the distance from `expected`."""

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    """Makes NumPy leave the comparison with its numbers to us."""

    def __init__(self, expected: float, flakiness: float) -> None:
        self.expected = expected
        self.flakiness = flakiness

    def __eq__(self, other: object) -> bool:
        if isinstance(other, bool) or not isinstance(other, Real | Decimal):
            return NotImplemented
        return self._agrees(other)

    def __repr__(self) -> str:
        return f"{self.expected:.10g} {self._words()} (flakiness {self.flakiness:g})"

    @abstractmethod
    def _agrees(self, noisy: Real | Decimal) -> bool:
        """True if noise explains the distance between `noisy` and the expected number."""

    @abstractmethod
    def _words(self) -> str:
        """Return the tolerance as text."""


class _WithinTolerance(ApproxPrivate):
    """Tolerance by the noise that a receipt names."""

    def __init__(self, expected: float, flakiness: float, noise: Described, k: float) -> None:
        super().__init__(expected, flakiness)
        self._noise = noise
        self._k = k

    def _agrees(self, noisy: Real | Decimal) -> bool:
        distance = abs(float(noisy) - self.expected)
        if isinstance(noisy, Integral) and not self.expected.is_integer():
            return distance <= self._noise.tolerance(self._k, 0.0) + 0.5
        return distance <= self._noise.tolerance(self._k, self._noise.grid([noisy], self.expected))

    def _words(self) -> str:
        return f"± {self._noise.tolerance(self._k, 0.0):.6g}"


class _WithinInterval(ApproxPrivate):
    """Tolerance by the error bars of an answer, which miss the exact value with probability `flakiness`."""

    def __init__(self, expected: float, flakiness: float, bars: Sequence[tuple[object, Interval]], column: str) -> None:
        super().__init__(expected, flakiness)
        self._bars = bars
        self._column = column

    def _agrees(self, noisy: Real | Decimal) -> bool:
        return any(
            _usable(bar, self._column) and bar.lower <= self.expected <= bar.upper
            for value, bar in self._bars
            if value == noisy
        )

    def _words(self) -> str:
        shown = [f"{value} in [{bar.lower:.10g}, {bar.upper:.10g}]" for value, bar in self._bars[:3]]
        more = ", …" if len(self._bars) > len(shown) else ""
        return f"within the error bar of {self._column!r}: {', '.join(shown)}{more}"


def approx_private(
    expected: float,
    source: Source | Answer,
    flakiness: float = FLAKINESS,
    *,
    measure: str | None = None,
    column: str | None = None,
    cells: int = 1,
) -> ApproxPrivate:
    """Return a value that equals a noisy number unless its noise is larger than in one of 1 / `flakiness` runs.

    With a receipt (or a noise) it works for a number that is one measure, such as a COUNT or a SUM on its own. With an
    answer it works for every number: the error bars must be asked for with confidence 1 - `flakiness`.

    Args:
        expected: The exact number, over data within its bounds.
        source: The receipt of the answer, one of its mechanisms, `Gaussian(sigma)` or `Laplace(scale)`, or the answer.
        flakiness: Probability that the comparison fails although nothing is wrong.
        measure: The measure of the receipt, if there are several.
        column: The column of the answer, if several are noisy.
        cells: Number of such comparisons that share the flakiness.

    Example:
        >>> from hedgerow import Gaussian
        >>> 1010 == approx_private(1000, Gaussian(10.0)), 1100 == approx_private(1000, Gaussian(10.0))
        (True, False)
        >>> approx_private(1000, Gaussian(10.0), flakiness=1e-6)
        1000 ± 48.9164 (flakiness 1e-06)
    """
    exact = real("expected", expected)
    k = float(partitions(k_of(flakiness), cells))
    if not isinstance(source, Answer):
        return _WithinTolerance(exact, flakiness, described(source, exact, measure), k)
    if 1.0 - source.confidence > flakiness / cells * ROUNDED:
        raise ConditionNotMet(
            f"The error bars of this answer hold with confidence {source.confidence:.12g}.",
            condition="confidence of at least 1 - flakiness",
            hint=f"Ask with confidence=1 - {flakiness / cells:g}. It is free where the same was asked before.",
        )
    name = chosen("column", source.noisy[0] if column is None and len(source.noisy) == 1 else str(column), source.noisy)
    bars = [(value, row[name]) for value, row in zip(source[name], source.intervals, strict=True) if name in row]
    return _WithinInterval(exact, flakiness, bars, name)


def _usable(bar: Interval, column: str) -> bool:
    """Refuse error bars that promise nothing: a comparison with them could not fail, or would fail too often."""
    if bar.kind in {IntervalKind.NONE, IntervalKind.APPROXIMATE} or math.isnan(bar.lower) or math.isnan(bar.upper):
        raise ConditionNotMet(
            f"The error bar of {column!r} is approximate or open, so no flakiness follows from it.",
            condition="an exact or conservative error bar",
            hint="Test the numbers that it is computed from, or use more people.",
        )
    return True


def assert_noisy(
    values: float | Iterable[float],
    expected: float,
    source: Source | float,
    flakiness: float = FLAKINESS,
    *,
    measure: str | None = None,
) -> None:
    """Fail if every number is closer to the exact one than noise nearly always is.

    Several numbers, each with noise of its own, must not *all* be that close; that allows a wider tolerance, and is the
    way to test counts: a single count is often right by chance.

    Args:
        values: A noisy number, or several of the same exact one, from answers that were paid for one by one.
        expected: The exact number.
        source: The receipt, one of its mechanisms, `Gaussian(sigma)` or `Laplace(scale)`; or a complementary tolerance,
            such as that of `tolerance.complementary_mean`.
        flakiness: Probability that the assertion fails although nothing is wrong.
        measure: The measure of the receipt, if there are several.

    Example:
        >>> from hedgerow import Gaussian
        >>> assert_noisy([1000, 993, 1004, 1011, 998, 1000], 1000, Gaussian(50.0))
        >>> assert_noisy(1000.3, 1000.3, Gaussian(50.0))
        Traceback (most recent call last):
        AssertionError: 1000.3 is within 6.26657e-08 of 1000.3: there is no noise in it (flakiness 1e-09).
    """
    numbers = list(values) if isinstance(values, Iterable) else [values]
    if not numbers:
        raise AssertionError("There are no numbers to test.")
    exact = real("expected", expected)
    distances = np.abs(reals("values", numbers) - exact)
    k = k_of(flakiness) / len(numbers)
    if isinstance(source, int | float):
        tolerance = non_negative("source", source)
    else:
        law = described(source, exact, measure)
        tolerance = law.complementary(k, law.grid(numbers, exact))
    if np.all(distances <= tolerance):
        shown = repr(numbers[0]) if len(numbers) == 1 else f"Each of {len(numbers)} numbers"
        raise AssertionError(
            f"{shown} is within {tolerance:g} of {exact:.10g}: there is no noise in it (flakiness {flakiness:g})."
        )
