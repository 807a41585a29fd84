"""The help teaches, and the page about the command line is complete."""

import re
from pathlib import Path

import pytest
import typer

import hedgerow
from hedgerow.cli import app

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
COMMANDS = dict(typer.main.get_command(app).commands)


def test_the_commands_are_those_that_work():
    owner, analyst = {"init", "calibrate", "check", "audit", "prepare"}, {"query", "quote", "shell", "mcp"}
    service, reports = {"serve", "analyst", "requests"}, {"batch", "plan", "publish", "verify", "key"}
    assert set(COMMANDS) == owner | analyst | service | reports | {
        "demo",
        "budget",
        "tune",
        "ratio",
        "experiment",
        "completion",
    }


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_help_ends_with_an_example_of_the_command(run, name):
    assert re.search(rf"Example: hedgerow {name}\b[^\n]*(\n[^\n]+)*\Z", COMMANDS[name].help.strip())
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"Example: hedgerow {name}" in result.stdout
    assert "--json" in result.stdout


def test_the_version_is_printed(run):
    assert run("--version").stdout == f"hedgerow {hedgerow.__version__}\n"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_command_and_option_is_on_the_page(name):
    section = re.search(rf"^## `hedgerow {name}.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section
    shared = PAGE[: PAGE.index("## `hedgerow")]
    for parameter in COMMANDS[name].params:
        for option in parameter.opts:
            assert not option.startswith("--") or f"`{option}" in section[0] + shared, option
