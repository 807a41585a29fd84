"""Commands of hosted CI, git hooks and pages exist, and are those that a developer calls."""

import re
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
FIELDS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


def read(path):
    return YAML(typ="safe", pure=True).load(ROOT / path)


@pytest.fixture(scope="module")
def jobs():
    return read(".github/workflows/ci.yml")["jobs"]


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_every_command_of_the_workflow_is_a_target_of_the_makefile(jobs):
    actual = [re.fullmatch(r"(?:sudo )?make ([a-z-]+)", command) for job in jobs.values() for command in commands(job)]
    assert all(actual)
    assert {command[1] for command in actual} <= TARGETS
    assert {command[1] for command in actual} >= {"system-packages", "test", "docs", "slow"}


def test_hosted_ci_does_what_the_script_of_ci_does(jobs):
    assert commands(jobs["test"]) == ["sudo make system-packages", "make test"]


def test_every_python_that_the_project_names_is_tested_and_no_other(jobs):
    tested = jobs["test"]["strategy"]["matrix"]["python"]
    prefix = "Programming Language :: Python :: 3."
    named = ["3." + line.removeprefix(prefix) for line in PROJECT["classifiers"] if line.startswith(prefix)]
    assert tested == named == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == f">={tested[0]}"


def test_slow_tests_run_on_a_schedule_and_nothing_else_does(jobs):
    text = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert re.search(r"schedule:\n +- cron:", text)
    on_schedule = {name for name, job in jobs.items() if "!= 'schedule'" not in job["if"]}
    assert on_schedule == {"slow"}


def test_the_site_is_built_by_make_test():
    (needs,) = re.findall(r"^test: .+\n\t\$\(MAKE\) --jobs 2 --output-sync (.+)$", MAKEFILE, re.MULTILINE)
    assert {"lint", "types", "imports", "docs"} <= set(needs.split())


def test_every_target_is_phony_and_says_what_it_does():
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert set(phony.split()) == TARGETS
    assert set(re.findall(r"^([a-z-]+):.*## .", MAKEFILE, re.MULTILINE)) == TARGETS


def test_every_target_is_in_the_table_of_contributing():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^## Make\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"`make ([a-z-]+)`", table))
    assert TARGETS - named == {"fast"}
    assert named <= TARGETS


def test_the_hooks_of_git_run_the_commands_of_make():
    hooks = {hook["id"]: hook for repo in read(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]}
    assert set(hooks) == {"lint", "format", "types", "imports", "changelog", "commit-message"}
    assert hooks["commit-message"]["stages"] == ["commit-msg"]
    for name in ("ruff check", "ruff format --check", "mypy", "lint-imports"):
        assert f"$(BIN)/{name}" in MAKEFILE
        assert any(hook["entry"].startswith(f".venv/bin/{name}") for hook in hooks.values())


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.name)
def test_every_form_for_issues_can_be_read(form):
    read_form = read(form.relative_to(ROOT))
    if form.name == "config.yml":
        assert read_form["blank_issues_enabled"] is False
        return
    assert {"name", "description", "body"} <= set(read_form)
    assert {field["type"] for field in read_form["body"]} <= FIELDS
    names = [field["id"] for field in read_form["body"] if field["type"] != "markdown"]
    assert len(names) == len(set(names)) > 0


def test_every_path_of_the_code_owners_exists():
    lines = (ROOT / ".github" / "CODEOWNERS").read_text(encoding="utf-8").splitlines()
    paths = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert paths[0] == "*"
    assert all((ROOT / path.strip("/")).exists() for path in paths[1:])
