"""PEP 249: a database connection as pandas, SQLAlchemy and other tools expect one.

Beside SELECT a cursor takes `EXPLAIN SELECT …` (the quote), `SHOW hedgerow.budget`, and `SET hedgerow.epsilon = 0.5`:
options of the questions that follow on the same connection. Every question is charged when it is executed; asked again,
it is free.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from typing import Any, Self

import pyarrow as pa

from hedgerow.answer import Answer  # noqa: TC001 - for readers of the attribute at run time
from hedgerow.catalog import Catalog
from hedgerow.errors import (
    BackendError,
    BudgetError,
    CatalogError,
    ConditionNotMet,
    HedgerowError,
    LedgerError,
    ParameterError,
    ParseError,
    PolicyError,
    QueryError,
    UnsupportedSQLError,
)
from hedgerow.errors import InternalError as HedgerowInternalError
from hedgerow.execution.request import Parameters
from hedgerow.session.connection import connect as open_database
from hedgerow.session.database import Database

apilevel = "2.0"
threadsafety = 2
paramstyle = "named"

Date, Time, Timestamp = date, time, datetime
DateFromTicks, TimestampFromTicks = date.fromtimestamp, datetime.fromtimestamp
Binary = bytes


def TimeFromTicks(ticks: float) -> time:  # noqa: N802 - the name is PEP 249's
    """The time of day of a number of seconds since 1970."""
    return datetime.fromtimestamp(ticks).time()  # noqa: DTZ006 - PEP 249: as the clock on the wall shows it


class Warning(Exception):  # noqa: A001, N818 - the name is PEP 249's
    """Never raised: what is to be said about an answer is in `cursor.messages`."""


class Error(Exception):
    """Root of all errors of this module. `__cause__` is hedgerow's own error, with code, hint and span."""


class InterfaceError(Error):
    """The connection or cursor is used in a way that it cannot be."""


class DatabaseError(Error):
    """The database, the ledger or the catalog cannot answer."""


class DataError(DatabaseError):
    """A parameter that cannot be."""


class OperationalError(DatabaseError):
    """The budget does not cover the question, or database or ledger failed."""


class IntegrityError(DatabaseError):
    """Never raised: nothing is written."""


class InternalError(DatabaseError):
    """An error of hedgerow itself.

    PEP 249 prescribes the names of the exceptions of a driver. It is the only name that `hedgerow.errors` has, too:
    there it means the same, and an error of that class becomes one of this class.
    """


class ProgrammingError(DatabaseError):
    """The statement or the catalog has to be changed."""


class NotSupportedError(DatabaseError):
    """SQL that has no private answer, or a method that nothing can be read by."""


ERRORS: tuple[tuple[type[HedgerowError], type[Error]], ...] = (
    (UnsupportedSQLError, NotSupportedError),
    (ParseError, ProgrammingError),
    (PolicyError, OperationalError),
    (ParameterError, DataError),
    (QueryError, ProgrammingError),
    (CatalogError, ProgrammingError),
    (BudgetError, OperationalError),
    (ConditionNotMet, DataError),
    (LedgerError, OperationalError),
    (BackendError, OperationalError),
    (HedgerowInternalError, InternalError),
)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except HedgerowError as error:
        kind = next((ours for theirs, ours in ERRORS if isinstance(error, theirs)), DatabaseError)
        raise kind(str(error)) from error


class _Kind:
    """A type object of PEP 249: it equals the type codes of its columns."""

    def __init__(self, *codes: str) -> None:
        self.codes = codes

    def __eq__(self, other: object) -> bool:
        return other in self.codes if isinstance(other, str) else self is other

    def __hash__(self) -> int:
        return hash(self.codes)


STRING = _Kind("text")
NUMBER = _Kind("integer", "float", "decimal", "boolean")
DATETIME = _Kind("date", "time", "timestamp")
BINARY = _Kind("binary")
ROWID = _Kind("rowid")

