"""Statements of the command line: read, and asked of an open database."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hedgerow.cli.errors import UsageError, pointing
from hedgerow.owners_log import keep
from hedgerow.session.connection import connect
from hedgerow.session.database import Database
from hedgerow.sql.statements import split_statements


def read_statement(statement: str) -> str:
    """Return the statement itself, or for `-` the text on standard input."""
    if statement != "-":
        return statement
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise UsageError("Standard input is not text in this terminal's encoding.", hint="Pass it as UTF-8.") from None


def read_statements(statement: str | None, file: str | None) -> list[str]:
    """Return the statement of the command line, or all statements of a file."""
    if (statement is None) == (file is None):
        raise UsageError("Pass one statement, or a file of statements with -f.")
    if statement is not None:
        return [read_statement(statement)]
    try:
        text = read_statement("-") if file == "-" else Path(str(file)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{file} cannot be read as text.", code="file-unreadable", hint="Check its name.") from None
    statements = [statement.text for statement in split_statements(text)]
    if not statements:
        raise UsageError(f"There is no statement in {file}.")
    return statements


def read_parameters(pairs: Iterable[str]) -> dict[str, Any]:
    """Return parameters by name: numbers, true, false and null as such, anything else as text.

    Example:
        >>> read_parameters(["low=3", "region=north", 'code="7"'])
        {'low': 3, 'region': 'north', 'code': '7'}
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--param {pair} has no value.", hint="Write --param name=value.")
        values[name.strip().lstrip(":")] = _value(text)
    return values


def _value(text: str) -> object:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, dict | list) else value


@contextmanager
def asking(
    statement: str, *, db: str, catalog: str, ledger: str | None, analyst: str | None, dialect: str | None
) -> Iterator[Database]:
    """Yield the open database; errors inside point at the statement, or at the catalog."""
    with (
        pointing(catalog=catalog, query=statement),
        connect(db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect) as database,
    ):
        keep(database.owners_log)  # as long as the program runs: what fails last is logged last
        yield database


def given_options(**options: object) -> dict[str, Any]:
    """Return the options that were given; the engine has defaults for the others."""
    return {name: value for name, value in options.items() if value is not None}
