"""SQLite's spelling of everything."""

from hedgerow.dialects.sqlite.dialect import SQLITE, SQLiteDialect
from hedgerow.dialects.sqlite.reading import PREFIX

__all__ = ["PREFIX", "SQLITE", "SQLiteDialect"]
