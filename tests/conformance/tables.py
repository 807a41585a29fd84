"""The tables that every engine holds: one with nasty values of each type, and those of the corpus of dashboards.

Values are Python's own. They stay within what all engines can store: dates from 1900 to 2299, text without NUL.
"""

import datetime as dt
import math
import uuid
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import duckdb

from hedgerow.expressions import zones
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaTable

from ..expressions.samples import COLUMNS

SHOP = Path(__file__).parents[1] / "corpora" / "bi"
ROWS = 200
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Monrovia")
TOGETHER = 500


@dataclass(frozen=True)
class Table:
    """Columns with DuckDB's names of their types, the primary key, and rows."""

    columns: dict
    rows: list
    primary: tuple = ()


NASTY = {
    Type.FLOAT: [
        None,
        math.nan,
        math.inf,
        -math.inf,
        1.7e308,
        -1.7e308,
        5e-324,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1e15,
        -2.5,
        9.3e18,
    ],
    Type.INTEGER: [None, 2**63 - 1, -(2**63), 0, 1, -1, 2**31, 55296, 1114112, 13, 100, -7, 3, 2],
    Type.TEXT: [
        *(
            None,
            "",
            "%",
            "\\",
            "x" * 2000,
            "😀é",
            "ß",
            "nan",
            "1e999",
            "9999-12-31",
            "infinity",
            "ab ab ",
            "2026-02-30",
        ),
        *("\n", "-1", "7.25", "true", "2024-02-29 23:59:59.5", " Ab_c", "O'Neil", "a!%bXc"),
    ],
    Type.DATE: [
        *(None, dt.date(1900, 1, 1), dt.date(1969, 12, 31), dt.date(1999, 12, 31), dt.date(2024, 2, 29)),
        *(dt.date(2026, 3, 15), dt.date(2021, 1, 3), dt.date(2299, 12, 31)),
    ],
    Type.TIMESTAMP: [
        None,
        *map(
            dt.datetime.fromisoformat,
            (
                *("1900-01-01 00:00:00", "1969-12-31 23:59:59.999999", "2024-02-29 23:59:59", "2021-01-03 00:00:00"),
                *("2026-03-15 13:45:30.500000", "2299-12-31 23:59:59.999999"),
            ),
        ),
    ],
    Type.TIME: [
        *(None, dt.time(0), dt.time(12, 34, 56, 789000), dt.time(23, 59, 59, 999999), dt.time(8, 30)),
        *(dt.time(13, 45, 30), dt.time(0, 0, 0, 1)),
    ],
    Type.BOOLEAN: [None, True, False],
    Type.DECIMAL: [None, Decimal("99999999999.9999"), Decimal(0), Decimal("-0.5"), Decimal("12.3456")],
}


