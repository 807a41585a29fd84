import pytest

import hedgerow as hr

TABLES = """\
t:
  unit: id
  unit_unique: true
  columns:
    x: {lower: 10, upper: 100}
    y: {lower: -50, upper: 50}
    w: {lower: 1, upper: 2}
    z: {lower: 0, upper: 100}
    g: {values: [small, middle, large]}
public_table: {public: true}
"""
ROWS = [
    """CREATE TABLE t (id BIGINT PRIMARY KEY, g VARCHAR NOT NULL, h BIGINT NOT NULL,
    x INTEGER NOT NULL, y INTEGER NOT NULL, w DOUBLE NOT NULL, z DOUBLE)""",
    """INSERT INTO t SELECT i, CASE WHEN i < 100 THEN 'small' WHEN i < 2000 THEN 'middle' ELSE 'large' END, i % 4,
    30 + i % 40, i % 60 - 40, 1 + (i % 5) / 5, CASE WHEN i % 2 = 0 THEN i % 100 END FROM range(20000) r(i)""",
    "CREATE TABLE public_table AS SELECT 7 AS a",
]


@pytest.fixture
def world(build):
    """A function that makes 20 000 people and connects to them."""

    def connect(**options):
        return build(ROWS, TABLES, **options)

    return connect


@pytest.fixture(scope="module")
def large_world(build_once):
    """The same with a budget that nothing here exhausts, for tests that do not mind each other."""
    return build_once(ROWS, TABLES)


@pytest.fixture
def refused():
    """Asks something that is refused, and gives the error."""

    def asking(ask, *words, code, kind=hr.BudgetError, **options):
        with pytest.raises(kind) as caught:
            ask(*words, **options)
        assert caught.value.code == code
        return caught.value

    return asking
