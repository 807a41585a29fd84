"""Facts about rows that the owner computes before anybody asks, kept in a file beside the data.

Privacy: for the owner. It reads rows without a charge and releases nothing: neither what is returned nor whether it
fails depends on a value. What is stored has names of people and counts, like the data beside it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.backends.facts import SETTLED_NS, is_settled
from hedgerow.compiled import BLOCKS, CODES, HEAVY, PEOPLE, Shortcut
from hedgerow.dialects import DUCKDB
from hedgerow.errors import BackendError
from hedgerow.execution.request import resolve_request
from hedgerow.execution.run import STRAYS, compile_steps
from hedgerow.execution.session import Session
from hedgerow.expressions.table_names import parts_of
from hedgerow.sql.parse import parse


@dataclass(frozen=True, slots=True)
class PreparedFacts:
    """Number of statements whose facts are kept now, and of those that need none."""

    statements: int
    without: int


def usual_statements(session: Session) -> list[str]:
    """Return a count of the rows of each private table, and one for each column whose values are declared."""
    name = DUCKDB.identifier
    texts = []
    for table, declared in session.catalog.tables.items():
        if declared.public or table not in session.schema.tables:
            continue
        named = ".".join(name(part) for part in parts_of(table))
        texts.append(f"SELECT COUNT(*) FROM {named}")
        keys = [column for column, described in declared.columns.items() if described.values is not None]
        texts += [f"SELECT {name(key)}, COUNT(*) FROM {named} GROUP BY 1" for key in keys]
    return texts


def prepare(session: Session, texts: Sequence[str]) -> PreparedFacts:
    """Compute the facts that statements rely on, and keep them beside the data."""
    facts = getattr(session.backend, "facts", None)
    if facts is None or not facts.has_file or session.backend.handed_in:
        raise BackendError(
            "Facts are kept beside DuckDB and SQLite files and folders that hedgerow opens itself.",
            code="no-facts",
            hint="Pass the path of the file or folder with --db.",
        )
    done = [_compute(session, text) for text in texts]
    facts.save()
    return PreparedFacts(sum(done), len(done) - sum(done))


def _compute(session: Session, text: str) -> bool:
    """Compute the facts of one statement; False if there is nothing to know in advance."""
    logical = session.bind(parse(text, session.dialect).query)
    private = session.price(logical, resolve_request(session.catalog), session.remaining())
    programs = compile_steps(private, session.backend)
    queries = [query for program in programs for query in (program.first_pass, program.measure) if query is not None]
    shortcuts = [query.shortcut for query in queries if query.shortcut is not None]
    with session.backend.snapshot() as snapshot:
        for shortcut in shortcuts:
            _compute_all(snapshot, shortcut)
    return bool(shortcuts)


def _compute_all(snapshot: Any, shortcut: Shortcut) -> None:  # noqa: ANN401 - an engine that keeps facts
    state = snapshot.state(shortcut.tables)
    if state is None or not is_settled(state):
        time.sleep(SETTLED_NS / 1e9)
        state = snapshot.state(shortcut.tables)
    if state is None or not is_settled(state):
        raise BackendError(
            "The files of a table keep changing, or have a write-ahead log, so that no fact about their rows holds.",
            code="files-changing",
            hint="Try again when they stay as they are. CHECKPOINT writes the log of a database into its file.",
        )
    facts = {HEAVY: shortcut.heavy, CODES: shortcut.codes, BLOCKS: shortcut.blocks}
    facts |= {PEOPLE: shortcut.people, STRAYS: shortcut.strays}
    for name, query in facts.items():
        if query is not None:
            snapshot.fact(name, query, state, at_once=True)
