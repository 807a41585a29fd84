"""Words of SQL as PostgreSQL splits a text into them: enough to cut statements apart and to read short commands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hedgerow.service.wire.messages import StatementError

TOKEN = re.compile(
    r"""
      (?P<blank>\s+|--[^\r\n]*)
    | (?P<comment>/\*)
    | (?P<string>[eE]'(?:[^'\\]|\\.|'')*' | (?:[nNbBxX]|[uU]&)?'(?:[^']|'')*')
    | (?P<dollar>\$(?:[^\W\d]\w*)?\$)
    | (?P<quoted>(?:[uU]&)?"(?:[^"]|"")*")
    | (?P<word>[^\W\d][\w$]*)
    | (?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<other>\$\d+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
COMMENT_EDGE = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Token:
    """One word: its kind ("word", "quoted", "string", "number" or "other"), its text and its position."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Position behind the word."""
        return self.start + len(self.text)

    @property
    def upper(self) -> str:
        """A keyword in capitals; anything else as it is, so that a quoted name is never taken for a keyword."""
        return self.text.upper() if self.kind == "word" else self.text

    @property
    def value(self) -> str:
        """The name or the text that is meant: without quotes, and a bare name in small letters."""
        if self.kind == "quoted":
            return self.text[1:-1].replace('""', '"')
        if self.kind == "string":
            return self.text[self.text.index("'") + 1 : -1].replace("''", "'")
        return self.text.lower() if self.kind == "word" else self.text


def tokens(text: str) -> list[Token]:
    """Return the words of a text, without blanks and comments."""
    return list(_scan(text))


def _scan(text: str) -> Iterator[Token]:
    index = 0
    while index < len(text):
        match = TOKEN.match(text, index)
        if match is None:  # pragma: no cover - the last branch of the pattern takes any character
            raise StatementError("the statement cannot be read", "42601")
        start, index, kind = index, match.end(), str(match.lastgroup)
        if kind == "comment":
            index = _comment_end(text, index)
        elif kind == "dollar":
            close = text.find(match[0], index)
            if close < 0:
                raise StatementError("unterminated dollar-quoted string", "42601")
            index = close + len(match[0])
            yield Token("dollar", text[start:index], start)
        elif kind != "blank":
            if match[0] in {"'", '"'}:
                raise StatementError("unterminated quoted string or identifier", "42601")
            yield Token(kind, match[0], start)


def _comment_end(text: str, index: int) -> int:
    """Return the position behind a comment whose inside begins at `index`; comments can be nested."""
    depth = 1
    while depth:
        edge = COMMENT_EDGE.search(text, index)
        if edge is None:
            raise StatementError("unterminated /* comment", "42601")
        depth += 1 if edge[0] == "/*" else -1
        index = edge.end()
    return index


def split(text: str) -> list[tuple[int, str]]:
    """Return the statements of a text with their positions; empty ones are left out.

    Example:
        >>> split("SELECT 1; ; SELECT ';' -- done")
        [(0, 'SELECT 1'), (12, "SELECT ';' -- done")]
    """
    pieces: list[tuple[int, str]] = []
    first: int | None = None
    last = 0
    for token in _scan(text):
        if token.text == ";":
            if first is not None:
                pieces.append((first, text[first : token.start]))
            first = None
        elif first is None:
            first = token.start
        last = token.end
    if first is not None:
        pieces.append((first, text[first : max(last, len(text))]))
    return pieces
