"""The choice between a statement and its cheaper forms, by what is known about rows that cannot change.

Privacy: facts are read and computed after the charge, like all rows. All forms of a statement return the same keys and
integers, and which of them runs is visible in nothing but time.
"""

from collections.abc import Hashable
from typing import Any

from hedgerow.backends import Backend, Snapshot
from hedgerow.compiled import CODES, HEAVY, MOST_CODES, MOST_COUNTED, MOST_HEAVY, PEOPLE, Query, Shortcut
from hedgerow.plan.nodes import Release, scans_of

STRAYS = "hedgerow_strays"


def keeps_facts(backend: Backend, release: Release) -> bool:
    """Return whether a backend can know that the rows of the tables of a release did not change. It reads no row."""
    return hasattr(backend, "keeps_facts") and backend.keeps_facts({scan.table for scan in scans_of(release)})


def run_cheapest(query: Query, snapshot: Snapshot) -> Any:  # noqa: ANN401 - an exact table: only `release` opens it
    """Run the cheapest form of a statement that is allowed; if rows have changed meanwhile, the statement itself."""
    shortcut, state_of = query.shortcut, getattr(snapshot, "state", None)
    if shortcut is None or state_of is None:
        return snapshot.run(query)
    state = state_of(shortcut.tables)
    if state is None:
        return snapshot.run(query)
    exact = snapshot.run(_cheapest(query, shortcut, snapshot, state))
    return exact if state_of(shortcut.tables) == state else snapshot.run(query)


def _cheapest(query: Query, shortcut: Shortcut, snapshot: Any, state: Hashable) -> Query:  # noqa: ANN401 - an engine that keeps facts
    """Return the cheapest form that the facts allow; they are computed when they are first needed."""

    def rows(name: str, fact: Query) -> int | None:
        number: int | None = snapshot.fact(name, fact, state, at_once=shortcut.reads_all)
        return number

    heavy = rows(HEAVY, shortcut.heavy)
    if heavy is None or heavy > MOST_HEAVY:
        return query
    if heavy == 0 and shortcut.ownerless is not None and shortcut.strays is not None:
        return shortcut.ownerless if rows(STRAYS, shortcut.strays) == 0 else shortcut.within
    if heavy == 0 and shortcut.within_counted is not None and shortcut.people is not None:
        counted = rows(PEOPLE, shortcut.people)
        if counted is not None and counted <= MOST_COUNTED:
            return shortcut.within_counted
    plain, coded = (shortcut.apart, shortcut.apart_coded) if heavy else (shortcut.within, shortcut.within_coded)
    if coded is None or shortcut.codes is None:
        return plain
    keys = rows(CODES, shortcut.codes)
    return plain if keys is None or keys > MOST_CODES else coded
