"""Where ledgers can be kept: a file, or a PostgreSQL database."""

import os
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Protocol

from hedgerow.errors import LedgerError
from hedgerow.ledger import faults, postgres_faults
from hedgerow.ledger import postgres_finding as postgres
from hedgerow.ledger.disks import on_network
from hedgerow.ledger.entries import Entry
from hedgerow.ledger.postgres_address import Address, is_address
from hedgerow.ledger.sqlite import SQLiteStore, write_new
from hedgerow.ledger.store import Store


class LedgerPlace(Protocol):
    """Somewhere that a ledger is, or can be made."""

    def find(self, ledger: str | None, *, patience: float) -> Store | None:
        """The store of the dataset's ledger; None if there is none and the catalog names none."""

    def write_new(self, opening: Entry, *, patience: float) -> None:
        """Make a ledger with its first entry, whole or not at all; "ledger-exists" if there is one."""

    def other_dataset(self) -> LedgerError:
        """For a ledger of another dataset."""

    def other_id(self) -> LedgerError:
        """For another ledger than the catalog's."""

    def gone(self) -> LedgerError:
        """For a ledger that went away."""

    def caution(self, *, patience: float) -> str | None:
        """What the owner should know about this place, if anything."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A SQLite file."""

    path: Path

    def __str__(self) -> str:
        return f"at {self.path}"

    def find(self, ledger: str | None, *, patience: float) -> Store | None:
        """The store in the file."""
        if self.path.exists():
            return SQLiteStore(self.path, patience=patience)
        if ledger is not None:
            raise faults.missing(self.path)
        return None

    def write_new(self, opening: Entry, *, patience: float) -> None:  # noqa: ARG002 - nobody to wait for
        """Make the file."""
        try:
            write_new(self.path, opening)
        except FileExistsError:
            raise LedgerError(
                f"There is something at {self.path} already.",
                code="ledger-exists",
                hint="A new ledger never replaces a file: name another one.",
            ) from None

    def other_dataset(self) -> LedgerError:
        """For a ledger of another dataset."""
        return faults.other_dataset(self.path)

    def other_id(self) -> LedgerError:
        """For another ledger than the catalog's."""
        return faults.other_id(self.path)

    def gone(self) -> LedgerError:
        """For a ledger that went away."""
        return faults.lost(self.path)

    def caution(self, *, patience: float) -> str | None:  # noqa: ARG002 - nobody to wait for
        """Whether the file is on a network disk."""
        if not on_network(self.path):
            return None
        return f"The ledger {self.path} is on a network disk, where file locks are not to be trusted: keep one writer."


@dataclass(frozen=True, slots=True)
class PostgresPlace:
    """A dataset's place in a PostgreSQL database."""

    address: Address
    dataset: str

    def __str__(self) -> str:
        return postgres.name(self.address, self.dataset)

    def find(self, ledger: str | None, *, patience: float) -> Store | None:
        """The store of the dataset's ledger."""
        return postgres.find(self.address, self.dataset, ledger, patience)

    def write_new(self, opening: Entry, *, patience: float) -> None:
        """Make the ledger."""
        postgres.write_new(self.address, opening, patience)

    def other_dataset(self) -> LedgerError:
        """For a ledger of another dataset."""
        return postgres_faults.other_dataset(self)

    def other_id(self) -> LedgerError:
        """For another ledger than the catalog's."""
        return postgres_faults.other_id(self)

    def gone(self) -> LedgerError:
        """For a ledger that went away."""
        return postgres_faults.lost(self)

    def caution(self, *, patience: float) -> str | None:
        """Whether the server can forget."""
        return postgres.caution(self.address, patience)


def file_of(location: str | PathLike[str]) -> Path | None:
    """The file meant by `location`; None where it is no file."""
    text = os.fspath(location).removeprefix("sqlite:///")
    return None if "://" in text or is_address(text) else Path(os.path.realpath(text))


def place_of(location: str | PathLike[str], dataset: str) -> LedgerPlace:
    """The place meant by `location`."""
    text = os.fspath(location)
    if is_address(text):
        return PostgresPlace(Address.of(text), dataset)
    path = text.removeprefix("sqlite:///")
    if "://" in path:
        raise LedgerError(
            "A ledger is kept in a SQLite file or in a PostgreSQL database.",
            code="ledger-location",
            hint="Name a file on a disk of this machine, or a database: postgresql://user@host/database.",
        )
    return FilePlace(Path(os.path.realpath(path)))
