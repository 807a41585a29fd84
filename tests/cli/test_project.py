"""Commands in a folder with a project file need no options that name its parts."""

import pytest


@pytest.fixture
def project(shop, monkeypatch):
    (shop.folder / "hedgerow.toml").write_text(
        '[project]\ndatabase = "shop.duckdb"\ncatalog = "shop.yaml"\nanalyst = "ann"\n[defaults]\nepsilon = 0.25\n'
    )
    (shop.folder / "below").mkdir()
    monkeypatch.chdir(shop.folder / "below")
    return shop


QUESTION = "SELECT COUNT(*) AS n FROM customers"


def test_a_question_needs_nothing_but_its_text(run_json, project):
    answer = run_json("query", QUESTION)
    assert answer["charge"]["epsilon"] == pytest.approx(0.25)
    history = run_json("budget", "--history")["history"]
    assert [entry["analyst"] for entry in history if entry.get("analyst")] == ["ann"]


def test_options_override_the_file(run_json, project):
    answer = run_json("query", QUESTION, "--epsilon", "0.125", "--analyst", "bob")
    assert answer["charge"]["epsilon"] == pytest.approx(0.125)
    history = run_json("budget", "--history")["history"]
    assert [entry["analyst"] for entry in history if entry.get("analyst")] == ["bob"]


@pytest.mark.parametrize("command", [("quote", QUESTION), ("check",), ("budget",)])
def test_every_command_finds_it(run, project, command):
    assert run(*command).exit_code == 0


def test_a_project_file_that_cannot_be_read_is_told(run, project):
    (project.folder / "hedgerow.toml").write_text("[projct]\n")
    result = run("query", QUESTION)
    assert result.exit_code != 0
    assert "projct" in result.stderr


def test_init_writes_one_beside_the_catalog_and_never_over_another(run_json, shop, monkeypatch):
    monkeypatch.chdir(shop.folder)
    shop.catalog.unlink()
    built = run_json("init", "shop.duckdb", "--catalog", "new.yaml")
    assert built["project"] == "hedgerow.toml"
    text = (shop.folder / "hedgerow.toml").read_text()
    assert text == '[project]\ndatabase = "shop.duckdb"\ncatalog = "new.yaml"\nledger = "new.ledger"\n'
    again = run_json("init", "shop.duckdb", "--catalog", "other.yaml")
    assert again["project"] is None
    assert (shop.folder / "hedgerow.toml").read_text() == text


def test_init_of_the_current_folder_names_its_files_after_it(run_json, tmp_path, monkeypatch):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "people.csv").write_text("id,age\n1,30\n2,40\n")
    monkeypatch.chdir(folder)
    created = run_json("init", ".")
    assert (created["catalog"], created["project"]) == ("study.yaml", "hedgerow.toml")
    assert (folder / "hedgerow.toml").read_text().splitlines()[1] == 'database = "."'


def test_database_and_catalog_are_missed_at_once(run, shop, monkeypatch):
    monkeypatch.chdir(shop.folder)
    both = run("query", QUESTION)
    assert both.exit_code == 2
    assert "error [no-project]: Nothing says which database and catalog to open" in both.stderr
    assert "Pass --db DATABASE --catalog CATALOG.yaml" in both.stderr
    one = run("query", QUESTION, "--catalog", shop.catalog)
    assert "which database to open" in one.stderr
    assert "which catalog to open" in run("query", QUESTION, "--db", shop.database).stderr
    assert "which database to open" in run("query", QUESTION, env={"HEDGEROW_CATALOG": str(shop.catalog)}).stderr
    assert "which catalog to open" in run("budget").stderr
