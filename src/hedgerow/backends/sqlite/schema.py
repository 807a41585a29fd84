"""Schema of a SQLite database. No rows are read.

Types are those of the definitions, from a list. SQLite itself accepts any word as a type; columns with other types are
hidden until the catalog declares their `type`.
"""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hedgerow.dialects.sqlite.reading import AS_STORED, column
from hedgerow.expressions.table_names import short_name
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

INSTANTS = ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE", "DATETIME WITH TIME ZONE")
"""Timestamps with a time zone, stored as text in ISO 8601 with an offset."""

TYPES: Mapping[str, Type] = {
    **dict.fromkeys(("BOOL", "BOOLEAN"), Type.BOOLEAN),
    **dict.fromkeys(("INT", "INTEGER", "TINYINT", "SMALLINT", "MEDIUMINT", "BIGINT"), Type.INTEGER),
    **dict.fromkeys(("INT2", "INT4", "INT8", "UNSIGNED BIG INT", "UNSIGNED INTEGER", "UNSIGNED INT"), Type.INTEGER),
    **dict.fromkeys(("REAL", "FLOAT", "DOUBLE", "DOUBLE PRECISION", "NUMERIC", "DECIMAL"), Type.FLOAT),
    **dict.fromkeys(("TEXT", "CHAR", "CHARACTER", "VARCHAR", "NCHAR", "NVARCHAR", "CLOB"), Type.TEXT),
    **dict.fromkeys(("VARYING CHARACTER", "CHARACTER VARYING", "NATIVE CHARACTER"), Type.TEXT),
    "DATE": Type.DATE,
    "TIME": Type.TIME,
    **dict.fromkeys(("DATETIME", "TIMESTAMP"), Type.TIMESTAMP),
    **dict.fromkeys(INSTANTS, Type.TEXT),
    "UUID": Type.TEXT,
}
"""Types by their names in definitions. NUMERIC and DECIMAL without a precision are stored as doubles."""

DECLARED = re.compile(r"\s*([A-Z][A-Z0-9 ]*?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*")
MAX_DIGITS = 38
MAIN = "main"


class _Column(NamedTuple):
    """One row of `table_xinfo`."""

    name: str
    declared: str
    required: bool
    key: int


def declared_type(declared: str) -> tuple[Type, str]:
    """Return the type of a definition, and its native name; decimals as `DECIMAL(p,s)`."""
    parts = DECLARED.fullmatch(declared.upper())
    word = parts[1] if parts else ""
    if parts and parts[2] and word in {"DECIMAL", "NUMERIC"}:
        digits, scale = int(parts[2]), int(parts[3] or 0)
        return (Type.DECIMAL, f"DECIMAL({digits},{scale})") if scale <= digits <= MAX_DIGITS else (Type.FLOAT, word)
    return TYPES.get(word, Type.OTHER), declared.upper()


def read_schema(cursor: sqlite3.Cursor) -> tuple[Schema, dict[str, str]]:
    """Return all tables and views of the main and attached databases, and the SELECT that reads each by its types.

    A table whose columns are all left as stored has no such SELECT.
    """
    tables, readings = dict[str, SchemaTable](), dict[str, str]()
    for database in databases(cursor):
        namespace = quoted(database)
        listed = cursor.execute(f"PRAGMA {namespace}.table_list").fetchall()
        kinds = {name: kind for schema, name, kind, *_ in listed if schema == database}
        written = cursor.execute(
            f"SELECT name, lower(sql) FROM {namespace}.sqlite_master WHERE sql IS NOT NULL"
        ).fetchall()
        for name, text in written:
            kind, full = kinds.get(name), f"{namespace}.{quoted(name)}"
            columns = _columns(cursor, namespace, name) if kind in {"table", "view"} else []
            if columns:
                collated = kind == "view" or "collate" in text
                unique = _unique(cursor, namespace, name, columns, collated=collated) if kind != "view" else frozenset()
                table = _table(short_name((database, name), (MAIN,)), columns, unique, collated=collated)
                tables[table.name] = table
                readings |= _reading(table, full)
    return Schema(tables, (MAIN,)), readings


