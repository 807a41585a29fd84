"""Ledgers in files: whatever happens to the file is noticed, has a code of its own, and costs nothing."""

import errno
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest

from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import LedgerError
from hedgerow.ledger import create_ledger, raise_budget

pytestmark = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
QUESTION = {"text": "SELECT COUNT(*) FROM customers"}


def code_of(action, *arguments, **more):
    with pytest.raises(LedgerError) as refused:
        action(*arguments, **more)
    assert refused.value.hint
    return refused.value.code


def test_making_a_ledger_leaves_nothing_else_behind(book, path):
    book()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_ledger_of_another_dataset_cannot_be_raised(book, path):
    book()
    assert code_of(raise_budget, path, dataset="clinic", policy=BudgetPolicy(9.0, 1e-6)) == "ledger-dataset"


def test_a_new_ledger_never_replaces_a_file(path):
    path.write_text("precious")
    assert code_of(create_ledger, path, dataset="shop", policy=BudgetPolicy(3.0, 1e-6)) == "ledger-exists"
    assert path.read_text() == "precious"


def test_zero_bytes_is_a_damaged_ledger_not_a_new_one(book, path):
    path.touch()
    assert code_of(book) == "ledger-empty"
    assert path.stat().st_size == 0


@pytest.mark.parametrize("content", [b"x", b"name,age\nada,36\n" * 500, b"SQLite format 3\x00" + b"\x07" * 4096])
def test_a_file_that_is_no_database_is_foreign(book, path, content):
    path.write_bytes(content)
    assert code_of(book) in {"ledger-foreign", "ledger-damaged"}
    assert path.read_bytes() == content


