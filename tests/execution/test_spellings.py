"""A person whom a collation recognises in several spellings counts as one, also where rows are made one by person."""

import itertools

import pytest

SPELLINGS = ["".join(letters) for letters in itertools.product(*[(c, c.upper()) for c in "abcdefg"])]
QUERIES = [
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT name FROM people) AS t",
    "SELECT COUNT(*) AS n FROM (SELECT name, MAX(x) AS m FROM people GROUP BY name) AS t",
    "SELECT COUNT(*) AS n FROM people",
    "SELECT COUNT(*) AS n FROM (SELECT name FROM people UNION SELECT name FROM people) AS t",
]


@pytest.mark.parametrize("query", QUERIES)
def test_all_spellings_of_one_person_count_once(build, query):
    rows = ", ".join(f"('{name}', 1)" for name in SPELLINGS)
    statements = [
        "CREATE TABLE people (name VARCHAR COLLATE NOCASE PRIMARY KEY, x INTEGER)",
        f"INSERT INTO people VALUES {rows}",
    ]
    db = build(statements, "people: {unit: name, unit_unique: true, columns: {x: {lower: 0, upper: 1}}}")
    (row,) = db.sql(query, epsilon=900, delta=1e-5)
    assert abs(row.n) <= 3, "one person, or two where a union counts it twice, and next to no noise"
