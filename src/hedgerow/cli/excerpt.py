"""The line of a text that an error points at, with a caret under the place."""

from rich.cells import cell_len

from hedgerow.errors import Span

AROUND = 60
"""How much of a long line is shown on either side."""


def excerpt(text: str, span: Span) -> str:
    r"""The line in which `span` begins, numbered, and a caret under each of its characters.

    Example:
        >>> print(excerpt("SELECT *\nFROM nowhere", Span(14, 21, 2)))
          2 | FROM nowhere
            |      ^^^^^^^
    """
    start = min(max(span.start, 0), len(text))
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", first)
    line = text[first : last if last >= 0 else len(text)]
    place = start - first
    end = max(place + 1, min(span.end - first, len(line)))
    cut = max(0, place - AROUND)
    shown = _printable(line[cut : end + AROUND])
    if cut:
        shown = f"…{shown[1:]}"
    number = str(text.count("\n", 0, first) + 1)
    indent = cell_len(shown[: place - cut])
    carets = max(1, cell_len(shown[place - cut : end - cut]))
    return f"  {number} | {shown.rstrip()}\n  {' ' * len(number)} | {' ' * indent}{'^' * carets}"


def _printable(text: str) -> str:
    """Without tabs and control characters: they would move the caret, or the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
