"""Names of the owner's and of the analyst's that the engine uses itself, from the question to the answer."""

import duckdb
import pyarrow as pa
import pytest

import hedgerow as hr

CATALOG = """
dataset: shop
budget: {{epsilon: 1000000.0, delta: 1e-2}}
tables:
  {customers}:
    unit: "{id}"
    unit_unique: true
  {orders}:
    unit: {{through: "{customers}", on: {{"{id}": "{id}"}}}}
    max_rows: 3
    columns: {{"{amount}": {{lower: 0, upper: 10}}}}
  {countries}: {{public: true}}
"""
NAMES = ("customers", "orders", "countries", "id", "amount", "region")
HOSTILE = [
    dict(zip(NAMES, names, strict=True))
    for names in (
        ("early", "hedgerow_selected", "hedgerow_public_0", "n", "p0", "p1"),
        ("hedgerow_frame_1", "hedgerow_frame_2", "hedgerow_frame_0", "o", "k0", "c0"),
        ("Early", "Private_Rows", "shown", "N", "hedgerow_row", "P1"),
        ("t0", "t1", "t2", "t0", "t1", "t2"),
        ("hedgerow_draws", "every_draw", "hedgerow_released_0", "hedgerow_draw", "a0", "c1"),
    )
]
QUESTIONS = [
    """
    SELECT c."{region}" AS g, SUM(o."{amount}") AS s, COUNT(*) AS n
    FROM "{orders}" AS o JOIN "{customers}" AS c ON o."{id}" = c."{id}" GROUP BY c."{region}" ORDER BY g
    """,
    """
    SELECT f."{region}" AS g, f.n * w."{amount}" AS s
    FROM (SELECT "{region}", COUNT(*) AS n FROM "{customers}" GROUP BY "{region}") AS f
    JOIN "{countries}" AS w ON w."{region}" = f."{region}" ORDER BY g
    """,
]


def tables(names):
    ids, regions = list(range(600)), ["north", "south"]
    return {
        names["customers"]: pa.table({names["id"]: ids, names["region"]: [regions[i % 2] for i in ids]}),
        names["orders"]: pa.table({names["id"]: [i for i in ids for _ in "ab"], names["amount"]: [4, 6] * 600}),
        names["countries"]: pa.table({names["region"]: regions, names["amount"]: [2, 3]}),
    }


def rows_of(answer):
    """The cells, whatever the columns are called."""
    return [list(row) for row in zip(*(column.to_pylist() for column in answer.arrow().columns), strict=True)]


def answers(source, names, folder):
    path = folder / "catalog.yaml"
    path.write_text(CATALOG.format(**names), encoding="utf-8")
    with hr.connect(source, catalog=path, ledger=folder / f"{type(source).__name__}.ledger") as db:
        return [rows_of(db.sql(text.format(**names), epsilon=1000, delta=1e-6)) for text in QUESTIONS]


def rounded(actual):
    return [[[cell if isinstance(cell, str) else round(cell, -2) for cell in row] for row in rows] for rows in actual]


@pytest.mark.parametrize("names", HOSTILE, ids=lambda names: names["customers"])
def test_frames_and_connections_may_have_tables_and_columns_of_our_names(names, tmp_path):
    expected = [[["north", 3000, 600], ["south", 3000, 600]], [["north", 600], ["south", 900]]]
    assert rounded(answers(tables(names), names, tmp_path)) == expected
    with duckdb.connect() as connection:
        for name, table in tables(names).items():
            connection.register("rows_of_table", table)
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM rows_of_table')
        assert rounded(answers(connection, names, tmp_path)) == expected


@pytest.mark.parametrize("alias", ["n", "k0", "a0", "c0", "c1", "hedgerow_row", "hedgerow_draw", "shown", "o"])
def test_a_column_of_an_answer_may_have_any_name(alias, tmp_path):
    names = dict(zip(NAMES, NAMES, strict=True))
    path = tmp_path / "catalog.yaml"
    path.write_text(CATALOG.format(**names), encoding="utf-8")
    with hr.connect(tables(names), catalog=path, ledger=tmp_path / "l.ledger") as db:
        query = f'SELECT COUNT(*) AS "{alias}", region AS "r {alias}" FROM customers GROUP BY region ORDER BY region'
        answer = db.sql(query, epsilon=1000, delta=1e-6)
        assert rounded([rows_of(answer)]) == [[[300, "north"], [300, "south"]]]
        shared = f'SELECT x."{alias}" / SUM(x."{alias}") OVER () AS share FROM (SELECT region, COUNT(*) AS "{alias}" '
        actual = db.sql(f"{shared} FROM customers GROUP BY region) AS x", epsilon=1000, delta=1e-6)
        assert [round(row[0], 1) for row in rows_of(actual)] == [0.5, 0.5]
