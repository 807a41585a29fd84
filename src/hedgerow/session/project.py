"""`hedgerow.toml`: where a project's database, catalog and ledger are, and what its questions cost by default."""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hedgerow.catalog import Catalog
from hedgerow.catalog.load_budget import CONFIDENCES, DELTAS, EPSILONS
from hedgerow.errors import CatalogError

FILE = "hedgerow.toml"
PLACES = ("database", "catalog", "ledger")
TEXTS = ("analyst", "dialect")
PRICES = {"epsilon": EPSILONS, "delta": DELTAS, "confidence": CONFIDENCES}
URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Project:
    """The settings of one `hedgerow.toml`. Paths are absolute; a setting that the file leaves out is None.

    Attributes:
        path: The file.
        database: A file, a folder or a URL.
        catalog: The catalog file.
        ledger: A file or a URL.
        analyst: Who asks.
        dialect: The SQL dialect that queries are written in.
        defaults: Prices of questions that state none: epsilon, delta, confidence.
        confirm: True if the shell shows the price before a question is paid, and asks.
    """

    path: Path
    database: str | None = None
    catalog: str | None = None
    ledger: str | None = None
    analyst: str | None = None
    dialect: str | None = None
    defaults: Mapping[str, float] = field(default_factory=dict)
    confirm: bool = False

    def priced(self, catalog: Catalog) -> Catalog:
        """The catalog, with the project's default prices in place of its own; limits stay the owner's."""
        own, prices = catalog.defaults, self.defaults
        merged = replace(
            own,
            epsilon=prices.get("epsilon", own.epsilon),
            delta=prices.get("delta", own.delta),
            confidence=prices.get("confidence", own.confidence),
        )
        return replace(catalog, defaults=merged)


def find_project(start: str | os.PathLike[str] | None = None) -> Project | None:
    """Read the `hedgerow.toml` in a folder or the nearest one above it; None where there is none.

    `HEDGEROW_PROJECT` names the file, where it is set.
    """
    named = os.environ.get("HEDGEROW_PROJECT")
    if named:
        return read_project(named)
    folder = Path(start or Path.cwd()).resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / FILE).is_file():
            return read_project(candidate / FILE)
    return None


def read_project(path: str | os.PathLike[str]) -> Project:
    """Read a project file.

    Sections and settings are an allow-list: a misspelt one is an error, so that no setting is ignored in silence.
    """
    file = Path(path).resolve()
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise _error(file, f"cannot be read: {error.strerror or 'input or output failed'}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _error(file, f"is not TOML: {error}") from None
    project, defaults, shell = (_section(file, document, name) for name in ("project", "defaults", "shell"))
    unknown = [f"[{name}]" for name in document if name not in {"project", "defaults", "serve", "shell"}]
    unknown += [name for name in project if name not in PLACES + TEXTS]
    unknown += [name for name in defaults if name not in PRICES]
    unknown += [name for name in shell if name != "confirm"]
    if unknown:
        known = f"[project] has {', '.join(PLACES + TEXTS)}; [defaults] has {', '.join(PRICES)}; [shell] has confirm."
        raise _error(file, f"has a setting {unknown[0]} that hedgerow does not know", known)
    places = {name: _place(file, name, project[name]) for name in PLACES if name in project}
    texts = {name: _text(file, name, project[name]) for name in TEXTS if name in project}
    prices = {name: _price(file, name, value) for name, value in defaults.items()}
    return Project(
        file, **places, **texts, defaults=prices, confirm=_switch(file, "confirm", shell.get("confirm", False))
    )


def is_project_here(database: str, catalog: Path) -> bool:
    """True if commands in this folder open this database with this catalog without any option."""
    project = find_project()
    if project is None or project.catalog is None or Path(project.catalog).resolve() != catalog.resolve():
        return False
    return project.database in {database, str(Path(database).resolve())}


def write_project(folder: Path, *, database: str, catalog: Path, ledger: Path) -> Path | None:
    """Write a project file beside a catalog, and return it; None if there is one already, which stays as it is."""
    places = {"database": database, "catalog": str(catalog), "ledger": str(ledger)}
    lines = [
        f"{name} = {json.dumps(place if URL.match(place) else os.path.relpath(place, folder))}\n"
        for name, place in places.items()
    ]
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


def _section(file: Path, document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = document.get(name, {})
    if not isinstance(section, dict):
        raise _error(file, f"must write [{name}] as a section")
    return section


def _text(file: Path, name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _error(file, f"must set {name} to a text in quotes")
    return value


def _place(file: Path, name: str, value: object) -> str:
    """A URL as it is; a path from the folder of the project file."""
    text = _text(file, name, value)
    return text if URL.match(text) else str((file.parent / Path(text).expanduser()).resolve())


def _price(file: Path, name: str, value: object) -> float:
    low, high = PRICES[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise _error(file, f"must set {name} to a number from {low:g} to {high:.15g}")
    return float(value)


def _switch(file: Path, name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _error(file, f"must set {name} to true or false")
    return value


def _error(file: Path, problem: str, hint: str | None = None) -> CatalogError:
    return CatalogError(f"{file.name} {problem}.", code="project-file", hint=hint)
