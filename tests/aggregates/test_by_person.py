"""Quantiles by group weigh people where these have many rows: the number, the note, and what was stored before."""

import pytest

from hedgerow.privacy.bounding import Bounding, counts_people, person_weights

NOTE = "weigh people, not rows"
QUERY = "SELECT g, MEDIAN(k) AS m FROM many GROUP BY g"
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


@pytest.fixture
def own(build):
    """In each of two groups, 20 people with 49 rows of 90 and 60 with one row of 10, k being one of 91 values."""
    return build(
        [
            "CREATE TABLE many (u BIGINT, g INTEGER, k INTEGER NOT NULL)",
            "INSERT INTO many SELECT j // 49, j // 49 % 2, 90 FROM range(1960) r(j)",
            "INSERT INTO many SELECT 1000 + j, j % 2, 10 FROM range(120) r(j)",
        ],
        "many: {unit: u, max_rows: 50, columns: {k: {lower: 0, upper: 90}, g: {values: [0, 1]}}}",
    )


@both
def test_a_median_by_group_is_that_of_people_and_says_so(own, ask, mechanism):
    """By rows it would be 90: 980 of 1 040 are."""
    answer = ask(own, QUERY, mechanism=mechanism, epsilon=50, delta=1e-6)
    assert answer["m"] == [10, 10]
    for bars in answer.intervals:
        assert (bars["m"].lower, bars["m"].upper) == (10, 10)
    assert sum(NOTE in note.text for note in answer.notes) == 1
    assert sum(NOTE in note for note in own.quote(QUERY, mechanism=mechanism, epsilon=50, delta=1e-6).notes) == 1


@both
@pytest.mark.parametrize("question", ["SELECT MEDIAN(k) AS m FROM many", "SELECT g, MAX(k) AS m FROM many GROUP BY g"])
def test_a_median_of_all_and_extremes_are_those_of_rows(own, ask, mechanism, question):
    """No value lies above 90, and one below is drawn with probability 90 exp(-200) at most.

    At any epsilon, a draw of MAX takes each unused value above the largest with probability exp(-7), for it aims at a
    rank so far inside (`statistics.quantiles.highest`): the range must end where the rows do.
    """
    answer = ask(own, question, mechanism=mechanism, epsilon=500, delta=1e-6)
    assert set(answer["m"]) == {90}
    assert not any(NOTE in note.text for note in answer.notes)


@both
def test_where_a_person_has_one_row_in_a_group_nothing_is_said(own, ask, mechanism):
    answer = ask(own, QUERY, mechanism=mechanism, epsilon=9, delta=1e-6, max_rows=1)
    assert not any(NOTE in note.text for note in answer.notes)


@both
def test_a_stored_median_of_people_is_told_again_with_its_note(own, mechanism):
    first, again = (own.sql(QUERY, mechanism=mechanism, epsilon=50, delta=1e-6) for _ in range(2))
    assert again.receipt.reused
    assert (again.notes, list(again)) == (first.notes, list(first))


@pytest.mark.parametrize(
    ("rows", "per_group", "groups", "people"), [(400, 400, 400, 1), (12, 4, 12, 3), (12, 4, 2, 2), (7, 4, 7, 1)]
)
def test_a_person_has_full_weight_in_as_many_groups_as_a_full_owner_of_rows(rows, per_group, groups, people):
    limits = Bounding(rows, per_group, groups, weighted=True, size=1000)
    weights = person_weights(limits)
    assert counts_people(limits)
    assert not counts_people(weights)
    assert (weights.rows, weights.rows_per_group, weights.groups) == (people, 1, people)
    assert weights.l2_squared * per_group**2 <= limits.l2_squared
    assert weights.l1 * per_group <= limits.l1
