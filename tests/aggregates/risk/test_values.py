"""RELATIVE_RISK, LIFT, ODDS_RATIO and RISK_DIFFERENCE say what they should, with almost no noise."""

import pytest

from hedgerow.errors import UnsupportedSQLError

both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
FIRST = "(AVG(ill::INT) FILTER (smokes))"
SECOND = "(AVG(ill::INT) FILTER (NOT smokes))"
PLAIN = {
    "RELATIVE_RISK": f"{FIRST} / {SECOND}",
    "LIFT": f"{FIRST} / {SECOND} - 1",
    "RISK_DIFFERENCE": f"{FIRST} - {SECOND}",
    "ODDS_RATIO": f"({FIRST} / (1 - {FIRST})) / ({SECOND} / (1 - {SECOND}))",
}


def exact(db, expression, where="TRUE"):
    return dict(db.owner.execute(f"SELECT g, {expression} FROM t WHERE {where} GROUP BY g").fetchall())


@both
@pytest.mark.parametrize("name", PLAIN)
def test_with_much_privacy_spent_a_statistic_is_that_of_plain_sql(clinic, ask, name, mechanism):
    db = clinic(groups=3, size=4000)
    answer = ask(db, f"SELECT g, {name}(ill, smokes) AS s FROM t GROUP BY g", mechanism=mechanism, epsilon=500)
    assert len(answer) == 3
    for key, value in answer:
        assert value == pytest.approx(exact(db, PLAIN[name])[key], abs=1e-3)


def test_all_people_are_one_group_without_a_key(clinic, ask):
    db = clinic(size=4000)
    ((value,),) = ask(db, "SELECT RELATIVE_RISK(ill, smokes) FROM t", epsilon=500)
    assert value == pytest.approx(exact(db, PLAIN["RELATIVE_RISK"])[0], abs=1e-3)


def test_a_person_of_whom_something_is_unknown_counts_nowhere(clinic, ask):
    db = clinic(size=4000)
    db.owner.execute("UPDATE t SET ill = NULL WHERE u % 5 = 0")
    db.owner.execute("UPDATE t SET smokes = NULL WHERE u % 7 = 0")
    known = "ill IS NOT NULL AND smokes IS NOT NULL"
    ((value,),) = ask(db, "SELECT ODDS_RATIO(ill, smokes) FROM t", epsilon=500)
    assert value == pytest.approx(exact(db, PLAIN["ODDS_RATIO"], known)[0], abs=1e-3)


def test_conditions_whole_numbers_and_filters_will_do(clinic, ask):
    db = clinic(size=4000)
    query = "SELECT RELATIVE_RISK({}, {}) AS a FROM t"
    plain = exact(db, PLAIN["RELATIVE_RISK"])[0]
    for outcome, exposed in (("ill = TRUE", "NOT (NOT smokes)"), ("CAST(ill AS INT)", "CAST(smokes AS INT)")):
        ((value,),) = ask(db, query.format(outcome, exposed), epsilon=500)
        assert value == pytest.approx(plain, abs=1e-3)
    ((some,),) = ask(db, "SELECT LIFT(ill, smokes) FILTER (WHERE u < 2000) FROM t", epsilon=500)
    assert some == pytest.approx(exact(db, PLAIN["LIFT"], "u < 2000")[0], abs=1e-3)


def test_a_ratio_is_a_quotient_of_two_sums(clinic, ask):
    db = clinic(size=4000)
    query = "SELECT RATIO(CAST(ill AS INT), 1 + CAST(smokes AS INT)) AS r FROM t"
    query = query.replace("CAST(ill AS INT)", "CASE WHEN ill THEN 1 ELSE 0 END")
    query = query.replace("CAST(smokes AS INT)", "CASE WHEN smokes THEN 1 ELSE 0 END")
    answer = ask(db, query, epsilon=500)
    ((value,),) = answer
    ((plain,),) = db.owner.execute("SELECT SUM(ill::INT) / SUM(1 + smokes::INT) FROM t").fetchall()
    assert value == pytest.approx(plain, abs=1e-3)
    assert answer.intervals[0]["r"].lower <= value <= answer.intervals[0]["r"].upper
    assert answer.intervals[0]["r"].population is None


@pytest.mark.parametrize(
    "call",
    ["RELATIVE_RISK(ill)", "RELATIVE_RISK(ill, smokes, ill)", "LIFT(DISTINCT ill, smokes)", "ODDS_RATIO(ill, 'yes')"],
)
def test_what_is_no_pair_of_conditions_is_refused_and_costs_nothing(clinic, call):
    db = clinic()
    with pytest.raises(UnsupportedSQLError) as refused:
        db.sql(f"SELECT {call} FROM t")
    assert refused.value.hint
    assert db.budget.queries == 0
