"""The server: opens the datasets, starts the listeners in order, reloads catalogs, and stops in reverse order.

It loads the certificate of the listeners, and tells systemd when the service is ready, reloads and stops.
"""

import asyncio
import os
import signal
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, ExitStack, closing, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from hedgerow.backends import connect_backend
from hedgerow.catalog import bind_catalog, load_catalog
from hedgerow.errors import CatalogError, HedgerowError
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.service.access import open_access
from hedgerow.service.admission import StatementEvent
from hedgerow.service.configuration import Configuration, DatasetSettings, TlsFiles
from hedgerow.service.gateway import Gateway
from hedgerow.service.http.app import HttpListener
from hedgerow.service.http.authentication import OidcSettings
from hedgerow.service.monitoring import Check, Metrics, RequestLog, ServiceHealth
from hedgerow.service.shadow.cluster import Shadow
from hedgerow.service.wire.listener import WireListener
from hedgerow.session.connection import connect
from hedgerow.session.database import Database

CLOSING = 2.0
"""Seconds that a listener has to close connections on which no statement runs any more."""


class Listener(Protocol):
    """One address at which clients connect."""

    @property
    def address(self) -> str:
        """Host and port, once it listens."""

    async def start(self) -> None:
        """Begin to listen."""

    async def stop(self, grace: float) -> None:
        """Stop listening, and close connections within some seconds."""


