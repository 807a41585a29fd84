"""Only what the catalog declares exists, and only our own SELECT statements reach the engine."""

import pytest

from hedgerow.errors import HedgerowError, ParseError, QueryError, UnknownNameError, UnsupportedSQLError

from ..internals import session_of

UNREACHABLE = [
    "undeclared",
    "peek",
    "other.people",
    "data.other.people",
    "main.undeclared",
    "temp.people",
    "memory.people",
    "information_schema.tables",
    "information_schema.columns",
    "pg_catalog.pg_class",
    "sqlite_master",
    "duckdb_tables",
    "duckdb_tables()",
    "duckdb_secrets()",
    "duckdb_settings()",
    "pragma_table_info('people')",
    "read_csv('/etc/passwd')",
    "read_csv_auto('/etc/passwd')",
    "read_text('/etc/passwd')",
    "read_blob('/etc/passwd')",
    "read_parquet('x.parquet')",
    "read_json('x.json')",
    "glob('*')",
    "'/etc/passwd'",
    '"/etc/passwd"',
    "'people.parquet'",
    "query('SELECT 1')",
    "query_table('people')",
    "range(10)",
    "generate_series(1, 10)",
    "unnest([1, 2])",
    "(SELECT * FROM undeclared)",
    "(SELECT * FROM read_csv('/etc/passwd'))",
    "(SELECT * FROM people LIMIT 10)",
    "(VALUES (version()))",
    "(FROM undeclared)",
    "people TABLESAMPLE 10%",
    "people AT (VERSION => 1)",
    "people p(a, b)",
    "people, visits",
    "people JOIN visits ON age = cost",
    "people JOIN undeclared ON TRUE",
    "people JOIN read_csv('/etc/passwd') ON TRUE",
    "towns JOIN duckdb_settings() ON TRUE",
    "people, LATERAL (SELECT * FROM visits)",
    "people ASOF JOIN visits ON id = person",
    "people POSITIONAL JOIN visits",
    "hedgerow_released",
    "hedgerow_selected",
    "hedgerow_parts",
]


@pytest.mark.parametrize("source", UNREACHABLE)
def test_nothing_undeclared_can_be_named_in_from(shop, free, source):
    with free(shop), pytest.raises(QueryError):
        shop.sql(f"SELECT COUNT(*) FROM {source}")


