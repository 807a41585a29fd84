"""A folder of Parquet and CSV files, or a pattern of paths, as tables.

A file is a table, named after the file without its extension. A subfolder is one table of all files in it; folders
named like `day=2026-01-31` add a text column `day`. A folder with a log of Delta or Iceberg has the files of its newest
version. The files are listed once, when the source is opened.

Privacy: types come from Parquet's own schema. In a CSV file every column is text, and the catalog declares its type
(`type: date`). Nothing is inferred from rows, neither types nor separators: a CSV file must follow RFC 4180, with
double quotes and a header line, which alone decides the separator: a comma, else a semicolon, a tab or a bar. A
malformed line is dropped, so that no error depends on one.
"""

import csv
import glob
import os
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow.backends.base import failure
from hedgerow.backends.duckdb import DuckDB
from hedgerow.backends.facts import KeptFacts, file_state
from hedgerow.backends.lakehouse import LakehouseTable, is_lakehouse, lakehouse_table
from hedgerow.dialects import DUCKDB
from hedgerow.errors import BackendError

TEXT_EXTENSIONS = (".csv", ".tsv")
EXTENSIONS = (".parquet", *TEXT_EXTENSIONS)
SEPARATORS = ",;\t|"
"""Separators of a CSV file, in the order of preference."""

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
CERTIFICATE = "certificate.json"
"""File by which a folder is known as one that `hedgerow publish` wrote: it has answers and no rows."""

HIDDEN = (".", "_")
"""First characters of the names of files that other programs keep next to data."""

CSV = (
    "header = true, auto_detect = false, quote = '\"', escape = '\"', nullstr = '', "
    "allow_quoted_nulls = false, ignore_errors = true, parallel = false"
)
"""A single thread reads a file, so that DuckDB need not guess where a line begins."""


@dataclass(frozen=True)
class Files:
    """The files of one table, all of the same format."""

    name: str
    paths: tuple[Path, ...]
    lakehouse: LakehouseTable | None = None

    @property
    def is_csv(self) -> bool:
        """True if the files have no types of their own."""
        return self.paths[0].suffix.lower() in TEXT_EXTENSIONS

    @property
    def query(self) -> str:
        """Return the query that reads the files."""
        if len({path.suffix.lower() for path in self.paths}) > 1:
            raise _differing(self, "some are Parquet and some are CSV")
        listed = ", ".join(DUCKDB.string(glob.escape(str(path))) for path in self.paths)
        if self.is_csv:
            separator, names = _header(self)
            shape = ", ".join(f"{DUCKDB.string(name)}: 'VARCHAR'" for name in names)
            return f"SELECT * FROM read_csv([{listed}], columns = {{{shape}}}, delim = '{separator}', {CSV})"
        if self.lakehouse is not None:
            return _lakehouse_query(self.lakehouse, listed, union=_columns_are_missing(self))
        _require_one_schema(self)
        return f"SELECT * FROM read_parquet([{listed}], {HIVE})"


HIVE = "hive_partitioning = true, hive_types_autocast = false"


def _lakehouse_query(table: LakehouseTable, listed: str, *, union: bool) -> str:
    """Return the query that reads the current files of a table, with NULL for columns that were added later."""
    typed = {DUCKDB.identifier(name): kind for name, kind in table.partition_types.items() if kind is not None}
    casts = ", ".join(f"TRY_CAST({name} AS {kind}) AS {name}" for name, kind in typed.items())
    columns = f"* REPLACE ({casts})" if casts else "*"
    names = HIVE if table.partition_types else "hive_partitioning = false"
    return f"SELECT {columns} FROM read_parquet([{listed}], {names}, union_by_name = {str(union).lower()})"


