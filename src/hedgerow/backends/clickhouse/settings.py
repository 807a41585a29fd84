"""The settings that go with every statement of ours, whatever a session or a profile has: they are part of it."""

import math
from collections.abc import Mapping

from hedgerow.limits import StatementLimits

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
"""A limit that is reached ends a statement; it does not quietly shorten what is read."""

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
"""No writing, no tables of other places (files, addresses), no change of settings."""


MOST_UNTRACKED = 4 << 20
"""Bytes that a thread may take before ClickHouse counts them."""

SPILLED = ("max_bytes_before_external_group_by", "max_bytes_before_external_sort")
"""Beyond half of the memory of a statement, groups and sorts go to temporary files."""

TIGHTEST = (
    "SELECT name, toFloat64OrZero(extract(value, '[0-9.]+')) AS value FROM system.settings "
    "WHERE name IN ('max_execution_time', 'max_memory_usage', 'max_result_bytes', 'max_threads')"
)
"""Limits of the session or of the user's profile, `auto(2)` threads included; 0 is no limit."""


def limited(limits: StatementLimits, known: Mapping[str, float]) -> Mapping[str, str | int]:
    """The settings of the owner's limits, where the user's profile has no tighter ones.

    ClickHouse counts two thirds of the engine's memory: while a statement runs, its allocator keeps half as much again.
    Its threads need four times as much as those of other engines.
    """
    counted = limits.engine * 2 // 3
    wanted = {
        "max_execution_time": max(1, math.ceil(limits.seconds)),
        "max_memory_usage": counted,
        "max_result_bytes": limits.result,
        "max_threads": max(1, limits.threads // 4),
        "max_untracked_memory": min(MOST_UNTRACKED, limits.memory // 256),
    }
    kept = {name: most for name, most in wanted.items() if not 0 < known.get(name, 0) < most}
    return {**kept, **dict.fromkeys(SPILLED, counted // 2)}


def settled(sql: str, tag: str, bounds: Mapping[str, str | int], *, locked: bool) -> str:
    """The statement with its settings and limits; `tag` is the name under which it can be stopped."""
    given = {**MEANING, **WHOLE, **SIZES, **ARROW, **bounds, "log_comment": tag, **(LOCKED if locked else {})}
    listed = ", ".join(f"{name} = {value!r}" for name, value in given.items())
    return f"{sql} SETTINGS {listed}"
