"""psycopg 3: text and binary, parameters, pipelines, cursors, COPY, cancel, errors, over TLS and without."""

import datetime as dt
import threading
from decimal import Decimal

import psycopg
import pytest
from psycopg import sql
from tests.service.wire.conftest import QUESTION

REGIONS = ["east", "islands", "north", "south", "west"]


@pytest.fixture
def connection(server):
    with psycopg.connect(server.tls_url, autocommit=True, channel_binding="require") as connection:
        yield connection


@pytest.mark.parametrize("binary", [False, True])
def test_an_answer_has_the_types_of_its_columns(connection, server, binary):
    cursor = connection.cursor(binary=binary)
    rows = cursor.execute(QUESTION).fetchall()
    assert [column.type_code for column in cursor.description] == [25, 20, 701]
    assert [row[0] for row in rows] == REGIONS
    answer = server.db.as_analyst("ana").sql(QUESTION)
    assert rows == [tuple(row) for row in answer]
    assert answer.receipt.reused


def test_parameters_are_bound_in_text_and_in_binary(connection):
    query = """SELECT COUNT(*) AS n FROM visits v JOIN patients p ON p.id = v.patient_id
        WHERE p.age >= {0} AND p.region = {0} AND p.smoker = {0} AND v.admitted >= {0} AND v.cost < {0}"""
    values = (40, "north", True, dt.date(2024, 1, 1), Decimal("5000.50"))
    counts = {connection.execute(query.format(placeholder), values).fetchone()[0] for placeholder in ("%s", "%b", "%t")}
    assert len(counts) == 1, "the same question has one answer"


def test_a_statement_is_prepared_once_and_executed_often(connection):
    query = "SELECT COUNT(*) AS n FROM patients WHERE age > %s"
    first = [connection.execute(query, (age,), prepare=True).fetchone() for age in (30, 60)]
    assert first == [connection.execute(query, (age,), prepare=True).fetchone() for age in (30, 60)]
    assert first[0] > first[1]
    connection.execute("DEALLOCATE ALL")
    assert first[0] == connection.execute(query, (30,), prepare=True).fetchone()


def test_a_refusal_has_state_position_hint_and_code(connection):
    with pytest.raises(psycopg.errors.UndefinedColumn) as caught:
        connection.execute("SELECT region, nonsense FROM patients")
    said = caught.value.diag
    assert said.message_primary == "There is no column 'nonsense' in 'patients'."
    assert said.statement_position == "16"
    assert said.message_detail == "code: unknown-column"
    assert "region" in said.message_hint
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="single rows"):
        connection.execute("SELECT * FROM patients LIMIT 1000")
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_the_position_counts_from_the_start_of_the_text_that_was_sent(connection):
    text = "SELECT 'ä'; EXPLAIN SELECT nonsense FROM patients"
    with pytest.raises(psycopg.errors.UndefinedColumn) as caught:
        connection.execute(text)
    assert int(caught.value.diag.statement_position) == text.index("nonsense") + 1
    with pytest.raises(psycopg.errors.UndefinedColumn) as caught:
        connection.execute("SELECT 1; SELECT foo")
    assert caught.value.diag.statement_position == "18"


def test_price_and_receipt_come_as_a_notice_which_can_be_turned_off(connection, server):
    notices = []
    connection.add_notice_handler(lambda notice: notices.append((notice.severity, notice.message_primary)))
    connection.execute("SELECT COUNT(*) AS n FROM patients WHERE age < 77")
    [(severity, message)] = notices
    assert severity == "NOTICE"
    assert "epsilon 0.2" in message
    assert message.endswith(f"-{server.db.budget.history[-1].sequence}")
    connection.execute("SELECT COUNT(*) AS n FROM patients WHERE age < 77")
    assert "free: answered before" in notices[1][1]
    connection.execute("SET hedgerow.notices = off")
    connection.execute("SELECT COUNT(*) AS n FROM patients WHERE age < 77")
    connection.execute("RESET hedgerow.notices; SET client_min_messages = warning")
    connection.execute("SELECT COUNT(*) AS n FROM patients WHERE age < 77")
    assert len(notices) == 2


