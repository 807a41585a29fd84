"""Tables of pandas, Polars and Arrow, passed as `{name: table}` and queried in a separate DuckDB.

Types are those of the columns. A column of Python objects has none: pandas keeps dates, decimals, times, UUIDs and,
before version 3, text in such columns. It is read like a column of a CSV file: as text, and the catalog declares its
type (`type: date`).

Privacy: the type does not depend on the values in a column, and no object makes reading fail. An object of a kind not
listed here is a missing value.
"""

import math
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pyarrow as pa

from hedgerow.backends.duckdb import DuckDB
from hedgerow.catalog.names import fold
from hedgerow.errors import BackendError

LONGEST_INTEGER = 128
"""In bits. Python refuses to print integers of several thousand digits."""

LONGEST_DECIMAL = 38
"""Maximum number of digits before or after the point; larger numbers have an exponent."""


def text_column(values: Iterable[object]) -> pa.Array:
    """Return the objects of a column as text."""
    return pa.array([text_of(value) for value in values], type=pa.string())


def text_of(value: object) -> str | None:
    """Return the text of an object, as DuckDB can parse it; None if it is missing or of another kind."""
    for kind, write in WRITERS:
        if isinstance(value, kind):
            try:
                return write(value)
            except Exception:  # noqa: BLE001 - a subclass may do anything; see Privacy above
                return None
    return None


def _text(value: str) -> str:
    """Return text that can be stored: encoding fails on lone surrogates."""
    value.encode()
    return str.__str__(value)


def _boolean(value: object) -> str:
    return "true" if value else "false"


def _integer(value: int) -> str | None:
    return str(int(value)) if int(value).bit_length() <= LONGEST_INTEGER else None


def _float(value: float) -> str | None:
    """NaN is a missing value, as in every other column of pandas."""
    return None if math.isnan(value) else repr(float(value))


def _decimal(value: Decimal) -> str | None:
    if value.is_nan():
        return None
    return f"{value:f}" if abs(value.adjusted()) <= LONGEST_DECIMAL else str(value)


def _datetime(value: datetime) -> str | None:
    """A timestamp with a time zone is written in UTC. `NaT` is a datetime that does not equal itself."""
    if value != value:  # noqa: PLR0124 - see above
        return None
    shown = value if value.tzinfo is None else value.astimezone(UTC)
    return shown.isoformat(sep=" ")


def _time(value: time) -> str:
    return value.replace(tzinfo=None).isoformat()


WRITERS: tuple[tuple[type | tuple[type, ...], Callable[..., str | None]], ...] = (
    (str, _text),
    ((bool, np.bool_), _boolean),
    ((int, np.integer), _integer),
    ((float, np.floating), _float),
    (Decimal, _decimal),
    (datetime, _datetime),
    (date, date.isoformat),
    (time, _time),
    (UUID, str),
)
"""Writers by kind, subclasses first: in Python a bool is an int, and a datetime is a date."""


SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
"""No files, no extensions, and no variables of the program that happen to have the name of a table."""


MOST_COPIED = 1 << 29
"""Maximum bytes of tables that are copied, so that nobody else can change them."""


