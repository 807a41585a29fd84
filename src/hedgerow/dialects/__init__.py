"""Where engines differ in how they write things down: one dialect for each, found by its name."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from hedgerow.dialects.base import FIRST, LAST, Dialect, SummaryCall, digits, is_bytewise
from hedgerow.dialects.duckdb import DUCKDB


def _load(name: str) -> Dialect:
    """The dialect of an engine: `NAME` in the module `name`."""
    found: Dialect = getattr(import_module(f"hedgerow.dialects.{name}"), name.upper())
    return found


ENGINES = (
    "bigquery",
    "clickhouse",
    "duckdb",
    "mariadb",
    "mssql",
    "mysql",
    "postgres",
    "snowflake",
    "spark",
    "sqlite",
    "trino",
)

DIALECTS: Mapping[str, Callable[[], Dialect]] = {name: partial(_load, name) for name in ENGINES}
"""By name, what loads the dialect. No driver is loaded with it."""

__all__ = [
    "DIALECTS",
    "DUCKDB",
    "FIRST",
    "LAST",
    "Dialect",
    "SummaryCall",
    "digits",
    "is_bytewise",
]