def test_a_pipeline_answers_in_order_and_stops_at_an_error(connection):
    with connection.pipeline():
        cursors = [connection.execute(query) for query in ("SELECT 1", QUESTION, "SELECT 2")]
        assert [len(cursor.fetchall()) for cursor in cursors] == [1, 5, 1]
    skipped = connection.cursor()

    def fail():
        with connection.pipeline() as pipeline:
            connection.execute("SELECT nonsense FROM patients")
            skipped.execute(QUESTION)  # raises the error if it has arrived by now
            pipeline.sync()

    with pytest.raises(psycopg.errors.UndefinedColumn):
        fail()
    with pytest.raises(psycopg.ProgrammingError, match="no result"):
        skipped.fetchall()
    assert connection.execute("SELECT 3").fetchone() == (3,)


def test_a_cursor_on_the_server_is_fetched_in_parts(server):
    with psycopg.connect(server.url) as connection:
        with connection.cursor("parts") as cursor:
            cursor.itersize = 2
            assert [row[0] for row in cursor.execute(QUESTION)] == REGIONS
        with connection.cursor("more") as cursor:
            cursor.execute("SELECT COUNT(*) FROM patients WHERE age > %s", (50,))
            assert (
                cursor.fetchmany(5)
                == cursor.connection.execute("SELECT COUNT(*) FROM patients WHERE age > 50").fetchall()
            )
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="forward"):
                connection.execute("FETCH BACKWARD 1 FROM more")


def test_cursors_end_with_their_transaction_unless_they_are_held(connection):
    with pytest.raises(psycopg.errors.NoActiveSqlTransaction):
        connection.execute(f"DECLARE short CURSOR FOR {QUESTION}")
    connection.execute(f"BEGIN; DECLARE short CURSOR FOR {QUESTION}; COMMIT")
    with pytest.raises(psycopg.errors.InvalidCursorName):
        connection.execute("FETCH short")
    connection.execute(f"DECLARE long CURSOR WITH HOLD FOR {QUESTION}")
    assert connection.execute("MOVE FORWARD 3 IN long").statusmessage == "MOVE 3"
    assert [row[0] for row in connection.execute("FETCH ALL FROM long")] == REGIONS[3:]
    assert connection.execute("CLOSE long").statusmessage == "CLOSE CURSOR"


@pytest.mark.parametrize(
    "options", ["(FORMAT binary)", "", "WITH (FORMAT csv, HEADER true)", "CSV HEADER DELIMITER AS ';'"]
)
def test_copy_gives_the_rows_of_the_answer(connection, options):
    rows = connection.execute(QUESTION).fetchall()
    with connection.cursor().copy(f"COPY ({QUESTION}) TO STDOUT {options}") as copy:
        if "csv" in options.lower():
            mark = ";" if "';'" in options else ","
            lines = b"".join(copy).decode().splitlines()
            assert lines[0] == mark.join(("region", "n", "mean_age"))
            assert [line.split(mark)[0] for line in lines[1:]] == REGIONS
            return
        copy.set_types(["text", "int8", "float8"])
        assert list(copy.rows()) == rows


def test_a_failed_private_statement_fails_its_transaction(server):
    with psycopg.connect(server.url) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute("SELECT nonsense FROM patients")
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INERROR
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute(QUESTION)
        connection.rollback()
        with connection.transaction():
            assert len(connection.execute(QUESTION).fetchall()) == 5
            with pytest.raises(psycopg.errors.FeatureNotSupported), connection.transaction():
                connection.execute("SELECT * FROM patients")
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_settings_follow_transactions_as_those_of_postgres_do(connection):
    def width():
        return len(connection.execute(QUESTION).description)

    with connection.transaction():
        connection.execute("SET LOCAL hedgerow.intervals = on")
        assert width() == 7
    assert width() == 3
    with connection.transaction(force_rollback=True):
        connection.execute("SET hedgerow.intervals TO true")
        assert width() == 7
    assert width() == 3
    connection.execute("SELECT set_config('hedgerow.intervals', 'on', false)")
    assert width() == 7
    assert connection.execute("SHOW hedgerow.intervals").fetchone() == ("on",)
    assert connection.execute("SELECT current_setting('hedgerow.intervals')").fetchone() == ("on",)
    connection.execute("RESET ALL")
    assert width() == 3


def test_intervals_are_columns_and_open_ends_are_infinite(server):
    with psycopg.connect(server.url, options="-c hedgerow.intervals=on", autocommit=True) as connection:
        cursor = connection.execute(QUESTION)
        assert [column.name for column in cursor.description] == [
            *("region", "n", "n_lower", "n_upper", "mean_age", "mean_age_lower", "mean_age_upper")
        ]
        rows = cursor.fetchall()
        assert rows == connection.cursor(binary=True).execute(QUESTION).fetchall()
        assert all(lower <= n <= upper for _, n, lower, upper, *_ in rows if n is not None)
        assert all(end.is_integer() for _, n, *ends, _, _, _ in rows for end in ends if n is not None)
        nobody = QUESTION.replace("GROUP BY", "WHERE cover = 'none of these' GROUP BY")
        rows = connection.cursor(binary=True).execute(nobody).fetchall()
        assert rows == connection.execute(nobody).fetchall()
        assert [row[:4] for row in rows] == [(region, None, float("-inf"), float("inf")) for region in REGIONS]


