"""Failures: constant words, no chained exception, a receipt, and nothing of the data anywhere."""

import logging
import pickle
import traceback

import duckdb
import pytest

from hedgerow.backends.base import owners_log
from hedgerow.compile import program
from hedgerow.errors import BackendError

from ..internals import price_of, session_of

QUOTED = "secret 123"


@pytest.fixture
def broken(shop_of):
    """A shop whose engine fails while it reads, with an error that quotes a row."""
    db = shop_of()
    inner = session_of(db).backend._connection

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

    session_of(db).backend._connection = Failing()
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
    query = "SELECT 2 * COUNT(*) AS n FROM people"
    session_of(db).postprocess._open().close()
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
    statement = price_of(shop, "SELECT region, COUNT(*), SUM(income) FROM people GROUP BY region")[1]
    (plan,) = statement.parts
    with session_of(shop).backend.snapshot() as snapshot:
        exact = snapshot.run(program(plan, session_of(shop).backend.dialect, "0" * 32).first_pass)
    shown = repr(exact) + str(exact) + f"{exact!r} {exact}" + repr([exact]) + repr({"t": exact})
    assert "north" not in shown
    assert not any(digit in shown for digit in "123456789")
    with pytest.raises(TypeError):
        pickle.dumps(exact)
    with pytest.raises(TypeError):
        iter(exact)
    assert not hasattr(exact, "__dict__")
