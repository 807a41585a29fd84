"""Folders and patterns of Parquet and CSV files: a file is a table, types are never guessed, and no line can fail."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.backends import connect_backend
from hedgerow.errors import BackendError
from hedgerow.expressions.types import Type

CATALOG = """\
dataset: files
budget: {epsilon: 100000, delta: 0.01, pure_epsilon: 50000}
defaults: {epsilon: 1000, delta: 1e-8, min_frequency: 1}
tables:
  people:
    unit: id
    max_rows: 1
    columns:
      age: {type: integer, lower: 0, upper: 100}
      born: {type: date}
  visits: {unit: id, max_rows: 2, max_groups: 2, columns: {day: {values: ['2024-01-01', '2024-01-02']}}}
"""
NEAR, OFF = 25, 0.9
"""By how much a sum and a count may be off: tens of standard deviations at so large an epsilon."""

PEOPLE = 'id,age,born,note\r\n1,30,1990-05-01,"a, ""b"""\r\n2,forty,1980-01-31,\r\n3,50,31.12.1970,""\r\n'


def parquet(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "data"
    place.mkdir()
    (place / "people.csv").write_text(PEOPLE, newline="")
    parquet(place / "visits" / "day=2024-01-01" / "one.parquet", id=[1, 2])
    parquet(place / "visits" / "day=2024-01-02" / "two.parquet", id=[1])
    (place / "README.txt").write_text("no table")
    (place / ".hidden.csv").write_text("x\n1\n")
    return place


def rows(backend, sql):
    return backend._cursor().sql(sql).fetchall()


def test_a_folder_is_asked_like_a_database(folder, tmp_path):
    (tmp_path / "files.yaml").write_text(CATALOG)
    with hr.connect(folder, catalog=tmp_path / "files.yaml") as db:
        counted = db.sql("SELECT COUNT(*) AS n, SUM(age) AS s, COUNT(born) AS b FROM people")
        assert abs(counted["n"][0] - 3) < OFF
        assert abs(counted["b"][0] - 2) < OFF
        assert abs(counted["s"][0] - 80) < NEAR
        by_day = db.sql("SELECT day, COUNT(*) AS n FROM visits GROUP BY day")
        actual = dict(iter(by_day))
        assert abs(actual["2024-01-01"] - 2) < OFF
        assert abs(actual["2024-01-02"] - 1) < OFF


def test_files_and_folders_are_tables_by_their_names(folder):
    assert set(connect_backend(str(folder)).schema().tables) == {"people", "visits"}


def test_every_column_of_a_csv_file_is_text_whatever_it_holds(folder):
    columns = connect_backend(folder).schema().tables["people"].columns
    assert {name: column.type for name, column in columns.items()} == dict.fromkeys(
        ["id", "age", "born", "note"], Type.TEXT
    )


def test_a_folder_called_like_a_value_is_a_column_of_text(folder):
    columns = connect_backend(folder).schema().tables["visits"].columns
    assert {name: column.type for name, column in columns.items()} == {"id": Type.INTEGER, "day": Type.TEXT}


def test_quotes_commas_and_missing_values_are_read_as_the_standard_says(folder):
    actual = rows(connect_backend(folder), "SELECT note FROM people ORDER BY id")
    assert actual == [('a, "b"',), (None,), ("",)]


@pytest.mark.parametrize(
    "pattern", ["data/*.csv", "data/peop*", "data/**/people.csv", "data/people.csv", "data/[p]eople.csv"]
)
def test_a_pattern_names_files(folder, monkeypatch, pattern):
    monkeypatch.chdir(folder.parent)
    assert set(connect_backend(pattern).schema().tables) == {"people"}


def test_a_pattern_may_name_folders(folder):
    assert set(connect_backend(f"{folder}/vis*").schema().tables) == {"visits"}


def test_one_file_of_parquet_is_a_source(tmp_path):
    parquet(tmp_path / "orders.parquet", id=[1, 2])
    assert set(connect_backend(tmp_path / "orders.parquet").schema().tables) == {"orders"}


@pytest.mark.parametrize("name", ["we[i]rd", "st*r", "wh?t", "it's", "a b"])
def test_signs_in_the_name_of_a_folder_are_signs(tmp_path, name):
    parquet(tmp_path / name / "orders.parquet", id=[1, 2])
    assert rows(connect_backend(tmp_path / name), "SELECT COUNT(*) FROM orders") == [(2,)]


BROKEN = {
    "short": b"2,x\n",
    "long": b"2,x,y,z\n",
    "not UTF-8": b"2,\xff\xfe,y\n",
    "a zero byte": b"2,\x00,y\n",
    "a quote in the middle": b'2,a"b"c,y\n',
    "very long": b"2," + b"x" * 5_000_000 + b",y\n",
    "an empty line": b"\n",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_line_that_is_not_csv_fails_nothing_and_leaves_the_others_alone(tmp_path, kind):
    """Privacy: an error that one line causes would be an answer that nobody paid for."""
    lines = [b"id,a,b\n", *(b"%d,a,b\n" % n for n in range(3000)), BROKEN[kind], b"9999,a,b\n"]
    (tmp_path / "t.csv").write_bytes(b"".join(lines))
    actual = rows(connect_backend(tmp_path), "SELECT COUNT(*), COUNT(*) FILTER (WHERE a = 'a') FROM t")
    assert actual in ([(3001, 3001)], [(3002, 3001)])


@pytest.mark.parametrize("text", ["id,a\n", "id,a", '\ufeffid,"a"\r\n'])
def test_a_file_of_names_alone_is_an_empty_table(tmp_path, text):
    (tmp_path / "t.csv").write_text(text, newline="")
    backend = connect_backend(tmp_path)
    assert list(backend.schema().tables["t"].columns) == ["id", "a"]
    assert rows(backend, "SELECT COUNT(*) FROM t") == [(0,)]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_the_first_line_alone_decides_the_separator(tmp_path, separator):
    """Privacy: the names of the columns are public, the rows are not."""
    (tmp_path / "t.csv").write_text(f"id{separator}a\n1{separator}2,5\n3,4\n")
    backend = connect_backend(tmp_path)
    assert list(backend.schema().tables["t"].columns) == ["id", "a"]
    assert rows(backend, "SELECT id, a FROM t") == [("1", "2,5")]


def test_a_comma_in_the_first_line_wins(tmp_path):
    (tmp_path / "t.csv").write_text("id;x,a\n1;y,2\n")
    assert list(connect_backend(tmp_path).schema().tables["t"].columns) == ["id;x", "a"]


def test_a_file_of_tab_separated_values_is_a_table(tmp_path):
    (tmp_path / "t.tsv").write_text("id\ta\n1\t2\n")
    assert rows(connect_backend(tmp_path / "t.tsv"), "SELECT id, a FROM t") == [("1", "2")]


def test_a_column_without_a_name_is_named_after_its_position(tmp_path):
    """R names no column for the names of rows."""
    (tmp_path / "t.csv").write_text('"","a"\n"1",2\n')
    assert rows(connect_backend(tmp_path), "SELECT column_1, a FROM t") == [("1", "2")]


@pytest.mark.parametrize("head", ["", "a,A\n", "\n", ",,\n", ",column_1,b\n"])
def test_a_first_line_must_name_the_columns(tmp_path, head):
    (tmp_path / "t.csv").write_text(f"{head}1,2,3\n" if head else "")
    with pytest.raises(BackendError) as refused:
        connect_backend(tmp_path)
    assert refused.value.code == "column-names"


def test_columns_of_one_name_are_told_by_their_positions(tmp_path):
    """Not by the name: in a file without a first line of names it would be a value."""
    (tmp_path / "t.csv").write_text("id;Betrag €;betrag €\n1;2;3\n", encoding="utf-8")
    with pytest.raises(BackendError, match="Columns 2 and 3 of the table 't' have the same name"):
        connect_backend(tmp_path)


def differing_types(place):
    parquet(place / "t" / "a.parquet", id=[1])
    parquet(place / "t" / "b.parquet", id=["x"])


def differing_columns(place):
    parquet(place / "t" / "a.parquet", id=[1])
    parquet(place / "t" / "b.parquet", other=[1])


def differing_headers(place):
    (place / "t").mkdir()
    (place / "t" / "a.csv").write_text("a,b\n1,2\n")
    (place / "t" / "b.csv").write_text("b,a\n1,2\n")


def differing_kinds(place):
    parquet(place / "t" / "a.parquet", id=[1])
    (place / "t" / "b.csv").write_text("id\n1\n")


@pytest.mark.parametrize("built", [differing_types, differing_columns, differing_headers, differing_kinds])
def test_files_of_one_table_must_be_alike(tmp_path, built):
    built(tmp_path)
    with pytest.raises(BackendError) as refused:
        connect_backend(tmp_path)
    assert refused.value.code == "files-differ"


def test_two_tables_of_one_name_are_refused(tmp_path):
    parquet(tmp_path / "t.parquet", id=[1])
    (tmp_path / "T.csv").write_text("id\n1\n")
    with pytest.raises(BackendError) as refused:
        connect_backend(tmp_path)
    assert refused.value.code == "table-names"


def not_parquet(place):
    (place / "t.parquet").write_text("secret")


def without_columns(place):
    (place / "t.csv").write_text("\n1,2,3\n")


def same_names(place):
    parquet(place / "t.parquet", id=[1])
    (place / "T.csv").write_text("id\n1\n")


@pytest.mark.parametrize("built", [differing_columns, differing_kinds, not_parquet, without_columns, same_names])
def test_files_that_are_no_table_stop_only_a_catalog_that_declares_them(tmp_path, built):
    """People keep exports, notes and old versions beside their data."""
    parquet(tmp_path / "people.parquet", id=[1, 2])
    built(tmp_path)
    backend = connect_backend(tmp_path, declared=["people"])
    assert set(backend.schema().tables) == {"people"}
    assert rows(backend, "SELECT COUNT(*) FROM people") == [(2,)]
    with pytest.raises(BackendError):
        connect_backend(tmp_path, declared=["people", "T"])


def test_a_file_that_is_not_what_its_ending_says_is_refused_without_its_contents(tmp_path):
    (tmp_path / "t.parquet").write_text("secret")
    with pytest.raises(BackendError) as refused:
        connect_backend(tmp_path)
    assert refused.value.code == "unreadable-table"
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("source", ["", "nothing/*.parquet"])
def test_a_folder_or_pattern_without_files_is_refused(tmp_path, source):
    with pytest.raises(BackendError) as refused:
        connect_backend(str(tmp_path / source))
    assert refused.value.code == "no-tables"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{outside}/secret.csv', auto_detect = false, columns = {{'a': 'VARCHAR'}})",
        "SELECT * FROM '{outside}/secret.csv'",
        "SELECT * FROM glob('{outside}/*')",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "SET threads = 1",
        "ATTACH '{outside}/x.duckdb'",
        "INSTALL httpfs",
    ],
)
def test_nothing_outside_the_folder_can_be_reached(folder, tmp_path, sql):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_text("a\nsecret\n")
    backend = connect_backend(folder)
    with pytest.raises(duckdb.Error):
        backend._cursor().sql(sql.format(outside=outside)).fetchall()


def test_files_that_come_later_are_not_part_of_a_table(folder):
    backend = connect_backend(folder)
    parquet(folder / "visits" / "day=2024-01-03" / "three.parquet", id=[9])
    assert rows(backend, "SELECT COUNT(*) FROM visits") == [(3,)]
