"""The options that several commands share, each said once; and the project file, which sets those that are left out."""

import os
from contextlib import suppress
from typing import Annotated, Any

import typer

from hedgerow.catalog import Catalog, load_catalog
from hedgerow.errors import HedgerowError
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.session.project import find_project


def complete_table(incomplete: str) -> list[str]:
    """Return the private tables of the project that begin with what was typed, for completion in a shell."""
    catalog = _catalog()
    names = [] if catalog is None else [table.name for table in catalog.tables.values() if not table.public]
    return [name for name in names if name.lower().startswith(incomplete.lower())]


def complete_analyst(incomplete: str) -> list[str]:
    """Return the analysts that the project's catalog names and that begin with what was typed."""
    catalog = _catalog()
    names = [] if catalog is None else [name for name in catalog.budget.analysts if name != ANONYMOUS]
    return [name for name in names if name.startswith(incomplete)]


def _catalog() -> Catalog | None:
    """Return the project's catalog; None where there is none that loads."""
    with suppress(HedgerowError):
        project = find_project()
        if project is not None and project.catalog is not None:
            return load_catalog(project.catalog)
    return None


Db = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="HEDGEROW_DB",
        metavar="PATH",
        help="The database: a file, a folder of files, or a URL (postgresql://…).",
    ),
]
OptionalDb = Annotated[
    str | None,
    typer.Option("--db", envvar="HEDGEROW_DB", metavar="PATH", help="The database, required by --plan."),
]
CatalogFile = Annotated[
    str,
    typer.Option(
        "--catalog",
        envvar="HEDGEROW_CATALOG",
        metavar="FILE",
        help="The catalog, a YAML file that declares what is protected.",
    ),
]


def _ledger_of_catalog(ctx: typer.Context, ledger: str | None) -> str | None:
    """Return the ledger; that of the project only together with the project's catalog."""
    named, projects = ctx.params.get("catalog"), ctx.lookup_default("catalog")
    source = ctx.get_parameter_source("ledger")
    if source is None or source.name != "DEFAULT_MAP" or named is None or projects is None:
        return ledger
    return ledger if os.path.realpath(named) == os.path.realpath(projects) else None


LedgerFile = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        callback=_ledger_of_catalog,
        help="The ledger, the record of spending; by default next to the catalog.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]

Statement = Annotated[str, typer.Argument(metavar="SELECT…", help="The statement; - reads it from standard input.")]
Param = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="The value of :name in the statement; may be repeated."),
]
Analyst = Annotated[
    str | None,
    typer.Option(
        "--analyst", metavar="NAME", help="Name of the analyst; not verified.", autocompletion=complete_analyst
    ),
]
Epsilon = Annotated[
    float | None,
    typer.Option("--epsilon", metavar="E", help="The most this statement may cost; by default the catalog's."),
]
Delta = Annotated[
    float | None,
    typer.Option("--delta", metavar="D", help="The delta of the statement; by default the catalog's."),
]
Within = Annotated[
    str | None,
    typer.Option(
        "--within",
        metavar="W",
        help="The target error: 5% (or 0.05) of the value, abs:100 of its unit, 5%@1000 in groups of 1 000 or more. "
        "The smallest sufficient epsilon is spent; --epsilon is then the limit.",
    ),
]
Confidence = Annotated[
    float | None, typer.Option("--confidence", metavar="C", help="Coverage of an error bar, such as 0.95.")
]
Mechanism = Annotated[str, typer.Option("--mechanism", metavar="M", help="The noise: auto, gaussian or laplace.")]
OptionalMechanism = Annotated[
    str | None, typer.Option("--mechanism", metavar="M", help="The noise: auto, gaussian or laplace.")
]
MinFrequency = Annotated[
    int | None,
    typer.Option("--min-frequency", metavar="K", help="Minimum number of people in a group; it can only be raised."),
]
MaxRows = Annotated[
    int | None,
    typer.Option("--max-rows", metavar="N", help="Maximum number of rows of one person; it can only be lowered."),
]
MaxGroups = Annotated[
    int | None,
    typer.Option("--max-groups", metavar="N", help="Maximum number of groups of one person; it can only be lowered."),
]
Nonnegative = Annotated[
    bool,
    typer.Option("--nonnegative", help="Move counts and sums so that none is negative, and all still add up. Free."),
]
AddUp = Annotated[
    bool,
    typer.Option("--add-up", help="Make all tables about the same rows add up, or refuse the batch."),
]
Bounds = Annotated[
    str | None,
    typer.Option("--bounds", metavar="auto", help="auto: find missing bounds privately, for a part of epsilon."),
]
Dialect = Annotated[
    str | None,
    typer.Option("--dialect", metavar="NAME", help="The SQL dialect of the statement; by default DuckDB's."),
]


OPENED: dict[str, tuple[str, ...]] = {
    "batch": ("db", "catalog", "ledger", "analyst", "dialect", "epsilon", "delta", "confidence"),
    "publish": ("db", "catalog", "ledger", "analyst", "dialect", "epsilon", "delta", "confidence"),
    "query": ("db", "catalog", "ledger", "analyst", "dialect", "epsilon", "delta", "confidence"),
    "quote": ("db", "catalog", "ledger", "analyst", "dialect", "epsilon", "delta", "confidence"),
    "mcp": ("db", "catalog", "ledger", "dialect"),
    "shell": ("db", "catalog", "ledger", "analyst", "dialect"),
    "calibrate": ("db", "catalog", "ledger", "analyst"),
    "check": ("db", "catalog"),
    "budget": ("db", "catalog", "ledger"),
    "prepare": ("db", "catalog", "ledger"),
    "plan": ("db", "catalog", "ledger", "dialect", "confidence"),
    "audit": ("db", "catalog", "dialect"),
    "experiment ask": ("db", "catalog", "ledger", "analyst", "epsilon", "delta", "confidence"),
    "ratio ab": ("db", "catalog", "ledger", "analyst"),
}
"""Commands, and those of their options that a project sets."""


def project_options() -> dict[str, dict[str, Any]]:
    """Return defaults of options by command, from the nearest project file; none where there is no file."""
    project = find_project()
    if project is None:
        return {}
    known: dict[str, Any] = {
        "db": project.database,
        "catalog": project.catalog,
        "ledger": project.ledger,
        "analyst": project.analyst,
        "dialect": project.dialect,
        **project.defaults,
    }
    defaults: dict[str, dict[str, Any]] = {}
    for command, names in OPENED.items():
        settings = {name: known[name] for name in names if known.get(name) is not None}
        group, _, mode = command.partition(" ")
        defaults.setdefault(group, {}).update({mode: settings} if mode else settings)
    return defaults
