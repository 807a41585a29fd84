"""BigQuery, in GoogleSQL.

Conditional expressions evaluate nothing but the branch they take, and SAFE_… functions give NULL in place of an error.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import ClassVar

from hedgerow.dialects.base import digits
from hedgerow.dialects.untested_base import UntestedBase
from hedgerow.expressions.types import Type

ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}


class BigQueryDialect(UntestedBase):
    """BigQuery; `place` is the project and the dataset in which tables are looked for."""

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
        """DATETIME has no time zone; TIMESTAMP would have one."""
        return {**super().types, Type.BOOLEAN: "BOOL", Type.TIMESTAMP: "DATETIME"}

    def identifier(self, name: str) -> str:
        """In backquotes, within which a dot would still part names."""
        if "." in name:
            raise self.lacks("a name with a dot in it")
        return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"

    def real(self, value: float) -> str:
        """A number with an exponent is a double."""
        return f"({digits(value)})" if math.isfinite(value) else super().real(value)

    def decimal(self, value: Decimal) -> str:
        """A decimal without its word would be a double."""
        return f"BIGNUMERIC '{value:f}'"

    def quoted(self, value: str) -> str:
        """A backslash takes the meaning from the next sign, and a line end cannot stand there."""
        return "'" + "".join(ESCAPES.get(sign, sign) for sign in value) + "'"

    def timestamp(self, value: datetime) -> str:
        """DATETIME has no time zone."""
        return f"DATETIME '{value.isoformat(sep=' ')}'"

    def is_nan(self, text: str) -> str:
        """A function."""
        return f"IS_NAN({text})"

    def order(self, text: str, kind: Type | None = None, *, descending: bool, nulls_first: bool) -> str:
        """NaN after every number; here it would come first."""
        term = super().order(text, descending=descending, nulls_first=nulls_first)
        if kind is not Type.FLOAT:
            return term
        nan = super().order(f"IS_NAN({text})", descending=descending, nulls_first=nulls_first)
        return f"{nan}, {term}"

    def binary(self, text: str) -> str:
        """Without the collation that a column may have."""
        return f"COLLATE({text}, '')"

    def unbounded(self, name: str, left: str, right: str, plain: str) -> str:  # noqa: ARG002 - not needed here
        """NULL where it overflows becomes the infinity that it stands for."""
        if name == "divide":
            return f"IEEE_DIVIDE({left}, NULLIF({right}, 0))"
        over = f"IEEE_DIVIDE({left}, 0) * {right}" if name == "multiply" else f"IEEE_DIVIDE({left}, ABS({right}) * 0)"
        return f"COALESCE(SAFE_{name.upper()}({left}, {right}), {over})"

    def whole_arithmetic(self, name: str, texts: Sequence[str], *, bounded: bool) -> str:  # noqa: ARG002 - no dearer
        """SAFE_… functions."""
        return f"SAFE_{name.upper()}({', '.join(texts)})"

    def whole_quotient(self, name: str, left: str, right: str) -> str:
        """DIV and MOD."""
        return f"{'DIV' if name == 'divide_whole' else 'MOD'}({left}, NULLIF({right}, 0))"

    def narrowed(self, text: str) -> str:
        """SAFE_CAST."""
        return f"SAFE_CAST({text} AS INT64)"

    def like(self, text: str, items: Sequence[str]) -> str:
        """The escape sign is a backslash, always."""
        signs = [item if len(item) == 1 else _meant(item[1:]) for item in items]
        return f"({text} LIKE {self.string(''.join(signs))})"

    def microseconds(self, text: str, kind: Type) -> str:
        """Differences."""
        if kind is Type.TIME:
            return f"TIME_DIFF({text}, TIME '00:00:00', MICROSECOND)"
        return f"DATETIME_DIFF({text}, DATETIME '1970-01-01 00:00:00', MICROSECOND)"

    def hashed(self, parts: Sequence[str]) -> str:
        """MD5 gives bytes."""
        joined = ", '|', ".join(parts)
        return f"TO_HEX(MD5(CONCAT({joined})))"

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """DIV."""
        return f"DIV({dividend}, {divisor})"

    def union(self, left: str, operator: str, right: str) -> str:
        """DISTINCT is said; INTERSECT and EXCEPT have no ALL."""
        if operator in {"INTERSECT ALL", "EXCEPT ALL"}:
            raise self.lacks(operator)
        words = operator if operator.endswith("ALL") else f"{operator} DISTINCT"
        return f"({left}) {words} ({right})"

    def limit(self, count: int | None, offset: int) -> str:
        """OFFSET needs a LIMIT."""
        return super().limit(2**63 - 1 if count is None and offset else count, offset)


def _meant(sign: str) -> str:
    return f"\\{sign}" if sign in "%_\\" else sign


BIGQUERY = BigQueryDialect()
