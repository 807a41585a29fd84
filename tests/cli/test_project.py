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


EXPERIMENT = ("experiment", "ask", "--table", "customers", "--treated", "region = 'north'", "--average", "income")
RISK = ("ratio", "ab", "--table", "customers", "--outcome", "income > 9", "--treatment-is", "region = 'north'")


@pytest.mark.parametrize(
    "command",
    [
        ("quote", QUESTION),
        ("check",),
        ("budget",),
        ("prepare",),
        ("audit", QUESTION, "--depth", "release", "--runs", "20", "--only", "high values"),
        EXPERIMENT,
        (*RISK, "--epsilon", "0.25"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_finds_it(run, project, command):
    assert run(*command).exit_code == 0


def test_another_catalog_has_another_ledger(run_json, project):
    other = project.folder / "other.yaml"
    other.write_text(project.catalog.read_text().replace("dataset: shop", "dataset: other"))
    file = project.folder / "hedgerow.toml"
    file.write_text(file.read_text().replace("[defaults]", 'ledger = "kept.ledger"\n[defaults]'))
    run_json("query", QUESTION)
    run_json("query", QUESTION, "--catalog", other)
    run_json("query", QUESTION, "--catalog", project.catalog)
    assert [path.name for path in sorted(project.folder.glob("*.ledger"))] == ["kept.ledger", "other.ledger"]
    assert run_json("budget")["dataset"] == "shop"
    assert run_json("budget", "--catalog", other)["dataset"] == "other"


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
    assert "error [no-project]: No database and no catalog was named" in both.stderr
    assert "Pass --db DATABASE --catalog CATALOG.yaml" in both.stderr
    one = run("query", QUESTION, "--catalog", shop.catalog)
    assert "No database was named" in one.stderr
    assert "No catalog was named" in run("query", QUESTION, "--db", shop.database).stderr
    assert "No database was named" in run("query", QUESTION, env={"HEDGEROW_CATALOG": str(shop.catalog)}).stderr
    assert "No catalog was named" in run("budget").stderr
