"""SQLite, by the driver that comes with Python."""

from hedgerow.backends.sqlite.backend import SQLite, open_sqlite
from hedgerow.backends.sqlite.connect import is_sqlite_file

__all__ = ["SQLite", "is_sqlite_file", "open_sqlite"]
