"""A joint release of moments or bins: one owner's whole vector stays within one cap, to the last integer."""

import itertools
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CHECKS = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
JOINTS = {
    "variance": ("VAR_POP(x), SUM(x), COUNT(x)", {}),
    "bezier": ("VAR_POP(x), AVG(x)", {"equal_noise": True}),
    "covariance": ("COVAR_POP(x, i)", {}),
    "correlation": ("CORR(x, i), COVAR_SAMP(x, i)", {}),
    "filtered": ("REGR_SLOPE(x, i) FILTER (WHERE b)", {}),
    "bins": ("HISTOGRAM_BIN(x, 0, -2, 1, 4, 10)", {}),
    "values": ("VALUE_BIN(i, 0, 0, 5, 5.0, 3, 0)", {}),
}
LIMITS = [(1, 1, 1), (2, 1, 2), (3, 2, 2), (3, 2, None), (2, None, 1)]
ROWS = [(g, x, i, b) for g in "ab" for x, i, b in ((-2.0, 0, True), (10.0, 5, True), (4.0, 3, True), (None, 5, None))]
joint_releases = pytest.mark.parametrize("joint", JOINTS)
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


def cap_of(plan):
    """The power that norms are taken to, and the cap in it: T^2 or A."""
    return (2, plan.bounding.l2_squared) if plan.mechanism == "gaussian" else (1, plan.bounding.l1)


def norm(vectors, power):
    """Of all coordinates of all keys together."""
    return sum((abs(number) ** power for vector in vectors for number in vector), Fraction(0))


@pytest.fixture
def joint_plan(laboratory, limits):
    def plan(joint, mechanism, bounds, keys="GROUP BY g", **plan_options):
        measures, options = JOINTS[joint]
        shown = f"g, {measures}" if keys else measures
        return laboratory.plan(
            f"SELECT {shown} FROM t {keys}", limits(*bounds), mechanism=mechanism, **plan_options, **options
        )

    return plan


@pytest.fixture
def owners_of(laboratory, row):
    """The vectors of many owners, each under keys of its own, in one statement."""

    def measure(owners, plan):
        rows = [row(n, f"{n}:{g}", "p", x, i, b) for n, own in enumerate(owners) for g, x, i, b in own]
        actual = defaultdict(list)
        for (key,), vector in laboratory.measure(rows, plan, selected=sorted({(r.g,) for r in rows})).vectors.items():
            actual[int(key.split(":")[0])].append(vector)
        return actual

    return measure


SMALL = [own for size in (1, 2, 3) for own in itertools.combinations_with_replacement(ROWS, size)]


@both
@joint_releases
def test_every_small_owner_stays_within_the_cap_and_some_reach_it(joint_plan, owners_of, joint, mechanism):
    """All 164 owners of up to three rows over two keys and four contents: the vector is measured, not bounded."""
    assert len(SMALL) == 164
    for bounds in LIMITS:
        plan = joint_plan(joint, mechanism, bounds)
        power, cap = cap_of(plan)
        norms = [norm(vectors, power) for vectors in owners_of(SMALL, plan).values()]
        assert max(norms) <= cap
        assert max(norms) >= cap * Fraction(999, 1000), "the noise is not larger than it must be"


@both
@joint_releases
def test_the_test_notices_a_denominator_one_percent_off(joint_plan, owners_of, joint, mechanism):
    plan = joint_plan(joint, mechanism, LIMITS[1])
    wrong = replace(
        plan, noisy_sums=tuple(replace(c, denominator=c.denominator * 99 // 100 or 1) for c in plan.noisy_sums)
    )
    if any(coordinate.denominator == 1 for coordinate in plan.noisy_sums):
        wrong = replace(plan, noisy_sums=tuple(_larger(c) for c in plan.noisy_sums))
    power, cap = cap_of(plan)
    assert max(norm(vectors, power) for vectors in owners_of(SMALL, wrong).values()) > cap


def _larger(coordinate):
    """A coordinate of whole rows that counts 101 for 100."""
    combination = tuple((index, factor * 101) for index, factor in coordinate.combination)
    return replace(coordinate, combination=combination, denominator=100)


@both
@joint_releases
def test_the_test_notices_weights_that_are_left_out(joint_plan, owners_of, joint, mechanism):
    """Measured as if three rows in two keys were allowed, next to a cap for one."""
    plan = joint_plan(joint, mechanism, LIMITS[0])
    wrong = replace(plan, bounding=replace(plan.bounding, rows=100, rows_per_group=50, groups=9))
    power, cap = cap_of(plan)
    assert max(norm(vectors, power) for vectors in owners_of(SMALL, wrong).values()) > cap


values = st.tuples(
    st.sampled_from(["a", "b", "c", "d", None]),
    st.just("p"),
    st.one_of(st.none(), st.floats(), st.floats(-2, 10)),
    st.one_of(st.none(), st.integers(-3, 8)),
    st.sampled_from([None, True, False]),
)
own = st.builds(lambda rows, times: rows * times, st.lists(values, min_size=1, max_size=8), st.integers(1, 12))
bounds_of = st.tuples(
    st.integers(1, 8), st.one_of(st.none(), st.integers(1, 3)), st.one_of(st.none(), st.integers(1, 4))
)


@both
@joint_releases
@CHECKS
@given(
    bounds_of, st.lists(own, max_size=2), own, st.sampled_from(["", "GROUP BY g"]), st.sampled_from([0.01, 1.0, 50.0])
)
def test_one_owner_less_moves_the_whole_vector_by_at_most_the_cap(
    laboratory, row, joint_plan, joint, mechanism, bounds, members, leaver, keys, epsilon
):
    bounds = (bounds[0], None if bounds[1] is None else min(bounds[1], bounds[0]), bounds[2])
    plan = joint_plan(joint, mechanism, bounds, keys, epsilon=epsilon)
    stay = [row(n, *cells) for n, cells_of in enumerate(members) for cells in cells_of]
    everybody = stay + [row(99, *cells) for cells in leaver]
    measured = laboratory.measure(everybody, plan)
    change = measured - laboratory.measure(stay, plan, list(measured.units) if keys else None)
    power, cap = cap_of(plan)
    assert norm(change.vectors.values(), power) <= cap
