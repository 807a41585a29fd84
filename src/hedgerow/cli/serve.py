"""hedgerow serve."""

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, astuple
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from hedgerow.cli import options
from hedgerow.cli.demo import make_hospital
from hedgerow.cli.errors import UsageError
from hedgerow.cli.output import say, write_json
from hedgerow.demo import HospitalFiles, existing
from hedgerow.service.access import open_access
from hedgerow.service.access.model import Credentials, Identity, Role
from hedgerow.service.configuration import Configuration, find_configuration, with_listeners
from hedgerow.session.project import FILE

Config = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="FILE", help="The project file with [serve]; by default the nearest hedgerow.toml."
    ),
]


def _port(name: str, reader: str) -> Any:  # noqa: ANN401 - Typer's options have no common type
    return typer.Option(f"--{name}-port", min=0, max=65535, metavar="PORT", help=f"The port for {reader}; 0: any free.")


DEMO = "demo"
"""Folder of the data that `--demo` serves, as `hedgerow demo` names it."""

FIRST = {"owner": Role.OWNER, "analyst": Role.ANALYST}
"""Accounts that the first start makes, where only programs on this machine can connect."""

INTERFACES = {"wire": "PostgreSQL", "http": "HTTP", "console": "console"}


def serve(
    *,
    config: Config = None,
    demo: Annotated[
        bool, typer.Option("--demo", help=f"Serve a generated hospital in ./{DEMO}; it is made if it is not there.")
    ] = False,
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="The address to listen on, instead of the file's.")
    ] = None,
    pg_port: Annotated[int | None, _port("pg", "PostgreSQL's clients")] = None,
    http_port: Annotated[int | None, _port("http", "HTTP")] = None,
    console_port: Annotated[int | None, _port("console", "browsers")] = None,
    no_console: Annotated[bool, typer.Option("--no-console", help="Serve no pages for browsers.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Check the settings, and exit.")] = False,
    as_json: options.Json = False,
) -> None:
    """Let others ask by psql, BI tools, HTTP or browser, with accounts, caps and limits. The owner's command.

    It needs no other server. Without settings it listens on this machine alone, and the first start makes an owner and
    an analyst and prints how to connect. The line `ready` has the addresses, once it listens. SIGTERM or Ctrl-C stops
    it, SIGHUP makes it read the catalogs again: docs/how-to/run-the-service.md.

    Example: hedgerow serve --config demo/hedgerow.toml
    """
    server = _server()
    file = _demo(config) if demo else config
    configuration = with_listeners(
        find_configuration(file), host, pg_port, http_port, console_port, console=not no_console
    )
    if check:
        _check(configuration, server, as_json=as_json)
        return

    def started(addresses: Mapping[str, str]) -> None:
        _report(configuration, addresses, _first_accounts(configuration), as_json=as_json)

    asyncio.run(server.Server(configuration, started).run())


def _server() -> ModuleType:
    try:
        return import_module("hedgerow.service.server")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("hedgerow"):
            raise
        raise UsageError(
            "The server needs libraries that are not installed.",
            code="no-serve",
            hint='Install the extra serve: pip install "hedgerow[serve]".',
        ) from None


def _demo(config: str | None) -> str:
    """Return the project file of the generated hospital, which is made if it is not there."""
    if config is not None:
        raise UsageError("--demo and --config name two projects.", code="usage", hint="Leave one of them out.")
    files = HospitalFiles.of(Path(DEMO))
    if not existing(files):
        make_hospital(files)
    return str(files.catalog.parent / FILE)


def _check(configuration: Configuration, server: ModuleType, *, as_json: bool) -> None:
    if configuration.tls is not None:
        server.server_context(configuration.tls)
    server.check_datasets(configuration.datasets)
    if as_json:
        write_json(
            {"ok": True, "datasets": list(configuration.datasets), "store": configuration.store.partition("?")[0]}
        )
    else:
        say(f"{configuration.path.name} is fine. Datasets: {', '.join(configuration.datasets)}.")


def _first_accounts(configuration: Configuration) -> dict[str, Credentials] | None:
    """Make an owner and an analyst where there is no account yet; return their secrets, or None if none may be made.

    Secrets are printed only where nobody else can connect and no journal keeps what is printed.
    """
    with closing(open_access(configuration.store)) as access:
        if access.accounts():
            return {}
        if not configuration.is_local or is_supervised():
            return None
        return {name: access.add(Identity(name, role)) for name, role in FIRST.items()}


def is_supervised() -> bool:
    """Return True if systemd started this process, so that its output goes to the journal."""
    return any(os.environ.get(name) for name in ("INVOCATION_ID", "NOTIFY_SOCKET"))


def _report(
    configuration: Configuration,
    addresses: Mapping[str, str],
    accounts: Mapping[str, Credentials] | None,
    *,
    as_json: bool,
) -> None:
    """Print where the service listens, and the secrets of accounts that were made just now."""
    if as_json:
        secrets = {name: asdict(credentials) for name, credentials in (accounts or {}).items()}
        write_json({"ready": True, "datasets": list(configuration.datasets), **addresses, "accounts": secrets})
    else:
        for line in connection_lines(configuration, addresses, accounts):
            say(line)
    sys.stdout.flush()


def connection_lines(
    configuration: Configuration, addresses: Mapping[str, str], accounts: Mapping[str, Credentials] | None
) -> list[str]:
    """Return the lines that say how to connect, with secrets where accounts were made just now.

    Args:
        configuration: The settings.
        addresses: Addresses by interface.
        accounts: Accounts that were made just now; empty if there were some before, None if there is none at all.
    """
    schemes = dict.fromkeys(INTERFACES, configuration.scheme) | {"wire": "postgresql"}
    urls = {interface: f"{schemes[interface]}://{address}" for interface, address in addresses.items()}
    lines = [f"ready: {', '.join(f'{INTERFACES[interface]} {url}' for interface, url in urls.items())}"]
    lines += [f"Datasets: {', '.join(configuration.datasets)}. Ctrl-C stops the service."]
    if accounts is None:
        return [*lines, "There are no accounts yet. Make one: hedgerow analyst add NAME --epsilon 0.5"]
    if not accounts:
        return [*lines, "Accounts: hedgerow analyst list. New secrets for one: hedgerow analyst rotate NAME"]
    dataset, (password, token) = next(iter(configuration.datasets)), astuple(accounts["analyst"])
    lines += ["", "Two accounts were made, analyst and owner. Their secrets are shown once, now:"]
    if "console" in urls:
        lines += ["", "analyst, in a browser:", f"  {urls['console']}  name analyst, password {password}"]
    if "wire" in urls:
        mode = "" if configuration.tls is None else "?sslmode=require"
        lines += ["", "analyst, with psql:"]
        lines += [f'  psql "postgresql://analyst:{password}@{addresses["wire"]}/{dataset}{mode}"']
    if "http" in urls:
        api = urls["http"]
        lines += ["", "analyst, with curl:"]
        lines += [f'  curl -H "Authorization: Bearer {token}" {api}/v1/datasets/{dataset}/tables']
        lines += ["", "analyst, in Python:"]
        lines += [f'  db = hedgerow.connect("{api}/{dataset}", token="{token}")']
    lines += ["", "owner:", f"  password {accounts['owner'].password}", f"  token    {accounts['owner'].token}"]
    lines += ["", "A cap for the analyst: hedgerow analyst cap analyst 0.5"]
    if "http" in urls:
        lines += [f"A model asks {urls['http']}/mcp, with the token of an account that has a cap."]
    return [*lines, "More accounts, each with a cap: hedgerow analyst add NAME --epsilon 0.5"]
