"""SQLite: its own SQL, and calls of the functions that we register."""

from hedgerow.dialects.sqlite.dialect import SQLITE, SQLiteDialect
from hedgerow.dialects.sqlite.reading import PREFIX

__all__ = ["PREFIX", "SQLITE", "SQLiteDialect"]
