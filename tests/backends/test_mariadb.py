"""MariaDB on a real server: whole answers, values that only it can hold, and settings that must not matter."""

import datetime as dt
import threading

import duckdb
import pytest

import hedgerow as hr
from hedgerow.backends.ibis import Ibis
from hedgerow.compile.scalars import key
from hedgerow.compiled import Query, arrow_type
from hedgerow.dialects import DUCKDB
from hedgerow.expressions.nodes import Call, Column
from hedgerow.expressions.types import Type
from hedgerow.limits import StatementLimits

from ..conformance.engines.mariadb import UTC, ibis_over, running, why_not

CATALOG = """\
dataset: clinic
budget: {epsilon: 1000000, delta: 0.01, pure_epsilon: 500000}
defaults: {epsilon: 1000, delta: 1e-8, min_frequency: 1}
tables:
  people:
    unit: id
    max_rows: 1
    columns: {income: {lower: 0, upper: 100}}
  visits:
    unit: person
    max_rows: 3
    columns: {cost: {lower: 0, upper: 50}}
"""
TABLES = (
    "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40), income DOUBLE, born DATE, code VARCHAR(10))",
    """INSERT INTO people SELECT seq, CASE seq % 3 WHEN 0 THEN 'Anna' WHEN 1 THEN 'anna ' ELSE 'Zoé' END, seq % 100,
        DATE '2000-01-31' + INTERVAL seq DAY, CONCAT(' ', seq % 7, '.5') FROM seq_1_to_600""",
    "CREATE TABLE visits (person INT, cost DECIMAL(8,2), at DATETIME(6), wait TIME(6))",
    """INSERT INTO visits SELECT 1 + seq % 600, seq % 40, TIMESTAMP '2024-01-01 00:00:00' + INTERVAL seq HOUR,
        SEC_TO_TIME(seq) FROM seq_1_to_1800""",
)
MODES = ("", "ANSI", "TRADITIONAL", "NO_BACKSLASH_ESCAPES", "ALLOW_INVALID_DATES", "PAD_CHAR_TO_FULL_LENGTH")


@pytest.fixture(scope="module")
def socket():
    if why_not() is not None:
        pytest.skip(f"NOT TESTED: {why_not()}")
    import MySQLdb  # noqa: PLC0415 - it may be missing

    with running() as place:
        with MySQLdb.connect(unix_socket=place, user="root", charset="utf8mb4", autocommit=True) as owner:
            cursor = owner.cursor()
            for statement in (*UTC, "CREATE DATABASE clinic CHARACTER SET utf8mb4"):
                cursor.execute(statement)
            owner.select_db("clinic")
            for statement in TABLES:
                cursor.execute(statement)
        yield place


@pytest.fixture
def connection(socket):
    import MySQLdb  # noqa: PLC0415 - it may be missing

    built = MySQLdb.connect(unix_socket=socket, user="root", database="clinic", charset="utf8mb4", autocommit=True)
    yield built
    built.close()


@pytest.fixture
def ask(connection, tmp_path):
    (tmp_path / "clinic.yaml").write_text(CATALOG)
    with hr.connect(ibis_over(connection), catalog=tmp_path / "clinic.yaml") as db:
        yield lambda text: [tuple(row) for row in db.sql(text)]


