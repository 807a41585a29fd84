"""The line of a text that an error points at, with a caret under the place."""

from rich.cells import cell_len

from hedgerow import errors
from hedgerow.errors import Span


def excerpt(text: str, span: Span) -> str:
    r"""The line in which `span` begins, numbered, and carets below it, as wide as a terminal shows its characters.

    Example:
        >>> print(excerpt("SELECT *\nFROM nowhere", Span(14, 21, 2)))
          2 | FROM nowhere
            |      ^^^^^^^
    """
    return errors.excerpt(text, span, cell_len)
