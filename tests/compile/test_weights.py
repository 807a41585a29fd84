"""The cap of an owner is a root, taken in floats: where it comes out one too large, it is taken back."""

from math import isqrt

import pytest

from hedgerow.execution.request import resolve_request
from hedgerow.execution.run import compile_steps
from hedgerow.plan.bind import bind
from hedgerow.sql.parse import parse

from ..internals import session_of

pytestmark = pytest.mark.mutation

ONE = 2**30


@pytest.mark.parametrize(("most", "first", "second"), [(837, 490, 737), (904, 748, 879), (947, 675, 771)])
def test_an_owner_whose_cap_is_rounded_up_stays_within_it(build, most, first, second):
    """Rows in two keys for which the float root of T^2 4^b / q is a whole number, and too large."""
    q = first**2 + second**2
    rounded = int((float(most**2 * ONE**2) / q) ** 0.5)
    assert rounded**2 * q > most**2 * ONE**2, "the case is one in which floats are not enough"
    db = build(
        [
            "CREATE TABLE t (u BIGINT, g INTEGER)",
            f"INSERT INTO t SELECT 1, 0 FROM range({first}) UNION ALL SELECT 1, 1 FROM range({second})",
        ],
        f"t: {{unit: u, max_rows: {most}, max_groups: 1, columns: {{g: {{values: [0, 1]}}}}}}",
    )
    sums = exact_counts(db)
    assert sum(total**2 for total in sums) <= most**2 * ONE**2
    assert sum(total**2 for total in sums) > most**2 * ONE**2 * (1 - 1e-8)


def test_every_person_of_a_group_contributes_to_it_however_many_groups_they_are_in(build):
    """Thirty people in each of ten groups may count in one: each is weighted down, none is dropped."""
    db = build(
        [
            "CREATE TABLE t (u BIGINT, g INTEGER)",
            "INSERT INTO t SELECT person.range, key.range FROM range(30) person, range(10) key",
        ],
        "t: {unit: u, max_rows: 1, max_groups: 1, columns: {g: {values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}}}",
    )
    weight = isqrt(ONE**2 // 10)
    assert exact_counts(db) == [30 * weight] * 10


def exact_counts(db):
    """The exact integers behind COUNT(*) by key, one row of one person being 2^30."""
    session = session_of(db)
    logical = bind(parse("SELECT g, COUNT(*) AS n FROM t GROUP BY g").query, session.catalog, session.schema)
    statement = session.price(logical, resolve_request(session.catalog, mechanism="gaussian"), session.remaining())
    (steps,) = compile_steps(statement, session.backend)
    with session.backend.snapshot() as snapshot:
        return snapshot.run(steps.first_pass).exact_integers("s0").tolist()
