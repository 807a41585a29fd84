"""PostgreSQL, from version 14 on."""

import math
from collections.abc import Mapping, Sequence

from hedgerow.dialects.base import INSTANT, Dialect, ExactAggregateCall, Writer, far, shift_of
from hedgerow.dialects.postgres import doubles
from hedgerow.dialects.postgres.casts import CONVERSIONS
from hedgerow.dialects.postgres.exact_aggregates import EXACT_AGGREGATES
from hedgerow.dialects.postgres.logic import BYTES, LOGIC, collated
from hedgerow.dialects.postgres.naming import has_window
from hedgerow.dialects.postgres.numbers import NUMBERS, ROUNDING
from hedgerow.dialects.postgres.reading import FORMATS, READERS
from hedgerow.dialects.postgres.texts import REGEXPS, TEXTS
from hedgerow.dialects.postgres.times import CALENDARS, TIMES, micros
from hedgerow.dialects.statement import MATERIALIZED
from hedgerow.expressions import zones
from hedgerow.expressions.nodes import Call, Column, Constant, Expr, Literal
from hedgerow.expressions.types import Type, decimal_size
from hedgerow.expressions.zones import OFFSET

WRITERS: Mapping[str, Writer] = {
    **LOGIC,
    **NUMBERS,
    **ROUNDING,
    **CONVERSIONS,
    **TEXTS,
    **TIMES,
    **CALENDARS,
    **FORMATS,
    **REGEXPS,
}
LONGEST = 1_000_000
LONG_WHOLE = 18
WIDEST = 10**38
SMALL_REACH = 2**21
"""2^41 integers below this can be added in 64 bits: more than 10^12 rows."""


