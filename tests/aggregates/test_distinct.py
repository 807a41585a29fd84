"""COUNT(DISTINCT x) from several counts: which there are, which one is shown, and what the interval says."""

import math

import numpy as np
import pytest
from scipy import stats

from hedgerow.aggregates import DistinctCount, Form, MeasuredSums, lookup
from hedgerow.distributions import Gaussian, Laplace
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.types import Type
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.distinct import DistinctLevel, ceiling_of, levels_of, shares_of

FALSE_ALARM = 1e-9
TEXT = Column("x", Type.TEXT)
LISTED = Column("x", Type.TEXT, values=("a", "b", "c"))
FLAG = Column("x", Type.BOOLEAN)
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


def limits(rows=400, per_group=400, groups=1, *, grouped=False, size=10**12):
    return Bounding(rows, per_group, groups, weighted=True, size=size, grouped=grouped)


@pytest.mark.parametrize(
    ("bounding", "value", "expected"),
    [
        (limits(), TEXT, [DistinctLevel(1, 1), DistinctLevel(4, 1), DistinctLevel(400, 1, complete=True)]),
        (limits(3, 3), TEXT, [DistinctLevel(1, 1), DistinctLevel(3, 1, complete=True)]),
        (limits(1, 1), TEXT, [DistinctLevel(1, 1, complete=True)]),
        (limits(10**6, 10**6), TEXT, [DistinctLevel(1, 1), DistinctLevel(4, 1), DistinctLevel(1024, 1)]),
        (
            limits(6, 2, 3, grouped=True),
            TEXT,
            [DistinctLevel(1, 1), DistinctLevel(1, 3), DistinctLevel(2, 3, complete=True)],
        ),
        (limits(60, 20, 3, grouped=True), TEXT, [DistinctLevel(1, 1), DistinctLevel(1, 3), DistinctLevel(4, 3)]),
        (limits(size=4000), LISTED, [DistinctLevel(1, 1)]),
        (limits(size=400), LISTED, [DistinctLevel(1, 1), DistinctLevel(3, 1, complete=True)]),
        (limits(size=4000), FLAG, [DistinctLevel(1, 1)]),
        (limits(60, 20, 3, grouped=True, size=4000), LISTED, [DistinctLevel(1, 1), DistinctLevel(1, 3)]),
    ],
)
def test_the_counts_follow_from_public_numbers(bounding, value, expected):
    assert levels_of(bounding, value, tightened=False) == expected
    shares = shares_of(expected)
    assert sum(shares) == pytest.approx(1)
    assert not any(level.complete for level in levels_of(bounding, value, tightened=True))


def test_one_row_of_each_person_is_counted_whole():
    one_row = Bounding(1, 1, 1, weighted=False, size=10**12)
    assert levels_of(one_row, TEXT, tightened=True) == [DistinctLevel(1, 1, complete=True)]


@pytest.mark.parametrize(
    ("value", "size", "ceiling"), [(TEXT, 10**12, math.inf), (TEXT, 500, 500), (LISTED, 500, 3), (FLAG, 10**12, 2)]
)
def test_the_ceiling_is_what_the_catalog_declares(value, size, ceiling):
    assert ceiling_of(value, limits(size=size)) == ceiling


def estimate(exact, noise, draws, *, beta, complete=None, ceiling=math.inf, groups=4000):
    """COUNT over many groups alike, whose exact counts are given; `draws` makes the noise of a count."""
    counts = tuple(
        DistinctCount(
            Form(value + draws(i, groups), ((i, 1.0, noise[i]),)), complete == i, whole=False, ceiling=ceiling
        )
        for i, value in enumerate(exact)
    )
    return lookup("COUNT").estimate(MeasuredSums(distinct=counts, groups=groups), beta)


@pytest.fixture
def normal():
    generator = np.random.default_rng()
    noise = [Gaussian(2.0), Gaussian(8.0), Gaussian(300.0)]
    return noise, lambda i, groups: generator.normal(0, noise[i].sigma, groups)


@pytest.mark.parametrize("beta", [0.5, 0.4, 0.05, 0.001])
@pytest.mark.parametrize(("exact", "there"), [((105, 105, 105), 105), ((40, 150, 900), 900), ((40, 41, 2000), 2000)])
def test_intervals_hold_whichever_count_is_best(normal, beta, exact, there):
    for complete in (None, 2):
        actual = estimate(exact, *normal, beta=beta, complete=complete)
        misses = int(np.sum((actual.lower > there) | (there > actual.upper)))
        assert stats.binom.sf(misses - 1, len(actual.values), beta) > FALSE_ALARM
        assert np.all((actual.lower <= np.maximum(actual.values, 0)) & (actual.values <= actual.upper))
        assert bool(np.all(np.isfinite(actual.upper))) is (complete is not None)


