"""ClickHouse: how it spells names, constants, keys, aggregates and clauses."""

import copy
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Self

from hedgerow.dialects.base import Dialect, SummaryCall, digits, shift_of
from hedgerow.dialects.clickhouse import casts, comparing, formats, numbers, patterns, summaries, texts, timestamps
from hedgerow.dialects.clickhouse.spelling import Writer, double, let, one_spelling, quoted, sortable
from hedgerow.expressions import zones
from hedgerow.expressions.nodes import Call, Column, Constant, Expr
from hedgerow.expressions.types import Type

WRITERS: dict[str, Writer] = {
    name: writer
    for part in (comparing, numbers, texts, patterns, timestamps, formats, casts)
    for name, writer in part.WRITERS.items()
}
DOUBLE = re.compile(r"if\(isNaN\((.*)\), nan, \1 \+ 0e0\)", re.DOTALL)
"""Form that `one_zero` writes."""

COLUMN = "COLUMNS('.*')"
"""The one column of a query, whatever its name."""


class ClickHouseDialect(Dialect):
    """ClickHouse 26, in process (chdb) or as a server."""

    name = "clickhouse"
    label = "ClickHouse"
    double = "Float64"
    whole = "Int64"
    integer = "Int32"
    huge = "Int128"
    text = "String"
    _around: frozenset[str] = frozenset()
    """Relations that the query at hand, inside an expression, refers to."""

    # Names and constants

    def identifier(self, name: str) -> str:
        """In backticks, with backslashes."""
        return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"

    def constant(self, value: Constant) -> str:
        """Whole numbers beyond 64 bits would be read as doubles."""
        if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
            return f"toInt256('{value}')"
        return super().constant(value)

    def real(self, value: float) -> str:
        """A number with an exponent is a double."""
        super().real(value)
        return f"({digits(value)})"

    def decimal(self, value: Decimal) -> str:
        """A number with a point would be read as a double."""
        shape = value.as_tuple()
        scale = max(0, -int(shape.exponent))
        size = 128 if len(shape.digits) <= 38 and scale <= 38 else 256
        return f"toDecimal{size}('{value:f}', {scale})"

    def string(self, value: str) -> str:
        """Backslashes are read."""
        return quoted(value)

    def date(self, value: date) -> str:
        """A date of the wide range."""
        return f"toDate32('{value.isoformat()}')"

    def time(self, value: time) -> str:
        """To the microsecond."""
        return f"toTime64('{value.isoformat()}', 6)"

    def timestamp(self, value: datetime) -> str:
        """At UTC."""
        return f"toDateTime64('{value.isoformat(sep=' ')}', 6, 'UTC')"

    # Expressions

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """A function of the tables of this package."""
        if expr.function == "in_zone":
            return self.in_zone(expr, texts[0])
        if expr.function == "read_instant":
            return self.read_instant(expr, texts[0])
        if expr.function.startswith("clock_"):
            return self.clock(expr, texts[0])
        writer = WRITERS.get(expr.function)
        written = None if writer is None else writer(expr, texts)
        if written is None:
            raise self.lacks(f"the function {expr.function}, of these arguments,")
        return written

    def in_zone(self, expr: Call, text: str) -> str:
        """By microseconds since 1970. Times that ClickHouse does not have are NULL."""
        shift = shift_of(expr)
        if shift.is_nothing:
            return text
        added = shift.tree(lambda change: f"z < {zones.micros(change)}", 1_000_000)
        inside = f"z BETWEEN {zones.micros(zones.FIRST)} AND {zones.micros(zones.LAST)}"
        shown = let(f"if({inside}, z + toInt64({added}), z)", z=timestamps.micros(text, expr.arguments[0]))
        return timestamps.moment(shown)

    def since_midnight(self, text: str) -> str:
        """Exactly."""
        return f"toInt64(toDecimal64({text}, 6) * 1000000)"

    def as_double(self, text: str, expr: Expr) -> str:
        """Decimals are rounded as DuckDB does."""
        return double(text, expr)

    def as_whole(self, text: str, kind: str) -> str:
        """Do not cast the value under a NULL, which may be NaN."""
        return f"if(isNull({text}), NULL, CAST(ifNull({text}, 0e0) AS {kind}))"

    def one_value(self, query: str, nothing: str | None) -> str:
        """A query about the row at hand becomes an outer join, and is NULL, not 0, where nothing matches."""
        return f"({query})" if nothing is None else f"ifNull(({query}), {nothing})"

    def inside(self, outer: Sequence[Column]) -> Self:
        """Refuse a query inside a query that refers to a row around both: ClickHouse looks one level up alone."""
        relations = frozenset(column.table for column in outer)
        if relations & self._around:
            raise self.lacks("a query that refers to a row beyond the query it stands in")
        made = copy.copy(self)
        made._around = relations  # noqa: SLF001 - a copy of this one
        return made

    def among(self, left: str, query: str) -> str:
        """A query about the row at hand cannot stand after IN; it can after EXISTS."""
        if not _is_correlated(query):
            return _unknown_among(left, query)
        rows = f"SELECT 1 FROM ({query}) AS found WHERE"
        return (
            f"CASE WHEN EXISTS ({rows} {COLUMN} = {left}) THEN TRUE "
            f"WHEN EXISTS ({rows} isNull({COLUMN})) THEN NULL ELSE FALSE END"
        )

    def is_nan(self, text: str) -> str:
        """NULL of NULL."""
        return f"isNaN({text})"

    def binary(self, text: str) -> str:
        """Text is always compared byte by byte; names and identifiers of fixed form are made text."""
        return f"CAST({text} AS String)"

    def one_zero(self, text: str) -> str:
        """Groups are made by the bits of a double: one zero, and one NaN."""
        return one_spelling(text)

    def printable(self, text: str, expr: Expr) -> str:
        """Text is made UTF-8, which it need not be here; moments are shown to the microsecond."""
        if expr.type is Type.TEXT:
            return f"toValidUTF8({text})"
        if expr.type is Type.TIMESTAMP:
            text = f"toDateTime64({text}, 6, 'UTC')"
        return super().printable(text, expr)

    def limits(self, expr: Expr) -> tuple[str, str] | None:
        """Times may be longer than a day, and the widest integers have more digits than a decimal."""
        if expr.type is Type.TIME:
            return "toTime64('00:00:00', 6)", "toTime64('23:59:59.999999', 6)"
        if expr.type is Type.DECIMAL and isinstance(expr, Column) and expr.native.upper() == "HUGEINT":
            return f"toInt128('-{10**37}')", f"toInt128('{10**37}')"
        if isinstance(expr, Column) and expr.native in {"Date", "DateTime"}:
            return None
        return super().limits(expr)

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Whole division; it would give 0 for a divisor of 0, and no error."""
        return f"intDivOrZero({dividend}, {divisor})"

    def canonical(self, text: str, kind: Type) -> str:
        """See the base."""
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
        """Hexadecimal digits are written in capitals here."""
        joined = ", '|', ".join(parts)
        return f"lower(hex(MD5(concat({joined}))))"

    def same(self, left: str, right: str, kind: Type) -> str:
        """Doubles by their bits: both sides have one zero and one NaN."""
        if kind is Type.FLOAT:
            left, right = f"reinterpretAsUInt64({left})", f"reinterpretAsUInt64({right})"
        return super().same(left, right, kind)

    # Aggregates

    def summary(self, call: SummaryCall) -> str:
        """Aggregates and window functions of the table in `summaries`."""
        writer = summaries.SUMMARIES.get(call.function)
        written = None if writer is None else writer(call)
        if written is None:
            raise self.lacks(f"{call.function} of one person's rows")
        return written

    def counted(self, condition: str | None) -> str:
        """With `If`."""
        return "COUNT(*)" if condition is None else f"countIf({condition})"

    def total(self, text: str) -> str:
        """In 128 bits."""
        return f"sumOrNull(toInt128({text}))"

    def wide_total(self, text: str) -> str:
        """In 128 bits."""
        return f"sumOrNull({text})"

    def total_if(self, text: str, condition: str | None) -> str:
        """With `If`."""
        return self.total(text) if condition is None else f"sumOrNullIf(toInt128({text}), {condition})"

    # Clauses

    def step(self, name: str, query: str, *, once: bool) -> str:
        """MATERIALIZED: otherwise a step is computed in each place that reads it."""
        return f"{name} AS {'MATERIALIZED ' if once else ''}({query})"

    def join(self, left: str, kind: str, right: str, condition: str | None) -> str:
        """Joins in brackets cannot be read, and outer joins are made on equal values."""
        if right.startswith("(") and not right.startswith("(SELECT"):
            raise self.lacks("a join of a join in brackets")
        if kind in {"left", "full"} and not _has_key(condition or "", right):
            raise self.lacks("an outer join without equal values of both sides")
        return super().join(left, kind, right, condition)

    def union(self, left: str, operator: str, right: str) -> str:
        """Write DISTINCT, which is not the default."""
        return super().union(left, operator if operator.endswith(" ALL") else f"{operator} DISTINCT", right)

    def order(self, text: str, kind: Type | None = None, *, descending: bool, nulls_first: bool) -> str:
        """NaN is put next to NULL here, and not after infinity; so doubles (in one spelling) are sorted by a number."""
        found = DOUBLE.fullmatch(text)
        written = text if found is None else sortable(found[1])
        return super().order(written, kind, descending=descending, nulls_first=nulls_first)


def _unknown_among(left: str, query: str) -> str:
    """NULL for a value that is not found, where it or one of the others is NULL; never among none."""
    rows = f"(SELECT count() FROM ({query}) AS found)"
    there = f"(SELECT count({COLUMN}) FROM ({query}) AS found)"
    unknown = f"({left} IS NULL AND {rows} > 0) OR {there} < {rows}"
    return f"CASE WHEN {left} IN ({query}) THEN TRUE WHEN {unknown} THEN NULL ELSE FALSE END"


def _has_key(condition: str, right: str) -> bool:
    """Return True if a condition asks, among other things, that a value of the left side equals one of the right.

    Steps of our own have names without numbers; they are always joined on equal keys.
    """
    alias = re.search(r" AS (t_*\d+)$", right)
    if alias is None:
        return True
    columns = r"(t_*\d+)\.`[^`]*`"
    pairs = re.findall(rf"\({columns} (?:=|IS NOT DISTINCT FROM) {columns}\)", condition)
    either = " OR " in condition
    return not either and any((one == alias[1]) != (other == alias[1]) for one, other in pairs)


def _is_correlated(query: str) -> bool:
    """Return True if it names a relation that it does not read itself."""
    read = {*re.findall(r" AS (t_*\d+)\b", query)}
    return not {*re.findall(r"\b(t_*\d+)\.", query)} <= read


CLICKHOUSE = ClickHouseDialect()
