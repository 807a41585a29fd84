"""ClickHouse as a backend, one class for both clients; and the settings that are part of every statement.

They apply whatever the settings of the session or the profile.
"""

import math
import secrets
import threading
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import pyarrow as pa

from hedgerow.backends.base import Backend, Snapshot, failure, sealed
from hedgerow.backends.clickhouse import arrow, parts
from hedgerow.backends.clickhouse.clients import Client, code_of
from hedgerow.backends.clickhouse.schema import COLUMNS, schema_of
from hedgerow.backends.facts import KeptFacts, ReadsFacts
from hedgerow.backends.results import named_columns, stop_after, with_first_steps
from hedgerow.compiled import Query
from hedgerow.dialects.clickhouse import CLICKHOUSE
from hedgerow.errors import HedgerowError
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaTable

MEANING: Mapping[str, str | int] = {
    "enable_analyzer": 1,
    "session_timezone": "UTC",
    "cast_keep_nullable": 1,
    "join_use_nulls": 1,
    "group_by_use_nulls": 1,
    "transform_null_in": 0,
    "union_default_mode": "DISTINCT",
    "aggregate_functions_null_for_empty": 0,
    "count_distinct_implementation": "uniqExact",
    "prefer_column_name_to_alias": 1,
    "enable_positional_arguments": 1,
    "least_greatest_legacy_null_behavior": 0,
    "precise_float_parsing": 1,
    "enable_extended_results_for_datetime_functions": 1,
    "allow_experimental_correlated_subqueries": 1,
    "enable_materialized_cte": 1,
    "compile_expressions": 0,
    "optimize_functions_to_subcolumns": 0,
    "short_circuit_function_evaluation": "enable",
}
WHOLE: Mapping[str, str | int] = dict.fromkeys(
    (
        "read_overflow_mode",
        "group_by_overflow_mode",
        "sort_overflow_mode",
        "result_overflow_mode",
        "timeout_overflow_mode",
        "set_overflow_mode",
        "join_overflow_mode",
        "distinct_overflow_mode",
    ),
    "throw",
)
"""Exceeding a limit ends the statement instead of silently truncating its input."""

SIZES: Mapping[str, str | int] = {
    "max_query_size": 1 << 28,
    "max_ast_elements": 5_000_000,
    "max_expanded_ast_elements": 5_000_000,
    "max_ast_depth": 10_000,
    "max_parser_depth": 10_000,
}
ARROW: Mapping[str, str | int] = {
    "output_format_arrow_string_as_string": 1,
    "output_format_arrow_low_cardinality_as_dictionary": 0,
    "output_format_arrow_compression_method": "none",
}
LOCKED: Mapping[str, str | int] = {"readonly": 1}
"""No writes, no external tables (files, URLs), no change of settings."""


MAX_UNTRACKED = 4 << 20
"""Maximum bytes that a thread may allocate before ClickHouse counts them."""

SPILLED = ("max_bytes_before_external_group_by", "max_bytes_before_external_sort")
"""Above half of a statement's memory, groups and sorts spill to temporary files."""

STOPPED = frozenset({"cancelled", "timed-out"})
"""Codes of errors after which nothing else is tried."""

TIGHTEST = (
    "SELECT name, toFloat64OrZero(extract(value, '[0-9.]+')) AS value FROM system.settings "
    "WHERE name IN ('max_execution_time', 'max_memory_usage', 'max_result_bytes', 'max_threads')"
)
"""Limits of the session or the user's profile, including threads as `auto(2)`; 0 is no limit."""


