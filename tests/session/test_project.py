"""A project file says where everything is, and what a question costs by default."""

import pytest

import hedgerow as hr
from hedgerow.errors import CatalogError, UnknownNameError
from hedgerow.session.project import find_project, read_project


@pytest.fixture
def project(shop_of, tmp_path, monkeypatch):
    """A shop with a project file beside its database; the current folder is one below."""
    place = shop_of(budget="{epsilon: 100, delta: 0.01}").place
    file = place / "hedgerow.toml"
    file.write_text(
        '[project]\ndatabase = "data.duckdb"\ncatalog = "data.yaml"\nledger = "own.ledger"\nanalyst = "ann"\n'
    )
    (place / "below").mkdir()
    monkeypatch.chdir(place / "below")
    monkeypatch.delenv("HEDGEROW_PROJECT", raising=False)
    return file


def test_a_project_is_found_in_the_folder_or_above(project):
    with hr.connect() as db:
        db.sql("SELECT COUNT(*) FROM people")
        assert [entry.analyst for entry in db.budget.history] == ["ann"]
    assert (project.parent / "own.ledger").exists()


def test_a_project_file_can_be_named(project, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    with hr.connect(project) as db:
        assert db.tables["people"].name == "people"
    monkeypatch.setenv("HEDGEROW_PROJECT", str(project))
    assert find_project() == read_project(project)


def test_arguments_override_the_file(project):
    with hr.connect(analyst="bob", ledger=project.parent / "other.ledger") as db:
        db.sql("SELECT COUNT(*) FROM people")
        assert [entry.analyst for entry in db.budget.history] == ["bob"]
    assert not (project.parent / "own.ledger").exists()


def test_default_prices_of_a_project_replace_those_of_the_catalog_and_loosen_no_limit(project):
    project.write_text(project.read_text() + "[defaults]\nepsilon = 0.25\nconfidence = 0.5\n")
    with hr.connect() as db:
        quote = db.quote("SELECT COUNT(*) FROM people")
        assert quote.charge.epsilon == pytest.approx(0.25)
        assert quote.confidence == 0.5


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[projct]\n", "projct"),
        ('[project]\ndatabse = "x"\n', "databse"),
        ("[project]\ndatabase = 3\n", "database"),
        ("[defaults]\nepsilon = -1\n", "epsilon"),
        ("[defaults]\nmin_frequency = 1\n", "min_frequency"),
        ("project = 3\n", "project"),
        ("[project\n", "TOML"),
    ],
)
def test_what_a_project_file_cannot_say_is_an_error(project, text, word):
    project.write_text(text)
    with pytest.raises(CatalogError, match=word) as caught:
        hr.connect()
    assert caught.value.code == "project-file"


def test_without_a_project_everything_that_is_missing_is_named_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CatalogError, match="No database and no catalog was named") as caught:
        hr.connect()
    assert caught.value.code == "no-project"
    with pytest.raises(CatalogError, match="catalog"):
        hr.connect("shop.duckdb")


def test_tables_show_what_may_be_asked_about_and_nothing_else(shop):
    assert [table.name for table in shop.tables] == ["people", "visits", "towns"]
    people = shop.tables["PEOPLE"]
    assert [column.name for column in people.columns] == ["id", "region", "income", "age"]  # notes are hidden
    assert (people["income"].lower, people["income"].upper, people["region"].values) == (0, 100000, ("north", "south"))
    assert people["id"].person
    assert [column.name for column in shop.tables["visits"].columns] == ["person", "cost", "place"]
    assert shop.tables["towns"].public
    assert "north, south" in str(shop.tables)
    for missing in ("undeclared", "peek"):
        with pytest.raises(UnknownNameError):
            shop.tables[missing]
    with pytest.raises(UnknownNameError):
        people["notes"]


def test_comments_of_the_owner_are_shown(build):
    db = build(
        "CREATE TABLE t (u BIGINT, x DOUBLE)",
        "t: {unit: u, max_rows: 1, comment: Visits since 2020, columns: {x: {lower: 0, upper: 1, comment: in euros}}}",
    )
    assert (db.tables[0].comment, db.tables[0]["x"].comment) == ("Visits since 2020", "in euros")
    assert "in euros" in str(db.tables)


def test_a_statement_is_described_without_being_charged(shop, free):
    with free(shop):
        actual = shop.describe(
            "SELECT region, COUNT(*) AS n, AVG(income) AS a FROM people WHERE age > :low GROUP BY region", {"low": 3}
        )
    assert [(column.name, column.type, column.noisy) for column in actual.columns] == [
        ("region", "text", False),
        ("n", "integer", True),
        ("a", "float", True),
    ]
    assert [(parameter.name, parameter.type) for parameter in actual.parameters] == [("low", "integer")]
    assert "a       float, noisy" in str(actual)


def test_another_analyst_shares_the_database_and_has_a_cap_of_their_own(build):
    db = build(
        "CREATE TABLE t AS SELECT j AS u FROM range(100) r(j)",
        "t: {unit: u, max_rows: 1}",
        budget="{epsilon: 10, delta: 1e-6, analysts: {bob: {epsilon: 0.5}}}",
    )
    bob = db.as_analyst("bob")
    with pytest.raises(hr.BudgetError):
        bob.sql("SELECT COUNT(*) FROM t", epsilon=1)
    bob.close()
    assert len(db.sql("SELECT COUNT(*) FROM t", epsilon=1)) == 1
