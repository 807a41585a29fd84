"""Without noise, and with nobody beyond a limit, the numbers are those of plain SQL, up to the grid of the values."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CHECKS = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
MEASURES = (
    "COUNT(*), COUNT(x), SUM(x), AVG(x), SUM(i), AVG(i), COUNT(DISTINCT u) + 0 * COUNT(*), SUM(x) FILTER (WHERE b)"
)
STEP = Fraction(1, 2**12)
"""The grid of x, whose range is 12 wide, is finer than this."""

values = st.tuples(
    st.sampled_from([None, "a", "b"]),
    st.just("p"),
    st.one_of(st.none(), st.floats(-2, 10)),
    st.one_of(st.none(), st.integers(0, 5)),
    st.sampled_from([None, True, False]),
)
people = st.lists(st.lists(values, min_size=1, max_size=3), max_size=6)


@pytest.fixture
def without_noise(laboratory):
    """Each aggregate's count or sum and (for a mean) its quotient, per key, from exact coordinates."""

    def answers(rows, plan):
        actual = {}
        for key, vector in laboratory.measure(rows, plan).vectors.items():
            form = lambda terms, vector=vector: sum(Fraction(c) * vector[i] for i, c in terms)  # noqa: E731
            actual[key] = [
                (form(recipe.count), form(recipe.total), form(recipe.centred), recipe) for recipe in plan.sum_forms
            ]
        return actual

    return answers


def _mean(count, centred, recipe):
    return None if count == 0 else Fraction(recipe.middle) + Fraction(recipe.half) * centred / count


@CHECKS
@given(people, st.sampled_from(["gaussian", "laplace"]), st.sampled_from(["", "g"]), st.booleans())
def test_the_numbers_are_those_of_plain_sql(laboratory, limits, row, without_noise, crowd, mechanism, keys, unique):
    bounds = limits(unique=True) if unique else limits(rows=3)
    grouped = f" GROUP BY {keys}" if keys else ""
    shown = f"{keys}, {MEASURES}" if keys else MEASURES
    plan = laboratory.plan(f"SELECT {shown} FROM t{grouped}", bounds, mechanism=mechanism)
    rows = [row(n, *v) for n, own in enumerate(crowd) for v in (own[:1] if unique else own)]

    actual = without_noise(rows, plan)

    table = "one" if unique else "many"
    exact = laboratory.connection.execute(f"SELECT {shown}, COUNT(DISTINCT u) FROM {table}{grouped}").fetchall()
    assert len(actual) == len(exact)
    for line in exact:
        key, (n, n_x, sum_x, mean_x, sum_i, mean_i, _, sum_b, units) = line[: len(line) - 9], line[-9:]
        got = actual[key]
        assert got[0][0] == n
        assert got[1][0] == n_x
        assert got[6][0] == units
        assert abs(got[2][1] - Fraction(sum_x or 0.0)) <= max(n_x, 1) * STEP
        assert got[4][1] == (sum_i or 0)
        assert abs(got[7][1] - Fraction(sum_b or 0.0)) <= max(n_x, 1) * STEP
        means = _mean(got[3][0], got[3][2], got[3][3]), _mean(got[5][0], got[5][2], got[5][3])
        assert (means[0] is None) == (mean_x is None)
        assert means[0] is None or abs(means[0] - Fraction(mean_x)) <= STEP
        assert means[1] is None or math.isclose(means[1], mean_i, abs_tol=1e-12)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("beyond", [math.inf, 1e308, 10.000001])
def test_values_beyond_the_bounds_count_as_the_bound(laboratory, limits, row, without_noise, mechanism, beyond):
    plan = laboratory.plan("SELECT COUNT(x), SUM(x), AVG(x) FROM t", limits(rows=3), mechanism=mechanism)
    rows = [row(1, x=beyond), row(2, x=beyond), row(3, x=-beyond), row(4, x=math.nan), row(5, x=None)]
    ((count, _, _, _), (_, total, _, _), (_, _, centred, recipe)) = without_noise(rows, plan)[()]
    assert count == 3
    assert abs(total - (10 + 10 - 2)) <= 3 * STEP
    assert abs(_mean(count, centred, recipe) - 6) <= STEP


def test_all_pairs_of_tiny_owners_add_up(laboratory, limits, row):
    """Every database of two owners with up to two rows over two keys and two values: 225 of them in one statement."""
    kinds = list(itertools.product("ab", (-2.0, 10.0)))
    owners = [own for size in range(3) for own in itertools.combinations_with_replacement(kinds, size)]
    pairs = list(itertools.product(owners, owners))
    assert len(pairs) == 225
    for mechanism, (rows, per_group, groups) in itertools.product(
        ("gaussian", "laplace"), [(1, 1, 1), (2, 1, 1), (2, 1, 2), (2, 2, 1)]
    ):
        plan = laboratory.plan(
            "SELECT g, COUNT(*), AVG(x), COUNT(DISTINCT u) + COUNT(x) FROM t GROUP BY g",
            limits(rows=rows, per_group=per_group, groups=groups),
            mechanism=mechanism,
        )
        together, alone = [], []
        for number, (first, second) in enumerate(pairs):
            together += [row(2 * number, f"{number}{g}", "p", x) for g, x in first]
            together += [row(2 * number + 1, f"{number}{g}", "p", x) for g, x in second]
        for number, own in enumerate(owners):
            alone += [row(number, f"{number}{g}", "p", x) for g, x in own]
        both = laboratory.measure(together, plan, selected=sorted({(r.g,) for r in together})).vectors
        single = laboratory.measure(alone, plan, selected=sorted({(r.g,) for r in alone})).vectors
        zero = (Fraction(0),) * len(plan.noisy_sums)
        for number, (first, second) in enumerate(pairs):
            for g in "ab":
                parts = [single.get((f"{owners.index(own)}{g}",), zero) for own in (first, second)]
                assert both.get((f"{number}{g}",), zero) == tuple(a + b for a, b in zip(*parts, strict=True))
