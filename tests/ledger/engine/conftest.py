"""A small town in a DuckDB file, connected through the whole engine with any budget."""

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest

import hedgerow as hr
from hedgerow.catalog import load_catalog
from hedgerow.ledger import open_ledger

CATALOG = """\
dataset: town
budget: {budget}
defaults: {{epsilon: 0.2, delta: 1e-7, min_frequency: {min_frequency}}}
tables:
  people:
    unit: id
    unit_unique: true
    columns:
      income: {{lower: 0, upper: 1000}}
  failing:
    unit: id
    max_rows: 1
    columns:
      number: {{lower: 0, upper: 10}}
"""
PROGRAM = Path(__file__).with_name("processes.py")


@dataclass(frozen=True)
class Town:
    """The files of a town. `connect` opens them; `look` reads the ledger alone."""

    folder: Path
    opened: list = field(default_factory=list)
    running: list = field(default_factory=list)

    @property
    def database(self):
        return self.folder / "town.duckdb"

    @property
    def catalog(self):
        return self.folder / "town.yaml"

    @property
    def ledger(self):
        return self.folder / "town.ledger"

    def write(self, *, budget="{epsilon: 3, delta: 1e-6}", min_frequency=1):
        self.catalog.write_text(CATALOG.format(budget=budget, min_frequency=min_frequency))

    def connect(self, *, analyst=None, clock=None, **catalog):
        if catalog or not self.catalog.exists():
            self.write(**catalog)
        if clock is None:
            return self._keep(hr.connect(self.database, catalog=self.catalog, analyst=analyst))
        policy = load_catalog(self.catalog).budget
        book = self._keep(open_ledger(self.ledger, dataset="town", policy=policy, clock=clock))
        return self._keep(hr.connect(self.database, catalog=self.catalog, ledger=book, analyst=analyst))

    def look(self, at=None):
        policy = load_catalog(self.catalog).budget
        return self._keep(open_ledger(at or self.ledger, dataset="town", policy=policy))

    def start(self, mode):
        """Run a part of processes.py on this town."""
        words = [sys.executable, str(PROGRAM), mode, str(self.folder)]
        running = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ours
        self.running.append(running)
        return running

    def _keep(self, opened):
        self.opened.append(opened)
        return opened


@pytest.fixture(scope="session")
def town_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("town") / "town.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, income DOUBLE, street VARCHAR)")
        connection.execute("INSERT INTO people SELECT i, i % 1000, 'street ' || (i % 7) FROM range(3000) t(i)")
        connection.execute("CREATE TABLE words AS SELECT i AS id, 'word' AS word FROM range(30) t(i)")
        connection.execute("CREATE VIEW failing AS SELECT id, CAST(word AS BIGINT) AS number FROM words")
    return path


@pytest.fixture
def town(town_file, tmp_path):
    (tmp_path / "town.duckdb").symlink_to(town_file)
    built = Town(tmp_path)
    yield built
    for process in built.running:
        process.kill()
        process.communicate()
    for ledger in reversed(built.opened):
        ledger.close()
