"""The base class of all dialects: how an engine writes SQL.

`compile` decides what to compute; a dialect writes it as text. The defaults here are standard SQL; each engine
overrides what it writes differently, and nothing outside its dialect knows.

A dialect has an allow-list of functions. A query that uses any other function is refused before it is charged.

Privacy: every expression is *total*. It gives a value or NULL on every row, and raises no error that depends on a row.
"""

import copy
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from types import MappingProxyType
from typing import Self

from hedgerow.dialects.statement import Computed, StatementParts, Step
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions import zones
from hedgerow.expressions.functions.times import CLOCK, CLOCK_SECONDS, DAY, MINUTE
from hedgerow.expressions.nodes import NO_FRAME, Call, Column, Constant, Expr, Literal, WindowFrame
from hedgerow.expressions.table_names import full_name
from hedgerow.expressions.types import Type
from hedgerow.expressions.zones import expand_read_instant

FIRST, LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001 - without a time zone
"""The first and the last timestamp that Python can hold."""

INSTANT = "TIMESTAMP WITH TIME ZONE"
"""Native type of timestamps with a time zone on most engines."""

CONDITIONAL = frozenset({"and", "or", "not", "indicator"})
"""Functions of conditions. CASE takes conditions and values in turns."""

Template = str | Callable[[Sequence[str]], str]
Writer = Callable[["Dialect", Call, Sequence[str]], str]
"""Writes a function of the allow-list, from the texts of its arguments."""
OrderTerm = tuple[str, str]
"""An expression in ORDER BY and its direction."""


@dataclass(frozen=True, slots=True)
class Over:
    """The OVER clause of a window function, with the terms of PARTITION BY and ORDER BY as text."""

    partition: Sequence[str] = ()
    order: Sequence[str] = ()
    frame: WindowFrame = NO_FRAME

    def __str__(self) -> str:
        partition = f"PARTITION BY {', '.join(self.partition)}" if self.partition else ""
        order = f"ORDER BY {', '.join(self.order)}" if self.order else ""
        return f"OVER ({' '.join(filter(None, (partition, order, str(self.frame))))})"


@dataclass(frozen=True, slots=True)
class ExactAggregateCall:
    """A call of an exact aggregate: its arguments (as text, types and expressions), FILTER's condition and OVER."""

    function: str
    texts: tuple[str, ...]
    kinds: tuple[Type, ...]
    distinct: bool = False
    filter: str | None = None
    over: Over | None = None
    arguments: tuple[Expr, ...] = ()


