"""Questions of hedgerow init, their answers in advance, and the types of CSV files."""

import duckdb
import pytest

from hedgerow.catalog import load_catalog
from hedgerow.cli.errors import UsageError
from hedgerow.cli.init import read_schema
from hedgerow.cli.init_questions import PRESETS, choose_budget, choose_people

ROWS = """\
id,zip,x,flag,day,at,note,empty
1,01234,1.5,True,2020-01-31,2020-01-01 10:00:00,one,
2,12345,NA,false,2020-02-28,2020-01-01T10:00,two,
"""


def answers(*given):
    """Answers one question after the other; the empty one takes the default."""
    remaining = iter(given)
    return lambda _question, default: next(remaining) or default


@pytest.fixture
def files(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "visits.csv").write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_number_of_questions_sets_budget_noise_and_price():
    few, many, most = (choose_budget(name, None, 1e-6, None, None) for name in PRESETS)
    assert (few.policy.epsilon, few.policy.pure_epsilon, few.price, few.questions) == (1.0, 1.0, (0.1, 1e-8), 10)
    assert (many.policy.epsilon, many.policy.pure_epsilon, many.price) == (3.0, 0.0, (0.3, 1e-8))
    assert 100 <= many.questions < 200
    assert most.price == (0.05, 1e-8)
    assert 2000 <= most.questions < 10_000


@pytest.mark.parametrize(("epsilon", "delta"), [(1e6, 1e-6), (1e-6, 1e-6), (3.0, 1e-15)])
def test_the_catalog_of_any_budget_loads(run, shop, epsilon, delta):
    """The default price stays within the limits of a statement."""
    result = run(
        "init", shop.database, "--force", "--person", "customers.id", "--yes", "--epsilon", epsilon, "--delta", delta
    )
    assert result.exit_code == 0, result.stderr
    text = shop.catalog.read_text(encoding="utf-8").replace("unit: ???", "public: true")
    shop.catalog.write_text(text, encoding="utf-8")
    loaded = load_catalog(shop.catalog)
    assert loaded.budget.epsilon == epsilon
    assert loaded.defaults.epsilon == pytest.approx(min(max(epsilon / 10, 1e-6), 1000))


def test_what_is_stated_in_advance_is_not_asked():
    choice = choose_budget(None, 2.0, 1e-6, 0.5, answers("thous"))
    assert (choice.policy.epsilon, choice.policy.pure_epsilon, choice.price[0]) == (2.0, 0.5, 0.033)
    with pytest.raises(UsageError):
        choose_budget("many", None, 1e-6, None, None)


def test_an_answer_that_cannot_be_read_is_asked_for_again(shop, capsys):
    schema = read_schema(str(shop.database))
    prompt = answers("none", "", "nobody", "CUSTOMER_ID", "many", "4")
    people = choose_people(schema, {}, (), None, prompt)
    assert people.columns == {"customers": "id", "orders": "customer_id"}
    assert people.public == {"countries"}
    assert people.max_rows == 4
    printed = capsys.readouterr().err
    assert "orders has no column nobody." in printed
    assert "'many' is not a number of rows." in printed
    assert "north" not in printed


def test_a_person_is_stated_by_column_by_table_and_column_or_by_row(shop):
    schema = read_schema(str(shop.database))
    people = choose_people(schema, {}, ("orders.Customer_ID", "row"), 5, None)
    assert people.columns == {"customers": "id", "orders": "customer_id"}
    assert people.numbered == {"countries"}
    with pytest.raises(UsageError) as caught:
        choose_people(schema, {}, ("nobody",), None, None)
    assert caught.value.code == "no-person"


def test_a_table_of_a_database_needs_a_key_where_each_row_is_a_person(run, shop):
    shop.catalog.unlink()
    result = run("init", shop.database, "--person", "row")
    assert result.exit_code == 2
    assert "no-row-key" in result.stderr
    assert not shop.catalog.exists()


