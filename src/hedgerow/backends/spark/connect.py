"""From an address to a backend: a folder read by a session of our own, or a server of Spark Connect."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import parse_qs, urlsplit

from hedgerow.backends.base import failure
from hedgerow.backends.lakehouse import LakehouseTable, is_lakehouse, lakehouse_table
from hedgerow.backends.spark.backend import Spark
from hedgerow.backends.spark.driver import Session, checked, pyspark, quiet, remote_sessions
from hedgerow.errors import BackendError
from hedgerow.expressions.table_names import table_name

STARTED = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.log.level": "OFF",
    "spark.executor.killOnFatalError.depth": "0",
}
"""Settings of a Spark that we start: it listens only on this machine, logs nothing, and a task that runs out of memory
does not end Spark's process."""

LOCKED = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.aggregate.fastHashMap.capacityBit": "20",
    "spark.sql.variable.substitute": "false",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
}
"""Settings of a session that we open. Partition columns are text: their types are not inferred from values.

To group millions of rows by person, the first of Spark's two hash tables must be large: one for 2^20 groups takes
half of the processor time of one for 2^16, the default.
"""

CONNECT_PORT = 15002
_lock = threading.Lock()
_users = [0]


def open_spark(url: str) -> Spark:
    """Open `spark` (the active session), `spark:///folder`, or `sc://host:port` (also written `spark://host:port`).

    After a folder, `?cores=2&memory=4g` limits a Spark that is started here.
    """
    if url == "spark":
        return _active()
    parts = urlsplit(url)
    if parts.scheme == "spark" and not parts.netloc:
        return _folder(Path(parts.path), {name: values[-1] for name, values in parse_qs(parts.query).items()})
    return _remote(url)


def _active() -> Spark:
    session = pyspark().SparkSession.getActiveSession()
    if session is None:
        raise BackendError(
            "There is no active Spark session.", code="no-database", hint="Pass a folder, as in spark:///data."
        )
    return Spark(session, handed_in=True)


def _remote(url: str) -> Spark:
    """Connect to Spark Connect; PySpark's own scheme is `sc://`."""
    sessions = remote_sessions()
    address = url.replace("spark://", "sc://", 1)
    host = urlsplit(address)
    if host.port is None:
        address = address.replace(f"sc://{host.netloc}", f"sc://{host.netloc}:{CONNECT_PORT}", 1)
    with quiet():
        try:
            session = _reached(sessions(connection=address))
        except BackendError:
            raise
        except Exception as error:  # noqa: BLE001 - the client fails in many ways
            raise _cannot_connect(error) from None
    return Spark(session, handed_in=False, let_go=session.stop)


def _reached(session: Session) -> Session:
    """Return the session after its server has answered; by default the client would retry for ten minutes."""
    policies = session.client.get_retry_policies()
    session.client.set_retry_policies([])
    try:
        checked(session)
    except Exception:
        session.stop()
        raise
    session.client.set_retry_policies(policies)
    return session


def _cannot_connect(error: Exception) -> BackendError:
    """Return the error without the client's message: the address may contain a token."""
    reason = failure(error)
    return BackendError(
        f"No Spark server answers at that address (incident {reason.incident}).",
        code="no-server",
        hint=f"Check host and port. {reason.hint}",
        incident=reason.incident,
    )


def _folder(folder: Path, options: dict[str, str]) -> Spark:
    if not folder.is_dir():
        raise BackendError(f"There is no folder at {folder}.", code="no-database", hint="Check the path.")
    tables = list(_tables(folder))
    session, let_go = _local(options)
    with quiet():
        try:
            for table in tables:
                _read(session, table).createOrReplaceTempView(f"`{table.name.replace('`', '``')}`")
        except Exception as error:  # noqa: BLE001 - any problem with a file
            let_go()
            raise _cannot_read(folder, error) from None
    files = {table_name(table.name.lower()): _files(table) for table in tables}
    return Spark(session, handed_in=False, let_go=let_go, files=files, prepared=folder / ".hedgerow.spark.facts")


def _read(session: Session, table: "_Table") -> Any:  # noqa: ANN401 - a DataFrame
    if table.lakehouse is None:
        return session.read.parquet(f"file://{table.path}")
    reader = session.read.option("mergeSchema", "true")  # NULL for columns that were added later
    if table.lakehouse.partition_types:
        reader = reader.option("basePath", f"file://{table.path}")
    read = reader.parquet(*(f"file://{path}" for path in table.lakehouse.paths))
    typed = {f"`{name.replace('`', '``')}`": kind for name, kind in table.lakehouse.partition_types.items() if kind}
    columns = [f"`{name.replace('`', '``')}`" for name in read.columns]
    return read.selectExpr(
        *(f"TRY_CAST({name} AS {typed[name]}) AS {name}" if name in typed else name for name in columns)
    )


