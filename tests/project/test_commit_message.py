"""Commit messages are `area: imperative sentence`, and the hook says what else to write."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_commit_message.py"
problems = runpy.run_path(str(SCRIPT))["problems"]


@pytest.mark.parametrize(
    "message",
    [
        "ledger: keep the books readable after a rank release",
        "docs: add a glossary\n\nOne sentence for each word.\n# a comment of git",
        "plan: embed the key in the join",
        "plan: pass the limits on",
        "tests: draw fewer",
        "Merge branch 'main'",
        'Revert "ledger: keep the books"',
        "fixup! ledger: keep the books",
    ],
)
def test_good_messages_pass(message):
    assert problems(message) == []


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("", "Write `area: imperative sentence`"),
        ("Only what there is", "Write `area: imperative sentence`"),
        ("ledger:", "Write `area: imperative sentence`"),
        ("attic: keep the books", "`attic` is not an area"),
        ("ledger: Keep the books", "lower case: `keep`"),
        ("ledger: keeps the books", "not with `keeps`"),
        ("ledger: mended the books", "not with `mended`"),
        ("ledger: mending the books", "not with `mending`"),
        ("ledger: tidy", "Say what was changed"),
        ("ledger: keep the books.", "full stop"),
        ("ledger: keep the books\nand more", "second line"),
        (f"ledger: keep {'the books ' * 12}", "within 100 characters"),
    ],
)
def test_other_messages_are_told_what_to_write(message, said):
    (problem,) = problems(message)
    assert said in problem


@pytest.mark.parametrize(("message", "code"), [("docs: add a glossary\n", 0), ("Tidy\n", 1)])
def test_the_hook_reads_the_file_that_git_hands_to_it(tmp_path, message, code):
    (tmp_path / "message").write_text(message, encoding="utf-8")
    command = [sys.executable, str(SCRIPT), str(tmp_path / "message")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own script
    assert done.returncode == code
    assert bool(done.stderr) == bool(code)
