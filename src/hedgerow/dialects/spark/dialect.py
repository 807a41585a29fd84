"""Spark SQL 4, in ANSI mode or without it."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time
from decimal import Decimal
from functools import cached_property

from hedgerow.dialects.base import Dialect, ExactAggregateCall, Template, shift_of
from hedgerow.dialects.spark import spelling
from hedgerow.dialects.spark.casts import casts, date_text
from hedgerow.dialects.spark.exact_aggregates import exact_aggregates, total
from hedgerow.dialects.spark.numbers import NUMBERS, TYPED_NUMBERS
from hedgerow.dialects.spark.spelling import Typed
from hedgerow.dialects.spark.texts import TEXTS, TYPED_TEXTS, patterns
from hedgerow.dialects.spark.times import TIMES, format_time, read_time
from hedgerow.dialects.statement import Computed, StatementParts
from hedgerow.expressions.nodes import Call, Column, Constant, Expr
from hedgerow.expressions.table_names import parts_of
from hedgerow.expressions.types import Type

VIEW = "CREATE TEMPORARY VIEW"
SCRIPT = {Computed.ONCE: "CACHE LAZY TABLE", Computed.FIRST: "CACHE TABLE"}
"""Statements of a script, by when a step is computed; other steps are views."""
WIDE = re.compile(r"DECIMAL\((\d+),0\)")
INSTANT = "TIMESTAMP_LTZ"
"""Native type of timestamps with a time zone."""

TIME = "the type TIME (times of day)"

PARTITIONS = 16
"""Tasks of a join that is repartitioned."""

NUMERAL = re.compile(r"\(?-?\d+L?\)?")


class SparkDialect(Dialect):
    """Spark SQL. `temporary` holds the names of temporary views.

    Privacy: a statement gives the same result under every setting of the user's session: ANSI mode, time zone, escapes
    in strings, positions in GROUP BY.
    """

    name = "spark"
    label = "Spark SQL"
    exact_integers = True
    double = "DOUBLE"
    lists_values = True
    integer = "INT"
    text = "STRING"
    plain_texts = frozenset({"STRING"})
    gathers = True
    repartitions = True
    windows = True
    temporary: frozenset[str] = frozenset()
    functions: Mapping[str, Template] = {**NUMBERS, **TEXTS}

    @cached_property
    def _typed(self) -> Mapping[str, Typed]:
        """Functions that depend on the types or the constants of their arguments."""
        named = {"format_time": format_time(self), "read_time": read_time(self), "cast_time": self._no_time}
        return {**TYPED_NUMBERS, **TYPED_TEXTS, **TIMES, **named, **casts(self), **patterns(self)}

    @cached_property
    def _exact_aggregates(self) -> Mapping[str, Callable[[ExactAggregateCall], str]]:
        return exact_aggregates(self)

    # Names and constants

    def table(self, name: str) -> str:
        """A table by its full name; temporary views have a plain one."""
        return self.identifier(*parts_of(name)) if name in self.temporary else super().table(name)

    def identifier(self, name: str) -> str:
        """A name in backticks. Spark substitutes variables for `${…}` everywhere, even in names."""
        if "${" in name or "\n" in name:
            raise self.lacks("a name that contains ${ or a line break")
        return "`" + name.replace("`", "``") + "`"

    def constant(self, value: Constant) -> str:
        """A constant; integers have a suffix for their width."""
        if isinstance(value, int) and not isinstance(value, bool):
            return spelling.integer(value)
        return super().constant(value)

    def real(self, value: float) -> str:
        """A double, with its suffix."""
        return spelling.real(value)

    def decimal(self, value: Decimal) -> str:
        """A decimal, with its suffix."""
        return f"({value:f}BD)"

    def string(self, value: str) -> str:
        """A text, in hexadecimal where its meaning could depend on a setting."""
        return spelling.quoted(value)

    def timestamp(self, value: datetime) -> str:
        """A timestamp without a time zone, whatever TIMESTAMP means in the session."""
        return f"TIMESTAMP_NTZ '{value.isoformat(sep=' ')}'"

    def time(self, value: time) -> str:  # noqa: ARG002 - always refused
        """Refuse times of day: Spark 4 has no such type by default."""
        raise self.lacks(TIME)

    # Expressions

    def _no_time(self, expr: Call, texts: Sequence[str]) -> str:  # noqa: ARG002 - always refused
        raise self.lacks(TIME)

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """A function of the allow-list."""
        typed = self._typed.get(expr.function)
        return super().call(expr, texts) if typed is None else typed(expr, texts)

    def in_zone(self, expr: Call, text: str) -> str:
        """A timestamp in another zone. The value is bound to a lambda, as repeating it would be too long to compile."""
        value = expr.arguments[0]
        if isinstance(value, Column) and value.native == INSTANT:
            text = spelling.from_micros(f"unix_micros({text})")
        if shift_of(expr).is_nothing:
            return text
        return f"element_at(transform(array({text}), z -> {super().in_zone(expr, 'z')}), 1)"

    def later(self, text: str, seconds: str) -> str:
        """A timestamp moved by an interval."""
        return f"({text} + INTERVAL '1' SECOND * {seconds})"

    def exact_aggregate(self, call: ExactAggregateCall) -> str:
        """An exact aggregate of rows."""
        written = self._exact_aggregates.get(call.function)
        return super().exact_aggregate(call) if written is None else written(call)

    def as_double(self, text: str, expr: Expr) -> str:
        """A number as a double. Integers beyond 64 bits are converted in two halves, as in DuckDB."""
        wide = WIDE.fullmatch(expr.native) if isinstance(expr, Column) else None
        return spelling.wide_double(text) if wide and int(wide[1]) > 18 else spelling.double(text)

    def on_grid(self, text: str, offset: float, factor: float, low: int, high: int, *, nan: bool) -> str:
        """See the base class. Clamp before FLOOR, which returns a 64-bit integer and overflows."""
        steps = f"({text} - {self.real(offset)}) * {self.real(factor)} + 0.5D"
        held = f"LEAST(GREATEST({steps}, {self.real(float(low))}), {self.real(float(high))})"
        present = f"{text} IS NOT NULL{f' AND NOT isnan({text})' if nan else ''}"
        return f"CASE WHEN {present} THEN floor({held}) END"

    def one_zero(self, text: str) -> str:
        """A double in which zero has no sign, for columns of any width."""
        return f"({spelling.double(text)} + 0D)"

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division."""
        return f"({dividend} DIV {divisor})"

    def canonical(self, text: str, kind: Type) -> str:
        """See the base class."""
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
        """Equality in which NULL equals NULL, which Spark can use for a hash join."""
        return f"{left} <=> {right}"

    # Aggregates

    def total(self, text: str) -> str:
        """The sum of integers in three pieces of 64 bits, which cannot overflow, combined as a decimal."""
        return total(text)

    def bounded_total(self, text: str, reach: int) -> str:
        """The same in as few pieces as the integers need."""
        return total(text, reach=reach)

    def total_over(self, text: str, window: str, reach: int) -> str:
        """`bounded_total` over the rows of a window."""
        return total(text, f" OVER ({window})", reach=reach)

    # Clauses

    def repartitioned(self, query: str) -> str:
        """Repartition by a hint. After a shuffle, tasks check for cancellation at every row; scans every 4096."""
        return f"SELECT /*+ REPARTITION({PARTITIONS}) */ * FROM ({query})"

    def by_owner(self, rows: str) -> str:
        """One shuffle by owner: otherwise Spark would shuffle pairs of owner and key, and these again by owner."""
        return f"(SELECT /*+ REPARTITION(o) */ * FROM {rows}) AS by_owner"

    def statement_text(self, statement: StatementParts) -> str:
        """A statement with WITH or, if a step is cached, a script of views and cached tables, one per line.

        Spark computes a step of WITH wherever it is used. A table that is cached at once has a known size, and is
        broadcast if it is small. The backend runs the steps under unique names.
        """
        if not is_script(statement):
            return super().statement_text(statement)
        lines = [f"{SCRIPT.get(step.computed, VIEW)} {step.name} AS {step.query}" for step in statement.steps]
        return ";\n".join([*lines, statement.query])

    def group_by(self, texts: Sequence[str]) -> str:
        """GROUP BY expressions: whether integers are positions depends on a setting."""
        return f" GROUP BY {', '.join(map(_no_position, texts))}" if texts else ""

    def grouping_sets(self, sets: Sequence[Sequence[str]]) -> str:
        """GROUP BY GROUPING SETS, without positions."""
        return super().grouping_sets([[*map(_no_position, texts)] for texts in sets])


def is_script(statement: StatementParts) -> bool:
    """Return True if a step is cached, so that the steps are views and tables instead of a WITH."""
    return any(step.computed in SCRIPT for step in statement.steps)


def _no_position(text: str) -> str:
    return f"CAST({text} AS BIGINT)" if NUMERAL.fullmatch(text) else text


SPARK = SparkDialect()