def near(rows):
    """Answers at so large an epsilon are whole numbers, but for noise far below one half."""
    return [tuple(round(cell) if isinstance(cell, float) else cell for cell in row) for row in rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT COUNT(*), AVG(income) * 2 FROM people", [(600, 99)]),
        ("SELECT name, COUNT(*) FROM people GROUP BY name", [("Anna", 200), ("Zoé", 200), ("anna ", 200)]),
        ("SELECT COUNT(*) FROM people WHERE name ILIKE 'ANNA%'", [(400,)]),
        ("SELECT COUNT(*) FROM people WHERE UPPER(name) = 'ZOÉ'", [(200,)]),
        ("SELECT COUNT(*) FROM people WHERE REGEXP_MATCHES(name, '^a')", [(200,)]),
        ("SELECT ROUND(income, -2), COUNT(*) FROM people GROUP BY 1", [(0, 300), (100, 300)]),
        ("SELECT COUNT(*) FROM people WHERE born + INTERVAL 1 MONTH < DATE '2000-03-02'", [(1,)]),
        ("SELECT SUM(CLIP(CAST(code AS DOUBLE), 0, 10)) FROM people", [(2100,)]),
        (
            "SELECT strftime(at, '%Y-%m') AS m, COUNT(*) FROM visits GROUP BY 1",
            [("2024-01", 743), ("2024-02", 696), ("2024-03", 361)],
        ),
        ("SELECT EXTRACT(hour FROM at) = 12, COUNT(*) FROM visits GROUP BY 1", [(False, 1725), (True, 75)]),
        ("SELECT SUM(cost) / 100 FROM visits", [(351,)]),
        (
            "SELECT COUNT(*) FROM people WHERE CAST(CONCAT('2024-2-', id % 29 + 1) AS DATE) < DATE '2024-02-11'",
            [(209,)],
        ),
        ("SELECT COUNT(*) FROM visits WHERE CAST(CAST(wait AS VARCHAR) AS TIME) < '00:10'", [(599,)]),
        ("SELECT EXTRACT(minute FROM wait) < 10, COUNT(*) FROM visits GROUP BY 1", [(False, 1201), (True, 599)]),
    ],
)
def test_questions_have_the_answers_of_plain_sql(ask, text, expected):
    assert sorted(near(ask(text)), key=str) == expected


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_of_the_connection_does_not_matter(connection, ask, mode):
    connection.cursor().execute("SET SESSION sql_mode = %s", [mode])
    text = r"SELECT COUNT(*) FROM people WHERE name LIKE 'an%' AND code <> '\' AND name || 'x' <> 'é'"
    assert near(ask(text)) == [(200,)]


READ_AS_TIMES = [
    *(
        "2024-02-29",
        "2023-02-29",
        "1900-02-29",
        "2000-2-29",
        "2100-02-29",
        "24-1-2",
        "2024/1/31",
        "2024 04 31",
        "1\\2\\3",
    ),
    *("2024-1/2", "2024-13-01", "2024-00-10", "2024-01-00", " 2024-06-30", "2024-06-30 ", "20240630", "00002024-01-01"),
    *("2024-06-30 12:34", "2024-06-30T1:2:3.4567899", "2024-06-30  12:", "2024-06-30 12:60", "2024-06-30 24:00:00"),
    *("2024-06-30 24:00:00.000001", "2024-12-31T23:59:59.999999Z", "2024-06-30 12:00+02", "2024-06-30 12:00:00-05:30"),
    *("2024-06-30 12:00 UTC", "2024-06-30 12:00 Europe/Berlin ", "2024-06-30 12:00x", "2024-06-30t12:00", "epoch"),
    *(
        " Epoch ",
        "infinity",
        "",
        "12:34",
        "7:08:09.5 p",
        "24:00:00",
        "24:00:01",
        "23:59:59.9999999",
        "1:2:3 x",
        "99:00",
    ),
    *("2024-06-30 (BC)", "10000-01-01", "0000-01-01", "-5-01-01", "\t2024-06-30\n12:00", "2024-06-30 12:00:00.1\n"),
    "9" * 3000,
]
"""Written in many ways, of which DuckDB reads some."""

NO_SUCH_YEAR = ("2024-06-30 (BC)", "10000-01-01", "0000-01-01", "-5-01-01")
"""Days that MariaDB does not have: the time of such a day is not read either."""


@pytest.mark.parametrize("mode", ["", "TRADITIONAL", "ALLOW_INVALID_DATES"])
@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIME"])
def test_dates_and_times_are_read_as_duckdb_reads_them(connection, mode, kind):
    connection.cursor().execute("SET SESSION sql_mode = %s", [mode])
    backend, there, here = Ibis(ibis_over(connection)), {}, {}
    column = Column("s", Type.TEXT, native="text", collated=True)
    read = Call(f"cast_{kind.lower()}", (column,), Type(kind.lower()))
    for text in READ_AS_TIMES:
        sql = f"SELECT {key(read, backend.dialect)} AS c0 FROM (SELECT {backend.dialect.string(text)} AS s) AS t0"
        there[text] = backend.public(Query(sql, ("c0",), (), (arrow_type(read),))).to_pylist()[0]["c0"]
        sql = f"SELECT {key(read, DUCKDB)} FROM (SELECT {DUCKDB.string(text)} AS s) AS t0"
        here[text] = duckdb.sql(sql).fetchall()[0][0]
    lost = dict.fromkeys(NO_SUCH_YEAR) if kind == "TIME" else {}
    assert there == here | lost


