"""Databases that we open cannot be opened further, not even by a statement of our own."""

import duckdb
import pyarrow as pa
import pytest

from hedgerow.errors import BackendError

from ...internals import session_of

pytestmark = pytest.mark.hostile

SETTINGS = [
    "SET threads = 1",
    "SET memory_limit = '1TB'",
    "SET temp_directory = '{place}'",
    "SET enable_external_access = true",
    "SET allowed_directories = ['{place}']",
    "SET lock_configuration = false",
    "RESET lock_configuration",
    "SET GLOBAL python_enable_replacements = true",
    "PRAGMA enable_profiling",
    "PRAGMA profiling_output = '{place}/profile'",
    "CALL enable_logging()",
    "CALL enable_logging(storage = 'file', storage_path = '{place}')",
]
FILES = [
    "ATTACH '{place}/new.duckdb' AS new",
    "ATTACH '{place}/other.duckdb' AS other (READ_ONLY)",
    "COPY (SELECT 1) TO '{place}/out.csv'",
    "EXPORT DATABASE '{place}/out'",
    "IMPORT DATABASE '{place}'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{place}/x.duckdb_extension'",
    "CREATE SECRET (TYPE s3)",
    "SELECT * FROM read_csv('{place}/there.csv')",
    "SELECT * FROM read_text('{place}/there.csv')",
    "SELECT * FROM read_blob('{place}/there.csv')",
    "SELECT * FROM read_json('{place}/there.csv')",
    "SELECT * FROM sniff_csv('{place}/there.csv')",
    "SELECT * FROM glob('{place}/*')",
    "SELECT * FROM '{place}/there.csv'",
    "SELECT * FROM parquet_metadata('{place}/there.parquet')",
    "SELECT getenv('HOME')",
    "SELECT * FROM a_variable_of_python",
]
CHANGES = [
    "INSERT INTO numbers VALUES (1000)",
    "UPDATE numbers SET n = 0",
    "DELETE FROM numbers",
    "DROP TABLE numbers",
    "ALTER TABLE numbers ADD COLUMN m INTEGER",
    "CREATE TABLE y (a INTEGER)",
    "CREATE VIEW y AS SELECT 1",
    "CREATE MACRO m(x) AS x",
    "CREATE SEQUENCE s",
    "ATTACH ':memory:' AS m",
]


@pytest.fixture
def place(tmp_path):
    """A folder with files that are there to be read, if anything could."""
    (tmp_path / "there.csv").write_text("a,b\n1,2\n")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("CREATE TABLE t AS SELECT 1 AS x")
    return tmp_path


def files_in(place):
    return {path.name for path in place.iterdir()}


def refused(connection, statement, place):
    before = files_in(place)
    a_variable_of_python = pa.table({"x": [1]})
    with pytest.raises(duckdb.Error):
        connection.cursor().execute(statement.format(place=place)).fetchall()
    assert a_variable_of_python.num_rows == 1
    assert files_in(place) == before


def test_an_open_engine_would_do_most_of_this(place):
    """The lists below mean something: without the locks nearly all of it succeeds."""
    done = 0
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE numbers (n BIGINT)")
        for statement in SETTINGS[:6] + [text for text in FILES if "place" in text] + CHANGES:
            try:
                connection.cursor().execute(statement.format(place=place)).fetchall()
                done += 1
            except duckdb.Error:
                continue
    assert done >= 20


@pytest.mark.parametrize("statement", SETTINGS + FILES + CHANGES)
def test_a_file_that_we_open_is_read_only_and_locked(file_shop, place, statement):
    refused(session_of(file_shop).backend._connection, statement, place)


@pytest.mark.parametrize("statement", SETTINGS + FILES)
def test_the_engine_after_the_noise_reaches_no_file_and_no_setting(postprocess_engine, place, statement):
    refused(postprocess_engine._open(), statement, place)


def test_the_engine_after_the_noise_knows_no_table_of_the_shop(postprocess_engine):
    for name in ("customers", "countries", "main.customers", "hedgerow_selected"):
        with pytest.raises(duckdb.Error):
            postprocess_engine._open().cursor().execute(f"SELECT * FROM {name}")


def test_both_say_that_they_are_locked(file_shop, postprocess_engine):
    for connection in (session_of(file_shop).backend._connection, postprocess_engine._open()):
        for name, value in {"enable_external_access": False, "lock_configuration": True}.items():
            assert connection.cursor().execute(f"SELECT current_setting('{name}')").fetchone() == (value,)
    actual = (
        session_of(file_shop).backend._connection.cursor().execute("SELECT current_setting('access_mode')").fetchone()
    )
    assert actual == ("read_only",)


def test_the_postprocess_engine_writes_nothing_to_disk(postprocess_engine, tmp_path, monkeypatch):
    """Data that does not fit into memory fails; it is not written to files beside the program."""
    monkeypatch.chdir(tmp_path)
    many = "SELECT DISTINCT a.i * 1000003 + b.i, repeat('x', 200) FROM range(4000) AS a(i), range(4000) AS b(i)"
    with pytest.raises(BackendError):
        postprocess_engine.run(f"SELECT COUNT(*) FROM ({many})", {})
    assert list(tmp_path.iterdir()) == []
