"""Snowflake.

Integers have up to 38 digits, so results that must fit 64 bits are compared with their limits. NaN equals NaN and is
greater than every number, as in DuckDB.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import ClassVar

from hedgerow.dialects.base import digits
from hedgerow.dialects.untested_base import UntestedBase
from hedgerow.dialects.untested_base.fragments import SIGNS
from hedgerow.dialects.untested_base.numbers import fits
from hedgerow.expressions.types import Type


class SnowflakeDialect(UntestedBase):
    """Snowflake."""

    name = "snowflake"
    label = "Snowflake"
    experimental = True
    double = "FLOAT"
    whole = "NUMBER(38, 0)"
    integer = "NUMBER(38, 0)"
    huge = "NUMBER(38, 0)"
    lists_values = True
    midnight = "CAST({0} AS TIMESTAMP_NTZ)"
    instant = "TO_TIMESTAMP_NTZ(DATE_PART(EPOCH_MICROSECOND, {0}), 6)"
    seconds_later = "DATEADD(SECOND, {1}, {0})"
    days = "DATEDIFF(DAY, {0}, {1})"
    rounded_decimal = "CASE WHEN ROUND({0}) BETWEEN -9223372036854775808 AND 9223372036854775807 THEN ROUND({0}) END"
    last_day = "LAST_DAY(CAST({0} AS DATE))"
    of_double: ClassVar[Mapping[str, str]] = {**UntestedBase.of_double, "log10": "LOG(10, {0})"}
    parts: ClassVar[Mapping[str, str]] = {
        **{part: f"{part.upper()}({{0}})" for part in ("year", "quarter", "month", "day", "hour", "minute", "second")},
        "dayofyear": "DAYOFYEAR({0})",
        "week": "WEEKISO({0})",
        "dayofweek": "MOD(DAYOFWEEKISO({0}), 7)",
        "isodow": "DAYOFWEEKISO({0})",
    }
    units: ClassVar[Mapping[str, str]] = {
        **{unit: f"DATE_TRUNC('{unit}', {{0}})" for unit in ("year", "quarter", "month", "day")},
        **{unit: f"DATE_TRUNC('{unit}', {{0}})" for unit in ("hour", "minute", "second")},
        # The first day of the week is a session parameter; the ISO number of a day is not.
        "week": "DATEADD(DAY, 1 - DAYOFWEEKISO({0}), DATE_TRUNC('day', {0}))",
    }
    functions: Mapping[str, str] = {
        "lower": "LOWER({0})",
        "upper": "UPPER({0})",
        "length": "LENGTH({0})",
    }

    @property
    def types(self) -> Mapping[Type, str]:
        """Names of types. The meaning of TIMESTAMP is a session parameter."""
        return {**super().types, Type.TIMESTAMP: "TIMESTAMP_NTZ"}

    def real(self, value: float) -> str:
        """A double, from text: a number with an exponent can be a decimal."""
        written = digits(value).strip("'")
        return f"CAST('{written}' AS FLOAT)"

    def quoted(self, value: str) -> str:
        """A text in quotes, with escaped backslashes."""
        return super().quoted(value.replace("\\", "\\\\"))

    def date(self, value: date) -> str:
        """A date."""
        return f"CAST('{value.isoformat()}' AS DATE)"

    def time(self, value: time) -> str:
        """A time of day."""
        return f"CAST('{value.isoformat()}' AS TIME)"

    def timestamp(self, value: datetime) -> str:
        """A timestamp without a time zone."""
        return f"CAST('{value.isoformat(sep=' ')}' AS TIMESTAMP_NTZ)"

    def is_nan(self, text: str) -> str:
        """Condition that a double is NaN, which equals itself."""
        return f"({text} = {self.real(float('nan'))})"

    def binary(self, text: str) -> str:
        """A text with the collation that compares code points."""
        return f"COLLATE({text}, 'utf8')"

    def whole_arithmetic(self, name: str, texts: Sequence[str], *, bounded: bool) -> str:
        """Arithmetic in 38 digits, which 64-bit integers cannot exceed."""
        result = f"(-{texts[0]})" if name == "negate" else f"({texts[0]} {SIGNS[name]} {texts[1]})"
        return result if bounded else self.narrowed(result)

    def whole_quotient(self, name: str, left: str, right: str) -> str:
        """Integer division and remainder. Subtract the remainder first, because quotients are rounded."""
        rest = f"MOD({left}, NULLIF({right}, 0))"
        if name == "remainder_whole":
            return rest
        return f"CAST(({left} - {rest}) / NULLIF({right}, 0) AS NUMBER(38, 0))"

    def narrowed(self, text: str) -> str:
        """An integer; NULL outside 64 bits."""
        return f"CASE WHEN {fits(text)} THEN {text} END"

    def day_text(self, text: str) -> str:
        """A date in ISO 8601; the default format is a session parameter."""
        return f"TO_CHAR({text}, 'YYYY-MM-DD')"

    def microseconds(self, text: str, kind: Type) -> str:
        """Microseconds since midnight, or since 1970."""
        if kind is Type.TIME:
            return f"DATEDIFF(MICROSECOND, CAST('00:00:00' AS TIME), {text})"
        return f"DATE_PART(EPOCH_MICROSECOND, {text})"

    def hashed(self, parts: Sequence[str]) -> str:
        """The MD5 hash."""
        joined = " || '|' || ".join(parts)
        return f"MD5({joined})"

    def union(self, left: str, operator: str, right: str) -> str:
        """A set operation; INTERSECT and EXCEPT have no ALL."""
        if operator in {"INTERSECT ALL", "EXCEPT ALL"}:
            raise self.lacks(operator)
        return f"({left}) {operator} ({right})"

    def limit(self, count: int | None, offset: int) -> str:
        """LIMIT and OFFSET; OFFSET requires a LIMIT, which can be NULL."""
        if count is None and offset:
            return f" LIMIT NULL OFFSET {offset}"
        return super().limit(count, offset)


SNOWFLAKE = SnowflakeDialect()
