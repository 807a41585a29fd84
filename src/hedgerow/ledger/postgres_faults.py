"""What can be wrong with a ledger in PostgreSQL, each with its own words. The server's own are withheld."""

from typing import TYPE_CHECKING

from hedgerow.errors import LedgerError

if TYPE_CHECKING:
    import psycopg


def schema_name() -> LedgerError:
    """A schema whose name would need quoting."""
    return LedgerError(
        "The schema in the ledger's URL has a name that cannot be used.",
        code="ledger-location",
        hint="Name it with up to 63 lower-case letters, digits and underscores: ?schema=hedgerow_shop.",
    )


def malformed() -> LedgerError:
    """No URL of PostgreSQL's."""
    return LedgerError(
        "The ledger's URL cannot be understood.",
        code="ledger-location",
        hint="Write postgresql://user@host:5432/database, and keep the password in PGPASSWORD or a password file.",
    )


def encoding(place: object) -> LedgerError:
    """A database that cannot hold every name."""
    return LedgerError(
        f"The database {place} does not keep its text in UTF-8.",
        code="ledger-location",
        hint="Keep the ledger in a database made with ENCODING 'UTF8'.",
    )


def missing(place: object) -> LedgerError:
    """There is none with this id, and none may be made."""
    return LedgerError(
        f"There is no ledger {place}, but the catalog names the one that belongs to it.",
        code="ledger-missing",
        hint="Name the database it is in, or restore it from a backup. A new ledger would forget what was spent.",
    )


def lost(place: object) -> LedgerError:
    """It went away, or went back, while it was open."""
    return LedgerError(
        f"The ledger {place} was removed, or replaced by an older copy, while it was open.",
        code="ledger-replaced",
        hint="Restore the newest copy and connect again. An older one would forget what was spent.",
    )


def foreign(place: object) -> LedgerError:
    """Somebody else's tables."""
    return LedgerError(
        f"The schema of {place} has tables that are not a hedgerow ledger's.",
        code="ledger-foreign",
        hint="Name another schema at the end of the URL (?schema=...); this one was left as it is.",
    )


def damaged(place: object) -> LedgerError:
    """Ours, but it does not hold together."""
    return LedgerError(
        f"The ledger {place} is damaged: what it says does not hold together.",
        code="ledger-damaged",
        hint="Restore it from a backup; `hedgerow budget --verify` says where the chain breaks.",
    )


def newer(place: object) -> LedgerError:
    """Written by a later version of the program."""
    return LedgerError(
        f"The ledger {place} was written by a newer version of hedgerow.",
        code="ledger-newer",
        hint="Upgrade hedgerow on this machine.",
    )


def exists(place: object) -> LedgerError:
    """The dataset has one."""
    return LedgerError(
        f"There is a ledger {place} already.",
        code="ledger-exists",
        hint="A new ledger never replaces another: name another schema at the end of the URL (?schema=...).",
    )


def other_dataset(place: object) -> LedgerError:
    """The ledger that the catalog names is of something else."""
    return LedgerError(
        f"The ledger {place} that the catalog names belongs to another dataset.",
        code="ledger-dataset",
        hint="One ledger serves one dataset: check `dataset` and `budget: ledger` in the catalog.",
    )


def other_id(place: object) -> LedgerError:
    """The dataset has a ledger, but not the one that the catalog names."""
    return LedgerError(
        f"The ledger {place} is not the one that the catalog names under `budget: ledger`.",
        code="ledger-id",
        hint="Name the database that has the ledger with that id.",
    )


def locked(place: object) -> LedgerError:
    """Somebody else is writing, for too long."""
    return LedgerError(
        f"The ledger {place} is in use by another program and did not become free in time. Nothing was charged.",
        code="ledger-locked",
        hint="Try again. If it stays so, look for a session of the server that waits inside a transaction.",
    )


def readonly(place: object) -> LedgerError:
    """It can be read, not written."""
    return LedgerError(
        f"The ledger {place} cannot be written, so nothing can be charged.",
        code="ledger-readonly",
        hint="The role needs INSERT on the ledger's tables (to make the first ledger, CREATE on the database), "
        "on a server that is not a standby.",
    )


def full(place: object) -> LedgerError:
    """No room for one more entry."""
    return LedgerError(
        f"There is no room left to write to the ledger {place}. Nothing was released.",
        code="ledger-full",
        hint="Make room on the server's disk.",
    )


def unreachable(place: object) -> LedgerError:
    """No connection, or no permission to look."""
    return LedgerError(
        f"The ledger {place} cannot be reached.",
        code="ledger-unreachable",
        hint="Check that the server runs, and that the user, the password and the SELECT permission are right.",
    )


def closed(place: object) -> LedgerError:
    """We let go of it ourselves."""
    return LedgerError(
        f"The ledger {place} was closed.", code="ledger-closed", hint="Connect again to ask more questions."
    )


def failed(place: object) -> LedgerError:
    """The connection or the server."""
    return LedgerError(
        f"The connection to the ledger {place} was lost, or the server could not do what was asked. "
        "Nothing was released; a charge that had just been written stays charged.",
        code="ledger-io",
        hint="Ask again, and look at the server's log if it stays so.",
    )


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


def translated(error: "psycopg.Error", place: object, *, writing: bool) -> LedgerError:
    """The ledger's words for an error of PostgreSQL's."""
    state = error.sqlstate or ""
    if state == _FORBIDDEN:
        return readonly(place) if writing else unreachable(place)
    return _BY_STATE.get(state, _BY_CLASS.get(state[:2], failed))(place)
