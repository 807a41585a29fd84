"""Run by the tests of kills, crowds and copies, in a process of its own.

    python processes.py killed <folder>    is killed between charge and answer
    python processes.py crowd <folder>     asks from several threads until the budget is spent; waits for a line first
    python processes.py asking <folder>    asks until its standard input ends, and prints each charge that was answered

The folder holds town.duckdb and town.yaml.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path

import hedgerow as hr
from hedgerow.execution import session

QUESTION = "SELECT COUNT(*) FROM people"
THREADS = 3


def connect(folder):
    return hr.connect(folder / "town.duckdb", catalog=folder / "town.yaml")


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def killed(folder):
    db = connect(folder)
    session.first_pass = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    db.sql(QUESTION)


def crowd(folder):
    db = connect(folder)
    answers, errors = [], []

    def ask():
        try:
            while True:
                answers.append(db.sql(QUESTION, reuse=False).receipt.id)
        except hr.BudgetError:
            return
        except hr.HedgerowError as error:
            errors.append(error.code)

    say("ready")
    sys.stdin.readline()
    running = [threading.Thread(target=ask) for _ in range(THREADS)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    say(json.dumps({"answers": answers, "errors": errors}))


def asking(folder):
    done = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
    with connect(folder) as db:
        while not done.is_set():
            say(db.sql(QUESTION, reuse=False).receipt.id)


if __name__ == "__main__":
    mode, where = sys.argv[1:]
    {"killed": killed, "crowd": crowd, "asking": asking}[mode](Path(where))
