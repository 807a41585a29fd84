"""The checks that every pure function makes on the numbers it is given."""

import math

from hedgerow.errors import ParameterError


def real(name: str, value: object) -> float:
    """`value` as a float, if it is a finite number and not a boolean."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ParameterError(f"{name} must be a finite number, not {value!r}.", code="parameter-number")
    return float(value)


def positive(name: str, value: object) -> float:
    """`value` as a float above zero."""
    if (number := real(name, value)) <= 0.0:
        raise ParameterError(f"{name} must be above 0, not {value!r}.", code="parameter-positive")
    return number


def non_negative(name: str, value: object) -> float:
    """`value` as a float that is zero or above."""
    if (number := real(name, value)) < 0.0:
        raise ParameterError(f"{name} must not be below 0, as {value!r} is.", code="parameter-negative")
    return number


def probability(name: str, value: object) -> float:
    """`value` as a float strictly between 0 and 1."""
    if not 0.0 < (number := real(name, value)) < 1.0:
        raise ParameterError(f"{name} must lie between 0 and 1, not {value!r}.", code="parameter-probability")
    return number


def whole(name: str, value: object, *, least: int = 1) -> int:
    """`value`, if it is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(
            f"{name} must be a whole number of at least {least}, not {value!r}.", code="parameter-whole"
        )
    return value
