"""The example at the end of each --help runs as it stands."""

import re
import shlex

import duckdb
import pytest
import typer

from hedgerow.cli import app


def leaves(command, words=()):
    """The commands that do something, each by the words that name it."""
    for name, each in getattr(command, "commands", {}).items():
        yield from leaves(each, (*words, name))
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


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_example_of_a_command_runs(installed, words):
    run = installed()
    (run.folder / "report.sql").write_text(REPORT, encoding="utf-8")
    for earlier in BEFORE.get(words, []):
        where = ["--db", "demo/hospital.duckdb", "--catalog", "demo/hospital.yaml"] if earlier[0] == "publish" else []
        done = run("hedgerow", *earlier, *where)
        assert done.returncode == 0, done.stderr
    said = example(COMMANDS[words])
    assert tuple(said[1 : len(words) + 1]) == words
    folder = run.folder
    if words == ("demo",):  # it begins in an empty folder
        folder = run.folder / "empty"
        folder.mkdir()
    if words == ("init",):  # it begins with a database of one's own
        with duckdb.connect(str(folder / said[2])) as shop:
            shop.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, price DECIMAL(8, 2))")
    done = run(*said, folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout
