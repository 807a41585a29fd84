"""Words of a statement by the lexical rules of PostgreSQL, with `standard_conforming_strings` on."""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from hedgerow.errors import ParseError, Span

MAXIMUM_NAME: Final = 63
"""Number of bytes of a name in PostgreSQL; the rest is cut off."""

GAP: Final = r"(?:[ \t\f\v]|--[^\n\r]*+)*+[\n\r](?:[ \t\n\r\f\v]|--[^\n\r]*+[\n\r])*+"
"""Space between two parts of one string: a line break, with blanks or comments around it."""

TOKENS: Final = re.compile(
    rf"""
      (?P<blank>  [ \t\n\r\f\v]++ | --[^\n\r]*+ )
    | (?P<comment> /\* )
    | (?P<text>
          [eE]'(?:[^'\\]|''|\\.)*+'(?:{GAP}'(?:[^'\\]|''|\\.)*+')*+
        | (?:[bBxXnN]|[uU]&)?'(?:[^']|'')*+'(?:{GAP}'(?:[^']|'')*+')*+ )
    | (?P<escaped> [uU]&"(?:[^"]|"")*+" )
    | (?P<quoted>  "(?:[^"]|"")*+" )
    | (?P<dollar>  \$(?:[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*+)?\$ )
    | (?P<name>    [A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*+ )
    | (?P<number>  (?:\d[\d_]*+(?:\.[\d_]*+)?|\.\d[\d_]*+)(?:[eE][+-]?\d++)? )
    | (?P<parameter> \$\d++ )
    | (?P<sign>    . )
    """,
    re.VERBOSE | re.DOTALL,
)
COMMENT_EDGES: Final = re.compile(r"/\*|\*/")


class WordKind(Enum):
    """Kinds of words."""

    NAME = "name"
    QUOTED = "quoted"
    ESCAPED = "escaped"
    TEXT = "text"
    NUMBER = "number"
    PARAMETER = "parameter"
    SIGN = "sign"


KINDS: Final = {kind.value: kind for kind in WordKind}


class Word(NamedTuple):
    """A word of a statement: `text` as it is written, from `start` to `end`.

    `value` is a name as PostgreSQL reads it (in small letters unless quoted, without quotes), and otherwise `text`.
    """

    kind: WordKind
    text: str
    start: int
    end: int
    value: str

    @property
    def keyword(self) -> str:
        """The word in capitals if it can be a keyword; empty if not."""
        return self.text.upper() if self.kind is WordKind.NAME else ""


def fold_name(name: str) -> str:
    """Return the form in which all spellings of a name agree: small letters, no more than PostgreSQL keeps."""
    return cut_name(name.lower())


def cut_name(name: str) -> str:
    """Return as much of a name as PostgreSQL keeps."""
    return name.encode()[:MAXIMUM_NAME].decode(errors="ignore")


def read_words(text: str) -> list[Word]:
    """Return the words of `text`, without blanks and comments; an open quote or comment is refused."""
    words: list[Word] = []
    index = 0
    while index < len(text):
        match = TOKENS.match(text, index)
        if match is None or match.lastgroup is None:  # pragma: no cover - the last group takes any character
            raise ParseError("The text cannot be read as SQL.", code="syntax")
        start, index, group = index, match.end(), match.lastgroup
        if group == "blank":
            continue
        if group == "comment":
            index = _end_of_comment(text, start)
        elif group == "dollar":
            index = text.find(match[0], index) + len(match[0])
            if index < start + 2 * len(match[0]):
                raise _unclosed(text, start)
            words.append(Word(WordKind.TEXT, text[start:index], start, index, text[start:index]))
        else:
            words.append(_word(text, KINDS[group], start, index))
    return words


def _word(text: str, kind: WordKind, start: int, end: int) -> Word:
    written = value = text[start:end]
    if kind is WordKind.NAME:
        value = "".join(letter.lower() if letter.isascii() else letter for letter in written)
    elif kind is WordKind.QUOTED:
        value = written[1:-1].replace('""', '"')
    elif kind is WordKind.SIGN and written in {"'", '"'}:
        raise _unclosed(text, start)
    return Word(kind, written, start, end, value)


def _end_of_comment(text: str, start: int) -> int:
    depth, index = 0, start
    while True:
        edge = COMMENT_EDGES.search(text, index)
        if edge is None:
            raise _unclosed(text, start)
        depth += 1 if edge[0] == "/*" else -1
        index = edge.end()
        if depth == 0:
            return index


def _unclosed(text: str, start: int) -> ParseError:
    span = Span(start, start + 1, text.count("\n", 0, start) + 1)
    error = ParseError(
        "The text ends inside a quote or comment.", code="syntax", hint="Close what begins here.", span=span
    )
    error.text = text
    return error


def split_statements(words: Sequence[Word]) -> list[list[Word]]:
    """Return the words of each statement, cut at semicolons; statements without words are left out."""
    statements: list[list[Word]] = [[]]
    for word in words:
        if word.kind is WordKind.SIGN and word.text == ";":
            statements.append([])
        else:
            statements[-1].append(word)
    return [statement for statement in statements if statement]