class Dialect:
    """The SQL of one engine.

    Attributes:
        name: Name in catalogs and golden files.
        label: Name in messages.
        experimental: True if no server has ever run a statement of this dialect.
        double, whole, integer, huge, text: Types of 64-bit floats, of 64, 32 and 128-bit integers, and of text.
        functions: The allow-list: template of each function, with `{0}`, `{1}` … for the arguments.
        exact_aggregates: The allow-list of exact aggregates: the function that writes a call, by name.
        joins: The supported kinds of joins.
        gathers: True if sums are computed for each pair of owner and key in a single pass over the rows: for engines
            that materialise or recompute a step that is read twice.
        exact_integers: True if columns of type INTEGER hold integers alone, whose arithmetic is that of 64 bits.
        exact_decimals: True if decimals of at most 18 digits are 64-bit integers, and CAST rounds to the nearest one.
        plain_texts: Native types of text that comes back from the engine and goes there again as the same text.
        codes: True if the keys of an owner can be gathered as bits of an integer.
        blocks: True if the owners of a block are counted as the bits of a string of bits.
        joins_by_position: True if DuckDB's POSITIONAL JOIN and `error` are available (`compile.paths`).
        windows: True if those sums are then weighted by window functions, in a single pass over the pairs.
        crowds_first: True if the owners of many rows are found by a statement of its own (`compile.crowded`); the
            backend must refuse the result if the rows changed in between.
        repartitions: True if a statement can be cancelled only between rows of a shuffle, so that rows that join with
            very many others must pass through one.
        nests_joins: True if the right side of a join can be a join in parentheses.
        joins_by_equality: True if an outer join requires an equality between both sides.
        lists_values: True if VALUES is a relation whose columns can be named.
        indexes_columns_alone: True if a join on a computed value compares every row with every other.
        materialized: Words in front of a step of WITH, by when it is to be computed.
        namespace: Database and schema of the tables, outermost first; empty if the connection finds tables by name.
        out_of_sight: Aliases of an outer query that a query in FROM cannot refer to.
        bucketed: The column by whose values the rows of a table are stored together, by the name of the table.
    """

    name = ""
    label = ""
    experimental = False
    double = "DOUBLE PRECISION"
    whole = "BIGINT"
    integer = "INTEGER"
    huge = "DECIMAL(38, 0)"
    text = "VARCHAR"
    plain_texts: frozenset[str] = frozenset()
    codes = False
    blocks = False
    joins_by_position = False
    exact_integers = False
    exact_decimals = False
    gathers = False
    repartitions = False
    windows = False
    nests_joins = True
    joins_by_equality = False
    lists_values = False
    crowds_first = False
    indexes_columns_alone = False
    materialized: Mapping[Computed, str] = MappingProxyType({})
    namespace: tuple[str, ...] = ()
    out_of_sight: frozenset[str] = frozenset()
    bucketed: Mapping[str, str] = MappingProxyType({})
    functions: Mapping[str, Template] = {}
    exact_aggregates: Mapping[str, Callable[[ExactAggregateCall], str]] = {}
    joins: Mapping[str, str] = {"inner": "JOIN", "left": "LEFT JOIN", "full": "FULL JOIN", "cross": "CROSS JOIN"}

    # Names and constants

    def identifier(self, name: str) -> str:
        """A quoted name."""
        return '"' + name.replace('"', '""') + '"'

    def at(self, *namespace: str) -> Self:
        """Return the same dialect for tables of this database and schema."""
        dialect = copy.copy(self)
        dialect.namespace = namespace
        return dialect

    def inside(self, outer: Sequence[Column]) -> Self:  # noqa: ARG002 - most engines need no change
        """Return the dialect for a query nested in an expression that refers to these outer columns."""
        return self

    def table(self, name: str) -> str:
        """A table by its full name, which never collides with a step of WITH or a temporary table."""
        return ".".join(map(self.identifier, full_name(name, self.namespace)))

    def constant(self, value: Constant) -> str:
        """A constant, written from its value and never from the text of the query."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return self.boolean(value)
        if isinstance(value, int):
            return f"({value})" if value < 0 else str(value)
        if isinstance(value, float):
            return self.real(value)
        if isinstance(value, Decimal):
            return self.decimal(value)
        if isinstance(value, datetime):
            return self.timestamp(value)
        if isinstance(value, date):
            return self.date(value)
        if isinstance(value, time):
            return self.time(value)
        if isinstance(value, str):
            return self.string(value)
        raise InternalError(f"A constant of type {type(value).__name__} cannot be written.")

    def boolean(self, value: bool) -> str:  # noqa: FBT001 - it is the value itself
        """TRUE or FALSE."""
        return "TRUE" if value else "FALSE"

    def real(self, value: float) -> str:
        """A double, with all its digits."""
        return f"CAST({digits(value)} AS {self.double})"

    def decimal(self, value: Decimal) -> str:
        """An exact decimal number."""
        return f"({value:f})"

    def string(self, value: str) -> str:
        """A text. An engine with backslash escapes must double backslashes."""
        return "'" + value.replace("'", "''") + "'"

    def date(self, value: date) -> str:
        """A date."""
        return f"DATE '{value.isoformat()}'"

    def time(self, value: time) -> str:
        """A time of day."""
        return f"TIME '{value.isoformat()}'"

    def timestamp(self, value: datetime) -> str:
        """A timestamp without a time zone."""
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"

    # Expressions

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """A function of the allow-list."""
        converted = self.time_conversion(expr, texts)
        if converted is not None:
            return converted
        template = self.functions.get(expr.function)
        if template is None:
            raise self.lacks(f"the function {expr.function}")
        return template.format(*texts) if isinstance(template, str) else template(texts)

    def time_conversion(self, expr: Call, texts: Sequence[str]) -> str | None:
        """A conversion between time zones, or a part of a time of day; None for other functions."""
        if expr.function == "in_zone":
            return self.in_zone(expr, texts[0])
        if expr.function == "read_instant":
            return self.read_instant(expr, texts[0])
        return self.clock(expr, texts[0]) if expr.function.startswith("clock_") else None

    def in_zone(self, expr: Call, text: str) -> str:
        """A timestamp of one time zone in another.

        It cannot fail: an offset is added only within the years 1 to 9999. Other timestamps, such as infinity, are
        returned unchanged.
        """
        shift = shift_of(expr)
        if shift.is_nothing:
            return text
        return self.shifted(text, shift)

    def shifted(self, text: str, shift: zones.Shift) -> str:
        """A timestamp plus an offset that depends on it."""
        inside = f"{text} BETWEEN {self.timestamp(zones.FIRST)} AND {self.timestamp(zones.LAST)}"
        seconds = shift.tree(lambda change: f"{text} < {self.timestamp(change)}")
        return f"CASE WHEN {inside} THEN {self.later(text, seconds)} ELSE {text} END"

    def read_instant(self, expr: Call, text: str) -> str:
        """Read a timestamp at UTC from ISO 8601; text without an offset is in the time zone of the call."""

        def written(part: Expr) -> str:
            if part is expr.arguments[0]:
                return text
            if isinstance(part, Literal):
                return self.constant(part.value)
            return self.call(*parts_of(part))

        def tested(part: Expr) -> str:
            return self.test(*parts_of(part))

        def parts_of(part: Expr) -> tuple[Call, list[str]]:
            if not isinstance(part, Call):
                raise InternalError("Reading a timestamp requires calls and constants only.")
            return part, operand_texts(part, self, written, tested)

        return written(expand_read_instant(expr))

    def clock(self, expr: Call, text: str) -> str:
        """A part of a time of day; NULL from 24:00 on."""
        since = self.since_midnight(text)
        within, unit = CLOCK.get(expr.function, (MINUTE, 1))
        left = since if within == DAY else f"({since} - {self.floor_divide(since, str(within))} * {within})"
        part = left if unit == 1 else self.floor_divide(left, str(unit))
        if expr.function == CLOCK_SECONDS:
            part = f"CAST({left} AS {self.double}) / {self.real(1e6)}"
        return f"CASE WHEN {since} BETWEEN 0 AND {DAY - 1} THEN {part} END"

    def since_midnight(self, text: str) -> str:  # noqa: ARG002 - always refused
        """A time of day in microseconds."""
        raise self.lacks("a part of a time of day")

    def later(self, text: str, seconds: str) -> str:
        """A timestamp within the years 1 to 9999, shifted by less than two days."""
        return f"({text} + {seconds} * INTERVAL '1 second')"

    def exact_aggregate(self, call: ExactAggregateCall) -> str:
        """An exact aggregate of rows: an aggregate or a window function."""
        written = self.exact_aggregates.get(call.function)
        if written is None:
            raise self.lacks(f"{call.function} of one person's rows")
        return written(call)

    def operands(self, expr: Call) -> Sequence[Expr]:
        """Return the expressions whose texts `call` and `test` take."""
        return expr.arguments

    def test(self, expr: Call, texts: Sequence[str]) -> str:
        """A boolean function of the allow-list as a condition."""
        return self.condition(self.call(expr, texts))

    def condition(self, value: str) -> str:
        """A boolean value as a condition, for WHERE, ON and CASE."""
        return value

    def predicate(self, condition: str) -> str:
        """A condition as a boolean value."""
        return condition

    def as_double(self, text: str, expr: Expr) -> str:  # noqa: ARG002 - some engines need to know the type
        """A number as a double. Decimals beyond 2^53 units in the last place are rounded as in DuckDB."""
        return f"CAST({text} AS {self.double})"

    def as_whole(self, text: str, kind: str) -> str:
        """A double without a fraction, which fits, as an integer of a type (`integer` or `whole`)."""
        return f"CAST({text} AS {kind})"

    def on_grid(self, text: str, offset: float, factor: float, low: int, high: int, *, nan: bool) -> str:
        """`floor((x - offset) * factor + 1/2)`, clamped between two integers, as a double.

        NULL where x is NULL or NaN (only possible if `nan`). The factor is a power of two. Rounding happens in floating
        point, identically on every engine, before the clamp (integers below 2^53 are exact).
        """
        held = self.held(text, *far(offset, factor, low, high))
        steps = f"({held} - {self.real(offset)}) * {self.real(factor)} + {self.real(0.5)}"
        missing = f"WHEN {self.is_nan(text)} THEN NULL " if nan else ""
        minimum, maximum = self.real(float(low)), self.real(float(high))
        ends = f"WHEN {steps} < {minimum} THEN {minimum} WHEN {steps} >= {maximum} THEN {maximum}"
        return f"CASE {missing}{ends} ELSE floor({steps}) END"

    def held(self, text: str, low: float, high: float) -> str:  # noqa: ARG002 - some engines need it
        """A double that is not NaN, clamped on engines where arithmetic beyond the bounds could fail."""
        return text

    def one_value(self, query: str, nothing: str | None) -> str:  # noqa: ARG002 - some engines get it wrong
        """A query as a value; `nothing` is its value over no rows, unless that is NULL."""
        return f"({query})"

    def among(self, left: str, query: str, *, correlated: bool = False) -> str:  # noqa: ARG002 - the same for all queries
        """IN over a query, as a condition."""
        return f"({left} IN ({query}))"

    def is_listed(self, text: str, table: str, column: str) -> str:
        """Condition that a value is in a column of a loaded table; neither has NULL."""
        return f"EXISTS (SELECT 1 FROM {table} WHERE {table}.{column} = {text})"

    def is_nan(self, text: str) -> str:
        """Condition that a double is NaN; it may be NULL."""
        return f"isnan({text})"

    def binary(self, text: str) -> str:
        """A text that is compared byte by byte."""
        return text

    def bytewise(self, text: str, expr: Expr) -> str:
        """A text to group, partition or order by, compared byte by byte."""
        return text if is_bytewise(expr) else self.binary(text)

    def one_zero(self, text: str) -> str:
        """A double in which zero has no sign."""
        return f"({text} + {self.real(0.0)})"

    def printable(self, text: str, expr: Expr) -> str:
        """A group key; NULL if Python cannot hold it (the year 10000, an infinite date)."""
        bounds = self.limits(expr)
        return text if bounds is None else f"CASE WHEN {text} BETWEEN {bounds[0]} AND {bounds[1]} THEN {text} END"

    def limits(self, expr: Expr) -> tuple[str, str] | None:
        """Return the minimum and maximum key that can be printed; None if all values can."""
        if expr.type is Type.DATE:
            return self.date(date.min), self.date(date.max)
        if expr.type is Type.TIMESTAMP:
            return self.timestamp(FIRST), self.timestamp(LAST)
        return None

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division of nonnegative integers; the divisor is not zero."""
        return f"CAST(floor({dividend} / {divisor}) AS {self.whole})"

    def canonical(self, text: str, kind: Type) -> str:
        """The text of a value to be hashed, the same on every engine.

        Integers in digits, text unchanged, dates in ISO 8601, times and timestamps as microseconds since midnight or
        1970, TRUE and FALSE as 1 and 0, decimals and doubles as `floor(2^20 x)` where that is below 4e18 and as the
        empty text elsewhere. Two values may share a text: ties are broken by the values.
        """
        raise NotImplementedError

    def hashed(self, parts: Sequence[str]) -> str:
        """The MD5 hash, in hexadecimal, of texts joined by `|`; none is NULL."""
        joined = " || '|' || ".join(parts)
        return f"md5({joined})"

    def same(self, left: str, right: str, kind: Type) -> str:  # noqa: ARG002 - some engines need to know the type
        """Equality in which NULL equals NULL, as a join condition."""
        return f"{left} IS NOT DISTINCT FROM {right}"

    # Aggregates

    def count(self, text: str = "*") -> str:
        """The number of rows, or of values, in 64 bits."""
        return f"COUNT({text})"

    def counted(self, condition: str | None) -> str:
        """The number of rows that meet a condition, or of all rows."""
        return self.count() if condition is None else self.count(f"CASE WHEN {condition} THEN 1 END")

    def total(self, text: str) -> str:
        """The sum of 64-bit integers, in 128 bits; NULL over no rows."""
        return f"SUM(CAST({text} AS {self.huge}))"

    def bounded_total(self, text: str, reach: int) -> str:  # noqa: ARG002 - most engines add all integers alike
        """`total` of integers whose absolute values are at most `reach`."""
        return self.total(text)

    def total_over(self, text: str, window: str, reach: int) -> str:
        """`bounded_total` over the rows of a window."""
        return f"{self.bounded_total(text, reach)} OVER ({window})"

    def wide_total(self, text: str) -> str:
        """The sum of 128-bit integers."""
        return f"SUM({text})"

    def total_if(self, text: str, condition: str | None) -> str:
        """`total` over the rows that meet a condition; NULL if none does."""
        return self.total(text if condition is None else f"CASE WHEN {condition} THEN {text} END")

    def product_total(self, left: str, right: str) -> str:
        """The sum of products of two 64-bit integers, in 128 bits."""
        return self.wide_total(f"CAST({left} AS {self.huge}) * {right}")

    def weighed(self, whole: str, one: int, lost: str) -> str:
        """`whole` times `one` minus `lost`, in 128 bits."""
        return f"{whole} * {one} - {lost}"

    def bit(self, number: str) -> str:
        """The integer in which only one bit is set; `number` is from 0 to 62."""
        return f"(CAST(1 AS {self.whole}) << CAST({number} AS {self.integer}))"

    def bit_or(self, text: str) -> str:
        """The bitwise OR of 64-bit integers."""
        return f"BIT_OR({text})"

    def has_bit(self, mask: str, bit: str) -> str:
        """Condition that a bit is set."""
        return f"({mask} & {bit}) <> 0"

    def block(self, owner: str) -> str:
        """The block of a whole number: 2^16 consecutive numbers are in one."""
        return f"(CAST({owner} AS {self.whole}) >> 16)"

    def owners_in_block(self, owner: str) -> str:
        """The number of different whole numbers, all of one block."""
        return f"BIT_COUNT(BITSTRING_AGG(CAST({owner} AS {self.whole}) & 65535, 0, 65535))"

    def root(self, squared: int, size: str) -> str:
        """The integer part of the square root of `squared / size`.

        The root in floating point is off by less than one (it is below 2^30). One is subtracted if it is too large, so
        that its square times `size` does not exceed `squared`, in integers.
        """
        root = f"CAST(floor(sqrt({self.real(float(squared))} / CAST({size} AS {self.double}))) AS {self.whole})"
        beyond = f"CAST({root} AS {self.huge}) * {root} * {size} > CAST('{squared}' AS {self.huge})"
        return f"CASE WHEN {beyond} THEN {root} - 1 ELSE {root} END"

    # Clauses

    def step(self, name: str, query: str, *, once: bool) -> Step:
        """One step of a statement; `once` if it should be computed once instead of inlined where it is used."""
        return Step(name, query, Computed.ONCE if once else Computed.WHERE_READ)

    def statement(self, steps: Sequence[Step], query: str) -> StatementParts:
        """A statement of steps and the query that uses them."""
        return StatementParts(tuple(steps), query)

    def step_text(self, step: Step) -> str:
        """One step of WITH."""
        return f"{step.name} AS {self.materialized.get(step.computed, '')}({step.query})"

    def statement_text(self, statement: StatementParts) -> str:
        """The text of a statement."""
        steps = ", ".join(map(self.step_text, statement.steps))
        return f"WITH {steps} {statement.query}" if steps else statement.query

    def is_stored(self, expr: Expr) -> bool:
        """Return True if a value is a column exactly as stored."""
        return isinstance(expr, Column)

    def computed_once(self, query: str) -> str:
        """A query whose columns are computed once per row, however often they are compared."""
        return query

    def group_by(self, texts: Sequence[str]) -> str:
        """GROUP BY the first columns of SELECT; `texts` are their expressions."""
        return f" GROUP BY {', '.join(str(i + 1) for i in range(len(texts)))}" if texts else ""

    def grouping_sets(self, sets: Sequence[Sequence[str]]) -> str:
        """GROUP BY several sets of expressions."""
        listed = [", ".join(texts) for texts in sets]
        return f" GROUP BY GROUPING SETS ({', '.join(f'({texts})' for texts in listed)})"

    def join(self, left: str, kind: str, right: str, condition: str | None) -> str:
        """A join; `condition` may be None."""
        if kind not in self.joins:
            raise self.lacks(f"a {kind} join")
        tail = "" if kind == "cross" else f" ON {condition or self.condition(self.boolean(value=True))}"
        return f"{left} {self.joins[kind]} {right}{tail}"

    def union(self, left: str, operator: str, right: str) -> str:
        """A set operation of two queries; `operator` is UNION, INTERSECT or EXCEPT, optionally with ALL."""
        return f"SELECT * FROM ({left}) AS one {operator} SELECT * FROM ({right}) AS other"

    def repartitioned(self, query: str) -> str:
        """A query whose rows are shuffled; called if `repartitions` is True."""
        return query

    def by_owner(self, rows: str) -> str:
        """A relation with the rows of each owner `o` in one place, before they are grouped by owner and key."""
        return rows

    def values(self, rows: Sequence[Sequence[str]], alias: str) -> str:
        """Rows of constants as a relation with columns `c0`, `c1`, …."""
        if self.lists_values:
            listed = ", ".join(f"({', '.join(row)})" for row in rows)
            return f"(VALUES {listed}) AS {alias}({', '.join(f'c{i}' for i in range(len(rows[0])))})"
        named = [" ".join(["SELECT", ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(row))]) for row in rows]
        return f"({' UNION ALL '.join(named)}) AS {alias}"

    def order(self, text: str, kind: Type | None = None, *, descending: bool, nulls_first: bool) -> list[OrderTerm]:  # noqa: ARG002 - some engines need to know the type
        """Terms of ORDER BY that sort by one expression; `kind` is its type, where a double may be NaN."""
        return [(text, f"{'DESC' if descending else 'ASC'} NULLS {'FIRST' if nulls_first else 'LAST'}")]

    def limit(self, count: int | None, offset: int) -> str:
        """LIMIT and OFFSET."""
        text = "" if count is None else f" LIMIT {count}"
        return f"{text} OFFSET {offset}" if offset else text

    def tail(self, order: Sequence[str], count: int | None, offset: int) -> str:
        """ORDER BY, LIMIT and OFFSET; `order` are its terms."""
        listed = f" ORDER BY {', '.join(order)}" if order else ""
        return f"{listed}{self.limit(count, offset)}"

    def lacks(self, what: str) -> UnsupportedSQLError:
        """Return the refusal of a feature that this engine lacks, or cannot compute privately."""
        return UnsupportedSQLError(
            f"On {self.label}, {what} is not available.",
            code="engine-lacks",
            hint="See the reference page on engines for what each engine supports.",
        )


