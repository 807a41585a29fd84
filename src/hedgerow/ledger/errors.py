"""Errors of a ledger, in our own words: those of SQLite and PostgreSQL are withheld.

`place` is the path of a file, or the name of a ledger on a server, such as "of shop in postgresql://host/db".
"""

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.errors import LedgerError

if TYPE_CHECKING:
    import psycopg


def _by_place(place: object, *, file: str, server: str) -> str:
    return file if isinstance(place, Path) else server


def location() -> LedgerError:
    """The URL names something that cannot keep ledgers."""
    return LedgerError(
        "A ledger is kept in a SQLite file or in a PostgreSQL database.",
        code="ledger-location",
        hint="Name a file on a disk of this machine, or a database: postgresql://user@host/database.",
    )


def schema_name() -> LedgerError:
    """The schema name would need quoting."""
    return LedgerError(
        "The schema in the ledger's URL has a name that cannot be used.",
        code="ledger-location",
        hint="Name it with up to 63 lower-case letters, digits and underscores: ?schema=hedgerow_shop.",
    )


def malformed() -> LedgerError:
    """The URL is not one of PostgreSQL."""
    return LedgerError(
        "The ledger's URL cannot be understood.",
        code="ledger-location",
        hint="Write postgresql://user@host:5432/database, and keep the password in PGPASSWORD or a password file.",
    )


def encoding(place: object) -> LedgerError:
    """The database cannot store every name."""
    return LedgerError(
        f"The database {place} does not keep its text in UTF-8.",
        code="ledger-location",
        hint="Keep the ledger in a database made with ENCODING 'UTF8'.",
    )


def missing(place: object) -> LedgerError:
    """There is no ledger, and none may be created."""
    at = _by_place(place, file="at ", server="")
    return LedgerError(
        f"There is no ledger {at}{place}, but the catalog names the one that belongs to it.",
        code="ledger-missing",
        hint=_by_place(
            place,
            file="Put it back from where it was moved, or from a backup.",
            server="Name the database it is in, or restore it from a backup.",
        )
        + " A new ledger would forget what was spent.",
    )


def lost(place: object) -> LedgerError:
    """The ledger was removed, or replaced by an older state, while it was open."""
    return LedgerError(
        f"The ledger {place} was moved, removed or replaced while it was open.",
        code="ledger-replaced",
        hint="Put the newest copy back and connect again. An older one would forget what was spent.",
    )


def empty(path: Path) -> LedgerError:
    """The file has zero bytes."""
    return LedgerError(
        f"The ledger {path} is empty. An empty file is a damaged ledger, not a new one.",
        code="ledger-empty",
        hint="Restore it from a backup; remove it only if nothing was ever asked with it.",
    )


def foreign(place: object) -> LedgerError:
    """The file or the tables belong to another program."""
    return LedgerError(
        _by_place(
            place,
            file=f"The file {place} is not a hedgerow ledger.",
            server=f"The schema of {place} has tables that are not a hedgerow ledger's.",
        ),
        code="ledger-foreign",
        hint=_by_place(
            place,
            file="Name another file with `ledger=`; this one was not changed.",
            server="Name another schema at the end of the URL (?schema=...); this one was not changed.",
        ),
    )


def damaged(place: object) -> LedgerError:
    """The ledger contradicts itself."""
    return LedgerError(
        f"The ledger {place} is damaged: its records contradict each other.",
        code="ledger-damaged",
        hint="Restore it from a backup; `hedgerow budget --verify` says where the chain breaks.",
    )


def newer(place: object) -> LedgerError:
    """A later version of the program wrote the ledger."""
    return LedgerError(
        f"The ledger {place} was written by a newer version of hedgerow.",
        code="ledger-newer",
        hint="Upgrade hedgerow on this machine.",
    )


def exists(place: object) -> LedgerError:
    """Something already exists where a new ledger was to be created."""
    return LedgerError(
        _by_place(place, file=f"There is already something at {place}.", server=f"There is already a ledger {place}."),
        code="ledger-exists",
        hint=_by_place(
            place,
            file="A new ledger never replaces a file: name another one.",
            server="A new ledger never replaces another: name another schema at the end of the URL (?schema=...).",
        ),
    )


