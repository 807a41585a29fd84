"""Where engines differ in how they write things down."""

from hedgerow.dialects.base import FIRST, LAST, Dialect, SummaryCall, digits, is_bytewise
from hedgerow.dialects.duckdb import DUCKDB

__all__ = ["DUCKDB", "FIRST", "LAST", "Dialect", "SummaryCall", "digits", "is_bytewise"]
