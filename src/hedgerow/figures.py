"""Numbers as text for people, and as JSON for programs."""

import math
from collections.abc import Mapping, Sequence


def percent(fraction: float) -> str:
    """Format a share: never 0 % for a positive share, never 100 % for less than all, no figure beyond ten times all."""
    if 0 < fraction < 0.0001:
        return "<0.01 %"
    if 0.9999 < fraction < 1:
        return ">99.99 %"
    if fraction > 10:  # a price that does not fit: how often it exceeds the budget does not matter
        return ">1,000 %"
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


WIDTH = 30


def text_bar(fraction: float, width: int = WIDTH) -> str:
    """Return a bar that is full at 1. Every positive value is visible, and only a full one looks full.

    Example:
        >>> text_bar(0.25, 8), text_bar(0.999, 8), text_bar(1e-9, 8)
        ('██░░░░░░', '███████░', '█░░░░░░░')
    """
    part = min(max(fraction, 0.0), 1.0)
    filled = 0 if part == 0 else min(max(1, int(part * width)), width if part == 1 else width - 1)
    return "█" * filled + "░" * (width - filled)