@pytest.mark.parametrize(
    ("setting", "value", "state"),
    [
        ("epsilon", "-1", "22023"),
        ("epsilon", "'much'", "22023"),
        ("min_frequency", "2", "42501"),
        ("within", "'500'", "22023"),
        ("mechanism", "magic", "22023"),
        ("bounds", "'nothing'", "22023"),
        ("nonsense", "1", "22023"),
    ],
)
def test_a_setting_is_checked_when_it_is_set(connection, setting, value, state):
    with pytest.raises(psycopg.Error) as caught:
        connection.execute(f"SET hedgerow.{setting} = {value}")
    assert caught.value.sqlstate == state


def test_settings_are_options_of_the_question(connection, server):
    connection.execute("SET hedgerow.epsilon = 0.031; SET hedgerow.confidence = 0.9; SET hedgerow.reuse = off")
    connection.execute("SET hedgerow.bounds = '{\"age\": [10, 90]}'")
    connection.execute("SELECT AVG(age) FROM patients WHERE smoker")
    assert server.db.budget.history[-1].charge["epsilon"] == 0.031
    connection.execute("SELECT AVG(age) FROM patients WHERE smoker")
    assert [entry.charge["epsilon"] for entry in server.db.budget.history[-2:]] == [0.031, 0.031]


def test_the_budget_can_be_shown_and_selected(connection, server):
    connection.execute(QUESTION)
    assert connection.execute("SHOW hedgerow.budget").fetchone()[0].startswith("hospital: ")
    for _ in range(2):
        row = connection.execute(
            "SELECT dataset, analyst, spent_epsilon FROM hedgerow.budget WHERE epsilon > %s", (1,), prepare=True
        ).fetchone()
        assert row == ("hospital", "ana", server.db.as_analyst("ana").budget.spent.epsilon)
        connection.execute("SELECT COUNT(*) FROM patients WHERE age < 71")


def test_explain_is_the_quote_and_costs_nothing(connection, server):
    spent = server.db.budget.spent
    query = "SELECT COUNT(*) AS n FROM visits WHERE nights > 29"
    lines = [row[0] for row in connection.execute(f"EXPLAIN {query}")]
    assert "cost=0.00..0.2" in lines[0]
    assert any("A group is shown" in line for line in lines)
    [[plan]] = connection.execute(f"EXPLAIN (FORMAT JSON) {query}").fetchall()
    assert plan[0]["Plan"]["Total Cost"] == 0.2
    assert plan[0]["Quote"]["columns"] == ["n"]
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        connection.execute(f"EXPLAIN ANALYZE {query}")
    assert server.db.budget.spent == spent


@pytest.mark.parametrize(
    ("probe", "columns"),
    [
        ("SELECT * FROM patients LIMIT 0", ["id", "region", "age", "sex", "smoker", "cover"]),
        ("SELECT region, age FROM public.patients WHERE 1=0", ["region", "age"]),
        (f"SELECT * FROM ({QUESTION}) AS q WHERE 1 = 0", ["region", "n", "mean_age"]),
        (f"SELECT * FROM ({QUESTION}) AS q LIMIT 0", ["region", "n", "mean_age"]),
    ],
)
def test_a_probe_for_columns_is_free_and_empty(connection, server, probe, columns):
    queries = server.db.budget.queries
    cursor = connection.execute(probe)
    assert [column.name for column in cursor.description] == columns
    assert cursor.fetchall() == []
    assert server.db.budget.queries == queries


