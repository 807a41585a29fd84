"""Notes on what is missing are true: why a number is NULL, which groups a total leaves out, why a table is empty."""

import math

import duckdb
import pytest

import hedgerow as hr
from hedgerow.answer import NoteKind

CATALOG = """
dataset: shop
budget: {epsilon: 1000, delta: 1e-3}
defaults: {epsilon: 2, delta: 1e-6, min_frequency: 10}
tables:
  people:
    unit: id
    unit_unique: true
    columns:
      region: {values: [north, south, tiny]}
      half: {values: [0, 1]}
      income: {lower: 0, upper: 100}
  places:
    public: true
"""
MONTHS = "WITH m AS (SELECT town, COUNT(*) AS n FROM people GROUP BY town) "
REGIONS = "WITH m AS (SELECT region, COUNT(*) AS n FROM people GROUP BY region) "
NO_ROW = "no value: there is no such row"
NULL = "no value: the expression is NULL in this row"


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """3 000 people in the north, 2 000 in the south, 3 in tiny; towns of 1 000 people each, and one of 3."""
    place = tmp_path_factory.mktemp("missing")
    with duckdb.connect(str(place / "shop.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, region TEXT, town TEXT, income DOUBLE, half INTEGER)"
        )
        connection.execute(
            "INSERT INTO people SELECT i, CASE WHEN i < 3000 THEN 'north' WHEN i < 5000 THEN 'south' ELSE 'tiny' END, "
            "'town' || (i // 1000), i % 100, i % 2 FROM range(5003) r(i)"
        )
        connection.execute("CREATE TABLE places AS FROM (VALUES ('north'), ('tiny'), ('nowhere')) v(name)")
    (place / "shop.yaml").write_text(CATALOG, encoding="utf-8")
    with hr.connect(str(place / "shop.duckdb"), catalog=str(place / "shop.yaml")) as opened:
        yield opened


def notes(answer, column):
    return [row[column].note for row in answer.intervals]


def is_held_back(note):
    return note is not None and note.startswith("held back: fewer than about ")


def test_the_first_row_of_lag_has_no_row_before_it_and_is_not_held_back(db):
    answer = db.sql(
        REGIONS + "SELECT region, LAG(n) OVER (ORDER BY region) AS b, n - LAG(n) OVER (ORDER BY region) AS d FROM m"
    )
    assert answer["b"][0] is None
    assert notes(answer, "b")[0] == notes(answer, "d")[0] == NO_ROW
    assert notes(answer, "b")[1:] == [None, None]
    assert is_held_back(notes(answer, "d")[2])
    assert "held back" not in repr(answer).splitlines()[3]


def test_where_groups_are_selected_the_row_before_may_be_one_that_is_not_shown(db):
    answer = db.sql(MONTHS + "SELECT town, LAG(n) OVER (ORDER BY town) AS b, LEAD(n) OVER (ORDER BY town) AS a FROM m")
    assert len(answer) == 5
    assert notes(answer, "b")[0].startswith(f"{NO_ROW}, or its group is not shown (fewer than about ")
    assert notes(answer, "a")[-1].startswith(NO_ROW)
    assert notes(answer, "b")[1:] == notes(answer, "a")[:-1] == [None] * 4


def test_an_outer_join_tells_a_row_that_is_not_there_from_one_that_is_held_back(db):
    answer = db.sql(REGIONS + "SELECT name, n FROM places LEFT JOIN m ON region = name ORDER BY name")
    assert answer["name"] == ["north", "nowhere", "tiny"]
    north, nowhere, tiny = notes(answer, "n")
    assert north is None
    assert nowhere == NO_ROW
    assert is_held_back(tiny)


@pytest.mark.parametrize("expression", ["NULLIF(n, n)", "CASE WHEN n < 0 THEN n END", "n / NULLIF(n, n)"])
def test_what_the_query_makes_null_is_null_and_not_held_back(db, expression):
    answer = db.sql(REGIONS + f"SELECT region, {expression} AS x FROM m")
    assert answer["x"] == [None, None, None]
    assert notes(answer, "x")[:2] == [NULL, NULL]
    assert is_held_back(notes(answer, "x")[2])


@pytest.mark.parametrize(
    "expression", ["COALESCE(n, 0)", "CASE WHEN n IS NULL THEN 0 ELSE n END", "COALESCE(n, 0) + 0"]
)
def test_a_value_in_the_place_of_one_that_is_held_back_may_be_off_by_any_amount(db, expression):
    answer = db.sql(REGIONS + f"SELECT region, {expression} AS x FROM m")
    assert answer["x"][2] == 0
    bar = answer.intervals[2]["x"]
    assert (bar.lower, bar.upper) == (-math.inf, math.inf)
    assert bar.note.endswith("the value shown stands in for it")
    assert all(math.isfinite(row["x"].upper) for row in answer.intervals[:2])


def test_coalesce_of_a_row_that_is_not_there_is_exact(db):
    answer = db.sql(REGIONS + "SELECT region, COALESCE(LAG(n) OVER (ORDER BY region), 0) AS b FROM m")
    assert answer["b"][0] == 0
    assert (answer.intervals[0]["b"].lower, answer.intervals[0]["b"].upper) == (0, 0)


def test_a_branch_that_is_not_taken_does_not_hold_a_number_back(db):
    both = REGIONS + ", t AS (SELECT n AS few FROM m WHERE region = 'tiny') "
    answer = db.sql(
        both + "SELECT region, CASE WHEN region = 'north' THEN n ELSE few END AS x FROM m, t ORDER BY region"
    )
    assert answer["x"][0] is not None
    assert not is_held_back(notes(answer, "x")[0])
    assert is_held_back(notes(answer, "x")[1])


def test_a_total_is_there_as_long_as_one_group_is_and_held_back_where_none_is(db):
    answer = db.sql(REGIONS + "SELECT region = 'tiny' AS small, SUM(n) AS t FROM m GROUP BY 1 ORDER BY 1")
    assert answer["t"][0] is not None
    assert notes(answer, "t")[0] is None
    assert answer["t"][1] is None
    assert is_held_back(notes(answer, "t")[1])


def test_what_cannot_be_followed_says_both(db):
    answer = db.sql(REGIONS + "SELECT region, n FROM m UNION ALL SELECT 'all', COUNT(*) FROM people ORDER BY 1")
    tiny = answer["region"].index("tiny")
    assert notes(answer, "n")[tiny] == "no value: it was held back, or the expression is NULL in this row"


LEFT_OUT = "Totals, shares, ranks and comparisons of rows leave out groups that are held back or not shown"


@pytest.mark.parametrize(
    "query",
    [
        MONTHS + "SELECT SUM(n) AS total FROM m",
        MONTHS + "SELECT town, n / SUM(n) OVER () AS share FROM m",
        MONTHS + "SELECT town, SUM(n) OVER (ORDER BY town) AS so_far FROM m",
        MONTHS + "SELECT town, RANK() OVER (ORDER BY n DESC) AS place FROM m",
        MONTHS + "SELECT town, n - LAG(n) OVER (ORDER BY town) AS change FROM m",
        MONTHS + "SELECT town, n, (SELECT SUM(n) FROM m) AS total FROM m",
        "SELECT town, COUNT(*) AS n FROM people GROUP BY ROLLUP(town)",
        "SELECT region, town, COUNT(*) AS n FROM people GROUP BY CUBE(region, town)",
        "SELECT town, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS percent FROM people GROUP BY town",
        REGIONS + "SELECT SUM(n) AS total FROM m",
        "SELECT region, COUNT(*) AS n FROM people GROUP BY ROLLUP(region)",
    ],
)
def test_totals_and_shares_say_that_they_leave_out_groups(db, query):
    answer = db.sql(query)
    [note] = (note for note in answer.notes if note.kind is NoteKind.PARTIAL_TOTALS)
    assert note.text.startswith(f"{LEFT_OUT}, usually those of fewer than about ")
    assert f"note: {note.short}" in repr(answer)
    assert note.short in answer._repr_html_()
    assert note.text in answer.to_dict()["notes"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
        "SELECT COUNT(*) AS n, AVG(income) AS m FROM people",
        "SELECT region, COUNT(*) AS n FROM people WHERE region <> 'tiny' GROUP BY region HAVING COUNT(*) > 0",
        "SELECT SUM(n) AS n FROM (SELECT COUNT(*) AS n FROM people)",
        "SELECT COUNT(*) AS n FROM places",
    ],
)
def test_an_answer_without_totals_of_groups_has_no_such_note(db, query):
    answer = db.sql(query)
    assert not any(note.kind is NoteKind.PARTIAL_TOTALS for note in answer.notes)


