"""Crashes, crowds and bad disks: what was released stays charged, and what is in doubt is refused."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from hedgerow.errors import BudgetError, LedgerError

PROCESSES = Path(__file__).with_name("processes.py")
QUESTION = {"text": "SELECT COUNT(*) FROM customers"}
KILLS = 100


def run(*arguments):
    command = [sys.executable, str(PROCESSES), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603 - our own file
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_kills(found):
    assert found["released"] > 0
    assert (found["missing"], found["twice"], found["forgotten"]) == (0, 0, 0)
    assert found["charges"] == found["listed"] >= found["released"]


def test_after_a_hundred_kills_every_released_answer_has_its_charge(tmp_path):
    check_kills(run("kills", tmp_path, KILLS))


@pytest.mark.slow
def test_after_thousands_of_kills_every_released_answer_has_its_charge(tmp_path):
    for number in range(30):
        folder = tmp_path / str(number)
        folder.mkdir()
        check_kills(run("kills", folder, KILLS))


def test_a_crowd_of_processes_and_threads_ends_within_one_charge_of_the_cap(tmp_path):
    found = run("crowd", tmp_path, 8, 4)
    assert found["errors"] == []
    assert found["receipts"] == found["charges"] > 100
    assert found["sum"]
    assert found["within"]
    assert found["room"]


def test_a_read_only_ledger_can_be_looked_at_but_not_charged():
    with tempfile.TemporaryDirectory() as folder:
        assert run("readonly", folder) == {"look": "none", "charge": "ledger-readonly"}


def test_a_full_disk_refuses_the_charge_and_leaves_the_ledger_whole(tmp_path):
    assert run("full", tmp_path)["code"] in {"ledger-full", "ledger-io"}


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


def test_a_forked_child_does_not_use_its_parents_connection(tmp_path):
    """The processes of the crowd each open the ledger; here a child inherits an open one."""
    script = (
        "import os, sys, threading\n"
        "sys.path.insert(0, os.path.dirname(sys.argv[1]))\n"
        "from fractions import Fraction\n"
        "from pathlib import Path\n"
        "from processes import book, statement\n"
        "ledger = book(Path(sys.argv[2]) / 'shop.ledger')\n"
        "child = os.fork()\n"
        "def go():\n"
        "    for _ in range(20):\n"
        "        ledger.charge(statement(Fraction(1, 10**6)), question={})\n"
        "thread = threading.Thread(target=go)\n"
        "thread.start()\n"
        "thread.join()\n"
        "if child == 0:\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "print(ledger.verify().charges)\n"
    )
    command = [sys.executable, "-c", script, str(PROCESSES), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - our own file
    assert (done.stdout.strip(), done.stderr) == ("40", "")