Column = tuple[str, str, None, None, None, None, bool]
OPTIONS = ("epsilon", "delta", "within", "confidence", "max_groups", "max_rows", "mechanism", "intervals")
SETTING = re.compile(r"\s*SET\s+(?:SESSION\s+)?hedgerow\.(\w+)\s*(?:=|\s+TO\s+)\s*(.+?)\s*;?\s*", re.IGNORECASE)
SHOW_BUDGET = re.compile(r"\s*SHOW\s+hedgerow\.budget\s*;?\s*", re.IGNORECASE)
EXPLAIN = re.compile(r"\s*EXPLAIN\s+(?=SELECT|WITH|\()", re.IGNORECASE)


def connect(
    source: object = None,
    *,
    catalog: str | Catalog | None = None,
    ledger: str | None = None,
    analyst: str | None = None,
    dialect: str | None = None,
    intervals: bool = False,
    **options: Any,  # noqa: ANN401 - options of a question, checked when one is asked
) -> "Connection":
    """Open a connection. The arguments are those of `hedgerow.connect`, or a `Database` that is open already.

    Args:
        source: A database; none, or the path of a `hedgerow.toml`, for a project.
        catalog: See `hedgerow.connect`.
        ledger: See `hedgerow.connect`.
        analyst: See `hedgerow.connect`.
        dialect: See `hedgerow.connect`.
        intervals: Add `<name>_lower`, `<name>_upper` and `<name>_note` behind each noisy column.
        **options: Of every question: epsilon, delta, within, confidence and so on.
    """
    with _translated():
        if isinstance(source, Database):
            return Connection(source, {"intervals": intervals, **options}, owned=False)
        database = open_database(source, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect)
        return Connection(database, {"intervals": intervals, **options}, owned=True)


class Connection:
    """A connection of PEP 249. There are no transactions: `commit` and `rollback` do nothing."""

    Warning, Error, InterfaceError, DatabaseError = Warning, Error, InterfaceError, DatabaseError
    DataError, OperationalError, IntegrityError = DataError, OperationalError, IntegrityError
    InternalError, ProgrammingError, NotSupportedError = InternalError, ProgrammingError, NotSupportedError

    def __init__(self, database: Database, options: Mapping[str, Any], *, owned: bool) -> None:
        self._database: Database | None = database
        self._owned = owned
        self.options = dict(options)

    @property
    def database(self) -> Database:
        """The `hedgerow.Database` behind the connection."""
        if self._database is None:
            raise InterfaceError("The connection is closed.")
        return self._database

    def cursor(self) -> "Cursor":
        """A cursor. Cursors of one connection share its options."""
        self.database  # noqa: B018 - raises where it is closed
        return Cursor(self)

    def close(self) -> None:
        """Let go of the database."""
        database, self._database = self.database, None
        if self._owned:
            database.close()

    def commit(self) -> None:
        """Do nothing: a question is charged when it is asked."""
        self.database  # noqa: B018 - raises where it is closed

    def rollback(self) -> None:
        """Do nothing: what was charged stays charged."""
        self.database  # noqa: B018 - raises where it is closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._database is not None:
            self.close()


