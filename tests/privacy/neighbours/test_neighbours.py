"""One owner more or less moves every exact integer within what was paid for: exactly, all groups together."""

import math
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CALM = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
CHECKS = settings(max_examples=15, deadline=None, suppress_health_check=CALM)
"""Planning a statement takes the engine longer than running it; `test_each_owner` covers owners by the thousand."""

MEASURES = [
    "COUNT(*)",
    "COUNT(x)",
    "COUNT(i)",
    "COUNT(b)",
    "COUNT(DISTINCT u)",
    "SUM(x)",
    "SUM(i)",
    "AVG(x)",
    "AVG(i)",
    "SUM(b)",
    "SUM(x) FILTER (WHERE b)",
    "AVG(x) FILTER (WHERE i > 2)",
    "COUNT(*) FILTER (WHERE NOT b)",
    "COUNT(x) FILTER (WHERE x > 3)",
    "SUM(CLIP(x * i, -3, 7))",
    "AVG(CASE WHEN b THEN x ELSE i END)",
    "SUM(CLIP(i / x, 0, 1))",
    "VAR_POP(x)",
    "STDDEV(i)",
    "VAR_POP(x) FILTER (WHERE b)",
    "COVAR_POP(x, i)",
    "CORR(i, x)",
    "REGR_SLOPE(x, i) FILTER (WHERE i > 2)",
    "HISTOGRAM_BIN(x, 1, -2, 0, 4, 10)",
    "HISTOGRAM_BIN(i, 0, 0, 2, 5)",
    "VALUE_BIN(g, 0, 'a', 'b', 'A', 'a')",
    "VALUE_BIN(i, 1, 1, 1.0, 2)",
]
KEYS = ["", "g", "d", "g, d", "i // 2", "b, d", "x"]

floats = st.one_of(
    st.none(),
    st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, -5e-324, 1e308, -1e308, -2.0, 10.0, 4.0]),
    st.floats(-2, 10),
    st.floats(),
)
integers = st.one_of(st.none(), st.integers(-1, 6), st.sampled_from([2**63 - 1, -(2**63), 2**53 + 1]))
contents = st.tuples(
    st.sampled_from([None, "", "a", "A", "b", "c", "d", "\x00", "|"]),
    st.sampled_from([None, "p", "q", "r", "p ", "elsewhere"]),
    floats,
    integers,
    st.sampled_from([None, True, False]),
)
a_few = st.lists(contents, max_size=4)
many_rows = st.builds(lambda rows, times: rows * times, st.lists(contents, min_size=1, max_size=6), st.integers(1, 40))
crowd = st.lists(st.one_of(a_few, many_rows), max_size=4)


@st.composite
def statements(draw):
    """A statement, the limits on one owner, and how it is asked."""
    measures = draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=4, unique=True))
    keys = draw(st.sampled_from(KEYS))
    where = draw(st.sampled_from(["", "WHERE x > 0", "WHERE b OR i IS NULL", "WHERE u <> 3"]))
    shown = ", ".join([*([keys] if keys else []), *measures])
    select = f"SELECT {shown} FROM t {where}" + (f" GROUP BY {keys}" if keys else "")
    rows = draw(st.integers(1, 9))
    limits = {
        "rows": rows,
        "per_group": draw(st.one_of(st.none(), st.integers(1, rows))),
        "groups": draw(st.one_of(st.none(), st.integers(1, 6))),
        "unique": draw(st.booleans()),
    }
    options = {
        "mechanism": draw(st.sampled_from(["gaussian", "laplace"])),
        "min_frequency": draw(st.sampled_from([1, 3])),
        "epsilon": draw(st.sampled_from([0.01, 1.0, 30.0])),
        "equal_noise": draw(st.booleans()),
    }
    return select, limits, options


@pytest.fixture
def owned(row):
    """Rows of everybody: each member of a crowd under a number of its own, and some rows that nobody owns."""

    def assign(members, nobody, *, unique):
        rows = []
        for number, own in enumerate(members):
            rows += [row(number, *values) for values in (own[:1] if unique else own)]
        return rows + [row(None, *values) for values in nobody]

    return assign


neighbours = given(statements(), crowd, st.one_of(a_few, many_rows), a_few, st.randoms())


@pytest.fixture
def one_more(laboratory, limits, owned, row, paid):
    """Check one statement on a database and on the same with a newcomer."""
    return partial(_one_more, laboratory, limits, owned, row, paid)


@settings(CHECKS, max_examples=25)
@neighbours
def test_one_owner_more_moves_all_numbers_within_the_charge(one_more, statement, members, newcomer, nobody, random):
    one_more(statement, members, newcomer, nobody, random)


