"""BigQuery, in GoogleSQL.

Conditional expressions evaluate only the branch they take, and SAFE_… functions give NULL instead of an error.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import ClassVar

from hedgerow.dialects.base import OrderTerm, digits
from hedgerow.dialects.untested_base import UntestedBase
from hedgerow.expressions.types import Type

ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}


class BigQueryDialect(UntestedBase):
    """BigQuery; `namespace` is the project and the dataset of the tables."""

    name = "bigquery"
    label = "BigQuery"
    experimental = True
    double = "FLOAT64"
    whole = "INT64"
    integer = "INT64"
    huge = "BIGNUMERIC"
    text = "STRING"
    strict_nan = True
    midnight = "CAST({0} AS DATETIME)"
    instant = "DATETIME({0}, 'UTC')"
    seconds_later = "DATETIME_ADD({0}, INTERVAL ({1}) SECOND)"
    days = "DATETIME_DIFF({1}, {0}, DAY)"
    rounded_decimal = "SAFE_CAST(ROUND({0}) AS INT64)"
    last_day = "LAST_DAY(CAST({0} AS DATE), MONTH)"
    parts: ClassVar[Mapping[str, str]] = {
        **{part: f"EXTRACT({part.upper()} FROM {{0}})" for part in ("year", "quarter", "month", "day", "dayofyear")},
        **{part: f"EXTRACT({part.upper()} FROM {{0}})" for part in ("hour", "minute", "second")},
        "week": "EXTRACT(ISOWEEK FROM {0})",
        "dayofweek": "(EXTRACT(DAYOFWEEK FROM {0}) - 1)",
        "isodow": "(MOD(EXTRACT(DAYOFWEEK FROM {0}) + 5, 7) + 1)",
    }
    units: ClassVar[Mapping[str, str]] = {
        unit: f"DATETIME_TRUNC({{0}}, {'ISOWEEK' if unit == 'week' else unit.upper()})"
        for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    }
    functions: Mapping[str, str] = {
        "lower": "LOWER({0})",
        "upper": "UPPER({0})",
        "length": "CHAR_LENGTH({0})",
        "trunc": "TRUNC(CAST({0} AS FLOAT64))",
        "is_nan": "IS_NAN(CAST({0} AS FLOAT64))",
        "is_infinite": "IS_INF(CAST({0} AS FLOAT64))",
    }

    @property
    def types(self) -> Mapping[Type, str]:
        """Names of types. DATETIME has no time zone, TIMESTAMP has one."""
        return {**super().types, Type.BOOLEAN: "BOOL", Type.TIMESTAMP: "DATETIME"}

    def identifier(self, name: str) -> str:
        """A name in backticks, within which a dot would still separate names."""
        if "." in name:
            raise self.lacks("a name that contains a dot")
        return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"

    def real(self, value: float) -> str:
        """A double: a number with an exponent."""
        return f"({digits(value)})" if math.isfinite(value) else super().real(value)

    def decimal(self, value: Decimal) -> str:
        """A decimal; without its type it would be a double."""
        return f"BIGNUMERIC '{value:f}'"

    def quoted(self, value: str) -> str:
        """A text in quotes; backslashes and line breaks are escaped."""
        return "'" + "".join(ESCAPES.get(character, character) for character in value) + "'"

    def timestamp(self, value: datetime) -> str:
        """A timestamp without a time zone."""
        return f"DATETIME '{value.isoformat(sep=' ')}'"

    def is_nan(self, text: str) -> str:
        """Condition that a double is NaN."""
        return f"IS_NAN({text})"

    def order(self, text: str, kind: Type | None = None, *, descending: bool, nulls_first: bool) -> list[OrderTerm]:
        """Terms of ORDER BY. BigQuery sorts NaN first; it must come last."""
        terms = super().order(text, descending=descending, nulls_first=nulls_first)
        if kind is not Type.FLOAT:
            return terms
        return [*super().order(f"IS_NAN({text})", descending=descending, nulls_first=nulls_first), *terms]

    def binary(self, text: str) -> str:
        """A text without its column's collation."""
        return f"COLLATE({text}, '')"

    def unbounded(self, name: str, left: str, right: str, plain: str) -> str:  # noqa: ARG002 - not needed here
        """Arithmetic in which the NULL of an overflow becomes infinity."""
        if name == "divide":
            return f"IEEE_DIVIDE({left}, NULLIF({right}, 0))"
        over = f"IEEE_DIVIDE({left}, 0) * {right}" if name == "multiply" else f"IEEE_DIVIDE({left}, ABS({right}) * 0)"
        return f"COALESCE(SAFE_{name.upper()}({left}, {right}), {over})"

    def whole_arithmetic(self, name: str, texts: Sequence[str], *, bounded: bool) -> str:  # noqa: ARG002 - just as fast
        """Integer arithmetic by SAFE_… functions."""
        return f"SAFE_{name.upper()}({', '.join(texts)})"

    def whole_quotient(self, name: str, left: str, right: str) -> str:
        """Integer division and remainder: DIV and MOD."""
        return f"{'DIV' if name == 'divide_whole' else 'MOD'}({left}, NULLIF({right}, 0))"

    def narrowed(self, text: str) -> str:
        """An integer; NULL outside 64 bits."""
        return f"SAFE_CAST({text} AS INT64)"

    def like(self, text: str, items: Sequence[str]) -> str:
        """LIKE; the escape character is always a backslash."""
        characters = [item if len(item) == 1 else _escaped(item[1:]) for item in items]
        return f"({text} LIKE {self.string(''.join(characters))})"

    def microseconds(self, text: str, kind: Type) -> str:
        """Microseconds since midnight, or since 1970."""
        if kind is Type.TIME:
            return f"TIME_DIFF({text}, TIME '00:00:00', MICROSECOND)"
        return f"DATETIME_DIFF({text}, DATETIME '1970-01-01 00:00:00', MICROSECOND)"

    def hashed(self, parts: Sequence[str]) -> str:
        """The MD5 hash, from bytes to hexadecimal digits."""
        joined = ", '|', ".join(parts)
        return f"TO_HEX(MD5(CONCAT({joined})))"

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division, by DIV."""
        return f"DIV({dividend}, {divisor})"

    def union(self, left: str, operator: str, right: str) -> str:
        """A set operation; DISTINCT is explicit, and INTERSECT and EXCEPT have no ALL."""
        if operator in {"INTERSECT ALL", "EXCEPT ALL"}:
            raise self.lacks(operator)
        words = operator if operator.endswith("ALL") else f"{operator} DISTINCT"
        return f"({left}) {words} ({right})"

    def limit(self, count: int | None, offset: int) -> str:
        """LIMIT and OFFSET; OFFSET requires a LIMIT."""
        return super().limit(2**63 - 1 if count is None and offset else count, offset)


def _escaped(character: str) -> str:
    return f"\\{character}" if character in "%_\\" else character


BIGQUERY = BigQueryDialect()
