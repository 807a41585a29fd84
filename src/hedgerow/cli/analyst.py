"""hedgerow analyst."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hedgerow.catalog import load_catalog
from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError, pointing
from hedgerow.cli.output import say, show_table, tell, write_json
from hedgerow.cli.serve import Config
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.service.access import open_access
from hedgerow.service.access.model import Credentials, Identity, Role, UserAccount
from hedgerow.service.caps import write_cap
from hedgerow.service.configuration import Configuration, find_configuration

analyst = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")


@analyst.callback()
def _analyst() -> None:
    """Manage the accounts of a service and the caps of analysts. The owner's command.

    `add`, `rotate`, `remove` and `list` are about accounts; `cap` writes an analyst's cap into the catalog. A running
    service sees accounts and caps at once. All take --json.

    Example: hedgerow analyst add ann --epsilon 0.5
    """


Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the account.")]
LIVE = "A running service on this machine applies the cap from its next statement on."
ONCE = "They are shown only once. Pass them on through a secure channel."


@analyst.command()
def add(
    name: Name,
    *,
    config: Config = None,
    role: Annotated[
        Role, typer.Option("--role", metavar="ROLE", help="The role: analyst, owner or auditor.")
    ] = Role.ANALYST,
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", metavar="NAME", help="A dataset that it may use; may be repeated; by default all."),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="CAP", help="The most that it may spend on each dataset, in the catalog."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Add an account, and print its password (for PostgreSQL's clients) and its token (for HTTP), once.

    Example: hedgerow analyst add ann --dataset hospital --epsilon 0.5
    """
    configuration = find_configuration(config)
    datasets = _chosen(configuration, dataset)
    if epsilon is not None:
        _require_cap(epsilon)
    with closing(open_access(configuration.store)) as access:
        if access.account(name) is None and epsilon is not None:  # the cap is there before the account
            for one in datasets:
                _write_cap(configuration, one, name, epsilon)
        credentials = access.add(Identity(name, role, frozenset(dataset) if dataset else None))
    _show_secrets(name, credentials, as_json=as_json, cap=epsilon)
    if epsilon is not None:
        tell(LIVE)
    elif role is Role.ANALYST and not all(
        {name, ANONYMOUS} & _caps(configuration.datasets[one].catalog).keys() for one in datasets
    ):
        tell(f"{name} has no cap of its own: hedgerow analyst cap {name} EPSILON")


@analyst.command()
def rotate(name: Name, *, config: Config = None, as_json: options.Json = False) -> None:
    """Replace the password and the token of an account; the old ones are refused from now on.

    Example: hedgerow analyst rotate ann
    """
    with closing(open_access(find_configuration(config).store)) as access:
        credentials = access.rotate(name)
    _show_secrets(name, credentials, as_json=as_json)


@analyst.command()
def remove(name: Name, *, config: Config = None, as_json: options.Json = False) -> None:
    """Remove an account. What it has spent stays in the ledger.

    Example: hedgerow analyst remove ann
    """
    with closing(open_access(find_configuration(config).store)) as access:
        access.remove(name)
    if as_json:
        write_json({"removed": name})
    else:
        tell(f"Removed {name}. What it has spent stays spent.")


@analyst.command(name="list")
def list_accounts(*, config: Config = None, as_json: options.Json = False) -> None:
    """List the accounts with their roles, datasets and caps.

    Example: hedgerow analyst list
    """
    configuration = find_configuration(config)
    with closing(open_access(configuration.store)) as access:
        accounts = access.accounts()
    caps = {name: _caps(settings.catalog) for name, settings in configuration.datasets.items()}
    if as_json:
        write_json({"accounts": [_account_json(account, caps) for account in accounts]})
        return
    if not accounts:
        tell("There are no accounts yet. Make one: hedgerow analyst add NAME")
        return
    table = Table("name", "role", "datasets", "cap (epsilon)", "since")
    for account in accounts:
        name, role, datasets = account.identity.name, account.identity.role, account.identity.datasets
        own = _own_caps(account, caps)
        shown = ", ".join(f"{one}: {cap:g}" if len(caps) > 1 else f"{cap:g}" for one, cap in own.items())
        chosen = "all" if datasets is None else ", ".join(sorted(datasets))
        table.add_row(name, role.value, chosen, shown or "none", f"{account.created:%Y-%m-%d}")
    show_table(table)


