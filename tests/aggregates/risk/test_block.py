"""Four counts are one block: a person is in one of them, and they cost what one count costs."""

import pytest

both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
QUERY = "SELECT g, RELATIVE_RISK(ill, smokes) AS r FROM t GROUP BY g"
COLUMNS = ("s0", "s1", "s2", "s3")


def counts(answer):
    return [release for release in answer.receipt.mechanisms if release.measure.startswith("rows where")]


def integers(db, text):
    """The four exact integers of each group, which the statement sums, in units of a row times a weight of 2^bits."""
    actual = db.owner.execute(text)
    names = [column[0] for column in actual.description]
    keys = [place for place, name in enumerate(names) if name.startswith("k")]
    places = [names.index(name) for name in COLUMNS]
    return {tuple(row[i] for i in keys): [int(row[i]) for i in places] for row in actual.fetchall()}


def moved(before, after):
    none = [0] * len(COLUMNS)
    keys = before.keys() | after.keys()
    return [abs(a - b) for key in keys for a, b in zip(before.get(key, none), after.get(key, none), strict=True)]


@both
def test_there_are_four_counts_with_the_noise_of_one(clinic, ask, mechanism):
    db = clinic(groups=2, size=300)
    four = counts(ask(db, QUERY, mechanism=mechanism, epsilon=0.5))
    (one,) = counts(
        ask(db, "SELECT g, COUNT(*) FILTER (WHERE ill) FROM t GROUP BY g", mechanism=mechanism, epsilon=0.5)
    )
    assert len(four) == 4
    assert {release.scale for release in four} == {one.scale}
    assert {release.sensitivity for release in four} == {1.0}
    assert {release.kind for release in four} == {mechanism}


def test_all_statistics_of_the_same_people_share_the_counts(clinic, ask):
    db = clinic(groups=2, size=300)
    several = "RELATIVE_RISK(ill, smokes), LIFT(ill, smokes), ODDS_RATIO(ill, smokes), RISK_DIFFERENCE(ill, smokes)"
    answer = ask(db, f"SELECT g, {several} FROM t GROUP BY g", epsilon=0.5)
    alone = ask(db, QUERY, epsilon=0.5)
    assert [release.scale for release in counts(answer)] == [release.scale for release in counts(alone)]
    risk, lift, *_ = (answer[name] for name in answer.columns[1:])
    assert lift == pytest.approx([value - 1 for value in risk])


@pytest.mark.parametrize("ill", ["TRUE", "FALSE", "NULL"])
@pytest.mark.parametrize("smokes", ["TRUE", "FALSE", "NULL"])
def test_one_person_more_moves_one_count_by_one(clinic, ill, smokes):
    db = clinic(groups=3, size=50)
    (text,) = db.quote(QUERY, epsilon=1.0).sql
    before = integers(db, text)
    db.owner.execute(f"INSERT INTO t VALUES (-1, 1, {ill}, {smokes})")
    changes = moved(before, integers(db, text))
    assert sum(changes) == (0 if "NULL" in {ill, smokes} else 1)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 50])
def test_one_person_with_many_rows_moves_all_counts_by_three_rows_in_all(visits, rows):
    db = visits()
    offer = db.quote("SELECT RELATIVE_RISK(ill, smokes) AS r FROM v", epsilon=1.0, mechanism="laplace")
    (text,) = offer.sql
    before = integers(db, text)
    one_row = next(iter(_weight(db, text, before)))
    db.owner.execute(f"INSERT INTO v SELECT -1, j % 2 = 0, j % 3 = 0 FROM range({rows}) r(j)")
    changes = moved(before, integers(db, text))
    assert 0 < sum(changes) <= 3 * one_row
    assert sum(changes) > (min(rows, 3) - 1e-6) * one_row
    assert {release.sensitivity for release in offer.mechanisms if release.measure.startswith("rows where")} == {3.0}


def _weight(db, text, before):
    """The amount that a single row of a new person adds: the unit of the integers."""
    db.owner.execute("INSERT INTO v VALUES (-2, TRUE, TRUE)")
    alone = moved(before, integers(db, text))
    db.owner.execute("DELETE FROM v WHERE u = -2")
    assert integers(db, text) == before
    return {change for change in alone if change}
