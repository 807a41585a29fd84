"""Causes of failures can quote private values: they go to the owner's log, and nowhere else."""

import logging

import pytest

from hedgerow.cli.faults import guarded
from hedgerow.cli.owners_log import VARIABLE, keep_owners_log


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The owner's log of one test."""
    logger = logging.getLogger("hedgerow.owner")
    before = list(logger.handlers)
    file = tmp_path / "owner.log"
    monkeypatch.setenv(VARIABLE, str(file))
    yield file
    for handler in set(logger.handlers) - set(before):
        logger.removeHandler(handler)
        handler.close()


def test_what_the_database_says_goes_to_the_owners_log_alone(run, shop, log):
    keep_owners_log()
    shop.database.write_bytes(b"this is no database, but it is long enough to be looked at" * 100)
    result = run("check", *shop.options)
    assert result.exit_code == 3
    incident = result.stderr.split("incident ")[1][:8]
    assert f"incident {incident}" in log.read_text()
    assert "Exception" not in result.output


def test_the_cause_of_a_bug_goes_to_the_owners_log_alone(log, capsys):
    def command():
        raise ValueError("Ada Lovelace, 4711")

    keep_owners_log()
    guarded(command, as_json=False)
    assert "Ada Lovelace, 4711" in log.read_text()
    assert "4711" not in capsys.readouterr().err


def test_a_log_that_cannot_be_written_does_not_stop_the_program(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere" / "owner.log"))
    keep_owners_log()
    assert VARIABLE in capsys.readouterr().err


def test_without_the_variable_nothing_is_kept(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    before = list(logging.getLogger("hedgerow.owner").handlers)
    keep_owners_log()
    assert logging.getLogger("hedgerow.owner").handlers == before