EXPRESSIONS = [
    "notes",
    "people.notes",
    '"NOTES"',
    "rowid",
    "people.rowid",
    "ghost",
    "towns.name",
    "people",
    "people.*",
    "COLUMNS(*)",
    "COLUMNS('no.*')",
    "getenv('HOME')",
    "current_setting('threads')",
    "read_text('/etc/passwd')",
    "version()",
    "pg_typeof(age)",
    "random()",
    "uuid()",
    "now()",
    "current_user",
    "current_date",
    "setseed(0.5)",
    "nextval('s')",
    "error('x')",
    "sleep_ms(1)",
    "list_value(age)",
    "[age]",
    "{'a': age}",
    "age::JSON",
    "regexp_replace(region, '(?<=a)b', 'b')",
    "regexp_matches(region, region)",
    "repeat(region, 1000000)",
    "lpad(region, 1000000, 'x')",
    "printf('%d', age)",
    "format('{}', age)",
    "hash(id)",
    "md5(region)",
    "(SELECT ANY_VALUE(income) FROM people)",
    "EXISTS (SELECT 1 FROM people)",
    "age IN (SELECT age FROM people)",
    "age = ANY (SELECT age FROM people)",
    "ROW_NUMBER() OVER (ORDER BY age)",
    "(SELECT notes FROM people)",
    "(SELECT COUNT(*) FROM undeclared)",
    "EXISTS (SELECT 1 FROM read_text('/etc/passwd'))",
    "LAG(age) OVER (ORDER BY id)",
    "x -> x + 1",
    "TRY(age)",
    "age COLLATE NOCASE",
    "region SIMILAR TO region",
    "region GLOB region",
    "region ~ '(?=n)'",
    "age::ENUM('a')",
    "$1",
    "?",
    "@x",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize(
    "place",
    [
        "SELECT COUNT({}) FROM people",
        "SELECT COUNT(*) FROM people WHERE {} IS NOT NULL",
        "SELECT {}, COUNT(*) FROM people GROUP BY 1",
        "SELECT COUNT(*) FROM people GROUP BY region HAVING {} IS NULL",
        "SELECT COUNT(*) FROM people ORDER BY {}",
    ],
)
def test_only_declared_columns_and_listed_functions_can_be_used(shop, free, expression, place):
    with free(shop), pytest.raises(QueryError):
        shop.sql(place.format(expression))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis",
        "SELECT COUNT(*) FROM visits WHERE diagnosis = 'flu'",
        "SELECT COUNT(diagnosis) FROM visits",
    ],
)
def test_undeclared_columns_can_be_hidden_all_at_once(shop, free, query):
    with free(shop), pytest.raises(UnknownNameError):
        shop.sql(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, COUNT(*) FROM people GROUP BY id",
        "SELECT id + 0, COUNT(*) FROM people GROUP BY 1",
        "SELECT COUNT(*) FROM people GROUP BY id // 2",
        "SELECT CAST(id AS VARCHAR), COUNT(*) FROM people GROUP BY 1",
        "SELECT CASE WHEN id = 1 THEN 'me' END, COUNT(*) FROM people GROUP BY 1",
        "SELECT id FROM people",
        "SELECT income FROM people",
        "SELECT * FROM people",
        "SELECT people.* FROM people",
        "SELECT income, COUNT(*) FROM people",
        "SELECT SUM(id) FROM people",
        "SELECT AVG(CLIP(id, 0, 10)) FROM people",
        "SELECT ANY_VALUE(income) FROM people",
        "SELECT MIN(id) FROM people",
        "SELECT FIRST(income) FROM people",
        "SELECT LIST(income) FROM people",
        "SELECT STRING_AGG(region, ',') FROM people",
        "SELECT ARG_MAX(income, id) FROM people",
        "SELECT DISTINCT id FROM people",
        "SELECT DISTINCT ON (region) region, income FROM people",
        "SELECT STDDEV(DISTINCT income) FROM people",
        "SELECT SUM(DISTINCT income) FROM people",
        "SELECT SUM(age) FROM people",
        "SELECT COUNT(*) OVER () FROM people",
        "SELECT income FROM people QUALIFY TRUE",
        "SELECT id, income FROM people QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY age) = 1",
        "SELECT COUNT(*) FROM people UNION ALL SELECT income FROM people",
        "SELECT COUNT(*) FROM people EXCEPT SELECT age FROM people",
        "SELECT id, region, COUNT(*) FROM people GROUP BY ROLLUP (id, region)",
        "SELECT id, COUNT(*) FROM people GROUP BY ALL",
        "WITH t AS (SELECT * FROM people) SELECT * FROM t",
        "WITH t AS (SELECT id AS who, income FROM people) SELECT who, SUM(income) FROM t GROUP BY who",
        "WITH t AS (SELECT person, MAX(cost) AS most FROM visits GROUP BY person) SELECT most FROM t",
        "SELECT p.region, v.place FROM people AS p JOIN visits AS v ON v.person = p.id",
        "SELECT t.name, (SELECT ANY_VALUE(income) FROM people) FROM towns AS t",
        "SELECT name FROM towns WHERE id IN (SELECT id FROM people WHERE income > 3)",
        "SELECT (SELECT income FROM people WHERE id = 7)",
        "(SELECT income FROM people) UNION (SELECT cost FROM visits)",
        "SELECT COUNT(*) FROM people LIMIT 10%",
        "SELECT COUNT(*) FROM people LIMIT (SELECT 1)",
        "SELECT COUNT(*) FROM people LIMIT -1",
        "SELECT AVG(income) FROM (SELECT income FROM people ORDER BY income LIMIT 1) AS t",
        "SELECT COUNT(*) INTO x FROM people",
        "SELECT COUNT(*) FROM people FOR UPDATE",
        "FROM people",
        "TABLE people",
        "SELECT COUNT(*)",
    ],
)
def test_nothing_that_would_show_single_rows_or_is_not_understood_is_answered(shop, free, query):
    with free(shop), pytest.raises(UnsupportedSQLError):
        shop.sql(query)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ; ",
        "SELEC COUNT(*) FROM people",
        "SELECT COUNT(* FROM people",
        "SELECT COUNT(*) FROM people; DROP TABLE people",
        "SELECT COUNT(*) FROM people WHERE region = 'x",
        "\x00",
        "SELECT COUNT(*) FROM people WHERE region = '\x00'",
        "(" * 1000 + "SELECT 1" + ")" * 1000,
        "SELECT COUNT(*) FROM people WHERE " + "NOT " * 500 + "TRUE",
        "SELECT COUNT(*) FROM people WHERE age" + " + 1" * 4000 + " > 1",
        "SELECT COUNT(*) FROM people WHERE age = " + "9" * 100_000,
        "SELECT " + "CASE WHEN TRUE THEN " * 300 + "1" + " END" * 300 + " FROM people",
        5,
        None,
        b"SELECT COUNT(*) FROM people",
    ],
    ids=lambda text: repr(text)[:40],
)
def test_text_that_cannot_be_read_is_refused_as_such(shop, free, text):
    with free(shop), pytest.raises(ParseError):
        shop.sql(text)


