"""SQLite, in a file of its own. Values that SQLite has no type for are stored as its users do: dates as text."""

import datetime as dt
import math
import sqlite3
import tempfile
import uuid
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

from hedgerow.backends.sqlite import open_sqlite


def why_not():
    return None


@contextmanager
def opened(tables):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.sqlite"
        connection = sqlite3.connect(path)
        for name, table in tables.items():
            create(connection, name, table)
        connection.commit()
        connection.close()
        yield open_sqlite(path)


def create(connection, name, table):
    shape = ", ".join(f'"{column}" {native}' for column, native in table.columns.items())
    key = f", PRIMARY KEY ({', '.join(table.primary)})" if table.primary else ""
    connection.execute(f'CREATE TABLE "{name}" ({shape}{key})')
    marks = ", ".join("?" for _ in table.columns)
    connection.executemany(
        f'INSERT INTO "{name}" VALUES ({marks})', ([stored(cell) for cell in row] for row in table.rows)
    )


def stored(value):
    """SQLite has no NaN: what is no number in a column of doubles is read as one."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, uuid.UUID):
        return str(value)
    return value.isoformat() if isinstance(value, dt.date | dt.time) else value
