"""Databases and ledgers that cannot be used, and the words for it. Nothing is answered, nothing is spent."""

import shutil
import sqlite3
import subprocess
import sys

import duckdb
import pytest

import hedgerow as hr
from hedgerow.errors import BackendError, BudgetError, CatalogError, HedgerowError, LedgerError
from hedgerow.execution import session

from ..internals import session_of

COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def place(shop_of):
    """Return the folder of a shop that was asked one question and closed."""
    db = shop_of()
    db.sql(COUNT)
    db.close()
    return db.place


def _connect(place, **options):
    return hr.connect(place / "data.duckdb", catalog=place / "data.yaml", **options)


def test_a_missing_database_is_said_to_be_missing(place):
    with pytest.raises(BackendError) as caught:
        hr.connect(place / "nothing.duckdb", catalog=place / "data.yaml")
    assert caught.value.code == "no-database"
    assert not (place / "nothing.duckdb").exists()


def test_a_file_that_is_no_database_is_said_to_be_none(place):
    (place / "data.duckdb").write_bytes(b"not a database at all" * 1000)
    with pytest.raises(BackendError) as caught:
        _connect(place)
    assert caught.value.code == "not-a-database"
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("source", [5, b"x", "oracle://host/db", ["data.duckdb"]], ids=repr)
def test_a_source_of_another_kind_is_refused(place, source):
    with pytest.raises(BackendError) as caught:
        hr.connect(source, catalog=place / "data.yaml")
    assert caught.value.code == "unknown-source"


def test_a_database_open_for_writing_in_this_process_is_said_to_be(place):
    with duckdb.connect(str(place / "data.duckdb")), pytest.raises(BackendError) as caught:
        _connect(place)
    assert caught.value.code == "open-here"


