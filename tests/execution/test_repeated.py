"""The release that answered a question answers it for ever; among others the most accurate."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from hedgerow.execution.request import LONGEST_VALUE, plain_params

from ..internals import session_of

COUNTS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
WIDER = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"
WIDEST = (
    "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean, COUNT(*) FILTER (WHERE cost > 5) AS m FROM visits GROUP BY ward"
)


def rows_and_intervals(answer):
    return list(answer), answer.intervals


def test_a_wider_question_in_between_changes_no_digit(town):
    db = town()
    first = db.sql(COUNTS)
    db.sql(WIDER)
    db.sql(WIDEST, epsilon=2)
    again = db.sql(COUNTS)
    assert rows_and_intervals(again) == rows_and_intervals(first)
    assert again.receipt.id == first.receipt.id


def test_an_answer_that_was_implied_stays_the_same_when_a_better_release_comes(town):
    """The first time it was taken from the wider release; a much better one must not change it afterwards."""
    db = town()
    wider = db.sql(WIDER)
    first = db.sql(COUNTS)
    assert (first.receipt.reused, first.receipt.id) == (True, wider.receipt.id)
    better = db.sql(WIDEST, epsilon=8)
    assert rows_and_intervals(town().sql(COUNTS)) == rows_and_intervals(first)
    average = db.sql("SELECT ward, AVG(cost) AS mean FROM visits GROUP BY ward")
    assert average.receipt.id == better.receipt.id
    assert town().sql("SELECT ward, AVG(cost) * 1 AS mean FROM visits GROUP BY ward").receipt.id == better.receipt.id
    assert session_of(db).ledger.verify().charges == db.budget.queries == 2


@pytest.mark.parametrize("order", [(1, 5), (5, 1)])
def test_among_others_the_most_accurate_release_answers(town, order):
    db = town()
    bought = {epsilon: db.sql(WIDER, epsilon=epsilon, reuse=False).receipt.id for epsilon in order}
    assert db.sql(COUNTS).receipt.id == bought[5]


def test_the_same_question_at_the_same_price_is_free_whatever_became_of_the_budget(town):
    """A paid answer is repeated even if Laplace noise has run out since and the same epsilon would buy another."""
    db = town(pure=1.2)
    count = "SELECT COUNT(*) AS n FROM people"
    first = db.sql(count)
    assert first.receipt.mechanisms[0].kind == "laplace"
    db.sql("SELECT AVG(income) AS m FROM people", mechanism="laplace", epsilon=0.15)
    again = db.sql(count)
    assert (again.receipt.reused, rows_and_intervals(again)) == (True, rows_and_intervals(first))


def test_a_target_is_met_by_the_release_that_met_it_first(town):
    db = town()
    count = "SELECT COUNT(*) AS n FROM people"
    first = db.sql(count, within=("abs", 100))
    db.sql("SELECT COUNT(*) AS n, AVG(income) AS m FROM people", epsilon=5)
    assert rows_and_intervals(db.sql(count, within=("abs", 100))) == rows_and_intervals(first)


def test_a_quote_says_that_an_answer_is_paid_for(town):
    db = town()
    new = db.quote(COUNTS)
    assert (new.reused, new.receipt, new.charge.epsilon) == (False, None, 1.0)
    answer = db.sql(WIDER)
    for query in (COUNTS, WIDER, f"{WIDER} ORDER BY mean"):
        quote = db.quote(query)
        assert (quote.reused, quote.receipt, quote.charge.epsilon, quote.share) == (True, answer.receipt.id, 0.0, 0.0)
        assert quote.fits
        assert quote.remaining == db.budget.remaining
        assert quote.to_dict()["reused"] is True
        assert quote.to_dict()["receipt"] == answer.receipt.id
        assert db.sql(query).receipt.reused
    assert db.quote(WIDER).mechanisms == answer.receipt.mechanisms
    assert not db.quote(WIDER, epsilon=2).reused
    assert not db.quote(WIDER, reuse=False).reused
    assert db.budget.queries == 1


def test_a_quote_of_a_target_says_that_it_is_met_already(town):
    db = town()
    count = "SELECT COUNT(*) AS n FROM people"
    assert not db.quote(count, within=("abs", 100)).reused
    answer = db.sql(count, within=("abs", 100))
    assert db.quote(count, within=("abs", 100)).receipt == answer.receipt.id
    assert not db.quote(count, within=("abs", 1)).reused


def test_the_history_keeps_bound_parameters(town):
    db = town()
    db.sql("SELECT COUNT(*) FROM people WHERE income > ? AND region = ?", params=[500, "north"])
    db.sql("SELECT COUNT(*) FROM visits WHERE cost < :most", params={"most": Decimal("7.5")})
    db.sql("SELECT COUNT(*) FROM visits")
    assert [entry.params for entry in town().budget.history[1:]] == [[500, "north"], {"most": "7.5"}, None]


def test_parameters_are_kept_as_plain_json_of_bounded_size():
    values = [
        None,
        True,
        2**70,
        1.5,
        float("nan"),
        date(2026, 1, 31),
        datetime(2026, 1, 31, 12, tzinfo=UTC),
        b"\x00\xff",
        "x" * 999,
    ]
    kept = plain_params(values)
    assert kept[:8] == [None, True, str(2**70), 1.5, "nan", "2026-01-31", "2026-01-31T12:00:00+00:00", "0x00ff"]
    assert len(kept[8]) == LONGEST_VALUE
    assert plain_params([object()]) == ["a value of type object"]
    assert len(plain_params(list(range(10_000)))) == len(plain_params({str(i): i for i in range(10_000)})) == 101
    assert plain_params(None) is None
