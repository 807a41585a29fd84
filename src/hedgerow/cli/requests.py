"""hedgerow requests."""

import getpass
from contextlib import closing
from typing import Annotated, Any

import typer
from rich.table import Table

from hedgerow.cli import options
from hedgerow.cli.errors import UsageError
from hedgerow.cli.output import printable, say, show_table, tell, write_json
from hedgerow.cli.serve import Config
from hedgerow.service.access import open_access
from hedgerow.service.access.model import ApprovalRequest, RequestState
from hedgerow.service.configuration import find_configuration

requests = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")


@requests.callback()
def _requests() -> None:
    """Grant or deny questions that a service answers only with approval. The owner's command.

    `list` shows the requests that wait, `grant` and `deny` decide. A granted question is answered once, when the
    analyst asks it again. All take --json.

    Example: hedgerow requests list
    """


Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the request.")]
LONGEST = 60


@requests.command(name="list")
def list_requests(
    *,
    config: Config = None,
    dataset: Annotated[str | None, typer.Option("--dataset", metavar="NAME", help="Those of one dataset.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Decided ones, too.")] = False,
    as_json: options.Json = False,
) -> None:
    """List the requests that wait, with their prices.

    Example: hedgerow requests list --all
    """
    with closing(open_access(find_configuration(config).store)) as access:
        listed = access.requests(dataset, None if every else RequestState.PENDING)
    if as_json:
        write_json({"requests": [_request_json(request) for request in listed]})
        return
    if not listed:
        tell("No request waits." if not every else "There are no requests.")
        return
    table = Table("id", "dataset", "analyst", "epsilon", "state", "question")
    for request in listed:
        price = f"{_epsilon(request):.3g}"
        question = printable(request.sql, LONGEST)
        table.add_row(request.id, request.dataset, request.analyst, price, request.state.value, question)
    show_table(table)


@requests.command()
def grant(identifier: Id, *, config: Config = None, as_json: options.Json = False) -> None:
    """Grant a request: its question is answered once, when it is asked again.

    Example: hedgerow requests grant 1f2e3d4c5b6a7988
    """
    _decide(identifier, RequestState.GRANTED, config, as_json=as_json)


@requests.command()
def deny(identifier: Id, *, config: Config = None, as_json: options.Json = False) -> None:
    """Deny a request. Nothing was charged for it.

    Example: hedgerow requests deny 1f2e3d4c5b6a7988
    """
    _decide(identifier, RequestState.DENIED, config, as_json=as_json)


def _decide(identifier: str, state: RequestState, config: str | None, *, as_json: bool) -> None:
    with closing(open_access(find_configuration(config).store)) as access:
        if access.request(identifier) is None:
            raise UsageError(
                f"There is no request {identifier}.", code="no-such-request", hint="List them: hedgerow requests list"
            )
        decided = access.decide(identifier, state, _user())
        request = access.request(identifier)
    if not decided or request is None:
        raise UsageError(
            f"The request {identifier} was decided before.",
            code="request-decided",
            hint="A decision is final; the analyst can ask again. See: hedgerow requests list --all",
        )
    if as_json:
        write_json(_request_json(request))
    else:
        say(f"{identifier} is {state.value}.")


def _user() -> str:
    """Return the name of the user who runs this command, for the record."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "command line"


def _epsilon(request: ApprovalRequest) -> float:
    return float(request.quote.get("charge", {}).get("epsilon", 0.0))


def _request_json(request: ApprovalRequest) -> dict[str, Any]:
    return {
        "id": request.id,
        "dataset": request.dataset,
        "analyst": request.analyst,
        "sql": request.sql,
        "params": request.params,
        "options": dict(request.options),
        "epsilon": _epsilon(request),
        "state": request.state.value,
        "created": request.created.isoformat(),
        "decided_by": request.decided_by,
    }
