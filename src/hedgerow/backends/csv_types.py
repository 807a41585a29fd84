"""Types of CSV columns, inferred for the owner when a catalog is drafted; and tables whose rows get a number.

Privacy: this reads every value, so it is for the owner alone. Only types leave it, and the owner's catalog then states
them; queries never infer anything.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import duckdb

from hedgerow.backends.base import failure
from hedgerow.backends.folder import EXTENSIONS, Files, open_views
from hedgerow.dialects import DUCKDB
from hedgerow.errors import BackendError
from hedgerow.expressions.types import Type

MISSING = "NA|N/A|NULL|null"
"""Words for a missing value, which a cast turns into NULL."""

WHOLE = r"[+-]?(0|[1-9][0-9]{0,17})"
REAL = r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?"
DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
PATTERNS: dict[Type, tuple[str, str]] = {
    Type.BOOLEAN: ("(?i)true|false", "BOOLEAN"),
    Type.INTEGER: (WHOLE, "BIGINT"),
    Type.FLOAT: (REAL, "DOUBLE"),
    Type.DATE: (DAY, "DATE"),
    Type.TIMESTAMP: (f"{DAY}[ T]{CLOCK}Z?", "TIMESTAMP"),
}
"""Types that are inferred, in the order of preference: the form of a value, and DuckDB's type.

A number with a leading zero, such as a postal code, is text.
"""

FIRST_ROWS = 1000

ROW = "row_id"
"""The column that numbers the rows of a copy."""

Types = Mapping[str, Mapping[str, Type]]


def is_files(source: str) -> bool:
    """Return True if a source is a folder or a file of tables that have no database of their own."""
    path = Path(source)
    return "://" not in source and (path.is_dir() or (path.suffix.lower() in EXTENSIONS and path.is_file()))


def infer_types(source: str) -> Types:
    """Return the types of the columns of CSV files that are not text, by table."""
    if not is_files(source):
        return {}
    connection, tables = open_views(Path(source))
    with connection:
        return {table.name: _types(connection, table) for table in tables if table.is_csv}


def _types(connection: duckdb.DuckDBPyConnection, table: Files) -> dict[str, Type]:
    """Return the first type of each column that every value has; most types are ruled out by the first rows."""
    name = DUCKDB.identifier(table.name)
    columns = connection.table(name).columns
    possible = {column: list(PATTERNS) for column in columns}
    try:
        for source in (f"(SELECT * FROM {name} LIMIT {FIRST_ROWS})", name):
            possible = _fitting(connection, source, possible)
        counts = ", ".join(f"COUNT({DUCKDB.identifier(column)})" for column in columns)
        present = connection.execute(f"SELECT {counts} FROM {name}").fetchone()
    except duckdb.Error as error:
        raise _unreadable(table.name, error) from None
    numbers = dict(zip(columns, present or (), strict=True))
    return {column: kinds[0] for column, kinds in possible.items() if kinds and numbers[column]}


def _fitting(
    connection: duckdb.DuckDBPyConnection, source: str, possible: Mapping[str, list[Type]]
) -> dict[str, list[Type]]:
    """Return the types that all values of a column have, of those that are possible."""
    pairs = [(column, kind) for column, kinds in possible.items() for kind in kinds]
    if not pairs:
        return dict(possible)
    tests = ", ".join(_misfits(column, *PATTERNS[kind]) for column, kind in pairs)
    misfits = connection.execute(f"SELECT {tests} FROM {source}").fetchone() or ()
    fits: dict[str, list[Type]] = {column: [] for column in possible}
    for (column, kind), number in zip(pairs, misfits, strict=True):
        if number == 0:
            fits[column].append(kind)
    return fits


def _misfits(column: str, pattern: str, native: str) -> str:
    """Return the number of values that are neither of a form nor missing."""
    name = DUCKDB.identifier(column)
    form = DUCKDB.string(pattern)
    read = f"regexp_full_match({name}, {form}) AND TRY_CAST({name} AS {native}) IS NOT NULL"
    missing = f"regexp_full_match({name}, {DUCKDB.string(MISSING)})"
    return f"COUNT(*) FILTER (WHERE {name} IS NOT NULL AND NOT ({missing}) AND NOT coalesce({read}, false))"


def number_rows(source: str, target: Path, types: Types) -> None:
    """Copy the tables of files into a new DuckDB file, each with a column that numbers its rows.

    The copy has the inferred types. Its number is the key of a row, so that each row can be one person.
    """
    connection, tables = open_views(Path(source))
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    mask = os.umask(0o077)  # nobody else reads the copy, not even while it is written
    try:
        with connection, duckdb.connect(str(draft)) as copy:
            for table in tables:
                _copy(connection, copy, table, types.get(table.name, {}))
        os.link(draft, target)
    except duckdb.Error as error:
        raise _unreadable(source, error) from None
    finally:
        os.umask(mask)
        draft.unlink(missing_ok=True)


def _copy(
    connection: duckdb.DuckDBPyConnection, copy: duckdb.DuckDBPyConnection, table: Files, types: Mapping[str, Type]
) -> None:
    name = DUCKDB.identifier(table.name)
    columns = connection.table(name).columns
    number = ROW if ROW not in columns else f"hedgerow_{ROW}"
    rows = connection.sql(f"SELECT * FROM {name}").to_arrow_reader(100_000)
    copy.register("rows_of_files", rows)
    shown = ", ".join(_typed(column, types.get(column)) for column in columns)
    copy.execute(f"CREATE TABLE {name} AS SELECT row_number() OVER () AS {number}, {shown} FROM rows_of_files")
    copy.execute(f"ALTER TABLE {name} ADD PRIMARY KEY ({number})")
    copy.unregister("rows_of_files")


def _typed(column: str, kind: Type | None) -> str:
    name = DUCKDB.identifier(column)
    return name if kind is None else f"TRY_CAST({name} AS {PATTERNS[kind][1]}) AS {name}"


def _unreadable(name: str, error: Exception) -> BackendError:
    reason = failure(error)
    return BackendError(
        f"The files of {name!r} cannot be read (incident {reason.incident}).",
        code="unreadable-table",
        hint="Check that they are Parquet, or CSV in UTF-8 with a header line.",
        incident=reason.incident,
    )
