"""A statement that reads a declared table is asked or refused, and never answered with the emptiness of the shadow.

Each attack runs in the simple and in the extended protocol. What comes back is an error, or the number of people; the
hospital has 20,000 of them, so that no noise makes it small.
"""

import psycopg
import pytest

PEOPLE = 10_000
"""Less than any noisy count of the hospital's people."""

REFUSED = {"0A000", "42601", "42703", "42P01", "42883"}
"""SQLSTATEs of a refusal: by the router, by hedgerow, or by the shadow that has no such function."""

ATTACKS = [
    "SELECT count(*) FROM PATIENTS",
    'SELECT count(*) FROM "PATIENTS"',
    'SELECT count(*) FROM "public" . /* x */ "patients" -- of them',
    "SELECT count(*) FROM/**/patients",
    "SELECT count(*) FROM hospital.public.patients",
    "SELECT count(*) FROM pg_temp.patients",
    "SELECT count(*) FROM ONLY patients",
    "SELECT count(*) FROM ONLY (patients)",
    "SELECT count(*) FROM patients *",
    'SELECT count(*) FROM U&"p\\0061tients"',
    "SELECT count(*) FROM U&\"p!0061tients\" UESCAPE '!'",
    "TABLE patients",
    "TABLE ONLY patients",
    "(TABLE patients)",
    "SELECT FROM patients",
    "SELECT patients FROM patients",
    "SELECT ctid FROM patients",
    "SELECT patients.* FROM patients",
    "SELECT (patients).* FROM patients",
    "SELECT row_to_json(patients) FROM patients",
    "SELECT count(*) FROM patients p(a, b)",
    "SELECT count(*) FROM patients FOR UPDATE",
    "SELECT count(*) FROM patients TABLESAMPLE BERNOULLI (100)",
    "WITH x AS MATERIALIZED (SELECT * FROM patients) SELECT count(*) FROM x",
    "WITH x AS (TABLE patients) SELECT count(*) FROM x",
    "WITH patients AS (SELECT * FROM public.patients) SELECT count(*) FROM patients",
    "WITH RECURSIVE x(n) AS (SELECT id FROM patients UNION SELECT n FROM x) SELECT count(*) FROM x",
    "WITH x AS (DELETE FROM patients RETURNING *) SELECT count(*) FROM x",
    "SELECT 1 FROM pg_class WHERE EXISTS (SELECT FROM patients)",
    "SELECT relname FROM pg_class, LATERAL (SELECT count(*) FROM patients) x",
    "SELECT relname FROM pg_class LEFT JOIN patients ON true WHERE patients.id IS NOT NULL",
    "SELECT (SELECT count(*) FROM patients)",
    "SELECT ARRAY(SELECT age FROM patients)",
    "SELECT 1 WHERE 3 > ALL (SELECT age FROM patients)",
    "SELECT relname FROM pg_class EXCEPT SELECT region FROM patients",
    "SELECT relname FROM pg_class ORDER BY (SELECT max(age) FROM patients)",
    "SELECT relname FROM pg_class LIMIT (SELECT count(*) FROM patients)",
    "SELECT count(*) FILTER (WHERE EXISTS (TABLE patients)) FROM pg_class",
    "VALUES ((SELECT count(*) FROM patients))",
    "SELECT * FROM (VALUES ((SELECT count(*) FROM patients))) x",
    "SELECT * FROM generate_series(1, (SELECT count(*) FROM patients))",
    "SELECT * FROM ROWS FROM (generate_series(1, (SELECT count(*) FROM patients)))",
    "SELECT xmlelement(name people, (SELECT count(*) FROM patients))",
    "SELECT json_object('n': (SELECT count(*) FROM patients))",
    "SELECT JSON_ARRAY(SELECT age FROM patients)",
    "SELECT * FROM json_populate_recordset(NULL::patients, '[]')",
    "SELECT * FROM XMLTABLE('/x' PASSING (SELECT xmlagg(xmlelement(name n, age)) FROM patients) COLUMNS n int)",
    "SELECT query_to_xml('select * from patients', true, true, '')",
    "SELECT \"query_to_xml\" ('select * from patients', true, true, '')",
    "SELECT pg_catalog . table_to_xml ('patients', true, true, '')",
    "SELECT schema_to_xml('public', true, true, '')",
    "SELECT database_to_xml(true, true, '')",
    "SELECT cursor_to_xml('c', 9, true, true, '')",
    "SELECT * FROM ts_stat('SELECT to_tsvector(region) FROM patients')",
    "SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery FROM patients')",
    "SELECT x FROM pg_class, query_to_xml('select 1', true, true, '') x",
    "EXPLAIN ANALYZE SELECT count(*) FROM patients",
    "EXPLAIN (ANALYZE) TABLE patients",
    "COPY patients TO STDOUT",
    "COPY public.patients (age) TO STDOUT",
    "COPY (TABLE patients) TO STDOUT",
    "COPY (SELECT age FROM patients) TO STDOUT",
    "PREPARE p AS SELECT count(*) FROM patients",
    "DECLARE c CURSOR WITH HOLD FOR SELECT age FROM patients",
    "DECLARE c CURSOR WITH HOLD FOR TABLE patients",
    "DO $$ BEGIN PERFORM count(*) FROM patients; END $$",
    "DO LANGUAGE plpgsql 'BEGIN PERFORM count(*) FROM patients; END'",
    "CREATE TEMP TABLE patients AS SELECT 1 AS id",
    "CREATE TEMP VIEW patients AS SELECT 1 AS id",
    "CREATE VIEW v AS SELECT * FROM patients",
    "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM patients'",
    "SELECT 1 AS id INTO TEMP patients",
    "SELECT count(*) INTO t FROM patients",
    "CREATE MATERIALIZED VIEW v AS SELECT * FROM patients",
]