def test_the_catalog_of_a_csv_file_states_its_types(run, files):
    result = run("init", "data", "--person", "id", "--max-rows", "3")
    assert result.exit_code == 0
    lines = [line.split("#")[0].strip() for line in (files / "data.yaml").read_text().splitlines()]
    stated = [line for line in lines if "{type:" in line]
    assert stated == ["x: {type: float}", "flag: {type: boolean}", "day: {type: date}", "at: {type: timestamp}"]
    assert "max_rows: 3" in lines
    assert run("check").exit_code == 0
    assert run("quote", "SELECT COUNT(*) FROM visits WHERE x > 1 AND flag AND day > DATE '2020-01-01'").exit_code == 0


def test_points_in_time_of_utc_are_timestamps(run, tmp_path):
    folder = tmp_path / "trips"
    folder.mkdir()
    (folder / "airlines.csv").write_text("code,name\nAA,American\n")
    (folder / "trips.csv").write_text("id,left\n1,2013-01-01T10:00:00Z\n2,NA\n3,2013-02-01T10:00:00Z\n")
    shown = run("init", folder, "--person", "id", "--yes").stdout
    assert "left: {type: timestamp}" in (tmp_path / "trips.yaml").read_text()
    assert 'hedgerow query "SELECT COUNT(*) FROM trips"' in shown  # not airlines, whose person is not known


def test_spaces_around_a_name_are_visible(run, tmp_path):
    (tmp_path / "t.csv").write_text(" id ,x\n1,2\n")
    assert 'There are: " id ", x.' in run("init", tmp_path / "t.csv", "--person", "id", "--yes").stderr


def test_rows_of_files_get_a_number_in_a_private_copy(run, run_json, files):
    built = run_json("init", "data", "--person", "row")
    assert (built["database"], built["fill_in"]) == ("data.duckdb", [])
    assert (files / "data.duckdb").stat().st_mode & 0o077 == 0
    with duckdb.connect(str(files / "data.duckdb"), read_only=True) as copy:
        assert copy.sql("SELECT row_id, id, zip, x, flag FROM visits").fetchall() == [
            (1, 1, "01234", 1.5, True),
            (2, 2, "12345", None, False),
        ]
    text = (files / "data.yaml").read_text()
    assert "unit: row_id" in text
    assert "of CSV files, values tell the types" in text
    assert sorted(path.name for path in files.iterdir()) == [
        "data",
        "data.duckdb",
        "data.ledger",
        "data.yaml",
        "hedgerow.toml",
    ]
    assert run("quote", "SELECT COUNT(*) FROM visits").exit_code == 0
    (files / "data.yaml").unlink()
    (files / "data.ledger").unlink()
    assert run("init", "data", "--person", "row").exit_code == 2


def test_force_replaces_a_project_that_opens_another_database(run_json, files):
    run_json("init", "data")
    again = run_json("init", "data", "--person", "row", "--force")
    assert sorted(again["kept"]) == ["data.ledger.old1", "data.yaml.old1", "hedgerow.toml.old1"]
    assert 'database = "data.duckdb"' in (files / "hedgerow.toml").read_text()


def test_the_first_question_that_is_printed_is_answered(run, files):
    printed = run("init", "data", "--person", "id", "--yes").stdout
    [question] = [line for line in printed.splitlines() if "hedgerow query" in line]
    assert "10 of one person count in full" in printed
    assert "count(*)" in run("query", question.split('"')[1]).stdout.lower()
    again = run("init", "data", "--person", "id", "--yes", "--force").stdout
    assert question in again.splitlines()


def test_people_are_told_what_was_chosen(run, files):
    shown = run("init", "data", "--yes", "--questions", "handful").stdout
    assert "Budget     epsilon 1, delta 1e-06" in shown
    assert "Price      epsilon 0.1, delta 1e-08 by default; about 10 fit" in shown
    assert "Noise      Laplace" in shown
    assert "--person COLUMN" in shown
