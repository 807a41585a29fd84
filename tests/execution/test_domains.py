"""Groups whose keys a public table has: exactly those, in every answer, for nothing more than the sums."""

import duckdb
import pytest

import hedgerow as hr
from hedgerow.accounting.events import ThresholdEvent
from hedgerow.catalog import BudgetPolicy, Catalog, DeclaredColumn, DeclaredTable, Defaults
from hedgerow.privacy.keys import MAX_DECLARED

from ..internals import session_of

FAR = 50
"""At epsilon 1000 noise of this size would be a false alarm rarer than 1e-9."""

DATA = [
    "CREATE TABLE regions (code VARCHAR, name VARCHAR)",
    "INSERT INTO regions VALUES ('west', 'W'), ('north', 'N'), ('north', 'N2'), (NULL, 'X'), ('nowhere', 'O')",
    "CREATE TABLE people (id BIGINT PRIMARY KEY, region VARCHAR, kind VARCHAR)",
    """INSERT INTO people
    SELECT i, CASE WHEN i < 1000 THEN 'north' WHEN i < 3000 THEN 'west' WHEN i < 3004 THEN 'few' ELSE 'elsewhere' END,
      CASE WHEN i % 2 = 0 THEN 'x' ELSE 'y' END FROM range(6000) t(i)""",
]
TABLES = """\
  regions: {public: true}
  people:
    unit: id
    unit_unique: true
    columns:
      region: {values: {table: Regions, column: CODE}}
      kind: {values: [y, x, z]}
"""
COUNT = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
KEYS = ["north", "nowhere", "west"]


@pytest.fixture
def open_db(tmp_path):
    """Connect to a database made of statements; the connection is handed in, so that the owner can go on writing."""
    opened = []

    def connect(statements=DATA, tables=TABLES, *, min_frequency=1, again=None):
        connection = again or duckdb.connect()
        for statement in () if again else statements:
            connection.execute(statement)
        catalog = tmp_path / f"catalog{len(opened)}.yaml"
        catalog.write_text(
            "dataset: town\nbudget: {epsilon: 100000, delta: 0.01}\n"
            f"defaults: {{epsilon: 1000, delta: 1e-8, min_frequency: {min_frequency}}}\ntables:\n{tables}"
        )
        opened.append(hr.connect(connection, catalog=catalog))
        return opened[-1], connection

    yield connect
    for db in opened:
        db.close()


def _near(actual, expected):
    assert list(actual) == list(expected)
    assert all(abs(actual[key] - expected[key]) < FAR for key in expected)


def _counts(answer):
    return {tuple(row[:-1]) if len(row) > 2 else row[0]: row[-1] for row in answer}


def test_the_groups_are_the_values_of_the_public_table_and_empty_ones_appear(open_db):
    db, _ = open_db()
    _near(_counts(db.sql(COUNT)), {"north": 1000, "nowhere": 0, "west": 2000})


@pytest.mark.parametrize(
    "query",
    [
        COUNT,
        "SELECT region, COUNT(*) AS n FROM people WHERE id < 0 GROUP BY region",
        "SELECT p.region, COUNT(DISTINCT p.id) FROM people p GROUP BY 1 ORDER BY 1",
        "WITH t AS (SELECT region AS place FROM people WHERE kind = 'x') SELECT place, COUNT(*) FROM t GROUP BY place",
    ],
)
def test_every_answer_has_exactly_those_groups(open_db, query):
    db, _ = open_db()
    assert sorted(row[0] for row in db.sql(query)) == KEYS


def test_a_group_of_too_few_people_is_there_and_held_back(open_db):
    statements = [*DATA, "INSERT INTO regions VALUES ('few', 'F')"]
    db, _ = open_db(statements, min_frequency=5)
    answer = db.sql(COUNT)
    actual = _counts(answer)
    assert list(actual) == ["few", "north", "nowhere", "west"]
    assert actual["few"] is None
    assert actual["nowhere"] is None
    assert abs(actual["north"] - 1000) < FAR
    notes = [interval["n"].note or "" for interval in answer.intervals]
    assert ["held back" in note for note in notes] == [True, False, True, False]


@pytest.mark.parametrize(("min_frequency", "tested"), [(1, False), (2, True)])
def test_nothing_is_spent_on_selection_where_there_is_no_minimum(open_db, min_frequency, tested):
    db, _ = open_db(min_frequency=min_frequency)
    answer = db.sql(COUNT)
    events = list(session_of(db).ledger.events())
    assert events
    assert any(isinstance(event, ThresholdEvent) for event in events) is tested
    assert any(mechanism.threshold is not None for mechanism in answer.receipt.mechanisms) is tested


def test_a_quote_knows_the_groups_too(open_db):
    db, _ = open_db()
    assert "IN ('north', 'nowhere', 'west')" in db.quote(COUNT).sql[0]


