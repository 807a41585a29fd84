"""The pages of the book: their fenced blocks, the commands in them, and what a page says that it needs."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MARK = r"(?:<!-- (?:not run: (?P<reason>.+?)|file: (?P<file>\S+)) -->\n)?"
BLOCK = re.compile(rf"{MARK}^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"^Needs `pip install ([^`]+)`", re.MULTILINE)

NUMBER = re.compile(r"\b[0-9a-f]{64}\b|<?-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?: ?%)?")
FRAME = re.compile(r"[━─┏┓┗┛┡┩┳┻╇┴└┘█░]+")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        kind: The word after the fence.
        text: What stands between the fences.
        line: The line of the page on which `text` begins, counted from zero.
        reason: Why it is not run; None if it is.
        file: The name under which the reader is told to save it, if any.
    """

    kind: str
    text: str
    line: int
    reason: str | None
    file: str | None


def blocks(page: Path, kind: str | None = None) -> list[Block]:
    """The blocks on a page, in order; those of one kind."""
    text = page.read_text(encoding="utf-8")
    actual = [
        Block(m["kind"], m["text"], text.count("\n", 0, m.start("text")), m["reason"], m["file"])
        for m in BLOCK.finditer(text)
    ]
    return [block for block in actual if kind in {None, block.kind}]


def pages_with(kind: str) -> list:
    """The pages that have such a block to run, named for pytest."""
    return [
        pytest.param(page, id=str(page.relative_to(ROOT)))
        for page in PAGES
        if any(block.reason is None for block in blocks(page, kind))
    ]


def needs(page: Path) -> tuple[str, ...]:
    """Requirements that a page names below its title: the words after `pip install`."""
    actual = NEEDS.search(page.read_text(encoding="utf-8").split("\n## ", maxsplit=1)[0])
    return tuple(shlex.split(actual[1])) if actual else ()


def program(page: Path) -> str:
    """The Python blocks of a page as one program, each line where it stands on the page."""
    lines = [""] * page.read_text(encoding="utf-8").count("\n")
    for block in blocks(page, "python"):
        if block.reason is None:
            code = block.text.splitlines()
            lines[block.line : block.line + len(code)] = code
    return "\n".join(lines) + "\n"


def commands(text: str) -> list[tuple[str, str]]:
    """Each command of a console block, with what the page says that it prints."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def masked(text: str) -> list[str]:
    """The words of an output, without its numbers, its frames and the width of its columns."""
    lines = [FRAME.sub("", NUMBER.sub("#", line)) for line in text.splitlines()]
    return [" ".join(line.split()) for line in lines if line.strip()]


def prints(output: str, shown: str) -> bool:
    """True if `output` is what a page has `shown`, numbers aside; `…` alone on a line stands for any lines."""
    lines = (r"(?:.*\n)*?" if line == "…" else re.escape(line) + r"\n" for line in masked(shown))
    return re.fullmatch("".join(lines), "".join(f"{line}\n" for line in masked(output))) is not None
