"""Counts of different values and quantiles are drawn with the noise on their receipts."""

import numpy as np
import pytest
from scipy import stats

from hedgerow.testing import assert_distribution

pytestmark = pytest.mark.mutation

FALSE_ALARM = 1e-9
GROUPS = 7_000


@pytest.fixture(scope="module")
def groups(build_once):
    """Groups of five people each, all alike: i is 0, 0, 3, 6, 6."""
    listed = ", ".join(map(str, range(GROUPS)))
    return build_once(
        [
            "CREATE TABLE t (u BIGINT PRIMARY KEY, g INTEGER NOT NULL, i INTEGER NOT NULL)",
            f"INSERT INTO t SELECT j, j // 5, [0, 0, 3, 6, 6][1 + j % 5] FROM range({5 * GROUPS}) r(j)",
        ],
        f"t: {{unit: u, unit_unique: true, columns: {{g: {{values: [{listed}]}}, i: {{lower: 0, upper: 6}}}}}}",
    )


@pytest.mark.parametrize(("mechanism", "law"), [("gaussian", "rounded gaussian"), ("laplace", "discrete laplace")])
def test_different_values_are_counted_with_the_noise_that_was_paid_for(groups, ask, mechanism, law):
    answer = ask(groups, "SELECT g, COUNT(DISTINCT i) AS n FROM t GROUP BY g", mechanism=mechanism, epsilon=0.5)
    (paid,) = answer.receipt.mechanisms
    draws = np.array(answer["n"]) - 3
    assert_distribution(draws, law, paid.scale, false_alarm=FALSE_ALARM)
    for wrong in (1.3, 1 / 1.3):
        with pytest.raises(AssertionError, match="do not follow"):
            assert_distribution(draws, law, paid.scale * wrong, false_alarm=FALSE_ALARM)


def chances(epsilon):
    """The exponential mechanism by its definition: i has score |rank - 2.5| beyond what it covers, of five rows."""
    scores = np.array([0.5, 0.5, 0.5, 0.0, 0.5, 0.5, 0.5])
    weights = np.exp(-epsilon * scores)
    return weights / weights.sum()


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_median_is_drawn_with_the_epsilon_that_was_paid_for(groups, ask, mechanism):
    """A row moves the score of a median by a half, so the epsilon on the receipt is the rate of the scores.

    Limits so sure never move the value that was drawn.
    """
    question = "SELECT g, MEDIAN(i) AS m FROM t GROUP BY g"
    answer = ask(groups, question, mechanism=mechanism, epsilon=4.0, confidence=1 - 1e-9)
    (paid,) = answer.receipt.mechanisms
    seen = np.bincount(np.array(answer["m"]).astype(int), minlength=7)
    right, double = chances(1 / paid.scale), chances(2 / paid.scale)
    for value in range(7):
        assert stats.binomtest(int(seen[value]), GROUPS, right[value]).pvalue > FALSE_ALARM
    assert stats.binomtest(int(seen[3]), GROUPS, double[3]).pvalue < FALSE_ALARM


@pytest.mark.parametrize(("mechanism", "law"), [("gaussian", "rounded gaussian"), ("laplace", "discrete laplace")])
@pytest.mark.parametrize("rows", [1, 2])
def test_the_count_that_selects_its_group_is_shown_with_its_noise(build, ask, mechanism, law, rows):
    """Groups so large that all of them are shown, so that nothing is cut off the law."""
    size, keys = 60, 6_000
    unit, limits = ("PRIMARY KEY", "unit_unique: true") if rows == 1 else ("", f"max_rows: {rows}, max_groups: 1")
    filled = f"SELECT j // {rows}, j // {rows * size} FROM range({keys * rows * size}) r(j)"
    db = build(
        [f"CREATE TABLE t (u BIGINT {unit}, g INTEGER NOT NULL)", f"INSERT INTO t {filled}"],
        f"t: {{unit: u, {limits}}}",
        min_frequency=5,
    )
    query = "SELECT g, COUNT(DISTINCT u) AS n FROM t GROUP BY g"
    answer = ask(db, query, mechanism=mechanism, epsilon=2.0, delta=1e-6)
    (paid,) = answer.receipt.mechanisms
    assert len(answer) == keys
    assert_distribution(answer["n"], law, paid.scale, centre=size, false_alarm=FALSE_ALARM)