@pytest.mark.parametrize(
    "source",
    [
        "people p JOIN regions r ON r.code = p.region AND r.name <> 'N2'",
        "people p LEFT JOIN regions r ON r.code = p.region AND r.name <> 'N2'",
        "regions r JOIN people p ON r.code = p.region AND r.name <> 'N2'",
    ],
)
def test_the_domain_holds_in_a_join_with_the_public_table(open_db, source):
    db, _ = open_db()
    answer = db.sql(f"SELECT p.region, COUNT(*) AS n FROM {source} GROUP BY p.region")
    _near(_counts(answer), {"north": 1000, "nowhere": 0, "west": 2000})
    assert all(mechanism.threshold is None for mechanism in answer.receipt.mechanisms)


def test_the_public_column_itself_can_be_the_key_of_a_join(open_db):
    tables = TABLES.replace(
        "regions: {public: true}",
        "regions: {public: true, columns: {code: {values: {table: regions, column: code}}}}",
    )
    db, _ = open_db(tables=tables)
    query = "SELECT r.code, COUNT(*) FROM people p JOIN regions r ON r.code = p.region AND r.name <> 'N2' GROUP BY 1"
    _near(_counts(db.sql(query)), {"north": 1000, "nowhere": 0, "west": 2000})


def test_one_key_may_come_from_a_list_and_another_from_a_table(open_db):
    db, _ = open_db()
    answer = db.sql("SELECT region, kind, COUNT(*) AS n FROM people GROUP BY region, kind")
    sizes = {"north": 500, "nowhere": 0, "west": 1000}
    expected = {(region, kind): 0 if kind == "z" else sizes[region] for region in KEYS for kind in ("y", "x", "z")}
    actual = _counts(answer)
    _near({key: actual[key] for key in expected}, expected)
    assert len(answer) == len(expected)
    assert all(mechanism.threshold is None for mechanism in answer.receipt.mechanisms)


def test_the_domain_is_that_of_the_moment_of_opening(open_db):
    db, connection = open_db()
    connection.execute("INSERT INTO regions VALUES ('few', 'F')")
    connection.execute("DELETE FROM regions WHERE code = 'nowhere'")
    assert list(_counts(db.sql(COUNT))) == KEYS
    assert list(_counts(open_db(again=connection)[0].sql(COUNT))) == ["few", "north", "west"]


def test_letters_in_either_case_are_two_keys_whatever_the_collation(open_db):
    statements = [
        "CREATE TABLE regions (code VARCHAR COLLATE NOCASE)",
        "INSERT INTO regions VALUES ('a'), ('A'), ('b'), ('a')",
        "CREATE TABLE people (id BIGINT PRIMARY KEY, region VARCHAR COLLATE NOCASE)",
        "INSERT INTO people SELECT i, CASE WHEN i < 1000 THEN 'a' WHEN i < 3000 THEN 'A' END FROM range(6000) t(i)",
    ]
    db, _ = open_db(statements, TABLES.replace("      kind: {values: [y, x, z]}\n", ""))
    _near(_counts(db.sql(COUNT)), {"A": 2000, "a": 1000, "b": 0})


def test_names_are_quoted_when_the_table_is_read(open_db):
    statements = [
        """CREATE TABLE "a ""b"" table" ("select" VARCHAR)""",
        """INSERT INTO "a ""b"" table" VALUES ('it''s')""",
        "CREATE TABLE people AS SELECT i AS id, 'it''s' AS region FROM range(1000) t(i)",
    ]
    tables = TYPED.format(public="", private="").replace("regions", "'a \"b\" table'").replace("code", "select")
    _near(_counts(open_db(statements, tables)[0].sql(COUNT)), {"it's": 1000})


TYPED = """\
  regions: {{public: true, columns: {{code: {{{public}}}}}}}
  people: {{unit: id, unit_unique: true, columns: {{region: {{{private}values: {{table: regions, column: code}}}}}}}}
"""


@pytest.mark.parametrize(
    ("private", "public", "values", "keys"),
    [
        ("BIGINT", "SMALLINT", "(2), (1), (NULL), (7)", [1, 2, 7]),
        ("DOUBLE", "BIGINT", "(2), (1)", [1.0, 2.0]),
        ("DOUBLE", "DOUBLE", "(2.5), (0.0), (-0.0)", [0.0, 2.5]),
        ("DOUBLE", "DECIMAL(9, 2)", "(2.5), (0.1)", [0.1, 2.5]),
        ("DECIMAL(9, 2)", "DECIMAL(18, 4)", "(2.5), (0.1)", [0.1, 2.5]),
        ("HUGEINT", "UBIGINT", "(2), (1)", [1.0, 2.0]),
        ("BOOLEAN", "BOOLEAN", "(true), (NULL), (false)", [False, True]),
        ("VARCHAR", "ENUM ('q', 'p')", "('q'), ('p')", ["p", "q"]),
        ("ENUM ('q', 'p')", "VARCHAR", "('q'), ('p')", ["p", "q"]),
        ("UUID", "UUID", "('00000000-0000-0000-0000-00000000000A')", ["00000000-0000-0000-0000-00000000000a"]),
        ("UUID", "VARCHAR", "('00000000-0000-0000-0000-00000000000a')", ["00000000-0000-0000-0000-00000000000a"]),
        ("VARCHAR", "VARCHAR", "('')", [""]),
    ],
)
def test_every_type_that_a_key_can_have_finds_its_rows(open_db, private, public, values, keys):
    statements = [
        f"CREATE TABLE regions (code {public})",
        f"INSERT INTO regions VALUES {values}",
        f"CREATE TABLE people (id BIGINT, region {private})",
        "INSERT INTO people SELECT row_number() OVER (), code FROM (SELECT DISTINCT code FROM regions), range(1000)",
    ]
    db, _ = open_db(statements, TYPED.format(public="", private=""))
    _near(_counts(db.sql(COUNT)), dict.fromkeys(keys, 1000))


