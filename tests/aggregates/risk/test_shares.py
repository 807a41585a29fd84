"""COUNT(*) FILTER (WHERE c) / COUNT(*) is released as the rows where c holds and all others: one block."""

import numpy as np
import pytest

from hedgerow.testing import approx_private

both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
SHARE = "SELECT g, COUNT(*) FILTER (WHERE ill) / COUNT(*) AS share FROM t GROUP BY g"


def counts(answer):
    return [release for release in answer.receipt.mechanisms if release.measure.startswith("rows where")]


@both
def test_a_share_costs_what_one_count_costs(clinic, ask, mechanism):
    db = clinic(groups=2, size=300)
    options = {"mechanism": mechanism, "epsilon": 0.5}
    share = ask(db, SHARE, **options)
    (one,) = counts(ask(db, "SELECT g, COUNT(*) FILTER (WHERE ill) AS n FROM t GROUP BY g", **options))
    assert len(counts(share)) == 2
    assert {release.scale for release in counts(share)} == {one.scale}


@pytest.mark.parametrize("ill", ["TRUE", "FALSE", "NULL"])
def test_one_person_more_is_in_one_half_whatever_is_known(clinic, ill):
    db = clinic(size=50)
    (text,) = db.quote("SELECT COUNT(*) FILTER (WHERE ill) / COUNT(*) AS share FROM t", epsilon=1.0).sql
    before = db.owner.execute(text).df()
    db.owner.execute(f"INSERT INTO t VALUES (-1, 0, {ill}, TRUE)")
    after = db.owner.execute(text).df()
    moved = [int(after[name][0] - before[name][0]) for name in ("s0", "s1")]
    assert moved == ([1, 0] if ill == "TRUE" else [0, 1])


@both
def test_both_halves_are_all_rows_also_where_the_condition_is_unknown(clinic, ask, mechanism):
    db = clinic(size=9000)
    db.owner.execute("UPDATE t SET ill = NULL WHERE u % 3 = 0")
    query = "SELECT COUNT(*) FILTER (WHERE ill) AS some, COUNT(*) AS n, some / n AS share FROM t"
    answer = ask(db, query, mechanism=mechanism, epsilon=500, confidence=1 - 1e-10)
    ((some, whole, share),) = answer
    ((exact, everybody),) = db.owner.execute("SELECT COUNT(*) FILTER (ill), COUNT(*) FROM t").fetchall()
    assert some == approx_private(exact, answer, column="some", cells=3)
    assert whole == approx_private(everybody, answer, column="n", cells=3)
    assert share == approx_private(exact / everybody, answer, column="share", cells=3)


@both
def test_intervals_of_shares_hold(clinic, ask, chances, ends, mechanism):
    db = clinic(groups=400, size=400)
    answer = ask(db, SHARE, mechanism=mechanism, confidence=0.9, epsilon=0.3)
    actual = dict(db.owner.execute("SELECT g, AVG(ill::INT) FROM t GROUP BY g").fetchall())
    exact = np.array([actual[key] for key in answer["g"]])
    lower, upper = ends(answer, "share")
    assert chances.is_as_common_as((lower <= exact) & (exact <= upper), 0.9)
    half = np.abs(exact - (lower + upper) / 2) <= (upper - lower) / 4
    assert not chances.is_as_common_as(half, 0.9)


@both
def test_rows_of_a_person_are_halved_as_well(visits, ask, mechanism):
    db = visits(people=4000)
    query = "SELECT COUNT(*) FILTER (WHERE ill) / COUNT(*) AS share FROM v"
    answer = ask(db, query, mechanism=mechanism, epsilon=500, confidence=1 - 1e-9)
    ((exact,),) = db.owner.execute("SELECT AVG(ill::INT) FROM v").fetchall()
    assert len(counts(answer)) == 2
    assert answer["share"][0] == approx_private(exact, answer)


def test_with_more_measures_the_whole_count_keeps_its_own_noise(clinic, ask):
    db = clinic(groups=2, size=300)
    query = "SELECT g, COUNT(*) FILTER (WHERE ill) / COUNT(*), COUNT(*) FILTER (WHERE smokes) FROM t GROUP BY g"
    measures = {release.measure for release in ask(db, query, epsilon=1.0).receipt.mechanisms}
    assert {"people", "rows where ill", "rows where smokes"} <= measures


def test_a_count_that_the_selection_gives_anyway_is_not_bought(clinic, ask):
    db = clinic(groups=2, size=300, min_frequency=5)
    answer = ask(db, "SELECT g, COUNT(*) FILTER (WHERE ill) AS a, COUNT(*) AS n FROM t GROUP BY g", epsilon=1.0)
    assert [release.measure for release in counts(answer)] == ["rows where ill"]
