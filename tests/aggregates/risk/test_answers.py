"""Answers with comparisons of two groups: held back, given again, as JSON, Arrow and text; and their quotes."""

import json
import math

import pytest

QUERY = "SELECT g, RELATIVE_RISK(ill, smokes) AS r, COUNT(*) AS n FROM t GROUP BY g ORDER BY g"


@pytest.fixture
def answer(clinic):
    return clinic(groups=3, size=400).sql(QUERY, epsilon=2.0)


def test_a_group_of_few_people_is_held_back_whole(clinic, ask):
    db = clinic(groups=2, size=3000, min_frequency=20)
    db.owner.execute("DELETE FROM t WHERE g = 1 AND u > 3002")
    answer = ask(db, "SELECT g, RELATIVE_RISK(ill, smokes) AS r FROM t GROUP BY g ORDER BY g", epsilon=1.0)
    assert answer["r"][0] is not None
    assert answer["r"][1] is None
    held = answer.intervals[1]["r"]
    assert held.note.startswith("held back")
    assert (held.population, held.p_value) == (None, None)
    assert "held back" in repr(answer)


def test_an_empty_side_is_open_and_raises_nothing(clinic, ask):
    """Nothing that depends on the data may fail: groups without anybody exposed, without anybody at all."""
    db = clinic(groups=40, size=30)
    db.owner.execute("DELETE FROM t WHERE g < 20 AND smokes")
    db.owner.execute("DELETE FROM t WHERE g >= 30")
    statistics = "RELATIVE_RISK(ill, smokes) AS r, ODDS_RATIO(ill, smokes) AS o, RISK_DIFFERENCE(ill, smokes) AS d"
    for mechanism in ("gaussian", "laplace"):
        actual = ask(db, f"SELECT g, {statistics} FROM t GROUP BY g", epsilon=0.5, mechanism=mechanism)
        assert len(actual) == 40
        for row in actual.intervals[:20]:
            assert row["r"].lower <= row["r"].upper
            assert 0 <= row["r"].p_value <= 1
        json.dumps(actual.to_dict(), allow_nan=False)
        assert repr(actual)


def test_asked_again_it_is_the_same_and_free(clinic):
    db = clinic(groups=3, size=400)
    first, again = db.sql(QUERY, epsilon=2.0), db.sql(QUERY, epsilon=2.0)
    assert again.receipt.reused
    assert again.receipt.charge.epsilon == 0
    assert list(again) == list(first)
    assert [row["r"] for row in again.intervals] == [row["r"] for row in first.intervals]


def test_json_has_the_population_beside_the_interval(answer):
    bars = [row["r"] for row in answer.to_dict()["intervals"]]
    for shown, bar in zip(bars, answer.intervals, strict=True):
        assert set(shown) == {"lower", "upper", "note", "kind", "reason", "population", "p_value", "p_adjusted"}
        lower, upper = bar["r"].population
        assert shown["population"]["lower"] == (lower if math.isfinite(lower) else None)
        assert shown["population"]["upper"] == (upper if math.isfinite(upper) else None)
        assert shown["p_value"] == bar["r"].p_value <= shown["p_adjusted"]
    assert all(set(row["n"]) == {"lower", "upper", "note", "kind", "reason"} for row in answer.to_dict()["intervals"])


def test_arrow_and_pandas_have_four_more_columns(answer):
    names = answer.arrow(intervals=True).column_names
    beside = ["r_lower", "r_upper", "r_note", "r_population_lower", "r_population_upper", "r_p_value", "r_p_adjusted"]
    assert names == ["g", "r", *beside, "n", "n_lower", "n_upper", "n_note"]
    frame = answer.df(intervals=True)
    assert frame["r_population_upper"].tolist() == [row["r"].population[1] for row in answer.intervals]
    assert frame["r_p_value"].tolist() == [row["r"].p_value for row in answer.intervals]
    assert answer.arrow().column_names == ["g", "r", "n"]


def test_people_see_two_more_columns_and_what_they_mean(answer):
    for page in (repr(answer), answer._repr_html_()):
        assert "r (population)" in page
        assert "r p" in page
        assert "n (population)" not in page
        assert page.count("sampling and noise together") == 1


def test_other_answers_are_shown_as_ever(clinic):
    page = repr(clinic(groups=2).sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g"))
    assert "population" not in page
    assert " p " not in page.splitlines()[1]


def test_a_quote_says_price_and_error_beforehand(clinic):
    db = clinic(groups=2)
    query = "SELECT g, RELATIVE_RISK(ill, smokes) AS r, RISK_DIFFERENCE(ill, smokes) AS d FROM t GROUP BY g"
    offer = db.quote(query, epsilon=0.5)
    answer = db.sql(query, epsilon=0.5)
    assert offer.charge == answer.receipt.charge
    assert offer.mechanisms == answer.receipt.mechanisms
    for errors in offer.errors.values():
        assert errors[100_000] < errors[10_000] < 0.5
        assert errors[100_000] == pytest.approx(errors[10_000] / 10, rel=0.1)


def test_rows_that_are_not_people_say_nothing_about_a_population(visits):
    answer = visits().sql("SELECT RELATIVE_RISK(ill, smokes) AS r FROM v", epsilon=2.0)
    (bars,) = answer.intervals
    assert bars["r"].lower < bars["r"].upper
    assert (bars["r"].population, bars["r"].p_value) == (None, None)
    assert "population" not in repr(answer)


def test_arithmetic_with_a_statistic_keeps_an_interval_and_drops_the_population(clinic):
    db = clinic(size=4000)
    answer = db.sql("SELECT 100 * LIFT(ill, smokes) AS percent FROM t", epsilon=2.0)
    (bars,) = answer.intervals
    assert bars["percent"].lower <= answer["percent"][0] <= bars["percent"].upper
    assert bars["percent"].population is None


def test_a_window_column_beside_it_changes_nothing(clinic):
    db = clinic(groups=3, size=400)
    alone = db.sql(QUERY, epsilon=2.0)
    beside = db.sql(f"SELECT whole.*, RANK() OVER (ORDER BY n) AS place FROM ({QUERY}) AS whole", epsilon=2.0)
    assert beside.receipt.reused
    assert [row["r"] for row in beside.intervals] == [row["r"] for row in alone.intervals]
