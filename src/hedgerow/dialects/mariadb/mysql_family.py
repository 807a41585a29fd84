"""Spelling that MySQL 8 and MariaDB share.

Text is compared as bytes, whatever its collation. There is no infinity and no NaN: what overflows is NULL. Numbers that
overflow would be an error, so they are looked at beforehand; CASE takes its branches one after the other.
"""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from hedgerow.dialects.base import digits
from hedgerow.dialects.untested_base import UntestedBase
from hedgerow.dialects.untested_base.numbers import SIGNS, fits
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
        # Of a column, this is what is stored, whatever the time zone of the session is; 0 stands for '0000-00-00'.
        "TIMESTAMPADD(MICROSECOND, CAST(NULLIF(UNIX_TIMESTAMP({0}), 0) * 1000000 AS SIGNED), "
        "TIMESTAMP '1970-01-01 00:00:00')"
    )
    days = "DATEDIFF({1}, {0})"
    rounded_decimal = (
        "CASE WHEN ROUND({0}) BETWEEN -9223372036854775808 AND 9223372036854775807 THEN CAST(ROUND({0}) AS SIGNED) END"
    )
    flag = "({0})"
    parts: ClassVar[Mapping[str, str]] = {
        # A date may lack its month or its day; both are then 0.
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
        """Names in CAST."""
        return {**super().types, Type.BOOLEAN: "SIGNED", Type.TIMESTAMP: "DATETIME(6)", Type.TIME: "TIME(6)"}

    def identifier(self, name: str) -> str:
        """In backquotes."""
        return "`" + name.replace("`", "``") + "`"

    def real(self, value: float) -> str:
        """A number with an exponent is a double."""
        if not math.isfinite(value):
            raise InternalError("Only finite numbers can be written down.")
        return f"({digits(value)})"

    def quoted(self, value: str) -> str:
        """Write backslashes and characters beyond ASCII by their bytes: their meaning is a setting."""
        if value.isascii() and "\\" not in value:
            return super().quoted(value)
        return f"CONVERT(X'{value.encode().hex()}' USING utf8mb4)"

    def is_nan(self, text: str) -> str:  # noqa: ARG002 - whatever it is
        """Never."""
        return "(1 = 0)"

    def binary(self, text: str) -> str:
        """The bytes of UTF-8; a binary collation of text would leave out blanks at the end."""
        return f"CAST(CONVERT({text} USING utf8mb4) AS BINARY)"

    def letters(self, text: str) -> str:
        """Characters told apart."""
        return f"CONVERT({text} USING utf8mb4) COLLATE utf8mb4_bin"

    def printable(self, text: str, expr: Expr) -> str:
        """Dates without a month or a day, and those that the calendar does not have, cannot be printed."""
        if expr.type not in {Type.DATE, Type.TIMESTAMP}:
            return super().printable(text, expr)
        low, high = self.limits(expr) or ("", "")
        whole = f"MONTH({text}) > 0 AND DAYOFMONTH({text}) BETWEEN 1 AND DAYOFMONTH(LAST_DAY({text}))"
        return f"CASE WHEN {text} BETWEEN {low} AND {high} AND {whole} THEN {text} END"

    def limits(self, expr: Expr) -> tuple[str, str] | None:
        """Times are durations, and may be longer than a day."""
        return ("TIME '00:00:00'", "TIME '23:59:59.999999'") if expr.type is Type.TIME else super().limits(expr)

    def whole_arithmetic(self, name: str, texts: Sequence[str], *, bounded: bool) -> str:
        """In decimals, which have 65 digits."""
        sides = texts if bounded else [EXACT.format(text) for text in texts]
        made = f"(-{sides[0]})" if name == "negate" else f"({sides[0]} {SIGNS[name]} {sides[1]})"
        return made if bounded else self.narrowed(made)

    def whole_quotient(self, name: str, left: str, right: str) -> str:
        """DIV and %."""
        return f"({left} {'DIV' if name == 'divide_whole' else '%'} NULLIF({right}, 0))"

    def narrowed(self, text: str) -> str:
        """Compared with the ends of 64 bits."""
        return f"CASE WHEN {fits(text)} THEN CAST({text} AS SIGNED) END"

    def piece(self, text: str, start: int, length: int) -> str:
        """SUBSTRING."""
        return f"SUBSTRING({self.letters(text)}, {start}, {length})"

    def concatenated(self, texts: Sequence[str]) -> str:
        """The sign for it means OR."""
        return f"CONCAT({', '.join(map(self.letters, texts))})"

    def day_text(self, text: str) -> str:
        """A format."""
        return f"DATE_FORMAT({text}, '%Y-%m-%d')"

    def microseconds(self, text: str, kind: Type) -> str:
        """Parts of a time, or a difference."""
        if kind is Type.TIME:
            return f"(FLOOR(TIME_TO_SEC({text})) * 1000000 + MICROSECOND({text}))"
        return f"TIMESTAMPDIFF(MICROSECOND, TIMESTAMP '1970-01-01 00:00:00', {text})"

    def since_midnight(self, text: str) -> str:
        """Times are durations: one that is negative is no time of day, even by less than a second."""
        return f"CASE WHEN {text} >= TIME '00:00:00' THEN {self.microseconds(text, Type.TIME)} END"

    def hashed(self, parts: Sequence[str]) -> str:
        """MD5 gives hexadecimal digits."""
        joined = ", '|', ".join(parts)
        return f"MD5(CONCAT({joined}))"

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """DIV."""
        return f"(({dividend}) DIV {divisor})"

    def order(self, text: str, kind: Type | None = None, *, descending: bool, nulls_first: bool) -> str:  # noqa: ARG002 - there is no NaN
        """NULL is the least, unless it is told otherwise."""
        term = f"{text} {'DESC' if descending else 'ASC'}"
        if nulls_first is not descending:
            return term
        return f"CASE WHEN {text} IS NULL THEN 1 ELSE 0 END {'DESC' if nulls_first else 'ASC'}, {term}"

    def limit(self, count: int | None, offset: int) -> str:
        """OFFSET needs a LIMIT."""
        return super().limit(2**64 - 1 if count is None and offset else count, offset)