def operand_texts(
    expr: Call, dialect: Dialect, value: Callable[[Expr], str], condition: Callable[[Expr], str]
) -> list[str]:
    """Return the operands of a call as text: by `condition` where SQL requires one, and by `value` elsewhere."""
    operands = dialect.operands(expr)
    is_case, takes_conditions = expr.function == "case", expr.function in CONDITIONAL
    return [
        condition(operand)
        if takes_conditions or (is_case and index % 2 == 0 and index < len(operands) - 1)
        else value(operand)
        for index, operand in enumerate(operands)
    ]


def digits(value: float) -> str:
    """Digits of a double, with an exponent so that no engine parses a decimal; infinity and NaN in quotes."""
    if not math.isfinite(value):
        return f"'{value!r}'"
    return repr(value) if "e" in repr(value) else f"{value!r}e0"


def far(offset: float, factor: float, low: int, high: int) -> tuple[float, float]:
    """Return bounds beyond which the grid clamps anyway: steps are monotone, so clamping changes no integer."""
    room = 2.0 * (high - low + 4) / factor
    largest = sys.float_info.max
    return max(offset - room, -largest), min(offset + room, largest)


def shift_of(expr: Call) -> zones.Shift:
    """Return the offset that a call of `in_zone` adds."""
    source, target = (zone.value if isinstance(zone, Literal) else None for zone in expr.arguments[1:])
    shift = zones.shift(source, target) if isinstance(source, str) and isinstance(target, str) else None
    if shift is None:
        raise InternalError("The binder accepted a time zone that does not exist.")
    return shift


def is_bytewise(expr: Expr) -> bool:
    """Return True if a text is guaranteed to be compared byte by byte without a COLLATE."""
    return isinstance(expr, Column) and not expr.collated
