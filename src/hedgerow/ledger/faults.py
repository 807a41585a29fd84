"""What can be wrong with a ledger's file, each with its own words. SQLite's own are withheld."""

import sqlite3
from pathlib import Path

from hedgerow.errors import LedgerError


def missing(path: Path) -> LedgerError:
    """There is no file, and none may be made."""
    return LedgerError(
        f"There is no ledger at {path}, but the catalog names the one that belongs to it.",
        code="ledger-missing",
        hint="Put it back from where it was moved, or a backup. A new ledger would forget what was spent.",
    )


def lost(path: Path) -> LedgerError:
    """The file went away while it was open."""
    return LedgerError(
        f"The ledger {path} was moved, removed or replaced while it was open.",
        code="ledger-replaced",
        hint="Put the newest copy back and connect again. An older one would forget what was spent.",
    )


def empty(path: Path) -> LedgerError:
    """Zero bytes."""
    return LedgerError(
        f"The ledger {path} is empty. An empty file is a damaged ledger, not a new one.",
        code="ledger-empty",
        hint="Restore it from a backup; remove it only if nothing was ever asked with it.",
    )


def foreign(path: Path) -> LedgerError:
    """Somebody else's file."""
    return LedgerError(
        f"The file {path} is not a hedgerow ledger.",
        code="ledger-foreign",
        hint="Name another file with `ledger=`; this one was left as it is.",
    )


def damaged(path: Path) -> LedgerError:
    """Our file, but it does not hold together."""
    return LedgerError(
        f"The ledger {path} is damaged: what it says does not hold together.",
        code="ledger-damaged",
        hint="Restore it from a backup; `hedgerow budget --verify` says where the chain breaks.",
    )


def newer(path: Path) -> LedgerError:
    """Written by a later version of the program."""
    return LedgerError(
        f"The ledger {path} was written by a newer version of hedgerow.",
        code="ledger-newer",
        hint="Upgrade hedgerow on this machine.",
    )


def other_dataset(path: Path) -> LedgerError:
    """The ledger of something else."""
    return LedgerError(
        f"The ledger {path} belongs to another dataset than the catalog's.",
        code="ledger-dataset",
        hint="One ledger serves one dataset: check `dataset` in the catalog, or name another ledger.",
    )


def other_id(path: Path) -> LedgerError:
    """A ledger of the same dataset, but not the one that the catalog names."""
    return LedgerError(
        f"The ledger {path} is not the one that the catalog names under `budget: ledger`.",
        code="ledger-id",
        hint="Put back the ledger with that id.",
    )


def locked(path: Path) -> LedgerError:
    """Somebody else is writing, for too long."""
    return LedgerError(
        f"The ledger {path} is in use by another program and did not become free in time. Nothing was charged.",
        code="ledger-locked",
        hint="Try again. If it stays so, look for a program that holds the file open for writing.",
    )


def readonly(path: Path) -> LedgerError:
    """It can be read, not written."""
    return LedgerError(
        f"The ledger {path} cannot be written, so nothing can be charged.",
        code="ledger-readonly",
        hint="The file and its folder must be writable: a journal is kept beside it while a charge is written.",
    )


def full(path: Path) -> LedgerError:
    """No room for one more entry."""
    return LedgerError(
        f"There is no room left to write to the ledger {path}. Nothing was released.",
        code="ledger-full",
        hint="Make room on the disk.",
    )


def unreachable(path: Path) -> LedgerError:
    """The operating system says no."""
    return LedgerError(
        f"The ledger {path} cannot be opened.",
        code="ledger-unreachable",
        hint="Check that its folder exists and that this program may use it.",
    )


def closed(path: Path) -> LedgerError:
    """We let go of it ourselves."""
    return LedgerError(
        f"The ledger {path} was closed.", code="ledger-closed", hint="Connect again to ask more questions."
    )


def failed(path: Path) -> LedgerError:
    """The disk, or whatever is below it."""
    return LedgerError(
        f"The ledger {path} could not be read or written. Nothing was released.",
        code="ledger-io",
        hint="Check the disk.",
    )


_BY_NAME = {
    "SQLITE_BUSY": locked,
    "SQLITE_LOCKED": locked,
    "SQLITE_READONLY": readonly,
    "SQLITE_PERM": readonly,
    "SQLITE_FULL": full,
    "SQLITE_CORRUPT": damaged,
    "SQLITE_ERROR": damaged,
    "SQLITE_NOTADB": foreign,
    "SQLITE_CANTOPEN": unreachable,
}


def translated(error: sqlite3.Error, path: Path) -> LedgerError:
    """The ledger's words for an error of SQLite's."""
    name = getattr(error, "sqlite_errorname", "") or ""
    family = "_".join(name.split("_")[:2])
    if isinstance(error, sqlite3.IntegrityError):
        return damaged(path)
    return _BY_NAME.get(family, failed)(path)
