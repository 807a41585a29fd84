"""Trino.

TRY gives NULL if integers overflow; doubles follow IEEE 754. Text has no collation.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from hedgerow.dialects.base import digits
from hedgerow.dialects.untested_base import UntestedBase
from hedgerow.dialects.untested_base.fragments import SIGNS
from hedgerow.expressions.types import Type

SIDES = {"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}


class TrinoDialect(UntestedBase):
    """Trino."""

    name = "trino"
    label = "Trino"
    experimental = True
    double = "DOUBLE"
    lists_values = True
    strict_nan = True
    midnight = "CAST({0} AS TIMESTAMP(6))"
    instant = "CAST({0} AT TIME ZONE 'UTC' AS TIMESTAMP(6))"
    seconds_later = "date_add('second', {1}, {0})"
    days = "date_diff('day', date_trunc('day', {0}), date_trunc('day', {1}))"
    rounded_decimal = "TRY_CAST({0} AS BIGINT)"
    last_day = "last_day_of_month({0})"
    of_double: ClassVar[Mapping[str, str]] = {**UntestedBase.of_double, "ceil": "CEILING({0})"}
    parts: ClassVar[Mapping[str, str]] = {
        **{part: f"{part}({{0}})" for part in ("year", "quarter", "month", "day", "hour", "minute", "second", "week")},
        "dayofyear": "day_of_year({0})",
        "dayofweek": "(day_of_week({0}) % 7)",
        "isodow": "day_of_week({0})",
    }
    units: ClassVar[Mapping[str, str]] = {
        unit: f"date_trunc('{unit}', {{0}})"
        for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    }
    functions: Mapping[str, str] = {
        "lower": "lower(CAST({0} AS VARCHAR))",
        "upper": "upper(CAST({0} AS VARCHAR))",
        "length": "length(CAST({0} AS VARCHAR))",
        "remainder": "(CAST({0} AS DOUBLE) % NULLIF(CAST({1} AS DOUBLE), DOUBLE '0'))",
        "trunc": "truncate(CAST({0} AS DOUBLE))",
        "exp": "exp(CAST({0} AS DOUBLE))",
        "is_nan": "is_nan(CAST({0} AS DOUBLE))",
        "is_infinite": "is_infinite(CAST({0} AS DOUBLE))",
        "is_finite": "is_finite(CAST({0} AS DOUBLE))",
    }

    def real(self, value: float) -> str:
        """A double: a number with an exponent."""
        if math.isnan(value):
            return "nan()"
        if math.isinf(value):
            return "infinity()" if value > 0 else "(-infinity())"
        return f"({digits(value)})"

    def timestamp(self, value: datetime) -> str:
        """A timestamp with six decimals, which set its precision."""
        return f"TIMESTAMP '{value.isoformat(sep=' ', timespec='microseconds')}'"

    def is_nan(self, text: str) -> str:
        """Condition that a double is NaN."""
        return f"is_nan({text})"

    def binary(self, text: str) -> str:
        """A text without padding, compared by code points."""
        return f"CAST({text} AS VARCHAR)"

    def unbounded(self, name: str, left: str, right: str, plain: str) -> str:  # noqa: ARG002 - no errors occur
        """Plain arithmetic: overflow gives infinity."""
        return plain

    def held(self, text: str, low: float, high: float) -> str:  # noqa: ARG002 - no errors occur
        """A double, unchanged."""
        return text

    def whole_arithmetic(self, name: str, texts: Sequence[str], *, bounded: bool) -> str:  # noqa: ARG002 - just as fast
        """Integer arithmetic by TRY."""
        sides = [f"CAST({text} AS BIGINT)" for text in texts]
        return f"TRY(-{sides[0]})" if name == "negate" else f"TRY({sides[0]} {SIGNS[name]} {sides[1]})"

    def narrowed(self, text: str) -> str:
        """An integer; NULL outside 64 bits."""
        return f"TRY_CAST({text} AS BIGINT)"

    def trimmed(self, name: str, text: str, characters: str) -> str:
        """A text without some characters at its ends, by standard SQL's TRIM."""
        return f"trim({SIDES[name]} {self.string(characters)} FROM {self.letters(text)})"

    def microseconds(self, text: str, kind: Type) -> str:
        """Whole seconds plus the six decimals of the text: the smallest unit of date_diff is a millisecond."""
        exact, start = (
            ("TIME(6)", "TIME '00:00:00'") if kind is Type.TIME else ("TIMESTAMP(6)", "TIMESTAMP '1970-01-01 00:00:00'")
        )
        value = f"CAST({text} AS {exact})"
        seconds = f"date_diff('second', {start}, date_trunc('second', {value}))"
        return f"({seconds} * 1000000 + CAST(substr(CAST({value} AS VARCHAR), -6) AS BIGINT))"

    def hashed(self, parts: Sequence[str]) -> str:
        """The MD5 hash, from bytes to hexadecimal digits."""
        joined = " || '|' || ".join(parts)
        return f"lower(to_hex(md5(to_utf8({joined}))))"

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division: subtract the remainder first, because decimals are rounded."""
        return f"CAST((({dividend}) - ({dividend}) % {divisor}) / {divisor} AS BIGINT)"

    def limit(self, count: int | None, offset: int) -> str:
        """OFFSET and LIMIT, in this order."""
        text = f" OFFSET {offset}" if offset else ""
        return text if count is None else f"{text} LIMIT {count}"


TRINO = TrinoDialect()
