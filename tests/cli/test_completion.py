"""Completion in bash, zsh and fish."""

import json
import shutil
import subprocess

import pytest

from hedgerow.cli.completion import SHELLS


@pytest.fixture
def complete(run, shop, monkeypatch):
    """Asks for completions of a line, as the script of bash does, in a project."""
    (shop.folder / "hedgerow.toml").write_text('[project]\ndatabase = "shop.duckdb"\ncatalog = "shop.yaml"\n')
    shop.rewrite(
        "delta: 1e-6}", "delta: 1e-6, analysts: {default: {epsilon: 1}, alice: {epsilon: 2}, bob: {epsilon: 1}}}"
    )
    monkeypatch.chdir(shop.folder)

    def words(line):
        environment = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_HEDGEROW_COMPLETE": "complete_bash"}
        return run(env=environment).stdout.split()

    return words


def test_commands_and_options_are_completed(complete):
    assert complete("hedgerow qu") == ["query", "quote"]
    assert complete("hedgerow query --epsi") == ["--epsilon"]


def test_tables_and_analysts_come_from_the_project(complete, shop):
    assert complete("hedgerow calibrate --table ") == ["customers", "orders"]
    assert complete("hedgerow calibrate --table or") == ["orders"]
    assert complete("hedgerow query --analyst ") == ["alice", "bob"]
    shop.catalog.write_text("tables: ???")
    assert complete("hedgerow query --analyst ") == []


@pytest.mark.parametrize("name", SHELLS)
def test_each_shell_accepts_its_script(run, run_json, name):
    script = run("completion", name).stdout
    assert "_HEDGEROW_COMPLETE" in script
    assert run_json("completion", name) == {"shell": name, "script": script.removesuffix("\n")}
    program = shutil.which(name)
    if program is not None:
        checked = subprocess.run(  # noqa: S603 - our own script
            [program, "-n"], input=script, text=True, capture_output=True, check=False
        )
        assert (checked.returncode, checked.stderr) == (0, "")


def test_another_shell_has_none(run):
    result = run("completion", "csh", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "usage"
