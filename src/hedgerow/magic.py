"""`%%hedgerow` and `%hedgerow`: questions in the cells of a notebook, after `%load_ext hedgerow`.

IPython calls this module; it is not imported here, so that hedgerow works without it.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from hedgerow.answer import Answer
from hedgerow.errors import ParameterError, ParseError
from hedgerow.session.connection import connect
from hedgerow.session.database import Database
from hedgerow.session.quote import Quote
from hedgerow.session.tables import parameters_of

Shell: TypeAlias = Any
"""IPython's shell; its `user_ns` holds the variables of the notebook."""

OPTIONS: Mapping[str, Callable[[str], object]] = {
    "epsilon": float,
    "delta": float,
    "within": str,
    "confidence": float,
    "mechanism": str,
    "min_frequency": int,
    "max_rows": int,
    "max_groups": int,
    "bounds": str,
}
"""Options that are passed on to the question, and how their texts are read."""

HERE = ("db", "catalog", "o")
OPTION = re.compile(r"\s*--?(?P<name>[a-z][a-z-]*)(?=[\s=]|$)")
VALUE = re.compile(r"(?:\s*=\s*|\s+)(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"']+)")


class HedgerowMagic:
    """The magic, and the database that the last `--db` named."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._database: Database | None = None

    def hedgerow(self, line: str, cell: str | None = None) -> Answer | Quote | Database:
        """Ask a database privately: `%%hedgerow [options]` above a statement, or `%hedgerow [options] SELECT …`.

        `:name` in the statement is the variable `name` of the notebook, passed as a parameter.

        Options:
            --db NAME       a variable that holds a database, a hedgerow.toml, or a database with --catalog; it is used
                            from then on. Without it, the hedgerow.toml in this folder or above is.
            --catalog FILE  the catalog of a database that --db names by its path
            --epsilon E, --delta D, --within W, --confidence C, --mechanism M, --min-frequency K, --max-rows N,
            --max-groups N, --bounds auto
                            options of the question, as at the command line
            --quote         show the price and the predicted errors; free
            -o NAME         assign the result to the variable NAME, too

        Example:
            %%hedgerow --epsilon 0.1 -o wards
            SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward
        """
        options, rest = _read_options(line)
        database = self._open(options)
        statement = rest if cell is None else cell
        if not statement.strip():
            return database
        if cell is not None and rest.strip():
            raise _mistake(f"{rest.strip()!r} is not an option; the statement belongs in the lines below.")
        given = {name: _value(name, options[name]) for name in OPTIONS if name in options}
        ask = database.quote if "quote" in options else database.sql
        result = ask(statement, params=self._parameters(statement, database), **given)  # type: ignore[arg-type]
        if "o" in options:
            self._shell.user_ns[options["o"]] = result
        return result

    def _open(self, options: Mapping[str, str]) -> Database:
        """Return the database that `--db` names, else the last one, else that of `hedgerow.toml`."""
        named = options.get("db")
        variable = self._shell.user_ns.get(named)
        if isinstance(variable, Database):
            self._database = variable
        elif named is not None and named.isidentifier() and not Path(named).exists():
            raise _mistake(f"No variable {named!r} holds a database.", 'Write: db = hr.connect("shop.duckdb", …).')
        elif named is not None or self._database is None:
            self._database = connect(named, catalog=options.get("catalog"))
        return self._database

    def _parameters(self, statement: str, database: Database) -> Mapping[str, object] | None:
        """Return the notebook's variables that the statement names, and no others: the history keeps them."""
        try:
            names = parameters_of(statement, database.dialect)
        except ParseError:  # the question will be refused, with the line
            return None
        variables = self._shell.user_ns
        return {name: variables[name] for name in names if name in variables} or None


def _read_options(line: str) -> tuple[dict[str, str], str]:
    """Return the options at the start of a line, by name, and the rest of the line.

    Example:
        >>> _read_options("--epsilon 0.1 --quote -o price SELECT 1")
        ({'epsilon': '0.1', 'quote': '', 'o': 'price'}, ' SELECT 1')
    """
    options: dict[str, str] = {}
    while match := OPTION.match(line):
        name = match["name"].replace("-", "_")
        if name not in {*OPTIONS, *HERE, "quote"}:
            raise _mistake(f"There is no option {match[0].strip()}.", "See %hedgerow? for all options.")
        end = match.end()
        if name != "quote":
            value = VALUE.match(line, end)
            if value is None:
                raise _mistake(f"The option {match[0].strip()} has no value.")
            options[name], end = value["value"].strip("\"'"), value.end()
        else:
            options[name] = ""
        line = line[end:]
    return options, line


def _value(name: str, text: str) -> object:
    try:
        return OPTIONS[name](text)
    except ValueError:
        raise _mistake(f"--{name.replace('_', '-')} takes a number, not {text!r}.") from None


def _mistake(problem: str, hint: str | None = None) -> ParameterError:
    return ParameterError(problem, code="bad-magic", hint=hint)


def register(shell: Shell) -> None:
    """Add the magic to an IPython shell: what `%load_ext hedgerow` does."""
    shell.register_magic_function(HedgerowMagic(shell).hedgerow, "line_cell", "hedgerow")
