"""Generated SQL: one dialect for each engine, loaded by its name."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from hedgerow.dialects.base import FIRST, LAST, Dialect, ExactAggregateCall, Over, digits, is_bytewise, operand_texts
from hedgerow.dialects.duckdb import DUCKDB

MODULES: Mapping[str, str] = {
    "clickhouse": "clickhouse",
    "duckdb": "duckdb",
    "mariadb": "mariadb",
    "postgres": "postgres",
    "spark": "spark",
    "sqlite": "sqlite",
    **{name: f"experimental.{name}" for name in ("bigquery", "mssql", "mysql", "snowflake", "trino")},
}
"""Module of each dialect, by the name of its engine. Experimental ones are named only here."""


def _load(name: str) -> Dialect:
    """Return the dialect of an engine: `NAME` in its module."""
    dialect: Dialect = getattr(import_module(f"{__name__}.{MODULES[name]}"), name.upper())
    return dialect


DIALECTS: Mapping[str, Callable[[], Dialect]] = {name: partial(_load, name) for name in MODULES}
"""Functions that load a dialect, by the name of its engine. No driver is loaded with it."""

__all__ = [
    "DIALECTS",
    "DUCKDB",
    "FIRST",
    "LAST",
    "Dialect",
    "ExactAggregateCall",
    "Over",
    "digits",
    "is_bytewise",
    "operand_texts",
]