def test_public_data_has_no_notes(db):
    answer = db.sql("SELECT COUNT(*) AS n FROM places")
    assert answer.notes == ()
    assert "notes" not in answer.to_dict()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT town, COUNT(*) AS n FROM people WHERE id >= 5000 GROUP BY town", "groups of fewer than about "),
        ("SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING COUNT(*) > 1000000", "no row fulfilled"),
        ("SELECT town, COUNT(*) AS n FROM people GROUP BY town HAVING COUNT(*) > 1000000", "; or no row fulfilled"),
    ],
)
def test_an_empty_table_says_why_it_may_be_empty(db, query, said):
    answer = db.sql(query)
    assert len(answer) == 0
    [note] = (note for note in answer.notes if note.kind is NoteKind.EMPTY)
    assert note.text.startswith("If no row is shown: ")
    assert said in note.text
    shown = repr(answer)
    assert f"note: {note.text.replace('If no', 'No')}" in shown
    assert "usually not shown;" not in shown


def test_held_back_says_how_many_people_are_needed_and_how_to_need_fewer(db):
    answer = db.sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region", epsilon=0.1)
    needed = next(m.threshold for m in answer.receipt.mechanisms if m.threshold is not None)
    said = f"fewer than about {float(f'{needed:.2g}'):,.0f} people may be behind it"
    assert notes(answer, "n")[2] == f"held back: {said}; a larger epsilon lowers that number"


