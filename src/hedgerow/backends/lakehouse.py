"""Tables of Delta Lake and Apache Iceberg in folders: the Parquet files of their newest version.

Such a folder also has files of earlier versions, whose rows were changed or deleted since. Its log says which files are
current; `deltalake` and `pyiceberg` read it. Files are never changed once they are written, so this list of files
always has the same rows, whatever is written to the table later.

A feature that would change rows or names while files are read (deletion vectors, column mapping, delete files, files
in other folders) is refused: read without it, a table would have rows that it has no more.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow.errors import BackendError, HedgerowError

PARTITION_TYPES = {
    "string": None,
    "long": "BIGINT",
    "integer": "INT",
    "short": "SMALLINT",
    "byte": "TINYINT",
    "boolean": "BOOLEAN",
    "date": "DATE",
}
"""Types of Delta for columns that are in the names of folders, as DuckDB and Spark call them; None is text."""

MISSING_VALUE = "__HIVE_DEFAULT_PARTITION__"
NUMBERED = re.compile(r"v?(\d+)(?:-[^/]*)?(?:\.gz)?\.metadata\.json")
"""Names of the files that describe a version of an Iceberg table, with its number."""


@dataclass(frozen=True)
class LakehouseTable:
    """The files of the newest version of a table, and the types of columns that are in the names of folders."""

    paths: tuple[Path, ...]
    partition_types: Mapping[str, str | None] = field(default_factory=dict)


def lakehouse_table(folder: Path) -> LakehouseTable | None:
    """Return the newest version of the table that a folder holds; None if it is a plain folder."""
    for is_one, read in ((is_delta, _delta), (is_iceberg, _iceberg)):
        if is_one(folder):
            try:
                return read(folder)
            except HedgerowError:
                raise
            except Exception:  # noqa: BLE001 - logs may be damaged in many ways
                raise _refused(folder, "its log cannot be read") from None
    return None


def is_lakehouse(folder: Path) -> bool:
    """Return True if a folder is a table of Delta or Iceberg."""
    return is_delta(folder) or is_iceberg(folder)


def is_delta(folder: Path) -> bool:
    """Return True if a folder has a log of Delta."""
    return (folder / "_delta_log").is_dir() and any((folder / "_delta_log").iterdir())


def is_iceberg(folder: Path) -> bool:
    """Return True if a folder has descriptions of versions of Iceberg."""
    return any((folder / "metadata").glob("*.metadata.json"))


def _delta(folder: Path) -> LakehouseTable:
    table = _driver("deltalake", "delta").DeltaTable(str(folder))
    if (table.metadata().configuration or {}).get("delta.columnMapping.mode", "none") != "none":
        raise _refused(folder, "its columns have other names in the files (column mapping)")
    if pa.table(table.deletion_vectors()).num_rows:
        raise _refused(folder, "some rows are deleted by deletion vectors", "Rewrite its files with OPTIMIZE or PURGE.")
    types = {column.name: str(getattr(column.type, "type", column.type)) for column in table.schema().fields}
    partitions = {name: types[name] for name in table.metadata().partition_columns}
    if unknown := [name for name, kind in partitions.items() if kind not in PARTITION_TYPES]:
        raise _refused(folder, f"it is partitioned by {unknown[0]}, whose type is not read from names of folders")
    actions = pa.table(table.get_add_actions())
    paths = tuple(_inside(folder, folder / unquote(path)) for path in actions.column("path").to_pylist())
    if partitions:
        for path, values in zip(paths, actions.column("partition").to_pylist(), strict=True):
            if _values_of(folder, path) != {name: _as_text(value) for name, value in values.items()}:
                raise _refused(folder, "names of folders do not say the values of the partition columns")
    _require_columns(folder, paths, lambda column, _: column in types and column not in partitions)
    return LakehouseTable(tuple(sorted(paths)), {name: PARTITION_TYPES[kind] for name, kind in partitions.items()})


def _iceberg(folder: Path) -> LakehouseTable:
    driver = _driver("pyiceberg.table", "iceberg")
    table = driver.StaticTable.from_metadata(str(_newest_metadata(folder)))
    tasks = list(table.scan().plan_files())
    if any(task.delete_files for task in tasks):
        raise _refused(folder, "some rows are deleted by delete files", "Rewrite its files (rewrite_data_files).")
    if any(str(task.file.file_format).rpartition(".")[2] != "PARQUET" for task in tasks):
        raise _refused(folder, "some of its files are not Parquet")
    paths = tuple(_inside(folder, _local(folder, task.file.file_path)) for task in tasks)
    numbers = {column.name: str(column.field_id).encode() for column in table.schema().fields}
    _require_columns(folder, paths, lambda column, number: number is not None and numbers.get(column) == number)
    return LakehouseTable(tuple(sorted(paths)))


def _newest_metadata(folder: Path) -> Path:
    """Return the description of the newest version: the one that the hint names, or that has the largest number."""
    hint = folder / "metadata" / "version-hint.text"
    if hint.is_file():
        return folder / "metadata" / f"v{int(hint.read_text(encoding='utf-8'))}.metadata.json"
    numbered: dict[int, list[Path]] = {}
    for path in (folder / "metadata").iterdir():
        if named := NUMBERED.fullmatch(path.name):
            numbered.setdefault(int(named[1]), []).append(path)
    newest = numbered[max(numbered)]
    if len(newest) > 1:
        raise _refused(folder, "two versions have the same number, and only its catalog knows which one is current")
    return newest[0]


def _require_columns(folder: Path, paths: Sequence[Path], is_current: Callable[[str, bytes | None], bool]) -> None:
    """Refuse a file that has a column of another name than the table: it was renamed or dropped since."""
    for path in paths:
        for column in pq.read_schema(path):
            if not is_current(column.name, (column.metadata or {}).get(b"PARQUET:field_id")):
                raise _refused(
                    folder, f"the column {column.name} was renamed or dropped since files were written", "Rewrite them."
                )


def _values_of(folder: Path, path: Path) -> dict[str, str | None]:
    """Return the values of partition columns that the names of folders on the way to a file say."""
    steps = [unquote(step).partition("=") for step in path.relative_to(folder).parent.parts]
    return {name: None if value == MISSING_VALUE else value for name, _, value in steps}


def _as_text(value: object) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _local(folder: Path, address: str) -> Path:
    parts = urlsplit(address)
    if parts.scheme not in {"", "file"} or parts.netloc:
        raise _refused(folder, "its files are not on this machine")
    return Path(unquote(parts.path) if parts.scheme else address)


def _inside(folder: Path, path: Path) -> Path:
    """Return the path of a file if it is in the folder of the table: nothing else may be read."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise _refused(folder, "some of its files are in another folder")
    return path


def _driver(module: str, extra: str) -> Any:  # noqa: ANN401 - a module
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise BackendError(
            f"{name}, which reads the log of a table, is not installed.",
            code="driver-missing",
            hint=f"pip install 'hedgerow[{extra}]'",
        ) from None


def _refused(folder: Path, why: str, hint: str = "Copy the table into plain Parquet files.") -> BackendError:
    return BackendError(f"The table {folder.name!r} cannot be read from its files: {why}.", code="lakehouse", hint=hint)
