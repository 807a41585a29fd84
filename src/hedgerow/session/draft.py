"""Draft of a catalog: its errors, and the changes that it would make. Nothing in it is in force.

Privacy: `check_draft` looks at the data without noise. All of this is for the owner alone.
An account of a service alone may not make a change that protects less than before: `loosened` lists such changes.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from hedgerow.calibration.calibrate import QuotedPart, quote_calibration
from hedgerow.catalog import Catalog, bind_catalog, check_catalog
from hedgerow.catalog.check import Level
from hedgerow.catalog.load import parse_catalog
from hedgerow.catalog.model import DeclaredTable
from hedgerow.catalog.strict_yaml import Source
from hedgerow.errors import CatalogError, HedgerowError, LedgerError
from hedgerow.execution.caches import AnswerCache, PlanCache, Waiters
from hedgerow.ledger import HistoryEntry
from hedgerow.schema import Schema
from hedgerow.session.connection import read_domains
from hedgerow.session.database import Database
from hedgerow.session.stored import options_of
from hedgerow.sql.parse import parse

PLACE = re.compile(r"^[^\n]*?:\d+: ")
"""File and line at the head of a message; the editor shows the message beside the line already."""

SIZE = 1000
"""Number of rows of a group whose predicted error is compared."""


@dataclass(frozen=True, slots=True)
class LineNote:
    """A finding about one line of a catalog; `start` and `end` are the characters that it is about."""

    line: int
    level: Level
    message: str
    hint: str | None = None
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """One question of the history, priced under the catalog in force and under the draft.

    Attributes:
        question: Its text.
        times: Number of times it was paid for.
        share: Its part of the budget, before and after; None where it is refused.
        error: Its largest predicted error in a group of `SIZE` rows, before and after; None where there is none.
        repeats: Number of such questions that fit, before and after.
        stored: True where a stored release answers it for free, before and after.
        refusal: The reason why the draft refuses it.
    """

    question: str
    times: int
    share: tuple[float | None, float | None]
    error: tuple[float | None, float | None]
    repeats: tuple[int | None, int | None]
    stored: tuple[bool, bool]
    refusal: str | None = None


def schema_of(database: Database) -> Schema:
    """Return the schema of the owner's database, for completion."""
    return database._session.schema  # noqa: SLF001 - of a database that is ours


def quote_parts(
    database: Database, table: str, columns: Sequence[str] | None, epsilon: float
) -> tuple[QuotedPart, ...]:
    """Return the price of each part of a calibration. Free; reads no private row."""
    return quote_calibration(database._session, table, columns, epsilon=epsilon)  # noqa: SLF001 - likewise


def parse_draft(database: Database, text: str) -> Catalog:
    """Read a draft, and compare it with the schema, the ledger and the catalog in force. Reads no row.

    Privacy: a draft that protects less than the catalog in force is refused (`require_not_loosened`).
    """
    session = database._session  # noqa: SLF001 - of a database that is ours
    declared = bind_catalog(parse_catalog(Source(_file(database), text)), session.schema)
    if declared.dataset != session.catalog.dataset:
        raise declared.problem(
            f"The ledger is that of `{session.catalog.dataset}`.",
            "dataset",
            code="ledger-dataset",
            hint=f"Write `dataset: {session.catalog.dataset}`, or begin another dataset with a ledger of its own.",
        )
    require_not_loosened(session.catalog, declared)
    try:
        session.ledger.require(declared.budget)
    except LedgerError as error:
        raise declared.problem(error.message, "budget", code=error.code, hint=error.hint or "") from None
    return declared


def diagnose_draft(database: Database, text: str) -> list[LineNote]:
    """Return what is wrong with a draft, by line; nothing if it may be saved. Reads no row."""
    try:
        parse_draft(database, text)
    except CatalogError as error:
        return [_note(error)]
    return []


def check_draft(database: Database, text: str) -> list[LineNote]:
    """Return the findings of `hedgerow check`, beside the lines that they are about. Looks at the data."""
    session = database._session  # noqa: SLF001 - likewise
    try:
        declared = parse_catalog(Source(_file(database), text))
    except CatalogError as error:
        return [_note(error)]
    findings = check_catalog(declared, session.schema, is_unique=session.backend.is_unique)
    notes = []
    for finding in findings:
        span = declared.span("tables", finding.subject) or declared.span(finding.subject)
        line, start, end = (1, 0, 0) if span is None else (span.line, span.start, span.end)
        notes.append(LineNote(line, finding.level, PLACE.sub("", finding.message), None, start, end))
    return sorted(notes, key=lambda note: note.line)


def draft_database(database: Database, text: str) -> Database:
    """Return the database as it would be under a draft, to look at prices. Its ledger admits what the draft says."""
    session, declared = database._session, parse_draft(database, text)  # noqa: SLF001 - likewise
    drafted = replace(
        session,
        catalog=read_domains(declared, session.schema, session.backend),
        ledger=session.ledger.under(declared.budget),
        waiters=Waiters(),
        multiplicities={},
        readable=set(),
        plans=PlanCache(),
        answers=AnswerCache(),
    )
    return Database(drafted, owns_ledger=False, owners_log=database.owners_log, view=True)