def stored_tables(cursor: sqlite3.Cursor) -> frozenset[str]:
    """Return the tables of the main database whose rows are stored in it: neither views nor virtual tables."""
    listed = cursor.execute(f"PRAGMA {MAIN}.table_list").fetchall()
    return frozenset(name for schema, name, kind, *_ in listed if schema == MAIN and kind == "table")


def databases(cursor: sqlite3.Cursor) -> list[str]:
    """Return the main database and attached ones, without temporary tables."""
    return [name for _, name, *_ in cursor.execute("PRAGMA database_list").fetchall() if name != "temp"]


def quoted(name: str) -> str:
    """A quoted name."""
    return '"' + name.replace('"', '""') + '"'


def _columns(cursor: sqlite3.Cursor, namespace: str, table: str) -> list[_Column]:
    """Return the columns; none for a view over missing tables or with functions that are not allowed."""
    try:
        cursor.execute(f"EXPLAIN SELECT * FROM {namespace}.{quoted(table)}").fetchall()
        rows = cursor.execute(f"PRAGMA {namespace}.table_xinfo({quoted(table)})").fetchall()
    except sqlite3.DatabaseError:
        return []
    return [_Column(name, kind, bool(needed), key) for _, name, kind, needed, _, key, hidden in rows if hidden != 1]


def _unique(
    cursor: sqlite3.Cursor, namespace: str, table: str, columns: Sequence[_Column], *, collated: bool
) -> frozenset[frozenset[str]]:
    """Return sets of columns that are unique. Partial indexes and indexes of expressions do not count."""
    listed = cursor.execute(f"PRAGMA {namespace}.index_list({quoted(table)})").fetchall()
    indexes = {name: origin for _, name, unique, origin, partial in listed if unique and not partial}
    keys = {_indexed(cursor, namespace, name) for name in indexes}
    if "pk" not in indexes.values():
        keys.add(frozenset(column.name for column in columns if column.key))
    comparable = {c.name for c in columns if _stays_apart(declared_type(c.declared)[0], collated=collated)}
    return frozenset(key for key in keys if key and key <= comparable)


def _indexed(cursor: sqlite3.Cursor, namespace: str, index: str) -> frozenset[str]:
    """Return the columns of an index; none for an index of expressions."""
    rows = cursor.execute(f"PRAGMA {namespace}.index_xinfo({quoted(index)})").fetchall()
    names = [name for _, _, name, _, _, is_key in rows if is_key]
    return frozenset() if None in names else frozenset(names)


def _stays_apart(kind: Type, *, collated: bool) -> bool:
    """Return True if different stored values are read as different values, compared as the index does."""
    return kind in AS_STORED and not (kind is Type.TEXT and collated)


def _table(name: str, columns: Sequence[_Column], unique: frozenset[frozenset[str]], *, collated: bool) -> SchemaTable:
    described = {}
    for given in columns:
        kind, native = declared_type(given.declared)
        not_null = given.required or is_row_number(given, unique)
        described[given.name] = SchemaColumn(
            given.name,
            kind,
            native,
            nullable=kind not in AS_STORED or not not_null,
            collated=collated,
            instant=native in INSTANTS,
        )
    return SchemaTable(name, described, unique)


def is_row_number(given: _Column, unique: frozenset[frozenset[str]]) -> bool:
    """Return True if a column is the row number, which is never NULL."""
    return given.key == 1 and given.declared.upper() == "INTEGER" and frozenset({given.name}) in unique


def _reading(table: SchemaTable, full: str) -> dict[str, str]:
    """Return the SELECT that reads a table, if some column is not left as stored."""
    if all(given.type in AS_STORED for given in table.columns.values()):
        return {}
    shown = []
    for given in table.columns.values():
        name = quoted(given.name)
        read = column(name, given.type, whole=not _is_real(given.native))
        shown.append(name if read == name else f"{read} AS {name}")
    return {table.name: f"SELECT {', '.join(shown)} FROM {full}"}


def _is_real(native: str) -> bool:
    """Return True if SQLite converts integers to doubles when it stores them in a column."""
    return any(part in native for part in ("REAL", "FLOA", "DOUB"))
