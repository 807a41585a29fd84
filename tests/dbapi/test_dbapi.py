"""PEP 249: connections and cursors that pandas and others can use."""

import pandas as pd
import pytest

import hedgerow as hr
from hedgerow import dbapi

STATEMENTS = [
    "CREATE TABLE people (id BIGINT PRIMARY KEY, region VARCHAR, income DOUBLE, age INTEGER)",
    "INSERT INTO people SELECT j, ['north', 'south'][1 + j % 2], j * 10, j % 90 FROM range(4000) r(j)",
]
TABLES = """
people:
  unit: id
  unit_unique: true
  columns:
    income: {lower: 0, upper: 4000}
    region: {values: [north, south]}
"""
BY_REGION = "SELECT region, COUNT(*) AS n FROM people GROUP BY region ORDER BY region"


@pytest.fixture
def connection(build):
    return dbapi.connect(build(STATEMENTS, TABLES, min_frequency=5))


def test_the_module_says_what_it_is():
    assert (dbapi.apilevel, dbapi.paramstyle) == ("2.0", "named")
    assert dbapi.threadsafety in {1, 2, 3}
    assert issubclass(dbapi.InterfaceError, dbapi.Error)
    for name in (
        "DataError",
        "OperationalError",
        "IntegrityError",
        "InternalError",
        "ProgrammingError",
        "NotSupportedError",
    ):
        assert issubclass(getattr(dbapi, name), dbapi.DatabaseError)
        assert getattr(dbapi.Connection, name) is getattr(dbapi, name)


def test_rows_are_fetched_one_by_one_in_parts_and_all(connection):
    cursor = connection.cursor()
    assert (cursor.description, cursor.rowcount) == (None, -1)
    cursor.execute(BY_REGION)
    assert [(column[0], column[1] == dbapi.STRING, column[1] == dbapi.NUMBER) for column in cursor.description] == [
        ("region", True, False),
        ("n", False, True),
    ]
    assert all(len(column) == 7 for column in cursor.description)
    assert cursor.rowcount == 2
    assert cursor.fetchone()[0] == "north"
    assert [row[0] for row in cursor.fetchmany(5)] == ["south"]
    assert cursor.fetchone() is None
    assert cursor.fetchall() == cursor.fetchmany() == []
    cursor.execute(BY_REGION)
    assert [row[0] for row in cursor] == ["north", "south"]
    assert cursor.answer.receipt.reused


@pytest.mark.parametrize(("text", "values"), [("age > :low", {"low": 30}), ("age > ?", [30]), ("age > ?", (30,))])
def test_parameters_are_named_or_counted(connection, text, values):
    cursor = connection.cursor().execute(f"SELECT COUNT(*) AS n FROM people WHERE {text}", values)
    assert abs(cursor.fetchone()[0] - 2622) < 300


def test_explain_is_the_quote_and_costs_nothing(connection):
    before = connection.database.budget.queries
    rows = connection.cursor().execute(f"EXPLAIN {BY_REGION}").fetchall()
    assert any("epsilon" in line for (line,) in rows)
    assert connection.database.budget.queries == before


def test_settings_hold_for_the_questions_that_follow(connection):
    cursor = connection.cursor()
    cursor.execute("SET hedgerow.epsilon = 0.25")
    with pytest.raises(dbapi.InterfaceError):
        cursor.fetchall()
    cursor.execute(BY_REGION)
    assert cursor.answer.receipt.charge.epsilon == pytest.approx(0.25)
    cursor.execute("set hedgerow.intervals to on")
    cursor.execute(BY_REGION)
    assert [column[0] for column in cursor.description] == ["region", "n", "n_lower", "n_upper", "n_note"]
    cursor.execute("SET hedgerow.epsilon = DEFAULT")
    cursor.execute(BY_REGION)
    assert cursor.answer.receipt.charge.epsilon in {0, 1}
    for wrong in ("SET hedgerow.epsilonn = 1", "SET hedgerow.epsilon = much"):
        with pytest.raises(dbapi.DataError):
            cursor.execute(wrong)
    assert "epsilon" in cursor.execute("SHOW hedgerow.budget").fetchone()[0]


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("SELEC 1", dbapi.ProgrammingError),
        ("SELECT * FROM people", dbapi.DatabaseError),
        ("INSERT INTO people VALUES (1)", dbapi.DatabaseError),
        ("SELECT COUNT(*) FROM nowhere", dbapi.ProgrammingError),
    ],
)
def test_errors_are_those_of_pep_249_with_ours_behind(connection, statement, kind):
    with pytest.raises(kind) as caught:
        connection.cursor().execute(statement)
    assert isinstance(caught.value.__cause__, hr.HedgerowError)


def test_a_budget_that_is_used_up_is_an_operational_error(connection):
    cursor = connection.cursor()
    cursor.connection.options["epsilon"] = 1000.0
    questions = [f"SELECT COUNT(*) FROM people WHERE age > {number}" for number in range(200)]
    with pytest.raises(dbapi.OperationalError):
        list(map(cursor.execute, questions))


def test_what_is_closed_stays_closed(connection):
    cursor = connection.cursor()
    cursor.close()
    with pytest.raises(dbapi.InterfaceError):
        cursor.execute(BY_REGION)
    connection.commit()
    connection.rollback()
    with connection as same:
        other = same.cursor()
    for method in (connection.cursor, connection.commit, connection.rollback, other.fetchall, connection.close):
        with pytest.raises(dbapi.InterfaceError):
            method()


def test_pandas_reads_a_question_as_a_table(connection):
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        frame = pd.read_sql(BY_REGION, connection)
    assert list(frame.columns) == ["region", "n"]
    assert list(frame["region"]) == ["north", "south"]
