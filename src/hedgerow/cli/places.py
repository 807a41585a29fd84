"""Where a new catalog and its ledger go, and what stands there already."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from hedgerow.cli.faults import UsageError

JOURNAL = "-journal"
"""What SQLite appends to the name of a file that it has not finished with."""


@dataclass(frozen=True, slots=True)
class Places:
    """The source of a dataset as it was stated, the file it names (or is called after), its catalog and its ledger."""

    source: str
    database: Path
    catalog: Path
    ledger: Path

    def check_free(self, *, force: bool) -> None:
        """Refuse to write over the database, whatever is said, and over a catalog unless it is said."""
        for path in (self.catalog, self.ledger):
            if _same(path, self.database):
                raise UsageError(
                    f"{path} is the database itself.", code="over-database", hint="Name another file with --catalog."
                )
        if _same(self.catalog, self.ledger):
            raise UsageError(
                f"{self.catalog} would be catalog and ledger at once.",
                code="over-ledger",
                hint="Give the catalog the ending .yaml.",
            )
        if self.catalog.exists() and not force:
            raise UsageError(
                f"There is a catalog at {self.catalog} already.",
                code="catalog-exists",
                hint="Name another file with --catalog, or begin again with --force.",
            )


def places(database: str, catalog: str | None) -> Places:
    """The catalog where the owner says, or beside the database; the ledger beside the catalog."""
    named = _named(database)
    written = named.with_suffix(".yaml") if catalog is None else Path(catalog)
    return Places(database, named, written, written.with_suffix(".ledger"))


def _named(database: str) -> Path:
    """The file that is meant; for a server, a file in this folder that is called after the database there."""
    for scheme in ("duckdb:///", "sqlite:///", "spark:///"):
        if database.startswith(scheme):
            return Path(database.removeprefix(scheme))
    if "://" not in database:
        return Path(database)
    parts = urlsplit(database)
    return Path(PurePosixPath(parts.path).name or parts.hostname or parts.scheme)


def set_aside(path: Path) -> Path | None:
    """Give what is at `path` another name beside it, and say which; None if nothing is there."""
    if not path.exists():
        return None
    number = 1
    while (kept := path.with_name(f"{path.name}.old{number}")).exists():
        number += 1
    journal = path.with_name(path.name + JOURNAL)
    if journal.exists():
        journal.rename(kept.with_name(kept.name + JOURNAL))
    path.rename(kept)
    return kept


def write_whole(path: Path, text: str) -> None:
    """Write `text` to `path`, whole or not at all, and never over something that is there."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
