"""The project file at the command line: read for options that were not given, and written by `hedgerow init`."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from hedgerow.catalog import Catalog, load_catalog
from hedgerow.errors import HedgerowError
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.session.project import FILE, URL, Project, find_project, read_project

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
    known = _settings(project)
    defaults: dict[str, dict[str, Any]] = {}
    for command, names in OPENED.items():
        settings = {name: known[name] for name in names if known.get(name) is not None}
        group, _, mode = command.partition(" ")
        defaults.setdefault(group, {}).update({mode: settings} if mode else settings)
    return defaults


def _settings(project: Project) -> dict[str, object]:
    return {
        "db": project.database,
        "catalog": project.catalog,
        "ledger": project.ledger,
        "analyst": project.analyst,
        "dialect": project.dialect,
        **project.defaults,
    }


def is_project_here(database: str, catalog: Path) -> bool:
    """True if commands in this folder open this database with this catalog without any option."""
    project = find_project()
    if project is None or project.catalog is None or Path(project.catalog).resolve() != catalog.resolve():
        return False
    return project.database in {database, str(Path(database).resolve())}


def write_project(folder: Path, *, database: str, catalog: Path, ledger: Path) -> Path | None:
    """Write a project file beside a catalog, and return it; None if there is one already, which stays as it is."""
    places = {"database": database, "catalog": str(catalog), "ledger": str(ledger)}
    lines = [f"{name} = {json.dumps(_relative(place, folder))}\n" for name, place in places.items()]
    try:
        with (folder / FILE).open("x", encoding="utf-8", newline="\n") as stream:
            stream.write("[project]\n" + "".join(lines))
    except OSError:
        return None
    return folder / FILE


def stale_project(folder: Path, database: str) -> list[Path]:
    """Return the project file of a folder, if it opens another database; an empty list otherwise."""
    file = folder / FILE
    if not file.is_file():
        return []
    opened = read_project(file).database
    same = opened == database or (opened is not None and os.path.realpath(opened) == os.path.realpath(database))
    return [] if same else [file]


def _relative(place: str, folder: Path) -> str:
    """A URL as it is, and a path as seen from the folder of the project file."""
    return place if URL.match(place) else os.path.relpath(place, folder)


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
