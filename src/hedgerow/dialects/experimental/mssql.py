"""SQL Server 2019 and later.

There are no boolean values: they are 1, 0 and NULL, and only comparisons are conditions. CASE evaluates its branches in
order. There is no infinity and no NaN: overflow gives NULL. Trailing spaces of a text are ignored, in comparisons there
and in keys here.
"""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import ClassVar

from hedgerow.dialects.base import OrderTerm, digits
from hedgerow.dialects.untested_base import UntestedBase, nulls_sorted
from hedgerow.dialects.untested_base.dialect import CONDITIONS, WRITERS
from hedgerow.dialects.untested_base.fragments import SIGNS
from hedgerow.errors import InternalError
from hedgerow.expressions.nodes import Call
from hedgerow.expressions.types import Type

COLLATION = "Latin1_General_100_BIN2_UTF8"
MONDAY = "CAST('0001-01-01' AS DATETIME2(6))"
"""The first day of the calendar, a Monday."""

EXACT = "CAST({0} AS DECIMAL(38, 0))"


class MSSQLDialect(UntestedBase):
    """SQL Server."""

    name = "mssql"
    label = "SQL Server"
    experimental = True
    double = "FLOAT(53)"
    lists_values = True
    text = "NVARCHAR(MAX)"
    has_nan = False
    without: ClassVar[frozenset[str]] = frozenset({"substring", "left", "trim", "ltrim", "rtrim"})
    midnight = "CAST({0} AS DATETIME2(6))"
    instant = "CAST(SWITCHOFFSET({0}, '+00:00') AS DATETIME2(7))"
    seconds_later = "DATEADD(SECOND, {1}, {0})"
    days = "DATEDIFF(DAY, {0}, {1})"
    rounded_decimal = "TRY_CAST(ROUND({0}, 0) AS BIGINT)"
    last_day = "EOMONTH({0})"
    flag = "CAST({0} AS INT)"
    of_double: ClassVar[Mapping[str, str]] = {**UntestedBase.of_double, "ceil": "CEILING({0})", "ln": "LOG({0})"}
    parts: ClassVar[Mapping[str, str]] = {
        **{part: f"DATEPART({part.upper()}, {{0}})" for part in ("year", "quarter", "month", "day", "dayofyear")},
        **{part: f"DATEPART({part.upper()}, {{0}})" for part in ("hour", "minute", "second")},
        "week": "DATEPART(ISO_WEEK, {0})",
        "dayofweek": f"((DATEDIFF(DAY, {MONDAY}, {{0}}) + 1) % 7)",
        "isodow": f"(DATEDIFF(DAY, {MONDAY}, {{0}}) % 7 + 1)",
    }
    units: ClassVar[Mapping[str, str]] = {
        **{
            unit: f"DATEADD({unit.upper()}, DATEDIFF({unit.upper()}, {MONDAY}, {{0}}), {MONDAY})"
            for unit in ("year", "quarter", "month", "day", "hour")
        },
        "week": f"DATEADD(DAY, DATEDIFF(DAY, {MONDAY}, {{0}}) / 7 * 7, {MONDAY})",
        **{
            # The minutes since the first day would overflow their type.
            unit: f"DATEADD({unit.upper()}, DATEDIFF({unit.upper()}, CAST({{0}} AS DATE), {{0}}), "
            "CAST(CAST({0} AS DATE) AS DATETIME2(6)))"
            for unit in ("minute", "second")
        },
    }
    functions: Mapping[str, str] = {
        "lower": "LOWER({0})",
        "upper": "UPPER({0})",
    }

    @property
    def types(self) -> Mapping[Type, str]:
        """Names of types."""
        return {**super().types, Type.BOOLEAN: "INT", Type.TIMESTAMP: "DATETIME2(6)", Type.TIME: "TIME(6)"}

    def identifier(self, name: str) -> str:
        """A name in brackets."""
        return "[" + name.replace("]", "]]") + "]"

    def boolean(self, value: bool) -> str:  # noqa: FBT001 - it is the value itself
        """TRUE as 1 and FALSE as 0."""
        return "1" if value else "0"

    def condition(self, value: str) -> str:
        """A boolean value as a condition."""
        return f"({value} = 1)"

    def test(self, expr: Call, texts: Sequence[str]) -> str:
        """A condition; a comparison needs no detour through 1 and 0."""
        return WRITERS[expr.function](self, expr, texts) if expr.function in CONDITIONS else super().test(expr, texts)

    def predicate(self, condition: str) -> str:
        """1 if the condition is true, 0 if it is false, NULL if it is unknown."""
        return f"CASE WHEN {condition} THEN 1 WHEN NOT {condition} THEN 0 END"

    def real(self, value: float) -> str:
        """A double: a number with an exponent."""
        if not math.isfinite(value):
            raise InternalError("This engine has neither infinity nor NaN.")
        return f"({digits(value)})"

    def quoted(self, value: str) -> str:
        """A Unicode text in quotes. A backslash before a line break would join both lines."""
        parts = re.split(r"(?<=\\)(?=\r?\n)", value)
        written = " + ".join(f"N{super(MSSQLDialect, self).quoted(part)}" for part in parts)
        return f"({written})" if len(parts) > 1 else written

    def date(self, value: date) -> str:
        """A date, from ISO 8601."""
        return f"CAST('{value.isoformat()}' AS DATE)"

    def time(self, value: time) -> str:
        """A time of day, from ISO 8601."""
        return f"CAST('{value.isoformat()}' AS TIME(6))"

    def timestamp(self, value: datetime) -> str:
        """A timestamp, from ISO 8601."""
        return f"CAST('{value.isoformat(timespec='microseconds')}' AS DATETIME2(6))"

    def is_nan(self, text: str) -> str:  # noqa: ARG002 - always false
        """Condition that is always false: there is no NaN."""
        return "(1 = 0)"

    def binary(self, text: str) -> str:
        """A text in UTF-8, compared byte by byte, without its trailing spaces, which comparisons ignore."""
        return f"RTRIM(CAST(CAST({text} AS NVARCHAR(MAX)) COLLATE {COLLATION} AS VARCHAR(MAX)))"

    def whole_arithmetic(self, name: str, texts: Sequence[str], *, bounded: bool) -> str:  # noqa: ARG002 - just as fast
        """Arithmetic in 38 digits, which 64-bit integers cannot exceed."""
        sides = [EXACT.format(text) for text in texts]
        return self.narrowed(f"-{sides[0]}" if name == "negate" else f"{sides[0]} {SIGNS[name]} {sides[1]}")

    def narrowed(self, text: str) -> str:
        """An integer; NULL outside 64 bits."""
        return f"TRY_CAST({text} AS BIGINT)"

    def like(self, text: str, items: Sequence[str]) -> str:
        """LIKE. The length that `_` matches depends on the character, so it is refused."""
        if "_" in items:
            raise self.lacks("LIKE with an underscore")
        return super().like(text, items)

    def literal(self, character: str) -> str:
        """A literal character of a pattern; a bracket would open a set."""
        return f"!{character}" if character in "%_![" else character

    def piece(self, text: str, start: int, length: int) -> str:
        """A number of characters; used only to truncate concatenations."""
        return f"SUBSTRING({text}, {start}, {length})"

    def concatenated(self, texts: Sequence[str]) -> str:
        """Texts joined together; NULL if one is NULL."""
        return f"({' + '.join(f'CAST({text} AS NVARCHAR(MAX))' for text in texts)})"

    def day_text(self, text: str) -> str:
        """A date in ISO 8601, by style 23."""
        return f"CONVERT(VARCHAR(10), {text}, 23)"

    def digits_of(self, text: str) -> str:
        """An integer as text, in one byte per digit."""
        return f"CAST({text} AS VARCHAR(40))"

    def microseconds(self, text: str, kind: Type) -> str:
        """Microseconds since midnight, or since 1970, in 64 bits."""
        start = "CAST('00:00:00' AS TIME(6))" if kind is Type.TIME else "CAST('1970-01-01' AS DATETIME2(6))"
        return f"DATEDIFF_BIG(MICROSECOND, {start}, {text})"

    def hashed(self, parts: Sequence[str]) -> str:
        """The MD5 hash of UTF-8 bytes; style 2 writes hexadecimal digits."""
        joined = ", '|', ".join(self.utf8(part) for part in parts)
        return f"LOWER(CONVERT(VARCHAR(32), HASHBYTES('MD5', CONCAT({joined})), 2))"

    def utf8(self, text: str) -> str:
        """A text in UTF-8, with its trailing spaces."""
        return f"CAST(CAST({text} AS NVARCHAR(MAX)) COLLATE {COLLATION} AS VARCHAR(MAX))"

    def count(self, text: str = "*") -> str:
        """The number of rows or values in 64 bits; COUNT has 32."""
        return f"COUNT_BIG({text})"

    def counted(self, condition: str | None) -> str:
        """The number of rows that meet a condition, or of all rows."""
        return self.count("*" if condition is None else f"CASE WHEN {condition} THEN 1 END")

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division: subtract the remainder first, because decimals are rounded."""
        return f"CAST((({dividend}) - ({dividend}) % {divisor}) / {divisor} AS BIGINT)"

    def group_by(self, texts: Sequence[str]) -> str:
        """GROUP BY expressions: there are no positions, and queries are not allowed."""
        if any("(SELECT " in text for text in texts):
            raise self.lacks("grouping by a query")
        return f" GROUP BY {', '.join(texts)}" if texts else ""

    def union(self, left: str, operator: str, right: str) -> str:
        """A set operation; INTERSECT and EXCEPT have no ALL."""
        if operator in {"INTERSECT ALL", "EXCEPT ALL"}:
            raise self.lacks(operator)
        return super().union(left, operator, right)

    def order(self, text: str, kind: Type | None = None, *, descending: bool, nulls_first: bool) -> list[OrderTerm]:  # noqa: ARG002 - there is no NaN
        """Terms of ORDER BY. NULL sorts first by default."""
        return nulls_sorted(text, descending=descending, nulls_first=nulls_first)

    def tail(self, order: Sequence[str], count: int | None, offset: int) -> str:
        """ORDER BY and OFFSET … FETCH, which require each other in nested queries."""
        if count == 0:
            raise self.lacks("LIMIT 0")
        if not order and count is None and not offset:
            return ""
        listed = ", ".join(order) or "(SELECT NULL)"
        fetched = "" if count is None else f" FETCH NEXT {count} ROWS ONLY"
        return f" ORDER BY {listed} OFFSET {offset} ROWS{fetched}"


MSSQL = MSSQLDialect()
