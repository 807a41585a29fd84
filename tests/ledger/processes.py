"""Run by the tests of crashes and crowds, in a process of its own that has only one thread and may fork.

    python processes.py kills <location> <number of kills>
    python processes.py crowd <location> <processes> <threads>
    python processes.py forked <location>
    python processes.py readonly <file>
    python processes.py full <file> <largest size of any file, or "as it is">...
    python processes.py failing <file> <fsync or write>,<error>,<"everything" or "the ledger">...

Prints one line of JSON.
"""

import ctypes
import json
import os
import platform
import random
import resource
import select
import shutil
import signal
import struct
import sys
import threading
import time
from fractions import Fraction
from functools import partial
from pathlib import Path

from hedgerow.accounting import GaussianEvent
from hedgerow.accounting.budget import Charge
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


def kill_one(path, *, charging):
    """Kill a child at a random moment, or a random while after its first answer; which charges it has answered."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        charge_until_killed(path, write)
    os.close(write)
    if charging:
        select.select([read], [], [])
    time.sleep(random.uniform(0.0, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        return [int(line) for line in pipe]


def kills(location, number):
    book(location).close()
    released, forgotten = [], 0
    for count in range(int(number)):
        released += kill_one(location, charging=count % 2 == 0)
        forgotten += forgotten_without_journal(location, released)
        with book(location) as ledger:
            if count % 10 == 0:
                ledger.verify()
    with book(location) as ledger:
        charged = [entry.sequence for entry in ledger.history() if entry.status != "opened"]
        actual = ledger.verify()
    return {
        "released": len(released),
        "twice": len(released) - len(set(released)),
        "missing": len(set(released) - set(charged)),
        "charges": actual.charges,
        "listed": len(charged),
        "forgotten": forgotten,
    }


def forgotten_without_journal(location, released):
    """Take the journal of an interrupted charge away; how many released charges a copy then forgets in silence."""
    if "://" in location or not Path(f"{location}-journal").exists():
        return 0
    copy = Path(f"{location}-orphan")
    shutil.copyfile(location, copy)
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


def crowd(path, processes, threads):
    policy = BudgetPolicy(2.0, 1e-6)
    book(path, policy).close()
    read, write = os.pipe()
    children = []
    for _ in range(int(processes)):
        child = os.fork()
        if child == 0:
            crowd_member(path, policy, int(threads), write)
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


def forked(location):
    """A child inherits an open ledger; both go on charging, in threads of their own."""
    ledger = book(location)
    child = os.fork()

    def go():
        for _ in range(20):
            ledger.charge(statement(Fraction(1, 10**6)), question={})

    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    if child == 0:
        ledger.close()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    ledger.charge(statement(Fraction(1, 10**6)), question={})
    return {"charges": ledger.verify().charges, "child": status}


def in_child(action):
    """The code of the error that `action` ends with, in a process of its own, and the receipts that it yields."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        receipts = 0
        try:
            for _ in action():
                receipts += 1
            code = "none"
        except HedgerowError as error:
            code = error.code
        os.write(write, f"{code} {receipts}".encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        code, _, receipts = pipe.read().rpartition(" ")
    return code, int(receipts)


def outcome(path, action):
    """Run `action`, and check that the ledger holds exactly what it has receipts for and can be used again."""
    with book(path) as ledger:
        before = ledger.verify().charges
    code, receipts = in_child(action)
    with book(path) as ledger:
        kept = ledger.verify().charges - before
        ledger.charge(statement(Fraction(1, 10**6)), question={"text": "again"})
        again = ledger.verify().charges == before + kept + 1
    return {"code": code, "receipts": receipts, "kept": kept, "again": again}


def readonly(path):
    book(path).close()
    path = Path(path)
    path.chmod(0o444)
    path.parent.chmod(0o755)

    def look():
        if os.getuid() == 0:
            os.setuid(NOBODY)
        with book(path) as ledger:
            yield ledger.budget()

    def charge():
        if os.getuid() == 0:
            os.setuid(NOBODY)
        yield book(path).charge(statement(Fraction(1, 1000)), question={})

    return {"look": in_child(look)[0], "charge": in_child(charge)[0]}


def full(path, *sizes):
    return [outcome(path, partial(charge_without_room, path, size)) for size in sizes]


def charge_without_room(path, size):
    ledger = book(path)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit = Path(path).stat().st_size if size == "as it is" else int(size)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    for _ in range(200):
        yield ledger.charge(statement(Fraction(1, 10**6)), question={"text": "q" * 500})


def failing(path, *failures):
    return [outcome(path, partial(charge_while_failing, path, *failure.split(","))) for failure in failures]


def charge_while_failing(path, call, error, target):
    ledger = book(path)
    for _ in range(3):
        yield ledger.charge(statement(Fraction(1, 10**6)), question={"text": "q" * 500})
    refuse(call, int(error), None if target == "everything" else descriptor_of(path))
    yield ledger.charge(statement(Fraction(1, 10**6)), question={"text": "q" * 500})


def descriptor_of(path):
    """The number under which this process has `path` open."""
    folder = Path("/proc/self/fd")
    (number,) = [int(link.name) for link in folder.iterdir() if os.path.realpath(link) == os.path.realpath(path)]
    return number


CALLS = {"x86_64": {"fsync": (74, 75), "write": (18,)}, "aarch64": {"fsync": (82, 83), "write": (68,)}}
"""The numbers of fsync and fdatasync, and of pwrite64."""


def refuse(call, error, descriptor):
    """From now on the kernel answers a system call of this process (on one descriptor) with an error."""
    numbers = CALLS.get(platform.machine(), {}).get(call, ()) if sys.platform == "linux" else ()
    load, equal, answer, allow = 0x20, 0x15, 0x06, 0x7FFF0000
    program = []
    for number in numbers:
        steps = [(load, 0, 0, 0), (equal, 0, 1, number), (answer, 0, 0, 0x00050000 | error)]
        if descriptor is not None:
            steps[1:] = [
                (equal, 0, 3, number),
                (load, 0, 0, 16),
                (equal, 0, 1, descriptor),
                (answer, 0, 0, 0x00050000 | error),
            ]
        program += steps
    program.append((answer, 0, 0, allow))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None).prctl
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    if (
        not numbers
        or prctl(no_new_privileges, 1, 0, 0, 0)
        or prctl(seccomp, by_filter, ctypes.c_void_p(ctypes.addressof(header)), 0, 0)
    ):
        raise HedgerowError("", code="no filter")


if __name__ == "__main__":
    modes = [kills, crowd, forked, readonly, full, failing]
    mode, *arguments = sys.argv[1:]
    sys.stdout.write(json.dumps({function.__name__: function for function in modes}[mode](*arguments)) + "\n")
