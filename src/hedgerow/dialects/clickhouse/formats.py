"""Dates written and read by a format. The format is a constant of a checked list of directives (`plan.formats`)."""

import re
from collections.abc import Mapping, Sequence

from hedgerow.dialects.clickhouse.numbers import half_away
from hedgerow.dialects.clickhouse.reading import SPACE, number
from hedgerow.dialects.clickhouse.spelling import Writer, let, quoted
from hedgerow.dialects.clickhouse.timestamps import DAY, MICRO, made_date, moment, timestamp
from hedgerow.dialects.clickhouse.timestamps import DAY_OF_YEAR as YEAR_DAY
from hedgerow.expressions.nodes import Call, Literal

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PIECE = re.compile(r"%(-?.)|([ \t\n\v\f\r]+)|([^%\s]+)", re.DOTALL)
SPACES = SPACE.replace("*", "+")
DAY_OF_YEAR = YEAR_DAY.format(d="d")


def _named(names: Sequence[str], place: str) -> str:
    listed = ", ".join(quoted(name) for name in names)
    return f"[{listed}][{place}]"


def _within(width: int, step: int) -> str:
    return f"intDiv(positiveModulo(m, {width}), {step})"


NUMBERS: Mapping[str, tuple[str, int]] = {
    "d": ("toDayOfMonth(d)", 2),
    "m": ("toMonth(d)", 2),
    "y": ("toYear(d) % 100", 2),
    "Y": ("toYear(d)", 4),
    "j": (DAY_OF_YEAR, 3),
    "H": (_within(DAY, MICRO["hour"]), 2),
    "I": (f"({_within(DAY, MICRO['hour'])} + 11) % 12 + 1", 2),
    "M": (_within(MICRO["hour"], MICRO["minute"]), 2),
    "S": (_within(MICRO["minute"], MICRO["second"]), 2),
    "U": (f"intDiv({DAY_OF_YEAR} + 6 - toDayOfWeek(d) % 7, 7)", 2),
    "W": (f"intDiv({DAY_OF_YEAR} + 6 - (toDayOfWeek(d) + 6) % 7, 7)", 2),
    "V": ("toISOWeek(d)", 2),
    "G": ("toISOYear(d)", 4),
    "w": ("toDayOfWeek(d) % 7", 1),
    "u": ("toDayOfWeek(d)", 1),
}
"""Directives that write a number, with its least number of digits."""

NAMES: Mapping[str, str] = {
    "a": f"substring({_named(WEEKDAYS, 'toDayOfWeek(d)')}, 1, 3)",
    "A": _named(WEEKDAYS, "toDayOfWeek(d)"),
    "b": f"substring({_named(MONTHS, 'toMonth(d)')}, 1, 3)",
    "B": _named(MONTHS, "toMonth(d)"),
    "p": f"if(positiveModulo(m, {DAY}) < {DAY // 2}, 'AM', 'PM')",
    "%": "'%'",
}


def _format(expr: Call, texts: Sequence[str]) -> str | None:
    given = expr.arguments[1]
    if not isinstance(given, Literal) or not isinstance(given.value, str):
        return None
    parts = [_written(match) for match in PIECE.finditer(given.value)]
    return _of_moment(f"concat({', '.join([*parts, quoted('')])}, '')", texts[0])


def _written(match: re.Match[str]) -> str:
    directive = match[1]
    if directive is None:
        return quoted(match[0])
    if directive in NAMES:
        return NAMES[directive]
    value, digits = NUMBERS[directive.removeprefix("-")]
    text = f"toString({value})"
    return text if directive.startswith("-") or digits == 1 else f"leftPad({text}, {digits}, '0')"


def _of_moment(body: str, text: str) -> str:
    """`body` of the date `d` and the microseconds `m`; NULL of NULL."""
    inner = let(body, d="toDate32(assumeNotNull(t))", m="toUnixTimestamp64Micro(assumeNotNull(t))")
    return let(f"if(isNull(t), NULL, {inner})", t=timestamp(text))


WIDTHS = {"Y": 4, "j": 3, **dict.fromkeys("dmyHIMS", 2)}
BOUNDS = {"d": (1, 31), "m": (1, 12), "j": (1, 366), "H": (0, 23), "I": (1, 12), "M": (0, 59), "S": (0, 59)}
WORDS = {"b": [name[:3] for name in MONTHS], "B": list(MONTHS), "p": ["AM", "PM"]}


def _read(expr: Call, texts: Sequence[str]) -> str | None:
    given = expr.arguments[1]
    if not isinstance(given, Literal) or not isinstance(given.value, str) or not given.value:
        return None
    pattern, slots = _pattern(given.value)
    groups = f"extractGroups(assumeNotNull(s), {quoted(pattern)})"
    body = let(f"if(empty(g), NULL, {_moment_of(slots)})", g=groups)
    return let(f"if(isNull(s), NULL, {body})", s=texts[0])


