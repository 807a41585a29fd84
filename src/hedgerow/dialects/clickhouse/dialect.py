"""ClickHouse's names, constants, keys, aggregates and clauses."""

import copy
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Self

from hedgerow.dialects.base import Dialect, ExactAggregateCall, OrderTerm, digits, shift_of
from hedgerow.dialects.clickhouse import casts, exact_aggregates, numbers, texts, timestamps
from hedgerow.dialects.clickhouse.spelling import Writer, double, let, one_spelling, quoted, sort_key
from hedgerow.dialects.statement import MATERIALIZED
from hedgerow.expressions import zones
from hedgerow.expressions.nodes import Call, Column, Constant, Expr
from hedgerow.expressions.types import Type

WRITERS: dict[str, Writer] = {
    **numbers.COMPARISONS,
    **numbers.WRITERS,
    **texts.WRITERS,
    **texts.PATTERNS,
    **timestamps.WRITERS,
    **timestamps.FORMATS,
    **casts.WRITERS,
}
COLUMN = "COLUMNS('.*')"
"""The only column of a query, whatever its name."""


class ClickHouseDialect(Dialect):
    """ClickHouse 26, in process (chdb) or as a server."""

    name = "clickhouse"
    label = "ClickHouse"
    materialized = MATERIALIZED
    double = "Float64"
    whole = "Int64"
    integer = "Int32"
    huge = "Int128"
    exact_integers = True
    text = "String"
    plain_texts = frozenset({"VARCHAR"})
    nests_joins = False
    joins_by_equality = True
    _around: frozenset[str] = frozenset()
    """Outer relations to which the current nested query refers."""

    # Names and constants

    def identifier(self, name: str) -> str:
        """A name in backticks, with backslash escapes."""
        return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"

    def constant(self, value: Constant) -> str:
        """A constant. ClickHouse would parse integers beyond 64 bits as doubles."""
        if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
            return f"toInt256('{value}')"
        return super().constant(value)

    def real(self, value: float) -> str:
        """A double: a number with an exponent."""
        return f"({digits(value)})"

    def decimal(self, value: Decimal) -> str:
        """A decimal. ClickHouse would parse a number with a point as a double."""
        shape = value.as_tuple()
        scale = max(0, -int(shape.exponent))
        size = 128 if len(shape.digits) <= 38 and scale <= 38 else 256
        return f"toDecimal{size}('{value:f}', {scale})"

    def string(self, value: str) -> str:
        """A text, with backslash escapes."""
        return quoted(value)

    def date(self, value: date) -> str:
        """A date as Date32, the type with the wide range."""
        return f"toDate32('{value.isoformat()}')"

    def time(self, value: time) -> str:
        """A time of day with microseconds."""
        return f"toTime64('{value.isoformat()}', 6)"

    def timestamp(self, value: datetime) -> str:
        """A timestamp at UTC."""
        return f"toDateTime64('{value.isoformat(sep=' ')}', 6, 'UTC')"

    # Expressions

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """A function of the allow-list, written by its entry in `WRITERS`."""
        converted = self.time_conversion(expr, texts)
        if converted is not None:
            return converted
        writer = WRITERS.get(expr.function)
        written = None if writer is None else writer(expr, texts)
        if written is None:
            raise self.lacks(f"the function {expr.function} with these arguments")
        return written

    def in_zone(self, expr: Call, text: str) -> str:
        """A timestamp in another zone, computed in microseconds since 1970; NULL outside ClickHouse's range."""
        shift = shift_of(expr)
        if shift.is_nothing:
            return text
        added = shift.tree(lambda change: f"z < {zones.micros(change)}", 1_000_000)
        inside = f"z BETWEEN {zones.micros(zones.FIRST)} AND {zones.micros(zones.LAST)}"
        shown = let(f"if({inside}, z + toInt64({added}), z)", z=timestamps.micros(text, expr.arguments[0]))
        return timestamps.from_micros(shown)

    def since_midnight(self, text: str) -> str:
        """A time of day in microseconds."""
        return f"toInt64(toDecimal64({text}, 6) * 1000000)"

    def as_double(self, text: str, expr: Expr) -> str:
        """A number as the double that DuckDB would give."""
        return double(text, expr)

    def as_whole(self, text: str, kind: str) -> str:
        """An integer. The value beneath a NULL may be NaN and must not be cast."""
        return f"if(isNull({text}), NULL, CAST(ifNull({text}, 0e0) AS {kind}))"

    def one_value(self, query: str, nothing: str | None) -> str:
        """A query as a value. ClickHouse runs a correlated one as an outer join, which gives NULL if no row matches."""
        return f"({query})" if nothing is None else f"ifNull(({query}), {nothing})"

    def inside(self, outer: Sequence[Column]) -> Self:
        """Refuse references across two levels of nesting: ClickHouse resolves columns one level up only."""
        relations = frozenset(column.table for column in outer)
        if relations & self._around:
            raise self.lacks("a nested query that refers to columns two levels further out")
        nested = copy.copy(self)
        nested._around = relations  # noqa: SLF001 - a copy of this one
        return nested

    def among(self, left: str, query: str, *, correlated: bool = False) -> str:
        """IN over a query. A correlated query is not allowed after IN, but is after EXISTS."""
        if not correlated:
            return _unknown_among(left, query)
        rows = f"SELECT 1 FROM ({query}) AS found WHERE"
        return (
            f"CASE WHEN EXISTS ({rows} {COLUMN} = {left}) THEN TRUE "
            f"WHEN EXISTS ({rows} isNull({COLUMN})) THEN NULL ELSE FALSE END"
        )

    def is_listed(self, text: str, table: str, column: str) -> str:
        """IN, for which ClickHouse hashes the table once."""
        return f"{text} IN (SELECT {column} FROM {table})"

    def is_nan(self, text: str) -> str:
        """Condition that a double is NaN; NULL for NULL."""
        return f"isNaN({text})"

    def binary(self, text: str) -> str:
        """A text. All text is compared byte by byte; enums and UUIDs are converted to text."""
        return f"CAST({text} AS String)"

    def one_zero(self, text: str) -> str:
        """A double with one zero and one NaN: ClickHouse groups by the bits."""
        return one_spelling(text)

    def printable(self, text: str, expr: Expr) -> str:
        """A group key. ClickHouse's text may be invalid UTF-8, and its timestamps more precise than microseconds."""
        if expr.type is Type.TEXT:
            return f"toValidUTF8({text})"
        if expr.type is Type.TIMESTAMP:
            text = f"toDateTime64({text}, 6, 'UTC')"
        return super().printable(text, expr)

    def limits(self, expr: Expr) -> tuple[str, str] | None:
        """Times can exceed a day, and wide integers can have more digits than a decimal."""
        if expr.type is Type.TIME:
            return "toTime64('00:00:00', 6)", "toTime64('23:59:59.999999', 6)"
        if expr.type is Type.DECIMAL and isinstance(expr, Column) and expr.native.upper() == "HUGEINT":
            return f"toInt128('-{10**37}')", f"toInt128('{10**37}')"
        if isinstance(expr, Column) and expr.native in {"Date", "DateTime"}:
            return None
        return super().limits(expr)

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division that gives 0, not an error, for a divisor of 0."""
        return f"intDivOrZero({dividend}, {divisor})"

    def canonical(self, text: str, kind: Type) -> str:
        """See the base class."""
        if kind is Type.TEXT:
            return self.binary(text)
        if kind in {Type.FLOAT, Type.DECIMAL}:
            scaled = f"floor(toFloat64({text}) * 1048576)"
            return f"if(abs({scaled}) < 4e18, toString(accurateCastOrNull({scaled}, 'Int64')), '')"
        if kind is Type.TIMESTAMP:
            return f"toString(toUnixTimestamp64Micro(toDateTime64({text}, 6, 'UTC')))"
        if kind is Type.TIME:
            return f"toString({self.since_midnight(text)})"
        if kind is Type.BOOLEAN:
            return f"toString(toUInt8({text}))"
        return f"toString({text})"

    def hashed(self, parts: Sequence[str]) -> str:
        """The MD5 hash. ClickHouse writes hexadecimal digits in upper case."""
        joined = ", '|', ".join(parts)
        return f"lower(hex(MD5(concat({joined}))))"

    def same(self, left: str, right: str, kind: Type) -> str:
        """Equality in which NULL equals NULL. Doubles are compared by their bits, with one zero and one NaN."""
        if kind is Type.FLOAT:
            left, right = f"reinterpretAsUInt64({left})", f"reinterpretAsUInt64({right})"
        return super().same(left, right, kind)

    # Aggregates

    def exact_aggregate(self, call: ExactAggregateCall) -> str:
        """An exact aggregate, written by its entry in `EXACT_AGGREGATES`."""
        writer = exact_aggregates.EXACT_AGGREGATES.get(call.function)
        written = None if writer is None else writer(call)
        if written is None:
            raise self.lacks(f"{call.function} of one person's rows")
        return written

    def counted(self, condition: str | None) -> str:
        """The number of rows that meet a condition."""
        return "COUNT(*)" if condition is None else f"countIf({condition})"

    def total(self, text: str) -> str:
        """The sum of integers, in 128 bits."""
        return f"sumOrNull(toInt128({text}))"

    def wide_total(self, text: str) -> str:
        """The sum of 128-bit integers."""
        return f"sumOrNull({text})"

    def total_if(self, text: str, condition: str | None) -> str:
        """The sum over the rows that meet a condition."""
        return self.total(text) if condition is None else f"sumOrNullIf(toInt128({text}), {condition})"

    def bit(self, number: str) -> str:
        """The integer in which only one bit is set."""
        return f"bitShiftLeft(toInt64(1), {number})"

    def bit_or(self, text: str) -> str:
        """The bitwise OR of integers."""
        return f"groupBitOr({text})"

    def has_bit(self, mask: str, bit: str) -> str:
        """Condition that a bit is set."""
        return f"bitAnd({mask}, {bit}) <> 0"

    # Clauses

    def union(self, left: str, operator: str, right: str) -> str:
        """A set operation; DISTINCT is not the default."""
        return super().union(left, operator if operator.endswith(" ALL") else f"{operator} DISTINCT", right)

    def order(self, text: str, kind: Type | None = None, *, descending: bool, nulls_first: bool) -> list[OrderTerm]:
        """Terms of ORDER BY. ClickHouse sorts NaN next to NULL, so doubles (after `one_zero`) become integers."""
        key = sort_key(text) if kind is Type.FLOAT else text
        return super().order(key, kind, descending=descending, nulls_first=nulls_first)


def _unknown_among(left: str, query: str) -> str:
    """IN over an uncorrelated query: without a match, NULL if the value or a row is NULL; FALSE over no rows."""
    rows = f"(SELECT count() FROM ({query}) AS found)"
    values = f"(SELECT count({COLUMN}) FROM ({query}) AS found)"
    unknown = f"({left} IS NULL AND {rows} > 0) OR {values} < {rows}"
    return f"CASE WHEN {left} IN ({query}) THEN TRUE WHEN {unknown} THEN NULL ELSE FALSE END"


CLICKHOUSE = ClickHouseDialect()