@pytest.mark.parametrize(
    ("private", "public", "keys"),
    [
        ("", "type: text", ["1", "10", "2", "x"]),
        ("type: integer, ", "type: integer", [1, 2, 10]),
        ("type: float, ", "type: decimal", [1.0, 2.0, 10.0]),
    ],
)
def test_values_are_read_through_the_type_that_the_owner_imposed(open_db, private, public, keys):
    statements = [
        "CREATE TABLE regions AS SELECT unnest(['2', '10', '1', 'x']) AS code",
        "CREATE TABLE people AS SELECT row_number() OVER () AS id, code AS region FROM regions, range(1000)",
    ]
    db, _ = open_db(statements, TYPED.format(public=public, private=private))
    _near(_counts(db.sql(COUNT)), dict.fromkeys(keys, 1000))


def _refused(open_db, *arguments):
    with pytest.raises(hr.CatalogError) as caught:
        open_db(*arguments)
    assert caught.value.code == "catalog-values"
    assert "`region` are those of `code` in `regions`" in caught.value.message
    return caught.value


def _only(code, *statements):
    people = "CREATE TABLE people (id BIGINT, region DOUBLE)" if code != "VARCHAR" else DATA[2]
    return [f"CREATE TABLE regions (code {code})", people, *statements]


def test_a_table_without_a_value_is_refused_at_the_line_that_names_it(open_db):
    error = _refused(open_db, [*DATA, "DELETE FROM regions WHERE code IS NOT NULL"])
    assert "holds no value" in error.message
    assert error.span.line == 10


@pytest.mark.parametrize(("over", "refused"), [(0, False), (1, True)])
def test_more_values_than_an_answer_may_have_groups_are_refused(open_db, over, refused):
    statements = _only("INTEGER", f"INSERT INTO regions SELECT i FROM range({MAX_DECLARED + over}) t(i)")
    tables = TYPED.format(public="", private="")
    if refused:
        assert f"more than {MAX_DECLARED:,} values" in _refused(open_db, statements, tables).message
    else:
        assert (
            len(session_of(open_db(statements, tables)[0]).catalog.tables["people"].columns["region"].values)
            == MAX_DECLARED
        )


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("DOUBLE", "'nan'"),
        ("DOUBLE", "'inf'"),
        ("DOUBLE", "1e19"),
        ("HUGEINT", "10000000000000000000"),
        ("VARCHAR", "'a' || chr(0)"),
    ],
)
def test_a_value_that_a_list_could_not_hold_is_refused(open_db, kind, value):
    error = _refused(open_db, _only(kind, f"INSERT INTO regions VALUES ({value})"), TYPED.format(public="", private=""))
    assert "cannot be a key" in error.message


def test_two_values_that_would_be_one_key_are_refused(open_db):
    insert = "INSERT INTO regions VALUES (1.00000000000000000001), (1.00000000000000000002)"
    error = _refused(open_db, _only("DECIMAL(38, 20)", insert), TYPED.format(public="", private=""))
    assert "15th digit" in error.message


def test_a_private_table_is_never_read_for_its_keys(open_db):
    with pytest.raises(hr.CatalogError, match="which is private"):
        open_db(tables=TABLES.replace("table: Regions, column: CODE", "table: people, column: kind"))


def test_a_catalog_made_in_python_can_name_a_table_too(tmp_path):
    columns = {"region": DeclaredColumn("region", values_from=("regions", "code"))}
    catalog = Catalog(
        "town",
        BudgetPolicy(100000.0, 0.01),
        {
            "people": DeclaredTable("people", unit="id", unit_unique=True, columns=columns),
            "regions": DeclaredTable("regions", public=True),
        },
        Defaults(epsilon=1000.0, delta=1e-8, min_frequency=1),
    )
    connection = duckdb.connect()
    for statement in DATA:
        connection.execute(statement)
    with hr.connect(connection, catalog=catalog, ledger=tmp_path / "town.ledger") as db:
        assert list(_counts(db.sql(COUNT))) == KEYS
    assert columns["region"].values is None
