"""hedgerow init."""

import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from hedgerow.backends import connect_backend
from hedgerow.backends.csv_types import Types, infer_types, is_files, number_rows
from hedgerow.catalog import BudgetPolicy, Decisions, draft_catalog, single_keys
from hedgerow.catalog.strict_yaml import FILL_IN
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError
from hedgerow.cli.init_questions import PRESETS, USUAL, BudgetChoice, People, choose_budget, choose_people
from hedgerow.cli.output import say, say_wrapped, tell, write_json
from hedgerow.errors import LedgerError
from hedgerow.expressions.table_names import parts_of
from hedgerow.ledger import create_ledger, open_ledger
from hedgerow.schema import Schema
from hedgerow.session.project import is_project_here, stale_project, write_project

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
                f"There is already a catalog at {self.catalog}.",
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
        source: The database that the project opens.
        table: The first private table whose person is known, or else the first private table.
    """

    dataset: str
    catalog: Path
    ledger: Path
    ledger_id: str
    open_lines: tuple[int, ...]
    kept: tuple[Path, ...]
    project: Path | None
    source: str
    table: str

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
            "database": self.source,
        }


def lay(
    where: Places, choice: BudgetChoice, people: People, types: Types, *, dataset: str | None, force: bool
) -> Foundation:
    """Create ledger and catalog for the database."""
    name = dataset or where.database.stem
    source, schema, decided = _source(where, people, types, force=force)
    imposed = types if source == where.source else {}
    decisions = Decisions(decided, people.public, people.max_rows, imposed, choice.price, typed_by_values=bool(types))
    _draft(schema, name, None, choice.policy, decisions)  # nothing is touched if there is nothing to protect
    old = (where.ledger, where.catalog, *stale_project(where.catalog.parent, source))
    kept = [aside for path in old if force and (aside := set_aside(path))]
    identity = _ledger(where.ledger, name, choice.policy)
    text = _draft(schema, name, identity, choice.policy, decisions)
    _write(where.catalog, text)
    project = write_project(where.catalog.parent, database=source, catalog=where.catalog, ledger=where.ledger)
    private = [table for table in schema.tables if table not in people.public]
    table = next((table for table in private if table in decided), next(iter(private), "…"))
    return Foundation(
        name, where.catalog, where.ledger, identity, open_lines(text), tuple(kept), project, source, table
    )


def _source(where: Places, people: People, types: Types, *, force: bool) -> tuple[str, Schema, dict[str, str]]:
    """Return the database, its schema, and the person of each table; files whose rows need a number are copied."""
    if not people.numbered:
        return where.source, read_schema(where.source), people.columns
    if not is_files(where.source):
        raise UsageError(
            f"No key distinguishes the rows of {min(people.numbered)}.",
            code="no-row-key",
            hint="Add a PRIMARY KEY column to the table, or name the column of the person with --person.",
        )
    copy = where.catalog.with_name(f"{where.database.stem}.duckdb")
    if force:
        set_aside(copy)
    try:
        number_rows(where.source, copy, types)
    except OSError:
        raise UsageError(
            f"The copy {copy}, whose rows have numbers, cannot be written, or is there already.",
            code="output-unwritable",
            hint="Move it away, or begin again with --force.",
        ) from None
    schema = read_schema(str(copy))
    return (
        str(copy),
        schema,
        {**people.columns, **{name: single_keys(schema.tables[name])[0] for name in people.numbered}},
    )


def read_schema(source: str) -> Schema:
    """Return the tables and columns of a source."""
    backend = connect_backend(source)
    try:
        return backend.schema()
    finally:
        backend.close()


def _draft(schema: Schema, dataset: str, identity: str | None, policy: BudgetPolicy, decisions: Decisions) -> str:
    return draft_catalog(
        schema,
        dataset=dataset,
        ledger_id=identity,
        epsilon=policy.epsilon,
        delta=policy.delta,
        pure_epsilon=policy.pure_epsilon,
        decisions=decisions,
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
            f"There is already a ledger at {path}, and it is not an unused one for this budget.",
            code="ledger-exists",
            hint="It is the record of what was spent. Name another catalog with --catalog; --force begins a new one, "
            "and keeps the old ledger under another name.",
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


def init(
    database: Annotated[str, typer.Argument(metavar="DATABASE", help="A file, a folder of files, or a URL.")],
    *,
    person: Annotated[
        list[str] | None,
        typer.Option(
            "--person",
            metavar="COLUMN",
            help="The column that names the person, or TABLE.COLUMN; row: each row is another person. May be repeated.",
        ),
    ] = None,
    max_rows: Annotated[
        int | None,
        typer.Option(
            "--max-rows", metavar="N", min=1, help="Rows of one person that count in full; 10 unless you say otherwise."
        ),
    ] = None,
    questions: Annotated[
        str | None,
        typer.Option(
            "--questions", metavar="N", help=f"How many questions the budget covers: {', '.join(PRESETS)} ({USUAL})."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing; take the defaults.")] = False,
    catalog: Annotated[
        str | None, typer.Option("--catalog", metavar="OUT", help="The file to write; by default next to the database.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="By default the name of the database's file.")
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon", metavar="E", help="How much all answers may reveal; by default 3, or 1 for a handful."
        ),
    ] = None,
    delta: Annotated[float, typer.Option("--delta", metavar="D", help="The probability that they reveal more.")] = 1e-6,
    pure_epsilon: Annotated[
        float | None,
        typer.Option("--pure-epsilon", metavar="P", help="The part of epsilon kept for Laplace noise."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Start again; an old catalog and ledger are kept under other names.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Write a first catalog from a database's schema, and create its ledger. The owner's command.

    On a terminal it asks for the column of the person, and how many questions the budget must cover. Tables are private
    until you declare otherwise. The catalog contains ??? where only you know a value, and does not load until you have
    filled it in. No row is read, except in CSV files, whose values determine the types of columns.

    Example: hedgerow init shop.duckdb --person customer_id --questions dozens --yes
    """
    where = places(database, catalog)
    where.check_free(force=force)
    ask = None if yes or as_json or not (sys.stdin.isatty() and sys.stderr.isatty()) else _prompt
    schema, types = read_schema(database), infer_types(database)
    people = choose_people(schema, types, person or (), max_rows, ask)
    choice = choose_budget(questions, epsilon, delta, pure_epsilon, ask)
    foundation = lay(where, choice, people, types, dataset=dataset, force=force)
    if as_json:
        write_json({**foundation.to_dict(), "price": {"epsilon": choice.price[0], "delta": choice.price[1]}})
    else:
        _tell_next(foundation, choice, people.max_rows)