def open_folder(path: Path) -> DuckDB:
    """Open the tables of a folder."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - without following links
    return _opened(whole, _entries(whole))


def open_files(pattern: str) -> DuckDB:
    """Open the tables of all paths that match a pattern with `*`, `?`, `[…]` and `**`."""
    whole = os.path.abspath(pattern)  # noqa: PTH100 - likewise
    fixed = (
        whole
        if not glob.has_magic(whole)
        else whole[: min(whole.index(wildcard) for wildcard in "*?[" if wildcard in whole)]
    )
    base = Path(fixed) if fixed.endswith(os.sep) else Path(fixed).parent
    return _opened(base, map(Path, glob.glob(whole, recursive=True)))  # noqa: PTH207 - patterns with any root


def open_views(source: Path) -> tuple[duckdb.DuckDBPyConnection, list[Files]]:
    """Open a folder or a file as views of a DuckDB of its own, for the owner; return them with their files."""
    whole = Path(os.path.abspath(source))  # noqa: PTH100 - likewise
    connection, tables, refused = _views(whole, _entries(whole)) if whole.is_dir() else _views(whole.parent, [whole])
    for error in refused.values():
        raise error
    return connection, tables


def _entries(folder: Path) -> list[Path]:
    """Return what may be a table: a folder of Delta or Iceberg is one itself."""
    return [folder] if is_lakehouse(folder) else list(folder.iterdir())


def _opened(base: Path, entries: Iterable[Path]) -> DuckDB:
    connection, tables, refused = _views(base, entries)
    return Folder(connection, {table.name: table.paths for table in tables}, base, refused)


def _views(
    base: Path, entries: Iterable[Path]
) -> tuple[duckdb.DuckDBPyConnection, list[Files], dict[str, BackendError]]:
    """Open a separate DuckDB that can read only `base`; return the errors of files that are no table by name, too."""
    paths = list(entries)
    tables = list(_tables(paths))
    if not tables and any(entry.name.startswith(HIDDEN) and entry.suffix.lower() in EXTENSIONS for entry in paths):
        raise BackendError(
            f"{base} has only files whose names begin with _ or ., which are not read.",
            code="no-tables",
            hint="Rename the file so that its name begins with a letter.",
        )
    if not tables:
        raise BackendError(
            f"There are no Parquet or CSV files in {base}.",
            code="no-tables",
            hint="Check the path; the extension must be .parquet, .csv or .tsv.",
        )
    refused = _same_names(tables)
    connection = duckdb.connect(":memory:", config=SETTINGS)
    directories = ", ".join(DUCKDB.string(path) for path in (str(base), glob.escape(str(base))))
    connection.execute(f"SET allowed_directories = [{directories}]")
    connection.execute("SET enable_external_access = false")
    for table in tables:
        if table.name.lower() in refused:
            continue
        try:
            _view(connection, table)
        except BackendError as error:
            refused[table.name.lower()] = error
    return connection, [table for table in tables if table.name.lower() not in refused], refused


class Folder(DuckDB):
    """The tables of files, with the paths of each, and the errors of files that are no table."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        paths: Mapping[str, tuple[Path, ...]],
        base: Path,
        refused: Mapping[str, BackendError],
    ) -> None:
        super().__init__(connection, handed_in=False)
        self._paths = paths
        self._refused = refused
        self.facts = KeptFacts(base / ".hedgerow.facts")

    def reach(self, names: Iterable[str]) -> None:
        """Refuse files that are no table if a catalog declares them, or if there is no catalog yet."""
        declared = {name.lower() for name in names}
        for name, error in self._refused.items():
            if name in declared or not declared:
                raise error

    def keeps_facts(self, tables: Collection[str]) -> bool:
        """Return True if these tables are files."""
        return all(table in self._paths for table in tables)

    def state(self, tables: Collection[str]) -> Hashable | None:
        """Return an identity of the files of these tables; None if one of them changed only just now."""
        if not self.keeps_facts(tables):
            return None
        return file_state([path for table in sorted(tables) for path in self._paths[table]], locked=False)


