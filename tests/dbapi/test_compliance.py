"""The public compliance suite of PEP 249, over public tables, which are exact. Statements that write cannot be run."""

import tempfile
from pathlib import Path

import dbapi20
import duckdb
import pytest

from hedgerow import dbapi

CATALOG = """\
dataset: bar
budget: {epsilon: 1, delta: 1e-6}
defaults: {epsilon: 0.1, delta: 1e-8}
tables:
  dbapi20test_booze: {public: true}
  dbapi20test_barflys: {public: true}
"""
WRITES = "it inserts rows in its own words, and hedgerow never writes"
EXCLUDED = {
    "test_cursor_isolation": WRITES,
    "test_rowcount": WRITES,
    "test_execute": WRITES,
    "test_executemany": WRITES,
    "test_fetchone": WRITES,
    "test_None": WRITES,
    "test_nextset": "the suite leaves it to drivers with several result sets: nextset is optional, and there is none",
    "test_setoutputsize": "the suite leaves it to drivers with large columns, which no answer has",
}
NO_ROWS = "SET hedgerow.epsilon = 1"
"""A statement that returns no rows, in place of CREATE TABLE and INSERT."""


class TestCompliance(dbapi20.DatabaseAPI20Test):
    """The suite, over tables that have the rows of its samples before it begins."""

    driver = dbapi
    ddl1 = ddl2 = NO_ROWS
    vars().update(dict.fromkeys(EXCLUDED))

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        database, catalog = (Path(cls.folder.name) / name for name in ("bar.duckdb", "bar.yaml"))
        catalog.write_text(CATALOG)
        with duckdb.connect(str(database)) as owner:
            owner.execute("CREATE TABLE dbapi20test_booze (name VARCHAR)")
            owner.execute("CREATE TABLE dbapi20test_barflys (name VARCHAR, drink VARCHAR)")
            owner.executemany("INSERT INTO dbapi20test_booze VALUES (?)", [[name] for name in cls.samples])
        cls.connect_args = (database,)
        cls.connect_kw_args = {"catalog": catalog}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def tearDown(self):
        """Drop nothing."""

    def _populate(self):
        return [NO_ROWS]

    def _paraminsert(self, cur):
        """Ask with a parameter, in place of an insert with one."""
        cur.execute("SELECT name FROM dbapi20test_booze WHERE name = :beer", {"beer": "Redback"})
        assert cur.fetchall() == [("Redback",)]


def test_what_is_excluded_exists_and_the_rest_is_run():
    suite = {name for name in vars(dbapi20.DatabaseAPI20Test) if name.startswith("test_")}
    assert set(EXCLUDED) < suite
    assert {name for name in suite if getattr(TestCompliance, name) is None} == set(EXCLUDED)


@pytest.mark.parametrize(
    "statement",
    [
        dbapi20.DatabaseAPI20Test.ddl1,
        dbapi20.DatabaseAPI20Test.xddl1,
        "insert into dbapi20test_booze values ('Victoria Bitter')",
        "delete from dbapi20test_booze",
    ],
)
def test_a_statement_that_writes_is_refused(tmp_path, statement):
    with duckdb.connect(str(tmp_path / "bar.duckdb")) as owner:
        owner.execute("CREATE TABLE dbapi20test_booze (name VARCHAR)")
        owner.execute("CREATE TABLE dbapi20test_barflys (name VARCHAR, drink VARCHAR)")
    (tmp_path / "bar.yaml").write_text(CATALOG)
    with dbapi.connect(tmp_path / "bar.duckdb", catalog=tmp_path / "bar.yaml") as connection:
        cursor = connection.cursor()
        with pytest.raises(dbapi.DatabaseError):
            cursor.execute(statement)
        with pytest.raises(dbapi.Error):
            cursor.fetchall()


def test_null_is_none(tmp_path):
    with duckdb.connect(str(tmp_path / "bar.duckdb")) as owner:
        owner.execute("CREATE TABLE dbapi20test_barflys AS SELECT 'a' AS name, NULL::VARCHAR AS drink")
        owner.execute("CREATE TABLE dbapi20test_booze (name VARCHAR)")
    (tmp_path / "bar.yaml").write_text(CATALOG)
    with dbapi.connect(tmp_path / "bar.duckdb", catalog=tmp_path / "bar.yaml") as connection:
        assert connection.cursor().execute("SELECT drink FROM dbapi20test_barflys").fetchall() == [(None,)]
