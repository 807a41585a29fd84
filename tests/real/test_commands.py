"""The commands, as a new owner and a new analyst use them on files that they found: odd names, wide tables, no keys."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from hedgerow.catalog import load_catalog
from hedgerow.cli import app

from .datasets import DATASETS

FILES = {"duckdb": "data.duckdb", "parquet": "parquet", "sqlite": "data.sqlite"}
CONFIDENCE = 1 - 1e-12
QUESTIONS = {
    "cars": ('SELECT COUNT(*) AS n FROM "Los Angeles, 1992"', 63),
    "fair": ("SELECT COUNT(*) AS n FROM women", 6366),
    "flights": ("SELECT COUNT(*) AS n FROM planes WHERE year IS NULL", 7),
    "rand_hie": ("SELECT COUNT(*) AS n FROM enrolees", 5294),
    "surveys": ("SELECT COUNT(*) AS n FROM choices WHERE choice", 210),
    "wide": ('SELECT COUNT("worst concave points") AS n FROM "breast cancer"', 569),
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder; the exit code, and what it printed as JSON."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        done = CliRunner().invoke(app, [*map(str, arguments), "--json"], catch_exceptions=False)
        return done.exit_code, json.loads(done.stdout)

    return command


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", DATASETS)
def test_a_drafted_catalog_names_every_table_and_waits_for_the_owner(sources, run, tmp_path, name, kind):
    data = sources(name)
    copied = tmp_path / FILES[kind]
    copy = shutil.copytree if kind == "parquet" else shutil.copy
    copy(data.folder / FILES[kind], copied)
    code, _ = run("init", FILES[kind], "--catalog", "draft.yaml")
    assert code == 0
    text = (tmp_path / "draft.yaml").read_text(encoding="utf-8")
    open_units = text.count("\n    unit: ???")
    code, failed = run("check", "--db", FILES[kind], "--catalog", "draft.yaml")
    assert (code, failed.get("error", {}).get("code")) == ((2, "catalog-fill-in") if open_units else (0, None))
    (tmp_path / "filled.yaml").write_text(text.replace("\n    unit: ???", "\n    public: true"), encoding="utf-8")
    named = {f'"{table}"' if "." in table else table for table in data.tables}
    assert set(load_catalog(tmp_path / "filled.yaml").tables) == named


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", DATASETS)
def test_an_owner_checks_and_an_analyst_asks(sources, run, name, kind):
    data, (question, exact) = sources(name), QUESTIONS[name]
    place = ("--db", data.folder / FILES[kind], "--catalog", data.catalog)
    code, _ = run("check", *place)
    assert code == 0
    place = (*place, "--ledger", "ledger")
    code, quoted = run("quote", question, *place)
    assert (code, quoted["columns"]) == (0, ["n"])
    code, answered = run("query", question, *place, "--min-frequency", 10, "--confidence", CONFIDENCE)
    assert (code, answered["columns"]) == (0, ["n"])
    [interval] = answered["intervals"]
    held_back = answered["rows"] == [[None]]
    assert held_back == (exact < 10)
    assert held_back or interval["n"]["lower"] <= exact <= interval["n"]["upper"]
    code, again = run("query", question, *place, "--min-frequency", 10, "--confidence", CONFIDENCE)
    assert (code, again["rows"], again["reused"]) == (0, answered["rows"], True)
    code, budget = run("budget", *place)
    assert (code, budget["queries"]) == (0, 1)
