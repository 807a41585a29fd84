"""A small shop on disk, and the program itself, run as people run it."""

import json
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from hedgerow.cli import app
from hedgerow.compiled import Query
from hedgerow.execution import session as running

CATALOG = """\
dataset: shop
budget: {epsilon: 3.0, delta: 1e-6}
defaults: {epsilon: 0.5, delta: 1e-8}
tables:
  customers:
    unit: id
    unit_unique: true
    columns:
      income: {lower: 0, upper: 100000}
      region: {values: [north, south, mars]}
  orders:
    unit: customer_id
    max_rows: 10
    columns:
      price: {lower: 0, upper: 500}
  countries: {public: true}
"""


@dataclass(frozen=True)
class Shop:
    """The three files, and the options that name them."""

    folder: Path

    @property
    def database(self):
        return self.folder / "shop.duckdb"

    @property
    def catalog(self):
        return self.folder / "shop.yaml"

    @property
    def ledger(self):
        return self.folder / "shop.ledger"

    @property
    def options(self):
        return ["--db", str(self.database), "--catalog", str(self.catalog)]

    def rewrite(self, old, new):
        text = self.catalog.read_text()
        assert old in text
        self.catalog.write_text(text.replace(old, new))


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE customers (id BIGINT PRIMARY KEY, region VARCHAR, income DOUBLE)")
        connection.execute(
            "INSERT INTO customers SELECT i, ['north', 'south'][1 + i % 2], 20000 + (i * 7919) % 60000 "
            "FROM range(4000) t(i)"
        )
        connection.execute(
            "CREATE TABLE orders (number BIGINT PRIMARY KEY, customer_id BIGINT, city VARCHAR, price DOUBLE)"
        )
        connection.execute(
            "INSERT INTO orders SELECT i, i % 4000, 'city [' || (i % 3) || ']', (i * 31) % 500 FROM range(12000) t(i)"
        )
        connection.execute("CREATE TABLE countries AS SELECT i AS code, 'country ' || i AS name FROM range(3) t(i)")
    return path


@pytest.fixture
def shop(made_once, tmp_path):
    """A shop with a catalog and no ledger yet."""
    shutil.copy(made_once, tmp_path / "shop.duckdb")
    (tmp_path / "shop.yaml").write_text(CATALOG)
    return Shop(tmp_path)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch):
    for name in ("HEDGEROW_DB", "HEDGEROW_CATALOG", "HEDGEROW_OWNER_LOG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run():
    """Runs `hedgerow` with some words; standard input is no terminal."""

    def invoke(*words, stdin="", env=None):
        result = CliRunner().invoke(app, [str(word) for word in words], input=stdin, env=env)
        assert "Traceback" not in result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return invoke


@pytest.fixture
def interrupted(monkeypatch):
    """Presses Ctrl-C while the engine computes the first statement, which would take long."""
    # A process that was started in the background does not have Python's own handler.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def compute(steps, private, receipt, snapshot):
        patch.undo()
        os.kill(os.getpid(), signal.SIGINT)
        snapshot.read(Query("SELECT SUM(a.range * b.range) FROM range(100000) a, range(100000) b", (), ()))

    with monkeypatch.context() as patch:
        patch.setattr(running, "first_pass", compute)
        yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def run_json(run):
    """Runs `hedgerow … --json`, which must succeed, and reads its one line."""

    def invoke(*words, **more):
        result = run(*words, "--json", **more)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return invoke
