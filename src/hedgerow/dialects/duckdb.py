"""DuckDB, the reference: the SQL of every function is defined with the function itself."""

import math
from collections.abc import Sequence
from types import MappingProxyType

from hedgerow.dialects.base import INSTANT, Dialect, ExactAggregateCall, digits, shift_of
from hedgerow.dialects.statement import MATERIALIZED, Computed
from hedgerow.errors import InternalError
from hedgerow.expressions import exact_aggregates, functions, zones
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.expressions.zones import OFFSET


class DuckDBDialect(Dialect):
    """DuckDB 2."""

    name = "duckdb"
    label = "DuckDB"
    materialized = MappingProxyType({**MATERIALIZED, Computed.AGAIN: "NOT MATERIALIZED "})
    double = "DOUBLE"
    huge = "HUGEINT"
    lists_values = True
    plain_texts = frozenset({"VARCHAR"})
    codes = True
    blocks = True
    joins_by_position = True
    exact_integers = True
    exact_decimals = True

    def call(self, expr: Call, texts: Sequence[str]) -> str:
        """A function, as its own definition writes it."""
        if expr.function == "in_zone":
            return self.in_zone(expr, texts[0])
        if expr.function == "read_instant":
            return self.read_instant(expr, texts[0])
        return functions.lookup(expr.function).render(texts)

    def read_instant(self, expr: Call, text: str) -> str:
        """Use DuckDB's own cast only if there is an offset: without one it depends on the session's time zone."""
        timestamp = Call("imposed_timestamp", (expr.arguments[0],), Type.TIMESTAMP)
        utc = Literal(zones.DEFAULT, Type.TEXT)
        here = Call("in_zone", (timestamp, expr.arguments[1], utc), Type.TIMESTAMP)
        read = f"make_timestamp(epoch_us(TRY_CAST({text} AS {INSTANT})))"
        return (
            f"CASE WHEN regexp_matches({text}, {self.string(OFFSET)}) THEN {read} "
            f"ELSE {self.in_zone(here, f'TRY_CAST({text} AS TIMESTAMP)')} END"
        )

    def in_zone(self, expr: Call, text: str) -> str:
        """Compute in microseconds since 1970, which do not depend on the session's time zone.

        They are NULL for infinity, which is the same in every time zone.
        """
        shift, value = shift_of(expr), expr.arguments[0]
        since = f"epoch_us({text})"
        far = f"COALESCE(make_timestamp({since}), TRY_CAST({text} AS TIMESTAMP))"
        if shift.is_nothing:
            return far if isinstance(value, Column) and value.native.upper() == INSTANT else text
        short = isinstance(value, Column)
        name = since if short else "z"
        added = shift.tree(lambda change: f"{name} < {zones.micros(change)}", 1_000_000)
        inside = f"{name} BETWEEN {zones.micros(zones.FIRST)} AND {zones.micros(zones.LAST)}"
        moved = f"CASE WHEN {inside} THEN {name} + {added} END"
        micros = moved if short else f"list_transform([{since}], lambda z: {moved})[1]"
        return f"COALESCE(make_timestamp({micros}), {far})"

    def exact_aggregate(self, call: ExactAggregateCall) -> str:
        """An exact aggregate, as its own definition writes it."""
        known = exact_aggregates.lookup(call.function)
        if known is None:
            raise InternalError(f"{call.function} is not an exact aggregate.")
        where = "" if call.filter is None else f" FILTER (WHERE {call.filter})"
        listed = ", ".join(call.texts)
        return known.text(call.kinds).format(
            *call.texts,
            distinct="DISTINCT " if call.distinct else "",
            all=listed or "*",
            listed=listed,
            doubles=", ".join(f"CAST({text} AS {self.double})" for text in call.texts),
            tail=where if call.over is None else f"{where} {call.over}",
        )

    def real(self, value: float) -> str:
        """A double: a number with an exponent."""
        return f"({digits(value)})" if math.isfinite(value) else super().real(value)

    def binary(self, text: str) -> str:
        """A text with the collation that compares bytes."""
        return f'{text} COLLATE "binary"'

    def limits(self, expr: Expr) -> tuple[str, str] | None:
        """Dates can be infinite, times 24:00, and wide integers can have more digits than a decimal."""
        if expr.type is Type.TIME:
            return "TIME '00:00:00'", "TIME '23:59:59.999999'"
        if expr.type is Type.DECIMAL and isinstance(expr, Column) and expr.native.upper() == "HUGEINT":
            return f"-{10**37}", f"{10**37}"
        return super().limits(expr)

    def floor_divide(self, dividend: str, divisor: str) -> str:
        """Integer division."""
        return f"{dividend} // {divisor}"

    def canonical(self, text: str, kind: Type) -> str:
        """See the base class."""
        if kind is Type.TEXT:
            return self.binary(text)
        if kind in {Type.FLOAT, Type.DECIMAL}:
            scaled = f"floor(CAST({text} AS DOUBLE) * 1048576)"
            return f"CASE WHEN abs({scaled}) < 4e18 THEN CAST(TRY_CAST({scaled} AS BIGINT) AS VARCHAR) ELSE '' END"
        if kind in {Type.TIMESTAMP, Type.TIME}:
            return f"CAST(TRY(epoch_us({text})) AS VARCHAR)"
        if kind is Type.BOOLEAN:
            return f"CAST(CAST({text} AS INTEGER) AS VARCHAR)"
        return f"CAST({text} AS VARCHAR)"

    def counted(self, condition: str | None) -> str:
        """Count with FILTER."""
        return "COUNT(*)" if condition is None else f"COUNT(*) FILTER (WHERE {condition})"

    def total(self, text: str) -> str:
        """SUM of 64-bit integers, which DuckDB computes in 128 bits."""
        return f"SUM({text})"

    def total_if(self, text: str, condition: str | None) -> str:
        """Sum with FILTER."""
        return f"SUM({text})" if condition is None else f"SUM({text}) FILTER (WHERE {condition})"

    def union(self, left: str, operator: str, right: str) -> str:
        """A set operation with both sides in parentheses."""
        return f"({left}) {operator} ({right})"


DUCKDB = DuckDBDialect()
