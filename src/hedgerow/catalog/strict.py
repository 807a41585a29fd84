"""Single values, read strictly: a boolean is no number, text is no number, a number is finite."""

import math
import re
from collections.abc import Mapping, Sequence

from hedgerow.catalog import codes
from hedgerow.catalog.entry import Entry, is_storable
from hedgerow.catalog.names import closest, fold
from hedgerow.expressions import zones

SMALLEST = 1e-300
"""Smaller numbers lose digits, and nothing that is meant is that small."""

_EXPONENT = re.compile(r"\+?([0-9]{1,30})[eE]\+?([0-9]{1,2})")


def flag(entry: Entry) -> bool:
    """True or false."""
    value = entry.scalar()
    if isinstance(value, bool):
        return value
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and true or false is expected.",
        code=codes.BOOLEAN,
        hint="Write `true` or `false`: in YAML 1.2 `yes`, `no`, `on` and `off` are words.",
    )


def text(entry: Entry) -> str:
    """A name. A number is taken as it is written: `version: 1.10` is the text `1.10`."""
    value = entry.scalar()
    words = "" if value is None or isinstance(value, bool) else str(entry.node.value)
    if words.strip() and is_storable(words):
        return words
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and a name is expected.",
        code=codes.TEXT,
        hint='Write the name, in quotes if it looks like something else: "true".',
    )


def timezone(entry: Entry) -> str:
    """A time zone of the IANA database."""
    name = text(entry)
    if zones.exists(name):
        return name
    guess = closest(name, zones.names())
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and that is no time zone that Python knows on this computer.",
        code=codes.TIMEZONE,
        hint=(f"Did you mean `{guess}`? " if guess else "")
        + "Write a name of the IANA database, such as Europe/Berlin or UTC; the package `tzdata` brings all of them.",
    )


def choice(entry: Entry, words: Sequence[str], meant: Mapping[str, str] | None = None) -> str:
    """One of `words`; `meant` says what other words probably stand for."""
    found = str(entry.scalar())
    if found in words:
        return found
    guess = (meant or {}).get(fold(found)) or closest(found, words)
    listing = " or ".join(f"`{word}`" for word in words)
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and {listing} is expected.",
        code=codes.CHOICE,
        hint=f"Write `{entry.name}: {guess or words[0]}`.",
    )


def number(entry: Entry) -> int | float:
    """A finite number, written as one."""
    value = entry.scalar()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise entry.error(
            f"`{entry.name}` is {entry.written}, and a number is expected.",
            code=codes.NUMBER,
            hint="Write digits without quotes or separators, such as 1000, 0.5 or 1e-6.",
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise entry.error(
            f"`{entry.name}` is {entry.written}, which is not a finite number.",
            code=codes.NUMBER,
            hint="Write a finite number: what has no limit cannot be protected.",
        )
    return value


def within(entry: Entry, lowest: float, highest: float) -> float:
    """A number from `lowest` to `highest`."""
    value = number(entry)
    if lowest <= value <= highest:
        return float(value)
    raise entry.error(
        f"`{entry.name}` is {entry.written}, which is outside of {lowest:g} to {highest:g}.",
        code=codes.NUMBER,
        hint="Write a number in that range.",
    )


def fraction(entry: Entry) -> float:
    """A number above 0 and below 1."""
    value = number(entry)
    if SMALLEST <= value < 1:
        return float(value)
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and a number above 0 and below 1 is expected.",
        code=codes.NUMBER,
        hint="Write a number such as 1e-6 (for a delta) or 0.95 (for a confidence).",
    )


def integer(entry: Entry, lowest: int, highest: int) -> int:
    """A whole number from `lowest` to `highest`. `1e9` is one; `10.0` is not, for a point says otherwise."""
    found = number(entry)
    value = found if isinstance(found, int) else _with_exponent(str(entry.node.value))
    if value is not None and lowest <= value <= highest:
        return value
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and a whole number from {lowest} to {highest:g} is expected.",
        code=codes.NUMBER,
        hint="Write it without a decimal point." if value is None else "Write a number in that range.",
    )


def _with_exponent(written: str) -> int | None:
    match = _EXPONENT.fullmatch(written)
    return int(match[1]) * 10 ** int(match[2]) if match else None
