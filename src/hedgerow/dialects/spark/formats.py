"""Dates written and read by a format: constants with the directives of `hedgerow.plan.calendar_functions`."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from hedgerow.dialects.base import Dialect
from hedgerow.dialects.spark.spelling import quoted
from hedgerow.dialects.spark.times import DAY_NAME, MONTH_NAME, MONTH_NAMES, timed
from hedgerow.expressions.nodes import Call, Literal

PIECE = re.compile(r"%(-?.)|([^%]+)")
YEAR_4 = "CASE WHEN year({d0}) BETWEEN 0 AND 999 THEN lpad(year({d0}), 4, '0') ELSE CAST(year({d0}) AS STRING) END"
HOUR_12 = "(pmod(hour({m0}) + 11, 12) + 1)"
NUMBERS = {
    "d": ("day({d0})", 2),
    "H": ("hour({m0})", 2),
    "I": (HOUR_12, 2),
    "j": ("dayofyear({d0})", 3),
    "m": ("month({d0})", 2),
    "M": ("minute({m0})", 2),
    "S": ("second({m0})", 2),
    "y": ("(abs(year({d0})) % 100)", 2),
    "V": ("weekofyear({d0})", 2),
    "U": ("((dayofyear({d0}) + 7 - dayofweek({d0})) DIV 7)", 2),
    "W": ("((dayofyear({d0}) + 6 - weekday({d0})) DIV 7)", 2),
    "w": ("(dayofweek({d0}) - 1)", 1),
    "u": ("(weekday({d0}) + 1)", 1),
}
"""Spelling of a directive, and its digits."""

WORDS = {
    "a": f"left({DAY_NAME}, 3)",
    "A": DAY_NAME,
    "b": f"left({MONTH_NAME}, 3)",
    "B": MONTH_NAME,
    "p": "CASE WHEN hour({m0}) < 12 THEN 'AM' ELSE 'PM' END",
    "Y": YEAR_4,
    "G": YEAR_4.replace("year({d0})", "extract(YEAROFWEEK FROM {d0})"),
    "%": "'%'",
}


def _pieces(call: Call, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """The format as directives and text between them."""
    written = call.arguments[1]
    if not isinstance(written, Literal) or not isinstance(written.value, str):
        raise dialect.lacks("a format that is not a constant")
    yield from PIECE.findall(written.value)


def format_time(dialect: Dialect) -> Callable[[Call, Sequence[str]], str]:
    """STRFTIME."""

    def written(call: Call, texts: Sequence[str]) -> str:
        parts = [_shown(directive, between, dialect) for directive, between in _pieces(call, dialect)]
        template = f"CASE WHEN {{m0}} IS NOT NULL THEN concat({', '.join(parts) or quoted('')}) END"
        return timed(template)(call, texts)

    return written


def _shown(directive: str, between: str, dialect: Dialect) -> str:
    if not directive:
        return quoted(between).replace("{", "{{").replace("}", "}}")
    if directive in WORDS:
        return WORDS[directive]
    if directive[-1] not in NUMBERS:
        raise dialect.lacks(f"the directive %{directive}")
    number, digits = NUMBERS[directive[-1]]
    return f"CAST({number} AS STRING)" if directive[0] == "-" else f"lpad(CAST({number} AS STRING), {digits}, '0')"


SPACE = "[\\x09-\\x0D ]"
SHORT_NAMES = tuple(name[:3].lower() for name in MONTH_NAMES)
LONG_NAMES = tuple(name.lower() for name in MONTH_NAMES)
READ = {
    **dict.fromkeys("dmHIMSy", "([0-9]{1,2}+)"),
    "Y": "([0-9]{1,4}+)",
    "j": "([0-9]{1,3}+)",
    "b": f"((?i:{'|'.join(SHORT_NAMES)}))",
    "B": f"((?i:{'|'.join(LONG_NAMES)}))",
    "p": "((?i:am|pm))",
}
"""Digits are taken greedily and never given back."""

FIELDS = {"d": "day", "m": "month", "b": "month", "B": "month", "j": "date", "H": "hour", "I": "hour"}
TOGETHER = ({"day", "date"}, {"month", "date"})


def read_time(dialect: Dialect) -> Callable[[Call, Sequence[str]], str]:
    """STRPTIME; what cannot be read is NULL."""

    def written(call: Call, texts: Sequence[str]) -> str:
        pattern, order = _reading(list(_pieces(call, dialect)), dialect)
        shown = quoted(pattern)
        parts = {name: f"regexp_extract({texts[0]}, {shown}, {at + 1})" for at, name in enumerate(order)}
        return _moment(parts)

    return written


def _reading(pieces: Sequence[tuple[str, str]], dialect: Dialect) -> tuple[str, list[str]]:
    """The pattern, and which directive each of its groups is."""
    pattern, order = "", list[str]()
    for directive, between in pieces:
        if directive == "%" or not directive:
            pattern += "".join(_literal(sign) for sign in between or "%")
        else:
            order.append(directive[-1])
            pattern += READ[directive[-1]]
    fields = [FIELDS.get(name, name) for name in order]
    odd = ("p" in order) != ("I" in order) and "p" in order
    if len({*fields}) < len(fields) or odd or any(pair <= {*fields} for pair in TOGETHER):
        raise dialect.lacks("a format that says something twice")
    return f"\\A{SPACE}*{pattern}{SPACE}*\\z", order


def _literal(sign: str) -> str:
    return f"{SPACE}+" if sign.isspace() else f"\\x{{{ord(sign):X}}}"


def _moment(parts: Mapping[str, str]) -> str:
    """The point in time; what was not read is that of the beginning of 1900."""

    def number(name: str, missing: int) -> str:
        return f"try_cast({parts[name]} AS INT)" if name in parts else str(missing)

    if "y" in parts:
        short = number("y", 0)
        year = f"({short} + CASE WHEN {short} < 69 THEN 2000 ELSE 1900 END)"
    else:
        year = number("Y", 1900)
    second = f"CASE WHEN {number('S', 0)} < 60 THEN {number('S', 0)} END"
    clock = f"{_hour(parts, number)}, {number('M', 0)}, {second}"
    if "j" in parts:
        day = number("j", 1)
        passed = f"try_multiply(INTERVAL '1' DAY, CASE WHEN {day} BETWEEN 1 AND 366 THEN {day} - 1 END)"
        return f"try_add(try_make_timestamp_ntz({year}, 1, 1, {clock}), {passed})"
    return f"try_make_timestamp_ntz({year}, {_month(parts, number)}, {number('d', 1)}, {clock})"


Number = Callable[[str, int], str]


def _month(parts: Mapping[str, str], number: Number) -> str:
    for name, known in (("b", SHORT_NAMES), ("B", LONG_NAMES)):
        if name in parts:
            return f"CAST(array_position(array({', '.join(map(quoted, known))}), lower({parts[name]})) AS INT)"
    return number("m", 1)


def _hour(parts: Mapping[str, str], number: Number) -> str:
    if "I" not in parts:
        return number("H", 0)
    hour = f"CASE WHEN {number('I', 0)} BETWEEN 1 AND 12 THEN {number('I', 0)} END"
    return f"({hour} % 12 + CASE WHEN lower({parts['p']}) = 'pm' THEN 12 ELSE 0 END)" if "p" in parts else hour
