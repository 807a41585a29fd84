"""hedgerow init."""

import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from hedgerow.backends import connect_backend
from hedgerow.catalog import BudgetPolicy, draft_catalog
from hedgerow.catalog.load_budget import DELTAS, EPSILONS
from hedgerow.catalog.strict_yaml import FILL_IN
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError
from hedgerow.cli.output import say, tell, write_json
from hedgerow.cli.project import write_project
from hedgerow.errors import LedgerError, ParameterError
from hedgerow.execution.request import real
from hedgerow.ledger import create_ledger, open_ledger
from hedgerow.schema import Schema

JOURNAL = "-journal"
"""Suffix of SQLite's journal for an unfinished transaction."""


@dataclass(frozen=True, slots=True)
class Places:
    """The source of a dataset as stated, its file (or the file named after it), its catalog and its ledger."""

    source: str
    database: Path
    catalog: Path
    ledger: Path

    def check_free(self, *, force: bool) -> None:
        """Refuse to overwrite the database in any case, and a catalog unless --force is given."""
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
    """Return the catalog that the owner names, or next to the database; the ledger is next to the catalog."""
    named = _named(database)
    written = named.with_suffix(".yaml") if catalog is None else Path(catalog)
    return Places(database, named, written, written.with_suffix(".ledger"))


def _named(database: str) -> Path:
    """Return the source's file; for a server, a file in this folder that is named after the database."""
    for scheme in ("duckdb:///", "sqlite:///", "spark:///"):
        if database.startswith(scheme):
            return Path(database.removeprefix(scheme))
    if "://" not in database:
        path = Path(database)
        return Path(path.resolve().name) if path.name in {"", ".."} else path
    parts = urlsplit(database)
    return Path(PurePosixPath(parts.path).name or parts.hostname or parts.scheme)


def set_aside(path: Path) -> Path | None:
    """Rename the file at `path`, and return its new name; None if there is none."""
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
    """Write `text` to `path`, completely or not at all, and never over an existing file."""
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


@dataclass(frozen=True, slots=True)
class Foundation:
    """The created files.

    Attributes:
        open_lines: The lines of the catalog that the owner must fill in before it loads.
        kept: The new names of older files.
        project: The project file; None if there was one beside the catalog, which stays as it is.
    """

    dataset: str
    catalog: Path
    ledger: Path
    ledger_id: str
    open_lines: tuple[int, ...]
    kept: tuple[Path, ...]
    project: Path | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return {
            "dataset": self.dataset,
            "catalog": str(self.catalog),
            "ledger": str(self.ledger),
            "ledger_id": self.ledger_id,
            "fill_in": list(self.open_lines),
            "kept": [str(path) for path in self.kept],
            "project": None if self.project is None else str(self.project),
        }


def lay(
    where: Places, *, dataset: str | None, epsilon: float, delta: float, pure_epsilon: float, force: bool
) -> Foundation:
    """Create ledger and catalog for the database."""
    policy = _policy(epsilon, delta, pure_epsilon)
    name = dataset or where.database.stem
    schema = _schema(where.source)
    _draft(schema, name, None, policy)  # nothing is touched if there is nothing to protect
    kept = [aside for path in (where.ledger, where.catalog) if force and (aside := set_aside(path))]
    identity = _ledger(where.ledger, name, policy)
    text = _draft(schema, name, identity, policy)
    _write(where.catalog, text)
    project = write_project(where.catalog.parent, database=where.source, catalog=where.catalog, ledger=where.ledger)
    return Foundation(name, where.catalog, where.ledger, identity, open_lines(text), tuple(kept), project)


def _policy(epsilon: float, delta: float, pure_epsilon: float) -> BudgetPolicy:
    whole = real("epsilon", epsilon, *EPSILONS)
    if not (math.isfinite(pure_epsilon) and 0 <= pure_epsilon <= whole):
        raise ParameterError(
            "pure_epsilon is the part of epsilon that is kept for Laplace noise.",
            code="bad-pure-epsilon",
            hint=f"It lies between 0 and {whole:g}.",
        )
    return BudgetPolicy(whole, real("delta", delta, *DELTAS), float(pure_epsilon))


def _schema(source: str) -> Schema:
    backend = connect_backend(source)
    try:
        return backend.schema()
    finally:
        backend.close()


def _draft(schema: Schema, dataset: str, identity: str | None, policy: BudgetPolicy) -> str:
    return draft_catalog(
        schema,
        dataset=dataset,
        ledger_id=identity,
        epsilon=policy.epsilon,
        delta=policy.delta,
        pure_epsilon=policy.pure_epsilon,
    )