def compare_draft(database: Database, text: str, maximum: int = 30) -> list[QuestionChange]:
    """Price the latest different questions of the history under the catalog in force and under a draft. Free."""
    drafted = draft_database(database, text)
    history = database._session.ledger.history()  # noqa: SLF001 - likewise
    questions = distinct_questions(history, database.dialect, maximum)
    return [_compared(database, drafted, entry, times) for entry, times in questions]


def distinct_questions(
    history: Sequence[HistoryEntry], dialect: str = "duckdb", maximum: int | None = None
) -> list[tuple[HistoryEntry, int]]:
    """Return the different questions that were answered, the latest first, and how often each was paid for."""
    latest: dict[tuple[str, str], tuple[HistoryEntry, int]] = {}
    for entry in history:
        if entry.status == "answered" and entry.question:
            key = entry.question, repr(entry.params)
            latest[key] = entry, latest.pop(key, (entry, 0))[1] + 1
    return list(islice((pair for pair in reversed(latest.values()) if is_question(pair[0], dialect)), maximum))


def is_question(entry: HistoryEntry, dialect: str) -> bool:
    """Return True for one statement. A batch, a calibration and a clipping report are not asked again by their text."""
    try:
        parse(entry.question, dialect)
    except HedgerowError:
        return False
    return True


def _compared(database: Database, drafted: Database, entry: HistoryEntry, times: int) -> QuestionChange:
    defaults = database._session.catalog.defaults  # noqa: SLF001 - likewise
    asked = options_of(database, entry)
    # without those that equal the owner's defaults, which a draft may change
    options = {name: value for name, value in asked.items() if value != getattr(defaults, name, None)}
    before, after = (_facts(priced, entry, options) for priced in (database, drafted))
    both = {name: (before.get(name), after.get(name)) for name in ("share", "error", "repeats")}
    stored = bool(before.get("stored")), bool(after.get("stored"))
    return QuestionChange(entry.question, times, **both, stored=stored, refusal=after.get("refusal"))


def _facts(database: Database, entry: HistoryEntry, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the price of a question asked anew, and True under "stored" if it need not be."""
    try:
        quote = database.quote(entry.question, params=entry.params, **{**options, "reuse": False})
        stored = database.quote(entry.question, params=entry.params, **options).reused
    except HedgerowError as error:
        return {"refusal": error.message}
    errors = [by_size[SIZE] for by_size in quote.errors.values() if math.isfinite(by_size.get(SIZE, math.inf))]
    return {"share": quote.share, "error": max(errors, default=None), "repeats": quote.repeats, "stored": stored}


def _file(database: Database) -> str:
    path = database._session.catalog.path  # noqa: SLF001 - likewise
    return "catalog.yaml" if path is None else path.name


def _note(error: CatalogError) -> LineNote:
    span, message = error.span, PLACE.sub("", error.message)
    if span is None:
        return LineNote(1, "error", message, error.hint)
    return LineNote(span.line, "error", message, error.hint, span.start, span.end)


REMEDY = "Change the file on the server, where more than an account is needed to do so."


def require_not_loosened(old: Catalog, new: Catalog) -> None:
    """Refuse a catalog that protects less than the one in force.

    Privacy: whoever has stolen an owner's session could otherwise declare a private table public and read its rows.
    Bounds, limits of one person and defaults change accuracy and price, never what is promised; the ledger limits
    epsilon and delta.
    """
    for message, path in loosened(old, new):
        raise new.problem(message, *path, code="catalog-loosened", hint=REMEDY)


def loosened(old: Catalog, new: Catalog) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what a new catalog protects less than an old one, each with the path of the entry that says so."""
    if new.defaults.min_frequency < old.defaults.min_frequency:
        yield "Groups of fewer people than before would be shown.", ("defaults", "min_frequency")
    for table in new.tables.values():
        before, place = old.table(table.name), ("tables", table.name)
        if before is None:
            yield f"Table `{table.name}` could not be asked about before.", place
        elif table.public and not before.public:
            yield f"The rows of `{table.name}` would be shown without noise: it is private now.", (*place, "public")
        elif not table.public and not before.public and table.unit != before.unit:
            yield f"The rows of `{table.name}` would protect somebody else than now.", (*place, "unit")
        else:
            yield from _shown(before, table)


def _shown(before: DeclaredTable, after: DeclaredTable) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the columns of a table that are hidden before and not afterwards."""
    place = ("tables", after.name)
    if before.undeclared_hidden and not after.undeclared_hidden:
        yield f"Columns of `{after.name}` that are hidden now could be asked about.", place
    for name in {**before.columns, **after.columns}:
        was, becomes = before.column(name), after.column(name)
        hidden = before.undeclared_hidden if was is None else was.hidden
        if hidden and not (after.undeclared_hidden if becomes is None else becomes.hidden):
            yield f"Column `{name}` of `{after.name}` is hidden now.", (*place, "columns", name)
