"""Schema of a SQLite database. No row is read.

Types are those that a definition names, from a list. SQLite itself understands any word as a type; what is not on the
list is hidden until the catalog gives it a `type`.
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
"""Points in time, which are text: ISO 8601 with an offset."""

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
"""Words of definitions. Numbers without digits of their own (NUMERIC, DECIMAL) are kept as doubles, and are doubles."""

DECLARED = re.compile(r"\s*([A-Z][A-Z0-9 ]*?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*")
MOST_DIGITS = 38
MAIN = "main"


class _Column(NamedTuple):
    """One row of `table_xinfo`."""

    name: str
    declared: str
    required: bool
    key: int


def declared_type(declared: str) -> tuple[Type, str]:
    """The type that a definition names, and its name there; decimals as `DECIMAL(p,s)`."""
    found = DECLARED.fullmatch(declared.upper())
    word = found[1] if found else ""
    if found and found[2] and word in {"DECIMAL", "NUMERIC"}:
        digits, scale = int(found[2]), int(found[3] or 0)
        return (Type.DECIMAL, f"DECIMAL({digits},{scale})") if scale <= digits <= MOST_DIGITS else (Type.FLOAT, word)
    return TYPES.get(word, Type.OTHER), declared.upper()


def read_schema(cursor: sqlite3.Cursor) -> tuple[Schema, dict[str, str]]:
    """All tables and views of the main database and of those attached; and the SELECT that reads one by its types.

    That is there where some column is not left as it is stored.
    """
    tables, readings = dict[str, SchemaTable](), dict[str, str]()
    for database in databases(cursor):
        place = quoted(database)
        listed = cursor.execute(f"PRAGMA {place}.table_list").fetchall()
        kinds = {name: kind for schema, name, kind, *_ in listed if schema == database}
        written = cursor.execute(f"SELECT name, lower(sql) FROM {place}.sqlite_master WHERE sql IS NOT NULL").fetchall()
        for name, text in written:
            kind, full = kinds.get(name), f"{place}.{quoted(name)}"
            columns = _columns(cursor, place, name) if kind in {"table", "view"} else []
            if columns:
                collated = kind == "view" or "collate" in text
                unique = _unique(cursor, place, name, columns, collated=collated) if kind != "view" else frozenset()
                table = _table(short_name((database, name), (MAIN,)), columns, unique, collated=collated)
                tables[table.name] = table
                readings |= _reading(table, full)
    return Schema(tables, (MAIN,)), readings


def databases(cursor: sqlite3.Cursor) -> list[str]:
    """The main database and those attached to it; temporary tables are left out."""
    return [name for _, name, *_ in cursor.execute("PRAGMA database_list").fetchall() if name != "temp"]


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _columns(cursor: sqlite3.Cursor, place: str, table: str) -> list[_Column]:
    """The columns; none of a view that cannot be read: of what is no longer there, or by functions with effects."""
    try:
        cursor.execute(f"EXPLAIN SELECT * FROM {place}.{quoted(table)}").fetchall()
        rows = cursor.execute(f"PRAGMA {place}.table_xinfo({quoted(table)})").fetchall()
    except sqlite3.DatabaseError:
        return []
    return [_Column(name, kind, bool(needed), key) for _, name, kind, needed, _, key, hidden in rows if hidden != 1]


def _unique(
    cursor: sqlite3.Cursor, place: str, table: str, columns: Sequence[_Column], *, collated: bool
) -> frozenset[frozenset[str]]:
    """Sets of columns of which no two rows agree. Indexes of some rows only, or of expressions, say less."""
    listed = cursor.execute(f"PRAGMA {place}.index_list({quoted(table)})").fetchall()
    indexes = {name: origin for _, name, unique, origin, partial in listed if unique and not partial}
    found = {_indexed(cursor, place, name) for name in indexes}
    if "pk" not in indexes.values():
        found.add(frozenset(column.name for column in columns if column.key))
    comparable = {c.name for c in columns if _stays_apart(declared_type(c.declared)[0], collated=collated)}
    return frozenset(key for key in found if key and key <= comparable)


def _indexed(cursor: sqlite3.Cursor, place: str, index: str) -> frozenset[str]:
    """The columns of an index; none where it is one of expressions."""
    rows = cursor.execute(f"PRAGMA {place}.index_xinfo({quoted(index)})").fetchall()
    names = [name for _, _, name, _, _, is_key in rows if is_key]
    return frozenset() if None in names else frozenset(names)


def _stays_apart(kind: Type, *, collated: bool) -> bool:
    """Return True if what is stored as two values is read as two, and by the index's own comparison."""
    return kind in AS_STORED and not (kind is Type.TEXT and collated)


def _table(name: str, columns: Sequence[_Column], unique: frozenset[frozenset[str]], *, collated: bool) -> SchemaTable:
    made = {}
    for given in columns:
        kind, native = declared_type(given.declared)
        is_there = given.required or unique_alone(given, unique)
        made[given.name] = SchemaColumn(
            given.name,
            kind,
            native,
            nullable=kind not in AS_STORED or not is_there,
            collated=collated,
            instant=native in INSTANTS,
        )
    return SchemaTable(name, made, unique)


def unique_alone(given: _Column, unique: frozenset[frozenset[str]]) -> bool:
    """Return True if a column is the number of the row, which is always there."""
    return given.key == 1 and given.declared.upper() == "INTEGER" and frozenset({given.name}) in unique


def _reading(table: SchemaTable, full: str) -> dict[str, str]:
    """The SELECT that reads a table, where some column is not left as it is stored."""
    if all(given.type in AS_STORED for given in table.columns.values()):
        return {}
    shown = []
    for given in table.columns.values():
        name = quoted(given.name)
        read = column(name, given.type, whole=not _is_real(given.native))
        shown.append(name if read == name else f"{read} AS {name}")
    return {table.name: f"SELECT {', '.join(shown)} FROM {full}"}


def _is_real(native: str) -> bool:
    """Return True if SQLite makes doubles of the integers that are put into a column."""
    return any(part in native for part in ("REAL", "FLOA", "DOUB"))