def test_a_long_chain_of_conditions_is_answered_or_refused_in_words_of_our_own(shop):
    long = "SELECT COUNT(*) FROM people WHERE " + " OR ".join(["age = 1"] * 1500)
    try:
        assert len(shop.sql(long)) == 1
    except ParseError as error:
        assert error.code == "too-deep"  # noqa: PT017 - either is fine


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE people",
        "DELETE FROM people",
        "INSERT INTO people VALUES (1)",
        "UPDATE people SET income = 0",
        "CREATE TABLE x AS SELECT COUNT(*) FROM people",
        "ATTACH 'x.duckdb'",
        "COPY people TO 'x.csv'",
        "EXPORT DATABASE 'x'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA table_info('people')",
        "SET threads = 1",
        "SHOW TABLES",
        "DESCRIBE people",
        "SUMMARIZE people",
        "EXPLAIN SELECT COUNT(*) FROM people",
        "CALL duckdb_tables()",
        "BEGIN",
        "CHECKPOINT",
        "VALUES (1)",
        "TABLE people",
        "PIVOT people ON region USING COUNT(*)",
    ],
)
def test_nothing_but_select_can_be_asked(shop, free, statement):
    with free(shop), pytest.raises(QueryError):
        shop.sql(statement)


class Recorder:
    """A cursor that notes every text on its way to the engine."""

    def __init__(self, inner, texts):
        self._inner, self._texts = inner, texts

    def cursor(self):
        return Recorder(self._inner.cursor(), self._texts)

    def execute(self, text, *rest):
        self._texts.append(text)
        return self._inner.execute(text, *rest)

    def sql(self, text, *rest):
        self._texts.append(text)
        return self._inner.sql(text, *rest)

    def __getattr__(self, name):
        return getattr(self._inner, name)


def test_only_selects_that_we_wrote_reach_the_engine(shop_of):
    shop, texts = shop_of(), []
    session_of(shop).backend._connection = Recorder(session_of(shop).backend._connection, texts)
    marker = "/* by the analyst */"
    shop.sql(f"SELECT region, AVG(income) {marker} AS mean_by_analyst FROM people WHERE age > 0.5 GROUP BY region")
    shop.sql("SELECT place, COUNT(*), SUM(cost) FROM visits GROUP BY place", epsilon=20)
    shop.sql("SELECT COUNT(*) FROM visits")
    shop.sql("SELECT name FROM towns")
    shop.quote("SELECT AVG(income) FROM people")
    assert len(texts) >= 5
    for text in texts:
        assert text == "BEGIN TRANSACTION" or text.startswith(("SELECT ", "WITH "))
        assert ";" not in text
        assert "analyst" not in text


def test_text_constants_are_quoted_and_names_too(shop):
    hostile = "x' OR 1=1 --; DROP TABLE people; \" /* "
    answer = shop.sql("SELECT COUNT(*) AS n FROM people WHERE region = ?", params=[hostile], epsilon=20)
    assert answer["n"] == [None]
    with pytest.raises(UnknownNameError):
        shop.sql('SELECT COUNT("income"" FROM people --") FROM people')


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM people",
        "CREATE TABLE x (a INTEGER)",
        "SET threads = 1",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SELECT * FROM read_text('/etc/hostname')",
        "ATTACH '/tmp/other.duckdb'",
        "COPY people TO '/tmp/people.csv'",
        "INSTALL httpfs",
        "LOAD httpfs",
    ],
)
def test_the_connection_is_read_only_and_locked(shop, statement):
    with pytest.raises(Exception, match=r".") as caught:
        session_of(shop).backend._connection.execute(statement)
    assert type(caught.value).__module__.endswith("duckdb")


@pytest.mark.parametrize(
    "statement", ["SET memory_limit = '1TB'", "SELECT * FROM read_text('/etc/hostname')", "INSTALL httpfs"]
)
def test_the_engine_after_the_noise_is_locked_too(shop, statement):
    shop.sql("SELECT COUNT(*) FROM people")
    with pytest.raises(Exception, match=r".") as caught:
        session_of(shop).postprocess._open().execute(statement)
    assert type(caught.value).__module__.endswith("duckdb")


def test_names_fold_as_the_engine_folds_them(shop):
    for query in ("select count(*) from PEOPLE", 'SELECT COUNT("INCOME") FROM "People"'):
        assert len(shop.sql(query)) == 1
    with pytest.raises(HedgerowError):
        shop.sql("SELECT COUNT(*) FROM peopl\u00c9")
