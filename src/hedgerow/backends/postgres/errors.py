"""Errors of a PostgreSQL server, in our own words. The server's are withheld."""

import re
import sys

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
        hint="Write postgresql://user@host:5432/database?schema=public&timeout=900&connections=8, and keep the "
        "password in PGPASSWORD or a password file.",
    )


REFUSALS = (
    (
        ("too many clients", "connection slots are reserved", "too many connections"),
        "too-many-connections",
        "The PostgreSQL server has no connection left for us",
        "Ask again later, raise max_connections on the server, or put a smaller connections= into the URL.",
    ),
    (
        ("password", "authentication", "pg_hba.conf", "role ", "not permitted to log in", "permission denied"),
        "login-refused",
        "The PostgreSQL server does not let this user in",
        "Check the user and the password (PGPASSWORD or a password file), and the server's pg_hba.conf.",
    ),
    (
        ("ssl", "tls", "certificate"),
        "tls-refused",
        "The PostgreSQL server and the URL do not agree on encryption",
        "Check sslmode and sslrootcert in the URL, and whether the server has a certificate that they accept.",
    ),
    (
        ("starting up", "shutting down", "recovery mode"),
        "no-server",
        "The PostgreSQL server is starting up or shutting down",
        "Ask again in a moment.",
    ),
    (
        ("does not exist",),
        "no-database",
        "There is no such database on the PostgreSQL server",
        "Check the name of the database in the URL.",
    ),
    (
        ("",),
        "no-server",
        "No PostgreSQL server answers at that address",
        "Check that it runs, and that the host and the port are right.",
    ),
)
"""Why there is no connection, by words of the message (the driver tells no number); the first line that fits counts."""


def unreachable(error: BaseException) -> BackendError:
    """Return why there is no connection. The server's own words stay in the owner's log: they quote names."""
    incident = failure(error).incident
    said = re.sub('"[^"]*"', "", str(error).lower())
    _, code, message, hint = next(line for line in REFUSALS if any(word in said for word in line[0]))
    return BackendError(f"{message} (incident {incident}).", code=code, hint=hint, incident=incident)


def pool_is_busy(most: int) -> BackendError:
    """Return the refusal for whoever waited too long for a connection."""
    return BackendError(
        f"All {most} connections to the database are in use.",
        code="too-many-connections",
        hint="Ask again later, or allow more with connections= in the URL.",
    )


CODES = {
    "57014": "timed-out",
    "55P03": "timed-out",
    "53100": "out-of-memory",
    "53200": "out-of-memory",
    "53400": "out-of-memory",
    "54000": "out-of-memory",
    "25P03": "connection-lost",
    "42501": "not-permitted",
    "42P01": "schema-changed",
    "42703": "schema-changed",
    "3F000": "schema-changed",
}
"""Our codes for PostgreSQL's error numbers (SQLSTATE)."""


def code_of(error: BaseException) -> str | None:
    """Return the code of an error of the driver: by its number, or as a lost connection where it has none.

    A timeout and a request to stop have one number; the server's words tell which it was.
    """
    psycopg = sys.modules.get("psycopg")
    if psycopg is None or not isinstance(error, psycopg.Error):
        return None
    number = error.sqlstate
    if number == "57014" and "user request" in str(error):
        return "cancelled"
    if number is None or number.startswith(("08", "57P")):
        return "connection-lost" if isinstance(error, psycopg.OperationalError) else None
    return CODES.get(number)


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