def _prompt(question: str, default: str) -> str:
    answer: str = typer.prompt(question, default=default, err=True)
    return answer


def _tell_next(foundation: Foundation, choice: BudgetChoice, max_rows: int | None) -> None:
    for kept in foundation.kept:
        tell(f"Kept what was there before as {kept}")
    project = "" if foundation.project is None else f", and {foundation.project}, which names them"
    say_wrapped(f"Wrote {foundation.catalog} and its ledger {foundation.ledger}{project}")
    for sentence in choice.sentences():
        say_wrapped(sentence)
    if max_rows is not None:
        say_wrapped(f"Rows       {max_rows} of one person count in full; a smaller max_rows means less noise")
    say("Next:")
    if foundation.open_lines:
        listed = ", ".join(str(line) for line in foundation.open_lines)
        say(f"  fill in the ??? of {foundation.catalog} (line {listed}), and read each guess")
        say("  (or again with --force --person COLUMN; --person row if each row is another person)")
    else:
        say(f"  read each guess in {foundation.catalog}, and add bounds to what will be summed")
    opened = (
        ""
        if is_project_here(foundation.source, foundation.catalog)
        else f" --db {shlex.quote(foundation.source)} --catalog {shlex.quote(str(foundation.catalog))}"
    )
    say(f"  hedgerow check{opened}")
    say(f"  hedgerow query {_first_question(foundation.table)}{opened}")


PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*", re.IGNORECASE)


def _first_question(table: str) -> str:
    """Return a question about a table, quoted for a shell; the name is quoted for SQL if it is not a plain word.

    >>> print(_first_question("people"), _first_question("la-riots"))
    "SELECT COUNT(*) FROM people" 'SELECT COUNT(*) FROM "la-riots"'
    """
    if PLAIN_NAME.fullmatch(table):
        return f'"SELECT COUNT(*) FROM {table}"'
    parts = (part.replace('"', '""') for part in parts_of(table))
    return shlex.quote("SELECT COUNT(*) FROM " + ".".join(f'"{part}"' for part in parts))
