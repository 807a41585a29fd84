"""`hedgerow audit`, as people run it."""

import json

import pytest
from typer.testing import CliRunner

from hedgerow.cli import app

from . import mutants
from .conftest import CATALOG, TABLES

QUICK = ["--depth", "release", "--runs", "60", "--only", "alone", "--mechanism", "laplace", "--epsilon", "1"]
QUERY = "SELECT COUNT(*) AS people FROM customers"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("HEDGEROW_DB", raising=False)
    (tmp_path / "shop.yaml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "shop.sql").write_text(TABLES, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder):
    def invoke(*words, place=("--schema", "shop.sql")):
        place = [str(folder / word) if word.startswith("shop") else word for word in place]
        return CliRunner().invoke(app, ["audit", *words, "--catalog", str(folder / "shop.yaml"), *place])

    return invoke


def test_a_statement_that_keeps_its_claim_ends_with_0(run):
    result = run(QUERY, *QUICK, "--confidence", "0.999999999")
    assert result.exit_code == 0
    assert "passed: nothing that was found contradicts the claim" in result.stdout
    assert "claimed: epsilon 1 at delta 0" in result.stdout


def test_one_that_exceeds_it_ends_with_1(run, monkeypatch):
    mutants.float_noise(monkeypatch)
    result = run(QUERY, *QUICK)
    assert result.exit_code == 1
    assert "off the lattice of their noise" in result.stdout


def test_json_is_one_line_and_complete(run):
    result = run(QUERY, *QUICK, "--json")
    document = json.loads(result.stdout)
    assert document["query"] == QUERY
    assert document["runs"] == 60
    assert [pair["kind"] for pair in document["pairs"]] == ["alone"]


def test_the_page_is_written_beside_the_json(run, folder):
    result = run(QUERY, *QUICK, "--json", "--html", str(folder / "audit.html"))
    assert json.loads(result.stdout)["depth"] == "release"
    assert (folder / "audit.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_run(run, folder):
    result = run(QUERY, *QUICK, "--html", str(folder / "nowhere" / "audit.html"))
    assert result.exit_code == 2
    assert "There is no folder" in result.output
    assert "newcomer" not in result.output


def test_a_page_that_turns_out_not_to_be_writable_does_not_lose_the_report(run, folder):
    result = run(QUERY, *QUICK, "--html", str(folder))
    assert result.exit_code == 2
    assert "cannot be written" in result.output
    assert "claimed: epsilon 1" in result.output


def test_without_any_tables_there_is_nothing_to_audit(run):
    result = run(QUERY, *QUICK, place=[])
    assert result.exit_code == 2
    assert "--schema" in result.output


def test_a_schema_stands_in_for_a_database_that_the_environment_names(run, monkeypatch):
    monkeypatch.setenv("HEDGEROW_DB", "nowhere.duckdb")
    assert run(QUERY, *QUICK, "--confidence", "0.999999999").exit_code == 0


def test_a_schema_that_is_none_is_refused(run, folder):
    (folder / "shop.sql").write_text("CREATE TABEL x", encoding="utf-8")
    result = run(QUERY, *QUICK)
    assert result.exit_code == 2
    assert "cannot be made" in result.output


def test_a_schema_reads_no_files(run, folder):
    (folder / "shop.sql").write_text(f"{TABLES}; CREATE TABLE x AS FROM read_text('{folder}/shop.yaml')")
    result = run(QUERY, *QUICK)
    assert result.exit_code == 2
    assert "dataset: shop" not in result.output


def test_a_refusal_points_into_the_statement(run):
    result = run("SELECT incone FROM customers", *QUICK)
    assert result.exit_code in {1, 2}
    assert "^" in result.output
    assert "Traceback" not in result.output


def test_a_kind_that_does_not_exist_is_refused_with_those_that_do(run):
    result = run(QUERY, "--only", "nobody")
    assert result.exit_code == 2
    assert "pivotal person" in result.output
