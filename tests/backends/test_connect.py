"""The backend of each kind of source; and that no library is loaded that is not needed."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from hedgerow.backends import connect_backend
from hedgerow.backends.connect import OBJECTS, SCHEMES
from hedgerow.backends.duckdb import DuckDB
from hedgerow.errors import BackendError

OPTIONAL = ["chdb", "clickhouse_connect", "ibis", "pandas", "polars", "psycopg", "pyspark"]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "shop.duckdb"
    duckdb.connect(str(path)).execute("CREATE TABLE t (a INTEGER)").close()
    return path


@pytest.mark.parametrize("spelled", [str, Path, lambda path: f"duckdb:///{path}"])
def test_a_duckdb_file_is_opened_by_path_or_url(database, spelled):
    backend = connect_backend(spelled(database))
    assert isinstance(backend, DuckDB)
    assert not backend.handed_in
    assert set(backend.schema().tables) == {"t"}
    backend.close()


def test_a_backend_is_a_source(database):
    backend = connect_backend(database)
    assert connect_backend(backend) is backend
    backend.close()


def test_an_open_duckdb_connection_stays_the_owners():
    with duckdb.connect(":memory:") as connection:
        assert connect_backend(connection).handed_in


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(BackendError) as refused:
        connect_backend(tmp_path / "nothing.duckdb")
    assert refused.value.code == "no-database"


@pytest.mark.parametrize("source", [None, 3, object(), ["a"], "oracle://host/db", "http://example.org/x.parquet"])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(BackendError) as refused:
        connect_backend(source)
    assert refused.value.code == "unknown-source"


def test_a_url_with_a_password_is_never_repeated():
    with pytest.raises(BackendError) as refused:
        connect_backend("oracle://me:secret@host/db")
    assert "secret" not in str(refused.value)


def test_a_sqlite_file_is_told_by_how_it_begins(tmp_path):
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    connection.close()
    backend = connect_backend(tmp_path / "shop.db")
    assert type(backend).__name__ == "SQLite"
    assert set(backend.schema().tables) == {"t"}
    backend.close()


def test_a_sqlite_connection_stays_the_owners():
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    backend = connect_backend(connection)
    assert type(backend).__name__ == "SQLite"
    assert backend.handed_in
    connection.close()


def test_every_scheme_and_every_kind_of_connection_leads_to_a_backend_that_is_there():
    routes = (Path(__file__).parents[2] / "src" / "hedgerow" / "backends" / "connect.py").read_text(encoding="utf-8")
    assert len(SCHEMES) >= 9
    assert len(OBJECTS) >= 7
    import re  # noqa: PLC0415 - only here
    from importlib import import_module  # noqa: PLC0415 - likewise

    for module, name in set(re.findall(r'_from\("(\w+)", "(\w+)"', routes)):
        assert callable(getattr(import_module(f"hedgerow.backends.{module}"), name)), (module, name)


def test_hedgerow_and_a_duckdb_file_load_no_optional_library(database):
    code = (
        "import sys, hedgerow\n"
        "from hedgerow.backends import connect_backend\n"
        f"connect_backend({str(database)!r}).close()\n"
        f"print([name for name in {OPTIONAL!r} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert ran.stdout.strip() == "[]"
