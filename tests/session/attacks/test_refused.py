"""Every hostile query that is refused: by its code, free of charge, in words that no row has a part in."""

import io
import json
import logging
import traceback
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache

import pytest

from hedgerow.errors import BudgetError, HedgerowError, QueryError

pytestmark = pytest.mark.hostile

FIELDS = ("code", "message", "hint", "span")


@dataclass(frozen=True)
class Refused:
    """The outcome of a hostile query.

    Attributes:
        said: Type, code, message, hint and place of the error.
        words: Everything that can be read of it, from the words to the trace, where everybody is in the shop.
        chained: Whether another exception is carried along.
        printed: What was printed or logged meanwhile.
        sent: What reached a database.
        unpaid: Whether the ledger is as it was.
    """

    said: tuple
    words: str
    chained: bool
    printed: str
    sent: tuple
    unpaid: bool

    @property
    def code(self):
        return self.said[1]


def text_of(error):
    """All the words of an error."""
    trace = "".join(traceback.format_exception(error))
    return "\n".join([trace, str(error), repr(error), str(error.to_dict()), str(vars(error))])


def is_chained(error):
    """True if an error shows another one."""
    return error.__cause__ is not None or not (error.__context__ is None or error.__suppress_context__)


@contextmanager
def overheard(stream):
    """All that is printed, and logged at any level, goes to `stream`."""
    root, handler = logging.getLogger(), logging.StreamHandler(stream)
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        with redirect_stdout(stream), redirect_stderr(stream):
            yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


@pytest.fixture(scope="module")
def refused(shops):
    """Ask an entry, in the shop with everybody or without somebody; each once."""

    @cache
    def ask(entry, without=None, how="sql"):
        shop, printed = shops(without, entry.dialect), io.StringIO()
        before = shop.budget
        shops.sent.clear()
        with overheard(printed), pytest.raises(HedgerowError) as caught:
            getattr(shop, how)(entry.query, **entry.options)
        error, sent, after = caught.value, tuple(shops.sent), shop.budget
        unpaid = (after.queries, after.used) == (before.queries, before.used)
        said = (type(error), *(getattr(error, name, None) for name in FIELDS))
        text = text_of(error) if how == "sql" and without is None else ""
        return Refused(said, text, is_chained(error), printed.getvalue(), sent, unpaid)

    return ask


def test_the_corpus_is_large_and_has_no_entry_twice(corpus):
    assert len(corpus) >= 150
    assert len({(entry.query, entry.dialect, json.dumps(entry.options)) for entry in corpus}) == len(corpus)
    assert all(entry.harmless or entry.expected.replace("-", "").isalpha() for entry in corpus)


def test_no_hostile_query_names_a_canary(corpus, canaries):
    assert not [entry for entry in corpus if any(canary in entry.query for canary in canaries)]


def test_a_hostile_query_is_refused_by_its_code_before_anything_is_paid_or_read(refused, refusal):
    actual = refused(refusal)
    assert refusal.expected in {actual.code, "refused"}, actual.said
    assert issubclass(actual.said[0], QueryError | BudgetError)
    assert actual.unpaid
    assert not actual.sent


def test_a_refusal_says_nothing_of_the_data(refused, refusal, removed, canaries):
    actual = refused(refusal)
    assert actual.code in actual.words
    assert not [canary for canary in canaries if canary in actual.words]
    assert not actual.chained
    assert not actual.printed
    assert refused(refusal, removed[0]).said == actual.said


def test_a_quote_is_refused_as_well(refused, refusal):
    quoted = refused(refusal, how="quote")
    assert quoted.code == refused(refusal).code
    assert quoted.unpaid
    assert not quoted.sent
