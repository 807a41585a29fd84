"""MariaDB: MySQL's dialect plus more functions, each compared with DuckDB on a real server.

Positions, patterns and numbers of decimals are constants. Overflowing doubles and dates beyond the year 9999 are NULL.
Patterns for PCRE are written as for Java: no repetition passes over a text more than twice.
"""

import copy
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Self

from hedgerow.dialects.mariadb.mysql_family import MySQLFamily
from hedgerow.dialects.mariadb.reading import (
    AT_ZERO,
    Quote,
    is_with_offset,
    read_clock,
    read_date,
    read_offset,
    read_timestamp,
)
from hedgerow.dialects.regex import UnsupportedPatternError, read
from hedgerow.dialects.regex.backtracking import java
from hedgerow.dialects.regex.tree import anchored
from hedgerow.dialects.untested_base.dialect import WRITERS
from hedgerow.dialects.untested_base.fragments import NEARLY_LARGEST
from hedgerow.dialects.untested_base.functions import LONGEST, as_timestamp
from hedgerow.dialects.untested_base.numbers import number
from hedgerow.dialects.untested_base.numbers import rounded as rounded_to_even
from hedgerow.expressions import zones
from hedgerow.expressions.nodes import Call, Column, Literal
from hedgerow.expressions.types import Type
from hedgerow.expressions.zones import Shift, micros

Writer = Callable[["MariaDBDialect", Call, Sequence[str]], str]
MAX_PLACES = 300
SHIFTS = {
    "year": 9_999,
    "quarter": 39_999,
    "month": 119_999,
    "week": 521_800,
    "day": 3_652_600,
    "hour": 87_662_400,
    "minute": 2_147_483_647,
    "second": 2_147_483_647,
}
"""Maximum shift of a date in each unit: the range of the calendar."""

CASED = "(CONVERT({0} USING utf8mb4) COLLATE utf8mb4_uca1400_as_cs)"
"""The only collation with DuckDB's mapping of upper and lower case, except for the German sharp s."""


class MariaDBDialect(MySQLFamily):
    """MariaDB 10.6 and later."""

    label = "MariaDB"
    windows = True
    without: ClassVar[frozenset[str]] = frozenset()
    parts: ClassVar[Mapping[str, str]] = {
        **MySQLFamily.parts,
        "isoyear": "(YEARWEEK({0}, 3) DIV 100)",
        "decade": "(YEAR({0}) DIV 10)",
        "century": "((YEAR({0}) + 99) DIV 100)",
        "microsecond": "(SECOND({0}) * 1000000 + MICROSECOND({0}))",
        "millisecond": "(SECOND({0}) * 1000 + MICROSECOND({0}) DIV 1000)",
    }

    functions: Mapping[str, str] = {
        **MySQLFamily.functions,
        "lower": f"LOWER({CASED})",
        "upper": f"REPLACE(UPPER({CASED}) COLLATE utf8mb4_bin, CONVERT(X'c39f' USING utf8mb4), "
        "CONVERT(X'e1ba9e' USING utf8mb4))",
    }

    def inside(self, outer: Sequence[Column]) -> Self:
        """Hide outer columns from queries in FROM: MariaDB has no LATERAL."""
        nested = copy.copy(self)
        nested.out_of_sight = self.out_of_sight | {column.table for column in outer}
        return nested

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """A function of the allow-list, written by MariaDB's own entry or by MySQL's."""
        writer = OWN.get(expr.function)
        kinds = (expr.arguments[0].type, expr.type) if expr.arguments else None
        if kinds in CASTS and expr.function.startswith(("cast_", "imposed_")):
            return CASTS[kinds](self, texts[0])
        if writer is None or (expr.function in WRITERS and _is_plain(expr)):
            return super().call(expr, texts)
        try:
            return writer(self, expr, texts)
        except UnsupportedPatternError:
            raise self.lacks("this pattern") from None

    def shifted(self, text: str, shift: Shift) -> str:
        """Look the offset up in a list, so that the text, which may be long, is written only twice."""
        ends = [micros(zones.FIRST), *map(micros, shift.changes), micros(zones.LAST) + 1]
        period = f"INTERVAL(TIMESTAMPDIFF(MICROSECOND, {AT_ZERO}, {text}), {', '.join(map(str, ends))})"
        seconds = f"ELT({period} + 1, {', '.join(map(str, (0, *shift.offsets, 0)))})"
        return f"({text} + INTERVAL CAST({seconds} AS SIGNED) SECOND)"

    def read_instant(self, expr: Call, text: str) -> str:
        """Read text with an offset at UTC, and other text in the time zone of the call."""
        written, timestamp = self.letters(text), read_timestamp(self.string, self.letters(text))
        at_utc = f"{timestamp} - INTERVAL {read_offset(self.string, written)} SECOND"
        here = Call("in_zone", (expr.arguments[0], expr.arguments[1], Literal(zones.DEFAULT, Type.TEXT)), expr.type)
        return (
            f"CASE WHEN {is_with_offset(self.string, written)} THEN {at_utc} ELSE {self.in_zone(here, timestamp)} END"
        )

    def trimmed(self, name: str, text: str, characters: str) -> str:
        """Trim by a pattern: TRIM itself removes whole words."""
        escaped = "".join(f"\\x{{{ord(character):X}}}" for character in characters)
        if not escaped:
            return self.letters(text)
        ends = {"ltrim": f"\\A[{escaped}]+", "rtrim": f"[{escaped}]+\\z", "trim": f"\\A[{escaped}]+|[{escaped}]++\\z"}
        return f"REGEXP_REPLACE({self.letters(text)}, {self.string(ends[name])}, '')"