class Frames(DuckDB):
    """Tables in memory, each under its name.

    Tables of at most `MOST_COPIED` bytes together are copied once: their rows never change, and facts about them hold.
    Larger ones are read in place. The caller may then change them, and nothing is known about them.
    """

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        super().__init__(duckdb.connect(":memory:", config=SETTINGS), handed_in=False)
        self._owned = bool(sum(table.nbytes for table in tables.values()) <= MOST_COPIED)
        if self._owned:
            tables = {name: copied(table) for name, table in tables.items()}
        self._frames = {f"hedgerow_frame_{index}": table for index, table in enumerate(tables.values())}
        self._registered(self._connection)
        for view, name in zip(self._frames, tables, strict=True):
            self._connection.execute(f"CREATE VIEW {self.dialect.identifier(name)} AS SELECT * FROM temp.main.{view}")

    def keeps_facts(self, tables: Collection[str]) -> bool:  # noqa: ARG002 - all tables are alike
        """Return True if the tables are copies."""
        return self._owned

    def state(self, tables: Collection[str]) -> Hashable | None:
        """Return the same identity forever for tables that are copies."""
        return ("copies",) if self.keeps_facts(tables) else None

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """Register the tables on every cursor: cursors do not share them."""
        return self._registered(super()._cursor())

    def _registered(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
        for name, table in self._frames.items():
            cursor.register(name, table)
        return cursor


def open_frames(frames: Mapping[str, object]) -> Frames:
    """Open a backend over tables in memory."""
    if not frames:
        raise BackendError("The mapping contains no table.", code="no-tables", hint="Pass {name: table, …}.")
    names = [name for name in frames if isinstance(name, str) and name]
    if len(names) < len(frames) or len({name.lower() for name in names}) < len(names):
        raise BackendError(
            "Table names must be nonempty texts and unique, ignoring case.",
            code="table-names",
            hint="Pass {name: table, …} with different names.",
        )
    try:
        return Frames({name: as_arrow(name, frame) for name, frame in frames.items()})
    except (duckdb.Error, pa.ArrowException):
        raise BackendError(
            "A table has a column that cannot be read.",
            code="unreadable-table",
            hint="Leave out columns that are nested or of unusual types.",
        ) from None


def copied(table: pa.Table) -> pa.Table:
    """Return a table in memory of its own."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


def as_arrow(name: str, frame: Any) -> pa.Table:  # noqa: ANN401 - a table of any library
    """Return a table of another library as an Arrow table."""
    library, kind = type(frame).__module__.partition(".")[0], type(frame).__name__
    if isinstance(frame, pa.Table | pa.RecordBatch):
        _require_names(name, frame.schema.names)
        return pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame
    if (library, kind) == ("pandas", "DataFrame"):
        _require_names(name, list(frame.columns))
        return _from_pandas(frame)
    if (library, kind) == ("polars", "DataFrame"):
        _require_names(name, frame.columns)
        return _from_polars(frame)
    raise BackendError(
        f"The table {name!r} is of a kind that is not supported ({kind}).",
        code="unknown-source",
        hint="Pass a DataFrame of pandas or Polars (not a lazy one: collect it), or a table of Arrow.",
    )


def _from_pandas(frame: Any) -> pa.Table:  # noqa: ANN401 - a DataFrame
    """Convert without the index. NaN is a missing value, as in pandas."""
    objects = {column: text_column(frame[column]) for column, kind in frame.dtypes.items() if _holds_objects(kind)}
    table = pa.Table.from_pandas(frame.drop(columns=list(objects)), preserve_index=False)
    arrays = [objects[column] if column in objects else table.column(column) for column in frame.columns]
    return pa.Table.from_arrays(arrays, names=list(frame.columns))


def _holds_objects(kind: Any) -> bool:  # noqa: ANN401 - a type of pandas
    """Return True if the values of a type are Python objects, or its categories are."""
    return str(kind) == "object" or (str(kind) == "category" and str(kind.categories.dtype) == "object")


def _from_polars(frame: Any) -> pa.Table:  # noqa: ANN401 - a DataFrame
    """Convert without copying text."""
    polars = sys.modules["polars"]
    objects = {column: text_column(frame[column]) for column, kind in frame.schema.items() if kind == polars.Object}
    table = frame.drop(list(objects)).to_arrow(compat_level=polars.CompatLevel.newest())
    arrays = [objects[column] if column in objects else table.column(column) for column in frame.columns]
    return pa.Table.from_arrays(arrays, names=frame.columns)


def _require_names(table: str, columns: Sequence[object]) -> None:
    """Require unique names: DuckDB would rename a column that differs from another only in case."""
    names = [fold(column) for column in columns if isinstance(column, str)]
    if len(set(names)) < len(columns):
        raise BackendError(
            f"The column names of {table!r} must be text and unique, ignoring case.",
            code="column-names",
            hint="Rename them, for instance with frame.rename(columns={…}).",
        )