def test_a_database_open_for_writing_elsewhere_is_said_to_be(place):
    holder = (
        "import duckdb, sys\n"
        f"c = duckdb.connect({str(place / 'data.duckdb')!r})\n"
        "print('open', flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(  # noqa: S603 - our own interpreter, our own text
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "open\n"
        with pytest.raises(BackendError) as caught:
            _connect(place)
        process.stdin.close()
        process.wait(30)
    assert caught.value.code == "open-elsewhere"


def test_two_programs_parts_may_read_one_database_at_once(place):
    with _connect(place) as first, _connect(place) as second:
        assert len(first.sql(COUNT)) == len(second.sql(COUNT)) == 1
        assert first.budget.queries == second.budget.queries


def test_an_open_connection_can_be_handed_in_and_stays_open(place):
    connection = duckdb.connect(str(place / "data.duckdb"))
    with hr.connect(connection, catalog=place / "data.yaml") as db:
        assert len(db.sql(COUNT)) == 1
    assert connection.execute("SELECT 1").fetchone() == (1,)
    connection.close()


@pytest.mark.parametrize(
    "change",
    [
        "CREATE OR REPLACE TABLE people AS SELECT 1 AS id, region, income, age, notes FROM people, range(20)",
        "DROP TABLE people CASCADE",
        "ALTER TABLE people ALTER income TYPE VARCHAR",
        "ALTER TABLE people RENAME income TO wealth",
    ],
)
def test_a_table_that_changed_under_an_open_connection_is_not_read(shop_of, change):
    """The short path rests on a constraint that may be gone: one person could count five thousand times."""
    db = shop_of(handed_in=True)
    db.owner.execute("DROP VIEW peek")
    db.owner.execute(change)
    with pytest.raises(BackendError) as caught:
        db.sql(COUNT, epsilon=50)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert caught.value.receipt is None
    assert db.budget.queries == 0


def test_an_empty_ledger_file_is_refused(place):
    (place / "data.ledger").write_bytes(b"")
    with pytest.raises(LedgerError):
        _connect(place)


@pytest.mark.parametrize("content", [b"something else entirely" * 50, b"SQLite format 3\x00" + bytes(2000)])
def test_a_foreign_or_damaged_ledger_is_refused(place, content):
    (place / "data.ledger").write_bytes(content)
    with pytest.raises(LedgerError):
        _connect(place)


def test_a_foreign_sqlite_file_is_no_ledger(place):
    (place / "data.ledger").unlink()
    with sqlite3.connect(place / "data.ledger") as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(LedgerError):
        _connect(place)


def test_a_ledger_of_another_dataset_is_refused(place):
    catalog = (place / "data.yaml").read_text().replace("dataset: test", "dataset: other")
    (place / "data.yaml").write_text(catalog)
    with pytest.raises(LedgerError):
        _connect(place)


def test_a_ledger_smaller_than_the_catalogs_budget_is_refused(place):
    catalog = (place / "data.yaml").read_text().replace("epsilon: 100000", "epsilon: 200000")
    (place / "data.yaml").write_text(catalog)
    with pytest.raises((LedgerError, BudgetError, CatalogError)):
        _connect(place)


def test_a_catalog_with_a_smaller_budget_takes_effect_at_once(place):
    text = "{epsilon: 0.5, delta: 0.01}"
    catalog = (place / "data.yaml").read_text()
    start, end = catalog.index("budget: {"), catalog.index("}", catalog.index("budget: {")) + 1
    (place / "data.yaml").write_text(catalog[:start] + f"budget: {text}" + catalog[end:])
    try:
        with _connect(place) as db, pytest.raises(BudgetError):
            db.sql(COUNT, epsilon=1.0, reuse=False)
    except LedgerError as error:
        assert "pure_epsilon" in str(error)  # noqa: PT017 - another split needs another ledger


def test_a_read_only_ledger_answers_nothing(place):
    """Root may write everything, so the ledger is opened through a copy that SQLite itself may only read."""
    folder = place / "locked"
    folder.mkdir()
    shutil.copy(place / "data.ledger", folder / "data.ledger")
    (folder / "data.ledger").chmod(0o444)
    folder.chmod(0o555)
    try:
        with _connect(place, ledger=folder / "data.ledger") as db:
            if _may_write(folder):
                pytest.skip("this user may write everywhere")
            with pytest.raises(LedgerError):
                db.sql(COUNT, reuse=False)
    except LedgerError as error:
        assert error.code.startswith("ledger")  # noqa: PT017 - refused even earlier
    finally:
        folder.chmod(0o755)


def _may_write(folder):
    try:
        (folder / "probe").touch()
    except OSError:
        return False
    (folder / "probe").unlink()
    return True


@pytest.mark.slow  # it waits as long as the ledger does
def test_a_locked_ledger_answers_nothing(place):
    with _connect(place) as db:
        other = sqlite3.connect(place / "data.ledger", isolation_level=None, timeout=0)
        other.execute("BEGIN EXCLUSIVE")
        try:
            with pytest.raises(LedgerError):
                db.sql(COUNT, reuse=False)
        finally:
            other.execute("ROLLBACK")
            other.close()
        assert db.budget.queries == 1


def test_what_no_longer_fits_is_refused_and_costs_nothing(shop_of, free):
    db = shop_of(budget="{epsilon: 1, delta: 1e-6}")
    with free(db), pytest.raises(BudgetError):
        db.sql(COUNT, epsilon=5)
    with free(db), pytest.raises(BudgetError):
        db.sql(COUNT, mechanism="laplace")


def test_the_charge_is_written_before_the_first_row_is_read(shop_of, monkeypatch):
    db = shop_of()
    seen = []
    original = session.first_pass

    def first_pass(*words):
        seen.append(db.budget.queries)
        return original(*words)

    monkeypatch.setattr(session, "first_pass", first_pass)
    db.sql(COUNT)
    assert seen == [1]


def test_a_quote_is_free_and_reads_no_row(shop_of, free):
    db = shop_of()

    def snapshot():
        raise AssertionError("a quote must not read")

    session_of(db).backend.snapshot = snapshot
    with free(db):
        assert db.quote(COUNT).charge.epsilon == 1.0


def test_a_closed_database_says_so(shop_of):
    db = shop_of()
    db.close()
    with pytest.raises(HedgerowError):
        db.sql(COUNT)