def limited(limits: StatementLimits, known: Mapping[str, float]) -> Mapping[str, str | int]:
    """Return the settings of the owner's limits, except where the user's profile has tighter ones.

    ClickHouse gets two thirds of the engine's memory, because its allocator keeps half as much again while a statement
    runs. Its threads need four times as much memory as those of other engines.
    """
    counted = limits.engine * 2 // 3
    wanted = {
        "max_execution_time": max(1, math.ceil(limits.seconds)),
        "max_memory_usage": counted,
        "max_result_bytes": limits.result,
        "max_threads": max(1, limits.threads // 4),
        "max_untracked_memory": min(MAX_UNTRACKED, limits.memory // 256),
    }
    kept = {name: limit for name, limit in wanted.items() if not 0 < known.get(name, 0) < limit}
    return {**kept, **dict.fromkeys(SPILLED, counted // 2)}


def with_settings(sql: str, tag: str, bounds: Mapping[str, str | int], *, locked: bool, more: str = "") -> str:
    """Add settings and limits to a statement; `tag` identifies it for cancelling, `more` has further settings."""
    given = {**MEANING, **WHOLE, **SIZES, **ARROW, **bounds, "log_comment": tag, **(LOCKED if locked else {})}
    listed = ", ".join(f"{name} = {value!r}" for name, value in given.items())
    return f"{sql} SETTINGS {', '.join(filter(None, (more, listed)))}"


class ClickHouse(Backend):
    """A backend over ClickHouse.

    Every statement is a SELECT with its own settings, including `readonly`. There are no transactions: two statements
    of one query may see different rows if somebody writes between them.
    """

    def __init__(self, client: Client, *, handed_in: bool, locked: bool = True) -> None:
        self._client = client
        self.dialect = CLICKHOUSE
        self._locked = locked
        self._running: set[str] = set()
        self._lock = threading.Lock()
        self._limits, self._bounds = UNDECLARED, limited(UNDECLARED, {})
        self.handed_in = handed_in
        self.facts = KeptFacts()

    def schema(self) -> Schema:
        """Return the tables and views of all databases, from `system.columns`."""
        with sealed():
            rows = self.ask(COLUMNS)
            listed = zip(*(column.to_pylist() for column in rows.columns), strict=True)
            return schema_of(listed, self.dialect.namespace)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open a snapshot, which is not consistent: ClickHouse has no transactions."""
        with sealed(code_of):
            yield _ClickHouseSnapshot(self)

    def public(self, query: Query) -> pa.Table:
        """Return the result of a query over public tables, in the query's types."""
        with sealed(code_of):
            return arrow.table_of(self.ask(query.sql), query)

    def keeps_facts(self, tables: Collection[str]) -> bool:
        """Return True if these tables may have parts that identify their rows."""
        return all(parts.table_query(self.dialect, table) is not None for table in tables)

    def parts(self, tables: Collection[str]) -> parts.KnownParts | None:
        """Return the parts of tables; None if they are not all of their rows, or this user may not see them."""
        queries = {table: parts.table_query(self.dialect, table) for table in sorted(tables)}
        try:
            rows_by_table = [(table, self.ask(query)) for table, query in queries.items() if query is not None]
        except HedgerowError:
            raise
        except Exception as error:
            if code_of(error) in STOPPED:
                raise
            return None  # this user may not read the tables of the system
        return parts.known_parts(self.dialect, rows_by_table) if len(rows_by_table) == len(queries) else None

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit time and memory of each statement; tighter limits of the user's profile stay."""
        with sealed():
            names, values = (column.to_pylist() for column in self.ask(TIGHTEST).columns)
        self._limits, self._bounds = limits, limited(limits, dict(zip(names, values, strict=True)))

    def cancel(self) -> None:
        """Kill all running statements, by their tags."""
        with self._lock:
            tags = sorted(self._running)
        if tags:
            self._stop(tags)

    def _stop(self, tags: Sequence[str]) -> None:
        listed = ", ".join(self.dialect.string(tag) for tag in tags)
        try:
            self._client.command(f"KILL QUERY WHERE Settings['log_comment'] IN ({listed}) ASYNC")
        except Exception as error:  # noqa: BLE001 - any error may quote the statement
            raise failure(error) from None

    def close(self) -> None:
        """Close the client if we opened it."""
        if not self.handed_in:
            with suppress(Exception):
                self._client.close()

    def ask(self, sql: str, more: str = "") -> pa.Table:
        """Run one SELECT, which can be cancelled, with further settings."""
        tag = f"hedgerow-{secrets.token_hex(8)}"
        with self._lock:
            self._running.add(tag)
        try:
            with stop_after(self._limits.seconds, lambda: self._stop([tag])):
                text = with_settings(sql, tag, self._bounds, locked=self._locked, more=more)
                return arrow.read(self._client.ask(text))
        finally:
            with self._lock:
                self._running.discard(tag)


class _ClickHouseSnapshot(ReadsFacts):
    """Statements of one query; loaded tables become part of each."""

    def __init__(self, backend: ClickHouse) -> None:
        self._backend = backend
        self.facts = backend.facts
        self._loaded: dict[str, pa.Table] = {}
        self._settings: dict[Hashable, str] = {}

    def table(self, name: str) -> SchemaTable | None:
        return self._backend.schema().tables.get(name)

    def load(self, name: str, table: pa.Table) -> None:
        self._loaded[name] = table

    def state(self, tables: Collection[str]) -> Hashable | None:
        known = self._backend.parts(tables)
        if known is None:
            return None
        self._settings[known.state] = known.settings
        return known.state

    def read(self, query: Query, state: Hashable | None = None) -> pa.Table:
        dialect = self._backend.dialect
        named = [(name, named_columns(table, query)) for name, table in self._loaded.items() if name in query.sql]
        steps = [arrow.rows_step(name, table, dialect) for name, table in named]
        sql = with_first_steps(steps, query, dialect)
        more = "" if state is None else self._settings[state]
        return arrow.table_of(self._backend.ask(sql, more), query)
