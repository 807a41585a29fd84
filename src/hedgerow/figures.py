"""Numbers in text for people: shares and figures."""


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