def test_a_single_complete_count_has_an_interval_that_holds_as_often_as_it_says(normal):
    actual = estimate((300,), *normal, beta=0.5, complete=0)
    misses = int(np.sum((actual.lower > 300) | (actual.upper < 300)))
    assert stats.binomtest(misses, len(actual.values), 0.5).pvalue > FALSE_ALARM
    for wrong in (0.5 * 1.3, 0.5 / 1.3):
        assert stats.binomtest(misses, len(actual.values), wrong).pvalue < FALSE_ALARM


def test_values_that_many_people_share_are_counted_with_the_noise_of_one_value_each(normal):
    """All counts are equal, and the least noisy one is shown, but for the few where it looks too low."""
    actual = estimate((105, 105, 105), *normal, beta=0.05)
    errors = np.sort(np.abs(actual.values - 105))
    assert errors[int(0.99 * len(errors))] < 8
    assert np.sqrt(np.mean(np.square(errors[: int(0.99 * len(errors))]))) < 2.5


def test_values_that_nobody_shares_are_counted_by_the_count_that_has_them(normal):
    actual = estimate((40, 150, 9000), *normal, beta=0.05)
    assert np.mean(actual.values) == pytest.approx(9000, abs=40)


def test_nothing_beyond_the_ceiling_is_shown_or_thought_possible(normal):
    actual = estimate((105, 105, 105), *normal, beta=0.05, ceiling=105)
    assert actual.values.max() == 105
    assert set(actual.upper.tolist()) == {105.0}
    single = estimate((105,), *normal, beta=0.05, ceiling=105)
    assert single.values.max() == 105


@pytest.fixture
def shared(build):
    """2000 people with 50 rows each, of 105 values that all of them may have; `listed` declares these."""
    values = ", ".join(f"v{i}" for i in range(105))

    def connect(*, listed):
        columns = f", columns: {{v: {{values: [{values}]}}}}" if listed else ""
        return build(
            [
                "CREATE TABLE t (u BIGINT, v VARCHAR)",
                "INSERT INTO t SELECT j // 50, 'v' || (j * 7919 + j // 50) % 105 FROM range(100000) r(j)",
            ],
            f"t: {{unit: u, max_rows: 50, size: 120000{columns}}}",
        )

    return connect


@both
@pytest.mark.parametrize("method", ["flow", "simple"])
def test_a_hundred_values_of_thousands_of_people_are_counted_closely(shared, ask, mechanism, method):
    """One person moves the count by one, so a laplace noise of scale 1 is all there is where values are listed."""
    question, options = "SELECT COUNT(DISTINCT v) AS n FROM t", {"mechanism": mechanism, "distinct": method}
    answer = ask(shared(listed=True), question, epsilon=1, delta=1e-6, confidence=1 - FALSE_ALARM, **options)
    bars = answer.intervals[0]["n"]
    assert bars.lower <= 105 == bars.upper
    assert answer["n"][0] <= 105
    assert 105 - bars.lower < 80
    scales = [noise.scale for noise in answer.receipt.mechanisms]
    assert len(scales) == 1
    assert scales[0] < (1.01 if mechanism == "laplace" else 5)


@both
def test_without_a_list_the_interval_is_finite_and_the_quote_says_what_is_missing(shared, ask, mechanism):
    db, question = shared(listed=False), "SELECT COUNT(DISTINCT v) AS n FROM t"
    options = {"mechanism": mechanism, "epsilon": 1, "delta": 1e-6}
    bars = ask(db, question, confidence=1 - FALSE_ALARM, **options).intervals[0]["n"]
    assert bars.lower <= 105 <= bars.upper <= 120_000
    assert any("upper limit will be of no use" in note for note in db.quote(question, **options).notes)
    assert db.quote("SELECT COUNT(*) AS n FROM t", **options).notes == ()


@both
def test_limits_that_a_query_tightens_leave_values_out(shared, ask, mechanism):
    """With one row of each person the count is no longer complete: it has the ceiling of the catalog."""
    options = {"mechanism": mechanism, "epsilon": 1, "delta": 1e-6, "max_rows": 1}
    answer = ask(shared(listed=False), "SELECT COUNT(DISTINCT v) AS n FROM t", **options)
    assert answer.intervals[0]["n"].upper == 120_000


def test_laplace_noise_is_as_good(normal):
    del normal
    generator = np.random.default_rng()
    noise = [Laplace(3.0), Laplace(10.0)]
    actual = estimate((50, 80), noise, lambda i, groups: generator.laplace(0, noise[i].scale, groups), beta=0.2)
    assert stats.binom.sf(int(np.sum(actual.lower > 80)) - 1, len(actual.values), 0.2) > FALSE_ALARM
