"""A wanted error in tables of several groups: who is promised what, and who is marked."""

import pytest

LONGER = 1.2
"""A promised interval is at most so much longer, or noise was beyond eight deviations."""

COUNTS = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"


def notes(answer, name="n"):
    """The note of every group."""
    return {row.g: bars[name].note for row, bars in zip(answer, answer.intervals, strict=True)}


def missed(answer, name="n"):
    """The accuracy that every group was asked for and misses; None if it is reached."""
    return {row.g: bars[name].missed for row, bars in zip(answer, answer.intervals, strict=True)}


def half(bar):
    return (bar.upper - bar.lower) / 2


def test_groups_that_miss_are_marked_and_the_others_are_not(world):
    answer = world().sql(COUNTS, within=0.05, epsilon=0.1)
    assert notes(answer) == {"small": "misses 5 %", "middle": None, "large": None}
    assert missed(answer) == {"small": "5 %", "middle": None, "large": None}


def test_all_groups_are_met_where_the_budget_allows_it(world):
    answer = world().sql(COUNTS, within=0.05, epsilon=3)
    assert set(notes(answer).values()) == {None}
    assert all(half(bars["n"]) <= LONGER * 0.05 * bars["n"].upper for bars in answer.intervals)


def test_a_stated_size_exempts_the_smaller_groups(world):
    db = world()
    wanted = "5 % in groups of 1,500 or more"
    answer = db.sql(COUNTS, within=(0.05, 1500))
    assert answer.receipt.payments == ()
    assert notes(answer) == {"small": f"misses {wanted}", "middle": None, "large": None}
    assert db.quote(COUNTS, within=(0.05, 15000)).charge.epsilon < answer.receipt.charge.epsilon / 8


def test_a_stated_size_exempts_the_smaller_groups_where_values_matter_too(world):
    db = world()
    query = "SELECT g, AVG(z) AS n FROM t GROUP BY g"
    answer = db.sql(query, within=(0.05, 500), epsilon=50)
    assert len(answer.receipt.payments) == 2
    assert answer.receipt.payments[1].charge.epsilon < 2
    assert missed(answer) == {"small": "5 % in groups of 500 or more", "middle": None, "large": None}


def test_marks_stand_beside_other_notes(world):
    answer = world().sql("SELECT g, COUNT(*) * COUNT(*) AS n FROM t GROUP BY g", within=0.05, epsilon=0.1)
    assert notes(answer)["small"] == "conservative; misses 5 %"


def test_keys_that_are_found_in_the_data_have_the_same_promise(world):
    answer = world().sql("SELECT h AS g, COUNT(*) AS n FROM t GROUP BY h", within=0.05, epsilon=1)
    assert set(notes(answer)) == {0, 1, 2, 3}
    assert not any("misses" in (note or "") for note in notes(answer).values())
    assert all(half(bars["n"]) <= LONGER * 0.05 * bars["n"].upper for bars in answer.intervals)


@pytest.mark.parametrize(
    "after", ["ORDER BY n DESC LIMIT 1", "HAVING COUNT(*) > 1000", "HAVING COUNT(*) > 1000 ORDER BY n LIMIT 1"]
)
def test_rows_that_were_picked_are_within_the_error_by_their_longer_bars(world, after):
    answer = world().sql(f"{COUNTS} {after}", within=0.02, epsilon=1)
    assert set(notes(answer)) <= {"middle", "large"}
    assert len(answer)
    for bars in answer.intervals:
        assert bars["n"].note is None
        assert half(bars["n"]) <= LONGER * 0.02 * bars["n"].upper


def test_bars_that_hold_all_at_once_are_within_the_error(world):
    db = world()
    single = db.sql(COUNTS, within=0.05, epsilon=3, reuse=False)
    db = world()
    answer = db.sql(COUNTS, within=0.05, epsilon=3, simultaneous=True)
    assert set(notes(answer).values()) == {None}
    assert answer.receipt.charge.epsilon > single.receipt.charge.epsilon


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_shares_of_a_total_can_be_asked_for_by_their_error(world, mechanism):
    query = "SELECT g, 1.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS n FROM t GROUP BY g"
    db = world()
    answer = db.sql(query, within=("abs", 0.02), epsilon=2, mechanism=mechanism)
    assert answer.receipt.charge.epsilon <= 2
    for bars in answer.intervals:
        assert "misses" not in (bars["n"].note or "")
        assert half(bars["n"]) <= LONGER * 0.02
    assert db.sql(query, within=("abs", 0.02), epsilon=2, mechanism=mechanism).receipt.reused


def test_every_column_is_within_the_error(world):
    query = "SELECT g, COUNT(*) AS n, AVG(x) AS m, SUM(x) AS s FROM t GROUP BY g HAVING COUNT(*) > 1000"
    answer = world().sql(query, within=0.05, epsilon=2)
    assert {row.g for row in answer} == {"middle", "large"}
    for bars in answer.intervals:
        assert all(half(bars[name]) <= LONGER * 0.05 * bars[name].upper for name in ("n", "m", "s"))