def test_a_cancelled_statement_stays_charged_and_others_go_on(server, gate):
    query = "SELECT COUNT(*) FROM patients WHERE age BETWEEN 33 AND 44"
    errors = []

    def ask(connection):
        with pytest.raises(psycopg.errors.QueryCanceled) as caught:
            connection.execute(query)
        errors.append(caught.value)

    with psycopg.connect(server.tls_url, autocommit=True) as one, psycopg.connect(server.url, autocommit=True) as other:
        thread = threading.Thread(target=ask, args=(one,))
        thread.start()
        assert gate.reached.wait(60)
        other.cancel_safe()
        one.cancel_safe()
        assert len(other.execute(QUESTION).fetchall()) == 5
        gate.opened.set()
        thread.join()
        assert "stays charged" in errors[0].diag.message_primary
        assert one.execute("SELECT 1").fetchone() == (1,)
        queries = server.db.budget.queries
        assert one.execute(query).fetchone() is not None
        assert server.db.budget.queries == queries, "asked again, it is covered by its charge"


def test_the_shadow_is_cancelled_too(server):
    with psycopg.connect(server.url, autocommit=True) as connection:
        ended = threading.Event()

        def cancel():
            while not ended.wait(0.05):
                connection.cancel_safe()

        thread = threading.Thread(target=cancel)
        thread.start()
        try:
            with pytest.raises(psycopg.errors.QueryCanceled):
                connection.execute("SELECT count(*) FROM generate_series(1, 30000) a, generate_series(1, 30000) b")
        finally:
            ended.set()
            thread.join()


def test_a_statement_timeout_of_the_client_ends_a_private_statement(connection, server, gate):
    """The statement stands at the gate until its time is over."""
    ended = threading.Event()

    def open_when_time_is_over():
        while not ended.wait(0.01):
            if any(statement.requested for statement in list(server.gateway.admission._running)):
                gate.opened.set()

    connection.execute("SET statement_timeout = '100ms'")
    thread = threading.Thread(target=open_when_time_is_over)
    thread.start()
    try:
        with pytest.raises(psycopg.errors.QueryCanceled, match="longer than"):
            connection.execute("SELECT COUNT(*) FROM patients WHERE age BETWEEN 12 AND 88")
    finally:
        ended.set()
        thread.join()


def test_names_are_quoted_as_in_postgres(connection):
    query = sql.SQL("SELECT {0}.{1} AS {2}, COUNT(*) FROM {3}.{0} GROUP BY {0}.{1}").format(
        *map(sql.Identifier, ("patients", "region", 'a "b"', "public"))
    )
    cursor = connection.execute(query)
    assert cursor.description[0].name == 'a "b"'
    assert sorted(row[0] for row in cursor) == REGIONS


def test_what_is_no_query_is_refused_and_writes_nothing(connection):
    for statement in (
        "DELETE FROM patients",
        "CREATE TABLE x (i int)",
        "COPY patients FROM STDIN",
        "PREPARE p AS " + QUESTION,
    ):
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute(statement)


def test_columns_without_an_alias_have_the_names_that_postgres_gives_them(server):
    with psycopg.connect(server.url, options="-c hedgerow.intervals=on", autocommit=True) as connection:
        cursor = connection.execute("SELECT COUNT(*), AVG(age), region AS Place FROM patients GROUP BY region")
        names = [column.name for column in cursor.description]
        assert names == ["count", "count_lower", "count_upper", "avg", "avg_lower", "avg_upper", "place"]
        rows = cursor.fetchall()
        assert all(row[1] <= row[0] <= row[2] for row in rows if row[0] is not None)
        assert any(row[4] < row[3] < row[5] for row in rows if row[3] is not None)
        cursor = connection.execute("SELECT MEDIAN(age), COUNT(*) FILTER (WHERE smoker) FROM patients")
        assert [column.name for column in cursor.description][::3] == ["median", "count"]


@pytest.mark.parametrize(
    "preview",
    [
        "SELECT * FROM patients LIMIT 200",
        "SELECT id AS id, region AS region, age AS age FROM public.patients LIMIT 1000",
        'select "_"."id", "_"."region", "_"."age" from "public"."patients" "_" limit 1000 offset 0',
        'SELECT CAST("patients"."region" AS TEXT) AS "region" FROM "public"."patients" "patients" LIMIT 100',
        "SELECT x.* FROM public.patients x LIMIT 200",
        "SELECT * FROM (SELECT * FROM patients) AS virtual_table LIMIT 100",
    ],
)
def test_previews_of_tools_are_refused_with_a_hint_for_their_users(connection, server, preview):
    """As Superset, Power BI, Tableau, DBeaver and Metabase write them."""
    queries_before = server.db.budget.queries
    for words in ({}, {"prepare": True}):
        with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
            connection.execute(preview, **words)
        assert "choose a chart or a query with a metric" in caught.value.diag.message_hint
        assert caught.value.diag.statement_position is not None
    assert server.db.budget.queries == queries_before
