"""hedgerow init: a first catalog and its ledger, never half-made."""

import json
import re
import shlex

import duckdb
import pytest

from hedgerow.catalog import BudgetPolicy
from hedgerow.ledger import create_ledger


@pytest.fixture
def bare(shop):
    """A database without a catalog."""
    shop.catalog.unlink()
    return shop


def test_from_init_over_edit_and_check_to_a_first_answer(run, run_json, bare):
    built = run_json("init", bare.database, "--epsilon", 2)
    assert built["catalog"] == str(bare.catalog)
    assert built["ledger"] == str(bare.ledger)
    text = bare.catalog.read_text()
    assert built["ledger_id"] in text
    assert "epsilon: 2" in text
    assert built["fill_in"]
    lines = text.split("\n")
    assert all("???" in lines[number - 1] for number in built["fill_in"])

    refused = run("check", *bare.options)
    assert refused.exit_code == 2
    assert "catalog-fill-in" in refused.stderr

    for number in built["fill_in"]:
        lines[number - 1] = re.sub(r"unit: \?\?\?.*", "public: true", lines[number - 1])
    bare.catalog.write_text("\n".join(lines))
    assert run("check", *bare.options).exit_code == 0
    answer = run_json("query", "SELECT COUNT(*) AS n FROM customers", *bare.options, "--epsilon", 1, "--delta", 1e-8)
    assert abs(answer["rows"][0][0] - 4000) < 1000
    assert run_json("budget", "--catalog", bare.catalog)["limit"]["epsilon"] == 2.0


def test_people_are_told_what_to_do_next(run, bare):
    result = run("init", bare.database)
    assert result.exit_code == 0
    assert f"Wrote {bare.catalog}" in result.stdout
    assert "fill in the ???" in result.stdout
    assert f"hedgerow check --db {bare.database} --catalog {bare.catalog}" in result.stdout


def test_dataset_and_catalog_can_be_named(run_json, bare):
    out = bare.folder / "elsewhere.yaml"
    built = run_json("init", bare.database, "--catalog", out, "--dataset", "the shop", "--pure-epsilon", 1)
    assert built["dataset"] == "the shop"
    assert (bare.folder / "elsewhere.ledger").exists()
    assert "pure_epsilon: 1" in out.read_text()
    assert not bare.catalog.exists()


def test_a_catalog_is_never_overwritten_without_force(run, shop):
    before = shop.catalog.read_text()
    result = run("init", shop.database, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "catalog-exists"
    assert shop.catalog.read_text() == before
    assert not shop.ledger.exists()


def test_force_begins_anew_and_keeps_the_record_of_what_was_spent(run_json, shop):
    run_json("query", "SELECT COUNT(*) AS n FROM customers", *shop.options)
    catalog, ledger = shop.catalog.read_bytes(), shop.ledger.read_bytes()
    first = run_json("init", shop.database, "--force")
    assert sorted(first["kept"]) == [f"{shop.ledger}.old1", f"{shop.catalog}.old1"]
    assert (shop.folder / "shop.yaml.old1").read_bytes() == catalog
    assert (shop.folder / "shop.ledger.old1").read_bytes() == ledger
    second = run_json("init", shop.database, "--force")
    assert sorted(second["kept"]) == [f"{shop.ledger}.old2", f"{shop.catalog}.old2"]
    assert (shop.folder / "shop.ledger.old1").read_bytes() == ledger
    assert first["ledger_id"] != second["ledger_id"]


def test_a_try_that_broke_off_between_ledger_and_catalog_can_be_repeated(run_json, bare):
    left = create_ledger(bare.ledger, dataset="shop", policy=BudgetPolicy(3.0, 1e-6))
    built = run_json("init", bare.database)
    assert built["ledger_id"] == left
    assert left in bare.catalog.read_text()


def test_a_ledger_for_another_budget_is_not_taken_over(run, bare):
    create_ledger(bare.ledger, dataset="shop", policy=BudgetPolicy(5.0, 1e-6))
    result = run("init", bare.database)
    assert result.exit_code == 2
    assert "ledger-exists" in result.stderr
    assert not bare.catalog.exists()


def test_a_used_ledger_is_not_taken_over(run, run_json, shop):
    run_json("query", "SELECT COUNT(*) AS n FROM customers", *shop.options)
    shop.catalog.unlink()
    before = shop.ledger.read_bytes()
    assert run("init", shop.database).exit_code == 2
    assert not shop.catalog.exists()
    assert shop.ledger.read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [["--epsilon", "0"], ["--epsilon", "inf"], ["--delta", "1"], ["--pure-epsilon", "4"], ["--pure-epsilon", "nan"]],
)
def test_a_budget_that_cannot_be_is_refused_and_nothing_is_made(run, bare, words):
    assert run("init", bare.database, *words).exit_code == 2
    assert not bare.catalog.exists()
    assert not bare.ledger.exists()


def test_a_missing_database_leaves_nothing_behind(run, tmp_path):
    assert run("init", tmp_path / "none.duckdb").exit_code == 3
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["shop.yaml", "shop.ledger"])
def test_the_database_itself_is_never_written_over(run, bare, name):
    database = bare.folder / name
    bare.database.rename(database)
    before = database.read_bytes()
    assert run("init", database, "--force").exit_code == 2
    assert database.read_bytes() == before


def test_a_catalog_cannot_be_its_own_ledger(run, bare):
    assert run("init", bare.database, "--catalog", bare.folder / "shop.ledger").exit_code == 2


def test_tables_of_other_schemas_are_listed_with_their_schema(run_json, bare):
    with duckdb.connect(str(bare.database)) as connection:
        connection.execute("CREATE SCHEMA sales")
        connection.execute("CREATE TABLE sales.customers (customer_id INTEGER PRIMARY KEY)")
    run_json("init", bare.database)
    listed = bare.catalog.read_text(encoding="utf-8").split("\n")
    assert '  "sales.customers":' in listed
    assert "  customers:" in listed


def test_the_commands_that_it_names_can_be_pasted(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("first shop", "second shop"):
        rows = "".join(f"{number % 300},{number % 7}\n" for number in range(900))
        (tmp_path / f"{name}.csv").write_text(f"User ID,Order\n{rows}")
        shown = run("init", f"{name}.csv", "--yes").stdout
        commands = [line.strip() for line in shown.splitlines() if line.startswith("  hedgerow ")]
        assert [command.split()[1] for command in commands] == ["check", "query"]
        for command in commands:
            assert run(*shlex.split(command)[1:]).exit_code == 0
