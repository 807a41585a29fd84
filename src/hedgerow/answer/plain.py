"""Values as JSON can hold them, and numbers as people read them."""

import math
from datetime import date, time
from decimal import Decimal
from typing import Any

from hedgerow.interval import Interval


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON is anything
    """Dates as ISO text, decimals as numbers, what JSON cannot hold as null."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def shown(value: object, interval: Interval | None) -> str:
    """A value as text: with an interval, `value ± error`, with no more digits than the error allows."""
    if value is None:
        return "held back" if interval is not None else "NULL"
    if interval is None or isinstance(value, bool | str) or not isinstance(value, int | float | Decimal):
        return _bare(value)
    number = float(value)
    below, above = number - interval.lower, interval.upper - number
    if not math.isfinite(max(below, above)):
        return f"{_digits(number, abs(number) / 100)} ± ∞"
    error = max(below, above)
    if min(below, above) > 0.8 * error or error == 0:
        return f"{_digits(number, error)} ± {_digits(error, error)}"
    return f"{_digits(number, error)} [{_digits(interval.lower, error)}, {_digits(interval.upper, error)}]"


def _bare(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _digits(number: float, error: float) -> str:
    """Rounded so that the error keeps two digits."""
    places = 0 if error <= 0 else 1 - math.floor(math.log10(error))
    if places <= 0:
        return f"{round(number, places):,.0f}"
    return f"{number:,.{min(places, 12)}f}"
