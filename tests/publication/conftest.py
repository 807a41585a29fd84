"""A town, its owner's key, and a release of a few answers about it."""

from pathlib import Path

import duckdb
import pytest
from tests.internals import session_of

import hedgerow as hr
from hedgerow.publication.contents import report_of
from hedgerow.publication.keys import new_key
from hedgerow.publication.publication import publish_report

CATALOG = """
dataset: town
version: 2026-01
budget: {epsilon: 30, delta: 1e-5, pure_epsilon: 5}
defaults: {epsilon: 2, delta: 1e-7, min_frequency: 10}
tables:
  people:
    unit: id
    unit_unique: true
    columns:
      age: {lower: 0, upper: 100}
      street: {values: [elm, oak, "=HYPERLINK(1)", "<script>alert(1)</script>", nobody]}
"""
QUERIES = {
    "by_street": 'SELECT street AS "=street", COUNT(*) AS n, AVG(age) AS "mean <b>age" FROM people GROUP BY street',
    "by_age": "SELECT age, COUNT(*) AS n FROM people GROUP BY age",
    "all": "SELECT COUNT(*) AS n, MEDIAN(age) AS middle FROM people",
}


class Town:
    """A database of its own folder, with a key."""

    def __init__(self, folder: Path):
        self.folder = folder
        with duckdb.connect(str(folder / "town.duckdb")) as owner:
            owner.execute(
                "CREATE TABLE people AS SELECT i AS id, 40 + i % 12 AS age, CASE i % 4 WHEN 0 THEN 'elm' WHEN 1 THEN "
                "'oak' WHEN 2 THEN '=HYPERLINK(1)' ELSE '<script>alert(1)</script>' END AS street, "
                "TIMESTAMP '2026-01-01 12:30:00' + i % 3 * INTERVAL 1 DAY AS moved, "
                "CAST(i % 4 - 1.5 AS DECIMAL(4, 1)) AS score FROM range(4000) t(i)"
            )
            owner.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
        (folder / "town.yaml").write_text(CATALOG, encoding="utf-8")
        self.key = new_key(folder / "town.key")
        self.db = hr.connect(folder / "town.duckdb", catalog=folder / "town.yaml")
        self.session = session_of(self.db)

    def report(self, queries=QUERIES, **options):
        """Ask, and return what would be published."""
        catalog = self.session.catalog
        return report_of(
            {name: self.db.sql(text, **options) for name, text in queries.items()},
            title="The town & its <i>people</i>",
            text="Who lives here.",
            source="; ".join(queries.values()),
            titles={"by_street": "Streets <u>"},
            texts={"by_street": 'Where "they" live.'},
            dataset=catalog.dataset,
            version=catalog.version,
            sources=[catalog.tables["people"]],
            no_values={},
        )

    def publish(self, name="release", report=None, key=None):
        """Publish a report, and return its folder."""
        folder = self.folder / name
        publish_report(report or self.report(), self.session.ledger, folder, key or self.key)
        return folder


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """One town for all tests of a module: they only add to its ledger."""
    town = Town(tmp_path_factory.mktemp("town"))
    yield town
    town.db.close()


@pytest.fixture(scope="module")
def release(town):
    """A release that no test changes."""
    return town.publish("kept")