class Server:
    """A running service, in one event loop.

    Args:
        configuration: Its settings.
        started: Called when everything listens, with the address of each interface.
    """

    def __init__(self, configuration: Configuration, started: Callable[[Mapping[str, str]], None]) -> None:
        self._configuration = configuration
        self._started = started
        self._log = RequestLog(configuration.log_file)
        self._tls = None if configuration.tls is None else server_context(configuration.tls)
        self._databases: dict[str, Database] = {}
        self._shadow: Shadow | None = None
        self._stopping = asyncio.Event()
        self._hurry = asyncio.Event()
        self._reloads: set[asyncio.Task[None]] = set()
        self._reloading = asyncio.Lock()

    async def run(self) -> None:
        """Serve until SIGTERM or SIGINT; SIGHUP reads the catalogs again.

        A second SIGTERM or SIGINT stops running statements at once.
        """
        loop = asyncio.get_running_loop()
        async with AsyncExitStack() as parts:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.stop)
                parts.callback(loop.remove_signal_handler, number)
            gateway, health, addresses = await self._start(parts)
            loop.add_signal_handler(signal.SIGHUP, partial(self._begin_reload, gateway))
            parts.callback(loop.remove_signal_handler, signal.SIGHUP)
            health.state = "ok"
            self._log.write(event="started", datasets=list(self._databases), **addresses)
            self._started(addresses)
            notify("READY=1")
            await self._stopping.wait()
            notify("STOPPING=1")
            health.state = "stopping"
            await self._drain(gateway)
        self._log.write(event="stopped")
        self._log.close()

    def stop(self) -> None:
        """Stop: accept no new statements, and wait for those that run. A second call stops those, too."""
        if self._stopping.is_set():
            self._hurry.set()
        self._stopping.set()

    async def _start(self, parts: AsyncExitStack) -> tuple[Gateway, ServiceHealth, dict[str, str]]:
        """Start every part and register its cleanup; listeners come last."""
        configuration, tls = self._configuration, self._tls
        access = parts.enter_context(closing(await asyncio.to_thread(open_access, configuration.store)))
        access.observe_change = self._log.observe_change
        self._databases = await asyncio.to_thread(open_datasets, configuration.datasets)
        parts.push_async_callback(self._close_databases)
        metrics = Metrics(lambda: gateway.admission.load, self._budgets)
        gateway = Gateway(self._databases, access, configuration.limits, observe=partial(self._observe, metrics))
        checks: dict[str, Check] = {
            "ledger": partial(asyncio.to_thread, self._read_ledgers),
            "accounts": partial(asyncio.to_thread, access.account, ANONYMOUS),
        }
        health, addresses = ServiceHealth(checks), {}
        if configuration.wire.enabled:
            shadow = self._shadow = Shadow(url=configuration.shadow_url)
            parts.push_async_callback(shadow.stop)
            await shadow.start(self._databases)
            checks["shadow"] = shadow.ensure_running
            wire = WireListener(gateway, access, shadow, configuration.wire.host, configuration.wire.port, tls)
            addresses["wire"] = await _listen(parts, "wire", wire)
        if configuration.http.enabled:
            oidc = None if configuration.oidc is None else OidcSettings(**configuration.oidc)
            host, port = configuration.http.host, configuration.http.port
            http = HttpListener(gateway, access, host, port, tls, oidc, health, metrics)
            addresses["http"] = await _listen(parts, "http", http)
        if configuration.console.enabled:
            host, port = configuration.console.host, configuration.console.port
            api = None if "http" not in addresses else f"{configuration.scheme}://{addresses['http']}"
            pages = import_module("hedgerow.service.console.listener")  # only where they are served: it takes a second
            console = pages.ConsoleListener(gateway, access, host, port, tls, api, partial(self._reload_saved, gateway))
            addresses["console"] = await _listen(parts, "console", console)
        return gateway, health, addresses

    def _observe(self, metrics: Metrics, event: StatementEvent) -> None:
        metrics.observe(event)
        self._log.observe(event)

    def _budgets(self) -> dict[str, Callable[[], Any]]:
        return {name: partial(getattr, database, "budget") for name, database in self._databases.items()}

    def _read_ledgers(self) -> None:
        """Raise an error if a ledger cannot be read."""
        for database in self._databases.values():
            _ = database.budget

    async def _drain(self, gateway: Gateway) -> None:
        """Wait for running statements, and stop them when their time is over or the signal comes again."""
        patient = asyncio.ensure_future(gateway.admission.drain(self._configuration.grace))
        hurry = asyncio.ensure_future(self._hurry.wait())
        await asyncio.wait({patient, hurry}, return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        if not patient.done():
            patient.cancel()
            await gateway.admission.drain(0)

    def _begin_reload(self, gateway: Gateway) -> None:
        task = asyncio.ensure_future(self._reload(gateway))
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    async def _reload(self, gateway: Gateway) -> None:
        """Read catalogs and the certificate again; keep the old ones where a new one is wrong. Open the log again."""
        async with self._reloading:
            notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")
            try:
                self._log.reopen()
                if self._tls is not None and self._configuration.tls is not None:
                    load_certificate(self._tls, self._configuration.tls)
                await (await self._reload_catalogs(gateway))
            except HedgerowError as error:
                self._log.write(event="reload-failed", code=error.code, message=error.message, hint=error.hint)
            notify("READY=1")

    async def _reload_saved(self, gateway: Gateway) -> None:
        """Use a catalog that was saved in the console; raise an error, and keep the old one, if it is wrong."""
        async with self._reloading:
            await self._reload_catalogs(gateway)

    async def _reload_catalogs(self, gateway: Gateway) -> "asyncio.Task[None]":
        """Open the datasets with their catalogs as they are now, and use them from now on.

        Statements that run keep the old ones. The task that is returned closes these once the statements have ended.
        """
        databases = await asyncio.to_thread(open_datasets, self._configuration.datasets)
        self._databases = databases
        if self._shadow is not None:
            await self._shadow.refresh(databases)
        replaced = asyncio.ensure_future(gateway.replace(databases))
        self._reloads.add(replaced)
        replaced.add_done_callback(self._reloads.discard)
        await asyncio.sleep(0)  # the new ones are in use from here on
        self._log.write(event="reloaded", datasets=list(databases))
        return replaced

    async def _close_databases(self) -> None:
        for database in self._databases.values():
            await asyncio.to_thread(database.close)


async def _listen(parts: AsyncExitStack, interface: str, listener: Listener) -> str:
    """Start a listener, and return its address."""
    try:
        await listener.start()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refuses"
        raise CatalogError(
            f"The service cannot listen on {listener.address}, the address of [serve.{interface}]: {reason}.",
            code="cannot-listen",
            hint=f"If another program has the port, set another in [serve.{interface}] of hedgerow.toml; port = 0 "
            "takes any that is free.",
        ) from None
    parts.push_async_callback(listener.stop, CLOSING)
    return listener.address


def open_datasets(datasets: Mapping[str, DatasetSettings]) -> dict[str, Database]:
    """Open every dataset with its catalog and ledger; all or none."""
    with ExitStack() as undo:
        databases = {}
        for name, settings in datasets.items():
            if settings.project is not None:
                databases[name] = connect(str(settings.project))
            else:
                databases[name] = connect(
                    settings.database, catalog=settings.catalog, ledger=settings.ledger, dialect=settings.dialect
                )
            undo.callback(databases[name].close)
        undo.pop_all()
    return databases


def check_datasets(datasets: Mapping[str, DatasetSettings]) -> None:
    """Compare every catalog with its database, without a ledger and without reading a row."""
    for settings in datasets.values():
        declared = load_catalog(settings.catalog)
        backend = connect_backend(settings.database, declared.limits, declared.tables)
        try:
            bind_catalog(declared, backend.schema())
        finally:
            backend.close()


EVERYBODY = 0o007
"""Permissions of users that are neither the owner nor in the group."""


def server_context(files: TlsFiles) -> ssl.SSLContext:
    """Return the TLS settings of both listeners: version 1.2 or later, with the owner's certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_certificate(context, files)
    return context


def load_certificate(context: ssl.SSLContext, files: TlsFiles) -> None:
    """Load certificate and key, for connections from now on; the old ones stay if the new cannot be used."""
    key = Path(files.key)
    try:
        exposed = os.name == "posix" and bool(key.stat().st_mode & EVERYBODY)
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key, _no_passphrase)
    except (OSError, ssl.SSLError, ValueError):
        raise CatalogError(
            "The certificate and the key in [serve.tls] cannot be read, or do not belong together.",
            code="serve-tls",
            hint="Both are PEM files: the certificate with its chain, and the private key without a passphrase.",
        ) from None
    if exposed:
        raise CatalogError(
            f"Every user of this machine may read the private key {key.name} of [serve.tls].",
            code="serve-tls",
            hint=f"Run: chmod 600 {key}. If others could read it for some time, ask for a new certificate.",
        )
    context.load_cert_chain(files.certificate, files.key)


def _no_passphrase() -> str:
    """Refuse a key with a passphrase, instead of asking for it on a terminal."""
    raise ValueError


def notify(*states: str) -> None:
    """Tell systemd a state, such as READY=1, by a datagram of sd_notify; do nothing if systemd did not ask for any."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    place = f"\0{address[1:]}" if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.connect(place)
        channel.sendall("\n".join(states).encode())