def test_a_database_of_somebody_else_is_foreign(book, path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entries (x)")
    connection.close()
    before = path.read_bytes()
    assert code_of(book) == "ledger-foreign"
    assert path.read_bytes() == before


def test_a_folder_is_no_ledger_and_a_missing_folder_is_said(book, path):
    path.mkdir()
    assert code_of(book) == "ledger-unreachable"
    assert code_of(book, at=path / "no" / "such" / "x.ledger") == "ledger-unreachable"


def test_a_url_of_a_file_is_that_file(book, path):
    assert book().id == book(at=f"sqlite:///{path}").id


def test_the_ledger_of_another_dataset_is_refused(book):
    book()
    assert code_of(book, dataset="clinic") == "ledger-dataset"


def test_the_one_file_is_the_whole_ledger(book, path, tmp_path, gaussian):
    ledger = book()
    for count in range(1, 4):
        ledger.charge(gaussian(0.1), question=QUESTION)
        copy = tmp_path / f"copy-{count}"
        shutil.copyfile(path, copy)
        assert book(at=copy).budget().queries == count


def replaced_code(ledger, gaussian):
    with pytest.raises(LedgerError) as refused:
        ledger.charge(gaussian(0.1), question=QUESTION)
    return refused.value.code


def test_an_older_copy_put_in_its_place_while_open_is_refused(book, path, gaussian):
    ledger = book()
    ledger.charge(gaussian(0.1), question=QUESTION)
    older = path.read_bytes()
    ledger.charge(gaussian(0.1), question=QUESTION)
    newer = path.read_bytes()
    swapped = path.with_name("older")
    swapped.write_bytes(older)
    swapped.replace(path)
    assert replaced_code(ledger, gaussian) == "ledger-replaced"
    assert path.read_bytes() == older
    path.write_bytes(newer)
    assert replaced_code(ledger, gaussian) == "ledger-replaced"


def test_an_older_copy_written_over_it_while_open_is_refused(book, path, gaussian):
    ledger = book()
    ledger.charge(gaussian(0.1), question=QUESTION)
    older = path.read_bytes()
    for _ in range(5):
        ledger.charge(gaussian(0.1), question=QUESTION)
    newer = path.read_bytes()
    with path.open("r+b") as file:
        file.write(older)
        file.truncate()
    assert replaced_code(ledger, gaussian) in {"ledger-replaced", "ledger-damaged"}
    with path.open("r+b") as file:
        file.write(newer)
        file.truncate()
    ledger.charge(gaussian(0.1), question=QUESTION)
    assert ledger.verify().charges == 7


def test_another_history_of_the_same_length_is_refused(book, path, gaussian):
    ledger = book()
    start = path.read_bytes()
    for _ in range(3):
        ledger.charge(gaussian(0.1), question=QUESTION)
    fork = path.with_name("fork.ledger")
    fork.write_bytes(start)
    other = book(at=fork)
    for _ in range(4):
        other.charge(gaussian(0.01), question=QUESTION)
    other.close()
    with path.open("r+b") as file:
        file.write(fork.read_bytes())
        file.truncate()
    assert replaced_code(ledger, gaussian) in {"ledger-replaced", "ledger-damaged"}


def test_a_ledger_removed_while_open_is_refused(book, path, gaussian):
    ledger = book()
    path.unlink()
    assert replaced_code(ledger, gaussian) == "ledger-replaced"
    assert not path.exists()


def test_a_ledger_emptied_while_open_is_refused(book, path, gaussian):
    ledger = book()
    os.truncate(path, 0)
    assert replaced_code(ledger, gaussian) == "ledger-empty"


@pytest.fixture
def pages(book, path, gaussian):
    """A ledger of several pages, closed, as a list of pages."""
    with book() as ledger:
        for _ in range(12):
            ledger.finish(ledger.charge(gaussian(0.1), question=QUESTION), b"release" * 100)
    content = path.read_bytes()
    return [content[start : start + 4096] for start in range(0, len(content), 4096)]


def opens_and_verifies(book):
    try:
        with book() as ledger:
            ledger.verify()
    except LedgerError:
        return False
    return True


@pytest.mark.parametrize("kept", [0, 512, 2048, 3584])
def test_a_torn_page_anywhere_is_found(book, path, pages, kept):
    assert len(pages) > 6
    for number, page in enumerate(pages):
        torn = page[:kept] + bytes(4096 - kept)
        if torn != page:
            path.write_bytes(b"".join([*pages[:number], torn, *pages[number + 1 :]]))
            assert not opens_and_verifies(book), number
    path.write_bytes(b"".join(pages))
    assert opens_and_verifies(book)


def test_a_file_cut_short_is_found_when_it_is_opened(book, path, pages):
    for length in range(1, len(pages)):
        path.write_bytes(b"".join(pages[:length]))
        with pytest.raises(LedgerError):
            book()


def test_a_read_only_ledger_can_be_looked_at_but_not_charged(store, processes):
    with tempfile.TemporaryDirectory() as folder:
        assert processes("readonly", Path(folder) / "shop.ledger") == {"look": "none", "charge": "ledger-readonly"}


def test_a_disk_without_room_refuses_the_charge_and_leaves_the_ledger_whole(path, processes):
    """Files may not grow: the ledger, or already the journal beside it."""
    for actual in processes("full", path, "as it is", 4096, 512, 0):
        assert actual["code"] in {"ledger-full", "ledger-io"}
        assert actual["kept"] == actual["receipts"]
        assert actual["again"]


FAILURES = {
    ("fsync", errno.EIO, "everything"): "ledger-io",
    ("fsync", errno.EIO, "the ledger"): "ledger-io",
    ("fsync", errno.ENOSPC, "everything"): "ledger-io",
    ("write", errno.ENOSPC, "everything"): "ledger-full",
    ("write", errno.ENOSPC, "the ledger"): "ledger-full",
    ("write", errno.EIO, "the ledger"): "ledger-io",
}


def test_a_disk_that_fails_refuses_the_charge_and_leaves_the_ledger_whole(path, processes):
    """The kernel itself answers the system call with the error, after three charges (a seccomp filter)."""
    outcomes = processes("failing", path, *(",".join(map(str, failure)) for failure in FAILURES))
    if outcomes[0]["code"] == "no filter":
        pytest.skip("this system cannot filter system calls")
    assert [actual["code"] for actual in outcomes] == list(FAILURES.values())
    assert all(actual["kept"] == actual["receipts"] == 3 and actual["again"] for actual in outcomes)


def test_a_ledger_that_may_not_grow_says_so(book, gaussian):
    ledger = book()
    (pages,) = ledger._store._connection.execute("PRAGMA page_count").fetchone()
    ledger._store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LedgerError) as refused:
        ledger.charge(gaussian(0.01), question={"text": "long" * 3000})
    assert refused.value.code == "ledger-full"
    ledger._store._connection.execute("PRAGMA max_page_count = 1000000")
    ledger.charge(gaussian(0.01), question=QUESTION)
    ledger.verify()