def _files(table: "_Table") -> tuple[Path, ...]:
    """Return the files of a table, which is a file or a folder."""
    if table.lakehouse is not None:
        return table.lakehouse.paths
    entries = sorted(table.path.rglob("*")) if table.path.is_dir() else [table.path]
    return tuple(entry for entry in entries if entry.is_file())


def _cannot_read(folder: Path, error: Exception) -> BackendError:
    incident = failure(error).incident
    return BackendError(
        f"{folder} cannot be read as Parquet (incident {incident}).",
        code="not-a-database",
        hint="Every file or subfolder must be a table in Parquet.",
        incident=incident,
    )


@dataclass(frozen=True)
class _Table:
    name: str
    path: Path
    lakehouse: LakehouseTable | None = None


def _tables(folder: Path) -> Iterator[_Table]:
    """Yield a table for every subfolder and Parquet file; names that begin with `.` or `_` are skipped."""
    seen = set[str]()
    whole = folder.resolve()
    for entry in [whole] if is_lakehouse(whole) else sorted(whole.iterdir()):
        name = entry.name if entry.is_dir() else entry.stem
        if entry.name.startswith((".", "_")) or not (entry.is_dir() or entry.suffix == ".parquet"):
            continue
        if name.lower() in seen or any(wildcard in str(entry) for wildcard in "*?[]{}\\"):
            raise BackendError(
                f"The name {entry.name} can refer to several files.",
                code="not-a-database",
                hint="Give every table a unique name without *, ?, brackets and braces.",
            )
        seen.add(name.lower())
        lakehouse = lakehouse_table(entry) if entry.is_dir() else None
        if lakehouse is None or lakehouse.paths:
            yield _Table(name, entry, lakehouse)


def _local(options: dict[str, str]) -> tuple[Session, Callable[[], None]]:
    """Open a session of our own, in the Spark of this process or in one that we start."""
    sessions = pyspark().SparkSession
    with _lock, quiet():
        running = _running(sessions)
        if running is not None and _users[0] == 0:
            return _configured(running.newSession(), options), lambda: None
        try:
            session = running.newSession() if running is not None else _started(sessions, options)
        except Exception as error:  # noqa: BLE001 - Java is missing, old, or out of memory
            raise _cannot_start(error) from None
        _users[0] += 1
        return _configured(session, options), partial(_release, session)


def _running(sessions: Any) -> Session | None:  # noqa: ANN401 - a class of PySpark
    """Return the existing session, unless its Spark was stopped; `getOrCreate` would change its settings."""
    session = sessions._instantiatedSession  # noqa: SLF001 - see above
    return None if session is None or session.sparkContext._jsc is None else session  # noqa: SLF001 - see above


def _release(session: Session) -> None:
    """Release a session and, with the last one, stop the Spark that we started."""
    with _lock:
        _users[0] -= 1
        if _users[0] == 0:
            warehouse = session.conf.get("spark.sql.warehouse.dir")
            session.stop()
            shutil.rmtree(str(warehouse).removeprefix("file:"), ignore_errors=True)


def _started(sessions: Any, options: dict[str, str]) -> Session:  # noqa: ANN401 - a class of PySpark
    builder = sessions.builder.master(f"local[{options.get('cores', '*')}]").appName("hedgerow")
    warehouse = mkdtemp(prefix="hedgerow-spark-")
    settings = {**STARTED, "spark.sql.warehouse.dir": warehouse, "spark.driver.memory": options.get("memory", "2g")}
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _configured(session: Session, options: dict[str, str]) -> Session:
    cores = options.get("cores", "*")
    count = int(cores) if cores.isdigit() else os.cpu_count() or 1
    for name, value in {**LOCKED, "spark.sql.shuffle.partitions": str(2 * count)}.items():
        session.conf.set(name, value)
    return session


def _cannot_start(error: Exception) -> BackendError:
    reason = failure(error)
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return BackendError("Spark needs Java, which is not installed.", code="driver-missing", hint="Install Java 17.")
    return BackendError(
        f"Spark could not be started (incident {reason.incident}).",
        code="engine-failed",
        hint=f"Spark 4 needs Java 17. {reason.hint}",
        incident=reason.incident,
    )
