"""How each driver behind Ibis runs a statement as it is, fetches rows, and stops."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any, Protocol

from hedgerow.backends.results import fetch_rows

Rows = Sequence[Sequence[object]]


class Driver(Protocol):
    """One connection; statements come one at a time."""

    def rows(self, sql: str, most: int) -> Rows:
        """All rows of a SELECT, if they take at most `most` bytes."""

    def cancel(self) -> None:
        """Stop what runs, from another thread."""

    def set_time_limit(self, seconds: float) -> None:
        """Let the engine itself stop statements after some time, where it can."""

    def code_of(self, error: BaseException) -> str | None:
        """Return the code of an error that the driver tells apart, else None."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One state of the data for several statements, where the engine has that."""


MYSQL_CODES = {
    1317: "cancelled",
    1969: "timed-out",
    3024: "timed-out",
    1114: "out-of-memory",
    1041: "out-of-memory",
    2006: "connection-lost",
    2013: "connection-lost",
    1142: "not-permitted",
    1143: "not-permitted",
    1054: "schema-changed",
    1146: "schema-changed",
}


class _Plain:
    """Defaults of a driver."""

    def set_time_limit(self, seconds: float) -> None:
        """Statements are stopped from here, where they can be."""

    def code_of(self, error: BaseException) -> str | None:  # noqa: ARG002 - whatever it is
        """No error is told apart."""
        return None


class Cursors(_Plain):
    """A connection with cursors, as Python's database interface has them."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - whatever Ibis has made
        self._connection = connection.con
        self._running: Any = None

    def rows(self, sql: str, most: int) -> Rows:
        """On a cursor of its own."""
        with closing(self._connection.cursor()) as cursor:
            self._running = cursor
            try:
                cursor.execute(sql)
                return fetch_rows(cursor.fetchmany, most)
            finally:
                self._running = None

    def cancel(self) -> None:
        """Drivers differ: some cursors can be stopped."""
        stop = getattr(self._running, "cancel", None)
        if stop is not None:
            stop()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """None: between two statements the data may change."""
        yield


class MySQL(Cursors):
    """InnoDB reads from one state within a transaction.

    It is ended by COMMIT, so that nothing of the owner's can be lost. Where the owner has switched off autocommit, a
    transaction may be open already, and beginning one would end it. MariaDB stops a statement after some time; MySQL
    has only a hint for that, which no server was at hand to try.
    """

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - whatever Ibis has made
        super().__init__(connection)
        self._is_mariadb = "MariaDB" in self._connection.get_server_info()
        self._limit = ""

    def set_time_limit(self, seconds: float) -> None:
        """Let the server stop statements, where it can."""
        if self._is_mariadb:
            self._limit = f"SET STATEMENT max_statement_time = {seconds:.6f} FOR "

    def code_of(self, error: BaseException) -> str | None:
        """By the number that the driver puts first."""
        number = error.args[0] if error.args else None
        return MYSQL_CODES.get(number) if isinstance(number, int) else None

    def rows(self, sql: str, most: int) -> Rows:
        """On a cursor of its own, within the time that there is."""
        return super().rows(self._limit + sql, most)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """START TRANSACTION, where every statement is otherwise one of its own."""
        if not self._connection.get_autocommit():
            yield
            return
        self._say("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        try:
            yield
        finally:
            self._say("COMMIT")

    def _say(self, sql: str) -> None:
        with closing(self._connection.cursor()) as cursor:
            cursor.execute(sql)


class IbisDuckDB(_Plain):
    """One DuckDB connection. The backend of its own is better for it; this one is there to show that the way works."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - whatever Ibis has made
        self._connection = connection.con

    def rows(self, sql: str, most: int) -> Rows:
        """On the connection itself."""
        return fetch_rows(self._connection.execute(sql).fetchmany, most)

    def cancel(self) -> None:
        """Interrupt."""
        self._connection.interrupt()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction; where the owner has begun one, that."""
        if self._is_within():
            yield
            return
        self._connection.execute("BEGIN TRANSACTION")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def _is_within(self) -> bool:
        """Return True if a transaction is open: two statements then have one number. Another would break it."""
        numbers = [self._connection.execute("SELECT txid_current()").fetchall() for _ in range(2)]
        return bool(numbers[0] == numbers[1])


class BigQuery(_Plain):
    """A client that starts jobs."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - whatever Ibis has made
        self._client = connection.client
        self._project = connection.billing_project
        self._job: Any = None

    def rows(self, sql: str, most: int) -> Rows:
        """The rows of one job."""
        self._job = self._client.query(sql, project=self._project)
        try:
            rows = (row.values() for row in self._job.result())
            return fetch_rows(lambda count: list(islice(rows, count)), most)
        finally:
            self._job = None

    def cancel(self) -> None:
        """Cancel the job."""
        if self._job is not None:
            self._job.cancel()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """None: between two jobs the data may change."""
        yield


DRIVERS: Mapping[str, Callable[[Any], Driver]] = {
    "bigquery": BigQuery,
    "duckdb": IbisDuckDB,
    "mssql": Cursors,
    "mysql": MySQL,
    "snowflake": Cursors,
    "trino": Cursors,
}
"""By the name that Ibis has for an engine."""
