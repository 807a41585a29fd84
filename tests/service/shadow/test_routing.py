"""Statements that read a declared table are never the shadow's, however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import UnsupportedSQLError
from hedgerow.service.shadow.lexing import WordKind, read_words, split_statements
from hedgerow.service.shadow.routing import CACHED, TOOL_HINT, Route, Router
from hedgerow.session.tables import TableInfo

READS = [
    "SELECT COUNT(*) FROM patients",
    "select count(*) from PATIENTS",
    'select count(*) from "patients"',
    'select count(*) from "Patients"',
    "select count(*) from public.patients",
    'select count(*) from "public"."patients"',
    "select count(*) from hospital.public.patients",
    "select count(*) from/**/patients",
    "select count(*) from--\npatients",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM patients)",
    "SELECT (SELECT COUNT(*) FROM patients)",
    "WITH x AS (SELECT * FROM patients) SELECT COUNT(*) FROM x",
    "WITH patients AS (SELECT * FROM pg_class) SELECT COUNT(*) FROM patients",
    "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n FROM x, patients) SELECT COUNT(*) FROM x",
    "SELECT COUNT(*) FROM pg_class UNION ALL SELECT COUNT(*) FROM patients",
    "SELECT COUNT(*) FROM pg_class c JOIN LATERAL (SELECT 1 FROM patients p WHERE p.id = c.oid) x ON true",
    "SELECT COUNT(*) FROM pg_class, patients",
    "SELECT COUNT(*) FROM pg_class NATURAL JOIN patients",
    "SELECT COUNT(*) FROM ONLY patients",
    "SELECT COUNT(*) FROM LATERAL patients",
    "SELECT COUNT(*) FROM (patients)",
    "SELECT COUNT(row_to_json(patients)) FROM patients",
    "SELECT COUNT(*) FROM patients TABLESAMPLE SYSTEM (1)",
    "SELECT relname FROM pg_class WHERE oid IN (SELECT id FROM patients)",
    "SELECT relname FROM pg_class ORDER BY (SELECT COUNT(*) FROM patients)",
    "SELECT CASE WHEN (SELECT COUNT(*) FROM patients) > 3 THEN 1 END FROM pg_class",
    "(SELECT COUNT(*) FROM patients)",
    "EXPLAIN SELECT COUNT(*) FROM patients",
    "EXPLAIN (ANALYZE, VERBOSE) SELECT COUNT(*) FROM patients",
    "EXPLAIN ANALYZE VERBOSE SELECT COUNT(*) FROM patients",
    "COPY (SELECT COUNT(*) FROM patients) TO STDOUT (FORMAT csv)",
    "DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT COUNT(*) FROM patients",
    "PREPARE x (int) AS SELECT COUNT(*) FROM patients WHERE age > $1",
    "SELECT COUNT(*) FROM patients WHERE 1=0",
    "SELECT COUNT(*) FROM patients LIMIT 0",
]
"""Each of them reads `patients`, or has to be treated as if it did."""

REFUSED = [
    "SELECT * FROM patients",
    "SELECT * FROM public.patients LIMIT 100",
    'SELECT "patients".* FROM "public"."patients" LIMIT 1000',
    "SELECT t.* FROM patients t",
    "TABLE patients",
    "VALUES ((SELECT COUNT(*) FROM patients))",
    "COPY patients TO STDOUT",
    "COPY public.patients (age) TO STDOUT",
    "COPY patients FROM STDIN",
    "COPY (SELECT 1) TO '/tmp/x'",
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "COPY pg_class FROM '/etc/passwd'",
    "SELECT query_to_xml('select * from patients', true, true, '')",
    "SELECT pg_catalog.table_to_xml('patients', true, true, '')",
    "SELECT * FROM ts_stat('select 1 from patients')",
    'SELECT COUNT(*) FROM U&"\\0070atients"',
    "SELECT COUNT(*) FROM ONLY (patients)",
    "INSERT INTO patients VALUES (1)",
    "UPDATE patients SET age = 1",
    "DELETE FROM patients",
    "TRUNCATE patients",
    "CREATE VIEW v AS SELECT * FROM patients",
    "CREATE TEMP TABLE t AS SELECT 1",
    "DROP TABLE patients",
    "ALTER ROLE alice SUPERUSER",
    "GRANT ALL ON patients TO PUBLIC",
    "DO $$ BEGIN PERFORM 1; END $$",
    "CALL anything()",
    "LISTEN channel",
    "NOTIFY channel, 'text'",
    "LOCK TABLE patients",
    "VACUUM",
    "ANALYZE patients",
    "LOAD 'library'",
    "PREPARE TRANSACTION 'x'",
    "COMMIT PREPARED 'x'",
    "EXPLAIN CREATE TABLE t AS SELECT 1",
    "SET standard_conforming_strings = off",
    "hello world",
    "SELECT 'open",
    "SELECT /* open",
    'SELECT "open',
    "SELECT $tag$ open $tagg$",
]

FOR_THE_SHADOW = [
    "SELECT version()",
    "SELECT 'patients'",
    "SELECT $$ FROM patients $$",
    "SELECT 1 /* FROM patients */ -- FROM patients",
    "SELECT relname AS patients FROM pg_class",
    "SELECT patients.relname FROM pg_class AS patients",
    "SELECT x.patients FROM (SELECT 1 AS patients) x",
    "SELECT 'patients'::regclass",
    "SELECT * FROM information_schema.tables WHERE table_name = 'patients'",
    "SELECT * FROM pg_class WHERE relname OPERATOR(pg_catalog.~) '^(patients)$' COLLATE pg_catalog.default",
    "SHOW ALL",
    "show search_path",
    "SET search_path TO nowhere",
    "SET TIME ZONE 'UTC'",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "SET standard_conforming_strings = on",
    "RESET ALL",
    "BEGIN",
    "START TRANSACTION READ ONLY",
    "COMMIT",
    "ROLLBACK TO SAVEPOINT a",
    "DISCARD ALL",
    "UNLISTEN *",
    "EXPLAIN SELECT 1",
    "DECLARE c CURSOR FOR SELECT 1",
    "COPY (SELECT 1) TO STDOUT",
    "COPY pg_catalog.pg_class TO STDOUT",
    "PREPARE x AS SELECT 1",
    "VALUES (1), (2)",
    "TABLE pg_class",
]


@pytest.mark.parametrize("sql", READS)
def test_a_statement_that_reads_a_declared_table_is_private(router, sql):
    assert router.decide(sql).route in {
        Route.PRIVATE,
        Route.EXPLAIN,
        Route.COPY_OUT,
        Route.CURSOR,
        Route.PREPARE,
        Route.PROBE,
    }


@pytest.mark.parametrize("sql", REFUSED)
def test_a_statement_that_is_not_allowed_is_refused_with_a_code(router, sql):
    decision = router.decide(sql)
    assert decision.route is Route.REFUSED
    assert decision.error.code in {
        "star", "not-a-select", "copy-target", "syntax", "shadow-function", "shadow-setting", "escaped-name"
    }  # fmt: skip
    assert decision.error.hint or decision.error.code == "syntax"


@pytest.mark.parametrize("sql", FOR_THE_SHADOW)
def test_a_statement_without_a_declared_table_is_the_shadows(router, sql):
    assert router.decide(sql).route is Route.SHADOW


@pytest.mark.parametrize(
    ("sql", "route"),
    [
        ("SET hedgerow.epsilon = 0.5", Route.SETTING),
        ("SET LOCAL hedgerow.within TO '5%'", Route.SETTING),
        ("SHOW hedgerow.budget", Route.SETTING),
        ("RESET hedgerow.epsilon", Route.SETTING),
        ("SELECT * FROM hedgerow.budget", Route.BUDGET),
        ("SELECT remaining_epsilon FROM budget", Route.BUDGET),
        ("FETCH 10 FROM c", Route.CURSOR),
        ("MOVE ALL IN c", Route.CURSOR),
        ("CLOSE ALL", Route.CURSOR),
        ("EXECUTE x (1)", Route.PREPARE),
        ("DEALLOCATE ALL", Route.PREPARE),
        ("SELECT * FROM wards LIMIT 3", Route.PRIVATE),
        ("WITH t AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) SELECT * FROM t", Route.PRIVATE),
        ("WITH patients AS (SELECT COUNT(*) AS n FROM visits) SELECT * FROM patients", Route.PRIVATE),
        ("SELECT * FROM (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) x LIMIT 100", Route.PRIVATE),
        ("", Route.EMPTY),
        (" ; -- nothing", Route.EMPTY),
    ],
)
def test_commands_have_routes_of_their_own(router, sql, route):
    assert router.decide(sql).route is route


@pytest.mark.parametrize(
    ("sql", "empty"),
    [
        ("SELECT * FROM patients WHERE 1=0", True),
        ("SELECT * FROM public.patients WHERE 0 = 1 AND age > 3", True),
        ("SELECT age FROM patients WHERE false", True),
        ("SELECT age FROM patients WHERE (1 <> 1)", True),
        ("SELECT * FROM patients LIMIT 0", True),
        ("SELECT * FROM patients FETCH FIRST 0 ROWS ONLY", True),
        ("SELECT * FROM (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) x WHERE 1=0", True),
        ("SELECT region, COUNT(*) FROM patients WHERE 1=0 GROUP BY region", True),
        ("SELECT COUNT(*) FROM patients WHERE 1=0", False),
        ("SELECT RELATIVE_RISK(smoker, age > 3) FROM patients WHERE 1=0", False),
        ("SELECT region, COUNT(*) FROM patients WHERE 1=0 GROUP BY ROLLUP (region)", False),
        ("SELECT 1 FROM patients WHERE 1=0 GROUP BY ()", False),
        ("SELECT COUNT(*) FROM patients WHERE 1=0 OR age > 3", False),
        ("SELECT COUNT(*) FROM patients WHERE 1 = 01", False),
        ("SELECT COUNT(*) FROM patients LIMIT 1", False),
    ],
)
def test_a_probe_is_a_query_that_is_empty_by_its_own_words(router, sql, empty):
    assert (router.decide(sql).route is Route.PROBE) == empty


def test_the_schema_of_the_shadow_is_replaced_by_blanks(router):
    sql = 'SELECT "public"."patients"."age", public . visits.cost FROM hospital.public.patients, sales.patients'
    expected = 'SELECT          "patients"."age",          visits.cost FROM                 patients, sales.patients'
    decision = router.decide(f"EXPLAIN {sql}")
    assert (decision.query, decision.offset) == (expected, 8)


def test_the_hint_about_a_preview_speaks_of_tools_and_points_at_the_star(router):
    error = router.decide("SELECT * FROM patients LIMIT 200").error
    assert isinstance(error, UnsupportedSQLError)
    assert "preview" in error.hint
    assert (error.span.start, error.span.end) == (7, 8)


def test_several_statements_are_decided_one_by_one(router):
    text = "BEGIN; SELECT ';' ; SELECT COUNT(*) FROM patients; COMMIT;"
    decisions = router.decide_all(text)
    assert [decision.route for decision in decisions] == [Route.SHADOW, Route.SHADOW, Route.PRIVATE, Route.SHADOW]
    assert all(text[decision.start :].startswith(decision.text) for decision in decisions)
    assert router.decide(text).error.code == "one-statement"


def test_names_with_schemas_and_odd_letters_are_found():
    names = ["sales.orders", '"odd.name"', "CamelCase", "n" * 80, "tables", "hedgerow.places"]
    router = Router([TableInfo(name, ()) for name in names], "shop")
    reads = [
        "sales.orders",
        "orders",
        '"odd.name"',
        "camelcase",
        '"CAMELCASE"',
        "n" * 80,
        "n" * 63,
        "tables",
        "x.tables",
    ]
    assert {router.decide(f"SELECT COUNT(*) FROM {name}").route for name in reads} == {Route.PRIVATE}
    assert router.decide("SELECT table_name FROM information_schema.tables").route is Route.SHADOW
    assert router.decide("SELECT COUNT(*) FROM shop.public.camelcase").query.split() == [
        "SELECT",
        "COUNT(*)",
        "FROM",
        "camelcase",
    ]


def test_a_kept_refusal_can_be_raised_again_and_again(router):
    decision = router.decide("TABLE patients")
    assert decision is router.decide("TABLE patients")
    assert decision.error is not decision.error
    assert (decision.error.code, decision.error.hint, decision.error.span) == ("star", TOOL_HINT, decision.refusal.span)


def test_decisions_are_kept_and_their_number_is_bounded(hospital):
    router = Router(hospital.tables, "hospital")
    first = router.decide("SELECT COUNT(*) FROM patients")
    assert router.decide("SELECT COUNT(*) FROM patients") is first
    for number in range(CACHED):
        router.decide(f"SHOW x{number}")
    assert router.decide("SELECT COUNT(*) FROM patients") is not first


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a'b;'c", ["a", "'b;'", "c"]),
        (r"E'\';' x", [r"E'\';'", "x"]),
        ("'a' \n 'b;' x", ["'a' \n 'b;'", "x"]),
        ("E'a'\n'\\';' x", ["E'a'\n'\\';'", "x"]),
        (r"'\' ; 'x'", [r"'\'", ";", "'x'"]),
        ("$a$ ; $b$ $a$ x", ["$a$ ; $b$ $a$", "x"]),
        ("a$b$c", ["a$b$c"]),
        ("$1$$;$$", ["$1", "$$;$$"]),
        ("/* a /* b */ ; */ x", ["x"]),
        ("1.5e3+--;\n.5", ["1.5e3", "+", ".5"]),
        ("é\u00a0x", ["é\u00a0x"]),
        ('"a"";" U&"b"', ['"a"";"', 'U&"b"']),
    ],
)
def test_words_are_those_of_postgresql(text, words):
    assert [word.text for word in read_words(text)] == words


@given(st.lists(st.sampled_from(["'", '"', "$$", "$a$", "/*", "*/", "--", "\n", ";", "x", "E", "\\", "patients", " "])))
def test_words_cover_the_text_in_order_or_it_is_refused(parts):
    text = "".join(parts)
    router = Router([TableInfo("patients", ())], "hospital")
    decisions = router.decide_all(text)
    if decisions[0].route is Route.REFUSED and decisions[0].command == "":
        return
    words = read_words(text)
    assert all(text[word.start : word.end] == word.text for word in words)
    assert [word.start for word in words] == sorted(word.start for word in words)
    assert sum(map(len, split_statements(words))) == sum(
        word.text != ";" or word.kind is not WordKind.SIGN for word in words
    )
