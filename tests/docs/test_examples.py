"""Every example in the book runs, and prints what the book says, numbers aside."""

import doctest
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from hedgerow.cli import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MARK = r"(?:<!-- not run: (?P<reason>.+?) -->\n)?"
BLOCK = re.compile(rf"{MARK}^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)

NUMBER = re.compile(r"<?-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?: ?%)?")
FRAME = re.compile(r"[━─┏┓┗┛┡┩┳┻╇┴└┘█░]+")


@dataclass(frozen=True)
class Block:
    """A fenced block; `reason` says why it is not run."""

    text: str
    reason: str | None


def blocks(page: Path, kind: str) -> list[Block]:
    """The blocks of one kind on a page, in order."""
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(m["text"], m["reason"]) for m in found if m["kind"] == kind]


def pages_with(kind: str) -> list:
    """The pages that have such a block, named for pytest."""
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES if blocks(page, kind)]


def masked(text: str) -> list[str]:
    """The words of an output, without its numbers, its frames and the width of its columns."""
    lines = [FRAME.sub("", NUMBER.sub("#", line)) for line in text.splitlines()]
    return [" ".join(line.split()) for line in lines if line.strip()]


def commands(text: str) -> list[tuple[str, str]]:
    """Each command of a console block, with what the page says that it prints."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("page", pages_with("python"))
def test_every_python_block_runs(after_demo, page):
    names = {}
    for block in blocks(page, "python"):
        if block.reason is None:
            exec(compile(block.text, page.name, "exec"), names)  # noqa: S102 - running the book is the point


@pytest.mark.parametrize("page", pages_with("pycon"))
def test_every_session_prints_what_the_page_says(after_demo, page):
    session = "\n".join(block.text for block in blocks(page, "pycon"))
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    said = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert result.attempted > 10
    assert result.failed == 0, "".join(said)


@pytest.mark.parametrize("page", pages_with("console"))
def test_every_command_prints_what_the_page_says(after_demo, capsys, page):
    for block in blocks(page, "console"):
        for command, shown in commands(block.text) if block.reason is None else []:
            program, *words = shlex.split(command, comments=True)
            if program == "make":
                continue
            assert program.removeprefix(".venv/bin/") == "hedgerow"
            app(words, standalone_mode=False)
            printed = capsys.readouterr()
            assert masked(printed.out + printed.err) == masked(shown), command


@pytest.mark.parametrize("page", pages_with("console"))
def test_a_make_target_that_a_page_names_exists(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    asked = {w for block in blocks(page, "console") for w in re.findall(r"^\$ make (\w+)", block.text, re.MULTILINE)}
    assert asked <= targets


def test_masking_keeps_words_and_hides_numbers():
    assert masked("│ north │ 1,234 ± 5.6 │\n┗━━┛\n") == masked("│ north   │  99 ± 1 │\n")
    assert masked("│ north │ 1 ± 5 │") != masked("│ south │ 1 ± 5 │")
    assert masked("│ north │ 1 ± 5 │") != masked("│ north │ held back │")
