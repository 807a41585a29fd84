"""The example at the end of each --help runs as it stands."""

import re
import shlex

import duckdb
import pytest
import typer

from hedgerow.cli import app


def leaves(command, words=()):
    """The commands that do something, each by the words that name it."""
    for name, subcommand in getattr(command, "commands", {}).items():
        yield from leaves(subcommand, (*words, name))
    if not hasattr(command, "commands"):
        yield words, command


COMMANDS = dict(leaves(typer.main.get_command(app)))


def example(command):
    """The words after `Example:`."""
    return shlex.split(re.search(r"Example: (hedgerow .*)\Z", command.help.strip(), re.DOTALL)[1])


REPORT = "-- name: wards\nSELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward;\n"
BEFORE = {
    ("publish",): [("key", "new", "demo/hospital.key")],
    ("key", "show"): [("key", "new", "hospital.key")],
    ("verify",): [("key", "new", "hospital.key"), ("publish", "report.sql", "-o", "release", "--key", "hospital.key")],
}
"""Commands that a reader ran before the example, in the demo's project."""

ACCOUNT = [("analyst", "add", "ann")]
BEFORE |= {("analyst", name): ACCOUNT for name in ("rotate", "remove", "cap")}
AFTER = {("serve",): ["--check"]}
"""Words that end a command that would otherwise serve until it is stopped; `test_console` serves."""

REFUSED = {("requests", name): "no-such-request" for name in ("grant", "deny")}
"""Commands about a request that nobody made."""


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_example_of_a_command_runs(installed, words):
    run = installed(*(["hedgerow[serve]"] if words == ("serve",) else []))
    (run.folder / "report.sql").write_text(REPORT, encoding="utf-8")
    (run.folder / "year.toml").write_text(
        '[[report]]\nfile = "report.sql"\ntimes = 12\nepsilon = 0.2\n', encoding="utf-8"
    )
    folder = run.folder / "demo" if words[0] in {"analyst", "requests"} else run.folder  # in the service's own folder
    for earlier in BEFORE.get(words, []):
        where = ["--db", "demo/hospital.duckdb", "--catalog", "demo/hospital.yaml"] if earlier[0] == "publish" else []
        done = run("hedgerow", *earlier, *where, folder=folder)
        assert done.returncode == 0, done.stderr
    said = [*example(COMMANDS[words]), *AFTER.get(words, [])]
    assert tuple(said[1 : len(words) + 1]) == words
    if words == ("demo",):  # it begins in an empty folder
        folder = run.folder / "empty"
        folder.mkdir()
    if words == ("init",):  # it begins with a database of one's own
        with duckdb.connect(str(folder / said[2])) as shop:
            shop.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, price DECIMAL(8, 2))")
    done = run(*said, folder=folder)
    if words in REFUSED:
        assert REFUSED[words] in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert done.stdout or done.stderr
