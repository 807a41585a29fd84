"""The choice between a statement and its cheaper forms, by what is known about rows that cannot change.

Privacy: facts are read and computed after the charge, like all rows. All forms of a statement return the same keys and
integers, and which of them runs is visible in nothing but time.
"""

from collections.abc import Hashable
from typing import Any

from hedgerow.backends import Backend
from hedgerow.compiled import CODES, HEAVY, MOST_CODES, MOST_COUNTED, MOST_HEAVY, PEOPLE, Query, Shortcut
from hedgerow.plan.nodes import Release, scans_of

STRAYS = "hedgerow_strays"


def keeps_facts(backend: Backend, release: Release) -> bool:
    """Return True if a backend can know that the rows of the tables of a release did not change. It reads no row."""
    return hasattr(backend, "keeps_facts") and backend.keeps_facts({scan.table for scan in scans_of(release)})


def fixes_rows(backend: Backend, release: Release) -> bool:
    """Return True if a transaction of a backend reads the same rows of these tables in all its statements."""
    return hasattr(backend, "stores") and backend.stores({scan.table for scan in scans_of(release)})


def run_cheapest(query: Query, snapshot: Any) -> Any:  # noqa: ANN401 - an exact table: only `release` opens it
    """Run the cheapest form of a statement that is allowed; if rows have changed meanwhile, the statement itself."""
    shortcut, state_of = query.shortcut, getattr(snapshot, "state", None)
    state = None if shortcut is None or state_of is None else state_of(shortcut.tables)
    if shortcut is None or state_of is None or state is None:
        return _run_optimistic(query, snapshot)
    form = _cheapest(shortcut, snapshot, state)
    if form is None:
        return _run_optimistic(query, snapshot)
    exact = None if form == "ownerless" else _run_beside_owners(shortcut, form, snapshot, state)
    if exact is None and form == ORDINARY:
        return snapshot.run(query)
    if exact is None:
        exact = snapshot.run_known(getattr(shortcut, form), state)
    if state_of(shortcut.tables) == state:
        return exact
    snapshot.facts.forget(state)
    if shortcut.owners is not None:
        snapshot.forget_owners(shortcut.owners, state)
    return snapshot.run(query)


def _run_optimistic(query: Query, snapshot: Any) -> Any:  # noqa: ANN401 - an exact table: only `release` opens it
    """Run a statement without facts: its short form where no row can change, and itself if that proves nothing."""
    is_fixed = getattr(snapshot, "is_fixed", None)
    if query.optimistic is None or is_fixed is None or not is_fixed(query.optimistic.tables):
        return snapshot.run(query)
    exact = snapshot.run_optimistic(query.optimistic.query)
    return snapshot.run(query) if exact is None else exact


ORDINARY = "ordinary"


def _run_beside_owners(shortcut: Shortcut, form: str, snapshot: Any, state: Hashable) -> Any:  # noqa: ANN401 - likewise
    """Run a form that reads the owner column in place of the path; None if there is none, or it cannot be used."""
    owned = shortcut.owned
    if shortcut.owners is None or owned is None or not snapshot.load_owners(shortcut.owners, state):
        return None
    query = owned if form == ORDINARY else getattr(owned.shortcut, form.removesuffix("_coded"))
    return snapshot.run_beside(query, shortcut.owners, state)


def _cheapest(shortcut: Shortcut, snapshot: Any, state: Hashable) -> str | None:  # noqa: ANN401 - an engine that keeps facts
    """Return the name of the cheapest form that the facts allow; they are computed when they are first needed.

    None if it is not known yet who is beyond a limit.
    """

    def rows(name: str, fact: Query) -> int | None:
        number: int | None = snapshot.fact(name, fact, state, at_once=shortcut.reads_all)
        return number

    heavy = rows(HEAVY, shortcut.heavy)
    if heavy is None or heavy > MOST_HEAVY:
        return None if heavy is None else ORDINARY
    if heavy == 0 and shortcut.ownerless is not None and shortcut.strays is not None:
        return "ownerless" if rows(STRAYS, shortcut.strays) == 0 else "within"
    kind = "apart" if heavy else "within"
    if getattr(shortcut, f"{kind}_counted") is not None and shortcut.people is not None:
        counted = rows(PEOPLE, shortcut.people)
        if counted is not None and counted <= MOST_COUNTED:
            return f"{kind}_counted"
    if shortcut.codes is None:
        return kind
    keys = rows(CODES, shortcut.codes)
    return kind if keys is None or keys > MOST_CODES else f"{kind}_coded"
