"""`db.describe` finds the types of parameters without values, from what they are compared or computed with."""

from datetime import date, datetime

import pytest

import hedgerow as hr

TABLE = """CREATE TABLE t AS SELECT j AS id, j % 3 AS whole, j / 7.0::DOUBLE AS part,
    CAST(j AS DECIMAL(9, 2)) AS price, 'a' || j AS name, DATE '2020-01-01' + CAST(j AS INTEGER) AS day,
    TIMESTAMP '2020-01-01' + INTERVAL (j) HOUR AS moment, j % 2 = 0 AS even FROM range(100) r(j)"""


MOMENT = datetime(2020, 1, 2)  # noqa: DTZ001 - timestamps have no zone


@pytest.fixture(scope="module")
def db(build_once):
    return build_once(
        TABLE, "t: {unit: id, unit_unique: true, columns: {part: {lower: 0, upper: 15}}}", min_frequency=1
    )


@pytest.mark.parametrize(
    ("condition", "types"),
    [
        ("whole = ?", ["integer"]),
        ("part > ?", ["float"]),
        ("price > ?", ["decimal"]),
        ("name = ?", ["text"]),
        ("name LIKE ?", ["text"]),
        ("day = ?", ["date"]),
        ("moment >= ?", ["timestamp"]),
        ("even = ?", ["boolean"]),
        ("part BETWEEN ? AND ?", ["float", "float"]),
        ("whole IN (?, ?) AND name <> ?", ["integer", "integer", "text"]),
        ("CAST(moment AS DATE) < $2 AND whole = $1", ["date", "integer"]),
        ("day > :since AND part < :most AND day > :since", ["date", "float"]),
    ],
)
def test_the_type_is_that_of_the_other_side(db, condition, types):
    described = db.describe(f"SELECT COUNT(*) AS n FROM t WHERE {condition}")
    assert [parameter.type for parameter in described.parameters] == types
    assert [(column.name, column.type) for column in described.columns] == [("n", "integer")]


@pytest.mark.parametrize(
    ("sql", "types"),
    [
        ("SELECT whole, COUNT(*) AS n FROM t GROUP BY 1 LIMIT ? OFFSET ?", ["integer", "integer"]),
        ("SELECT whole, AVG(part) AS a FROM t GROUP BY 1 HAVING AVG(part) > ? AND COUNT(*) > ?", ["float", "integer"]),
        ("SELECT AVG(CLIP(whole, ?, ?)) AS a FROM t", ["integer", "integer"]),
        ("SELECT COUNT(*) * ? AS n FROM t", ["integer"]),
    ],
)
def test_parameters_may_stand_beside_conditions(db, sql, types):
    assert [parameter.type for parameter in db.describe(sql).parameters] == types


def test_samples_of_the_types_that_are_found_bind(db):
    samples = {"integer": 1, "float": 1.5, "text": "a", "date": date(2020, 1, 2), "timestamp": MOMENT}
    sql = "SELECT COUNT(*) AS n FROM t WHERE whole = ? AND part > ? AND name = ? AND day = ? AND moment > ?"
    described = db.describe(sql)
    again = db.describe(sql, [samples[parameter.type] for parameter in described.parameters])
    assert again == described


def test_names_are_numbers_or_words(db):
    names = [
        parameter.name for parameter in db.describe("SELECT COUNT(*) FROM t WHERE whole = ? AND part > ?").parameters
    ]
    assert names == ["1", "2"]
    (parameter,) = db.describe("SELECT COUNT(*) FROM t WHERE whole = :w").parameters
    assert (parameter.name, str(db.describe("SELECT COUNT(*) AS n FROM t WHERE whole = :w"))) == (
        "w",
        "n  integer, noisy\n:w  integer",
    )


def test_a_mistake_elsewhere_is_what_is_said(db):
    with pytest.raises(hr.QueryError) as refused:
        db.describe("SELECT COUNT(*) FROM t WHERE nothing = ?")
    assert refused.value.code == "unknown-column"


def test_of_very_many_parameters_values_are_asked_for(db):
    sql = f"SELECT COUNT(*) AS n FROM t WHERE whole IN ({', '.join('?' * 65)})"
    with pytest.raises(hr.QueryError) as refused:
        db.describe(sql)
    assert refused.value.code == "missing-parameter"
    assert {parameter.type for parameter in db.describe(sql, [1] * 65).parameters} == {"integer"}