@pytest.mark.slow
@settings(CHECKS, max_examples=3000)
@neighbours
def test_one_owner_more_moves_all_numbers_within_the_charge_at_length(
    one_more, statement, members, newcomer, nobody, random
):
    one_more(statement, members, newcomer, nobody, random)


def _one_more(laboratory, limits, owned, row, paid, statement, members, newcomer, nobody, random):
    select, bounds, options = statement
    unique = bounds["unique"]
    plan = laboratory.plan(select, limits(**bounds), **options)
    before = owned(members, nobody, unique=unique)
    after = before + [row(1000, *values) for values in (newcomer[:1] if unique else newcomer)]
    random.shuffle(after)
    keys = list(laboratory.measure(after, plan).units)
    selected = [key for key in keys if random.random() < 0.7] if plan.selection is not None and keys != [()] else None

    change = laboratory.measure(after, plan, selected) - laboratory.measure(before, plan, selected)

    spent, charged = paid(change, plan)
    assert spent <= charged
    if options["mechanism"] == "laplace":
        assert charged <= Fraction(options["epsilon"])
    groups = plan.bounding.groups
    assert all(move == 1 for move in change.units.values())
    assert len(change.units) <= (1 if not plan.release.keys else groups)


@CHECKS
@given(statements(), crowd, st.one_of(a_few, many_rows))
def test_each_coordinate_moves_within_its_stated_sensitivity(
    laboratory, limits, owned, row, statement, members, newcomer
):
    select, bounds, options = statement
    unique = bounds["unique"]
    plan = laboratory.plan(select, limits(**bounds), **options)
    before = owned(members, [], unique=unique)
    after = before + [row(1000, *values) for values in (newcomer[:1] if unique else newcomer)]
    measured = laboratory.measure(after, plan)
    change = measured - laboratory.measure(before, plan, list(measured.units))
    for index in range(len(plan.noisy_sums)):
        moved = [vector[index] for vector in change.vectors.values()]
        if plan.mechanism == "gaussian":
            assert sum(move**2 for move in moved) <= plan.bounding.l2_squared
        else:
            assert sum(abs(move) for move in moved) <= plan.bounding.l1


@CHECKS
@given(statements(), crowd, st.randoms())
def test_owners_add_up_and_do_not_touch_each_other(laboratory, limits, owned, statement, members, random):
    """The measure of everybody is the exact sum of what is measured of each alone, given the selected keys."""
    select, bounds, options = statement
    plan = laboratory.plan(select, limits(**bounds), **options)
    rows = owned(members, [], unique=bounds["unique"])
    random.shuffle(rows)
    together = laboratory.measure(rows, plan)
    keys = list(together.units)
    rest = together
    for owner in {r.owner for r in rows}:
        rest -= laboratory.measure([r for r in rows if r.owner == owner], plan, keys)
    assert not any(any(vector) for vector in rest.vectors.values())
    assert not any(rest.units.values())


@CHECKS
@given(statements(), crowd, a_few, st.randoms())
def test_the_order_of_rows_changes_no_integer(laboratory, limits, owned, statement, members, nobody, random):
    select, bounds, options = statement
    plan = laboratory.plan(select, limits(**bounds), **options)
    rows = owned(members, nobody, unique=bounds["unique"])
    once = laboratory.measure(rows, plan)
    random.shuffle(rows)
    again = laboratory.measure(rows, plan)
    assert again == once


@CHECKS
@given(statements(), crowd)
def test_the_survey_gives_the_sums_over_all_keys(laboratory, limits, owned, statement, members):
    """If every key is selected, the sums of the first pass are used: they must equal those of the second statement."""
    select, bounds, options = statement
    plan = laboratory.plan(select, limits(**bounds), **options)
    rows = owned(members, [], unique=bounds["unique"])
    direct, seen = laboratory.first_pass(rows, plan)
    if seen <= {len(direct)}:
        assert direct == laboratory.measure(rows, plan).vectors


def test_rows_that_nobody_owns_never_count(laboratory, limits, row):
    plan = laboratory.plan("SELECT g, COUNT(*), SUM(x) FROM t GROUP BY g", limits(rows=3))
    assert laboratory.measure([row(None, "a", "p", 4.0, 1, b=True)] * 5, plan).units == {}


def test_an_empty_table_has_one_row_of_zeros_without_keys_and_none_with_them(laboratory, limits):
    scalar = laboratory.plan("SELECT COUNT(*), SUM(x), AVG(i) FROM t", limits(rows=3))
    assert [set(v) for v in laboratory.measure([], scalar).vectors.values()] == [{0}]
    grouped = laboratory.plan("SELECT g, COUNT(*) FROM t GROUP BY g", limits(rows=3))
    assert laboratory.measure([], grouped).vectors == {}
