"""What can be wrong with a PostgreSQL server, each with its own words. The server's own are withheld."""

from hedgerow.backends.base import failure
from hedgerow.errors import BackendError


def driver_missing() -> BackendError:
    """No psycopg."""
    return BackendError(
        "The driver psycopg is not installed.", code="driver-missing", hint="pip install 'hedgerow[postgres]'"
    )


def bad_url() -> BackendError:
    """No URL of PostgreSQL's. It is not repeated: there may be a password in it."""
    return BackendError(
        "The URL of the database cannot be understood.",
        code="not-a-database",
        hint="Write postgresql://user@host:5432/database?schema=public&timeout=900, and keep the password in "
        "PGPASSWORD or a password file.",
    )


def unreachable(error: BaseException) -> BackendError:
    """No connection. Why is in the owner's log: the server's words may quote names and addresses."""
    reason = failure(error)
    return BackendError(
        f"The PostgreSQL server cannot be reached (incident {reason.incident}).",
        code="no-database",
        hint="Check that it runs, and that the host, the database, the user and the password are right.",
        incident=reason.incident,
    )


def too_old(version: int) -> BackendError:
    """A version without what we need."""
    return BackendError(
        f"The server is PostgreSQL {version // 10_000}, and at least 14 is needed.",
        code="engine-too-old",
        hint="Upgrade the server; versions before 14 are no longer maintained.",
    )


def encoding() -> BackendError:
    """A database whose bytes are not UTF-8: hashes and orders would differ."""
    return BackendError(
        "The database does not keep its text in UTF-8.",
        code="database-encoding",
        hint="Use a database made with ENCODING 'UTF8'.",
    )


def in_transaction() -> BackendError:
    """The connection handed in is busy with something of its owner's."""
    return BackendError(
        "The connection that was handed in is within a transaction.",
        code="connection-in-use",
        hint="Commit or roll back before you ask, or hand in a connection of its own (autocommit=True).",
    )


def no_schema(schema: str) -> BackendError:
    """There is no such schema, or nothing in it may be read."""
    shown = f"The schema {schema!r}" if schema else "The search path of the connection"
    return BackendError(
        f"{shown} has no table that this user may read.",
        code="no-tables",
        hint="Name the schema in the URL (?schema=shop), and grant USAGE on it and SELECT on its tables.",
    )
