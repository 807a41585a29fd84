"""Engines of which no server is at hand: what they share.

Each engine adds how it writes constants, arithmetic, dates and text. The allow-list is small on purpose: a function is
on it where its meaning is surely that of DuckDB, and where it surely cannot fail on a row.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from hedgerow.dialects.base import INSTANT, Dialect, SummaryCall
from hedgerow.dialects.untested_base.logic import LOGIC
from hedgerow.dialects.untested_base.numbers import CONVERSIONS, NUMBERS, guarded
from hedgerow.dialects.untested_base.summaries import SUMMARIES
from hedgerow.dialects.untested_base.texts import TEXTS
from hedgerow.dialects.untested_base.times import TIMES
from hedgerow.expressions.nodes import Call, Column
from hedgerow.expressions.types import Type

Writer = Callable[["UntestedBase", Call, Sequence[str]], str]
WRITERS: Mapping[str, Writer] = {**LOGIC, **NUMBERS, **CONVERSIONS, **TEXTS, **TIMES}
SMALLEST_FOR_HASH = 5**18
"""Number for which `floor(2^20 x)` reaches 4e18."""

NOTHING: Mapping[Type, str] = {
    Type.TEXT: "''",
    Type.INTEGER: "0",
    Type.DECIMAL: "0",
    Type.BOOLEAN: "FALSE",
}


class UntestedBase(Dialect):
    """Functions without a template in `functions` are written by one of `WRITERS`, unless `without` names them.

    Attributes:
        has_nan: Whether a double can be NaN or infinite.
        strict_nan: Whether NaN compares as the floating-point standard says: with everything, falsely.
        without: Functions that this engine cannot do alike.
        of_double: Functions of one double.
        parts, units: What is extracted from a timestamp, and how it is cut.
        instant: A column of points in time at UTC, whatever the time zone of the session is.
        seconds_later: A timestamp and a number of seconds to add.
        midnight, days, last_day: A date as a timestamp; days from a first to a second timestamp; the end of the month.
        rounded_decimal: A decimal rounded to 64 bits, halves away from zero.
        flag: A boolean value as 1 or 0.
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
        """A text without a zero character, which engines treat each in its way."""
        if "\x00" in value:
            raise self.lacks("a text with a zero character")
        return self.quoted(value)

    def quoted(self, value: str) -> str:
        """A text in quotation marks."""
        return super().string(value)

    # Expressions

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """By a writer, or by a template."""
        writer = WRITERS.get(expr.function)
        if expr.function in self.functions or writer is None or expr.function in self.without:
            return super().call(expr, texts)
        return writer(self, expr, texts)

    def since_midnight(self, text: str) -> str:
        """As keys are hashed."""
        return self.microseconds(text, Type.TIME)

    def in_zone(self, expr: Call, text: str) -> str:
        """A column of points in time is brought to UTC first."""
        value = expr.arguments[0]
        stored = isinstance(value, Column) and value.native == INSTANT
        return super().in_zone(expr, self.instant.format(text) if stored else text)

    def later(self, text: str, seconds: str) -> str:
        """By a template."""
        return self.seconds_later.format(text, seconds)

    def summary(self, call: SummaryCall) -> str:
        """By a writer."""
        writer = SUMMARIES.get(call.function)
        if writer is None or call.function in self.without:
            return super().summary(call)
        return writer(self, call)

    def held(self, text: str, low: float, high: float) -> str:
        """A double, held between two that are far away, so that arithmetic on it cannot overflow."""
        low_text, high_text = self.real(low), self.real(high)
        return (
            f"CASE WHEN {text} < {low_text} THEN {low_text} WHEN {text} > {high_text} THEN {high_text} ELSE {text} END"
        )

    def unbounded(self, name: str, left: str, right: str, plain: str) -> str:
        """Arithmetic with doubles of any size; `plain` is how it is written where nothing can overflow."""
        return guarded(self, name, left, right, plain)

    def beyond(self, sign: str) -> str:
        """The ELSE of arithmetic that overflows; `sign` has the sign of the result. Without infinity, it is NULL."""
        return f" ELSE {sign} * {self.real(math.inf)}" if self.has_nan else ""

    def whole_arithmetic(self, name: str, texts: Sequence[str], *, bounded: bool) -> str:
        """`add`, `subtract`, `multiply` or `negate` within 64 bits; `bounded` where the result surely is."""
        raise NotImplementedError

    def whole_quotient(self, name: str, left: str, right: str) -> str:
        """`divide_whole` (towards zero) or `remainder_whole`; NULL where the divisor is zero."""
        raise NotImplementedError

    def narrowed(self, text: str) -> str:
        """An exact whole number that may be wider, in 64 bits; NULL where it does not fit."""
        raise NotImplementedError

    # Text

    def letters(self, text: str) -> str:
        """A text whose characters are told apart as they are, to be searched."""
        return self.binary(text)

    def like(self, text: str, items: Sequence[str]) -> str:
        """LIKE, as a condition; an item is `%`, `_`, or `=` before a sign that stands for itself."""
        signs = [item if len(item) == 1 else self.meant(item[1:]) for item in items]
        return f"({text} LIKE {self.string(''.join(signs))} ESCAPE '!')"

    def meant(self, sign: str) -> str:
        """A sign of a pattern that stands for itself."""
        return f"!{sign}" if sign in "%_!" else sign

    def piece(self, text: str, start: int, length: int) -> str:
        """A number of characters from a place on, the first being 1."""
        return f"SUBSTR({self.letters(text)}, {start}, {length})"

    def concatenated(self, texts: Sequence[str]) -> str:
        """Texts one after the other; NULL where one is."""
        return f"({' || '.join(map(self.letters, texts))})"

    def trimmed(self, name: str, text: str, signs: str) -> str:
        """`trim`, `ltrim` or `rtrim`: without any of some signs at the ends."""
        return f"{name.upper()}({self.letters(text)}, {self.string(signs)})"

    # Keys

    def same(self, left: str, right: str, kind: Type) -> str:
        """Equality of two expressions, one of each side, so that every engine can join by hashing.

        NULL is replaced by some value, and being NULL is compared, too.
        """
        one, other = (self.comparable(text, kind) for text in (left, right))
        nothing = self.nothing(kind)
        missing = " = ".join(f"CASE WHEN {text} IS NULL THEN 1 ELSE 0 END" for text in (left, right))
        return f"COALESCE({one}, {nothing}) = COALESCE({other}, {nothing}) AND {missing}"

    def comparable(self, text: str, kind: Type) -> str:
        """A key as it is compared for equality."""
        if kind is Type.FLOAT and self.strict_nan:
            return f"CAST({text} AS {self.text})"
        return self.binary(text) if kind is Type.TEXT else text

    def nothing(self, kind: Type) -> str:
        """Some value of a type, as `comparable` has it."""
        if kind is Type.FLOAT:
            return self.string("") if self.strict_nan else self.real(0.0)
        if kind is Type.BOOLEAN:
            return self.boolean(False)  # noqa: FBT003 - it is the value itself
        return NOTHING.get(kind) or f"CAST('{SOME[kind]}' AS {self.types[kind]})"

    def canonical(self, text: str, kind: Type) -> str:
        """See the base; times are for the engine to write."""
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
        """A whole number as text."""
        return f"CAST({text} AS {self.text})"

    def day_text(self, text: str) -> str:
        """A date as ISO writes it."""
        return f"CAST({text} AS {self.text})"

    def microseconds(self, text: str, kind: Type) -> str:
        """Microseconds since midnight, or since 1970."""
        raise NotImplementedError

    # Clauses

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Subtract the remainder first, so that no rounding is due."""
        return f"CAST((({dividend}) - MOD({dividend}, {divisor})) / {divisor} AS {self.whole})"

    def grouping_sets(self, sets: Sequence[Sequence[str]]) -> str:  # noqa: ARG002 - refused whatever they are
        """Not available: engines differ in which expressions they take."""
        raise self.lacks("grouping by several sets")


SOME: Mapping[Type, str] = {Type.DATE: "1970-01-01", Type.TIME: "00:00:00", Type.TIMESTAMP: "1970-01-01 00:00:00"}
