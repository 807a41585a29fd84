"""Errors of a PostgreSQL server, in our own words; the server's messages are withheld."""

import re
import sys

from hedgerow.backends.base import failure
from hedgerow.errors import BackendError


def driver_missing() -> BackendError:
    """Return the error for a missing driver."""
    return BackendError(
        "The driver psycopg is not installed.", code="driver-missing", hint="pip install 'hedgerow[postgres]'"
    )


def bad_url() -> BackendError:
    """Return the error for an invalid URL. It does not quote the URL, which may contain a password."""
    return BackendError(
        "The URL of the database is invalid.",
        code="not-a-database",
        hint="Write postgresql://user@host:5432/database?schema=public&timeout=900&connections=8, and keep the "
        "password in PGPASSWORD or a password file.",
    )


REFUSALS = (
    (
        ("too many clients", "connection slots are reserved", "too many connections"),
        "too-many-connections",
        "The PostgreSQL server has no free connections",
        "Try again later, raise max_connections on the server, or use a smaller connections= in the URL.",
    ),
    (
        ("password", "authentication", "pg_hba.conf", "role ", "not permitted to log in", "permission denied"),
        "login-refused",
        "The PostgreSQL server refused the login of this user",
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
        "Try again shortly.",
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
        "Check that it is running, and check host and port.",
    ),
)
"""Reasons of failed connections, by words in the message (the driver has no number); the first match counts."""


def unreachable(error: BaseException) -> BackendError:
    """Return why the connection failed. The server's message, which quotes names, goes to the owner's log only."""
    incident = failure(error).incident
    words = re.sub('"[^"]*"', "", str(error).lower())
    _, code, message, hint = next(line for line in REFUSALS if any(word in words for word in line[0]))
    return BackendError(f"{message} (incident {incident}).", code=code, hint=hint, incident=incident)


def pool_is_busy(maximum: int) -> BackendError:
    """Return the error for a statement that waited too long for a connection."""
    return BackendError(
        f"All {maximum} connections to the database are in use.",
        code="too-many-connections",
        hint="Try again later, or allow more with connections= in the URL.",
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
    """Return the code of an error of the driver by its number; an operational error without one is a lost connection.

    A timeout and a cancellation have the same number; the server's message tells them apart.
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
    """Return the error for a server that is too old."""
    return BackendError(
        f"The server is PostgreSQL {version // 10_000}; 14 or newer is required.",
        code="engine-too-old",
        hint="Upgrade the server; versions before 14 are no longer maintained.",
    )


def encoding() -> BackendError:
    """Return the error for a database that is not in UTF-8: hashes and sort orders would differ."""
    return BackendError(
        "The database does not store text in UTF-8.",
        code="database-encoding",
        hint="Use a database created with ENCODING 'UTF8'.",
    )


def in_transaction() -> BackendError:
    """Return the error for an owner's connection with an open transaction."""
    return BackendError(
        "The connection has an open transaction.",
        code="connection-in-use",
        hint="Commit or roll back first, or pass a separate connection (autocommit=True).",
    )


def no_schema(schema: str) -> BackendError:
    """Return the error for a schema that does not exist or has no readable tables."""
    shown = f"The schema {schema!r}" if schema else "The search path of the connection"
    return BackendError(
        f"{shown} has no table that this user may read.",
        code="no-tables",
        hint="Name the schema in the URL (?schema=shop), and grant USAGE on it and SELECT on its tables.",
    )
