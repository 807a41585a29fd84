"""A backend over one SparkSession, classic or of Spark Connect, and its schema.

Spark enforces neither keys nor NOT NULL, so the schema reports none.
"""

import re
import secrets
import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from hedgerow.backends.base import Backend, Snapshot, failure, sealed
from hedgerow.backends.facts import KeptFacts, ReadsFacts, file_state
from hedgerow.backends.results import stop_after
from hedgerow.backends.spark.driver import Frame, Session, checked, pyspark, quiet, script, staying_active, tagging
from hedgerow.compiled import Query
from hedgerow.dialects import Dialect
from hedgerow.dialects.spark import SPARK
from hedgerow.dialects.statement import Computed
from hedgerow.errors import HedgerowError
from hedgerow.expressions.table_names import full_name, parts_of, short_name, table_name
from hedgerow.expressions.types import Type
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

TYPES: Mapping[str, Type] = {
    "boolean": Type.BOOLEAN,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Type.INTEGER),
    **dict.fromkeys(("float", "double"), Type.FLOAT),
    "string": Type.TEXT,
    "date": Type.DATE,
    "timestamp_ntz": Type.TIMESTAMP,
    "timestamp": Type.TIMESTAMP,
}
DECIMAL = re.compile(r"decimal\(\d+,\d+\)")
PADDED = "__CHAR_VARCHAR_TYPE_STRING"


def temporary_views(session: Any) -> frozenset[str]:  # noqa: ANN401 - a session of either kind
    """Return the names of the temporary views."""
    return frozenset(table_name(table.name) for table in session.catalog.listTables() if table.isTemporary)


def read_schema(session: Any, dialect: Dialect, declared: Iterable[str]) -> Schema:  # noqa: ANN401 - likewise
    """Return the tables of the current database, temporary views, and declared tables of other databases.

    Tables that Spark cannot read are omitted. Other databases are not listed: they may hold thousands of tables.
    """
    here = [table_name(table.name) for table in session.catalog.listTables()]
    elsewhere = [short_name(full_name(name, dialect.namespace), dialect.namespace) for name in declared]
    tables = {name: read_table(session, name, dialect) for name in dict.fromkeys([*here, *elsewhere])}
    return Schema({name: table for name, table in tables.items() if table is not None}, dialect.namespace)


def read_table(session: Any, name: str, dialect: Dialect) -> SchemaTable | None:  # noqa: ANN401 - likewise
    """Return one table by its name; None if it cannot be read."""
    try:
        fields = session.table(dialect.table(name)).schema.fields
    except Exception:  # noqa: BLE001 - one broken view must not hide all other tables
        return None
    return SchemaTable(name, {field.name: _column(field) for field in fields})


def bucket_column(session: Any, table: str) -> str | None:  # noqa: ANN401 - likewise
    """Return the column by whose hash a table is divided into files, if it is one. Only time depends on it."""
    try:
        buckets = [column.name for column in session.catalog.listColumns(table) if column.isBucket]
    except Exception:  # noqa: BLE001 - not every catalog can list columns
        return None
    return buckets[0] if len(buckets) == 1 else None


def _column(field: Any) -> SchemaColumn:  # noqa: ANN401 - a field of PySpark
    """Return one column. CHAR and text with a collation have other rules of comparison, so they are hidden."""
    native = field.dataType.simpleString()
    kind = Type.DECIMAL if DECIMAL.fullmatch(native) else TYPES.get(native, Type.OTHER)
    if str((field.metadata or {}).get(PADDED, "")).startswith("char"):
        kind = Type.OTHER
    instant = native == "timestamp"
    shown = "TIMESTAMP_LTZ" if instant else native.upper()
    return SchemaColumn(field.name, kind, shown, collated=kind is not Type.TEXT, instant=instant)


NO_MEMORY = frozenset(
    {"java.lang.OutOfMemoryError", "org.apache.spark.memory.SparkOutOfMemoryError", "UNABLE_TO_ACQUIRE_MEMORY"}
)
"""Java classes and Spark conditions of errors when memory runs out."""

MAX_CAUSES = 20
"""Maximum length of a chain of causes, which may be circular in Java."""


