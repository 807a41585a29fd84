"""Sums and means of group averages: never short, and not much longer than their noise."""

import numpy as np
import pytest
from scipy.stats import binom, norm

FALSE_ALARM = 1e-9
CONFIDENCE = 0.9
SUMS = 300
EACH = 10
"""Number of sums in one answer, and of averages in each."""

EPSILONS = {"gaussian": 60, "laplace": 20}
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


@pytest.fixture(scope="module")
def town(build_once):
    """Groups of twenty people, whose averages differ."""
    groups = SUMS * EACH
    return build_once(
        [
            "CREATE TABLE t (u BIGINT PRIMARY KEY, g INT NOT NULL, x DOUBLE NOT NULL)",
            f"INSERT INTO t SELECT j, j // 20, (j * 7 + j // 20) % 11 FROM range({20 * groups}) r(j)",
        ],
        f"t: {{unit: u, unit_unique: true, columns: {{x: {{lower: 0, upper: 10}}, "
        f"g: {{values: [{', '.join(map(str, range(groups)))}]}}}}}}",
        handed_in=True,
    )


@both
@pytest.mark.parametrize("function", ["AVG", "SUM"])
def test_sums_of_group_averages_hold_and_are_not_much_longer_than_needed(town, ask, function, mechanism):
    query = (
        f"SELECT g % {SUMS} AS h, {function}(m) AS it FROM (SELECT g, AVG(x) AS m FROM t GROUP BY g) AS r GROUP BY h"
    )
    exact = dict(town.owner.execute(query).fetchall())
    rows, options = [], {"mechanism": mechanism, "confidence": CONFIDENCE, "epsilon": EPSILONS[mechanism]}
    for _ in range(3):
        answer = ask(town, query, **options)
        ends = ([getattr(bars["it"], end) for bars in answer.intervals] for end in ("lower", "upper"))
        rows.append([[exact[h] for h in answer["h"]], answer["it"], *ends])
    truth, values, lower, upper = np.concatenate(rows, axis=1)
    held = int(np.sum((lower <= truth) & (truth <= upper)))
    assert binom.cdf(held, len(truth), CONFIDENCE) > FALSE_ALARM
    needed = norm.isf((1 - CONFIDENCE) / 2) * np.std(values - truth)
    assert np.median(upper - lower) / 2 <= 1.5 * needed
    short = int(np.sum(np.abs(truth - (lower + upper) / 2) <= 0.7 * needed))
    assert binom.cdf(short, len(truth), CONFIDENCE) < FALSE_ALARM


def test_small_groups_fall_back_to_intervals_that_hold_at_once(town, ask):
    query = f"SELECT g % {SUMS} AS h, SUM(m) AS it FROM (SELECT g, AVG(x) AS m FROM t GROUP BY g) AS r GROUP BY h"
    exact = dict(town.owner.execute(query).fetchall())
    answer = ask(town, query, mechanism="laplace", confidence=CONFIDENCE, epsilon=1)
    held = sum(
        bars["it"].lower <= exact[row.h] <= bars["it"].upper for bars, row in zip(answer.intervals, answer, strict=True)
    )
    assert binom.cdf(held, SUMS, CONFIDENCE) > FALSE_ALARM
    assert all(-1e-3 <= bars["it"].lower <= bars["it"].upper <= 10 * EACH + 1e-3 for bars in answer.intervals)
