"""Statements and ledgers for the tests of the ledger, on each kind of store."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from uuid import uuid4

import pytest

from hedgerow.accounting import GaussianEvent, LaplaceEvent, ThresholdEvent, gaussian_mu
from hedgerow.accounting.budget import Charge
from hedgerow.catalog.model import BudgetPolicy
from hedgerow.ledger import open_ledger


@pytest.fixture
def gaussian():
    """A Gaussian statement with a guarantee of its own, and some threshold mass if wanted."""

    def statement(epsilon, delta=1e-8, mass=0):
        variance = 1 / Fraction(gaussian_mu(epsilon, delta)) ** 2
        events = [GaussianEvent(Fraction(1), variance, 1, Fraction(2**48))]
        if mass:
            events.append(ThresholdEvent(Fraction(mass)))
        return Charge(tuple(events), epsilon, delta)

    return statement


@pytest.fixture
def laplace():
    """A Laplace statement."""

    def statement(epsilon):
        return Charge((LaplaceEvent(Fraction(epsilon), Fraction(1)),), float(epsilon), 0.0)

    return statement


class FileStore:
    """A ledger in a file, and what somebody who can write the file could do to it."""

    IntegrityError = sqlite3.IntegrityError

    def __init__(self, folder):
        self._folder = folder
        self.location = self.path = folder / "shop.ledger"
        self.shown = str(self.path)

    def elsewhere(self):
        return self._folder / uuid4().hex

    def exists(self):
        return self.path.exists()

    def remove(self):
        self.path.unlink()

    def execute(self, statement, *values):
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            return connection.execute(statement, values).fetchall()

    def unlock(self):
        """Take away what keeps entries from being changed in passing."""
        for trigger in ("entries_stay", "entries_remain"):
            self.execute(f"DROP TRIGGER IF EXISTS {trigger}")

    def set_format(self, number):
        self.execute(f"PRAGMA user_version = {number}")


class DatabaseStore:
    """The same in a schema of a PostgreSQL database."""

    def __init__(self, server):
        import psycopg  # noqa: PLC0415 - an extra

        self._driver = psycopg
        self.server = server
        self.IntegrityError = psycopg.IntegrityError
        self.schema = f"test_{uuid4().hex}"
        self.location = f"{server}&schema={self.schema}"
        self.shown = self.schema

    def elsewhere(self):
        return f"{self.server}&schema=test_{uuid4().hex}"

    def exists(self):
        return self.execute("SELECT to_regclass(?) IS NOT NULL", f"{self.schema}.entries") == [(True,)]

    def remove(self):
        self.execute(f"DROP SCHEMA {self.schema} CASCADE")

    def connect(self):
        return self._driver.connect(self.server, autocommit=True, options=f"-c search_path={self.schema}")

    def execute(self, statement, *values):
        with closing(self.connect()) as connection:
            cursor = connection.execute(statement.replace("?", "%s"), values)
            return cursor.fetchall() if cursor.description else []

    def unlock(self):
        for table in ("ledgers", "entries", "releases"):
            self.execute(f"DROP TRIGGER IF EXISTS {table}_stay ON {table}")

    def set_format(self, number):
        self.unlock()
        self.execute("UPDATE ledgers SET format = ?", number)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    """Return the place of a test's ledger: every test that asks for one runs on each kind."""
    if request.param == "sqlite":
        return FileStore(tmp_path)
    return DatabaseStore(request.getfixturevalue("server"))


@pytest.fixture
def processes():
    """Runs `processes.py`, in a process of its own, and returns what it found."""

    def run(*arguments):
        command = [sys.executable, str(Path(__file__).with_name("processes.py")), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603 - our own file
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    return run


@pytest.fixture
def path(store):
    """The file of the ledger, in tests of files."""
    return store.path


@pytest.fixture
def book(store):
    """Opens the ledger of a test, as often as wanted, with any budget; closes all at the end."""
    opened = []

    def open_it(epsilon=3.0, delta=1e-6, *, dataset="shop", notice=None, patience=5.0, at=store.location, **policy):
        more = {"clock": policy.pop("clock")} if "clock" in policy else {}
        budget = BudgetPolicy(epsilon, delta, **policy)
        ledger = open_ledger(at, dataset=dataset, policy=budget, notice=notice, patience=patience, **more)
        opened.append(ledger)
        return ledger

    yield open_it
    for ledger in opened:
        ledger.close()
