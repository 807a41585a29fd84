"""When something fails after all: constant words, no chain, a receipt, and nothing of the data anywhere."""

import logging
import pickle
import re
import traceback

import duckdb
import pytest

from hedgerow.backends.base import owners_log
from hedgerow.compile import program
from hedgerow.errors import BackendError, HedgerowError
from hedgerow.execution import run

QUOTED = "secret 123"


@pytest.fixture
def broken(shop_of):
    """A shop whose engine fails while it reads, with an error that quotes a row."""
    db = shop_of()
    inner = db._session.backend._connection

    class Failing:
        def cursor(self):
            return Failing.Cursor(inner.cursor())

        def close(self):
            inner.close()

        class Cursor:
            def __init__(self, cursor):
                self._cursor = cursor

            def sql(self, text):
                if text.endswith("WHERE 1 = 0"):  # a look whether the table can be read: no row is
                    return self._cursor.sql(text)
                raise duckdb.ConversionException(f"Could not convert '{QUOTED}' to INT32")

            def __getattr__(self, name):
                return getattr(self._cursor, name)

    db._session.backend._connection = Failing()
    return db


def test_a_failing_engine_gives_one_constant_sentence(broken):
    errors = []
    for query in ("SELECT COUNT(*) FROM people", "SELECT place, SUM(cost) FROM visits GROUP BY place"):
        with pytest.raises(BackendError) as caught:
            broken.sql(query)
        errors.append(caught.value)
    first, second = errors
    assert first.incident != second.incident
    assert first.message.replace(first.incident, "N") == second.message.replace(second.incident, "N")
    for error in errors:
        shown = "".join(traceback.format_exception(error))
        assert error.__cause__ is None
        assert error.__suppress_context__
        assert "ConversionException" not in shown
        assert QUOTED not in shown + str(error) + repr(error) + str(error.to_dict())


def test_a_failing_engine_has_been_paid_and_the_error_carries_the_receipt(broken):
    with pytest.raises(BackendError) as caught:
        broken.sql("SELECT COUNT(*) FROM people")
    assert broken.budget.queries == 1
    assert caught.value.receipt.charge.epsilon == 1.0
    assert caught.value.receipt.id


def test_an_error_after_the_noise_carries_the_receipt_too(shop_of):
    db = shop_of()
    query = "SELECT COUNT(*) AS n FROM people"
    db._session.after._open().close()
    with pytest.raises(BackendError) as caught:
        db.sql(query)
    assert db.budget.queries == 1
    assert caught.value.receipt is not None
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


class Listener(logging.Handler):
    """Keeps what it hears."""

    def __init__(self):
        super().__init__()
        self.heard = []

    def emit(self, record):
        self.heard.append(record.getMessage())


def test_the_cause_goes_to_the_owners_log_alone(broken):
    owner, everybody = Listener(), Listener()
    owners_log.addHandler(owner)
    logging.getLogger().addHandler(everybody)
    try:
        with pytest.raises(BackendError) as caught:
            broken.sql("SELECT COUNT(*) FROM people")
    finally:
        owners_log.removeHandler(owner)
        logging.getLogger().removeHandler(everybody)
    assert len(owner.heard) == 1
    assert QUOTED in owner.heard[0]
    assert caught.value.incident in owner.heard[0]
    assert everybody.heard == []


def test_no_log_holds_exact_values_at_any_level(shop_of, caplog):
    db = shop_of()
    with caplog.at_level(logging.DEBUG):
        db.sql("SELECT region, COUNT(*), SUM(income) FROM people GROUP BY region")
    assert "200" not in caplog.text
    assert "secret" not in caplog.text


def test_exact_tables_show_nothing_and_do_not_travel(shop):
    statement = shop._session.price(*_bound(shop, "SELECT region, COUNT(*), SUM(income) FROM people GROUP BY region"))
    (plan,) = statement.parts
    with shop._session.backend.snapshot() as snapshot:
        exact = snapshot.run(program(plan, shop._session.backend.dialect, "0" * 32).first_pass)
    shown = repr(exact) + str(exact) + f"{exact!r} {exact}" + repr([exact]) + repr({"t": exact})
    assert "north" not in shown
    assert not any(digit in shown for digit in "123456789")
    with pytest.raises(TypeError):
        pickle.dumps(exact)
    with pytest.raises(TypeError):
        iter(exact)
    assert not hasattr(exact, "__dict__")


def _bound(db, query):
    request, logical = db._understand(query, None, {})
    return logical, request, db._session.remaining()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*) FROM ghosts",
        "SELECT COUNT(ghost) FROM people",
        "SELECT SUM(age) FROM people",
        "SELECT COUNT(*) FROM people WHERE region = 5",
    ],
)
def test_refusals_speak_of_the_query_and_the_catalog_only(shop, free, query):
    with free(shop), pytest.raises(HedgerowError) as caught:
        shop.sql(query)
    text = str(caught.value.to_dict())
    assert "secret" not in text
    assert "400" not in text


def test_what_database_and_answer_show_of_themselves_is_released(shop):
    answer = shop.sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region", epsilon=0.01)
    shown = repr(shop) + str(vars(shop)) + repr(answer) + repr(answer.receipt)
    assert "secret " not in shown
    assert not re.search(r"(?<![0-9,])200(?![0-9])", repr(answer))


@pytest.mark.parametrize("epsilon", [1e-6, 1000])
def test_the_same_statement_fails_or_works_whatever_the_budget(shop, epsilon):
    """No size of noise that is accepted may break the sampler after the charge."""
    for query in ("SELECT COUNT(*), AVG(income) FROM people", "SELECT place, SUM(cost) FROM visits GROUP BY place"):
        for mechanism in ("gaussian", "laplace"):
            try:
                shop.sql(query, epsilon=epsilon, mechanism=mechanism)
            except HedgerowError as error:
                assert error.exit_code in {1, 2}  # noqa: PT017 - a refusal before the charge is fine


def test_a_failure_of_ours_while_exact_values_are_at_hand_says_nothing_of_them(shop_of, monkeypatch):
    """Not only the engine can quote a value: so can an exception from the way to Arrow or from arithmetic."""

    def quoting(*_):
        raise ValueError(f"cannot convert {QUOTED}")

    db = shop_of()
    monkeypatch.setattr(run, "select_keys", quoting)
    with pytest.raises(BackendError) as caught:
        db.sql("SELECT COUNT(*) FROM people")
    shown = "".join(traceback.format_exception(caught.value))
    assert QUOTED not in shown + str(caught.value) + repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert caught.value.receipt is not None