def test_values_that_only_mariadb_can_hold_make_nothing_fail(connection, ask):
    cursor = connection.cursor()
    cursor.execute("SET SESSION sql_mode = ''")
    cursor.execute(
        "INSERT INTO visits VALUES (1, 1, '0000-00-00 00:00:00', '838:59:59'), (2, 1, '2024-02-00', '-10:00')"
    )
    try:
        rows = ask("SELECT DATE_TRUNC('month', at) AS m, COUNT(*) FROM visits WHERE at < DATE '2024-01-02' GROUP BY 1")
        assert {row[0] for row in rows} <= {None, dt.datetime(2024, 1, 1)}  # noqa: DTZ001 - it has no zone
        assert ask("SELECT COUNT(*) FROM visits WHERE at + INTERVAL 9000 YEAR > at")
    finally:
        cursor.execute("DELETE FROM visits WHERE at = 0 OR DAYOFMONTH(at) = 0")


def test_a_snapshot_sees_one_state(connection, socket):
    import MySQLdb  # noqa: PLC0415 - it may be missing

    backend = Ibis(ibis_over(connection))
    counted = Query("SELECT COUNT(*) AS n FROM people", (), ("n",))
    with MySQLdb.connect(unix_socket=socket, user="root", database="clinic", autocommit=True) as other:
        with backend.snapshot() as snapshot:
            before = snapshot.run(counted).exact_integers("n")[0]
            other.cursor().execute("INSERT INTO people (id) VALUES (1000)")
            assert snapshot.run(counted).exact_integers("n")[0] == before
        other.cursor().execute("DELETE FROM people WHERE id = 1000")


def test_the_dialect_is_that_of_the_server(connection):
    assert Ibis(ibis_over(connection)).dialect.label == "MariaDB"


LONG = Query("SELECT COUNT(*) AS n FROM seq_1_to_1000000 a, seq_1_to_1000000 b WHERE a.seq + b.seq < 0", (), ("n",))


def test_the_server_stops_a_statement_that_takes_too_long(connection):
    backend = Ibis(ibis_over(connection))
    backend.set_limits(StatementLimits(seconds=0.2))
    with pytest.raises(hr.BackendError) as caught:
        backend.public(LONG)
    assert caught.value.code == "timed-out"
    assert backend.public(Query("SELECT 1 AS n", (), ("n",))).num_rows == 1


def test_a_statement_that_another_client_kills_is_told_as_cancelled(connection, socket):
    """The statement must run when it is killed: of a connection that waits for one, MariaDB forgets it again."""
    import MySQLdb  # noqa: PLC0415 - it may be missing

    backend, ident, actual = Ibis(ibis_over(connection)), connection.thread_id(), []
    backend.set_limits(StatementLimits(seconds=30))

    def run():
        with pytest.raises(hr.BackendError) as caught:
            backend.public(LONG)
        actual.append(caught.value.code)

    thread = threading.Thread(target=run)
    thread.start()
    with MySQLdb.connect(unix_socket=socket, user="root", autocommit=True) as other:
        cursor = other.cursor()
        while thread.is_alive():
            cursor.execute("SELECT info FROM information_schema.processlist WHERE id = %s", [ident])
            if "seq_1_to_1000000" in str(cursor.fetchone()):
                cursor.execute(f"KILL QUERY {ident}")
            thread.join(0.05)
    assert actual == ["cancelled"]
    assert backend.public(Query("SELECT 1 AS n", (), ("n",))).num_rows == 1


def test_a_table_that_is_gone_is_told(connection):
    with pytest.raises(hr.BackendError) as caught:
        Ibis(ibis_over(connection)).public(Query("SELECT 1 AS n FROM nowhere", (), ("n",)))
    assert caught.value.code == "schema-changed"
