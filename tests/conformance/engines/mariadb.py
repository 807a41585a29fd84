"""MariaDB by Ibis: a server from Debian, in a folder of its own, behind a socket."""

import datetime as dt
import os
import shutil
import subprocess
import tempfile
import threading
import uuid
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from hedgerow.schema import Schema

from .ibis_duckdb import uncollated

NATIVE = {
    "VARCHAR": "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "TIMESTAMP": "DATETIME(6)",
    "TIME": "TIME(6)",
    "TIMESTAMP WITH TIME ZONE": "DATETIME(6)",
    "UUID": "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin",
    "DOUBLE": "DOUBLE",
}
BYTES = "VARCHAR(190) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
PROGRAMS = ("mariadbd", "mariadb-install-db")
FINITE = True
UTC = (
    "INSERT INTO mysql.time_zone (Time_zone_id) VALUES (1)",
    "INSERT INTO mysql.time_zone_name VALUES ('UTC', 1)",
    "INSERT INTO mysql.time_zone_transition_type VALUES (1, 0, 0, 0, 'UTC')",
)
"""The one time zone that Ibis asks for; servers usually know all of them."""


def why_not():
    missing = [name for name in PROGRAMS if program(name) is None]
    missing += [] if find_spec("MySQLdb") else ["the Python package mysqlclient"]
    missing += [] if find_spec("ibis") else ["ibis-framework"]
    return f"{' and '.join(missing)} is not installed (make system-packages)" if missing else None


def program(name):
    """Servers are not always on the path of those who are not root."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


@contextmanager
def running():
    """A server that ends with the block; what comes is the path of its socket."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        user = ["--user=mysql"] if os.geteuid() == 0 else []
        if user:
            shutil.chown(folder, "mysql")
            place.chmod(0o755)
        data = f"--datadir={place / 'data'}"
        built = [
            program("mariadb-install-db"),
            "--no-defaults",
            data,
            "--auth-root-authentication-method=normal",
            *user,
        ]
        done = subprocess.run([*built, "--skip-test-db"], check=False, capture_output=True)  # noqa: S603 - found above
        if done.returncode:  # a busy machine may refuse once
            shutil.rmtree(place / "data", ignore_errors=True)
            subprocess.run([*built, "--skip-test-db"], check=True, capture_output=True)  # noqa: S603 - likewise
        socket = place / "socket"
        settings = [
            f"--tmpdir={folder}",
            "--skip-networking",
            "--innodb-buffer-pool-size=64M",
            "--innodb-flush-log-at-trx-commit=0",
        ]
        command = [program("mariadbd"), "--no-defaults", data, f"--socket={socket}", f"--pid-file={place / 'pid'}"]
        with subprocess.Popen(  # noqa: S603 - likewise
            [*command, *settings, *user], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as server:
            while not socket.exists():
                assert server.poll() is None, "the server did not start"
                threading.Event().wait(0.05)
            try:
                yield str(socket)
            finally:
                server.terminate()


def connected(socket, **options):
    """A connection of the driver, which Ibis takes over."""
    import MySQLdb  # noqa: PLC0415 - it may be missing

    return MySQLdb.connect(unix_socket=socket, user="root", database="test", charset="utf8mb4", **options)


def ibis_over(connection):
    """An Ibis backend over an open connection."""
    import ibis  # noqa: PLC0415 - it may be missing

    return ibis.mysql.from_connection(connection)


@contextmanager
def opened(tables):
    from hedgerow.backends.ibis import Ibis  # noqa: PLC0415 - it may be missing

    class Bytewise(Ibis):
        """Texts of all tables but the nasty one are compared byte by byte (see `create`), which Ibis cannot tell."""

        def schema(self):
            actual = super().schema()
            nasty = {name: table for name, table in actual.tables.items() if name == "nasty"}
            return Schema({**uncollated(actual).tables, **nasty})

    with running() as socket:
        import MySQLdb  # noqa: PLC0415 - likewise

        owner = MySQLdb.connect(unix_socket=socket, user="root", charset="utf8mb4", autocommit=True)
        for statement in (*UTC, "CREATE DATABASE test CHARACTER SET utf8mb4"):
            owner.cursor().execute(statement)
        owner.select_db("test")
        for name, table in tables.items():
            create(owner, name, table)
        connection = connected(socket, autocommit=True)
        try:
            yield Bytewise(ibis_over(connection))
        finally:
            connection.close()
            owner.close()


def create(connection, name, table):
    native = NATIVE if name == "nasty" else NATIVE | {"VARCHAR": BYTES}
    kinds = {column: native.get(kind, kind) for column, kind in table.columns.items()}
    shape = ", ".join(f"`{column}` {kind}" for column, kind in kinds.items())
    key = f", PRIMARY KEY ({', '.join(table.primary)})" if table.primary else ""
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE `{name}` ({shape}{key})")
    places = ", ".join(["%s"] * len(kinds))
    cursor.executemany(f"INSERT INTO `{name}` VALUES ({places})", [[*map(stored, row)] for row in table.rows])


def stored(value):
    """A TIMESTAMP of MariaDB begins with 1970, so points in time are stored at UTC without saying so."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC).replace(tzinfo=None)
    return str(value) if isinstance(value, uuid.UUID) else value
