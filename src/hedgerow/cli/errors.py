"""Conversion of an exception to a message or JSON, and an exit code. Never a traceback."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from hedgerow import errors
from hedgerow.cli.output import stderr, tell, write_json
from hedgerow.errors import CatalogError, HedgerowError, Span, charged
from hedgerow.owners_log import VARIABLE, keep, withheld


def excerpt(text: str, span: Span) -> str:
    r"""Return the line in which `span` begins, numbered, and carets below it, at the width of a terminal.

    Example:
        >>> print(excerpt("SELECT *\nFROM nowhere", Span(14, 21, 2)))
          2 | FROM nowhere
            |      ^^^^^^^
    """
    from rich.cells import cell_len  # noqa: PLC0415 - Rich is imported where it is used: see `output.py`

    return errors.excerpt(text, span, cell_len)


Words = Callable[[str], str]
"""A function that spells the options in a text."""

SETTINGS = (
    "epsilon",
    "delta",
    "within",
    "confidence",
    "min_frequency",
    "mechanism",
    "max_rows",
    "max_groups",
    "bounds",
)
"""Options of a question that are settings of the shell, too."""

OPTIONS = (*SETTINGS, "dialect", "analyst", "ledger", "catalog")
"""Options of the Python interface that the command line has, too."""

_OPTION = re.compile(rf"\b({'|'.join(OPTIONS)})=(?:\"([^\"]*)\"|([\w.+-]*\w))?")
_COMMA = re.compile(r"(--[a-z-]+ [^\s,]+), (?=--)")
_PARAMETERS = re.compile(r",? or pass params=[\[{].*?[\]}](?: with one value for each \?)?")
_PASS_SET = re.compile(r"\b([Pp])ass (?=\.set )")


def in_words_of_command_line(text: str) -> str:
    """Return the text with options as the command line spells them, and without those it does not have.

    Example:
        >>> in_words_of_command_line('Declare max_rows, or pass max_rows=. Ask with mechanism="gaussian".')
        'Declare max_rows, or pass --max-rows. Ask with --mechanism gaussian.'
        >>> in_words_of_command_line("Pass epsilon=0.1, max_rows=10, or declare them.")
        'Pass --epsilon 0.1 --max-rows 10, or declare them.'
        >>> in_words_of_command_line("Write the value itself, or pass params=[…] with one value for each ?.")
        'Write the value itself.'
    """
    return _COMMA.sub(r"\1 ", _OPTION.sub(_option, _PARAMETERS.sub("", text)))


def in_words_of_shell(text: str) -> str:
    """Return the text with options as the settings of the shell, which takes no parameters.

    Example:
        >>> in_words_of_shell('Pass bounds="auto", or write CLIP(x, lower, upper).')
        'Write .set bounds auto, or write CLIP(x, lower, upper).'
        >>> in_words_of_shell('Write the value itself, or pass params={"since": …}.')
        'Write the value itself.'
    """
    known = _OPTION.sub(_setting, _PARAMETERS.sub("", text))
    return _PASS_SET.sub(lambda match: "Write " if match[1] == "P" else "write ", known)


def _option(match: re.Match[str]) -> str:
    name = f"--{match[1].replace('_', '-')}"
    value = match[2] or match[3]
    return name if not value else f"{name} {value}"


def _setting(match: re.Match[str]) -> str:
    if match[1] not in SETTINGS:
        return _option(match)
    return " ".join(part for part in (".set", match[1], match[2] or match[3]) if part)


INTERRUPTED = 130


SOURCES = {"db": ("database", "DATABASE"), "catalog": ("catalog", "CATALOG.yaml")}
"""Options that name the parts of a dataset."""


class UsageError(HedgerowError):
    """The command was called wrongly."""

    code = "usage"
    exit_code = 2


class Failure(Exception):  # noqa: N818 - it carries an error; it is none of its own
    """An error, together with the lines that it points at."""

    def __init__(self, error: HedgerowError, lines: str | None) -> None:
        super().__init__()
        self.error = error
        self.lines = lines


@contextmanager
def pointing(*, catalog: str | None = None, query: str | None = None) -> Iterator[None]:
    """Show every error with a position that is raised inside with its line of the query, or of the catalog's file."""
    try:
        yield
    except CatalogError as error:
        raise Failure(error, _in_catalog(error, catalog)) from None
    except HedgerowError as error:
        lines = excerpt(query, error.span) if query is not None and error.span is not None else None
        raise Failure(error, lines) from None


