"""That a number has noise in it at all."""

from collections.abc import Iterable, Sequence

import numpy as np

from hedgerow.arguments import non_negatives, reals
from hedgerow.testing.approx import FLAKINESS
from hedgerow.testing.described import Source, described
from hedgerow.testing.flakiness import k_of


def assert_noisy(
    values: float | Iterable[float],
    expected: float,
    source: Source | float,
    flakiness: float = FLAKINESS,
    *,
    measure: str | None = None,
) -> None:
    """Fail if no number is farther from the exact one than noise nearly always is.

    Several numbers, each with noise of its own, must not *all* be that near; that allows for a wider tolerance,
    and is the way to test counts: a count on its own is often right by chance.

    Args:
        values: A noisy number, or several of the same exact one, from answers that were paid for one by one.
        expected: The exact number.
        source: The receipt, one of its mechanisms, `Gaussian(sigma)` or `Laplace(scale)`; or a complementary
            tolerance, such as `tolerance.complementary_mean` gives.
        flakiness: How often the assertion fails where nothing is wrong.
        measure: Which of the receipt's measures the number is, where there are several.

    Example:
        >>> from hedgerow import Gaussian
        >>> assert_noisy([1000, 993, 1004, 1011, 998, 1000], 1000, Gaussian(50.0))
        >>> assert_noisy(1000.3, 1000.3, Gaussian(50.0))
        Traceback (most recent call last):
        AssertionError: 1000.3 is within 6.26657e-08 of 1000.3: there is no noise in it (flakiness 1e-09).
    """
    numbers = list(values) if isinstance(values, Iterable) else [values]
    if not numbers:
        raise AssertionError("There are no numbers, so there is no noise in them.")
    exact = float(reals("expected", expected))
    distances = np.abs(reals("values", numbers) - exact)
    tolerance = _tolerance(numbers, exact, source, k_of(flakiness) / len(numbers), measure)
    if np.all(distances <= tolerance):
        shown = repr(numbers[0]) if len(numbers) == 1 else f"Each of {len(numbers)} numbers"
        raise AssertionError(
            f"{shown} is within {tolerance:g} of {exact:.10g}: there is no noise in it (flakiness {flakiness:g})."
        )


def _tolerance(
    numbers: Sequence[float], expected: float, source: Source | float, k: float, measure: str | None
) -> float:
    if isinstance(source, int | float):
        return float(non_negatives("source", source))
    found = described(source, expected, measure)
    return found.complementary(k, found.grid(numbers, expected))