class PostgresDialect(Dialect):
    """PostgreSQL's SQL."""

    name = "postgres"
    label = "PostgreSQL"
    materialized = MATERIALIZED
    double = "FLOAT8"
    huge = "NUMERIC"
    lists_values = True
    exact_integers = True
    text = "TEXT"
    plain_texts = frozenset({"TEXT", "TEXT WITH COLLATION"})
    gathers = True
    windows = True

    # Names and constants

    def constant(self, value: Constant) -> str:
        """Quote the smallest 64-bit integer: PostgreSQL parses its digits before the minus, and they overflow."""
        if isinstance(value, int) and not isinstance(value, bool) and value == -(2**63):
            return f"CAST('{value}' AS BIGINT)"
        return super().constant(value)

    def real(self, value: float) -> str:
        """A double as a constant."""
        return doubles.real(value)

    def string(self, value: str) -> str:
        """A text. PostgreSQL cannot store NUL characters."""
        if "\x00" in value:
            raise self.lacks("a text with a NUL character")
        return super().string(value)

    # Expressions

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """A function of the allow-list, written by its entry in `WRITERS`."""
        converted = self.time_conversion(expr, texts)
        if converted is not None:
            return converted
        writer = WRITERS.get(expr.function)
        if writer is None:
            raise self.lacks(f"the function {expr.function}")
        text = writer(self, expr, texts)
        if len(text) > LONGEST:
            raise self.lacks("an expression this long")
        return text

    def in_zone(self, expr: Call, text: str) -> str:
        """Name the value in a subquery: the CASE repeats it for every change of the offset."""
        value = expr.arguments[0]
        if isinstance(value, Column) and value.native.upper() == INSTANT:
            text = f"({text} AT TIME ZONE 'UTC')"
        if shift_of(expr).is_nothing or has_window([value]):
            return super().in_zone(expr, text)
        return f"(SELECT {super().in_zone(expr, 'v.a0')} FROM (SELECT {text} AS a0 OFFSET 0) AS v)"

    def read_instant(self, expr: Call, text: str) -> str:
        """Match the text once, in a subquery."""
        written, zone = expr.arguments
        timestamp = Call("imposed_timestamp", (written,), Type.TIMESTAMP)
        hours, minutes = (f"COALESCE(CAST(v.g[{group}] AS BIGINT), 0)" for group in (3, 4))
        seconds = f"({hours} * 60 + {minutes}) * CASE WHEN v.g[2] = '-' THEN 60 ELSE -60 END"
        read = READERS[Type.TIMESTAMP]
        shift = Call("shift_second", (timestamp, Call("add_whole", (), Type.INTEGER)), Type.TIMESTAMP)
        at_utc = self.call(shift, [read("v.g[1]"), seconds])
        here = Call("in_zone", (timestamp, zone, Literal(zones.DEFAULT, Type.TEXT)), Type.TIMESTAMP)
        matched = f"regexp_match(v.t, {self.string(OFFSET)})"
        match = f"SELECT v.t, {matched} AS g FROM (SELECT {collated(text)} AS t) AS v OFFSET 0"
        local = self.in_zone(here, read("v.t"))
        return f"(SELECT CASE WHEN v.g IS NULL THEN {local} ELSE {at_utc} END FROM ({match}) AS v)"

    def since_midnight(self, text: str) -> str:
        """A time of day in microseconds."""
        return micros(text)

    def exact_aggregate(self, call: ExactAggregateCall) -> str:
        """An exact aggregate, written by its entry in `EXACT_AGGREGATES`."""
        writer = EXACT_AGGREGATES.get(call.function)
        if writer is None:
            raise self.lacks(f"{call.function} of one person's rows")
        return writer(self, call)

    def as_double(self, text: str, expr: Expr) -> str:
        """The nearest double. Wide decimals without a fraction are converted in two halves, as in DuckDB."""
        if expr.type is Type.FLOAT and not (isinstance(expr, Column) and expr.native.upper() == "REAL"):
            return text
        plain = f"CAST({text} AS {self.double})"
        size = decimal_size(expr.native) if isinstance(expr, Column) else None
        if size is None or size[0] <= LONG_WHOLE or size[1] != 0:
            return plain
        upper = f"div({text} - CASE WHEN {text} < 0 THEN {2**64 - 1} ELSE 0 END, {2**64})"
        lower = f"({text} - {upper} * {2**64})"
        below = f"-CAST({2**64 - 1} - {lower} AS {self.double}) - 1"
        halves = f"CAST({lower} AS {self.double}) + CAST({upper} AS {self.double}) * {self.real(2.0**64)}"
        return (
            f"CASE WHEN abs({text}) <= {2**53} THEN {plain} WHEN {upper} = -1 THEN {below} "
            f"WHEN abs({text}) < {WIDEST} THEN {halves} ELSE {plain} END"
        )

    def on_grid(self, text: str, offset: float, factor: float, low: int, high: int, *, nan: bool) -> str:
        """See the base class. `text` is written only once: converting a NUMERIC to a double is slow.

        A tiny number times a factor below one underflows, which is an error on PostgreSQL. Adding and subtracting a
        power of two first turns such a number into zero and does not change the grid point of any other number.
        """
        value = self.held(f"NULLIF({text}, {doubles.NAN})" if nan else text, *far(offset, factor, low, high))
        if offset == 0.0 and factor < 1.0:
            tiny = self.real(math.ldexp(1.0 / factor, -200))
            value = f"({value} + {tiny} - {tiny})"
        steps = f"({value} - {self.real(offset)}) * {self.real(factor)} + {self.real(0.5)}"
        return f"float8smaller(float8larger(floor({steps}), {self.real(float(low))}), {self.real(float(high))})"

    def held(self, text: str, low: float, high: float) -> str:
        """Clamp with functions that return NULL for NULL."""
        return f"float8smaller(float8larger({text}, {self.real(low)}), {self.real(high)})"

    def is_nan(self, text: str) -> str:
        """Condition that a double is NaN, which equals itself on PostgreSQL."""
        return f"({text} = {doubles.NAN})"

    def binary(self, text: str) -> str:
        """A text with the collation that compares bytes."""
        return collated(text)

    def bytewise(self, text: str, expr: Expr) -> str:
        """Keep the collation of a column that already compares bytes."""
        ordered = isinstance(expr, Column) and expr.native.upper() == BYTES
        return text if ordered else self.binary(text)

    def limits(self, expr: Expr) -> tuple[str, str] | None:
        """Times can be 24:00 and decimals NaN; neither can be printed."""
        if expr.type is Type.TIME:
            return "TIME '00:00:00'", "TIME '23:59:59.999999'"
        if expr.type is Type.DECIMAL:
            return f"(-{WIDEST - 1})", str(WIDEST - 1)
        return super().limits(expr)

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division."""
        return f"CAST({dividend} AS BIGINT) / CAST({divisor} AS BIGINT)"

    def canonical(self, text: str, kind: Type) -> str:
        """See the base class."""
        if kind is Type.TEXT:
            return self.binary(text)
        if kind in {Type.FLOAT, Type.DECIMAL}:
            return self._scaled(f"CAST({text} AS {self.double})")
        if kind is Type.TIMESTAMP:
            inside = f"{text} BETWEEN TIMESTAMP '4713-01-01 BC' AND TIMESTAMP '294246-01-01'"
            return f"CASE WHEN {inside} THEN CAST({micros(text)} AS TEXT) END"
        if kind is Type.TIME:
            return f"CAST({micros(text)} AS TEXT)"
        if kind is Type.BOOLEAN:
            return f"CAST(CAST({text} AS INTEGER) AS TEXT)"
        return f"CAST({text} AS TEXT)"

    def _scaled(self, value: str) -> str:
        """`floor(2^20 x)` in digits where it is below 4e18. Tiny numbers are special: their product could underflow."""
        scaled = f"CAST(CAST(floor({value} * {self.real(1048576.0)}) AS BIGINT) AS TEXT)"
        tiny = f"WHEN abs({value}) < {self.real(1e-200)} THEN CASE WHEN {value} < 0 THEN '-1' ELSE '0' END"
        return f"CASE {tiny} WHEN abs({value}) < {self.real(4e18 / 1048576)} THEN {scaled} ELSE '' END"

    def same(self, left: str, right: str, kind: Type) -> str:
        """Compare values with a substitute for NULL, and whether both are NULL: both equalities can be hashed."""
        substitute = self.substitute_for_null(kind)
        sides = [
            f"COALESCE({self.binary(text) if kind is Type.TEXT else text}, {substitute})" for text in (left, right)
        ]
        return f"{sides[0]} = {sides[1]} AND ({left} IS NULL) = ({right} IS NULL)"

    def substitute_for_null(self, kind: Type) -> str:
        """Substitute for NULL: an arbitrary value of a type."""
        words = {
            Type.BOOLEAN: "FALSE",
            Type.INTEGER: "0",
            Type.DECIMAL: "0",
            Type.FLOAT: doubles.ZERO,
            Type.TEXT: "''",
            Type.DATE: "DATE '1970-01-01'",
            Type.TIME: "TIME '00:00:00'",
            Type.TIMESTAMP: "TIMESTAMP '1970-01-01'",
        }
        return words.get(kind, "NULL")

    # Aggregates

    def total(self, text: str) -> str:
        """SUM of BIGINT, which PostgreSQL accumulates in 128 bits and returns as a NUMERIC."""
        return f"SUM(CAST({text} AS BIGINT))"

    def bounded_total(self, text: str, reach: int) -> str:
        """See the base class. 2^41 integers below 2^21 fit into the 64 bits of SUM(INTEGER), which is faster."""
        return self._bounded(text, "", reach)

    def total_over(self, text: str, window: str, reach: int) -> str:
        """`bounded_total` over the rows of a window."""
        return self._bounded(text, f" OVER ({window})", reach)

    def _bounded(self, text: str, tail: str, reach: int) -> str:
        """A NUMERIC in any case, so that arithmetic with the sum cannot overflow."""
        if reach >= SMALL_REACH:
            return f"{self.total(text)}{tail}"
        return f"CAST(SUM(CAST({text} AS INTEGER)){tail} AS NUMERIC)"

    def counted(self, condition: str | None) -> str:
        """Count with FILTER."""
        return "COUNT(*)" if condition is None else f"COUNT(*) FILTER (WHERE {condition})"

    def total_if(self, text: str, condition: str | None) -> str:
        """Sum with FILTER."""
        return self.total(text) if condition is None else f"{self.total(text)} FILTER (WHERE {condition})"

    # Clauses

    def union(self, left: str, operator: str, right: str) -> str:
        """A set operation with both sides in parentheses."""
        return f"({left}) {operator} ({right})"


POSTGRES = PostgresDialect()
