"""A backend over one SparkSession, of either kind."""

import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from hedgerow.backends.base import Snapshot, failure, repeated, sealed
from hedgerow.backends.spark.driver import checked, pyspark, quiet, staying_active, tagging
from hedgerow.backends.spark.schema import read_schema, read_table, temporary_views
from hedgerow.backends.spark.script import Frame, Session, script
from hedgerow.backends.time_limit import stop_after
from hedgerow.compiled import Query
from hedgerow.dialects.base import Dialect
from hedgerow.dialects.spark import SPARK
from hedgerow.errors import HedgerowError
from hedgerow.exact import ExactTable
from hedgerow.expressions.table_names import parts_of
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaTable

NO_MEMORY = frozenset(
    {"java.lang.OutOfMemoryError", "org.apache.spark.memory.SparkOutOfMemoryError", "UNABLE_TO_ACQUIRE_MEMORY"}
)
"""Classes of Java and conditions of Spark."""

MOST_CAUSES = 20
"""Errors of Java may be causes of each other."""


class Spark:
    """Spark SQL.

    Only SELECTs are sent, no functions of ours, and nothing but aggregated cells comes back. Statements of several
    threads run side by side in the one session; what each fetches is tagged, so that it can be stopped.
    """

    def __init__(self, session: Session, *, handed_in: bool, let_go: Callable[[], None] | None = None) -> None:
        pyspark()
        with sealed(), quiet():
            self._session = checked(session)
            self._tagging = tagging(session)
            self.dialect = SPARK.at(session.catalog.currentCatalog(), session.catalog.currentDatabase())
        self._declared: tuple[str, ...] = ()
        self._let_go = let_go
        self._lock = threading.Lock()
        self._tags: set[str] = set()
        self._stopped: set[str] = set()
        self._limits = UNDECLARED
        self.handed_in = handed_in

    def schema(self) -> Schema:
        """Tables of the current database, temporary views, and tables of other databases that the catalog declares."""
        with sealed(), quiet():
            self.dialect.temporary = temporary_views(self._session)
            return read_schema(self._session, self.dialect, self._declared)

    def reach(self, names: Iterable[str]) -> None:
        """Take note of the tables that a catalog declares: those with a schema in their names are read as well."""
        self._declared = tuple(name for name in names if len(parts_of(name)) > 1)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Spark has no transactions: what holds is said in docs/how-to/connect-spark.md."""
        with sealed(), quiet():
            made = _Snapshot(self._session, self.dialect, self._fetched)
            try:
                yield made
            finally:
                made.drop()

    def public(self, query: Query) -> pa.Table:
        """The result of a query over public tables, in the types that it names."""
        with sealed(), quiet():
            return _typed(self._fetched(self._session.sql(query.sql)), query)

    def is_unique(self, table: str, columns: tuple[str, ...]) -> bool:
        """Return True if no two rows agree on `columns` now."""
        return bool(self.public(repeated(self.dialect, table, columns)).num_rows == 0)

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit the time of each fetch; the memory is that of the Spark that runs."""
        self._limits = limits

    def cancel(self) -> None:
        """Interrupt every statement that runs."""
        with self._lock:
            running = sorted(self._tags)
            self._stopped |= self._tags
        with sealed(), quiet():
            for tag in running:
                self._tagging.stop(tag)

    def close(self) -> None:
        """Stop what we started; what was handed in goes on."""
        if self._let_go is not None:
            with sealed(), quiet():
                self._let_go()
            self._let_go = None

    def _fetched(self, frame: Frame) -> pa.Table:
        """The rows of a frame. Its jobs are tagged, and nothing else: what cleans up is not to be stopped."""
        tag = f"hedgerow-{secrets.token_hex(8)}"
        self._tagging.add(tag)
        with self._lock:
            self._tags.add(tag)
        try:
            with stop_after(self._limits.seconds, lambda: self._tagging.stop(tag)):
                return frame.toArrow()
        except HedgerowError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever Java says
            if tag in self._stopped:
                raise failure(error, "cancelled") from None
            raise failure(error, "out-of-memory" if _ran_out(error) else "engine-failed") from None
        finally:
            with self._lock:
                self._tags.discard(tag)
                self._stopped.discard(tag)
            self._tagging.remove(tag)


def _ran_out(error: Exception) -> bool:
    """Return True if memory was too small, by the classes of Java's errors: their messages may quote values.

    Of a server of Spark Connect only the condition is known.
    """
    condition = getattr(error, "getCondition", None)
    if condition is not None and condition() in NO_MEMORY:
        return True
    cause, depth = getattr(error, "_origin", None) or getattr(error, "java_exception", None), 0
    while cause is not None and depth < MOST_CAUSES:
        if cause.getClass().getName() in NO_MEMORY:
            return True
        cause, depth = cause.getCause(), depth + 1
    return False


class _Snapshot:
    """The state of the files as they are."""

    def __init__(self, session: Session, dialect: Dialect, fetched: Callable[[Frame], pa.Table]) -> None:
        self._session = session
        self._dialect = dialect
        self._fetched = fetched
        self._views: dict[str, str] = {}

    def table(self, name: str) -> SchemaTable | None:
        return read_table(self._session, name, self._dialect)

    def load(self, name: str, table: pa.Table) -> None:
        """As a view of a name that nobody else has: other statements run in the same session."""
        view = f"{name}_{secrets.token_hex(8)}"
        with staying_active():
            rows = self._session.createDataFrame(table, _spark_types(table.schema))
        rows.hint("broadcast").createTempView(view)
        self._views[name] = view

    def run(self, query: Query) -> ExactTable:
        with script(self._session, query.sql, self._views) as result:
            found = self._fetched(result)
        return ExactTable(_typed(found, query), query.keys, query.integers)

    def drop(self) -> None:
        for view in self._views.values():
            self._session.catalog.dropTempView(view)


def _typed(table: pa.Table, query: Query) -> pa.Table:
    """The keys in the types of the plan."""
    for name, kind in zip(query.keys, query.types, strict=False):
        place = table.schema.get_field_index(name)
        if table.schema.field(place).type != kind:
            table = table.set_column(place, name, table.column(place).cast(kind))
    return table


def _spark_types(schema: pa.Schema) -> Any:  # noqa: ANN401 - a StructType of PySpark
    """The same columns as Spark's types: timestamps without a time zone, whatever the session prefers."""
    types = pyspark().types
    return types.StructType([types.StructField(field.name, _spark_type(field.type, types)) for field in schema])


def _spark_type(kind: pa.DataType, types: Any) -> Any:  # noqa: ANN401 - see above
    if pa.types.is_decimal(kind):
        return types.DecimalType(kind.precision, kind.scale)
    known = {
        pa.bool_(): types.BooleanType,
        pa.int64(): types.LongType,
        pa.float64(): types.DoubleType,
        pa.string(): types.StringType,
        pa.date32(): types.DateType,
        pa.timestamp("us"): types.TimestampNTZType,
    }
    return known[kind]()
