"""A paid answer whose telling failed is told from the stored release, for nothing and with the digits it has."""

import pytest

from hedgerow.execution import build_answer as telling
from hedgerow.execution import session

GROUPED = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"
FAULTS = {
    "the rows in order": (telling, "_order"),
    "the post-processing": (telling, "_run"),
    "the numbers": (session, "Estimator"),
    "the receipt": (telling, "Answer"),
}


@pytest.mark.parametrize("error", [AttributeError, RuntimeError, MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("place", FAULTS)
def test_an_answer_that_could_not_be_told_is_told_when_it_is_asked_again(town, monkeypatch, place, error):
    def failing(*_):
        raise error("in the middle of telling")

    db = town()
    with monkeypatch.context() as fault:
        fault.setattr(*FAULTS[place], failing)
        with pytest.raises(error) as caught:
            db.sql(GROUPED)
    assert caught.value.receipt.charge.epsilon == 1.0
    assert [entry.status for entry in db.budget.history] == ["opened", "answered"]
    answer = db.sql(GROUPED)
    assert (answer.receipt.reused, answer.receipt.id) == (True, caught.value.receipt.id)
    assert answer.intervals
    assert db.budget.queries == 1


def test_a_release_that_cannot_be_stored_is_given_all_the_same(town, monkeypatch, capsys):
    def failing(*_):
        raise ValueError("no bytes")

    db = town()
    monkeypatch.setattr(session, "dump_release", failing)
    assert db.sql(GROUPED).intervals
    assert "could not be stored" in capsys.readouterr().err
    assert db.budget.queries == 1
