"""Owners of few rows are aggregated together: the same integers as from pairs, whoever has many rows."""

import pytest

from hedgerow.compile import crowded, program
from hedgerow.dialects.duckdb import DuckDBDialect
from hedgerow.dialects.spark import SCRIPT, SparkDialect
from hedgerow.dialects.statement import Computed
from hedgerow.execution.request import resolve_request
from hedgerow.plan.bind import bind
from hedgerow.sql.parse import parse

from ..internals import session_of

NONCE = "00112233445566778899aabbccddeeff"
MANY_ROWS = (
    "INSERT INTO t SELECT person.range, (line.range * person.range) % (1 + person.range % 7), "
    "(line.range * 37) % 101 - 3 FROM range(30) person, range(30) line WHERE line.range < person.range"
)
"""Person n has n rows, in up to seven keys: some have more rows than allowed, some more in one key."""

TABLE = [
    "CREATE TABLE t (u BIGINT, g INTEGER, x DOUBLE)",
    MANY_ROWS,
    "INSERT INTO t VALUES (NULL, 1, 5), (3, NULL, 5), (4, 99, 5), (5, 2, NULL)",
]
BY_KEY = "SELECT g, COUNT(*) AS n, SUM(x) AS total FROM t WHERE x < 90 GROUP BY g"
PEOPLE = "SELECT g, COUNT(DISTINCT u) AS people, COUNT(*) AS n, SUM(x) AS total FROM t GROUP BY g"
LIMITS = ["max_rows: 4", "max_rows: 12", "max_rows: 12, max_groups: 5", "max_rows: 16", "max_rows: 9, max_groups: 7"]


class CrowdedFirst(DuckDBDialect):
    """DuckDB, with the statements that engines get which shuffle rows to group them."""

    gathers = windows = crowds_first = True


class SparkFolder(SparkDialect):
    """Spark over files of a folder, which can be seen to change."""

    crowds_first = True


@pytest.fixture
def database(build):
    return lambda limits: build(
        TABLE,
        f"t: {{unit: u, {limits}, columns: {{g: {{values: [0, 1, 2, 3, 4, 5, 6]}}, x: {{lower: 0, upper: 80}}}}}}",
    )


def planned(db, text, mechanism="gaussian", **options):
    session = session_of(db)
    logical = bind(parse(text).query, session.catalog, session.schema)
    request = resolve_request(session.catalog, mechanism=mechanism, **options)
    (plan,) = session.price(logical, request, session.remaining()).parts
    return plan


def integers(db, steps):
    with session_of(db).backend.snapshot() as snapshot:
        table = snapshot.run(steps.first_pass)
    keys = [column.to_pylist() for column in table.exact_keys().columns]
    return sorted(zip(*keys, *(table.exact_integers(name).tolist() for name in table.names), strict=True), key=repr)


@pytest.fixture(params=LIMITS)
def limited(request, database):
    return database(request.param)


def test_the_integers_are_those_of_pairs(limited):
    plain = session_of(limited).backend.dialect
    special = CrowdedFirst().at(*plain.namespace)
    for text, minimum in ((BY_KEY, 1), (BY_KEY, 5), (PEOPLE, 1), (PEOPLE, 5)):
        for mechanism in ("gaussian", "laplace"):
            plan = planned(limited, text, mechanism, min_frequency=minimum)
            assert crowded.separates_crowded(plan, special), "the statement is the one under test"
            expected = integers(limited, program(plan, plain, NONCE))
            assert integers(limited, program(plan, special, NONCE)) == expected
            assert any(expected)


def test_owners_within_the_number_of_rows_are_within_every_limit(limited):
    """All ways to distribute N rows over keys: the keys, the rows of each, and the size stay within the limits."""
    for mechanism in ("gaussian", "laplace"):
        plan = planned(limited, BY_KEY, mechanism, min_frequency=1)
        rows = crowded.rows_within_limits(plan)
        for counts in _partitions(rows, rows, 7):
            size = sum(counts) if plan.l1_weights else sum(count**2 for count in counts)
            assert len(counts) <= plan.bounding.groups
            assert max(counts) <= plan.bounding.rows_per_group
            assert size <= crowded.most_size(plan)


def _partitions(total, largest, parts):
    """Yield the ways to write a number as a sum of at most so many numbers."""
    if total == 0:
        yield ()
    elif parts:
        for first in range(min(total, largest), 0, -1):
            for rest in _partitions(total - first, first, parts - 1):
                yield (first, *rest)


def test_spark_finds_the_owners_of_many_rows_before_it_plans_the_statement(database):
    plan = planned(database("max_rows: 12"), BY_KEY, min_frequency=1)
    steps = program(plan, SparkFolder(), NONCE).first_pass.sql.split(";\n")
    assert f"{SCRIPT[Computed.FIRST]} crowded AS SELECT o FROM private_rows GROUP BY o HAVING COUNT(*) > 12" in steps


def test_every_pair_is_made_where_limits_are_low(database):
    plan = planned(database("max_rows: 3"), BY_KEY, min_frequency=1)
    assert SCRIPT[Computed.FIRST] not in program(plan, SparkFolder(), NONCE).first_pass.sql


def test_spark_reads_rows_once_where_they_may_change(database):
    plan = planned(database("max_rows: 12"), BY_KEY, min_frequency=1)
    assert SCRIPT[Computed.FIRST] not in program(plan, SparkDialect(), NONCE).first_pass.sql
