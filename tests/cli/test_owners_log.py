"""Causes of failures can quote private values: they go to the owner's log, and nowhere else."""

import logging
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

import hedgerow as hr
from hedgerow import owners_log
from hedgerow.cli.errors import guarded, keep_owners_log
from hedgerow.ledger import file_of
from hedgerow.owners_log import KEPT, LOGGED, NOT_LOGGED, VARIABLE, OwnersFile

SECRET = "Ada 4711"  # noqa: S105 - it is to be looked for, and opens nothing
CATALOG = """\
dataset: d
budget: {epsilon: 100, delta: 1e-3}
defaults: {epsilon: 1, delta: 1e-8, min_frequency: 1}
tables:
  visits: {unit: person, max_rows: 3, columns: {cost: {lower: 0, upper: 10}}}
"""
COSTS = "SELECT SUM(cost) AS s FROM visits"


@pytest.fixture(autouse=True)
def _handlers():
    """Each test begins and ends without files of the owner's log; commands run in this process leave theirs."""
    for handler in [attached for attached in owners_log.log.handlers if isinstance(attached, OwnersFile)]:
        owners_log.log.removeHandler(handler)
    owners_log._users.clear()
    before = list(owners_log.log.handlers)
    yield
    for handler in set(owners_log.log.handlers) - set(before):
        owners_log.log.removeHandler(handler)
    owners_log._users.clear()


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The owner's log that the environment names."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "named.log"))
    return tmp_path / "named.log"


@pytest.fixture
def failing(tmp_path):
    """Connects to a database whose rows cannot be read: the engine's error quotes one."""
    with duckdb.connect(":memory:") as owner:
        owner.execute(f"CREATE TABLE written AS SELECT i AS person, '{SECRET}' AS cost FROM range(9) t(i)")
        owner.execute("CREATE VIEW visits AS SELECT person, CAST(cost AS DOUBLE) AS cost FROM written")
        opened = []

        def connect(name="shop"):
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            (folder / f"{name}.yaml").write_text(CATALOG)
            opened.append(hr.connect(owner, catalog=folder / f"{name}.yaml"))
            return opened[-1]

        yield connect
        for db in opened:
            db.close()


@pytest.fixture
def unheard():
    """Takes away the handlers of pytest, which hears every logger."""

    def take_away():
        for handler in list(owners_log.log.handlers):
            if type(handler).__module__.startswith("_pytest"):
                owners_log.log.removeHandler(handler)

    return take_away


def failed(db):
    with pytest.raises(hr.BackendError) as caught:
        db.sql(COSTS)
    return caught.value


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_log_is_kept_beside_the_ledger_for_its_owner_alone(failing, tmp_path):
    db, file = failing(), tmp_path / "shop" / "shop.owner.log"
    assert db.owners_log == file
    assert not file.exists()
    before = os.umask(0)
    try:
        error = failed(db)
    finally:
        os.umask(before)
    assert LOGGED in error.hint
    assert SECRET not in str(error)
    assert f"incident {error.incident}" in file.read_text()
    assert SECRET in file.read_text()
    assert mode(file) == 0o600


def test_a_log_that_others_could_read_is_closed_to_them(failing):
    db = failing()
    db.owners_log.touch(mode=0o644)
    failed(db)
    assert mode(db.owners_log) == 0o600


def test_each_database_has_a_log_of_its_own(failing):
    one, other = failing("one"), failing("other")
    failed(one)
    assert one.owners_log.exists()
    assert not other.owners_log.exists()


def test_a_failure_to_connect_is_logged_too(tmp_path):
    (tmp_path / "shop.yaml").write_text(CATALOG)
    (tmp_path / "no.duckdb").write_bytes(b"this is no database" * 1000)
    with pytest.raises(hr.BackendError) as caught:
        hr.connect(tmp_path / "no.duckdb", catalog=tmp_path / "shop.yaml")
    assert caught.value.incident in (tmp_path / "shop.owner.log").read_text()
    assert not any(isinstance(handler, OwnersFile) for handler in owners_log.log.handlers)


def test_a_log_is_let_go_with_the_last_database_that_has_it(failing):
    one, other = failing(), failing()
    one.close()
    one.close()
    assert LOGGED in failed(other).hint
    other.close()
    assert not any(isinstance(handler, OwnersFile) for handler in owners_log.log.handlers)


