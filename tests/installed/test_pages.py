"""Every example in the book runs where hedgerow was just installed, and prints what the book says, numbers aside."""

import re
import shlex
from contextlib import ExitStack

import pytest

from .pages import PAGES, ROOT, blocks, commands, masked, needs, pages_with, prints, program
from .preparations import prepared

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.fixture
def reader(installed):
    """Somebody who follows a page: `reader(page)` has what it needs, and the files that it tells to save."""
    with ExitStack() as opened:

        def follow(page):
            run = installed(*needs(page))
            for block in blocks(page):
                if block.file is not None:
                    (run.folder / block.file).write_text(block.text, encoding="utf-8")
            return run, opened.enter_context(prepared(page, run.folder))

        yield follow


@pytest.mark.parametrize("page", pages_with("python"))
def test_every_python_block_runs(reader, page):
    run, addresses = reader(page)
    text = program(page)
    for shown, real in addresses.items():
        assert shown in text
        text = text.replace(shown, real)
    (run.folder / "page.py").write_text(text, encoding="utf-8")
    done = run("python", "-W", "error", "page.py")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", pages_with("pycon"))
def test_every_session_prints_what_the_page_says(reader, page):
    run, _ = reader(page)
    done = run("python", "-W", "error", "-m", "doctest", str(page))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", pages_with("console"))
def test_every_command_prints_what_the_page_says(reader, page):
    run, _ = reader(page)
    examples = [pair for block in blocks(page, "console") if block.reason is None for pair in commands(block.text)]
    for command, shown in examples:
        name, *words = shlex.split(command, comments=True)
        if name == "make":  # `make demo` was run; what the others do is tested by whoever reads this
            assert set(words) <= TARGETS
            continue
        done = run(name.removeprefix(".venv/bin/"), *words)
        said = done.stdout + done.stderr
        assert prints(said, shown or "…"), f"$ {command}\n{said}"
        assert (done.returncode != 0) == shown.startswith(("refused [", "error [")), said


@pytest.mark.parametrize("page", [page for page in PAGES if needs(page)], ids=lambda page: page.name)
def test_a_page_needs_what_it_says_that_it_needs(page):
    """A need that is stated in other words than the runner reads would be tested in the wrong environment."""
    listed = page.read_text(encoding="utf-8").splitlines()
    (first,) = [line for line in listed if line.startswith("Needs `pip install")]
    assert first == listed[2]


def test_masking_keeps_words_and_hides_numbers():
    assert masked("│ north │ 1,234 ± 5.6 │\n┗━━┛\n") == masked("│ north   │  99 ± 1 │\n")
    assert masked("│ north │ 1 ± 5 │") != masked("│ south │ 1 ± 5 │")
    assert masked("│ north │ 1 ± 5 │") != masked("│ north │ held back │")


def test_three_dots_stand_for_lines_and_for_nothing_else():
    assert prints("a 1\nb\nc\n", "a 2\n…\n")
    assert prints("a 1\nb\nc\n", "…\nc\n")
    assert prints("a\n", "a\n…\n")
    assert not prints("a 1\nb\nc\n", "a 2\n")
    assert not prints("a 1\nb\nc\n", "…\nb\n")
    assert not prints("a b\n", "a …\n")
