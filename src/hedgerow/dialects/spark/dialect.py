"""Spark SQL 4, in ANSI mode or without it."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time
from decimal import Decimal
from functools import cached_property

from hedgerow.dialects.base import Dialect, SummaryCall, Template, shift_of
from hedgerow.dialects.spark import spelling
from hedgerow.dialects.spark.casts import casts, date_text
from hedgerow.dialects.spark.formats import format_time, read_time
from hedgerow.dialects.spark.numbers import NUMBERS, TYPED_NUMBERS
from hedgerow.dialects.spark.patterns import patterns
from hedgerow.dialects.spark.summaries import summaries, total
from hedgerow.dialects.spark.texts import TEXTS, TYPED_TEXTS
from hedgerow.dialects.spark.times import TIMES
from hedgerow.expressions.nodes import Call, Column, Constant, Expr
from hedgerow.expressions.table_names import parts_of
from hedgerow.expressions.types import Type

VIEW, KEPT = "CREATE TEMPORARY VIEW", "CACHE LAZY TABLE"
WIDE = re.compile(r"DECIMAL\((\d+),0\)")
INSTANT = "TIMESTAMP_LTZ"
"""The native type of points in time."""

TIME = "the type TIME (times of day)"

PARTITIONS = 16
"""Tasks of a join that is repartitioned."""

NUMERAL = re.compile(r"\(?-?\d+L?\)?")


class SparkDialect(Dialect):
    """Spark SQL.

    `temporary` are the names of temporary views.

    Privacy: every spelling gives the same under every setting of a session that was handed in: ANSI mode, time zone,
    escapes in strings, positions in GROUP BY.
    """

    name = "spark"
    label = "Spark SQL"
    double = "DOUBLE"
    integer = "INT"
    text = "STRING"
    gathers = True
    repartitions = True
    windows = True
    temporary: frozenset[str] = frozenset()
    functions: Mapping[str, Template] = {**NUMBERS, **TEXTS}

    @cached_property
    def _typed(self) -> Mapping[str, Callable[[Call, Sequence[str]], str]]:
        """Functions that depend on the types of their arguments, or on constants among them."""
        named = {"format_time": format_time(self), "read_time": read_time(self), "cast_time": self._no_time}
        return {**TYPED_NUMBERS, **TYPED_TEXTS, **TIMES, **named, **casts(self), **patterns(self)}

    @cached_property
    def _summaries(self) -> Mapping[str, Callable[[SummaryCall], str]]:
        return summaries(self)

    # Names and constants

    def table(self, name: str) -> str:
        """By its full name; a temporary view has none."""
        return self.identifier(*parts_of(name)) if name in self.temporary else super().table(name)

    def identifier(self, name: str) -> str:
        """In backquotes. Spark puts the values of variables in place of `${…}`, wherever it stands."""
        if "${" in name or "\n" in name:
            raise self.lacks("a name with ${ or a line break in it")
        return "`" + name.replace("`", "``") + "`"

    def constant(self, value: Constant) -> str:
        """Whole numbers say how wide they are."""
        if isinstance(value, int) and not isinstance(value, bool):
            return spelling.integer(value)
        return super().constant(value)

    def real(self, value: float) -> str:
        """With the suffix of doubles."""
        return spelling.real(value)

    def decimal(self, value: Decimal) -> str:
        """With the suffix of decimals."""
        return f"({value:f}BD)"

    def string(self, value: str) -> str:
        """In hexadecimal where a setting could change what it means."""
        return spelling.quoted(value)

    def timestamp(self, value: datetime) -> str:
        """Without a time zone, whatever TIMESTAMP means in this session."""
        return f"TIMESTAMP_NTZ '{value.isoformat(sep=' ')}'"

    def time(self, value: time) -> str:  # noqa: ARG002 - none is written
        """Spark 4 has no type for times of day unless a setting says otherwise."""
        raise self.lacks(TIME)

    # Expressions

    def _no_time(self, expr: Call, texts: Sequence[str]) -> str:  # noqa: ARG002 - see above
        raise self.lacks(TIME)

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """A function of the allow-list."""
        typed = self._typed.get(expr.function)
        return super().call(expr, texts) if typed is None else typed(expr, texts)

    def in_zone(self, expr: Call, text: str) -> str:
        """By a function of one value: written out for every change of the offset, it would be too long to compile."""
        value = expr.arguments[0]
        if isinstance(value, Column) and value.native == INSTANT:
            text = spelling.moment_of_micros(f"unix_micros({text})")
        if shift_of(expr).is_nothing:
            return text
        return f"element_at(transform(array({text}), z -> {super().in_zone(expr, 'z')}), 1)"

    def later(self, text: str, seconds: str) -> str:
        """An interval."""
        return f"({text} + INTERVAL '1' SECOND * {seconds})"

    def summary(self, call: SummaryCall) -> str:
        """An exact summary of rows."""
        written = self._summaries.get(call.function)
        return super().summary(call) if written is None else written(call)

    def as_double(self, text: str, expr: Expr) -> str:
        """Whole numbers of more than 64 bits are rounded half by half, as DuckDB does."""
        found = WIDE.fullmatch(expr.native) if isinstance(expr, Column) else None
        return spelling.wide_double(text) if found and int(found[1]) > 18 else spelling.double(text)

    def on_grid(self, text: str, offset: float, factor: float, low: int, high: int, *, nan: bool) -> str:
        """See the base. Held first, and the floor taken then: Spark's FLOOR is a whole number, which overflows."""
        steps = f"({text} - {self.real(offset)}) * {self.real(factor)} + 0.5D"
        held = f"LEAST(GREATEST({steps}, {self.real(float(low))}), {self.real(float(high))})"
        there = f"{text} IS NOT NULL{f' AND NOT isnan({text})' if nan else ''}"
        return f"CASE WHEN {there} THEN floor({held}) END"

    def one_zero(self, text: str) -> str:
        """Whatever the width of the column."""
        return f"({spelling.double(text)} + 0D)"

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Whole division."""
        return f"({dividend} DIV {divisor})"

    def canonical(self, text: str, kind: Type) -> str:
        """See the base."""
        if kind is Type.TEXT:
            return text
        if kind in {Type.FLOAT, Type.DECIMAL}:
            scaled = f"({spelling.double(text)} * 1048576D)"
            held = f"CASE WHEN abs({scaled}) < 4e18D THEN {scaled} END"
            return f"CASE WHEN abs({scaled}) < 4e18D THEN CAST(floor({held}) AS STRING) ELSE '' END"
        if kind is Type.TIMESTAMP:
            return f"CAST(unix_micros({text}) AS STRING)"
        if kind is Type.DATE:
            return date_text(text)
        if kind is Type.BOOLEAN:
            return f"CAST(CAST({text} AS INT) AS STRING)"
        return f"CAST({text} AS STRING)"

    def same(self, left: str, right: str, kind: Type) -> str:  # noqa: ARG002 - all types are alike here
        """One operator, on which Spark can join by hash."""
        return f"{left} <=> {right}"

    # Aggregates

    def total(self, text: str) -> str:
        """In three pieces of 64 bits each, which cannot overflow and are quick, put together as a decimal."""
        return total(text)

    def total_over(self, text: str, window: str) -> str:
        """As `total`."""
        return total(text, f" OVER ({window})")

    # Clauses

    def repartitioned(self, query: str) -> str:
        """By a hint. Each task looks at each row whether it was cancelled; that of a scan looks once in 4096 rows."""
        return f"SELECT /*+ REPARTITION({PARTITIONS}) */ * FROM ({query})"

    def step(self, name: str, query: str, *, once: bool) -> str:
        """A view; or a table that is kept in memory: Spark would compute a step of WITH in each place that uses it."""
        return f"{KEPT if once else VIEW} {name} AS {query}"

    def statement(self, steps: Sequence[str], query: str) -> str:
        """WITH; or, where a step is kept, a script, one statement on each line.

        The backend runs it under names that no other statement has.
        """
        if any(step.startswith(KEPT) for step in steps):
            return ";\n".join([*steps, query])
        return super().statement([_in_with(step) for step in steps], query)

    def group_by(self, texts: Sequence[str]) -> str:
        """By the expressions themselves: whether numbers are positions is a setting."""
        return f" GROUP BY {', '.join(map(_no_position, texts))}" if texts else ""

    def grouping_sets(self, sets: Sequence[Sequence[str]]) -> str:
        """As in the base, without positions."""
        return super().grouping_sets([[*map(_no_position, texts)] for texts in sets])

    def values(self, rows: Sequence[Sequence[str]], alias: str) -> str:
        """VALUES."""
        listed = ", ".join(f"({', '.join(row)})" for row in rows)
        return f"(VALUES {listed}) AS {alias}({', '.join(f'c{i}' for i in range(len(rows[0])))})"


def _in_with(step: str) -> str:
    """A view as a step of WITH."""
    name, query = step.removeprefix(f"{VIEW} ").split(" AS ", 1)
    return f"{name} AS ({query})"


def _no_position(text: str) -> str:
    return f"CAST({text} AS BIGINT)" if NUMERAL.fullmatch(text) else text


SPARK = SparkDialect()