def _pattern(text: str) -> tuple[str, list[str]]:
    """A regular expression with a group for each directive, and the directives.

    Numbers take all digits that they can. One that is followed by a digit has therefore all that it can have.
    """
    pieces = list(PIECE.finditer(text))
    made, slots = f"^{SPACE}", list[str]()
    if pieces and pieces[0][2]:
        return "^[^\\s\\S]()", []
    for at, match in enumerate(pieces):
        directive = (match[1] or "").removeprefix("-")
        if not directive or directive == "%":
            made += SPACES if match[2] else re.escape(match[3] or "%")
            continue
        slots.append(directive)
        if directive in WORDS:
            made += f"((?i:{'|'.join(WORDS[directive])}))"
        else:
            followed = at + 1 < len(pieces) and _begins_with_digit(pieces[at + 1])
            made += f"([0-9]{{{WIDTHS[directive]}}})" if followed else f"([0-9]{{1,{WIDTHS[directive]}}})"
    return f"{made}{SPACE}$" if slots else f"{made}(){SPACE}$", slots


def _begins_with_digit(match: re.Match[str]) -> bool:
    directive = (match[1] or "").removeprefix("-")
    return directive in WIDTHS or (match[3] or "")[:1].isdigit()


def _moment_of(slots: Sequence[str]) -> str:
    """The moment that the groups say; the last of two that say the same counts."""
    last = {slot: f"g[{at}]" for at, slot in enumerate(slots, 1)}
    place = {slot: at for at, slot in enumerate(slots)}
    checks = [
        f"{number(f'g[{at}]')} BETWEEN {BOUNDS[slot][0]} AND {BOUNDS[slot][1]}"
        for at, slot in enumerate(slots, 1)
        if slot in BOUNDS
    ]
    year = _latest(last, place, {"Y": number(last.get("Y", "''")), "y": _century(last.get("y", "''"))}, "1900")
    month = _latest(
        last, place, {"m": number(last.get("m", "''")), **{b: _month(last.get(b, "''"), b) for b in "bB"}}, "1"
    )
    by_year_day = "j" in last and not {"m", "d", "b", "B"} & {*last}
    parts = {"y": year, "k": month, "d": number(last["d"]) if "d" in last else "1"}
    days = f"toInt64({made_date('y', 'k', 'd')})" + (f" + {number(last['j'])} - 1" if by_year_day else "")
    hour = _latest(last, place, {slot: number(last.get(slot, "''")) for slot in "HI"}, "0")
    if "p" in last:
        checks.append(f"{hour} <= 12")
        hour = f"({hour} % 12 + if(lower({last['p']}) = 'pm', 12, 0))"
    minute, second = (number(last[slot]) if slot in last else "0" for slot in "MS")
    time = f"toInt64({hour}) * {MICRO['hour']} + {minute} * {MICRO['minute']} + {second} * {MICRO['second']}"
    found = moment(f"{let(days, **{name: f'toInt64({value})' for name, value in parts.items()})} * {DAY} + {time}")
    return f"if({' AND '.join(checks)}, {found}, NULL)" if checks else found


def _latest(last: Mapping[str, str], place: Mapping[str, int], values: Mapping[str, str], otherwise: str) -> str:
    there = [slot for slot in values if slot in last]
    return values[max(there, key=place.__getitem__)] if there else otherwise


def _century(group: str) -> str:
    return f"({number(group)} + if({number(group)} < 69, 2000, 1900))"


def _month(group: str, directive: str) -> str:
    listed = ", ".join(quoted(name.lower()) for name in WORDS[directive])
    return f"indexOf([{listed}], lower({group}))"


def _make_timestamp(_: Call, texts: Sequence[str]) -> str:
    """The seconds may be 60 and may have a fraction, which is rounded to microseconds; midnight may be 24:00."""
    year, month, day, hour, minute = (f"accurateCastOrNull({text}, 'Int32')" for text in texts[:5])
    seconds = "w BETWEEN 0 AND 60 AND f BETWEEN 0 AND 1000000 AND w * 1000000 + f < 61000000"
    inside = f"h BETWEEN 0 AND 23 AND i BETWEEN 0 AND 59 AND {seconds}"
    midnight = "h = 24 AND i = 0 AND w = 0 AND f = 0"
    days = f"toInt64({made_date('y', 'm', 'd')})"
    time = f"toInt64(h) * {MICRO['hour']} + toInt64(i) * {MICRO['minute']} + w * {MICRO['second']} + f"
    body = f"if(({inside}) OR ({midnight}), {moment(f'{days} * {DAY} + {time}')}, NULL)"
    names = {name: name for name in "ymdhi"}
    fraction = "accurateCastOrNull(r, 'Int64')"
    parts = let(body, w="accurateCastOrNull(trunc(s), 'Int64')", f=fraction, **names)
    rounded = let(parts, s="s", r=half_away("((s - trunc(s)) * 1e6)"), **names)
    return let(rounded, y=year, m=month, d=day, h=hour, i=minute, s=f"toFloat64({texts[5]})")


WRITERS: dict[str, Writer] = {
    "format_time": _format,
    "read_time": _read,
    "month_name": lambda _, texts: _of_moment(NAMES["B"], texts[0]),
    "day_name": lambda _, texts: _of_moment(NAMES["A"], texts[0]),
    "make_timestamp": _make_timestamp,
}