def _in_catalog(error: CatalogError, catalog: str | None) -> str | None:
    if catalog is None or error.span is None:
        return None
    # Imported here because it loads the catalog's modules: `--version` and `--help` read no catalog.
    from hedgerow.catalog.strict_yaml import read_source  # noqa: PLC0415

    try:
        text = read_source(catalog).text
    except CatalogError:
        return None
    return excerpt(text, error.span) if text else None


def guarded(command: Callable[[], object], *, as_json: bool, words: Words = in_words_of_command_line) -> int:
    """Run `command`; return its exit code, or that of its failure, which has then been reported in these `words`.

    Privacy: an exception that is not ours is not shown, because its message could quote private values. It goes to the
    owner's log.
    """
    try:
        status = command()
        sys.stdout.flush()
    except Failure as failure:
        return report(failure.error, failure.lines, as_json=as_json, words=words)
    except HedgerowError as error:
        return report(error, None, as_json=as_json, words=words)
    except BrokenPipeError:
        # End quietly after the reader of our output has gone: the interpreter must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort) as error:
        tell(" ".join(part for part in ("Stopped.", charged(error.__cause__ or error)) if part))
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the outermost handler
        # the option parser's messages are shown unchanged; any other exception is our bug
        return report(_usage(error) or withheld(error), None, as_json=as_json)
    return status if isinstance(status, int) else 0


def _usage(error: Any) -> UsageError | None:  # noqa: ANN401 - the parser's exceptions have no public base class
    """Recognise the option parser's exceptions by their attributes: their module differs between versions."""
    if not callable(getattr(error, "format_message", None)):
        return None
    context = getattr(error, "ctx", None)
    if getattr(getattr(error, "param", None), "name", None) in SOURCES and not error.message:
        return _no_source(context)
    command = getattr(context, "command_path", "hedgerow")
    return UsageError(error.format_message() or "A command is missing.", hint=f"See `{command} --help`.")


def _no_source(context: Any) -> UsageError:  # noqa: ANN401 - likewise
    """Name everything that a command needs to open a dataset and was not given."""

    def given(name: str) -> bool:
        variable = os.environ.get(f"HEDGEROW_{name.upper()}")
        return bool(context.params.get(name) or context.lookup_default(name) or variable)

    needed = [
        parameter.name for parameter in context.command.params if parameter.name in SOURCES and parameter.required
    ]
    missing = {name: words for name, words in SOURCES.items() if name in needed and not given(name)}
    options = " ".join(f"--{name} {words[1]}" for name, words in missing.items())
    return UsageError(
        f"No {' and no '.join(words[0] for words in missing.values())} was named, and no hedgerow.toml in "
        "this folder or above names it.",
        code="no-project",
        hint=f"Pass {options}, or write a project file once: hedgerow init DATABASE",
    )


def report(error: HedgerowError, lines: str | None, *, as_json: bool, words: Words = in_words_of_command_line) -> int:
    """Report an error, with options in the words of the command line or of the shell, and return its exit code."""
    error.message = words(error.message)
    error.hint = None if error.hint is None else words(error.hint)
    if as_json:
        write_json({"error": error.to_dict()})
        return error.exit_code
    tell(f"{error.heading}: {error.message}", style="bold red")
    if lines:
        stderr().print(f"\n{lines}\n", soft_wrap=True)
    if error.hint:
        tell(f"hint: {error.hint}")
    if error.cost:
        tell(error.cost)
    return error.exit_code


def keep_owners_log() -> None:
    """Keep the owner's log in the file that the environment names; by default next to the ledger, once it is known.

    It is a variable and not an option, so that a host program can safely pass on an analyst's options.
    """
    file = os.environ.get(VARIABLE)
    if not file:
        return
    path = Path(os.path.realpath(file))
    if not os.access(path.parent, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        sys.stderr.write(f"hedgerow: the file in {VARIABLE} cannot be written; going on without the owner's log.\n")
        return
    keep(path)
