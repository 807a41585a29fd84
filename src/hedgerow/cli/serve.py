"""hedgerow serve."""

import asyncio
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from importlib import import_module
from types import ModuleType
from typing import Annotated

import typer

from hedgerow.cli import options
from hedgerow.cli.errors import UsageError
from hedgerow.cli.output import say, tell, write_json
from hedgerow.service.access.connect import open_access
from hedgerow.service.access.model import Credentials, Identity, Role
from hedgerow.service.configuration import Configuration, find_configuration
from hedgerow.service.systemd import is_supervised

Config = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="FILE", help="The project file with [serve]; by default the nearest hedgerow.toml."
    ),
]

FIRST = {"owner": Role.OWNER, "analyst": Role.ANALYST}
"""Accounts that the first start makes, where only programs on this machine can connect."""


def serve(
    *,
    config: Config = None,
    check: Annotated[bool, typer.Option("--check", help="Check the settings, and end.")] = False,
    as_json: options.Json = False,
) -> None:
    """Let others ask by psql, BI tools, HTTP or browser, with accounts, caps and limits. The owner's command.

    It needs no other server. Without settings it listens on this machine alone, and the first start makes an owner and
    an analyst and prints how to connect. SIGTERM or Ctrl-C stops it, SIGHUP makes it read the catalogs again:
    docs/how-to/run-the-service.md.

    Example: hedgerow serve --config demo/hedgerow.toml
    """
    configuration = find_configuration(config)
    server = _server()
    if check:
        _check(configuration, server, as_json=as_json)
        return

    def started(addresses: Mapping[str, str]) -> None:
        _report(configuration, addresses, _first_accounts(configuration), as_json=as_json)

    asyncio.run(server.Server(configuration, started).run())


def _server() -> ModuleType:
    try:
        return import_module("hedgerow.service.server")
    except ImportError:
        raise UsageError(
            "The server needs libraries that are not installed.",
            code="no-serve",
            hint='Install the extra serve: pip install "hedgerow[serve]".',
        ) from None


def _check(configuration: Configuration, server: ModuleType, *, as_json: bool) -> None:
    if configuration.tls is not None:
        server.server_context(configuration.tls)
    server.check_datasets(configuration.datasets)
    if as_json:
        write_json({"ok": True, "datasets": list(configuration.datasets), "store": _shown_store(configuration)})
    else:
        say(f"{configuration.path.name} is fine. Datasets: {', '.join(configuration.datasets)}.")


def _shown_store(configuration: Configuration) -> str:
    """Return the place of the accounts without the options of a URL."""
    return configuration.store.partition("?")[0]


def _first_accounts(configuration: Configuration) -> dict[str, Credentials]:
    """Make an owner and an analyst where there is no account yet, and return their secrets.

    Secrets are printed only where nobody else can connect and no journal keeps what is printed.
    """
    with closing(open_access(configuration.store)) as access:
        if access.accounts():
            return {}
        if not configuration.is_local or is_supervised():
            tell("There are no accounts yet. Make one: hedgerow analyst add NAME")
            return {}
        return {name: access.add(Identity(name, role)) for name, role in FIRST.items()}


def _report(
    configuration: Configuration, addresses: Mapping[str, str], accounts: Mapping[str, Credentials], *, as_json: bool
) -> None:
    """Print where the service listens, and the secrets of accounts that were made just now."""
    if as_json:
        secrets = {name: asdict(credentials) for name, credentials in accounts.items()}
        write_json({"datasets": list(configuration.datasets), **addresses, "accounts": secrets})
    else:
        for line in connection_lines(configuration, addresses, accounts):
            say(line)
    sys.stdout.flush()


def connection_lines(
    configuration: Configuration, addresses: Mapping[str, str], accounts: Mapping[str, Credentials]
) -> list[str]:
    """Return the lines that say how to connect, with secrets where accounts were made just now."""
    dataset = next(iter(configuration.datasets))
    secure = configuration.tls is not None
    lines = [f"hedgerow serves {', '.join(configuration.datasets)}. Ctrl-C stops it."]
    names = {"wire": "PostgreSQL", "http": "HTTP", "console": "Console"}
    web = "https" if secure else "http"
    schemes = {"wire": "postgresql", "http": web, "console": web}
    lines += [f"  {names.get(door, door):<11} {schemes.get(door, door)}://{at}" for door, at in addresses.items()]
    analyst = accounts.get("analyst")
    if analyst is None:
        return [*lines, "Accounts: hedgerow analyst list. New secrets for one: hedgerow analyst rotate NAME"]
    lines += ["", "Two accounts were made. Their secrets are shown once, now:"]
    if "console" in addresses:
        lines += ["", f"  browser: {web}://{addresses['console']}, name analyst, password {analyst.password}"]
    if "wire" in addresses:
        mode = "?sslmode=require" if secure else ""
        lines += ["", "  psql (analyst)"]
        lines += [f'    psql "postgresql://analyst:{analyst.password}@{addresses["wire"]}/{dataset}{mode}"']
    if "http" in addresses:
        base = f"{schemes['http']}://{addresses['http']}"
        lines += ["", "  curl (analyst)"]
        lines += [f'    curl -H "Authorization: Bearer {analyst.token}" {base}/v1/datasets/{dataset}/tables']
        lines += ["", "  Python (analyst)"]
        lines += [f'    db = hedgerow.connect("{base}/{dataset}", token="{analyst.token}")']
    owner = accounts["owner"]
    lines += ["", f"  owner: password {owner.password}", f"         token {owner.token}"]
    return [*lines, "", "More accounts, each with a cap: hedgerow analyst add NAME --epsilon 0.5"]
