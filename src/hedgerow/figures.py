"""Numbers as text for people, and as JSON for programs."""

import math
from collections.abc import Mapping, Sequence


def percent(fraction: float) -> str:
    """Format a share: never 0 % for a positive share, and never 100 % for less than all."""
    if 0 < fraction < 0.0001:
        return "<0.01 %"
    if 0.9999 < fraction < 1:
        return ">99.99 %"
    return f"{fraction:.2%}".replace("%", " %")


def figure(number: float) -> str:
    """Format a number with three significant digits, or all digits before the point."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def finite(value: object) -> object:
    """Return `value` with null for infinity and NaN, which JSON does not have."""
    if isinstance(value, Mapping):
        return {str(name): finite(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