def nasty():
    """Every value of a type in its first column, beside every other in the second."""
    rows = []
    for row in range(ROWS):
        cells = []
        for place, column in enumerate(COLUMNS):
            values = NASTY[column.type]
            turn = (row, row // len(values), 7 * row + 3)[place % 3]
            cells.append(values[turn % len(values)])
        rows.append((row, *cells))
    return Table({"id": "BIGINT", **{column.name: column.native for column in COLUMNS}}, rows, ("id",))


def moments():
    """Points in time around every change of the offset of some time zones, times of day and identifiers."""
    actual = [None, *(dt.datetime(year, 7, 1, tzinfo=dt.UTC) for year in (1900, 1925, 1969, 2050, 2099, 2150, 2298))]
    for name in ZONES:
        for change in zones.shift("UTC", name).changes:
            if change.year >= 1900:
                actual += [change.replace(tzinfo=dt.UTC) + dt.timedelta(microseconds=m) for m in (-1, 0, 1_800_123_456)]
    rows = [
        (i, seen, dt.time(i % 24, i % 60, i % 59, i), uuid.UUID(int=(1 << 100) + i % 7), written(seen, i))
        for i, seen in enumerate(dict.fromkeys(actual))
    ]
    kinds = {"id": "BIGINT", "seen": "TIMESTAMP WITH TIME ZONE", "clock": "TIME", "token": "UUID", "written": "VARCHAR"}
    return Table(kinds, rows, ("id",))


def written(seen, turn):
    """A point in time in ISO 8601, in one of the forms that there are."""
    if seen is None:
        return None
    hours = (0, 2, -5, 14)[turn % 4]
    text = seen.astimezone(dt.timezone(dt.timedelta(hours=hours))).isoformat(sep=" T"[turn % 2])
    return (text, text.replace("+00:00", "Z"), text[:-3], text[:-3] + text[-2:])[turn // 4 % 4]


def shop():
    """The tables of the dashboards, as DuckDB makes them."""
    built = {}
    with duckdb.connect(":memory:") as connection:
        connection.execute((SHOP / "schema.sql").read_text(encoding="utf-8"))
        names = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        for (name,) in names:
            columns = connection.execute(
                "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index", [name]
            ).fetchall()
            keys = connection.execute(
                "SELECT constraint_column_names FROM duckdb_constraints() "
                "WHERE table_name = ? AND constraint_type = 'PRIMARY KEY'",
                [name],
            ).fetchall()
            rows = connection.execute(f"SELECT * FROM {name}").fetchall()
            built[name] = Table(dict(columns), rows, tuple(keys[0][0]) if keys else ())
    return built


KEYS = 2000
LABELS = ("{}", "O'Neil {}", '"{}"', "\\{}", "naïve {} 😀", "{} ", "-- {}", "a{}\nb", "`{}`", "${{{}}}")
"""Texts of keys, by turns: quotes, backslashes, marks of comments, spaces, line breaks and letters beyond ASCII."""


def label(number):
    """The text of a key."""
    return LABELS[number % len(LABELS)].format(number)


def many_keys():
    """Two thousand keys of each type, some with several people, and rows without a key; seven people have many rows."""
    rows = []
    for row in range(KEYS + KEYS // 4):
        number = row % KEYS
        cells = (
            label(number),
            number - KEYS // 2,
            number / 8 - 50.0,
            Decimal(number) / 4,
            dt.date(2020, 1, 1) + dt.timedelta(days=number),
            number % 3 == 0,
        )
        person = row % 700 if row % 5 else row % 7
        rows.append((row, person, row % 101, *(None if row % 97 == 5 else cell for cell in cells)))
    numbers = dict.fromkeys(("id", "person", "amount"), "BIGINT")
    kinds = {"label": "VARCHAR", "number": "BIGINT", "ratio": "DOUBLE", "price": "DECIMAL(12,2)", "day": "DATE"}
    return Table({**numbers, **kinds, "flag": "BOOLEAN"}, rows, ("id",))


def everything():
    """All tables by name."""
    return {"nasty": nasty(), "moments": moments(), "many_keys": many_keys(), **shop()}


def finite(tables):
    """The same tables for engines without infinity and NaN: NULL stands where they were."""

    def kept(cell):
        return None if isinstance(cell, float) and not math.isfinite(cell) else cell

    return {name: replace(t, rows=[tuple(map(kept, row)) for row in t.rows]) for name, t in tables.items()}


def reference(tables):
    """The same tables in DuckDB."""
    connection = duckdb.connect(":memory:")
    for name, table in tables.items():
        shape = ", ".join(f'"{column}" {native}' for column, native in table.columns.items())
        key = f", PRIMARY KEY ({', '.join(table.primary)})" if table.primary else ""
        connection.execute(f'CREATE TABLE "{name}" ({shape}{key})')
        marks = f"({', '.join('?' for _ in table.columns)})"
        for start in range(0, len(table.rows), TOGETHER):
            some = table.rows[start : start + TOGETHER]
            cells = [cell for row in some for cell in row]
            connection.execute(f'INSERT INTO "{name}" VALUES {", ".join([marks] * len(some))}', cells)
    return connection


def merged(theirs, ours):
    """One engine's columns with another's constraints: the plans must be of one shape."""
    return Schema({name: _merged(theirs.tables[name], table) for name, table in ours.tables.items()})


def _merged(theirs, ours):
    columns = {name: replace(column, nullable=ours.columns[name].nullable) for name, column in theirs.columns.items()}
    return SchemaTable(ours.name, columns, ours.unique)