def test_an_error_does_not_name_a_log_that_is_not_there(failing, unheard):
    unheard()
    db = failing()
    db.owners_log.mkdir()
    error = failed(db)
    assert NOT_LOGGED in error.hint
    assert LOGGED not in error.hint


def test_a_handler_of_the_owners_is_a_log_as_well(failing, caplog):
    db = failing()
    db.owners_log.mkdir()
    owners_log.log.addHandler(caplog.handler)
    error = failed(db)
    assert LOGGED in error.hint
    assert error.incident in caplog.text


def test_a_link_is_not_followed(failing, unheard, tmp_path):
    unheard()
    db = failing()
    (tmp_path / "elsewhere").touch()
    db.owners_log.symlink_to(tmp_path / "elsewhere")
    assert NOT_LOGGED in failed(db).hint
    assert (tmp_path / "elsewhere").read_text() == ""


def record(text):
    return logging.LogRecord("hedgerow.owner", logging.ERROR, "", 0, text, None, None)


def test_a_large_log_is_put_aside_and_so_are_the_files_closed_to_others(tmp_path):
    handler = OwnersFile(tmp_path / "a.log", largest=2000)
    for number in range(400):
        handler.emit(record(f"line {number} {'x' * 50}"))
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["a.log", *(f"a.log.{number}" for number in range(1, KEPT + 1))]
    assert all(file.stat().st_size <= 2000 and mode(file) == 0o600 for file in files)
    assert "line 399" in (tmp_path / "a.log").read_text()


WRITER = """
import logging, sys
from pathlib import Path
from hedgerow.owners_log import OwnersFile
handler = OwnersFile(Path(sys.argv[1]), largest=20_000)
for number in range(300):
    handler.emit(logging.LogRecord("hedgerow.owner", 40, "", 0, f"{sys.argv[2]}-{number}.", None, None))
"""


def test_several_processes_write_to_one_log_and_no_line_is_lost(tmp_path):
    words = [sys.executable, "-c", WRITER, str(tmp_path / "a.log")]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda name: subprocess.run([*words, name], check=True), "abc"))  # noqa: S603 - ours
    text = "".join(file.read_text() for file in tmp_path.iterdir())
    lines = [line.split()[-1] for line in text.splitlines()]
    assert sorted(lines) == sorted(f"{name}-{number}." for name in "abc" for number in range(300))
    assert len(list(tmp_path.iterdir())) > 1


def test_what_the_database_says_goes_to_the_owners_log_alone(run, shop, log):
    keep_owners_log()
    shop.database.write_bytes(b"this is no database, but it is long enough to be looked at" * 100)
    result = run("check", *shop.options)
    assert result.exit_code == 3
    incident = result.stderr.split("incident ")[1][:8]
    assert f"incident {incident}" in log.read_text()
    assert "Exception" not in result.output


def test_a_command_keeps_the_log_beside_the_ledger(run, shop):
    shop.database.write_bytes(b"this is no database, but it is long enough to be looked at" * 100)
    result = run("query", "SELECT COUNT(*) FROM customers", *shop.options)
    assert result.exit_code == 3
    assert result.stderr.split("incident ")[1][:8] in (shop.folder / "shop.owner.log").read_text()


def test_the_cause_of_a_bug_goes_to_the_owners_log_alone(log, capsys):
    def command():
        raise ValueError("Ada Lovelace, 4711")

    keep_owners_log()
    guarded(command, as_json=False)
    assert "Ada Lovelace, 4711" in log.read_text()
    printed = capsys.readouterr().err
    assert "4711" not in printed
    assert LOGGED in printed.replace("\n", " ")


def test_a_bug_without_a_log_says_so(unheard, capsys):
    def command():
        raise ValueError(SECRET)

    unheard()
    guarded(command, as_json=False)
    printed = capsys.readouterr().err.replace("\n", " ")
    assert NOT_LOGGED in printed
    assert SECRET not in printed


def test_a_log_that_cannot_be_written_does_not_stop_the_program(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere" / "owner.log"))
    keep_owners_log()
    assert VARIABLE in capsys.readouterr().err


def test_a_ledger_that_is_no_file_has_no_log_beside_it():
    assert file_of("postgresql://user@host/books") is None
    assert owners_log.beside(None) is None
