"""Crashes, crowds and bad disks: what was released stays charged, and what is in doubt is refused."""

import threading

import pytest

from hedgerow.errors import BudgetError, LedgerError

QUESTION = {"text": "SELECT COUNT(*) FROM customers"}
KILLS = {"FileStore": 100, "DatabaseStore": 30}


def check_kills(actual):
    assert actual["released"] > 0
    assert (actual["missing"], actual["twice"], actual["forgotten"]) == (0, 0, 0)
    assert actual["charges"] == actual["listed"] >= actual["released"]


def test_after_many_kills_every_released_answer_has_its_charge(store, processes):
    check_kills(processes("kills", store.location, KILLS[type(store).__name__]))


@pytest.mark.slow
def test_after_thousands_of_kills_every_released_answer_has_its_charge(store, processes):
    for _ in range(30):
        check_kills(processes("kills", store.elsewhere(), 100))


def test_a_crowd_of_processes_and_threads_ends_within_one_charge_of_the_cap(store, processes):
    actual = processes("crowd", store.location, 8, 4)
    assert actual["errors"] == []
    assert actual["receipts"] == actual["charges"] > 100
    assert actual["sum"]
    assert actual["within"]
    assert actual["room"]


def test_a_closed_ledger_says_so(book, gaussian):
    ledger = book()
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerError) as refused:
        ledger.charge(gaussian(0.1), question=QUESTION)
    assert refused.value.code == "ledger-closed"


def test_threads_share_one_ledger(book, gaussian):
    ledger = book(epsilon=1.0)
    receipts = []

    def go():
        try:
            while True:
                receipts.append(ledger.charge(gaussian(0.2), question=QUESTION).sequence)
        except BudgetError:
            return

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(receipts) == list(range(1, ledger.verify().charges + 1))


def test_a_forked_child_does_not_use_its_parents_connection(store, processes):
    assert processes("forked", store.location) == {"charges": 41, "child": 0}
