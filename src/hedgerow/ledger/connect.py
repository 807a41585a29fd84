"""Finding, creating and widening a ledger: in a SQLite file or in a PostgreSQL database."""

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Protocol

from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import LedgerError
from hedgerow.ledger import errors, postgres
from hedgerow.ledger.base import Ledger, last_sealed, next_entry, now, timestamp
from hedgerow.ledger.entries import BEGINNING, FORMAT, OPENED, RAISED, Account, Entry, new_salt
from hedgerow.ledger.limits import LedgerTerms
from hedgerow.ledger.postgres_connection import Address, is_address
from hedgerow.ledger.sqlite import PATIENCE, SQLiteStore, write_new
from hedgerow.ledger.store import Store

NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "sshfs"})
MOUNTS = Path("/proc/self/mounts")


def on_network(path: Path, mounts: Path = MOUNTS) -> bool:
    """Return True if `path` is on a network disk that this system lists: file locks on those are unreliable."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    disks = [(Path(fields[1]), fields[2]) for line in lines if len(fields := line.split()) > 2]
    inside = [(len(folder.parts), kind) for folder, kind in disks if path.is_relative_to(folder)]
    return bool(inside) and max(inside)[1].removeprefix("fuse.") in NETWORK


class LedgerPlace(Protocol):
    """A place of a ledger, existing or new. Its text is part of a sentence: "at /srv/shop.ledger"."""

    @property
    def name(self) -> object:
        """The ledger's name in errors."""

    def find(self, ledger: str | None, *, patience: float) -> Store | None:
        """Return the store of the dataset's ledger; None if there is none and the catalog names none."""

    def write_new(self, opening: Entry, *, patience: float) -> None:
        """Create a ledger with its first entry, completely or not at all; "ledger-exists" if there is one."""

    def caution(self, *, patience: float) -> str | None:
        """Return a warning for the owner if this place may lose charges."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A SQLite file."""

    name: Path

    def __str__(self) -> str:
        return f"at {self.name}"

    def find(self, ledger: str | None, *, patience: float) -> Store | None:
        """Return the store in the file."""
        if self.name.exists():
            return SQLiteStore(self.name, patience=patience)
        if ledger is not None:
            raise errors.missing(self.name)
        return None

    def write_new(self, opening: Entry, *, patience: float) -> None:  # noqa: ARG002 - nobody to wait for
        """Create the file."""
        try:
            write_new(self.name, opening)
        except FileExistsError:
            raise errors.exists(self.name) from None

    def caution(self, *, patience: float) -> str | None:  # noqa: ARG002 - nobody to wait for
        """Return a warning about a network disk."""
        if not on_network(self.name):
            return None
        return f"The ledger {self.name} is on a network disk, where file locks are not to be trusted: keep one writer."


@dataclass(frozen=True, slots=True)
class PostgresPlace:
    """A dataset's place in a PostgreSQL database."""

    address: Address
    dataset: str

    @property
    def name(self) -> str:
        """The ledger's name in errors."""
        return postgres.name(self.address, self.dataset)

    def __str__(self) -> str:
        return self.name

    def find(self, ledger: str | None, *, patience: float) -> Store | None:
        """Return the store of the dataset's ledger."""
        return postgres.find(self.address, self.dataset, ledger, patience)

    def write_new(self, opening: Entry, *, patience: float) -> None:
        """Create the ledger."""
        postgres.write_new(self.address, opening, patience)

    def caution(self, *, patience: float) -> str | None:
        """Return a warning about a server that does not write to its disk at once."""
        return postgres.caution(self.address, patience)


def file_of(location: str | PathLike[str]) -> Path | None:
    """Return the file that `location` names; None if it names no file."""
    text = os.fspath(location).removeprefix("sqlite:///")
    return None if "://" in text or is_address(text) else Path(os.path.realpath(text))


def place_of(location: str | PathLike[str], dataset: str) -> LedgerPlace:
    """Return the place that `location` names."""
    text = os.fspath(location)
    if is_address(text):
        return PostgresPlace(Address.of(text), dataset)
    path = text.removeprefix("sqlite:///")
    if "://" in path:
        raise errors.location()
    return FilePlace(Path(os.path.realpath(path)))


def open_ledger(
    location: str | PathLike[str],
    *,
    dataset: str,
    policy: BudgetPolicy,
    notice: Callable[[str], None] | None = None,
    clock: Callable[[], datetime] = now,
    patience: float = PATIENCE,
) -> Ledger:
    """Open the ledger at `location`; create one, with a notice, if there is none and the catalog names none.

    Args:
        location: A file, or the URL of a PostgreSQL database, which can keep one ledger for each dataset.
        dataset: The catalog's dataset, to which the ledger must belong.
        policy: The catalog's budget, which must be within the budget the ledger was created for.
        notice: Called with a message when a ledger is created.
        clock: Returns the time; only `refresh` depends on it.
        patience: Seconds to wait for other writers.
    """
    place = place_of(location, dataset)
    store = place.find(policy.ledger, patience=patience) or _make(place, dataset, policy, clock, notice, patience)
    try:
        if notice is not None and (caution := place.caution(patience=patience)) is not None:
            notice(caution)
        _check_names(store, place, dataset, policy)
        ledger = Ledger(store, policy, clock=clock)
        ledger.require(policy)
    except BaseException:
        store.close()
        raise
    return ledger


def create_ledger(
    location: str | PathLike[str], *, dataset: str, policy: BudgetPolicy, clock: Callable[[], datetime] = now
) -> str:
    """Create a ledger where there is none, and return its id for the catalog (`budget: {ledger: ...}`)."""
    return _write_new(place_of(location, dataset), dataset, policy, clock, PATIENCE)


def raise_budget(
    location: str | PathLike[str], *, dataset: str, policy: BudgetPolicy, clock: Callable[[], datetime] = now
) -> None:
    """Widen a ledger to the budget of `policy`, and record that in its history.

    Privacy: from now on the guarantee is the wider one, for everything that was ever answered. Every cap may only grow.
    The decision to raise must not depend on answers.
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
            terms = LedgerTerms.of(policy)
            if terms.caps.overrun(old.caps.units):
                raise LedgerError(
                    "The new budget is smaller than the old one in one of its three parts.",
                    code="ledger-split",
                    hint="Raise epsilon and delta with the same pure_epsilon, or begin a new ledger.",
                )
            last = last_sealed(book, clock)
            body = {"terms": terms.to_dict(), "from": old.to_dict()}
            book.append(next_entry(last, RAISED, timestamp(clock()), last.total, body))
    finally:
        store.close()


def _write_new(
    place: LedgerPlace, dataset: str, policy: BudgetPolicy, clock: Callable[[], datetime], patience: float
) -> str:
    """Create a ledger, and return its id."""
    identity = secrets.token_hex(8)
    opened = timestamp(clock())
    body = {"ledger": identity, "dataset": dataset, "format": FORMAT, "terms": LedgerTerms.of(policy).to_dict()}
    opening = Entry(0, OPENED, opened, None, None, Account(opened), None, body, BEGINNING, new_salt())
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
    """Create a ledger, unless another program was faster, and open it."""
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
        raise errors.lost(place.name)
    return store


def _check_names(store: Store, place: LedgerPlace, dataset: str, policy: BudgetPolicy) -> None:
    """Refuse a ledger of another dataset, or one other than the catalog names."""
    with store.read() as book:
        opened = book.first()
    if opened.body["dataset"] != dataset:
        raise errors.other_dataset(place.name)
    if policy.ledger is not None and opened.body["ledger"] != policy.ledger:
        raise errors.other_id(place.name)
