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
      ServiceError           a service says no, before anything is asked of a database
        AccessError          to whoever asks
        BusyError            to too many statements
        ApprovalError        until an owner has approved

Messages quote the query and the catalog, never rows: no value, count, size or database message may enter an error.
"""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb, format_exception
from typing import Any, ClassVar

from hedgerow.markup import CODE, RED, element, panel, paragraph

UNSURE = "ledger-io"
"""The code of an error that leaves open whether a charge was written."""

BOX_WIDTH = 72
"""Number of characters of a line in the box that a notebook shows."""

FRAME_COLOUR, BOLD, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"
"""Control sequences of a terminal, which notebooks read, too."""

AROUND = 60
"""Number of characters of a long line that are shown on either side of the error."""


@dataclass(frozen=True, slots=True)
class Span:
    """Position in a text: characters `start` up to `end`, and the line (from 1) of `start`."""

    start: int
    end: int
    line: int = 1


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a text: `text` in place of characters `start` up to `end`."""

    start: int
    end: int
    text: str


Remedy = Callable[[str], tuple[Edit, ...] | None]
"""A function that returns the edits of a text that remedy a refusal; None where it finds no place for them."""


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with changes.

    Example:
        >>> edited("SELECT *", [Edit(7, 8, "COUNT(*)")])
        'SELECT COUNT(*)'
    """
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


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
        remedy: Function that returns the edits of the query that the hint asks for.

    `text` is the text that `span` points into, if it is known; the error then shows the line, with carets below it.
    `receipt` is that of the charge, if there was one, and None if the question cost nothing; `repeatable` says that the
    charge covers the same question if it is repeated. `rewrite` holds the edits of the query that the hint asks for,
    where they are known.
    """

    code: str = "error"
    exit_code: ClassVar[int] = 3
    text: str | None = None
    receipt: Any = None
    repeatable: bool = False
    rewrite: tuple[Edit, ...] | None = None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        span: Span | None = None,
        remedy: Remedy | None = None,
    ) -> None:
        super().__init__(message)
        self.remedy = remedy
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

    @property
    def heading(self) -> str:
        """Return "refused" or "error", with the code."""
        return f"{'refused' if self.exit_code == 1 else 'error'} [{self.code}]"

    def _render_traceback_(self) -> list[str]:
        """Return the box that IPython shows in place of a traceback: message, line of the query, hint and cost."""
        hint = None if self.hint is None else f"hint: {self.hint}"
        sentences = [sentence for sentence in (hint, self.cost, _calling_line(self)) if sentence]
        lines = textwrap.wrap(self.message, BOX_WIDTH)
        if self.text is not None and self.span is not None:
            lines += ["", *excerpt(self.text, self.span).splitlines(), *([""] if sentences else [])]
        for sentence in sentences:
            lines += textwrap.wrap(sentence, BOX_WIDTH)
        return _box(self.heading, lines)

    def _repr_html_(self) -> str:
        parts = [element("p", self.message, style="margin:.3em 0")]
        if self.text is not None and self.span is not None:
            parts.append(element("pre", excerpt(self.text, self.span), style=CODE))
        parts += [paragraph(said) for said in (self.hint, self.cost) if said]
        return panel(self.heading, *parts, colour=RED)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of the command line."""
        span = None if self.span is None else {"start": self.span.start, "end": self.span.end, "line": self.span.line}
        return {
            "type": type(self).__name__,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "span": span,
            "rewrite": None if self.rewrite is None else [[edit.start, edit.end, edit.text] for edit in self.rewrite],
            "charged": None if self.receipt is None and self.code == UNSURE else self.receipt is not None,
            "receipt": getattr(self.receipt, "id", None),
            "repeatable": self.repeatable,
        }


FACTS = ("asked", "left", "condition", "incident", "request_id")
"""Attributes of some errors that are for programs."""


@dataclass(frozen=True, slots=True)
class ChargeNumber:
    """The receipt of a charge of which only the number is known: that of an error that a service reported."""

    id: str


def dump_error(error: "HedgerowError") -> dict[str, Any]:
    """Return an error as plain JSON, from which `load_error` makes an equal one."""
    facts = {name: getattr(error, name) for name in FACTS if hasattr(error, name)}
    return {**error.to_dict(), "points": error.text is not None, "facts": facts}


def load_error(document: Mapping[str, Any], text: str | None = None) -> "HedgerowError":
    """Return the error that `dump_error` wrote, about the statement `text`. An unknown class is the root of all."""
    kind = _classes().get(str(document.get("type")), HedgerowError)
    error = kind.__new__(kind)
    span = document.get("span")
    where = None if span is None else Span(span["start"], span["end"], span["line"])
    HedgerowError.__init__(error, document["message"], code=document["code"], hint=document.get("hint"), span=where)
    error.text = text if document.get("points") else None
    error.receipt = None if document.get("receipt") is None else ChargeNumber(document["receipt"])
    error.repeatable = bool(document.get("repeatable"))
    rewrite = document.get("rewrite")
    error.rewrite = None if rewrite is None else tuple(Edit(*edit) for edit in rewrite)
    facts = document.get("facts", {})
    for name in FACTS:
        if name in facts:
            setattr(error, name, facts[name])
    return error


def _classes() -> dict[str, type["HedgerowError"]]:
    """Return all classes of errors by name."""
    known, rest = {"HedgerowError": HedgerowError}, [HedgerowError]
    while rest:
        for kind in rest.pop().__subclasses__():
            known[kind.__name__] = kind
            rest.append(kind)
    return known


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


def _calling_line(error: BaseException) -> str | None:
    """Return the innermost line of the user's own code that led to an error; None if there is none."""
    package = str(Path(__file__).parent)
    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if package not in frame.filename and "site-packages" not in frame.filename]
    if not own or not own[-1].line or own[-1].line.startswith("get_ipython()."):
        return None  # the cell of a magic is the statement itself
    name = Path(own[-1].filename)
    where = "cell" if "ipykernel" in str(name) or name.name.startswith("<") else name.name
    return f"{where}, line {own[-1].lineno}: {own[-1].line}"


def _box(heading: str, lines: Iterable[str]) -> list[str]:
    """Return lines in a red frame that is open to the right, where no width has to be known."""
    rule = "─" * max(BOX_WIDTH - len(heading) - 3, 0)
    top = f"{FRAME_COLOUR}╭─{PLAIN} {BOLD}{heading}{PLAIN} {FRAME_COLOUR}{rule}{PLAIN}"
    bottom = f"{FRAME_COLOUR}╰{'─' * BOX_WIDTH}{PLAIN}"
    return [top, *(f"{FRAME_COLOUR}│{PLAIN} {line}" for line in lines), bottom]


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
        if error.remedy is not None and error.text is not None:
            error.rewrite = error.remedy(error.text)
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

    def _render_traceback_(self) -> list[str]:
        """Return the traceback, which a report of the bug needs. It shows code, never values."""
        return format_exception(self)


class ServiceError(HedgerowError):
    """The service itself says no: nothing was asked of the database, and nothing was charged."""

    exit_code = 1


class AccessError(ServiceError):
    """Nobody with this name, password or token may do this here."""

    code = "not-allowed"


class BusyError(ServiceError):
    """Too many statements at once, of all or of one analyst. Asking again later helps."""

    code = "too-busy"


class ApprovalError(ServiceError):
    """The question needs an owner's approval first. `request_id` names the request that waits for it."""

    code = "approval-needed"

    def __init__(self, message: str, *, request_id: str, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, code=code, hint=hint)
        self.request_id = request_id
