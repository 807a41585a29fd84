"""Fragments of SQL that dialects without a test server are made of.

Each engine adds its constants, arithmetic, dates and text. The allow-list is small on purpose: it has only functions
that are certain to mean the same as in DuckDB and certain not to fail on any row.
"""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from hedgerow.dialects.base import INSTANT, Dialect, OrderTerm
from hedgerow.expressions.nodes import Call, Column
from hedgerow.expressions.types import Type

HALF_OF_LARGEST = 8.988465674311579e307
"""Half of the largest double."""

NEARLY_LARGEST = 1.7976931348623153e308
"""Slightly less than the largest double, so that a quotient multiplied by its divisor again does not overflow."""

SIGNS = {"add": "+", "subtract": "-", "multiply": "*"}
SMALLEST_FOR_HASH = 5**18
"""Number from which `floor(2^20 x)` reaches 4e18."""

SUBSTITUTES: Mapping[Type, str] = {
    Type.TEXT: "''",
    Type.INTEGER: "0",
    Type.DECIMAL: "0",
    Type.BOOLEAN: "FALSE",
}


class Fragments(Dialect):
    """Templates and fragments that each engine overrides.

    Attributes:
        has_nan: True if a double can be NaN or infinite.
        strict_nan: True if NaN compares as in IEEE 754: every comparison with it is false.
        without: Functions that this engine computes differently.
        of_double: Templates of functions of one double.
        parts, units: Templates of the parts of a timestamp, and of truncation to a unit.
        instant: Template of a column with a time zone at UTC, whatever the time zone of the session.
        seconds_later: Template of a timestamp plus seconds.
        midnight, days, last_day: Templates of a date as a timestamp, of the days between two timestamps, and of the
            last day of the month.
        rounded_decimal: Template of a decimal rounded to 64 bits, halves away from zero.
        flag: Template of a boolean value as 1 or 0.
        types: Names of types, for NULL.
    """

    gathers = True
    has_nan = True
    strict_nan = False
    without: ClassVar[frozenset[str]] = frozenset()
    of_double: ClassVar[Mapping[str, str]] = {
        "abs": "ABS({0})",
        "floor": "FLOOR({0})",
        "ceil": "CEIL({0})",
        "sqrt": "SQRT({0})",
        "ln": "LN({0})",
        "log10": "LOG10({0})",
    }
    parts: ClassVar[Mapping[str, str]] = {}
    units: ClassVar[Mapping[str, str]] = {}
    midnight = "CAST({0} AS TIMESTAMP)"
    instant = "{0}"
    seconds_later = "({0} + INTERVAL ({1}) SECOND)"
    days = ""
    last_day = "LAST_DAY({0})"
    rounded_decimal = ""
    flag = "CASE WHEN {0} THEN 1 WHEN NOT {0} THEN 0 END"

    @property
    def types(self) -> Mapping[Type, str]:
        """Names of types."""
        return {
            Type.BOOLEAN: "BOOLEAN",
            Type.INTEGER: self.whole,
            Type.FLOAT: self.double,
            Type.TEXT: self.text,
            Type.DATE: "DATE",
            Type.TIME: "TIME",
            Type.TIMESTAMP: "TIMESTAMP",
        }

    # Constants

    def string(self, value: str) -> str:
        """A text without NUL characters, which engines treat differently."""
        if "\x00" in value:
            raise self.lacks("a text with a NUL character")
        return self.quoted(value)

    def quoted(self, value: str) -> str:
        """A text in quotes."""
        return super().string(value)

    # Expressions

    def since_midnight(self, text: str) -> str:
        """A time of day in microseconds."""
        return self.microseconds(text, Type.TIME)

    def in_zone(self, expr: Call, text: str) -> str:
        """A timestamp in another zone; a column with a time zone is converted to UTC first."""
        value = expr.arguments[0]
        stored = isinstance(value, Column) and value.native == INSTANT
        return super().in_zone(expr, self.instant.format(text) if stored else text)

    def later(self, text: str, seconds: str) -> str:
        """A timestamp plus seconds."""
        return self.seconds_later.format(text, seconds)

    def held(self, text: str, low: float, high: float) -> str:
        """A double, clamped so that arithmetic on it cannot overflow."""
        low_text, high_text = self.real(low), self.real(high)
        return (
            f"CASE WHEN {text} < {low_text} THEN {low_text} WHEN {text} > {high_text} THEN {high_text} ELSE {text} END"
        )

    def unbounded(self, name: str, left: str, right: str, plain: str) -> str:
        """Arithmetic with doubles of any size, where an overflow may be an error; `plain` is its SQL without overflow.

        Sums are tested on the halves of both operands, which never overflow and add exactly; products are tested
        against the largest double beforehand. On overflow the result is `beyond`.
        """
        if name in {"add", "subtract"}:
            half = f"({left} / 2 {SIGNS[name]} {right} / 2)"
            return f"CASE WHEN ABS{half} <= {self.real(HALF_OF_LARGEST)} THEN {plain}{self.beyond(half)} END"
        if name == "multiply":
            room = f"{self.real(NEARLY_LARGEST)} / CASE WHEN ABS({left}) > 1 THEN ABS({left}) ELSE {self.real(1.0)} END"
            over = self.beyond(f"SIGN({left}) * {right}")
            return f"CASE WHEN ABS({right}) <= {room} THEN {plain}{over} END"
        whole = f"WHEN ABS({right}) >= 1 THEN {left} / {right}"
        small = f"WHEN ABS({left}) < ABS({right}) * {self.real(NEARLY_LARGEST)} THEN {left} / {right}"
        over = self.beyond(f"{left} * SIGN(NULLIF({right}, {self.real(0.0)}))")
        return f"CASE {whole} {small}{over} END"

    def beyond(self, sign: str) -> str:
        """The ELSE branch on overflow: infinity with the sign of `sign`, or NULL on engines without infinity."""
        return f" ELSE {sign} * {self.real(math.inf)}" if self.has_nan else ""

    def whole_arithmetic(self, name: str, texts: Sequence[str], *, bounded: bool) -> str:
        """`add`, `subtract`, `multiply` or `negate`; NULL outside 64 bits, unless the result is `bounded`."""
        raise NotImplementedError

    def whole_quotient(self, name: str, left: str, right: str) -> str:
        """`divide_whole` (towards zero) or `remainder_whole`; NULL if the divisor is zero."""
        sign = "/" if name == "divide_whole" else "%"
        return f"(CAST({left} AS BIGINT) {sign} NULLIF(CAST({right} AS BIGINT), 0))"

    def narrowed(self, text: str) -> str:
        """A wide integer in 64 bits; NULL if it does not fit."""
        raise NotImplementedError

    # Text

    def letters(self, text: str) -> str:
        """A text for searching, with a collation that distinguishes all characters."""
        return self.binary(text)

    def like(self, text: str, items: Sequence[str]) -> str:
        """LIKE, as a condition; an item is `%`, `_`, or `=` followed by a literal character."""
        characters = [item if len(item) == 1 else self.literal(item[1:]) for item in items]
        return f"({text} LIKE {self.string(''.join(characters))} ESCAPE '!')"

    def literal(self, character: str) -> str:
        """A literal character of a pattern."""
        return f"!{character}" if character in "%_!" else character

    def piece(self, text: str, start: int, length: int) -> str:
        """A number of characters from a position, counted from 1."""
        return f"SUBSTR({self.letters(text)}, {start}, {length})"

    def concatenated(self, texts: Sequence[str]) -> str:
        """Texts joined together; NULL if one is NULL."""
        return f"({' || '.join(map(self.letters, texts))})"

    def trimmed(self, name: str, text: str, characters: str) -> str:
        """`trim`, `ltrim` or `rtrim`: a text without some characters at its ends."""
        return f"{name.upper()}({self.letters(text)}, {self.string(characters)})"

    # Keys

    def same(self, left: str, right: str, kind: Type) -> str:
        """Equality in which NULL equals NULL, as equalities that every engine can use for a hash join.

        NULL is replaced by an arbitrary value, and whether both are NULL is compared, too.
        """
        one, other = (self.comparable(text, kind) for text in (left, right))
        substitute = self.substitute_for_null(kind)
        missing = " = ".join(f"CASE WHEN {text} IS NULL THEN 1 ELSE 0 END" for text in (left, right))
        return f"COALESCE({one}, {substitute}) = COALESCE({other}, {substitute}) AND {missing}"

    def comparable(self, text: str, kind: Type) -> str:
        """A key to be compared for equality."""
        if kind is Type.FLOAT and self.strict_nan:
            return f"CAST({text} AS {self.text})"
        return self.binary(text) if kind is Type.TEXT else text

    def substitute_for_null(self, kind: Type) -> str:
        """Substitute for NULL, of the type that `comparable` gives."""
        if kind is Type.FLOAT:
            return self.string("") if self.strict_nan else self.real(0.0)
        if kind is Type.BOOLEAN:
            return self.boolean(False)  # noqa: FBT003 - it is the value itself
        return SUBSTITUTES.get(kind) or f"CAST('{EPOCHS[kind]}' AS {self.types[kind]})"

    def canonical(self, text: str, kind: Type) -> str:
        """See the base class; each engine writes times itself."""
        if kind is Type.TEXT:
            return self.binary(text)
        if kind in {Type.FLOAT, Type.DECIMAL}:
            double = f"CAST({text} AS {self.double})"
            scaled = self.digits_of(f"CAST(FLOOR({double} * 1048576) AS {self.whole})")
            return f"CASE WHEN ABS({double}) < {SMALLEST_FOR_HASH} THEN {scaled} ELSE '' END"
        if kind is Type.BOOLEAN:
            held = self.condition(text)
            return f"CASE WHEN {held} THEN '1' WHEN NOT {held} THEN '0' END"
        if kind is Type.DATE:
            return self.day_text(text)
        if kind in {Type.TIME, Type.TIMESTAMP}:
            return self.digits_of(self.microseconds(text, kind))
        return self.digits_of(text)

    def digits_of(self, text: str) -> str:
        """An integer as text."""
        return f"CAST({text} AS {self.text})"

    def day_text(self, text: str) -> str:
        """A date in ISO 8601."""
        return f"CAST({text} AS {self.text})"

    def microseconds(self, text: str, kind: Type) -> str:
        """Microseconds since midnight, or since 1970."""
        raise NotImplementedError

    # Clauses

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division: subtract the remainder first, so that nothing is rounded."""
        return f"CAST((({dividend}) - MOD({dividend}, {divisor})) / {divisor} AS {self.whole})"

    def grouping_sets(self, sets: Sequence[Sequence[str]]) -> str:  # noqa: ARG002 - always refused
        """Refuse GROUPING SETS: engines differ in the expressions they allow."""
        raise self.lacks("GROUPING SETS, ROLLUP or CUBE")


def nulls_sorted(text: str, *, descending: bool, nulls_first: bool) -> list[OrderTerm]:
    """Return terms of ORDER BY for an engine that takes NULL for the smallest value and has no NULLS FIRST."""
    term = (text, "DESC" if descending else "ASC")
    if nulls_first is not descending:
        return [term]
    return [(f"CASE WHEN {text} IS NULL THEN 1 ELSE 0 END", "DESC" if nulls_first else "ASC"), term]


EPOCHS: Mapping[Type, str] = {Type.DATE: "1970-01-01", Type.TIME: "00:00:00", Type.TIMESTAMP: "1970-01-01 00:00:00"}
