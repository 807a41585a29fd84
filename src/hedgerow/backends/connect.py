"""From what the caller hands in to a backend."""

import os
from pathlib import Path

import duckdb

from hedgerow.backends.base import Backend
from hedgerow.backends.duckdb import DuckDB, open_file
from hedgerow.errors import BackendError


def connect_backend(source: object) -> Backend:
    """The backend for a path, a `duckdb:///` URL or an open DuckDB connection."""
    if isinstance(source, duckdb.DuckDBPyConnection):
        return DuckDB(source, handed_in=True)
    if isinstance(source, str) and source.startswith("duckdb:///"):
        return open_file(Path(source.removeprefix("duckdb:///")))
    if isinstance(source, str | os.PathLike) and "://" not in str(source):
        return open_file(Path(source))
    raise BackendError(
        f"A source of this kind ({type(source).__name__}) is not supported.",
        code="unknown-source",
        hint="Pass the path of a DuckDB file, a duckdb:/// URL or an open DuckDB connection.",
    )