def _ledger(path: Path, dataset: str, policy: BudgetPolicy) -> str:
    """Return the id of a new ledger, or of one that an interrupted attempt left behind."""
    try:
        return create_ledger(path, dataset=dataset, policy=policy)
    except LedgerError as error:
        if error.code != "ledger-exists":
            raise
    left = _left_behind(path, dataset, policy)
    if left is None:
        raise UsageError(
            f"There is a ledger at {path} already, and it is not an unused one for this budget.",
            code="ledger-exists",
            hint="It is the record of what was spent. Name another catalog with --catalog; --force begins anew, and "
            "keeps the old ledger under another name.",
        )
    return left


def _left_behind(path: Path, dataset: str, policy: BudgetPolicy) -> str | None:
    """Return the id of the ledger at `path`, if it was created for this budget and nothing was ever charged to it."""
    try:
        with open_ledger(path, dataset=dataset, policy=policy) as ledger:
            history = ledger.history()
            terms = history[0].charge
            made_for = (terms["epsilon"], terms["delta"])
            return ledger.id if len(history) == 1 and made_for == (policy.epsilon, policy.delta) else None
    except LedgerError:
        return None


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except FileExistsError:
        raise UsageError(
            f"Somebody else wrote {path} at the same time.", code="catalog-exists", hint="Look at it first."
        ) from None
    except OSError:
        raise UsageError(
            f"The catalog {path} cannot be written.", code="catalog-unwritable", hint="Check the folder's permissions."
        ) from None


def open_lines(text: str) -> tuple[int, ...]:
    """The lines with something to fill in, outside of comments."""
    lines = enumerate(text.split("\n"), start=1)
    return tuple(number for number, line in lines if FILL_IN in line.split("#", 1)[0])


SPLIT = """\
Each answer gets noise of one of two kinds. Gaussian noise adds up slowly: it suits many questions. Laplace noise is the
more accurate for a single question, but adds up fast: it suits a handful. Epsilon is split between the two once, now.
  0 keeps all of it for Gaussian noise (a dataset that will be asked often);
  {epsilon:g} keeps all of it for Laplace noise (a handful of questions, and no more).
The split cannot be changed later without a new ledger."""


def init(
    database: Annotated[str, typer.Argument(metavar="DATABASE", help="A file, a folder of files, or a URL.")],
    *,
    catalog: Annotated[
        str | None, typer.Option("--catalog", metavar="OUT", help="The file to write; by default next to the database.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="By default the name of the database's file.")
    ] = None,
    epsilon: Annotated[float, typer.Option("--epsilon", metavar="E", help="How much all answers may reveal.")] = 3.0,
    delta: Annotated[float, typer.Option("--delta", metavar="D", help="The probability that they reveal more.")] = 1e-6,
    pure_epsilon: Annotated[
        float | None,
        typer.Option("--pure-epsilon", metavar="P", help="The part of epsilon kept for Laplace noise; by default 0."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Start again; an old catalog and ledger are kept under other names.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Write a first catalog from a database's schema, and create its ledger. The owner's command.

    Everything is private until you declare otherwise. No row is read. Where only you know a value, the catalog contains
    ???, and does not load until you have filled it in.

    Example: hedgerow init shop.duckdb --epsilon 3 --delta 1e-6
    """
    where = places(database, catalog)
    where.check_free(force=force)
    split = _ask_split(epsilon, as_json=as_json) if pure_epsilon is None else pure_epsilon
    foundation = lay(where, dataset=dataset, epsilon=epsilon, delta=delta, pure_epsilon=split, force=force)
    if as_json:
        write_json(foundation.to_dict())
    else:
        _tell_next(foundation, database)


def _ask_split(epsilon: float, *, as_json: bool) -> float:
    """Ask for the part of epsilon kept for Laplace noise; 0 without a terminal."""
    if as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return 0.0
    tell(SPLIT.format(epsilon=epsilon))
    answer: float = typer.prompt("pure_epsilon", default=0.0, type=float, err=True)
    return answer


def _tell_next(foundation: Foundation, database: str) -> None:
    for kept in foundation.kept:
        tell(f"Kept what was there before as {kept}")
    project = "" if foundation.project is None else f", and {foundation.project}, which names them"
    say(f"Wrote {foundation.catalog} and its ledger {foundation.ledger}{project}")
    say("Next:")
    if foundation.open_lines:
        listed = ", ".join(str(line) for line in foundation.open_lines)
        say(f"  fill in the ??? of the catalog (line {listed}), and read each guess")
    else:
        say("  read each guess in the catalog, and add bounds to what will be summed")
    here = foundation.project is not None and foundation.project.resolve().parent == Path.cwd()
    say("  hedgerow check" if here else f"  hedgerow check --db {database} --catalog {foundation.catalog}")