def _view(connection: duckdb.DuckDBPyConnection, table: Files) -> None:
    try:
        connection.execute(f"CREATE VIEW {DUCKDB.identifier(table.name)} AS {table.query}")
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeError, csv.Error) as error:
        reason = failure(error)
        raise BackendError(
            f"The files of the table {table.name!r} cannot be read (incident {reason.incident}).",
            code="unreadable-table",
            hint="Check that they are Parquet, or CSV in UTF-8 with a header line.",
            incident=reason.incident,
        ) from None


def _tables(entries: Iterable[Path]) -> Iterable[Files]:
    for entry in sorted(entries):
        if entry.name.startswith(HIDDEN):
            continue
        if entry.is_dir() and (lakehouse := lakehouse_table(entry)) is not None:
            if lakehouse.paths:
                yield Files(entry.name, lakehouse.paths, lakehouse)
        elif entry.is_dir():
            files = tuple(sorted(path for path in entry.rglob("*") if _is_data(path)))
            if files and not (entry / CERTIFICATE).is_file():
                yield Files(entry.name, files)
        elif _is_data(entry):
            yield Files(entry.stem, (entry,))


def _is_data(path: Path) -> bool:
    return path.suffix.lower() in EXTENSIONS and not path.name.startswith(HIDDEN) and path.is_file()


def _header(table: Files) -> tuple[str, list[str]]:
    """Return the separator and the names of the columns: the header line, which is not a row.

    A column without a name (R writes one for the names of rows) is named after its position.
    """
    headers = {_first_line(path) for path in table.paths}
    if len(headers) > 1:
        raise _differing(table, "their first lines name different columns")
    [(separator, fields)] = headers
    names = [name or f"column_{position}" for position, name in enumerate(fields, 1)]
    if not any(fields):
        raise BackendError(
            f"The first line of the table {table.name!r} names no columns.",
            code="column-names",
            hint="Write the names of the columns into the first line of each CSV file.",
        )
    lower = [name.lower() for name in names]
    for position, name in enumerate(lower):
        if name in lower[:position]:
            first, second = lower.index(name) + 1, position + 1
            raise BackendError(
                f"Columns {first} and {second} of the table {table.name!r} have the same name; names ignore case.",
                code="column-names",
                hint="Rename one of them in the first line of the file.",
            )
    return separator, names


def _first_line(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the separator of a file and the fields of its first line."""
    fields = {}
    for separator in SEPARATORS:
        with path.open(encoding="utf-8-sig", newline="") as file:
            fields[separator] = tuple(next(csv.reader(file, delimiter=separator, strict=separator == ","), ()))
        if len(fields[separator]) > 1:
            return separator, fields[separator]
    return ",", fields[","]


def _require_one_schema(table: Files) -> None:
    """Require the same schema in all files.

    Privacy: a file with other types would be read through casts, which fail on some rows and not on others.
    """
    shapes = {tuple((field.name, str(field.type)) for field in pq.read_schema(path)) for path in table.paths}
    if len(shapes) > 1:
        raise _differing(table, "their columns or types differ")


def _columns_are_missing(table: Files) -> bool:
    """Return True if some files lack a column; a column must have one type in all files that have it."""
    schemas = [pq.read_schema(path) for path in table.paths]
    shapes = {column.name: str(column.type) for schema in schemas for column in schema}
    if any(str(column.type) != shapes[column.name] for schema in schemas for column in schema):
        raise _differing(table, "a column has different types")
    return any(len(schema) < len(shapes) for schema in schemas)


def _differing(table: Files, why: str) -> BackendError:
    return BackendError(
        f"The files of the table {table.name!r} are not one table: {why}.",
        code="files-differ",
        hint="Give every table one file, or a folder of files with the same columns and types.",
    )


def _same_names(tables: Sequence[Files]) -> dict[str, BackendError]:
    """Return an error for each name that two tables have; names ignore case."""
    counts = Counter(table.name.lower() for table in tables)
    return {
        table.name.lower(): BackendError(
            f"Two tables are named {table.name!r}; names ignore case.",
            code="table-names",
            hint="Tables are named after files and folders, without the extension; rename one.",
        )
        for table in tables
        if counts[table.name.lower()] > 1
    }
