"""Finding, making and widening a ledger."""

import secrets
from collections.abc import Callable
from datetime import datetime
from os import PathLike

from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import LedgerError
from hedgerow.ledger.base import Ledger, now, timestamp
from hedgerow.ledger.entries import BEGINNING, FORMAT, OPENED, RAISED, Account, Entry
from hedgerow.ledger.places import LedgerPlace, place_of
from hedgerow.ledger.sqlite import PATIENCE
from hedgerow.ledger.store import Store
from hedgerow.ledger.terms import LedgerTerms


def open_ledger(
    location: str | PathLike[str],
    *,
    dataset: str,
    policy: BudgetPolicy,
    notice: Callable[[str], None] | None = None,
    clock: Callable[[], datetime] = now,
    patience: float = PATIENCE,
) -> Ledger:
    """The ledger at `location`; a new one, with a notice, if nothing is there and the catalog names none.

    Args:
        location: A file, or the URL of a PostgreSQL database, which can keep one ledger for each dataset.
        dataset: The catalog's dataset, which the ledger must be of.
        policy: The catalog's budget, which must be within what the ledger was made for.
        notice: Is told when a ledger is made.
        clock: The time; only `refresh` depends on it.
        patience: Seconds to wait for other writers.
    """
    place = place_of(location, dataset)
    store = place.find(policy.ledger, patience=patience) or _make(place, dataset, policy, clock, notice, patience)
    try:
        if notice is not None and (caution := place.caution(patience=patience)) is not None:
            notice(caution)
        _check_owner(store, place, dataset, policy)
        return Ledger(store, policy, clock=clock)
    except BaseException:
        store.close()
        raise


def create_ledger(
    location: str | PathLike[str], *, dataset: str, policy: BudgetPolicy, clock: Callable[[], datetime] = now
) -> str:
    """Make a ledger where there is none, and return its id for the catalog (`budget: {ledger: ...}`)."""
    return _write_new(place_of(location, dataset), dataset, policy, clock, PATIENCE)


def raise_budget(
    location: str | PathLike[str], *, dataset: str, policy: BudgetPolicy, clock: Callable[[], datetime] = now
) -> None:
    """Widen a ledger to the budget of `policy`, and write that to its history.

    Privacy: from here on the guarantee is the wider one, for everything that was ever answered. The
    caps may only grow, each of them. Whether to raise must not be decided by what answers said.
    """
    place = place_of(location, dataset)
    store = place.find(policy.ledger, patience=PATIENCE)
    if store is None:
        raise LedgerError(
            f"There is no ledger {place} whose budget could be raised.",
            code="ledger-missing",
            hint="Say where it is. A new ledger is made with the budget of the catalog.",
        )
    try:
        _check_names(store, place, dataset, policy)
        with store.write() as book:
            old = LedgerTerms.from_dict(book.last_terms().body["terms"])
            asked = LedgerTerms.of(policy)
            if asked.caps.overrun(old.caps.units):
                raise LedgerError(
                    "The new budget is smaller than the old one in one of its three parts.",
                    code="ledger-split",
                    hint="Raise epsilon and delta with the same pure_epsilon, or begin a new ledger.",
                )
            last = book.last()
            body = {"terms": asked.to_dict(), "from": old.to_dict()}
            book.append(
                Entry(last.sequence + 1, RAISED, timestamp(clock()), None, None, last.total, None, body, last.hash)
            )
    finally:
        store.close()


def _write_new(
    place: LedgerPlace, dataset: str, policy: BudgetPolicy, clock: Callable[[], datetime], patience: float
) -> str:
    """Make a ledger, and return its id."""
    identity = secrets.token_hex(8)
    opened = timestamp(clock())
    body = {"ledger": identity, "dataset": dataset, "format": FORMAT, "terms": LedgerTerms.of(policy).to_dict()}
    opening = Entry(0, OPENED, opened, None, None, Account(opened), None, body, BEGINNING)
    place.write_new(opening, patience=patience)
    return identity


def _make(
    place: LedgerPlace,
    dataset: str,
    policy: BudgetPolicy,
    clock: Callable[[], datetime],
    notice: Callable[[str], None] | None,
    patience: float,
) -> Store:
    """Make a ledger, unless another program was quicker, and open it."""
    try:
        _write_new(place, dataset, policy, clock, patience)
    except LedgerError as error:
        if error.code != "ledger-exists":
            raise
    else:
        if notice is not None:
            notice(f"Made a new ledger {place}. It is the record of what was spent: keep it, and back it up.")
    store = place.find(policy.ledger, patience=patience)
    if store is None:
        raise place.gone()
    return store


def _check_owner(store: Store, place: LedgerPlace, dataset: str, policy: BudgetPolicy) -> None:
    """The ledger of this dataset, the one the catalog names, and wide enough."""
    _check_names(store, place, dataset, policy)
    with store.read() as book:
        terms = LedgerTerms.from_dict(book.last_terms().body["terms"])
    terms.require(LedgerTerms.of(policy))


def _check_names(store: Store, place: LedgerPlace, dataset: str, policy: BudgetPolicy) -> None:
    with store.read() as book:
        opened = book.first()
    if opened.body["dataset"] != dataset:
        raise place.other_dataset()
    if policy.ledger is not None and opened.body["ledger"] != policy.ledger:
        raise place.other_id()
