"""A folder of Parquet and CSV files, or a pattern of paths, as tables.

A file is a table, called by its name without the ending. A folder inside is one table of all files in it; where its
folders are called `day=2026-01-31`, `day` is a column of text. Which files there are is seen once, when it is opened.

Privacy: types come from Parquet's own schema. A CSV file has none: every column is text, and the catalog says what it
is (`type: date`). Nothing is guessed from rows, neither types nor signs: a CSV file is read as RFC 4180 has it, with
commas, double quotes and one line of names. A line that is not so is left out: no error depends on one.
"""

import csv
import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow.backends.base import failure
from hedgerow.backends.duckdb import DuckDB
from hedgerow.dialects import DUCKDB
from hedgerow.errors import BackendError

ENDINGS = (".parquet", ".csv")
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
LEFT_OUT = (".", "_")
"""How the names begin of files that other programs keep beside data."""

CSV = (
    "header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', nullstr = '', "
    "allow_quoted_nulls = false, ignore_errors = true, parallel = false"
)
"""One thread reads a file, so that it is not guessed where a line begins."""


@dataclass(frozen=True)
class Files:
    """The files of one table; all are of one kind."""

    name: str
    paths: tuple[Path, ...]

    @property
    def query(self) -> str:
        """Return the expression that reads them."""
        listed = ", ".join(DUCKDB.string(glob.escape(str(path))) for path in self.paths)
        if self.paths[0].suffix.lower() == ".csv":
            shape = ", ".join(f"{DUCKDB.string(name)}: 'VARCHAR'" for name in _header(self))
            return f"SELECT * FROM read_csv([{listed}], columns = {{{shape}}}, {CSV})"
        _require_one_schema(self)
        return f"SELECT * FROM read_parquet([{listed}], hive_partitioning = true, hive_types_autocast = false)"


def open_folder(path: Path) -> DuckDB:
    """The tables of a folder."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - as it is written, without following links
    return _opened(whole, whole.iterdir())


def open_files(pattern: str) -> DuckDB:
    """The tables of all paths that match a pattern, with `*`, `?`, `[…]` and `**`."""
    whole = os.path.abspath(pattern)  # noqa: PTH100 - likewise
    fixed = whole if not glob.has_magic(whole) else whole[: min(whole.index(sign) for sign in "*?[" if sign in whole)]
    base = Path(fixed) if fixed.endswith(os.sep) else Path(fixed).parent
    return _opened(base, map(Path, glob.glob(whole, recursive=True)))  # noqa: PTH207 - patterns with any root


def _opened(base: Path, entries: Iterable[Path]) -> DuckDB:
    """A DuckDB of its own, in which nothing but `base` can be read, and no setting be changed."""
    found = list(entries)
    tables = list(_tables(found))
    if not tables and any(entry.name.startswith(LEFT_OUT) and entry.suffix.lower() in ENDINGS for entry in found):
        raise BackendError(
            f"Files whose names begin with _ or . are not read, and there are no others in {base}.",
            code="no-tables",
            hint="Rename the file, so that its name begins with a letter.",
        )
    if not tables:
        raise BackendError(
            f"There are no Parquet or CSV files in {base}.",
            code="no-tables",
            hint="Check the path; endings are .parquet and .csv.",
        )
    _require_different_names(tables)
    connection = duckdb.connect(":memory:", config=SETTINGS)
    places = ", ".join(DUCKDB.string(place) for place in (str(base), glob.escape(str(base))))
    connection.execute(f"SET allowed_directories = [{places}]")
    connection.execute("SET enable_external_access = false")
    for table in tables:
        _view(connection, table)
    return DuckDB(connection, handed_in=False)


def _view(connection: duckdb.DuckDBPyConnection, table: Files) -> None:
    try:
        connection.execute(f"CREATE VIEW {DUCKDB.identifier(table.name)} AS {table.query}")
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeError, csv.Error) as error:
        reason = failure(error)
        raise BackendError(
            f"The files of the table {table.name!r} cannot be read (incident {reason.incident}).",
            code="unreadable-table",
            hint="Check that they are Parquet, or CSV in UTF-8 with commas and a line of names.",
            incident=reason.incident,
        ) from None


def _tables(entries: Iterable[Path]) -> Iterable[Files]:
    for entry in sorted(entries):
        if entry.name.startswith(LEFT_OUT):
            continue
        if entry.is_dir():
            found = tuple(sorted(path for path in entry.rglob("*") if _is_data(path)))
            if found:
                yield _of_one_kind(Files(entry.name, found))
        elif _is_data(entry):
            yield Files(entry.stem, (entry,))


def _is_data(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and not path.name.startswith(LEFT_OUT) and path.is_file()


def _of_one_kind(table: Files) -> Files:
    if len({path.suffix.lower() for path in table.paths}) > 1:
        raise _differing(table, "some are Parquet and some are CSV")
    return table


def _header(table: Files) -> list[str]:
    """The names of the columns: the first line, which is no row."""
    found = {tuple(_first_line(path)) for path in table.paths}
    if len(found) > 1:
        raise _differing(table, "their first lines name different columns")
    [names] = found
    if not names or not all(names) or len({name.lower() for name in names}) < len(names):
        raise _differing(table, "the first line must name every column, each differently")
    return list(names)


def _first_line(path: Path) -> Sequence[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return next(csv.reader(file, strict=True), [])


def _require_one_schema(table: Files) -> None:
    """Privacy: a file whose types differ would be read with casts, which fail on some rows and not on others."""
    shapes = {tuple((field.name, str(field.type)) for field in pq.read_schema(path)) for path in table.paths}
    if len(shapes) > 1:
        raise _differing(table, "their columns or types differ")


def _differing(table: Files, why: str) -> BackendError:
    return BackendError(
        f"The files of the table {table.name!r} are not one table: {why}.",
        code="files-differ",
        hint="Give every table a file, or a folder of files that are alike.",
    )


def _require_different_names(tables: Sequence[Files]) -> None:
    seen: set[str] = set()
    for table in tables:
        if table.name.lower() in seen:
            raise BackendError(
                f"Two tables are called {table.name!r}, whatever the case of the letters.",
                code="table-names",
                hint="Files and folders are called by their names without the ending; rename one.",
            )
        seen.add(table.name.lower())
