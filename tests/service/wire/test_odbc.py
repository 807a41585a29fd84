"""ODBC, as Excel and Power BI connect: psqlODBC of Debian, through pyodbc, over TLS."""

import datetime as dt
import threading
from decimal import Decimal

import pyodbc
import pytest
from tests.service.wire.conftest import QUESTION, port_of

DRIVER = "PostgreSQL Unicode"
REGIONS = ["east", "islands", "north", "south", "west"]
pytestmark = pytest.mark.skipif(
    DRIVER not in pyodbc.drivers(), reason="the ODBC driver is not installed (Debian: odbc-postgresql, unixodbc)"
)


def connect(server, **words):
    """A connection over TLS; `words` are more of the driver's own, such as UseDeclareFetch."""
    place = {"Driver": DRIVER, "Server": "localhost", "Port": port_of(server.encrypted), "Database": "hospital"}
    login = {"Uid": "ana", "Pwd": server.password, "SSLmode": "require"}
    return pyodbc.connect(";".join(f"{name}={value}" for name, value in {**place, **login, **words}.items()))


@pytest.fixture
def connection(server):
    with connect(server) as connection:
        yield connection
    connection.close()


def test_it_lists_and_describes_tables(connection):
    cursor = connection.cursor()
    listed = cursor.tables(schema="public", tableType="TABLE").fetchall()
    assert {row.table_name for row in listed} == {"patients", "visits", "wards", "regions"}
    columns = [(row.column_name, row.type_name) for row in cursor.columns(table="visits")]
    assert ("nights", "int8") in columns
    assert ("admitted", "date") in columns
    assert [row.column_name for row in cursor.primaryKeys(table="patients")] == ["id"]


@pytest.mark.parametrize("words", [{}, {"UseServerSidePrepare": 0}, {"UseDeclareFetch": 1, "Fetch": 2}])
def test_it_asks_with_parameters_in_each_of_its_ways(server, words):
    with connect(server, **words) as connection:
        cursor = connection.cursor()
        rows = cursor.execute(QUESTION).fetchall()
        assert [column[0] for column in cursor.description] == ["region", "n", "mean_age"]
        assert [row.region for row in rows] == REGIONS
        query = "SELECT COUNT(*) AS n FROM visits WHERE admitted > ? AND cost < ? AND ward = ? AND nights > ?"
        values = dt.date(2024, 3, 1), Decimal("4000.25"), "surgery", 1
        queries_before = server.db.budget.queries
        counts = [cursor.execute(query, values).fetchone()[0] for _ in range(2)]
        assert counts[0] == counts[1]
        assert server.db.budget.queries <= queries_before + 1
        assert cursor.execute(QUESTION).fetchall() == rows
    connection.close()


def test_a_refusal_has_its_state_and_code(connection):
    """The driver passes neither hint nor position on, whoever sends them."""
    cursor = connection.cursor()
    with pytest.raises(pyodbc.Error) as caught:
        cursor.execute("SELECT region, nonsense FROM patients")
    state, said = caught.value.args
    assert state == "42703"
    assert "There is no column 'nonsense' in 'patients'.\nDETAIL: code: unknown-column" in said
    connection.rollback()
    with pytest.raises(pyodbc.Error, match="single rows"):
        cursor.execute("SELECT * FROM patients")
    connection.rollback()
    assert cursor.execute("SELECT 1").fetchone()[0] == 1


def test_it_cancels_and_asks_again(server, connection, gate):
    query = "SELECT COUNT(*) FROM patients WHERE age BETWEEN 31 AND 47"
    cursor, errors = connection.cursor(), []

    def ask():
        with pytest.raises(pyodbc.Error) as caught:
            cursor.execute(query)
        errors.append(caught.value)

    thread = threading.Thread(target=ask)
    thread.start()
    assert gate.reached.wait(60)
    cursor.cancel()
    gate.opened.set()
    thread.join()
    assert "stays charged" in errors[0].args[1]
    connection.rollback()
    queries_before = server.db.budget.queries
    assert cursor.execute(query).fetchone() is not None
    assert server.db.budget.queries == queries_before
