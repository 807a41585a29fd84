"""Finding, making and widening a ledger."""

import os
import secrets
from collections.abc import Callable
from datetime import datetime
from os import PathLike
from pathlib import Path

from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import LedgerError
from hedgerow.ledger import faults
from hedgerow.ledger.base import Ledger, now, timestamp
from hedgerow.ledger.disks import on_network
from hedgerow.ledger.entries import BEGINNING, FORMAT, OPENED, RAISED, Account, Entry
from hedgerow.ledger.sqlite import PATIENCE, SQLiteStore, write_new
from hedgerow.ledger.terms import Terms


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
        location: A file.
        dataset: The catalog's dataset, which the ledger must be of.
        policy: The catalog's budget, which must be within what the ledger was made for.
        notice: Is told when a ledger is made.
        clock: The time; only `refresh` depends on it.
        patience: Seconds to wait for other writers.
    """
    path = _path(location)
    if not path.exists():
        if policy.ledger is not None:
            raise faults.missing(path)
        _make_if_absent(path, dataset, policy, clock, notice)
    store = SQLiteStore(path, patience=patience)
    if notice is not None and on_network(path):
        notice(f"The ledger {path} is on a network disk, where file locks are not to be trusted: keep one writer.")
    try:
        _check_owner(store, path, dataset, policy)
        return Ledger(store, policy, clock=clock)
    except BaseException:
        store.close()
        raise


def create_ledger(
    location: str | PathLike[str], *, dataset: str, policy: BudgetPolicy, clock: Callable[[], datetime] = now
) -> str:
    """Make a ledger where there is none, and return its id for the catalog (`budget: {ledger: ...}`)."""
    path = _path(location)
    identity = secrets.token_hex(8)
    opened = timestamp(clock())
    body = {"ledger": identity, "dataset": dataset, "format": FORMAT, "terms": Terms.of(policy).to_dict()}
    try:
        write_new(path, Entry(0, OPENED, opened, None, None, Account(opened), None, body, BEGINNING))
    except FileExistsError:
        raise LedgerError(
            f"There is something at {path} already.",
            code="ledger-exists",
            hint="A new ledger never replaces a file: name another one.",
        ) from None
    return identity


def raise_budget(
    location: str | PathLike[str], *, dataset: str, policy: BudgetPolicy, clock: Callable[[], datetime] = now
) -> None:
    """Widen a ledger to the budget of `policy`, and write that to its history.

    Privacy: from here on the guarantee is the wider one, for everything that was ever answered. The
    caps may only grow, each of them. Whether to raise must not be decided by what answers said.
    """
    path = _path(location)
    store = SQLiteStore(path)
    try:
        _check_names(store, path, dataset, policy)
        with store.write() as book:
            old = Terms.from_dict(book.last_terms().body["terms"])
            asked = Terms.of(policy)
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


def _path(location: str | PathLike[str]) -> Path:
    """The file meant by `location`."""
    text = os.fspath(location).removeprefix("sqlite:///")
    if "://" in text:
        raise LedgerError(
            "This version keeps ledgers in SQLite files only.",
            code="ledger-location",
            hint="Name a file, on a disk of this machine.",
        )
    return Path(os.path.realpath(text))


def _make_if_absent(
    path: Path, dataset: str, policy: BudgetPolicy, clock: Callable[[], datetime], notice: Callable[[str], None] | None
) -> None:
    """Make a ledger, unless another program was quicker."""
    try:
        create_ledger(path, dataset=dataset, policy=policy, clock=clock)
    except LedgerError as error:
        if error.code != "ledger-exists":
            raise
        return
    if notice is not None:
        notice(f"Made a new ledger at {path}. It is the record of what was spent: keep it, and back it up.")


def _check_owner(store: SQLiteStore, path: Path, dataset: str, policy: BudgetPolicy) -> None:
    """The ledger of this dataset, the one the catalog names, and wide enough."""
    _check_names(store, path, dataset, policy)
    with store.read() as book:
        terms = Terms.from_dict(book.last_terms().body["terms"])
    terms.require(Terms.of(policy))


def _check_names(store: SQLiteStore, path: Path, dataset: str, policy: BudgetPolicy) -> None:
    with store.read() as book:
        opened = book.first()
    if opened.body["dataset"] != dataset:
        raise faults.other_dataset(path)
    if policy.ledger is not None and opened.body["ledger"] != policy.ledger:
        raise faults.other_id(path)
