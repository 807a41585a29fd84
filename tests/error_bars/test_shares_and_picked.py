"""Shares stay in what the plan proves for them, and noise that did not pick a row costs its intervals nothing."""

import numpy as np
import pytest
from scipy.stats import binom

FALSE_ALARM = 1e-9
CONFIDENCE = 0.9
GROUPS = 1_000
ROWS = 6 * GROUPS
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


@pytest.fixture(scope="module")
def crowd(build_once):
    """Groups of six people; half of them have b = 1, and x goes from 0 to 10."""
    return build_once(
        [
            "CREATE TABLE t (u BIGINT PRIMARY KEY, g INT NOT NULL, x DOUBLE NOT NULL, y DOUBLE, b INT NOT NULL)",
            f"INSERT INTO t SELECT j, j // 6, j * 7 % 11, IF(j % 3 > 0, 5, NULL), j % 2 FROM range({ROWS}) r(j)",
        ],
        "t: {unit: u, unit_unique: true, columns: {x: {lower: 0, upper: 10}, y: {lower: -5, upper: 5}, "
        f"b: {{lower: 0, upper: 1}}, g: {{values: [{', '.join(map(str, range(GROUPS)))}]}}}}}}",
        handed_in=True,
    )


def ends(answer, column):
    return tuple(np.array([getattr(bars[column], end) for bars in answer.intervals]) for end in ("lower", "upper"))


def holds(answer, db, column, expression):
    """Return the number of intervals that hold, and of those that would if they were 30 % shorter."""
    exact = dict(db.owner.execute(f"SELECT g, {expression} FROM t GROUP BY g").fetchall())
    truth = np.array([exact[group] for group in answer["g"]], dtype=float)
    lower, upper = ends(answer, column)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    return int(np.sum((lower <= truth) & (truth <= upper))), int(np.sum(np.abs(truth - middle) <= 0.7 * half))


RANGES = {
    "COUNT(*) FILTER (WHERE b = 1) / COUNT(*)": (0, 1),
    "100.0 * COUNT(y) / COUNT(*)": (0, 100),
    "SUM(x) / COUNT(*)": (0, 10),
    "SUM(x) FILTER (WHERE b = 1) / SUM(x)": (0, 1),
    "SUM(y) / COUNT(*)": (-5, 5),
}


@both
@pytest.mark.parametrize("expression", RANGES)
def test_a_share_of_a_small_group_stays_in_its_range_and_holds(crowd, ask, expression, mechanism):
    options = {"mechanism": mechanism, "confidence": CONFIDENCE, "epsilon": 1}
    answer = ask(crowd, f"SELECT g, {expression} AS it FROM t GROUP BY g", **options)
    lower, upper = ends(answer, "it")
    lowest, highest = RANGES[expression]
    near = 1e-3 * (highest - lowest)
    assert lower.min() >= lowest - near
    assert upper.max() <= highest + near
    values = np.array([value for value in answer["it"] if value is not None])
    assert np.all((values >= lowest - near) & (values <= highest + near))
    hits, _ = holds(
        answer, crowd, "it", expression.replace("100.0 *", "100.0 * 1.0 *").replace("COUNT(*) F", "1.0 * COUNT(*) F")
    )
    assert binom.cdf(hits, GROUPS, CONFIDENCE) > FALSE_ALARM


def test_a_share_that_is_well_known_is_as_short_as_its_noise_allows(crowd, ask):
    query = "SELECT g, COUNT(*) FILTER (WHERE b = 1) / COUNT(*) AS it FROM t GROUP BY g"
    answer = ask(crowd, query, mechanism="gaussian", confidence=CONFIDENCE, epsilon=12)
    hits, fewer = holds(answer, crowd, "it", "AVG(b)")
    assert binom.cdf(hits, GROUPS, CONFIDENCE) > FALSE_ALARM
    assert binom.cdf(fewer, GROUPS, CONFIDENCE) < FALSE_ALARM


def test_quotients_without_a_range_have_none(crowd, ask):
    """More rows may be above than below, and a sum of numbers of both signs may be zero."""
    expressions = [
        "COUNT(*) / COUNT(y)",
        "SUM(x) / SUM(y)",
        "COUNT(*) FILTER (WHERE b = 1) / COUNT(*) FILTER (WHERE b = 0)",
    ]
    for expression in expressions:
        answer = ask(crowd, f"SELECT g, {expression} AS it FROM t GROUP BY g", mechanism="gaussian", epsilon=1)
        assert np.isinf(ends(answer, "it")[1]).any(), expression


def test_a_share_of_a_total_lies_between_zero_and_one(crowd, ask):
    query = "SELECT g, n / SUM(n) OVER () AS it FROM (SELECT g, COUNT(*) AS n FROM t WHERE u < 12 GROUP BY g) AS r"
    answer = ask(crowd, query, mechanism="gaussian", epsilon=0.01)
    lower, upper = ends(answer, "it")
    assert lower.min() >= 0
    assert upper.max() <= 1


PICKING = ["HAVING COUNT(*) > 6", "ORDER BY n DESC LIMIT 400", "QUALIFY RANK() OVER (ORDER BY n DESC) <= 400"]


@both
@pytest.mark.parametrize("picking", PICKING)
def test_a_sum_beside_a_condition_on_a_count_holds_as_often_as_it_says_and_no_more(crowd, ask, picking, mechanism):
    hits = fewer = rows = 0
    for _ in range(4):
        query = f"SELECT g, SUM(x) AS s, COUNT(*) AS n FROM t GROUP BY g {picking}"
        answer = ask(crowd, query, mechanism=mechanism, confidence=CONFIDENCE, epsilon=0.2)
        held, short = holds(answer, crowd, "s", "SUM(x)")
        hits, fewer, rows = hits + held, fewer + short, rows + len(answer)
    assert 1_000 < rows < 3_000
    assert binom.cdf(hits, rows, CONFIDENCE) > FALSE_ALARM
    assert binom.sf(hits - 1, rows, CONFIDENCE) > FALSE_ALARM
    assert binom.cdf(fewer, rows, CONFIDENCE) < FALSE_ALARM


WIDENED = {
    "n": "SELECT g, SUM(x) AS s, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > 6",
    "s": "SELECT g, SUM(x) AS s, COUNT(*) AS n FROM t GROUP BY g HAVING SUM(x) > 30",
    "a": "SELECT g, AVG(x) AS a FROM t GROUP BY g ORDER BY COUNT(x) LIMIT 20",
    "d": "SELECT g, SUM(x) - COUNT(*) AS d FROM t GROUP BY g ORDER BY COUNT(*) LIMIT 100",
}


@pytest.mark.parametrize("column", WIDENED)
def test_numbers_with_noise_that_picked_their_row_are_longer_than_others(crowd, ask, column):
    query = WIDENED[column]
    options = {"mechanism": "gaussian", "epsilon": 40.0}
    picked = ask(crowd, query, **options)
    every = ask(crowd, query.split(" HAVING")[0].split(" ORDER")[0], **options)
    widths = [np.median(np.subtract(*ends(answer, column)[::-1])) for answer in (picked, every)]
    assert widths[0] > 1.05 * widths[1]


def test_a_release_that_is_read_again_knows_the_same_ranges(crowd):
    query = "SELECT g, COUNT(*) FILTER (WHERE b = 1) / COUNT(*) AS it FROM t GROUP BY g"
    first, again = (crowd.sql(query, mechanism="gaussian", epsilon=0.5) for _ in range(2))
    assert again.receipt.reused
    assert ends(again, "it")[1].max() <= 1
    assert again["it"] == first["it"]
