"""Groups that appear, and how often."""

import math

import numpy as np
import pytest
from scipy import stats

GROUPS = 2500
QUERY = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
GENEROUS = {
    "gaussian": ("{epsilon: 0.1, delta: 0.2}", 0.09),
    "laplace": ("{epsilon: 1, delta: 0.4, pure_epsilon: 0.9}", 0.9),
}
"""A ledger for one statement, whose threshold may be low, and the epsilon of that statement."""


def _chance(mechanism, people):
    """That `people` people pass the threshold, by the noise and threshold on the receipt."""
    if mechanism.kind == "gaussian":
        return float(stats.norm.sf((mechanism.threshold - people) / mechanism.scale))
    ratio, distance = math.exp(-1 / mechanism.scale), math.ceil(mechanism.threshold - people)
    tail = ratio ** abs(distance if distance >= 1 else 1 - distance) / (1 + ratio)
    return tail if distance >= 1 else 1 - tail


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_group_with_one_person_too_few_never_appears(people, ask, mechanism, rows):
    """With so much delta that noise alone would let dozens of them through."""
    budget, epsilon = GENEROUS[mechanism]
    db = people(GROUPS, 6, declared=False, min_frequency=7, rows=rows, budget=budget)
    answer = ask(db, QUERY, mechanism=mechanism, epsilon=epsilon, delta=0.17)
    assert _chance(answer.receipt.mechanisms[0], 6) * GROUPS > 10
    assert len(answer) == 0


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("off", [-1, 0, 1])
@pytest.mark.parametrize("query", [QUERY, "SELECT g, AVG(x) FROM t GROUP BY g"])
def test_a_group_appears_with_the_right_probability(people, ask, assert_chance, mechanism, off, query):
    options = {"mechanism": mechanism, "epsilon": 2.0, "delta": 1e-6}
    threshold = people(2, 1, declared=False, min_frequency=3).quote(query, **options).mechanisms[0].threshold
    size = round(threshold) + off
    db = people(GROUPS, size, declared=False, min_frequency=3)

    answer = ask(db, query, **options)

    chance = _chance(answer.receipt.mechanisms[0], size)
    assert 1e-4 < chance < 1 - 1e-4
    assert_chance(len(answer), GROUPS, chance)
    wrong = _chance(answer.receipt.mechanisms[0], size + (3 if chance < 0.5 else -3))
    assert stats.binomtest(len(answer), GROUPS, wrong).pvalue < 1e-9


@pytest.mark.parametrize("rows", [1, 3])
def test_the_threshold_holds_for_people_with_several_rows_too(people, ask, assert_chance, rows):
    options = {"mechanism": "gaussian", "epsilon": 4.0, "delta": 1e-6}
    small = people(2, 1, declared=False, min_frequency=3, rows=rows)
    size = round(small.quote(QUERY, **options).mechanisms[0].threshold)
    answer = ask(people(GROUPS, size, declared=False, min_frequency=3, rows=rows), QUERY, **options)
    assert_chance(len(answer), GROUPS, _chance(answer.receipt.mechanisms[0], size))


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("rows", [1, 3])
def test_an_ungrouped_query_over_too_few_people_is_one_row_of_nulls(people, ask, mechanism, rows):
    db = people(1, 9, min_frequency=10, rows=rows)
    for _ in range(20):
        answer = ask(db, "SELECT COUNT(*) AS n, AVG(x) AS a, SUM(x) AS s FROM t", mechanism=mechanism, epsilon=50)
        assert [tuple(row) for row in answer] == [(None, None, None)]
        assert all("held back" in interval.note for interval in answer.intervals[0].values())
        assert all(
            math.isinf(interval.lower) and math.isinf(interval.upper) for interval in answer.intervals[0].values()
        )


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_declared_key_that_is_held_back_stays_with_nulls_and_a_note(people, ask, mechanism):
    db = people(5, 9, min_frequency=10)
    answer = ask(db, "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g", mechanism=mechanism, epsilon=50)
    assert [tuple(row) for row in answer] == [(g, None, None) for g in range(5)]
    assert all("held back" in bars["n"].note for bars in answer.intervals)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_an_empty_declared_key_is_released_with_noise_where_there_is_no_minimum(people, ask, mechanism):
    db = people(4, 50)
    answer = ask(db, "SELECT g, SUM(x) AS s FROM t WHERE g < 2 GROUP BY g", mechanism=mechanism)
    assert answer["g"] == [0, 1, 2, 3]
    assert len(set(answer["s"])) == 4


def test_a_count_that_selected_its_group_never_shows_less_than_the_threshold(people, ask):
    db = people(GROUPS, 30, declared=False, min_frequency=3)
    answer = ask(db, QUERY, mechanism="gaussian", epsilon=2.0, delta=1e-6)
    threshold = answer.receipt.mechanisms[0].threshold
    assert len(answer) > 100
    assert np.min(answer["n"]) >= math.floor(threshold)


@pytest.mark.parametrize("epsilon", [60, 200, 1000])
@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_large_budget_shows_every_group_almost_exactly(people, ask, mechanism, epsilon):
    """No step may give way where the noise all but vanishes."""
    db = people(50, 40, declared=False, min_frequency=3)
    answer = ask(db, QUERY, mechanism=mechanism, epsilon=epsilon)
    assert answer["g"] == list(range(50))
    assert np.max(np.abs(np.array(answer["n"]) - 40)) < 8
