"""hedgerow mcp."""

import json
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from hedgerow.catalog import load_catalog
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError, pointing
from hedgerow.cli.output import say, write_json
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.owners_log import keep
from hedgerow.session.asynchronous import AsyncDatabase
from hedgerow.session.connection import connect


def mcp(
    *,
    db: options.Db,
    catalog: options.CatalogFile,
    ledger: options.LedgerFile = None,
    model: Annotated[
        str, typer.Option("--analyst", metavar="NAME", help="Name of the analyst as which the model asks.")
    ] = "model",
    dialect: options.Dialect = None,
    config: Annotated[
        bool, typer.Option("--config", help="Print the settings for a program that runs models, and exit.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Let a language model ask, as an analyst with a cap of its own: a server of the Model Context Protocol.

    The program that runs the model starts it and speaks with it on standard input and output. The catalog
    must have a cap for the analyst: a model may ask many questions.

    Example: hedgerow mcp --db demo/hospital.duckdb --catalog demo/hospital.yaml --config
    """
    with pointing(catalog=catalog):
        declared = load_catalog(catalog)
        if config:
            _show_settings(declared.dataset, db, catalog, ledger, model, as_json=as_json)
            return
        server = _server()
        if model not in declared.budget.analysts and ANONYMOUS not in declared.budget.analysts:
            raise UsageError(
                f"The analyst {model} has no cap, so the model could spend the whole budget.",
                code="no-cap",
                hint=f"Write into the catalog, under budget: analysts: {{{model}: {{epsilon: 0.5}}}}",
            )
        with connect(db, catalog=catalog, ledger=ledger, analyst=model, dialect=dialect) as database:
            keep(database.owners_log)
            server.build_server(AsyncDatabase(database)).run("stdio")


def _server() -> ModuleType:
    try:
        return import_module("hedgerow.service.mcp_server")
    except ImportError:
        raise UsageError(
            "The server is made with the library mcp, which is not installed.",
            code="no-mcp",
            hint='Install the extra mcp: pip install "hedgerow[mcp]".',
        ) from None


def _show_settings(dataset: str, db: str, catalog: str, ledger: str | None, model: str, *, as_json: bool) -> None:
    """Print the settings, with paths that do not depend on the folder in which the program starts the server."""
    words = ["mcp", "--db", _absolute(db), "--catalog", _absolute(catalog)]
    words += ["--analyst", model, *(["--ledger", _absolute(ledger)] if ledger is not None else [])]
    settings = {"mcpServers": {dataset: {"command": "hedgerow", "args": words}}}
    if as_json:
        write_json(settings)
    else:
        say(json.dumps(settings, indent=2))


def _absolute(place: str) -> str:
    """Return a file as an absolute path, and anything else, such as a URL, unchanged."""
    return str(Path(place).resolve()) if Path(place).exists() else place