def test_where_the_minimum_frequency_is_what_counts_the_note_names_it(db):
    answer = db.sql("SELECT half, COUNT(*) AS n FROM people GROUP BY half", min_frequency=4000, epsilon=100)
    assert answer["n"] == [None, None]
    said = "held back: fewer than about 4,000 people may be behind it; min_frequency asks for 4,000"
    assert notes(answer, "n") == [said, said]


def test_a_total_whose_groups_are_all_held_back_is_not_said_to_be_small(db):
    """5 000 people are behind the total, but fewer than 4 000 behind each group."""
    own, total = (
        f"held back: fewer than about 4,000 people may be behind {whose}; min_frequency asks for 4,000"
        for whose in ("it", "each group that it adds up")
    )
    query = "SELECT region, COUNT(*) AS n FROM people GROUP BY ROLLUP (region) ORDER BY region NULLS LAST"
    assert notes(db.sql(query, min_frequency=4000, epsilon=100), "n") == [own, own, own, total]
    tables = {
        "region": "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
        "all": "SELECT COUNT(*) AS n FROM people",
    }
    batch = db.batch(tables, min_frequency=4000, epsilon=100, add_up=True)
    assert notes(batch["region"], "n") + notes(batch["all"], "n") == [total] * 4


def test_notes_that_several_columns_share_are_shown_once(db):
    answer = db.sql("SELECT region, COUNT(*) AS n, AVG(income) AS m FROM people GROUP BY region")
    assert sum("held back:" in line for line in repr(answer).splitlines()) == 1
    assert "note: n, m: held back: " in repr(answer)


def test_a_number_of_groups_is_shown_as_a_whole_number(db):
    assert "│ 5 ± ∞ │" in repr(db.sql(MONTHS + "SELECT COUNT(*) AS n FROM m"))
