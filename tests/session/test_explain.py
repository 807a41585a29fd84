"""`db.explain`: how a statement would be answered, for nothing, and before a row is read."""

from dataclasses import FrozenInstanceError

import pytest

import hedgerow as hr
from hedgerow.errors import BackendError

from ..internals import session_of

GROUPED = "SELECT region, AVG(income) AS mean FROM people WHERE income > 3 GROUP BY region"
MANY = "SELECT day, COUNT(DISTINCT price) AS n, MEDIAN(price) AS m FROM orders GROUP BY day"


@pytest.fixture
def db(build):
    return build(
        [
            "CREATE TABLE people (id BIGINT PRIMARY KEY, region VARCHAR, income DOUBLE)",
            "CREATE TABLE orders (id BIGINT, person BIGINT, price DOUBLE, day DATE)",
            "CREATE TABLE nations (k VARCHAR)",
            "INSERT INTO people SELECT i, 'north', 50 FROM range(100) r(i)",
            "INSERT INTO nations VALUES ('here')",
        ],
        """
people: {unit: id, unit_unique: true, columns: {income: {lower: 0, upper: 100}, region: {values: [north, south]}}}
orders: {unit: person, max_rows: 20, max_rows_per_group: 4, max_groups: 3, columns: {price: {lower: 0, upper: 9}}}
nations: {public: true}
""",
        min_frequency=10,
    )


def test_it_shows_the_limits_and_groups_of_every_release(db):
    declared, selected = (db.explain(query).limits for query in (GROUPED, MANY))
    assert [(limit.max_rows, limit.max_groups, limit.min_frequency, limit.keys) for limit in declared] == [
        (1, 1, 10, "declared")
    ]
    assert [(limit.max_rows, limit.max_rows_per_group, limit.max_groups, limit.keys) for limit in selected] == [
        (20, 4, 3, "selected")
    ]
    assert db.explain(GROUPED, min_frequency=30).limits[0].min_frequency == 30
    assert len(db.explain("SELECT (SELECT COUNT(*) FROM people) / (SELECT COUNT(*) FROM orders)").limits) == 2


def test_its_statements_are_those_of_the_quote_and_what_comes_after(db):
    for query, steps in ((GROUPED, ["first pass"]), (MANY, ["first pass", "buckets", "values"])):
        statements = db.explain(query, mechanism="gaussian").statements
        shown = dict.fromkeys(statement.step for statement in statements if statement.step != "measure")
        assert list(shown) == [*steps, "postprocess"]
        assert tuple(statement.sql for statement in statements[:-1]) == db.quote(query, mechanism="gaussian").sql
        assert "hedgerow_released_0" in statements[-1].sql


def test_what_it_says_about_the_price_is_the_quote(db):
    explanation, quote = db.explain(GROUPED, epsilon=0.3), db.quote(GROUPED, epsilon=0.3)
    assert explanation.charge == quote.charge
    assert explanation.mechanisms == quote.mechanisms
    assert explanation.quote.to_dict() == quote.to_dict()
    assert explanation.columns == ("region", "mean")


def test_the_plan_names_tables_filters_groups_and_people(db):
    plan = db.explain(GROUPED).plan
    for part in ("people", "income > 3", "AVG(income)", "region (declared keys)", "counts for 1 row", "10 people"):
        assert part in plan
    nested = "SELECT AVG(n) AS a FROM (SELECT person, COUNT(*) AS n FROM orders GROUP BY person) AS t"
    assert "(orders GROUP BY person)" in db.explain(nested).plan
    assert (
        "people INNER JOIN orders" in db.explain("SELECT COUNT(*) FROM people JOIN orders ON people.id = person").plan
    )


def test_it_prints_plan_price_and_sql(db):
    explanation = db.explain(GROUPED)
    text = str(explanation)
    for part in (
        explanation.plan,
        "price      epsilon 1,",
        "Predicted error",
        *(s.sql for s in explanation.statements),
    ):
        assert part in text


def test_public_data_is_read_by_one_statement_for_nothing(db):
    explanation = db.explain("SELECT k FROM nations")
    assert [statement.step for statement in explanation.statements] == ["public"]
    assert explanation.charge.epsilon == 0
    assert explanation.limits == ()
    assert "public data: exact, free" in str(explanation)


def test_bounds_that_have_yet_to_be_found_leave_the_sql_open(build):
    db = build("CREATE TABLE people (id BIGINT PRIMARY KEY, income DOUBLE)", "people: {unit: id, unit_unique: true}")
    explanation = db.explain("SELECT SUM(income) AS s FROM people", bounds="auto")
    assert explanation.statements == ()
    assert "would be found first" in str(explanation)


def test_parameters_and_options_are_those_of_a_query(db):
    query = "SELECT COUNT(*) AS n FROM people WHERE income > ?"
    assert "income > 7" in db.explain(query, [7]).plan
    with pytest.raises(hr.ParameterError):
        db.explain(query, [7], epsilon=-1)
    with pytest.raises(hr.UnsupportedSQLError):
        db.explain("SELECT income FROM people")


def test_it_costs_nothing_and_reads_no_private_row(db):
    session = session_of(db)

    def refuse(*_words):
        raise BackendError("No row may be read.", code="backend")

    session.backend.snapshot = refuse
    with pytest.raises(BackendError):
        db.sql(GROUPED)
    before = db.budget.spent
    for query in (GROUPED, MANY):
        str(db.explain(query))
    assert db.budget.spent == before
    assert db.budget.queries == 0


def test_it_cannot_be_changed(db):
    explanation = db.explain(GROUPED)
    with pytest.raises(FrozenInstanceError):
        explanation.plan = "another"
