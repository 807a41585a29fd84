"""The forest plot of an answer: both intervals of each group."""

import pytest

from hedgerow.errors import ParameterError
from hedgerow.ratio import forest_of

QUERY = "SELECT g, {} FROM t GROUP BY g ORDER BY g"


def marks(chart, kind):
    """The rows of all layers of one kind."""
    actual = chart.to_dict()
    data = actual.get("datasets", {})
    rows = []
    for layer in actual["layer"]:
        source = layer.get("data", {})
        values = source.get("values") or data.get(source.get("name"), [])
        rows += values if layer["mark"]["type"] == kind else []
    return rows


@pytest.fixture
def db(clinic):
    return clinic(groups=4, size=4000)


def test_each_group_has_a_point_and_two_bars(db):
    answer = db.sql(QUERY.format("RELATIVE_RISK(ill, smokes) AS r"), epsilon=2.0)
    chart = forest_of(answer)
    points = [row for row in marks(chart, "point") if "value" in row]
    assert [row["value"] for row in points] == answer["r"]
    assert [row["key"] for row in points] == ["0", "1", "2", "3"]
    bars = {(row["key"], row["lower"], row["upper"]) for row in marks(chart, "rule") if "lower" in row}
    for key, row in zip(answer["g"], answer.intervals, strict=True):
        assert (str(key), row["r"].lower, row["r"].upper) in bars
        assert (str(key), *row["r"].population) in bars


@pytest.mark.parametrize(
    ("name", "null"), [("RELATIVE_RISK", 1), ("ODDS_RATIO", 1), ("LIFT", 0), ("RISK_DIFFERENCE", 0)]
)
def test_the_line_of_no_difference_is_where_it_belongs(db, name, null):
    chart = forest_of(db.sql(QUERY.format(f"{name}(ill, smokes) AS r"), epsilon=2.0))
    assert {"value": null} in marks(chart, "rule")


def test_of_several_columns_one_can_be_chosen(db):
    named = db.sql(QUERY.format("LIFT(ill, smokes), RELATIVE_RISK(ill, smokes)"), epsilon=2.0)
    for column, null in zip(named.columns[1:], (0, 1), strict=True):
        assert {"value": null} in marks(forest_of(named, column), "rule")
    aliased = db.sql(QUERY.format("LIFT(ill, smokes) AS l, RELATIVE_RISK(ill, smokes) AS r"), epsilon=2.0)
    with pytest.raises(ParameterError, match="several statistics"):
        forest_of(aliased, "r")
    assert {"value": 1} in marks(forest_of(aliased, "r", null=1), "rule")


def test_a_group_that_was_held_back_is_left_out(clinic):
    db = clinic(groups=2, size=3000, min_frequency=20)
    db.owner.execute("DELETE FROM t WHERE g = 1 AND u > 3002")
    answer = db.sql(QUERY.format("RELATIVE_RISK(ill, smokes) AS r"), epsilon=1.0)
    assert {row["key"] for row in marks(forest_of(answer), "point") if "value" in row} == {"0"}


def test_an_answer_without_such_a_column_has_no_forest(db):
    counted = db.sql(QUERY.format("COUNT(*) AS n"))
    with pytest.raises(ParameterError, match="No column"):
        forest_of(counted)
    both = db.sql(QUERY.format("COUNT(*) AS n, LIFT(ill, smokes) AS l"))
    with pytest.raises(ParameterError, match="'n' does not compare people"):
        forest_of(both, "n")
