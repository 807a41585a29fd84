"""All errors, by who can act on them.

    HedgerowError
      QueryError             the analyst can fix it by changing the query
        ParseError
        UnsupportedSQLError
        UnknownNameError
        ParameterError       an epsilon, bound or confidence that is not possible
        PolicyError          one that is looser than the owner allows
      CatalogError           the owner can fix it by changing the catalog
      BudgetError            the remaining budget does not cover this query
      ConditionNotMet        a formula was asked for outside its precondition
      LedgerError            the ledger could not be read or written; no data was read
      BackendError           the database failed; its own message is withheld
      InternalError          a module broke its contract; always our bug

Messages quote the query and the catalog, never rows: no value, count, size or database message may enter an error.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

UNSURE = "ledger-io"
"""The code of an error that leaves open whether a charge was written."""

AROUND = 60
"""Number of characters of a long line that are shown on either side of the error."""


@dataclass(frozen=True, slots=True)
class Span:
    """Position in a text: characters `start` up to `end`, and the line (from 1) of `start`."""

    start: int
    end: int
    line: int = 1


def excerpt(text: str, span: Span, width: Callable[[str], int] = len) -> str:
    r"""Return the line in which `span` begins, numbered, and a caret under each of its characters.

    `width` returns the display width of characters.

    Example:
        >>> print(excerpt("SELECT *\nFROM nowhere", Span(14, 21, 2)))
          2 | FROM nowhere
            |      ^^^^^^^
    """
    start = min(max(span.start, 0), len(text))
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", first)
    line = text[first : last if last >= 0 else len(text)]
    column = start - first
    end = max(column + 1, min(span.end - first, len(line)))
    cut = max(0, column - AROUND)
    # tabs and control characters would move the caret, or the terminal
    shown = "".join(letter if letter.isprintable() else " " for letter in line[cut : end + AROUND])
    if cut:
        shown = f"…{shown[1:]}"
    number = str(text.count("\n", 0, first) + 1)
    indent = width(shown[: column - cut])
    carets = max(1, width(shown[column - cut : end - cut]))
    return f"  {number} | {shown.rstrip()}\n  {' ' * len(number)} | {' ' * indent}{'^' * carets}"


class HedgerowError(Exception):
    """The root of all errors that hedgerow raises.

    Args:
        message: The problem and why it matters.
        code: Stable code of this error; the anchor of its page in the documentation.
        hint: What to write instead.
        span: Position in the query or the catalog.

    `text` is the text that `span` points into, if it is known; the error then shows the line, with carets below it.
    `receipt` is that of the charge, if there was one, and None if the question cost nothing; `repeatable` says that the
    charge covers the same question if it is repeated.
    """

    code: str = "error"
    exit_code: ClassVar[int] = 3
    text: str | None = None
    receipt: Any = None
    repeatable: bool = False

    def __init__(
        self, message: str, *, code: str | None = None, hint: str | None = None, span: Span | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.hint = hint
        self.span = span

    def __str__(self) -> str:
        said = " ".join(part for part in (self.message, self.hint, self.cost) if part)
        return said if self.text is None or self.span is None else f"{said}\n{excerpt(self.text, self.span)}"

    @property
    def cost(self) -> str | None:
        """Return a sentence that says whether the question cost anything; None where that is obvious."""
        return None if self.receipt is None else charged(self)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of the command line."""
        span = None if self.span is None else {"start": self.span.start, "end": self.span.end, "line": self.span.line}
        return {
            "type": type(self).__name__,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "span": span,
            "charged": None if self.receipt is None and self.code == UNSURE else self.receipt is not None,
            "receipt": getattr(self.receipt, "id", None),
            "repeatable": self.repeatable,
        }


def charged(error: BaseException) -> str | None:
    """Return the sentence about the charge of an exception; None if it has none."""
    receipt = getattr(error, "receipt", None)
    if receipt is None:
        return None
    said = f"The question had been charged (receipt {getattr(receipt, 'id', '')}), and stays charged."
    if getattr(error, "repeatable", False):
        return f"{said} Nothing of it was released: asked again, it is covered by that charge."
    return said


@contextmanager
def carrying(receipt: object, *, repeatable: bool = False) -> Iterator[None]:
    """Attach the receipt of an earlier charge to every exception raised inside that has none of its own."""
    try:
        yield
    except BaseException as error:
        if getattr(error, "receipt", None) is None:
            error.receipt, error.repeatable = receipt, repeatable  # type: ignore[attr-defined]
        raise


class QueryError(HedgerowError):
    """The analyst can fix it by changing the query."""

    code = "query"
    exit_code = 1


@contextmanager
def pointing_into(text: object) -> Iterator[None]:
    """Attach the query to every refusal with a position that is raised inside, so that it is shown."""
    try:
        yield
    except QueryError as error:
        error.text = text if isinstance(text, str) else None
        raise


class ParseError(QueryError):
    """The text is not SQL that we can read."""

    code = "parse"
    exit_code = 2


class UnsupportedSQLError(QueryError):
    """The text is SQL, but cannot be answered privately."""

    code = "unsupported"


class UnknownNameError(QueryError):
    """A table or column that the catalog does not declare does not exist."""

    code = "unknown-name"
    exit_code = 2


class ParameterError(QueryError):
    """An epsilon, delta, bound or confidence that is not possible."""

    code = "parameter"
    exit_code = 2


class PolicyError(QueryError):
    """A parameter that is looser than the owner allows."""

    code = "policy"


class CatalogError(HedgerowError):
    """The owner can fix it by changing the catalog."""

    code = "catalog"
    exit_code = 2


class BudgetError(HedgerowError):
    """The remaining budget does not cover this query.

    `asked` and `left` are small mappings of plain numbers, for programs; the message says the same in words.
    `receipt` is there when a size estimate or bounds had been bought for the query.
    """

    code = "budget"
    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        asked: dict[str, float] | None = None,
        left: dict[str, float] | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.asked = asked or {}
        self.left = left or {}


class ConditionNotMet(HedgerowError):  # noqa: N818 - the name is part of the public contract
    """A formula was used outside its precondition; `condition` names it."""

    code = "condition"
    exit_code = 2

    def __init__(self, message: str, *, condition: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.condition = condition


class LedgerError(HedgerowError):
    """The ledger could not be read or written; no data was read."""

    code = "ledger"


class BackendError(HedgerowError):
    """The database failed. Its own message is withheld: it can quote private values.

    `incident` is the number of the cause in the owner's log; `receipt` is set if the query was charged.
    """

    code = "backend"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        incident: str | None = None,
        receipt: object | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.incident = incident
        self.receipt = receipt

    @property
    def cost(self) -> str | None:
        """Return a sentence that says whether the failed question was charged."""
        return charged(self) or "Nothing was charged."


class InternalError(HedgerowError):
    """A module broke its contract; always our bug."""

    code = "internal"
