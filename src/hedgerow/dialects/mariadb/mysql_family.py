"""SQL that MySQL 8 and MariaDB share.

Text is compared as bytes, whatever its collation. There is no infinity and no NaN: overflow gives NULL. An overflow
would be an error, so it is tested beforehand; CASE evaluates its branches in order.
"""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from hedgerow.dialects.base import OrderTerm, digits
from hedgerow.dialects.untested_base import UntestedBase, nulls_sorted
from hedgerow.dialects.untested_base.fragments import SIGNS
from hedgerow.dialects.untested_base.numbers import fits
from hedgerow.errors import InternalError
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type

EXACT = "CAST({0} AS DECIMAL(20, 0))"


class MySQLFamily(UntestedBase):
    """Base of MariaDB's dialect, which runs on a server in our tests, and of MySQL's, which does not."""

    name = "mysql"
    label = "MySQL"
    double = "DOUBLE"
    whole = "SIGNED"
    integer = "SIGNED"
    text = "CHAR"
    has_nan = False
    joins: Mapping[str, str] = {"inner": "JOIN", "left": "LEFT JOIN", "cross": "CROSS JOIN"}
    without: ClassVar[frozenset[str]] = frozenset({"trim", "ltrim", "rtrim"})
    midnight = "CAST({0} AS DATETIME(6))"
    instant = (
        # For a column this is the stored value, whatever the time zone of the session; 0 is '0000-00-00'.
        "TIMESTAMPADD(MICROSECOND, CAST(NULLIF(UNIX_TIMESTAMP({0}), 0) * 1000000 AS SIGNED), "
        "TIMESTAMP '1970-01-01 00:00:00')"
    )
    days = "DATEDIFF({1}, {0})"
    rounded_decimal = (
        "CASE WHEN ROUND({0}) BETWEEN -9223372036854775808 AND 9223372036854775807 THEN CAST(ROUND({0}) AS SIGNED) END"
    )
    flag = "({0})"
    parts: ClassVar[Mapping[str, str]] = {
        # A date may lack its month or day, which are then 0.
        "year": "YEAR({0})",
        "quarter": "NULLIF(QUARTER({0}), 0)",
        "month": "NULLIF(MONTH({0}), 0)",
        "day": "NULLIF(DAYOFMONTH({0}), 0)",
        "week": "WEEK({0}, 3)",
        "dayofweek": "(DAYOFWEEK({0}) - 1)",
        "isodow": "(WEEKDAY({0}) + 1)",
        "dayofyear": "DAYOFYEAR({0})",
        "hour": "HOUR({0})",
        "minute": "MINUTE({0})",
        "second": "SECOND({0})",
    }
    units: ClassVar[Mapping[str, str]] = {
        "year": "CAST(DATE_FORMAT({0}, '%Y-01-01') AS DATETIME(6))",
        "quarter": "CAST(MAKEDATE(YEAR({0}), 1) + INTERVAL (QUARTER({0}) * 3 - 3) MONTH AS DATETIME(6))",
        "month": "CAST(DATE_FORMAT({0}, '%Y-%m-01') AS DATETIME(6))",
        "week": "CAST(DATE({0}) - INTERVAL WEEKDAY({0}) DAY AS DATETIME(6))",
        "day": "CAST(DATE({0}) AS DATETIME(6))",
        "hour": "CAST(DATE_FORMAT({0}, '%Y-%m-%d %H:00:00') AS DATETIME(6))",
        "minute": "CAST(DATE_FORMAT({0}, '%Y-%m-%d %H:%i:00') AS DATETIME(6))",
        "second": "CAST(DATE_FORMAT({0}, '%Y-%m-%d %H:%i:%s') AS DATETIME(6))",
    }
    functions: Mapping[str, str] = {
        "lower": "LOWER(CONVERT({0} USING utf8mb4))",
        "upper": "UPPER(CONVERT({0} USING utf8mb4))",
        "length": "CHAR_LENGTH(CONVERT({0} USING utf8mb4))",
    }

    @property
    def types(self) -> Mapping[Type, str]:
        """Names of types in CAST."""
        return {**super().types, Type.BOOLEAN: "SIGNED", Type.TIMESTAMP: "DATETIME(6)", Type.TIME: "TIME(6)"}

    def identifier(self, name: str) -> str:
        """A name in backticks."""
        return "`" + name.replace("`", "``") + "`"

    def real(self, value: float) -> str:
        """A double: a number with an exponent."""
        if not math.isfinite(value):
            raise InternalError("This engine has neither infinity nor NaN.")
        return f"({digits(value)})"

    def quoted(self, value: str) -> str:
        """A text, with bytes for backslashes and characters beyond ASCII: their meaning is a setting."""
        if value.isascii() and "\\" not in value:
            return super().quoted(value)
        return f"CONVERT(X'{value.encode().hex()}' USING utf8mb4)"

    def is_nan(self, text: str) -> str:  # noqa: ARG002 - always false
        """Condition that is always false: there is no NaN."""
        return "(1 = 0)"

    def binary(self, text: str) -> str:
        """A text as its UTF-8 bytes; a binary collation would ignore trailing spaces."""
        return f"CAST(CONVERT({text} USING utf8mb4) AS BINARY)"

    def letters(self, text: str) -> str:
        """A text with a collation that distinguishes all characters."""
        return f"CONVERT({text} USING utf8mb4) COLLATE utf8mb4_bin"

    def printable(self, text: str, expr: Expr) -> str:
        """A group key; NULL for dates without a month or day and for invalid dates."""
        if expr.type not in {Type.DATE, Type.TIMESTAMP}:
            return super().printable(text, expr)
        low, high = self.limits(expr) or ("", "")
        whole = f"MONTH({text}) > 0 AND DAYOFMONTH({text}) BETWEEN 1 AND DAYOFMONTH(LAST_DAY({text}))"
        return f"CASE WHEN {text} BETWEEN {low} AND {high} AND {whole} THEN {text} END"

    def limits(self, expr: Expr) -> tuple[str, str] | None:
        """Times are durations and can exceed a day."""
        return ("TIME '00:00:00'", "TIME '23:59:59.999999'") if expr.type is Type.TIME else super().limits(expr)

    def whole_arithmetic(self, name: str, texts: Sequence[str], *, bounded: bool) -> str:
        """Arithmetic in decimals of 65 digits, unless the result is bounded."""
        sides = texts if bounded else [EXACT.format(text) for text in texts]
        result = f"(-{sides[0]})" if name == "negate" else f"({sides[0]} {SIGNS[name]} {sides[1]})"
        return result if bounded else self.narrowed(result)

    def whole_quotient(self, name: str, left: str, right: str) -> str:
        """Integer division and remainder: DIV and %."""
        return f"({left} {'DIV' if name == 'divide_whole' else '%'} NULLIF({right}, 0))"

    def narrowed(self, text: str) -> str:
        """An integer; NULL outside 64 bits."""
        return f"CASE WHEN {fits(text)} THEN CAST({text} AS SIGNED) END"

    def piece(self, text: str, start: int, length: int) -> str:
        """A number of characters, by SUBSTRING."""
        return f"SUBSTRING({self.letters(text)}, {start}, {length})"

    def concatenated(self, texts: Sequence[str]) -> str:
        """Texts joined by CONCAT; `||` means OR."""
        return f"CONCAT({', '.join(map(self.letters, texts))})"

    def day_text(self, text: str) -> str:
        """A date in ISO 8601, by DATE_FORMAT."""
        return f"DATE_FORMAT({text}, '%Y-%m-%d')"

    def microseconds(self, text: str, kind: Type) -> str:
        """Microseconds since midnight, or since 1970."""
        if kind is Type.TIME:
            return f"(FLOOR(TIME_TO_SEC({text})) * 1000000 + MICROSECOND({text}))"
        return f"TIMESTAMPDIFF(MICROSECOND, TIMESTAMP '1970-01-01 00:00:00', {text})"

    def since_midnight(self, text: str) -> str:
        """A time of day in microseconds; NULL for negative durations."""
        return f"CASE WHEN {text} >= TIME '00:00:00' THEN {self.microseconds(text, Type.TIME)} END"

    def hashed(self, parts: Sequence[str]) -> str:
        """The MD5 hash."""
        joined = ", '|', ".join(parts)
        return f"MD5(CONCAT({joined}))"

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division, by DIV."""
        return f"(({dividend}) DIV {divisor})"

    def order(self, text: str, kind: Type | None = None, *, descending: bool, nulls_first: bool) -> list[OrderTerm]:  # noqa: ARG002 - there is no NaN
        """Terms of ORDER BY. NULL sorts first by default."""
        return nulls_sorted(text, descending=descending, nulls_first=nulls_first)

    def limit(self, count: int | None, offset: int) -> str:
        """LIMIT and OFFSET; OFFSET requires a LIMIT."""
        return super().limit(2**64 - 1 if count is None and offset else count, offset)