def _is_plain(expr: Call) -> bool:
    """Return True if MySQL's entry suffices: all arguments after the first are constants."""
    return all(isinstance(argument, Literal) for argument in expr.arguments[1:])


def constant_number(dialect: MariaDBDialect, call: Call, at: int) -> int:
    """Return a constant integer, or refuse."""
    argument = call.arguments[at]
    if not isinstance(argument, Literal) or not isinstance(argument.value, int) or isinstance(argument.value, bool):
        raise dialect.lacks(f"{call.function} with a number that is not a constant")
    return argument.value


def constant_text(dialect: MariaDBDialect, call: Call, at: int) -> str:
    """Return a constant text, or refuse."""
    argument = call.arguments[at]
    if not isinstance(argument, Literal) or not isinstance(argument.value, str):
        raise dialect.lacks(f"{call.function} with a text that is not a constant")
    return argument.value


def _away(text: str) -> str:
    """A double rounded to a whole number, halves away from zero."""
    size = f"ABS({text})"
    up = f"(FLOOR({size}) + ({size} - FLOOR({size}) >= 0.5))"
    return f"(SIGN({text}) * {up})"


def _toward(text: str) -> str:
    return f"(SIGN({text}) * FLOOR(ABS({text})))"


def _to_places(whole: Callable[[str], str]) -> Writer:
    """Round or truncate to decimal places as DuckDB does: scale by a power of ten, in doubles."""

    def write(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
        value = number(dialect, call.arguments[0], texts[0])
        places = constant_number(dialect, call, 1) if len(texts) > 1 else 0
        if places == 0:
            return whole(value)
        factor = 10.0 ** min(abs(places), MAX_PLACES)
        power, room = dialect.real(factor), dialect.real(NEARLY_LARGEST / factor)
        if places > 0:
            return f"CASE WHEN ABS({value}) <= {room} THEN {whole(f'({value} * {power})')} / {power} ELSE {value} END"
        scaled = whole(f"({value} / {power})")
        zero = f"WHEN {value} IS NOT NULL THEN {dialect.real(0.0)}"
        return f"CASE WHEN ABS({scaled}) <= {room} THEN {scaled} * {power} {zero} END"

    return write


def _fixed(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    """A cast to DECIMAL(width, places), as a double."""
    width, places = constant_number(dialect, call, 1), constant_number(dialect, call, 2)
    rounded = _to_places(_away)(dialect, Call("round", (call.arguments[0], call.arguments[2]), Type.FLOAT), texts[::2])
    return f"CASE WHEN ABS({rounded}) < {dialect.real(10.0 ** (width - places))} THEN {rounded} END"


def _remainder(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    left, right = (number(dialect, a, text) for a, text in zip(call.arguments, texts, strict=True))
    return f"MOD({left}, NULLIF({right}, {dialect.real(0.0)}))"


def _of_double(template: str, condition: str = "") -> Writer:
    """A function of one double; NULL unless a condition on it holds."""

    def write(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
        value = number(dialect, call.arguments[0], texts[0])
        result = template.format(value)
        return f"CASE WHEN {condition.format(value)} THEN {result} END" if condition else result

    return write


def _template(template: str) -> Writer:
    """A function of texts that are compared character by character."""

    def write(dialect: MariaDBDialect, _call: Call, texts: Sequence[str]) -> str:
        return template.format(*(dialect.letters(text) for text in texts))

    return write


def _concat_present(dialect: MariaDBDialect, _call: Call, texts: Sequence[str]) -> str:
    return f"LEFT(CONCAT_WS('', {', '.join(map(dialect.letters, texts))}), {LONGEST})"


def _lower(text: str) -> str:
    return f"LOWER({CASED.format(text)}) COLLATE utf8mb4_bin"


def _ilike(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    """ILIKE: compare lower case; a backslash is no escape character."""
    pattern = constant_text(dialect, call, 1)
    if "|" in pattern:
        raise dialect.lacks("ILIKE with a pattern that contains |")
    return f"({_lower(texts[0])} LIKE {_lower(dialect.string(pattern))} ESCAPE '|')"


def _matched(dialect: MariaDBDialect, text: str, pattern: str) -> str:
    return f"({dialect.letters(text)} REGEXP {dialect.string(pattern)})"


def _regexp_matches(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    tree, _ = read(constant_text(dialect, call, 1))
    return _matched(dialect, texts[0], java(tree, search=True))


def _regexp_full_match(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    tree, _ = read(constant_text(dialect, call, 1))
    return _matched(dialect, texts[0], java(anchored(tree), search=True))


def _regexp_extract(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    """The first match, or one of its groups: everything else is removed."""
    tree, groups = read(constant_text(dialect, call, 1))
    group = constant_number(dialect, call, 2) if len(call.arguments) > 2 else 0
    if not 0 <= group <= min(groups, 8):
        raise dialect.lacks("a group above 8 in a regular expression")
    pattern, text = java(tree), dialect.letters(texts[0])
    whole = dialect.string(f"\\A(?s:.)*?({pattern})(?s:.)*+\\z")
    # The meaning of a backslash in a string is a setting, so it is written by its code.
    group_text = f"REGEXP_REPLACE({text}, {whole}, CONCAT(CHAR(92 USING utf8mb4), '{group + 1}'))"
    return f"CASE WHEN {_matched(dialect, texts[0], pattern)} THEN {group_text} WHEN {text} IS NOT NULL THEN '' END"


def _shift(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    unit = call.function.removeprefix("shift_")
    limit = SHIFTS[unit]
    value, by = as_timestamp(dialect, call.arguments[0], texts[0]), texts[1]
    return f"({value} + INTERVAL CASE WHEN {by} BETWEEN -{limit} AND {limit} THEN {by} END {unit.upper()})"


def _ends(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> list[str]:
    return [as_timestamp(dialect, a, text) for a, text in zip(call.arguments, texts, strict=True)]


def _difference(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    """Number of unit boundaries between two timestamps: the difference of both truncated to the unit."""
    unit = call.function.removeprefix("difference_")
    if unit == "week":  # DuckDB divides days by seven
        return f"({dialect.days.format(*_ends(dialect, call, texts))} DIV 7)"
    start, end = (dialect.units[unit].format(text) for text in _ends(dialect, call, texts))
    return f"TIMESTAMPDIFF({unit.upper()}, {start}, {end})"


def _elapsed(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    """Number of full units of a fixed length between two timestamps."""
    start, end = _ends(dialect, call, texts)
    unit = call.function.removeprefix("elapsed_")
    return f"TIMESTAMPDIFF({unit.upper()}, {start}, {end})"


def _microseconds_between(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    end, start = _ends(dialect, call, texts)
    return f"TIMESTAMPDIFF(MICROSECOND, {start}, {end})"


def _epoch(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    (value,) = _ends(dialect, call, texts)
    return f"(CAST(TIMESTAMPDIFF(MICROSECOND, {AT_ZERO}, {value}) AS DOUBLE) / 1000000e0)"


def _seconds(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    (value,) = _ends(dialect, call, texts)
    return f"(CAST({dialect.parts['microsecond'].format(value)} AS DOUBLE) / 1000000e0)"


def _named(name: str) -> Writer:
    def write(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
        (value,) = _ends(dialect, call, texts)
        names = NAMES[name]
        at = {"DAYNAME": f"WEEKDAY({value}) + 1", "MONTHNAME": f"NULLIF(MONTH({value}), 0)"}[name]
        return f"ELT({at}, {', '.join(map(dialect.string, names))})"

    return write


NAMES = {
    "DAYNAME": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "MONTHNAME": (
        *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
        *("October", "November", "December"),
    ),
}
"""The language of the server's own functions is a setting."""

FORMATS = {
    "%Y": "%Y", "%m": "%m", "%d": "%d", "%H": "%H", "%M": "%i", "%S": "%s", "%y": "%y", "%j": "%j", "%I": "%h",
    "%p": "%p", "%%": "%%", "%F": "%Y-%m-%d", "%T": "%H:%i:%s",
}  # fmt: skip
"""Directives of `strftime` in MariaDB's syntax. Names of days are missing: their language is a setting."""


def _format_time(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    pieces = re.split("(%.)", constant_text(dialect, call, 1))
    if any(piece.startswith("%") and piece not in FORMATS for piece in pieces):
        raise dialect.lacks("this format")
    pattern = "".join(FORMATS.get(piece, piece) for piece in pieces)
    (value,) = _ends(dialect, Call(call.function, call.arguments[:1], call.type), texts[:1])
    return f"DATE_FORMAT({value}, {dialect.string(pattern)})"


def _from_epoch(dialect: MariaDBDialect, call: Call, texts: Sequence[str]) -> str:
    value = number(dialect, call.arguments[0], texts[0])
    rounded = f"CAST({rounded_to_even(f'({value} * 1000000e0)')} AS SIGNED)"
    return f"CASE WHEN ABS({value}) < 2e11 THEN {AT_ZERO} + INTERVAL {rounded} MICROSECOND END"


def _left(dialect: MariaDBDialect, _call: Call, texts: Sequence[str]) -> str:
    """The first characters; a negative number is the number of characters to drop at the end."""
    text, size = dialect.letters(texts[0]), texts[1]
    rest = f"GREATEST(CHAR_LENGTH({text}) + GREATEST({size}, -{LONGEST_TEXT}), 0)"
    return (
        f"CASE WHEN {size} BETWEEN 0 AND {LONGEST_TEXT} THEN LEFT({text}, {size}) "
        f"WHEN {size} < 0 THEN LEFT({text}, {rest}) END"
    )


def _replace(dialect: MariaDBDialect, _call: Call, texts: Sequence[str]) -> str:
    text, sought, by = map(dialect.letters, texts)
    return f"LEFT(REPLACE(LEFT({text}, 1000), {sought}, LEFT({by}, 100)), 1000)"


# Parsing text as DuckDB does

SPACE = "[ \\x{9}-\\x{D}]"
DIGITS = "[0-9]+(?:_[0-9]+)*+"
MANTISSA = f"(?:{DIGITS}(?:\\.(?:{DIGITS})?)?|\\.{DIGITS})"
DOUBLE = f"\\A\\+?-?{MANTISSA}(?:e[+-]?{DIGITS})?\\z"
WHOLE = f"\\A[+-]?{MANTISSA}(?:e[+-]?{DIGITS}\\.?)?\\z"
LONGEST_NUMBER = 1_000
LONGEST_TEXT = 2**32 - 1
LARGEST = "1.7976931348623157e308"


def _bare(dialect: MariaDBDialect, text: str) -> str:
    """A text in lower case without surrounding white space."""
    around = dialect.string(f"\\A{SPACE}++|{SPACE}++\\z")
    return f"LOWER(REGEXP_REPLACE({dialect.letters(text)}, {around}, ''))"


def _read_double(dialect: MariaDBDialect, text: str) -> str:
    """Read a double. MariaDB reads overflow as the largest double, which therefore becomes NULL."""
    bare = _bare(dialect, text)
    value = f"CAST(TRIM(LEADING '+' FROM REPLACE({bare}, '_', '')) AS DOUBLE)"
    written = f"CHAR_LENGTH({bare}) <= {LONGEST_NUMBER} AND {bare} REGEXP {dialect.string(DOUBLE)}"
    return f"CASE WHEN {written} AND ABS({value}) < {LARGEST} THEN {value} END"


def _read_whole(dialect: MariaDBDialect, text: str) -> str:
    """Read an integer: decimal (rounded, halves away from zero), hexadecimal or binary."""
    bare = _bare(dialect, text)
    plain = f"REPLACE({bare}, '_', '')"
    value = f"ROUND(CAST({plain} AS DECIMAL(65, 30)))"
    fits = f"{value} BETWEEN -9223372036854775808 AND 9223372036854775807"
    cases = [f"WHEN {bare} REGEXP {dialect.string(WHOLE)} THEN CASE WHEN {fits} THEN CAST({value} AS SIGNED) END"]
    for letter, base, digits, fitting in (("x", 16, "0-9a-f", "[0-7]?[0-9a-f]{0,15}"), ("b", 2, "01", "[01]{0,63}")):
        shape = dialect.string(f"\\A0{letter}[{digits}]+(?:_[{digits}]+)*+\\z")
        in_range = dialect.string(f"\\A0{letter}0*+{fitting}\\z")
        read = f"CAST(CONV(SUBSTRING({plain}, 3), {base}, 10) AS SIGNED)"
        cases.append(f"WHEN {bare} REGEXP {shape} THEN CASE WHEN {plain} REGEXP {in_range} THEN {read} END")
    return f"CASE WHEN CHAR_LENGTH({bare}) > {LONGEST_NUMBER} THEN NULL {' '.join(cases)} END"


def _read_boolean(dialect: MariaDBDialect, text: str) -> str:
    small = f"LOWER({dialect.letters(text)})"
    return (
        f"CASE WHEN {small} IN ('true', 't', 'yes', 'y', '1') THEN TRUE "
        f"WHEN {small} IN ('false', 'f', 'no', 'n', '0') THEN FALSE END"
    )


def _read(reader: Callable[[Quote, str], str]) -> Callable[[MariaDBDialect, str], str]:
    return lambda dialect, text: reader(dialect.string, dialect.letters(text))


def _write_clock(_dialect: MariaDBDialect, text: str) -> str:
    """A time of day without trailing zeros in its seconds; NULL outside a day."""
    digits = f"TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM TIME_FORMAT({text}, '%H:%i:%s.%f')))"
    return f"CASE WHEN {text} BETWEEN TIME '00:00:00' AND TIME '23:59:59.999999' THEN {digits} END"


def _write_timestamp(_dialect: MariaDBDialect, text: str) -> str:
    """A timestamp without trailing zeros in its seconds."""
    rest = f"CONCAT('.', TRIM(TRAILING '0' FROM LPAD(MICROSECOND({text}), 6, '0')))"
    fraction = f"CASE WHEN MICROSECOND({text}) = 0 THEN '' ELSE {rest} END"
    return f"CONCAT(DATE_FORMAT({text}, '%Y-%m-%d %H:%i:%s'), {fraction})"


CASTS: Mapping[tuple[Type, Type] | None, Callable[[MariaDBDialect, str], str]] = {
    (Type.TEXT, Type.FLOAT): _read_double,
    (Type.TEXT, Type.INTEGER): _read_whole,
    (Type.TEXT, Type.BOOLEAN): _read_boolean,
    (Type.TEXT, Type.DATE): _read(read_date),
    (Type.TEXT, Type.TIME): _read(read_clock),
    (Type.TEXT, Type.TIMESTAMP): _read(read_timestamp),
    (Type.TIME, Type.TEXT): _write_clock,
    (Type.TIMESTAMP, Type.TEXT): _write_timestamp,
    (Type.DECIMAL, Type.TEXT): lambda _dialect, text: f"CAST({text} AS CHAR)",
    (Type.TIMESTAMP, Type.TIME): lambda _dialect, text: f"CAST({text} AS TIME(6))",
}

OWN: Mapping[str, Writer] = {
    "round": _to_places(_away),
    "trunc": _to_places(_toward),
    "trunc_places": _to_places(_toward),
    "fixed": _fixed,
    "remainder": _remainder,
    "exp": _of_double("EXP({0})", f"{{0}} <= {math.log(NEARLY_LARGEST)!r}e0"),
    "sin": _of_double("SIN({0})"),
    "cos": _of_double("COS({0})"),
    "tan": _of_double("TAN({0})"),
    "asin": _of_double("ASIN({0})"),
    "acos": _of_double("ACOS({0})"),
    "atan": _of_double("ATAN({0})"),
    "log2": _of_double("LOG2({0})", "{0} > 0"),
    "contains": _template("(LOCATE({1}, {0}) > 0)"),
    "position": _template("LOCATE({1}, {0})"),
    "starts_with": _template("(LEFT({0}, CHAR_LENGTH({1})) = {1} AND CHAR_LENGTH({0}) >= CHAR_LENGTH({1}))"),
    "ends_with": _template("(RIGHT({0}, CHAR_LENGTH({1})) = {1} AND CHAR_LENGTH({0}) >= CHAR_LENGTH({1}))"),
    "ilike": _ilike,
    "regexp_matches": _regexp_matches,
    "regexp_full_match": _regexp_full_match,
    "regexp_extract": _regexp_extract,
    **{f"shift_{unit}": _shift for unit in SHIFTS},
    **{f"difference_{unit}": _difference for unit in ("quarter", "week", "hour", "minute", "second")},
    **{f"elapsed_{unit}": _elapsed for unit in ("week", "day", "hour", "minute", "second")},
    "format_time": _format_time,
    "from_epoch": _from_epoch,
    "left": _left,
    "replace": _replace,
    "reverse": _template("REVERSE({0})"),
    "concat_present": _concat_present,
    "degrees": _of_double("({0} * (180e0 / 3.141592653589793e0))", "ABS({0}) <= 3e306"),
    "radians": _of_double("({0} * (3.141592653589793e0 / 180e0))"),
    "is_nan": _of_double("({0} <> {0})"),
    "is_infinite": _of_double("({0} <> {0})"),
    "is_finite": _of_double("({0} = {0})"),
    "microseconds_between": _microseconds_between,
    "epoch": _epoch,
    "seconds": _seconds,
    "day_name": _named("DAYNAME"),
    "month_name": _named("MONTHNAME"),
    **{
        f"extract_{part}": lambda dialect, call, texts: dialect.parts[call.function.removeprefix("extract_")].format(
            *_ends(dialect, call, texts)
        )
        for part in ("isoyear", "decade", "century", "microsecond", "millisecond")
    },
}

MARIADB = MariaDBDialect()