class Cursor:
    """A cursor of PEP 249.

    Attributes:
        description: Name and type code of each column; its last entry is False where no value can be NULL.
        rowcount: The number of rows; -1 before a question.
        arraysize: How many rows `fetchmany` gives.
        answer: The `Answer` behind the rows, with error bars and receipt; None where there is none.
        messages: Notes about the answer.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self.description: tuple[Column, ...] | None = None
        self.rowcount = -1
        self.lastrowid = None
        self.answer: Answer | None = None
        self.messages: list[tuple[type[Exception], str]] = []
        self._rows: list[tuple[Any, ...]] | None = None
        self._next = 0
        self._closed = False

    def execute(self, operation: str, parameters: Parameters = None) -> "Cursor":
        """Ask a question, and pay for it.

        Args:
            operation: One statement.
            parameters: Values for `?` (a sequence) or `:name` (a mapping).
        """
        self._open()
        self.answer, self.messages, self._rows, self.description, self.rowcount = None, [], None, None, -1
        with _translated():
            setting = SETTING.fullmatch(operation)
            if setting is not None:
                self._set(setting[1].lower(), setting[2])
            elif SHOW_BUDGET.fullmatch(operation):
                self._show(["budget"], [(str(self.connection.database.budget),)])
            elif EXPLAIN.match(operation):
                self._explain(EXPLAIN.sub("", operation, count=1), parameters)
            else:
                self._ask(operation, parameters)
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Parameters]) -> None:
        """Ask one question for each set of values; the rows of the last can be fetched."""
        for parameters in seq_of_parameters:
            self.execute(operation, parameters)

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, or None."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows: `size`, or `arraysize`, of them at most."""
        rows, start = self._result(), self._next
        self._next = min(len(rows), start + (self.arraysize if size is None else size))
        return rows[start : self._next]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the remaining rows."""
        return self.fetchmany(len(self._result()))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchone, None)

    def close(self) -> None:
        """Let go of the rows."""
        self._open()
        self._closed, self._rows = True, None

    def setinputsizes(self, sizes: object) -> None:
        """Do nothing."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._closed:
            self.close()

    def _open(self) -> None:
        if self._closed:
            raise InterfaceError("The cursor is closed.")
        self.connection.database  # noqa: B018 - raises where it is closed

    def _result(self) -> list[tuple[Any, ...]]:
        self._open()
        if self._rows is None:
            raise InterfaceError("No question was asked, or the last statement has no rows.")
        return self._rows

    def _ask(self, operation: str, parameters: Parameters) -> None:
        options = {name: value for name, value in self.connection.options.items() if name != "intervals"}
        answer = self.connection.database.sql(operation, params=parameters or None, **options)
        table = answer.arrow(intervals=bool(self.connection.options.get("intervals")))
        self.answer = answer
        self.messages = [(Warning, note.text) for note in answer.notes]
        columns = [column.to_pylist() for column in table.columns]
        names = [
            (field.name, next((code for is_kind, code in TYPE_CODES if is_kind(field.type)), "text"))
            for field in table.schema
        ]
        self._show(names, list(zip(*columns, strict=True)) if columns else [])

    def _explain(self, operation: str, parameters: Parameters) -> None:
        options = {name: value for name, value in self.connection.options.items() if name != "intervals"}
        quote = self.connection.database.quote(operation, params=parameters or None, **options)
        self._show(["quote"], [(line,) for line in str(quote).splitlines()])

    def _set(self, name: str, value: str) -> None:
        if name not in OPTIONS:
            raise ParameterError(
                f"There is no setting hedgerow.{name}.", code="unknown-option", hint=f"There are: {', '.join(OPTIONS)}."
            )
        self.connection.options.pop(name, None)
        if value.upper() != "DEFAULT":
            self.connection.options[name] = _setting(name, value.strip("'"))

    def _show(self, names: Sequence[str | tuple[str, str]], rows: list[tuple[Any, ...]]) -> None:
        pairs = [(name, "text") if isinstance(name, str) else name for name in names]
        self.description = tuple((name, code, None, None, None, None, True) for name, code in pairs)
        self._rows, self._next, self.rowcount = rows, 0, len(rows)


def _setting(name: str, value: str) -> object:
    if name == "intervals":
        return value.lower() in {"on", "true", "1", "yes"}
    if name in {"within", "mechanism"}:
        return value
    try:
        return int(value) if name in {"max_groups", "max_rows"} else float(value)
    except ValueError:
        raise ParameterError(f"hedgerow.{name} must be a number.", code="bad-setting") from None


TYPE_CODES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "float"),
    (pa.types.is_decimal, "decimal"),
    (pa.types.is_date, "date"),
    (pa.types.is_time, "time"),
    (pa.types.is_timestamp, "timestamp"),
)
