"""Values as JSON can hold them, and numbers as people read them."""

import math
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

from hedgerow.error_bars.intervals.interval import Interval, Reason

LONGEST = 200
"""Maximum number of characters of a text shown to people; programs get all of them."""

MOST_PLACES = 12
"""Numbers that need more decimals are written with an exponent."""


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON is anything
    """Dates as ISO text, decimals as numbers, time spans and bytes as text, values without a JSON form as null."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return plain(float(value))
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def number(value: object) -> float | None:
    """Return the value as a finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    as_float = float(value)
    return as_float if math.isfinite(as_float) else None


def shown(value: object, interval: Interval | None) -> str:
    """Return a value as text: with an interval, `value ± error`, with no more digits than the error allows.

    A number without an interval, such as a year that groups are made by, has no separators between thousands.
    An asymmetric interval is written out, and an open end is a round bracket. Whole numbers (counts, ranks, quantiles
    of whole numbers) have no decimals; their errors are rounded up, and their intervals outwards.

    Example:
        >>> shown(1234, Interval(1204, 1264))
        '1,234 ± 30'
        >>> shown(-5, Interval(0, 15)), shown(7.25, Interval(3, float("inf"))), shown(7.25, Interval())
        ('-5 [0, 15]', '7.2 [3.0, ∞)', '7.250 ± ∞')
        >>> shown(-0.3, Interval(-30, 58)), shown(-0.01, Interval(-1.01, 0.99))
        ('0 [-30, 58]', '0.0 ± 1.0')
        >>> shown(1 / 3, Interval(1 / 3, 1 / 3)), shown(52.5, Interval(52.5, 52.5))
        ('0.333333 ± 0', '52.5 ± 0')
        >>> shown(1234, Interval(1230.6, 1237.4)), shown(3, Interval(1.2, 3.1)), shown(10.0, Interval(9, 10))
        ('1,234 ± 4', '3 [1, 4]', '10 [9, 10]')
        >>> shown(1984, None), shown(1250.5, None)
        ('1984', '1250.5')
    """
    if value is None:
        return missing(interval)
    centre = number(value)
    if interval is None or centre is None:
        return _bare(value).replace(",", "") if centre is not None else _bare(value)
    arms = [arm for arm in (centre - interval.lower, interval.upper - centre) if math.isfinite(arm)]
    if not arms:
        return f"{_bare(value) if isinstance(value, int) else _digits(centre, abs(centre) / 100)} ± ∞"
    error = max(arms) if max(arms) > 0 or len(arms) == 2 else abs(centre) / 100
    is_symmetric = len(arms) == 2 and (min(arms) > 0.8 * error or error == 0)
    if error < 10 and (isinstance(value, int) or _is_whole(centre, interval)):
        interval, error = rounded_outwards(interval), float(math.ceil(error))
        bounds = f"± {error:.0f}" if is_symmetric else ends(interval, max(error, 10.0))
        return f"{centre:,.0f} {bounds}"
    if is_symmetric:
        return f"{_digits(centre, error)} ± {_digits(error, error)}"
    return f"{_digits(centre, error)} {ends(interval, error)}"


def _is_whole(centre: float, interval: Interval) -> bool:
    ends = (end for end in (interval.lower, interval.upper) if math.isfinite(end))
    return centre.is_integer() and all(float(end).is_integer() for end in ends)


def rounded_outwards(interval: Interval) -> Interval:
    """Return the interval with whole ends, at most one wider on each side.

    Example:
        >>> rounded_outwards(Interval(1230.6, 1237.4)).lower, rounded_outwards(Interval(1230.6, 1237.4)).upper
        (1230.0, 1238.0)
    """
    lower = math.floor(interval.lower) if math.isfinite(interval.lower) else interval.lower
    upper = math.ceil(interval.upper) if math.isfinite(interval.upper) else interval.upper
    return replace(interval, lower=float(lower), upper=float(upper))


def ends(interval: Interval, error: float) -> str:
    """Return the interval as text, to the digits that `error` allows; a round bracket marks an open end."""
    lower = f"[{_digits(interval.lower, error)}" if math.isfinite(interval.lower) else "(-∞"
    upper = f"{_digits(interval.upper, error)}]" if math.isfinite(interval.upper) else "∞)"
    return f"{lower}, {upper}"


def missing(interval: Interval | None) -> str:
    """Return the text for a missing value."""
    return "held back" if interval is not None and interval.reason is Reason.HELD_BACK else "NULL"


def on_one_line(text: str) -> str:
    """Return text on one line, shortened, without control characters, which could control a terminal."""
    clean = "".join(letter if letter.isprintable() else " " for letter in text[: LONGEST + 1])
    return clean if len(text) <= LONGEST else f"{clean[: LONGEST - 1]}…"


def _bare(value: object) -> str:
    if isinstance(value, float):
        return _full(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return value.isoformat() if isinstance(value, date | time) else on_one_line(str(value))


def _full(number: float) -> str:
    """Return at least six significant digits, the whole part and up to four decimals."""
    if not math.isfinite(number):
        return f"{number}"
    whole = len(f"{abs(number):.0f}")
    return f"{number:,.{max(6, min(whole + 4, 16))}g}"


def _digits(number: float, error: float) -> str:
    """Round so that the error keeps two digits; print in full where there is no error."""
    if error <= 0:
        return _full(number)
    places = 1 - math.floor(math.log10(error))
    if places > MOST_PLACES:
        return f"{number:.3g}"
    return f"{round(number, places) + 0.0:,.{max(places, 0)}f}"  # the sum has no minus zero
