"""pandas, Polars and Arrow tables handed in: `{name: table}`, in a DuckDB of its own.

Types are those of the columns. A column of Python objects has none, and is refused: reading its rows to find one would
be an answer that nobody paid for. Nothing is copied but what has to be for Arrow.
"""

import sys
from collections.abc import Mapping
from typing import Any

import duckdb
import pyarrow as pa

from hedgerow.backends.duckdb import DuckDB
from hedgerow.errors import BackendError

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
"""No files, no extensions, and no variables of the program that happen to be called like a table."""


class Frames(DuckDB):
    """Tables in memory, each under its name."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        super().__init__(duckdb.connect(":memory:", config=SETTINGS), handed_in=False)
        self._frames = {f"hedgerow_frame_{place}": table for place, table in enumerate(tables.values())}
        self._registered(self._connection)
        for view, name in zip(self._frames, tables, strict=True):
            self._connection.execute(f"CREATE VIEW {self.dialect.identifier(name)} AS SELECT * FROM {view}")
        self._connection.execute("SET lock_configuration = true")

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """A cursor does not know what was registered on another."""
        return self._registered(super()._cursor())

    def _registered(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
        for name, table in self._frames.items():
            cursor.register(name, table)
        return cursor


def open_frames(frames: Mapping[str, object]) -> Frames:
    """A backend over tables in memory."""
    if not frames:
        raise BackendError("There is no table in the mapping.", code="no-tables", hint="Pass {name: table, …}.")
    names = [name for name in frames if isinstance(name, str) and name]
    if len(names) < len(frames) or len({name.lower() for name in names}) < len(names):
        raise BackendError(
            "Tables need names of their own, whatever the case of the letters.",
            code="table-names",
            hint="Pass {name: table, …} with different names.",
        )
    try:
        return Frames({name: as_arrow(name, frame) for name, frame in frames.items()})
    except (duckdb.Error, pa.ArrowException):
        raise BackendError(
            "A table has columns that cannot be read.",
            code="unreadable-table",
            hint="Leave out columns that are nested or of unusual types.",
        ) from None


def as_arrow(name: str, frame: Any) -> pa.Table:  # noqa: ANN401 - whatever is handed in
    """A table of another library as one of Arrow."""
    library, kind = type(frame).__module__.partition(".")[0], type(frame).__name__
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if (library, kind) == ("pandas", "DataFrame"):
        return _from_pandas(name, frame)
    if (library, kind) == ("polars", "DataFrame"):
        return _from_polars(name, frame)
    raise BackendError(
        f"The table {name!r} is of a kind that is not supported ({kind}).",
        code="unknown-source",
        hint="Pass a DataFrame of pandas or Polars (not a lazy one: collect it), or a table of Arrow.",
    )


def _from_pandas(name: str, frame: Any) -> pa.Table:  # noqa: ANN401 - a DataFrame
    """Without the index. NaN is missing, as it is in pandas."""
    objects = [str(column) for column, kind in frame.dtypes.items() if str(kind) == "object"]
    if objects or not all(isinstance(column, str) for column in frame.columns):
        raise _untyped(name, objects, 'convert it: frame.astype({"x": "string"})')
    return pa.Table.from_pandas(frame, preserve_index=False)


def _from_polars(name: str, frame: Any) -> pa.Table:  # noqa: ANN401 - a DataFrame
    """Text stays where it is."""
    polars = sys.modules["polars"]
    objects = [column for column, kind in frame.schema.items() if kind == polars.Object]
    if objects:
        raise _untyped(name, objects, 'convert it: frame.with_columns(pl.col("x").cast(pl.String))')
    return frame.to_arrow(compat_level=polars.CompatLevel.newest())


def _untyped(name: str, columns: list[str], hint: str) -> BackendError:
    listed = ", ".join(columns) or "those whose names are not text"
    return BackendError(
        f"Columns of {name!r} have no type of their own: {listed}.",
        code="untyped-column",
        hint=f"Drop a column, or {hint}.",
    )
