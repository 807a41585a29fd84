import math

import pytest

from hedgerow.accounting import event_from_dict, gaussian_delta
from hedgerow.accounting.budget import Cost

TABLES = """\
t: {unit: id, max_rows: 3}
one: {unit: id, unit_unique: true}
free: {unit: id}
places: {public: true}
"""
ROWS = [
    """CREATE TABLE t AS SELECT i // 3 AS id, i % 7 AS k, (i % 1000) * 1.5 AS x, CAST(i % 50 AS DECIMAL(15, 2)) AS d,
    1990 + i % 31 AS year, DATE '2020-01-01' + CAST(i % 365 AS INTEGER) AS day, 'a' || i % 2 AS name,
    CAST(CASE WHEN i % 4 = 0 THEN NULL ELSE i % 100 - 30 END AS DOUBLE) AS y FROM range(60000) r(i)""",
    """CREATE TABLE one (id BIGINT PRIMARY KEY, v DOUBLE NOT NULL, zero DOUBLE NOT NULL, many DOUBLE)""",
    """INSERT INTO one
    SELECT i, i % 100, 0, CASE WHEN i % 5 = 0 THEN CAST('nan' AS DOUBLE) ELSE i % 40 END FROM range(30000) r(i)""",
    "CREATE TABLE free AS SELECT i % 5000 AS id, i % 11 AS z FROM range(100000) r(i)",
    "CREATE TABLE places AS SELECT 7 AS a",
]
PLENTY = 400
"""An epsilon at which noise is far below one person, so that what is found is certain."""


@pytest.fixture
def world(build):
    """A function that makes some thousand people with rows in several tables, and connects to them."""

    def connect(extra=(), **options):
        return build([*ROWS, *extra], TABLES, **options)

    return connect


@pytest.fixture(scope="module")
def large_world(build_once):
    """The same for tests that do not mind each other."""
    return build_once(ROWS, TABLES)


@pytest.fixture(scope="module")
def gaussian_world(build_once):
    """The same on a ledger as `hedgerow init` writes it: without room for Laplace noise."""
    return build_once(ROWS, TABLES, budget="{epsilon: 1000000, delta: 1e-2}")


@pytest.fixture
def plenty():
    return PLENTY


@pytest.fixture
def charged():
    """Every charge in a ledger: epsilon and delta."""

    def charges(db):
        built = [entry for entry in db.budget.history if entry.status == "answered"]
        return [(entry.charge["epsilon"], entry.charge["delta"]) for entry in built]

    return charges


@pytest.fixture(scope="session")
def guaranteed_delta():
    """Delta of charges at an epsilon, by the theorem of the ledger's filter; and the root of the sum of mu squared."""

    def guaranteed(charges, epsilon):
        cost = sum((event_from_dict(event).cost for charge in charges for event in charge["events"]), Cost())
        mu = math.sqrt(float(cost.gaussian))
        return gaussian_delta(epsilon - float(cost.pure), mu) + float(cost.mass), mu

    return guaranteed