class Spark(Backend):
    """Spark SQL.

    Only SELECT statements are sent, without functions of ours, and only aggregated cells come back. Statements of
    several threads run concurrently in one session; each fetch is tagged so that it can be cancelled.
    """

    def __init__(
        self,
        session: Session,
        *,
        handed_in: bool,
        let_go: Callable[[], None] | None = None,
        files: Mapping[str, tuple[Path, ...]] = MappingProxyType({}),
        prepared: Path | None = None,
    ) -> None:
        """Use a session.

        `files` are the files that its tables are read from, by name, if these are known; `prepared` is the file beside
        them in which the owner may keep facts.
        """
        pyspark()
        with sealed(), quiet():
            self._session = checked(session)
            self._tagging = tagging(session)
            self.dialect = SPARK.at(session.catalog.currentCatalog(), session.catalog.currentDatabase())
        self.dialect.crowds_first = bool(files)
        self._files = files
        self.facts = KeptFacts(prepared)
        self._declared: tuple[str, ...] = ()
        self._let_go = let_go
        self._lock = threading.Lock()
        self._tags: set[str] = set()
        self._stopped: set[str] = set()
        self._limits = UNDECLARED
        self.handed_in = handed_in

    def schema(self) -> Schema:
        """Return tables of the current database, temporary views, and declared tables of other databases."""
        with sealed(), quiet():
            self.dialect.temporary = temporary_views(self._session)
            schema = read_schema(self._session, self.dialect, self._declared)
            stored = [name for name in schema.tables if name not in self.dialect.temporary]
            buckets = {name: bucket_column(self._session, self.dialect.table(name)) for name in stored}
            self.dialect.bucketed = {name: column for name, column in buckets.items() if column is not None}
            return schema

    def reach(self, names: Iterable[str]) -> None:
        """Store the tables that a catalog declares: those with a schema in their names are read as well."""
        self._declared = tuple(name for name in names if len(parts_of(name)) > 1)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open a snapshot without a transaction; docs/how-to/connect-spark.md describes the guarantees."""
        with sealed(), quiet():
            snapshot = _SparkSnapshot(self._session, self, self._fetched)
            try:
                yield snapshot
            finally:
                snapshot.drop()

    def public(self, query: Query) -> pa.Table:
        """Return the result of a query over public tables, in the query's types."""
        with sealed(), quiet():
            return _typed(self._fetched(self._session.sql(query.sql)), query)

    def keeps_facts(self, tables: Collection[str]) -> bool:
        """Return True if these tables are files of a folder that we opened.

        Tables of a session that is passed in have no version that we could ask for, and a view may depend on the time.
        """
        return bool(self._files) and all(table in self._files for table in tables)

    def state(self, tables: Collection[str]) -> Hashable | None:
        """Return an identity of the files of these tables; None if one of them changed only just now."""
        if not self.keeps_facts(tables):
            return None
        return file_state([path for table in sorted(tables) for path in self._files[table]], locked=False)

    def all_files(self) -> Hashable | None:
        """Return an identity of the files of all tables."""
        return file_state([path for paths in self._files.values() for path in paths], locked=True)

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit the time of each fetch; memory is limited by Spark's own configuration."""
        self._limits = limits

    def cancel(self) -> None:
        """Cancel all running statements."""
        with self._lock:
            running = sorted(self._tags)
            self._stopped |= self._tags
        with sealed(), quiet():
            for tag in running:
                self._tagging.stop(tag)

    def close(self) -> None:
        """Stop the session if we started it."""
        if self._let_go is not None:
            with sealed(), quiet():
                self._let_go()
            self._let_go = None

    def _fetched(self, frame: Frame) -> pa.Table:
        """Fetch the rows of a frame. Only its jobs are tagged, so that cleaning up cannot be cancelled."""
        tag = f"hedgerow-{secrets.token_hex(8)}"
        self._tagging.add(tag)
        with self._lock:
            self._tags.add(tag)
        try:
            with stop_after(self._limits.seconds, lambda: self._tagging.stop(tag)):
                return frame.toArrow()
        except HedgerowError:
            raise
        except Exception as error:  # noqa: BLE001 - any error of Java
            if tag in self._stopped:
                raise failure(error, "cancelled") from None
            raise failure(error, "out-of-memory" if _ran_out(error) else "engine-failed") from None
        finally:
            with self._lock:
                self._tags.discard(tag)
                self._stopped.discard(tag)
            self._tagging.remove(tag)


def _ran_out(error: Exception) -> bool:
    """Return True if memory ran out, by the classes of Java's errors: their messages may quote values.

    For Spark Connect only the condition is known.
    """
    condition = getattr(error, "getCondition", None)
    if condition is not None and condition() in NO_MEMORY:
        return True
    cause, depth = getattr(error, "_origin", None) or getattr(error, "java_exception", None), 0
    while cause is not None and depth < MAX_CAUSES:
        if cause.getClass().getName() in NO_MEMORY:
            return True
        cause, depth = cause.getCause(), depth + 1
    return False


class _SparkSnapshot(ReadsFacts):
    """Statements of one query over the current files."""

    def __init__(self, session: Session, backend: Spark, fetched: Callable[[Frame], pa.Table]) -> None:
        self._session = session
        self._backend = backend
        self.facts = backend.facts
        self._fetched = fetched
        self._views: dict[str, str] = {}
        self._created: list[str] = []

    def table(self, name: str) -> SchemaTable | None:
        return read_table(self._session, name, self._backend.dialect)

    def load(self, name: str, table: pa.Table) -> None:
        """Load a table as a view with a unique name: other statements run in the same session."""
        view = f"{name}_{secrets.token_hex(8)}"
        with staying_active():
            rows = self._session.createDataFrame(table, _spark_types(table.schema))
        rows.hint("broadcast").createTempView(view)
        self._created.append(view)
        self._views[name] = view

    def read(self, query: Query, state: Hashable | None = None) -> pa.Table:  # noqa: ARG002 - files are compared
        """Return the result of a statement; refuse it if it read files twice that changed in between.

        Privacy: an owner who gains rows between the two would not be weighted for them.
        """
        before = self._backend.all_files()
        with script(self._session, query, self._views, self._fetched) as result:
            table = self._fetched(result)
        computed_first = any(step.computed is Computed.FIRST for step in query.parts.steps)
        if computed_first and (before is None or self._backend.all_files() != before):
            raise failure(OSError("A file changed while a statement read it."), "schema-changed")
        return _typed(table, query)

    def state(self, tables: Collection[str]) -> Hashable | None:
        return self._backend.state(tables)

    def drop(self) -> None:
        for view in self._created:
            self._session.catalog.dropTempView(view)


def _typed(table: pa.Table, query: Query) -> pa.Table:
    """Cast keys to the types of the plan."""
    for name, kind in zip(query.keys, query.types, strict=False):
        index = table.schema.get_field_index(name)
        if table.schema.field(index).type != kind:
            table = table.set_column(index, name, table.column(index).cast(kind))
    return table


def _spark_types(schema: pa.Schema) -> Any:  # noqa: ANN401 - a StructType of PySpark
    """Return a schema in Spark's types, with timestamps without a time zone whatever the session's default."""
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
