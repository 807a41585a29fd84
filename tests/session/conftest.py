"""A small shop that everybody may try to break."""

import pytest

TABLES = """
people:
  unit: id
  unit_unique: true
  columns:
    income: {lower: 0, upper: 100000}
    region: {values: [north, south]}
    notes: {hidden: true}
visits:
  unit: person
  max_rows: 4
  max_groups: 2
  undeclared: hidden
  columns:
    cost: {lower: 0, upper: 50}
    place: {}
towns: {public: true}
"""

STATEMENTS = [
    "CREATE TABLE people (id BIGINT PRIMARY KEY, region VARCHAR, income DOUBLE, age INTEGER, notes VARCHAR)",
    "INSERT INTO people SELECT j, ['north', 'south'][1 + j % 2], j * 10, j % 90, 'secret ' || j FROM range(400) r(j)",
    "CREATE TABLE visits (person BIGINT, cost DOUBLE, place VARCHAR, diagnosis VARCHAR)",
    "INSERT INTO visits SELECT j % 300, j % 50, 'place ' || (j % 5), 'flu' FROM range(900) r(j)",
    "CREATE TABLE towns AS SELECT j AS id, 'town ' || j AS name FROM range(3) r(j)",
    "CREATE TABLE undeclared AS SELECT 1 AS secret",
    "CREATE VIEW peek AS SELECT * FROM people",
]


@pytest.fixture(scope="module")
def shop(build_once):
    return build_once(STATEMENTS, TABLES, min_frequency=5)


@pytest.fixture
def shop_of(build):
    """The same shop, otherwise connected."""

    def connect(**options):
        return build(STATEMENTS, TABLES, **{"min_frequency": 5, **options})

    return connect


@pytest.fixture
def free():
    """A context in which nothing may be charged."""

    class Free:
        def __init__(self, db):
            self.db = db

        def __enter__(self):
            self.before = self.db.budget.queries, self.db.budget.used

        def __exit__(self, *_):
            assert (self.db.budget.queries, self.db.budget.used) == self.before

    return Free