def other_dataset(place: object) -> LedgerError:
    """The ledger belongs to another dataset."""
    return LedgerError(
        f"The ledger {place} belongs to another dataset than the catalog's.",
        code="ledger-dataset",
        hint="One ledger serves one dataset: check `dataset` and `budget: ledger` in the catalog, "
        "or name another ledger.",
    )


def other_id(place: object) -> LedgerError:
    """The ledger belongs to the dataset, but is not the one that the catalog names."""
    return LedgerError(
        f"The ledger {place} is not the one that the catalog names under `budget: ledger`.",
        code="ledger-id",
        hint=_by_place(
            place,
            file="Put back the ledger with that id.",
            server="Name the database that has the ledger with that id.",
        ),
    )


def locked(place: object) -> LedgerError:
    """Another writer held the ledger for too long."""
    return LedgerError(
        f"The ledger {place} is in use by another program and did not become free in time. Nothing was charged.",
        code="ledger-locked",
        hint="Try again. If it stays so, look for "
        + _by_place(
            place,
            file="a program that holds the file open for writing.",
            server="a session of the server that waits inside a transaction.",
        ),
    )


def readonly(place: object) -> LedgerError:
    """The ledger can be read but not written."""
    return LedgerError(
        f"The ledger {place} cannot be written, so nothing can be charged.",
        code="ledger-readonly",
        hint=_by_place(
            place,
            file="The file and its folder must be writable: a journal is kept beside it while a charge is written.",
            server="The role needs INSERT on the ledger's tables (to make the first ledger, CREATE on the database), "
            "on a server that is not a standby.",
        ),
    )


def full(place: object) -> LedgerError:
    """There is no room for another entry."""
    return LedgerError(
        f"There is no room left to write to the ledger {place}. Nothing was released.",
        code="ledger-full",
        hint=_by_place(place, file="Make room on the disk.", server="Make room on the server's disk."),
    )


def unreachable(place: object) -> LedgerError:
    """There is no connection, or no permission to read."""
    return LedgerError(
        f"The ledger {place} cannot be {_by_place(place, file='opened', server='reached')}.",
        code="ledger-unreachable",
        hint=_by_place(
            place,
            file="Check that its folder exists and that this program may use it.",
            server="Check that the server runs, and that the user, the password and the SELECT permission are right.",
        ),
    )


def closed(place: object) -> LedgerError:
    """This program has closed the ledger."""
    return LedgerError(
        f"The ledger {place} was closed.", code="ledger-closed", hint="Connect again to ask more questions."
    )


def failed(place: object) -> LedgerError:
    """The disk, the connection or the server failed."""
    return LedgerError(
        _by_place(
            place,
            file=f"The ledger {place} could not be read or written. Nothing was released.",
            server=f"The connection to the ledger {place} was lost, or the server could not do what was asked. "
            "Nothing was released; a charge that had just been written stays charged.",
        ),
        code="ledger-io",
        hint=_by_place(place, file="Check the disk.", server="Ask again, and look at the server's log if it stays so."),
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


def from_sqlite(error: sqlite3.Error, path: Path) -> LedgerError:
    """Return the ledger's error for an error of SQLite."""
    name = getattr(error, "sqlite_errorname", "") or ""
    family = "_".join(name.split("_")[:2])
    if isinstance(error, sqlite3.IntegrityError):
        return damaged(path)
    return _BY_NAME.get(family, failed)(path)


_BY_STATE = {
    "55P03": locked,  # lock_not_available
    "40001": locked,  # serialization_failure
    "40P01": locked,  # deadlock_detected
    "23505": locked,  # unique_violation: somebody wrote the same entry without waiting for a turn
    "25006": readonly,  # read_only_sql_transaction
    "53100": full,  # disk_full
    "42P01": lost,  # undefined_table
    "3F000": lost,  # invalid_schema_name
    "42703": foreign,  # undefined_column
    "53300": unreachable,  # too_many_connections
}
_BY_CLASS = {"23": damaged, "XX": damaged}
_FORBIDDEN = "42501"


def from_postgres(error: "psycopg.Error", place: object, *, writing: bool) -> LedgerError:
    """Return the ledger's error for an error of PostgreSQL."""
    state = error.sqlstate or ""
    if state == _FORBIDDEN:
        return readonly(place) if writing else unreachable(place)
    return _BY_STATE.get(state, _BY_CLASS.get(state[:2], failed))(place)
