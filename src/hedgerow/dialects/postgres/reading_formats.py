"""Reading moments in a format of `strptime`, which is a constant: a pattern tells the pieces, and they are checked.

What the format lacks is taken from the first moment of 1900.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hedgerow.dialects.postgres.logic import collated
from hedgerow.dialects.postgres.numbers import no_windows
from hedgerow.dialects.postgres.reading import SPACE, made_day, valid_day
from hedgerow.expressions.nodes import Call, Literal

if TYPE_CHECKING:
    from hedgerow.dialects.postgres.dialect import PostgresDialect, Writer

PIECE = re.compile(r"%(-?.)|(\s+)|([^%\s]+)")
WIDTHS = {"Y": 4, "j": 3, **dict.fromkeys("ydHImMS", 2)}
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)


def _digits(width: int) -> str:
    """As many digits as there are, up to a number of them."""
    return f"([0-9]{{{width}}}|[0-9]{{1,{width - 1}}}(?![0-9]))"


def _names(names: Sequence[str]) -> str:
    """One of some words, in letters of either case."""
    listed = ("".join(f"[{c}{c.upper()}]" for c in name) for name in names)
    return f"({'|'.join(listed)})"


def _group(directive: str) -> str:
    if directive in WIDTHS:
        return _digits(WIDTHS[directive])
    return {"b": _names([m[:3] for m in MONTHS]), "B": _names(MONTHS), "p": _names(("am", "pm"))}[directive]


def _pattern(written: str) -> tuple[str, dict[str, str]] | None:
    """The pattern, and for each directive the place of its piece; None where a format is not understood."""
    parts, places = list[str](), dict[str, str]()
    for directive, space, literal in PIECE.findall(written):
        name = directive.removeprefix("-")
        if space:
            parts.append(f"{SPACE}+")
        elif literal or name == "%":
            parts.append(
                "".join(f"\\u{ord(c):04X}" if ord(c) < 0x10000 else f"\\U{ord(c):08X}" for c in literal or "%")
            )
        elif name in places:
            return None
        else:
            places[name] = f"p.g[{len(places) + 1}]"
            parts.append(_group(name))
    return f"^{SPACE}*{''.join(parts)}{SPACE}*$", places


def _number(places: Mapping[str, str], name: str, otherwise: int) -> str:
    return f"CAST({places[name]} AS INTEGER)" if name in places else str(otherwise)


def _year(places: Mapping[str, str]) -> str:
    if "y" not in places:
        return _number(places, "Y", 1900)
    short = _number(places, "y", 0)
    return f"CASE WHEN {short} < 69 THEN 2000 ELSE 1900 END + {short}"


def _month(places: Mapping[str, str]) -> str:
    for name, length in (("b", 3), ("B", 9)):
        if name in places:
            words = ", ".join(f"'{month[:length]}'" for month in MONTHS)
            return f"array_position(ARRAY[{words}], lower({places[name]}))"
    return _number(places, "m", 1)


def _hour(places: Mapping[str, str]) -> tuple[str, str]:
    """The hour, and the condition under which it is one."""
    given = _number(places, "I" if "I" in places else "H", 0)
    allowed = f"{given} BETWEEN {1 if 'I' in places else 0} AND {12 if 'I' in places or 'p' in places else 23}"
    if "p" not in places:
        return given, allowed
    return f"({given} % 12 + CASE WHEN lower({places['p']}) = 'pm' THEN 12 ELSE 0 END)", allowed


def _is_clear(written: str, places: Mapping[str, str]) -> bool:
    """Return True if no piece is told twice, and none stands where it would not be looked at."""
    once = ({"Y", "y"}, {"m", "b", "B"}, {"H", "I"}, {"j", "m"}, {"j", "b"}, {"j", "B"}, {"j", "d"})
    return bool(written) and not written[0].isspace() and all(len(names & set(places)) < 2 for names in once)


def _read(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    no_windows(dialect, expr)
    written = expr.arguments[1]
    value = written.value if isinstance(written, Literal) else None
    found = _pattern(value) if isinstance(value, str) else None
    if not isinstance(value, str) or found is None or not _is_clear(value, found[1]):
        raise dialect.lacks("reading a moment in this format")
    pattern, places = found
    (hour, allowed), minute, second = _hour(places), _number(places, "M", 0), _number(places, "S", 0)
    named = {"y": _year(places), "m": _month(places), "d": _number(places, "d", 1), "j": _number(places, "j", 1)}
    numbers = ", ".join(
        f"{text} AS {name}" for name, text in {**named, "h": hour, "n": minute, "s": second, "ok": allowed}.items()
    )
    valid = f"{valid_day('q.y', 'q.m', 'q.d')} AND q.j BETWEEN 1 AND 366 AND q.ok AND q.n < 60 AND q.s < 60"
    day = f"CAST({made_day('q.y', 'q.m', 'q.d')} AS TIMESTAMP)"
    made = f"{day} + make_interval(days => q.j - 1, hours => q.h, mins => q.n, secs => q.s)"
    match = f"SELECT regexp_match({collated(texts[0])}, {dialect.string(pattern)}) AS g OFFSET 0"
    return f"(SELECT CASE WHEN {valid} THEN {made} END FROM (SELECT {numbers} FROM ({match}) AS p OFFSET 0) AS q)"


FORMATS: Mapping[str, "Writer"] = {"read_time": _read}