@pytest.fixture
def connection(server):
    with psycopg.connect(server.url, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("attack", ATTACKS)
def test_it_is_asked_or_refused(connection, attack):
    for extended in (False, True):
        rows = state = None
        try:
            # a prepared statement is one of the extended protocol
            cursor = connection.execute(attack, prepare=True) if extended else connection.execute(attack)
            rows = cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            state = error.sqlstate
        assert state in REFUSED or (rows and rows[0][0] > PEOPLE), (state, rows)
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_each_statement_of_a_text_is_decided_by_itself(connection):
    cursor = connection.execute("SELECT 1; SET search_path = pg_catalog; SELECT count(*) FROM patients; SELECT 'x'")
    seen = [cursor.fetchone() if cursor.description else None]
    while cursor.nextset():
        seen.append(cursor.fetchone() if cursor.description else None)
    assert (seen[0], seen[1], seen[3]) == ((1,), None, ("x",))
    assert seen[2][0] > PEOPLE


@pytest.mark.parametrize("path", ["pg_catalog", "nowhere", "''", "information_schema, pg_temp", '"$user", hedgerow'])
def test_the_search_path_of_the_session_does_not_matter(connection, path):
    connection.execute(f"SET search_path = {path}")
    assert connection.execute("SELECT count(*) FROM patients").fetchone()[0] > PEOPLE
    assert connection.execute("SELECT count(*) FROM public.patients").fetchone()[0] > PEOPLE


def test_texts_read_in_another_way_by_the_shadow_are_stopped_by_its_seal(server):
    """With backslash escapes a text ends elsewhere: the router sees one text, the shadow a query of the table."""
    trap = r"SELECT '\'', count(*) FROM patients --'"
    with psycopg.connect(server.url, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute("SET standard_conforming_strings = off")
        assert connection.execute(trap).fetchone() == (r"\', count(*) FROM patients --",)
        with connection.pipeline():
            connection.execute("SELECT set_config('standard_conforming_strings', 'off', false)")
            trapped = connection.execute(trap)
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="rows of a declared table"):
                trapped.fetchall()
        assert connection.execute("SHOW standard_conforming_strings").fetchone() == ("on",), "it was rolled back"
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT set_config('standard_conforming_strings', 'off', false)")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(server.url, options="-c standard_conforming_strings=off")


def test_a_portal_is_not_swapped_under_its_name(server):
    """The same names of statements, portals and cursors on both sides: the last one counts, and rows stay ours."""
    with psycopg.connect(server.url) as connection:
        connection.execute("DECLARE c CURSOR FOR SELECT 0")
        connection.execute("CLOSE c; DECLARE c CURSOR FOR SELECT count(*) FROM patients")
        assert connection.execute("FETCH c").fetchone()[0] > PEOPLE
        connection.execute("PREPARE p AS SELECT 0")
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute("PREPARE p AS SELECT count(*) FROM patients")
