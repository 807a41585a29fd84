"""SQLite, with the functions that we register on the connection.

SQLite's parser fails on deeply nested SQL (its stack holds a hundred entries). Privacy: such a query is refused before
the charge, and the refusal depends only on its text.
"""

import math
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from hedgerow.dialects.base import Dialect, ExactAggregateCall
from hedgerow.dialects.sqlite import reading
from hedgerow.dialects.sqlite.calls import CALLED, EXACT_AGGREGATES, WRITTEN, called, double, operands
from hedgerow.dialects.sqlite.reading import NAN, PREFIX
from hedgerow.dialects.statement import MATERIALIZED, StatementParts, Step
from hedgerow.expressions.nodes import Call, Column, Expr
from hedgerow.expressions.types import Type

FAULTS = ("parser stack overflow", "Expression tree is too large")
AROUND = 30
"""Depth reserved for the statement around an expression."""

SHALLOW = 12
"""Maximum number of parentheses that are never too deep."""


def is_too_deep(sql: str) -> bool:
    """Return True if SQLite cannot parse a query. It is not run, and the database is empty."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"EXPLAIN {sql}")
        except sqlite3.Error as error:
            return str(error).startswith(FAULTS)
    return False


def is_expression_too_deep(text: str) -> bool:
    """Return True if SQLite cannot parse an expression inside a statement."""
    if text.count("(") + text.count("CASE ") <= SHALLOW:
        return False
    return is_too_deep(f"SELECT {'(' * AROUND}{text}{')' * AROUND}")


FULL_JOIN_SINCE = (3, 39)
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - without a time zone
MICROSECOND = timedelta(microseconds=1)
LAST_TIME = 86_399_999_999
INT_MAX = 2**63 - 1
SAFE_DIGITS, SAFE_PLACES = 15, 22
"""Number of digits, and of those after the point, that SQLite parses exactly."""


class SQLiteDialect(Dialect):
    """SQLite 3.35 or newer.

    Args:
        tables: The SELECT that reads each table's columns by the rules of `reading`; other tables are read unchanged.
    """

    name = "sqlite"
    label = "SQLite"
    materialized = MATERIALIZED
    double = "REAL"
    whole = "INTEGER"
    integer = "INTEGER"
    huge = "TEXT"
    text = "TEXT"
    plain_texts = frozenset({"TEXT", "VARCHAR", "CHAR"})
    gathers = True
    indexes_columns_alone = True
    namespace = ("main",)
    exact_aggregates = EXACT_AGGREGATES

    def __init__(self, tables: Mapping[str, str] | None = None) -> None:
        self._tables = tables or {}
        if sqlite3.sqlite_version_info < FULL_JOIN_SINCE:
            self.joins = {kind: words for kind, words in self.joins.items() if kind != "full"}

    def table(self, name: str) -> str:
        """A table, with its columns converted to their types."""
        return f"({self._tables[name]})" if name in self._tables else super().table(name)

    # Constants

    def boolean(self, value: bool) -> str:  # noqa: FBT001 - it is the value itself
        """1 or 0."""
        return str(int(value))

    def real(self, value: float) -> str:
        """A double, in decimal digits if SQLite parses them exactly, and in hexadecimal otherwise."""
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
        """A decimal as an integer, or as the nearest double."""
        whole = int(value)
        return self.constant(whole) if whole == value and -INT_MAX <= whole <= INT_MAX else self.real(float(value))

    def string(self, value: str) -> str:
        """A text, or its bytes if it contains NUL or lone surrogates."""
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"CAST(x'{value.encode(errors='surrogatepass').hex()}' AS TEXT)"
        return f"CAST(x'{value.encode().hex()}' AS TEXT)" if "\x00" in value else super().string(value)

    def date(self, value: date) -> str:
        """A date as text."""
        return f"'{value.isoformat()}'"

    def time(self, value: time) -> str:
        """A time of day in microseconds since midnight."""
        return str((datetime.combine(EPOCH, value.replace(tzinfo=None)) - EPOCH) // MICROSECOND)

    def timestamp(self, value: datetime) -> str:
        """A timestamp in microseconds since 1970."""
        return self.constant((value - EPOCH) // MICROSECOND)

    # Expressions

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """A function of the allow-list: an operator of SQLite, or a function that we register."""
        written = WRITTEN.get(expr.function)
        if written is None and expr.function not in CALLED:
            raise self.lacks(f"the function {expr.function}")
        text = called(expr, texts) if written is None else written(expr, texts)
        if is_expression_too_deep(text):
            raise self.lacks("an expression nested this deeply")
        return text

    def operands(self, expr: Call) -> Sequence[Expr]:
        """Return the operands of a call, or of a chain of calls that is written as one."""
        return operands(expr)

    def exact_aggregate(self, call: ExactAggregateCall) -> str:
        """An exact aggregate; SQLite has no DISTINCT over a window."""
        if call.distinct and call.over is not None:
            raise self.lacks("DISTINCT over a window")
        return super().exact_aggregate(call)

    def as_double(self, text: str, expr: Expr) -> str:
        """A number as a double."""
        return double(text, expr)

    def on_grid(self, text: str, offset: float, factor: float, low: int, high: int, *, nan: bool) -> str:
        """See the base class. The value is written once; `min` and `max` of two values are NULL if one is."""
        present = f"NULLIF({text}, {NAN})" if nan else text
        steps = f"({present} - {self.real(offset)}) * {self.real(factor)} + 0.5"
        return f"floor(min(max({steps}, {self.real(float(low))}), {self.real(float(high))}))"

    def among(self, left: str, query: str, *, correlated: bool = False) -> str:  # noqa: ARG002 - the same for all queries
        """IN over a query; text is compared byte by byte, and numbers ignore the collation."""
        return f"({left} COLLATE BINARY IN ({query}))"

    def is_listed(self, text: str, table: str, column: str) -> str:
        """IN, for which SQLite sorts the table once."""
        return f"{text} IN (SELECT {column} FROM {table})"

    def is_nan(self, text: str) -> str:
        """Condition that a double is NaN, which we represent as a text."""
        return f"({text} = {NAN})"

    def binary(self, text: str) -> str:
        """A text with the collation that compares bytes."""
        return f"{text} COLLATE BINARY"

    def one_zero(self, text: str) -> str:
        """A double in which zero has no sign. NaN is a text here, to which 0 cannot be added."""
        return f"CASE WHEN {text} = 0 THEN 0.0 ELSE {text} END"

    def printable(self, text: str, expr: Expr) -> str:
        """A group key of its type; NULL if a value of another type is stored."""
        if expr.type is Type.DECIMAL:
            return reading.fixed(text, expr)
        if expr.type in {Type.TIME, Type.TIMESTAMP} or (expr.type is Type.DATE and reading.is_certain(expr)):
            return super().printable(text, expr)
        if reading.is_certain(expr):
            return text
        if expr.type is Type.TEXT:
            return reading.words(text)
        is_date = f"date({text}, '+0 days') = {text} AND {text} >= {self.date(date.min)}"
        test = is_date if expr.type is Type.DATE else f"typeof({text}) = 'integer'"
        return f"CASE WHEN {test} THEN {text} END"

    def limits(self, expr: Expr) -> tuple[str, str] | None:
        """Times of day must be before 24:00."""
        return ("0", str(LAST_TIME)) if expr.type is Type.TIME else super().limits(expr)

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division."""
        return f"({dividend}) / {divisor}"

    def canonical(self, text: str, kind: Type) -> str:
        """See the base class."""
        if kind in {Type.FLOAT, Type.DECIMAL}:
            return f"{PREFIX}steps(min({text}, {NAN}))"
        if kind is Type.TIMESTAMP:
            return f"CAST(NULLIF(NULLIF({text}, {INT_MAX}), -{INT_MAX}) AS TEXT)"
        return text if kind in {Type.TEXT, Type.DATE} else f"CAST({text} AS TEXT)"

    def hashed(self, parts: Sequence[str]) -> str:
        """The MD5 hash of bytes: stored text may be invalid UTF-8."""
        joined = " || '|' || ".join(parts)
        return f"{PREFIX}md5(CAST({joined} AS BLOB))"

    def same(self, left: str, right: str, kind: Type) -> str:  # noqa: ARG002 - the same for all types
        """Equality in which NULL equals NULL: IS, which can use an index."""
        return f"{left} IS {right}"

    # Aggregates

    def total(self, text: str) -> str:
        """The sum of integers. SUM fails beyond 64 bits, so the upper and lower halves are summed separately."""
        return _added(f"SUM(({text}) >> 32)", f"SUM(({text}) & 4294967295)")

    def wide_total(self, text: str) -> str:
        """The sum of 128-bit integers. Those beyond 64 bits are text, and are summed by a function of ours."""
        words, others = (f"FILTER (WHERE typeof({text}) = '{kind}')" for kind in ("integer", "text"))
        small = _added(f"SUM({text} >> 32) {words}", f"SUM({text} & 4294967295) {words}")
        return f"{PREFIX}plus({small}, {PREFIX}wide_total({text}) {others})"

    def product_total(self, left: str, right: str) -> str:
        """The sum of products, by a function of ours, which is called only where there is something to multiply."""
        return f"{PREFIX}product_total({left}, {right}) FILTER (WHERE {left} IS NOT NULL)"

    def weighed(self, whole: str, one: int, lost: str) -> str:
        """`whole` times `one` minus `lost`, by a function of ours where it may exceed 64 bits.

        A cast of text beyond 64 bits gives the largest integer, which is out of range unless `one` is 1.
        """
        computed = f"{PREFIX}weighed({whole}, {one}, {lost})"
        if lost != "0" or one == 1:
            return computed
        number, maximum = f"CAST({whole} AS INTEGER)", (2**63 - 1) // one
        return f"CASE WHEN {number} BETWEEN -{maximum} AND {maximum} THEN {number} * {one} ELSE {computed} END"

    def root(self, squared: int, size: str) -> str:
        """The integer root, by a function of ours: its argument has more than 64 bits."""
        return f"{PREFIX}root('{squared}', {size})"

    # Clauses

    def statement(self, steps: Sequence[Step], query: str) -> StatementParts:
        """A statement; refused if it is nested too deeply."""
        statement = super().statement(steps, query)
        if is_too_deep(self.statement_text(statement)):
            raise self.lacks("a query nested this deeply")
        return statement

    def is_stored(self, expr: Expr) -> bool:
        """Return True for columns of types that are read unchanged."""
        return isinstance(expr, Column) and expr.type in reading.AS_STORED

    def computed_once(self, query: str) -> str:
        """A query with LIMIT, which SQLite does not merge into the join around it."""
        return f"{query} LIMIT -1"

    def group_by(self, texts: Sequence[str]) -> str:
        """GROUP BY from last to first: grouping sorts, and the owner, often a number, comes last and sorts fastest."""
        return f" GROUP BY {', '.join(str(position) for position in range(len(texts), 0, -1))}" if texts else ""

    def grouping_sets(self, sets: Sequence[Sequence[str]]) -> str:  # noqa: ARG002 - always refused
        """Refuse GROUPING SETS, which SQLite lacks."""
        raise self.lacks("GROUPING SETS, ROLLUP or CUBE within one query")

    def union(self, left: str, operator: str, right: str) -> str:
        """A set operation; SQLite has no INTERSECT ALL or EXCEPT ALL."""
        if operator.endswith("ALL") and not operator.startswith("UNION"):
            raise self.lacks(operator)
        return super().union(left, operator, right)

    def values(self, rows: Sequence[Sequence[str]], alias: str) -> str:
        """Rows of constants as VALUES, with SQLite's column names column1, column2 and so on replaced."""
        listed = ", ".join(f"({', '.join(row)})" for row in rows)
        named = ", ".join(f"column{i + 1} AS c{i}" for i in range(len(rows[0])))
        return f"(SELECT {named} FROM (VALUES {listed})) AS {alias}"

    def limit(self, count: int | None, offset: int) -> str:
        """LIMIT and OFFSET; OFFSET requires a LIMIT."""
        return super().limit(-1 if count is None and offset else count, offset)


def _added(high: str, low: str) -> str:
    """Return a sum from the sums of its halves: in SQL where it surely fits 64 bits, else by a function of ours."""
    fits = f"{high} BETWEEN -{2**30} AND {2**30} AND {low} < {2**62}"
    return f"CASE WHEN {fits} THEN {high} * 4294967296 + {low} ELSE {PREFIX}halves({high}, {low}) END"


SQLITE = SQLiteDialect()
