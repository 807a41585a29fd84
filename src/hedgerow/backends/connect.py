"""From a source (a path, URL, connection or table) to a backend.

A source is recognised by its type, its scheme or the kind of file. Only the library it belongs to is loaded.
"""

import glob
import os
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import duckdb

from hedgerow.backends.base import Backend
from hedgerow.backends.duckdb import DuckDB, open_file, open_url
from hedgerow.errors import BackendError
from hedgerow.limits import UNDECLARED, StatementLimits

PARTS_OF_A_BACKEND = (
    "dialect",
    "handed_in",
    "schema",
    "snapshot",
    "public",
    "is_unique",
    "set_limits",
    "cancel",
    "close",
)
SQLITE_FILE = b"SQLite format 3\x00"
"""First bytes of every SQLite file."""


def connect_backend(source: object, limits: StatementLimits = UNDECLARED, declared: Iterable[str] = ()) -> Backend:
    """Return the backend for a source, with the owner's limits applied: see docs/reference/engines.md.

    `declared` are the tables of the catalog, for engines that cannot list those of every schema.
    """
    backend = _backend(source)
    try:
        backend.set_limits(limits)
        if hasattr(backend, "reach"):
            backend.reach(declared)
    except BaseException:
        backend.close()
        raise
    return backend


def _backend(source: object) -> Backend:
    if all(hasattr(source, part) for part in PARTS_OF_A_BACKEND):
        return cast("Backend", source)
    if isinstance(source, duckdb.DuckDBPyConnection):
        return DuckDB(source, handed_in=True)
    if isinstance(source, Mapping):
        return _from("frames", "open_frames", source)
    if isinstance(source, str | os.PathLike):
        return _opened(os.fspath(source))
    for kind in type(source).__mro__:
        known = OBJECTS.get((kind.__module__.partition(".")[0], kind.__name__))
        if known is not None:
            return known(source)
    raise _unknown(type(source).__name__)


def _from(module: str, function: str, *arguments: object, **options: object) -> Backend:
    """Open a source with a module of this package, which is loaded only now together with its driver."""
    backend: Backend = getattr(import_module(f"hedgerow.backends.{module}"), function)(*arguments, **options)
    return backend


def _opened(source: str) -> Backend:
    """Open a URL or a path."""
    scheme, separator, _ = source.partition("://")
    if separator:
        if scheme not in SCHEMES:
            raise _unknown(f"a URL with {scheme}://")
        return SCHEMES[scheme](source)
    if source == "spark" or source.startswith("chdb:"):
        return SCHEMES[source.partition(":")[0]](source)
    path = Path(source)
    if path.is_dir():
        return _from("folder", "open_folder", path)
    if path.is_file():
        return _opened_file(path)
    return _from("folder", "open_files", source) if glob.has_magic(source) else open_file(path)


def _opened_file(path: Path) -> Backend:
    """Open a file, by its extension or its first bytes."""
    if path.suffix.lower() in {".parquet", ".csv", ".tsv"}:
        return _from("folder", "open_files", glob.escape(str(path)))
    with path.open("rb") as file:
        return _from("sqlite", "open_sqlite", path) if file.read(16) == SQLITE_FILE else open_file(path)


def _file_of(url: str) -> Path:
    return Path(url.partition(":///")[2])


SCHEMES: Mapping[str, Callable[[str], Backend]] = {
    "duckdb": open_url,
    "sqlite": lambda url: _from("sqlite", "open_sqlite", _file_of(url)),
    "postgresql": lambda url: _from("postgres", "open_postgres", url),
    "postgres": lambda url: _from("postgres", "open_postgres", url),
    "clickhouse": lambda url: _from("clickhouse", "open_clickhouse", url),
    "clickhouses": lambda url: _from("clickhouse", "open_clickhouse", url),
    "chdb": lambda url: _from("clickhouse", "open_chdb", url),
    "spark": lambda url: _from("spark", "open_spark", url),
    "sc": lambda url: _from("spark", "open_spark", url),
}
"""Openers by the scheme of a URL, and of `chdb:…` and `spark`, which are not URLs."""


def _from_ibis(source: Any) -> Backend:  # noqa: ANN401 - a backend of Ibis
    """Return our own backend for the engine that Ibis wraps, if there is one; otherwise the backend for Ibis."""
    native = NATIVE.get(source.name)
    return native(source) if native is not None else _from("ibis", "Ibis", source)


NATIVE: Mapping[str, Callable[[Any], Backend]] = {
    "duckdb": lambda source: DuckDB(source.con, handed_in=True),
    "sqlite": lambda source: _from("sqlite", "SQLite", source.con),
    "postgres": lambda source: _from("postgres", "Postgres", source.con, handed_in=True),
    "clickhouse": lambda source: _from("clickhouse", "over_client", source.con),
    "pyspark": lambda source: _from("spark", "Spark", source._session, handed_in=True),  # noqa: SLF001 - Ibis offers no other way
}
"""Openers by Ibis's name of an engine."""

OBJECTS: Mapping[tuple[str, str], Callable[[Any], Backend]] = {
    ("sqlite3", "Connection"): lambda source: _from("sqlite", "SQLite", source),
    ("psycopg", "Connection"): lambda source: _from("postgres", "Postgres", source, handed_in=True),
    ("pyspark", "SparkSession"): lambda source: _from("spark", "Spark", source, handed_in=True),
    ("chdb", "Session"): lambda source: _from("clickhouse", "over_chdb", source),
    ("chdb", "Connection"): lambda source: _from("clickhouse", "over_chdb", source),
    ("clickhouse_connect", "Client"): lambda source: _from("clickhouse", "over_client", source),
    ("ibis", "BaseBackend"): _from_ibis,
}
"""Openers by library and name of a class or one of its base classes."""


def _unknown(what: str) -> BackendError:
    return BackendError(
        f"A source of this kind ({what}) is not supported.",
        code="unknown-source",
        hint="Pass a path, a folder of Parquet or CSV files, a URL, an open connection, or {name: table}.",
    )
