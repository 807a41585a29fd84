"""SQLite's spelling, with the functions that we put on the connection.

SQLite's parser has room for a hundred open places and gives up beyond. Privacy: such a query is refused before the
charge, and the refusal depends on its text alone.
"""

import math
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from hedgerow.dialects.base import Dialect, SummaryCall
from hedgerow.dialects.sqlite import reading
from hedgerow.dialects.sqlite.calls import CALLED, WRITTEN, called, double
from hedgerow.dialects.sqlite.reading import NAN, PREFIX
from hedgerow.dialects.sqlite.summaries import SUMMARIES
from hedgerow.expressions.nodes import Call, Column, Expr
from hedgerow.expressions.types import Type

FAULTS = ("parser stack overflow", "Expression tree is too large")
AROUND = 30
"""Room that is kept for what a statement puts around an expression."""

SHALLOW = 12
"""No text with so few brackets can be too deep."""


def is_too_deep(sql: str) -> bool:
    """Return True if SQLite cannot read a query. Nothing is run, and no data is near."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"EXPLAIN {sql}")
        except sqlite3.Error as error:
            return str(error).startswith(FAULTS)
    return False


def is_expression_too_deep(text: str) -> bool:
    """Likewise for an expression, inside of a statement."""
    if text.count("(") + text.count("CASE ") <= SHALLOW:
        return False
    return is_too_deep(f"SELECT {'(' * AROUND}{text}{')' * AROUND}")


FULL_JOIN_SINCE = (3, 39)
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - without a time zone
MICROSECOND = timedelta(microseconds=1)
LAST_TIME = 86_399_999_999
MOST = 2**63 - 1
SAFE_DIGITS, SAFE_PLACES = 15, 22
"""A number of so few digits, at most so many of them behind the point, is read exactly."""


class SQLiteDialect(Dialect):
    """SQLite 3.35 or newer.

    Args:
        tables: For each table the SELECT that reads its columns by the rules of `reading`; a table that is not there
            is read as it is.
    """

    name = "sqlite"
    label = "SQLite"
    double = "REAL"
    whole = "INTEGER"
    integer = "INTEGER"
    huge = "TEXT"
    text = "TEXT"
    gathers = True
    indexes_columns_alone = True
    place = ("main",)
    summaries = SUMMARIES

    def __init__(self, tables: Mapping[str, str] | None = None) -> None:
        self._tables = tables or {}
        if sqlite3.sqlite_version_info < FULL_JOIN_SINCE:
            self.joins = {kind: words for kind, words in self.joins.items() if kind != "full"}

    def table(self, name: str) -> str:
        """A table, with its columns read by their types."""
        return f"({self._tables[name]})" if name in self._tables else super().table(name)

    # Constants

    def boolean(self, value: bool) -> str:  # noqa: FBT001 - it is the value itself
        """1 or 0."""
        return str(int(value))

    def real(self, value: float) -> str:
        """Decimal digits where SQLite reads them exactly, hexadecimal ones elsewhere."""
        if math.isnan(value):
            return NAN
        if math.isinf(value):
            return "9e999" if value > 0 else "(-9e999)"
        exact = Decimal(value)
        _, digits, exponent = exact.as_tuple()
        if len(digits) <= SAFE_DIGITS and -SAFE_PLACES <= int(exponent) <= 0:
            text = f"{exact:f}" if exponent else f"{exact:f}.0"
            return f"({text})" if math.copysign(1.0, value) < 0 else text
        return f"{PREFIX}double('{value.hex()}')"

    def decimal(self, value: Decimal) -> str:
        """An integer, or the nearest double."""
        whole = int(value)
        return self.constant(whole) if whole == value and -MOST <= whole <= MOST else self.real(float(value))

    def string(self, value: str) -> str:
        """Text; as bytes where SQL text cannot hold it: NUL, and halves of a pair."""
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"CAST(x'{value.encode(errors='surrogatepass').hex()}' AS TEXT)"
        return f"CAST(x'{value.encode().hex()}' AS TEXT)" if "\x00" in value else super().string(value)

    def date(self, value: date) -> str:
        """Text."""
        return f"'{value.isoformat()}'"

    def time(self, value: time) -> str:
        """Microseconds since midnight."""
        return str((datetime.combine(EPOCH, value.replace(tzinfo=None)) - EPOCH) // MICROSECOND)

    def timestamp(self, value: datetime) -> str:
        """Microseconds since 1970."""
        return self.constant((value - EPOCH) // MICROSECOND)

    # Expressions

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """SQLite's own operators, or our functions."""
        written = WRITTEN.get(expr.function)
        if written is None and expr.function not in CALLED:
            raise self.lacks(f"the function {expr.function}")
        text = called(expr, texts) if written is None else written(expr, texts)
        if is_expression_too_deep(text):
            raise self.lacks("an expression that is nested this deep")
        return text

    def summary(self, call: SummaryCall) -> str:
        """There is no DISTINCT over a window."""
        if call.distinct and call.over is not None:
            raise self.lacks("DISTINCT over a window")
        return super().summary(call)

    def as_double(self, text: str, expr: Expr) -> str:
        """A number as a double."""
        return double(text, expr)

    def on_grid(self, text: str, offset: float, factor: float, low: int, high: int, *, nan: bool) -> str:
        """With the value in one place; `min` and `max` of two values are NULL where one is."""
        present = f"NULLIF({text}, {NAN})" if nan else text
        steps = f"({present} - {self.real(offset)}) * {self.real(factor)} + 0.5"
        return f"floor(min(max({steps}, {self.real(float(low))}), {self.real(float(high))}))"

    def among(self, left: str, query: str) -> str:
        """Text byte by byte; to numbers the collation is nothing."""
        return f"({left} COLLATE BINARY IN ({query}))"

    def is_nan(self, text: str) -> str:
        """NaN is a text of ours."""
        return f"({text} = {NAN})"

    def binary(self, text: str) -> str:
        """The collation that compares bytes."""
        return f"{text} COLLATE BINARY"

    def one_zero(self, text: str) -> str:
        """NaN is a text, to which nothing can be added."""
        return f"CASE WHEN {text} = 0 THEN 0.0 ELSE {text} END"

    def printable(self, text: str, expr: Expr) -> str:
        """A key of its type; what is stored may be anything."""
        if expr.type is Type.DECIMAL:
            return reading.fixed(text, expr)
        if expr.type in {Type.TIME, Type.TIMESTAMP} or (expr.type is Type.DATE and reading.sure(expr)):
            return super().printable(text, expr)
        if reading.sure(expr):
            return text
        if expr.type is Type.TEXT:
            return reading.words(text)
        is_date = f"date({text}, '+0 days') = {text} AND {text} >= {self.date(date.min)}"
        test = is_date if expr.type is Type.DATE else f"typeof({text}) = 'integer'"
        return f"CASE WHEN {test} THEN {text} END"

    def limits(self, expr: Expr) -> tuple[str, str] | None:
        """Times of day end before 24:00."""
        return ("0", str(LAST_TIME)) if expr.type is Type.TIME else super().limits(expr)

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integers divide towards zero."""
        return f"({dividend}) / {divisor}"

    def canonical(self, text: str, kind: Type) -> str:
        """See the base."""
        if kind in {Type.FLOAT, Type.DECIMAL}:
            return f"{PREFIX}steps(min({text}, {NAN}))"
        if kind is Type.TIMESTAMP:
            return f"CAST(NULLIF(NULLIF({text}, {MOST}), -{MOST}) AS TEXT)"
        return text if kind in {Type.TEXT, Type.DATE} else f"CAST({text} AS TEXT)"

    def hashed(self, parts: Sequence[str]) -> str:
        """Of bytes: what is stored need not be UTF-8."""
        joined = " || '|' || ".join(parts)
        return f"{PREFIX}md5(CAST({joined} AS BLOB))"

    def same(self, left: str, right: str, kind: Type) -> str:  # noqa: ARG002 - the same for all types
        """IS, for which SQLite uses an index."""
        return f"{left} IS {right}"

    # Aggregates

    def total(self, text: str) -> str:
        """SUM fails where 64 bits do not suffice, so the upper and the lower half are added up apart."""
        return f"{PREFIX}halves(SUM(({text}) >> 32), SUM(({text}) & 4294967295))"

    def wide_total(self, text: str) -> str:
        """Ours."""
        return f"{PREFIX}wide_total({text})"

    def product_total(self, left: str, right: str) -> str:
        """Ours."""
        return f"{PREFIX}product_total({left}, {right})"

    def weighed(self, whole: str, one: int, lost: str) -> str:
        """Ours."""
        return f"{PREFIX}weighed({whole}, {one}, {lost})"

    def root(self, squared: int, size: str) -> str:
        """Ours; the number under the root has more than 64 bits."""
        return f"{PREFIX}root('{squared}', {size})"

    # Clauses

    def step(self, name: str, query: str, *, once: bool) -> str:
        """MATERIALIZED."""
        return f"{name} AS {'MATERIALIZED ' if once else ''}({query})"

    def statement(self, steps: Sequence[str], query: str) -> str:
        """Refused where it is nested too deep."""
        text = super().statement(steps, query)
        if is_too_deep(text):
            raise self.lacks("a query that is nested this deep")
        return text

    def is_stored(self, expr: Expr) -> bool:
        """Columns of other types are read by a rule."""
        return isinstance(expr, Column) and expr.type in reading.AS_STORED

    def computed_once(self, query: str) -> str:
        """A query with LIMIT is not merged with the join around it."""
        return f"{query} LIMIT -1"

    def group_by(self, texts: Sequence[str]) -> str:
        """From the last to the first: rows are sorted to be grouped, and owners stand last, who are often numbers."""
        return f" GROUP BY {', '.join(str(place) for place in range(len(texts), 0, -1))}" if texts else ""

    def grouping_sets(self, sets: Sequence[Sequence[str]]) -> str:  # noqa: ARG002 - none will do
        """There are none."""
        raise self.lacks("GROUPING SETS, ROLLUP or CUBE within one query")

    def union(self, left: str, operator: str, right: str) -> str:
        """There is no INTERSECT ALL or EXCEPT ALL."""
        if operator.endswith("ALL") and not operator.startswith("UNION"):
            raise self.lacks(operator)
        return super().union(left, operator, right)

    def values(self, rows: Sequence[Sequence[str]], alias: str) -> str:
        """VALUES, whose columns are called column1 and so on."""
        listed = ", ".join(f"({', '.join(row)})" for row in rows)
        named = ", ".join(f"column{i + 1} AS c{i}" for i in range(len(rows[0])))
        return f"(SELECT {named} FROM (VALUES {listed})) AS {alias}"

    def limit(self, count: int | None, offset: int) -> str:
        """OFFSET only after LIMIT."""
        return super().limit(-1 if count is None and offset else count, offset)


SQLITE = SQLiteDialect()
