"""Checks of arguments: single numbers, or NumPy arrays that broadcast.

The functions with singular names take one number and may quote it in errors; the plural ones also take arrays and quote
nothing.
"""

import sys
from collections.abc import Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.errors import ParameterError

Floats = NDArray[np.float64]
Number = float | Floats
"""Result of a formula: a float for single numbers, an array where any argument was one."""

Mechanism = Literal["laplace", "gaussian", "analytic"]
MECHANISMS: tuple[Mechanism, ...] = ("laplace", "gaussian", "analytic")

SMALLEST = sys.float_info.min
"""Smallest float that keeps all its digits; one divided by a smaller number may be infinite."""

Choice = TypeVar("Choice", bound=str)


def reals(name: str, value: ArrayLike) -> Floats:
    """Return `value` as floats, if all of it is finite numbers, no booleans."""
    try:
        given = np.asarray(value)
    except ValueError:
        given = np.asarray(None)
    if given.dtype.kind not in "iuf" or not np.all(np.isfinite(given)):
        raise ParameterError(f"{name} must be a finite number, or an array of them.", code="parameter-number")
    return given.astype(np.float64)


def positives(name: str, value: ArrayLike) -> Floats:
    """Return `value` as floats above zero, none of them so small that one divided by it overflows."""
    if np.any((numbers := reals(name, value)) <= 0.0):
        raise ParameterError(f"{name} must be above 0.", code="parameter-positive")
    if np.any(numbers < SMALLEST):
        raise ParameterError(f"{name} must be at least {SMALLEST:.2g}.", code="parameter-positive")
    return numbers


def non_negatives(name: str, value: ArrayLike) -> Floats:
    """Return `value` as floats that are zero or above."""
    if np.any((numbers := reals(name, value)) < 0.0):
        raise ParameterError(f"{name} must not be below 0.", code="parameter-negative")
    return numbers


def probabilities(name: str, value: ArrayLike) -> Floats:
    """Return `value` as floats strictly between 0 and 1."""
    numbers = reals(name, value)
    if np.any((numbers <= 0.0) | (numbers >= 1.0)):
        raise ParameterError(f"{name} must lie between 0 and 1.", code="parameter-probability")
    return numbers


def ranges(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    """Return the ends of the range of values that are added up."""
    low, high = reals("lower", lower), reals("upper", upper)
    if np.any(low > high) or np.any((low == 0.0) & (high == 0.0)):
        raise ParameterError(
            "lower must not be above upper, and they must not both be 0.",
            code="parameter-range",
            hint="They are the smallest and the largest value that a row can add to the sum.",
        )
    return low, high


def budgets(name: str, epsilon: ArrayLike, delta: ArrayLike, mechanism: Mechanism) -> tuple[Floats, Floats]:
    """Return epsilon and delta as floats, if the mechanism admits them."""
    if mechanism == "laplace":
        epsilons, deltas = positives(name, epsilon), reals("delta", delta)
        if np.any(deltas != 0.0):
            raise ParameterError(
                "Laplace noise has no delta, so delta must be 0.",
                code="parameter-delta",
                hint='Leave it out, or choose mechanism="analytic".',
            )
        return epsilons, deltas
    deltas = probabilities("delta", delta)
    if mechanism == "analytic":
        return non_negatives(name, epsilon), deltas
    epsilons = positives(name, epsilon)
    if np.any(epsilons >= 1.0):
        raise ParameterError(
            f"{name} must be below 1: the classic Gaussian mechanism is proved private only there.",
            code="parameter-classic",
            hint="Use the analytic one: it is private for every epsilon, with less noise.",
        )
    return epsilons, deltas


def chosen(name: str, value: Choice, choices: Sequence[Choice]) -> Choice:
    """Return `value`, if it is one of `choices`."""
    if value not in choices:
        listed = ", ".join(f'"{choice}"' for choice in choices)
        raise ParameterError(f"{name} must be one of {listed}.", code="parameter-choice")
    return value


def pair(name: str, value: object) -> tuple[ArrayLike, ArrayLike]:
    """Return `value` as a pair, for the numerator and the denominator."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ParameterError(
            f"{name} must be a pair: one for the numerator, one for the denominator.", code="parameter-pair"
        )
    return value[0], value[1]


def plain(value: ArrayLike) -> Number:
    """Return a float for a single number, the array otherwise."""
    numbers = np.asarray(value, dtype=np.float64)
    return float(numbers) if numbers.ndim == 0 else numbers


def real(name: str, value: object) -> float:
    """Return `value` as a float, if it is one finite number and not a boolean; NumPy's numbers are numbers."""
    number = python_number(value)
    # an integer may be too large for a float
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not abs(number) <= sys.float_info.max:
        raise ParameterError(f"{name} must be a finite number, not {value!r}.", code="parameter-number")
    return float(number)


def python_number(value: object) -> object:
    """Return the Python number in a NumPy scalar or an array without axes; anything else is unchanged."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


def positive(name: str, value: object) -> float:
    """Return `value` as a float above zero, not so small that one divided by it overflows."""
    if (number := real(name, value)) <= 0.0:
        raise ParameterError(f"{name} must be above 0, not {value!r}.", code="parameter-positive")
    if number < SMALLEST:
        raise ParameterError(f"{name} must be at least {SMALLEST:.2g}, not {value!r}.", code="parameter-positive")
    return number


def non_negative(name: str, value: object) -> float:
    """Return `value` as a float that is zero or above."""
    if (number := real(name, value)) < 0.0:
        raise ParameterError(f"{name} must not be below 0, as {value!r} is.", code="parameter-negative")
    return number


def probability(name: str, value: object) -> float:
    """Return `value` as a float strictly between 0 and 1."""
    if not 0.0 < (number := real(name, value)) < 1.0:
        raise ParameterError(f"{name} must lie between 0 and 1, not {value!r}.", code="parameter-probability")
    return number


def whole(name: str, value: object, *, minimum: int = 1) -> int:
    """Return `value` as an integer of at least `minimum`; NumPy's integers are integers."""
    number = python_number(value)
    if isinstance(number, bool) or not isinstance(number, int) or number < minimum:
        raise ParameterError(
            f"{name} must be a whole number of at least {minimum}, not {value!r}.", code="parameter-whole"
        )
    return number