@analyst.command()
def cap(
    name: Name,
    epsilon: Annotated[float, typer.Argument(metavar="EPSILON", help="The most that the analyst may spend in all.")],
    *,
    config: Config = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", metavar="NAME", help="The dataset; may be repeated; by default all."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Set the cap of an analyst in the catalog, which keeps its comments and its order.

    Example: hedgerow analyst cap ann 0.5
    """
    configuration = find_configuration(config)
    _require_cap(epsilon)
    files = [_write_cap(configuration, one, name, epsilon) for one in _chosen(configuration, dataset)]
    with closing(open_access(configuration.store)) as access:
        known = access.account(name) is not None or name == ANONYMOUS
    if not known:
        tell(f"There is no account {name}: the cap holds for anyone with this name, from an identity provider say.")
    if as_json:
        write_json({"analyst": name, "epsilon": epsilon, "catalogs": files})
    else:
        say(f"{name} may spend epsilon {epsilon:g} in all: {', '.join(files)}")
    tell(LIVE)


def _chosen(configuration: Configuration, datasets: list[str] | None) -> list[str]:
    """Return the datasets that were named, or all."""
    unknown = [name for name in datasets or () if name not in configuration.datasets]
    if unknown:
        raise UsageError(
            f"{configuration.path.name} serves no dataset {unknown[0]}.",
            code="no-such-dataset",
            hint=f"It serves: {', '.join(configuration.datasets)}.",
        )
    return datasets or list(configuration.datasets)


def _require_cap(epsilon: float) -> None:
    low, high = EPSILONS
    if not low <= epsilon <= high:
        raise UsageError(f"A cap is an epsilon from {low:g} to {high:g}.")


def _write_cap(configuration: Configuration, dataset: str, name: str, epsilon: float) -> str:
    """Write a cap into a catalog, and return its file."""
    catalog = Path(configuration.datasets[dataset].catalog)
    with pointing(catalog=str(catalog)):
        try:
            write_cap(catalog, name, epsilon)
        except OSError:
            raise UsageError(
                f"{catalog} cannot be written.", code="output-unwritable", hint="Check the folder and the disk."
            ) from None
    return str(catalog)


def _caps(catalog: str) -> dict[str, float]:
    return {name: own.epsilon for name, own in load_catalog(catalog).budget.analysts.items()}


def _own_caps(account: UserAccount, caps: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the caps of an account by dataset, where it has one: its own, or that of analysts without one."""
    own = {dataset: known.get(account.identity.name, known.get(ANONYMOUS)) for dataset, known in caps.items()}
    return {name: cap for name, cap in own.items() if cap is not None and account.identity.may_use(name)}


def _account_json(account: UserAccount, caps: Mapping[str, Mapping[str, float]]) -> dict[str, object]:
    datasets = account.identity.datasets
    return {
        "name": account.identity.name,
        "role": account.identity.role.value,
        "datasets": None if datasets is None else sorted(datasets),
        "caps": _own_caps(account, caps),
        "created": account.created.isoformat(),
    }


def _show_secrets(name: str, credentials: Credentials, *, as_json: bool, cap: float | None = None) -> None:
    if as_json:
        write_json({"name": name, "password": credentials.password, "token": credentials.token, "epsilon": cap})
        return
    say(f"password {credentials.password}\ntoken    {credentials.token}")
    tell(f"The password is for the console and for PostgreSQL's clients, the token for HTTP and Python. {ONCE}")
