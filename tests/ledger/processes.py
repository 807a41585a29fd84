"""Run by the tests of crashes and crowds, in a process of its own that has only one thread and may fork.

    python processes.py kills <folder> <number of kills>
    python processes.py crowd <folder> <processes> <threads>
    python processes.py readonly <folder>
    python processes.py full <folder>

Prints one line of JSON.
"""

import json
import os
import random
import resource
import shutil
import signal
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

from hedgerow.accounting import GaussianEvent
from hedgerow.budget import Charge
from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import BudgetError, HedgerowError, LedgerError
from hedgerow.ledger import Units, open_ledger

NOBODY = 65534
POLICY = BudgetPolicy(50.0, 1e-6)


def statement(mu_squared):
    return Charge((GaussianEvent(mu_squared, Fraction(1), 1, Fraction(2**48)),), 0.1, 1e-8)


def book(path, policy=POLICY, **more):
    return open_ledger(path, dataset="shop", policy=policy, **more)


def charge_until_killed(path, pipe):
    """Charge, and say so as soon as there is a receipt: that is when an answer would be released."""
    ledger = book(path)
    while True:
        receipt = ledger.charge(statement(Fraction(1, 10**6)), question={"text": "q"})
        os.write(pipe, b"%d\n" % receipt.sequence)
        ledger.finish(receipt, b"release")


def kill_one(path):
    """Kill a charging child at a random moment; which charges it has answered."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        charge_until_killed(path, write)
    os.close(write)
    time.sleep(random.uniform(0.0, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        return [int(line) for line in pipe]


def kills(folder, number):
    path = folder / "shop.ledger"
    book(path).close()
    released, hot, orphans_lost = [], 0, 0
    for count in range(number):
        released += kill_one(path)
        journal = path.with_name(path.name + "-journal")
        if journal.exists():
            hot += 1
            orphans_lost += forgotten_without_journal(path, folder, released)
        with book(path) as ledger:
            if count % 10 == 0:
                ledger.verify()
    with book(path) as ledger:
        charged = [entry.sequence for entry in ledger.history() if entry.status != "opened"]
        found = ledger.verify()
    return {
        "released": len(released),
        "twice": len(released) - len(set(released)),
        "missing": len(set(released) - set(charged)),
        "charges": found.charges,
        "listed": len(charged),
        "hot": hot,
        "forgotten": orphans_lost,
    }


def forgotten_without_journal(path, folder, released):
    """Take the journal of an interrupted charge away; how many released charges a copy then forgets in silence."""
    copy = folder / "orphan.ledger"
    shutil.copyfile(path, copy)
    try:
        with book(copy) as ledger:
            listed = {entry.sequence for entry in ledger.history()}
    except LedgerError:
        return 0
    finally:
        copy.unlink()
    return len(set(released) - listed)


def crowd_member(path, policy, threads, pipe):
    ledger = book(path, policy)
    counts, errors = [0] * threads, []

    def go(index):
        try:
            while True:
                ledger.charge(statement(Fraction(1, 997)), analyst=f"a{index}", question={"text": "q"})
                counts[index] += 1
        except BudgetError:
            return
        except HedgerowError as error:
            errors.append(error.code)

    running = [threading.Thread(target=go, args=(index,)) for index in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    os.write(pipe, f"{sum(counts)} {','.join(errors)}\n".encode())


def crowd(folder, processes, threads):
    path, policy = folder / "shop.ledger", BudgetPolicy(2.0, 1e-6)
    book(path, policy).close()
    read, write = os.pipe()
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            crowd_member(path, policy, threads, write)
            os._exit(0)
        children.append(child)
    os.close(write)
    for child in children:
        os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        lines = [line.rstrip("\n").split(" ") for line in pipe]
    with book(path, policy) as ledger:
        entries = [json.loads(line) for line in ledger.export()]
        cap, charges = ledger.caps.gaussian * 2**80, ledger.verify().charges
    one = Units.of(statement(Fraction(1, 997))).gaussian
    total = int(entries[-1]["total"]["lifetime"]["gaussian"])
    return {
        "receipts": sum(int(count) for count, _ in lines),
        "errors": [codes for _, codes in lines if codes],
        "charges": charges,
        "sum": sum(int(entry["body"]["units"]["gaussian"]) for entry in entries[1:]) == total,
        "within": total <= cap,
        "room": (cap - total) / one < 1,
    }


def in_child(action):
    """The code of the error that `action` ends with, in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            action()
            os.write(write, b"none")
        except HedgerowError as error:
            os.write(write, error.code.encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        return pipe.read()


def readonly(folder):
    path = folder / "shop.ledger"
    book(path).close()
    path.chmod(0o444)
    folder.chmod(0o755)

    def look():
        if os.getuid() == 0:
            os.setuid(NOBODY)
        with book(path) as ledger:
            ledger.budget()

    def charge():
        if os.getuid() == 0:
            os.setuid(NOBODY)
        book(path).charge(statement(Fraction(1, 1000)), question={})

    return {"look": in_child(look), "charge": in_child(charge)}


def full(folder):
    path = folder / "shop.ledger"
    book(path).close()

    def charge():
        ledger = book(path)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        for _ in range(200):
            ledger.charge(statement(Fraction(1, 10**6)), question={"text": "q" * 500})

    code = in_child(charge)
    with book(path) as ledger:
        ledger.verify()
        ledger.charge(statement(Fraction(1, 10**6)), question={"text": "there is room again"})
    return {"code": code}


if __name__ == "__main__":
    modes = {"kills": kills, "crowd": crowd, "readonly": readonly, "full": full}
    mode, where, *numbers = sys.argv[1:]
    sys.stdout.write(json.dumps(modes[mode](Path(where), *(int(number) for number in numbers))) + "\n")
