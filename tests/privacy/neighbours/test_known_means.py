"""One owner more or less moves averages around known means within what was paid for: exactly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.privacy.neighbours.test_neighbours import CHECKS, a_few, crowd, many_rows

from hedgerow.privacy.statement_sums import needed_sums

STATEMENTS = [
    "SELECT AVG(x) FROM t",
    "SELECT g, AVG(x) FROM t GROUP BY g",
    "SELECT d, AVG(x), AVG(x) FILTER (WHERE b) FROM t GROUP BY d",
]


def with_means(laboratory, select, limits, mean, **options):
    """The plan of a statement whose averages are known."""
    release = laboratory.plan(select, limits, **options).release
    means = {release: dict.fromkeys(needed_sums(release), mean)}
    return laboratory.plan(select, limits, means=means, **options)


@settings(CHECKS, max_examples=15)
@given(
    st.sampled_from(STATEMENTS), st.floats(3, 5), st.integers(1, 9), st.booleans(), crowd, st.one_of(a_few, many_rows)
)
def test_one_owner_more_moves_all_numbers_within_the_charge(
    laboratory, limits, row, paid, select, mean, rows, unique, members, newcomer
):
    plan = with_means(laboratory, select, limits(rows, unique=unique), mean)
    assert all(form.ends == (-2.0, 10.0) for form in plan.sum_forms)
    own = slice(1 if unique else None)
    before = [row(number, *values) for number, actual in enumerate(members) for values in actual[own]]
    after = before + [row(1000, *values) for values in newcomer[own]]
    measured = laboratory.measure(after, plan)
    change = measured - laboratory.measure(before, plan, list(measured.units))
    spent, charged = paid(change, plan)
    assert spent <= charged


@pytest.mark.parametrize("select", STATEMENTS)
def test_a_known_mean_costs_nothing_more(laboratory, limits, select):
    plain, around = laboratory.plan(select, limits(3)), with_means(laboratory, select, limits(3), 4.5)
    assert float(around.charge.cost.gaussian) == pytest.approx(float(plain.charge.cost.gaussian), rel=1e-6)
    assert around.noisy_sums[0].noise.sigma > plain.noisy_sums[0].noise.sigma
    assert around.noisy_sums[-1].noise.sigma < plain.noisy_sums[-1].noise.sigma
