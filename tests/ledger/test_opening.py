"""Finding and making ledgers: whatever is wrong with the file has a code of its own, and costs nothing."""

import threading

import pytest

from hedgerow.catalog.model import BudgetPolicy, Cap
from hedgerow.errors import BudgetError, LedgerError
from hedgerow.ledger import create_ledger, open_ledger, raise_budget
from hedgerow.ledger.connect import on_network
from hedgerow.ledger.entries import FORMAT

QUESTION = {"text": "SELECT 1"}


def code_of(action, *arguments, **more):
    with pytest.raises(LedgerError) as refused:
        action(*arguments, **more)
    assert refused.value.hint
    return refused.value.code


def test_a_ledger_that_does_not_exist_is_made_with_a_notice(book, store):
    notices = []
    book(notice=notices.append)
    assert len(notices) == 1
    assert store.shown in notices[0]
    book(notice=notices.append)
    assert len(notices) == 1


def test_charges_are_there_after_a_restart(book, gaussian):
    first = book()
    first.charge(gaussian(0.5), question=QUESTION)
    spent = first.budget().spent
    first.close()
    assert book().budget().spent == spent


def test_a_ledger_that_the_catalog_names_is_never_replaced(book, store):
    assert code_of(book, ledger="0123456789abcdef") == "ledger-missing"
    assert not store.exists()
    identity = create_ledger(store.location, dataset="shop", policy=BudgetPolicy(3.0, 1e-6))
    assert book(ledger=identity).id == identity
    store.remove()
    assert code_of(book, ledger=identity) == "ledger-missing"
    other = create_ledger(store.location, dataset="shop", policy=BudgetPolicy(3.0, 1e-6))
    assert other != identity
    assert code_of(book, ledger=identity) == "ledger-id"


def test_a_new_ledger_never_replaces_another(book, store):
    identity = book().id
    assert code_of(create_ledger, store.location, dataset="shop", policy=BudgetPolicy(3.0, 1e-6)) == "ledger-exists"
    assert book().id == identity


def test_many_openers_at_once_make_one_ledger(store):
    notices, ids = [], []

    def go():
        with open_ledger(
            store.location, dataset="shop", policy=BudgetPolicy(3.0, 1e-6), notice=notices.append
        ) as ledger:
            ids.append(ledger.id)

    threads = [threading.Thread(target=go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 8
    assert len(set(ids)) == len(notices) == 1


def test_a_ledger_elsewhere_is_not_looked_for_in_a_file(book):
    assert code_of(book, at="mysql://somewhere/ledger") == "ledger-location"


def test_a_ledger_of_a_newer_program_is_refused(book, store):
    book().close()
    store.set_format(FORMAT + 1)
    assert code_of(book) == "ledger-newer"


def test_a_program_that_is_overtaken_while_open_stops_charging(book, store, gaussian):
    ledger = book()
    store.set_format(FORMAT + 1)
    assert code_of(ledger.charge, gaussian(0.1), question=QUESTION) == "ledger-newer"


def test_a_ledger_that_stays_locked_is_said_so_in_time(book, gaussian):
    ledger, blocker = book(patience=0.05), book()
    with blocker._store.write():
        assert code_of(ledger.charge, gaussian(0.1), question=QUESTION) == "ledger-locked"
    ledger.charge(gaussian(0.1), question=QUESTION)
    assert ledger.budget().queries == 1


def test_a_ledger_that_is_not_there_cannot_be_raised(store):
    assert code_of(raise_budget, store.location, dataset="shop", policy=BudgetPolicy(9.0, 1e-6)) == "ledger-missing"
    assert not store.exists()


def test_a_smaller_budget_takes_effect_at_once(book, gaussian):
    book().charge(gaussian(1.5, 1e-6), question=QUESTION)
    smaller = book(epsilon=1.0)
    view = smaller.budget()
    assert view.limit.epsilon == 1.0
    assert view.spent.epsilon > 1.0
    assert view.remaining.epsilon == 0.0
    with pytest.raises(BudgetError):
        smaller.charge(gaussian(0.01), question=QUESTION)
    book().charge(gaussian(0.01), question=QUESTION)


@pytest.mark.parametrize(("epsilon", "delta"), [(3.1, 1e-6), (3.0, 2e-6)])
def test_a_larger_budget_needs_to_be_raised_on_purpose(book, store, gaussian, epsilon, delta):
    book()
    assert code_of(book, epsilon, delta) == "ledger-budget-larger"
    raise_budget(store.location, dataset="shop", policy=BudgetPolicy(epsilon, delta))
    raised = book(epsilon, delta)
    assert raised.budget().limit.epsilon == epsilon
    assert [entry.status for entry in raised.history()] == ["opened", "raised"]
    assert raised.history()[1].charge == {"epsilon": epsilon, "delta": delta}
    raised.charge(gaussian(0.1), question=QUESTION)
    raised.verify()
    assert book().budget().limit.epsilon == 3.0


def test_another_split_needs_a_new_ledger(book, store):
    book(pure_epsilon=1.0)
    assert code_of(book, pure_epsilon=0.5) == "ledger-split"
    assert code_of(book, pure_epsilon=2.0) == "ledger-split"
    assert code_of(book) == "ledger-split"
    for pure in (0.0, 2.0):
        policy = BudgetPolicy(3.0, 1e-6, pure_epsilon=pure)
        assert code_of(raise_budget, store.location, dataset="shop", policy=policy) == "ledger-split"
    assert [entry.status for entry in book(pure_epsilon=1.0).history()] == ["opened"]


def test_periods_cannot_be_added_or_shortened_by_editing_the_catalog(book, store):
    from datetime import timedelta  # noqa: PLC0415

    month, week = timedelta(days=30), timedelta(days=7)
    book(refresh=month, lifetime=Cap(12.0))
    book(refresh=2 * month, lifetime=Cap(11.0))
    book()
    assert code_of(book, refresh=week, lifetime=Cap(12.0)) == "ledger-budget-larger"
    assert code_of(book, refresh=month) == "ledger-budget-larger"
    assert code_of(book, refresh=month, lifetime=Cap(13.0)) == "ledger-budget-larger"
    raise_budget(store.location, dataset="shop", policy=BudgetPolicy(3.0, 1e-6, refresh=week))
    book(refresh=week)


def test_a_network_disk_is_recognised_by_its_mount(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text("/dev/sda1 / ext4 rw 0 0\nhost:/x /mnt/far nfs4 rw 0 0\nme@host: /mnt/ssh fuse.sshfs rw 0 0\n")
    where = type(tmp_path)
    assert on_network(where("/mnt/far/shop.ledger"), mounts)
    assert on_network(where("/mnt/ssh/shop.ledger"), mounts)
    assert not on_network(where("/mnt/shop.ledger"), mounts)
    assert not on_network(where("/mnt/far/shop.ledger"), tmp_path / "none")
